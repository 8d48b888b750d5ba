"""Past snapshots judged again: a real history, filled by the pipeline's own steps, and the lake it was filled from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresShelf, migrate
from evenkeel.engine.adapters.postgres.history import in_schema
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import ClusterBusy
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.backfill import BackfillPlan, Question, outcome_of, planned, rules_of
from evenkeel.engine.ports import ALL, Lake
from evenkeel.engine.snapshots import VALIDATION
from tests.helpers.cookbook_history import (
    CLUSTER,
    DAYS,
    EVERY,
    LENIENT,
    SETTINGS,
    write,
)
from tests.helpers.postgres_fixtures import PREFIX
from tests.stage.postgres_access import PostgresServer

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

COUNT = 20
"""Snapshots: ten hours."""

WHOLE = replace(DAYS, until=DAYS.since + timedelta(seconds=COUNT * EVERY))
"""All of them, with candidates of one in an hour."""

METRICS = replace(WHOLE, candidates_every=None)
"""The same, without candidates."""

NUMBERS = (
    *("group_id", "diagnosis", "status", "members", "partitions", "total_lag", "delay_seconds"),
    *("time_lag_seconds", "production_per_second", "consumption_per_second"),
)
"""Of what the lake has of a group, what `lag_history` shows."""


@pytest.fixture(scope="module")
def lake() -> Recording:
    """The lake that the history was filled from."""
    return Recording()


@pytest.fixture(scope="module")
def url(module_database_url: str, lake: Recording) -> str:
    """A history of some hours of six groups."""
    write(PostgresHistory(module_database_url), COUNT, lake)
    return module_database_url


@pytest.fixture(autouse=True)
def _nothing_left(url: str) -> Iterator[None]:
    yield
    for rules in schemas(url):
        tell(url, f"DROP SCHEMA {rules} CASCADE")


def ask(url: str, query: str) -> list[dict[str, Any]]:
    """The rows of a query."""
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        return connection.execute(query.encode()).fetchall()


def tell(url: str, command: str) -> None:
    """Run a command."""
    with psycopg.connect(url) as connection:
        connection.execute(command.encode())


def schemas(url: str) -> list[str]:
    """Those of other rules."""
    found = ask(url, "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'rules_')")
    return sorted(row["nspname"] for row in found)


def shelf_of(url: str, settings: Settings, groups: str = "*") -> PostgresShelf:
    """Where goes what is judged by these rules."""
    return PostgresShelf(url, rules_of(settings, groups))


def judge(url: str, lake: Lake, settings: Settings, asked: Question, **how: Any) -> BackfillPlan:
    """Judge again."""
    return pipeline.backfill(lake, shelf_of(url, settings, asked.groups), settings, asked, **how)


def everything(url: str) -> dict[str, str]:
    """A hash of each table of the history."""
    tables = ask(
        url,
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
    names = sorted({row["relname"] for row in tables})
    assert {"group_metrics", "candidate", "advice", "incident", "alert", "step_run"} <= {*names}
    text = (
        "SELECT count(*) || md5(string_agg(t::text, E'\\n' ORDER BY t::text)) AS hash FROM {} AS t"
    )
    return {name: ask(url, text.format(name))[0]["hash"] for name in names}


def contents(lake: Lake) -> dict[str, Any]:
    """What the steps left of each snapshot."""
    ids = lake.snapshots(CLUSTER, limit=ALL)
    names = ("groups", "group_metrics", "candidates", "validation")
    return {name: lake.read(name, ids).to_pylist() for name in names}


def samples(url: str, rules: str = "public") -> list[dict[str, Any]]:
    """How each group fared in each snapshot, by the history in a schema."""
    return ask(url, f"SELECT * FROM {rules}.lag_history ORDER BY taken_at, group_id")


def advice(url: str, rules: str = "public") -> list[dict[str, Any]]:
    """What each group was told from when on, by the history in a schema; runs of half an hour apart."""
    own = f"SELECT group_id, verdict, strategy, state, since, until FROM {rules}.advice_history"
    return ask(url, f"{own} ORDER BY since, group_id")


def measured_by(settings: Settings, lake: Lake) -> Recording:
    """A lake of the same snapshots, measured by the pipeline's steps with other settings, oldest first."""
    other = Recording()
    for taken in lake.snapshots(CLUSTER, limit=ALL)[::-1]:
        manifest = lake.manifest("snapshot", taken)
        tables = {name: lake.read(name, [taken]) for name in manifest.rows}
        other.write("snapshot", taken, tables, manifest.facts)
        other.write("validation", taken, {"validation": Table.from_rows([], VALIDATION)}, {})
        pipeline.record_metrics(other, taken, pipeline.compute_metrics(other, settings, taken))
    return other


def numbers_of(lake: Lake, ids: list[str] | None = None) -> list[tuple[Any, ...]]:
    """Diagnoses and numbers of each snapshot, or of these, and of each group, as the pipeline measured them."""
    return [
        _rounded(row)
        for taken in ids or lake.snapshots(CLUSTER, limit=ALL)[::-1]
        for row in lake.read("group_metrics", [taken], columns=NUMBERS)
        .sorted_by("group_id")
        .to_pylist()
    ]


def numbers_made(url: str, settings: Settings, groups: str = "*") -> list[tuple[Any, ...]]:
    """The same of what was judged again."""
    return [_rounded(row) for row in samples(url, rules_of(settings, groups))]


def _rounded(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """As many digits as a sample keeps."""
    found = (row[name] for name in NUMBERS)
    return tuple(str(np.float32(each)) if isinstance(each, float) else each for each in found)


def test_by_the_same_rules_the_same_is_said(url: str, lake: Recording) -> None:
    """Every number, diagnosis and advice is the one that the history has, with candidates of every snapshot."""
    plan = judge(url, lake, SETTINGS, replace(WHOLE, candidates_every=timedelta(seconds=EVERY)))

    assert (plan.done, len(plan.ids), plan.missing_days) == (COUNT, COUNT, ())
    assert samples(url, plan.rules) == samples(url)
    assert advice(url, plan.rules) == advice(url)
    assert {"roundrobin", None} <= {row["strategy"] for row in advice(url)}
    outcome = outcome_of(lake, PostgresHistory(url), plan)
    assert (outcome.groups, outcome.differing, outcome.changes) == (6, 0, [])


def test_other_rules_say_what_the_pipeline_would_have_said_by_them(
    url: str, lake: Recording
) -> None:
    """
    Snapshot by snapshot what the steps make by these rules; only the groups that they are about differ. Every table of
    the history is the same before and after, byte for byte, and so is the lake; nobody waits to be told.
    """
    history, before, in_lake = PostgresHistory(url), everything(url), contents(lake)
    plan = judge(url, lake, LENIENT, WHOLE)
    assert (everything(url), contents(lake)) == (before, in_lake)
    waiting = f"SELECT count(*) AS alerts FROM {plan.rules}.alert WHERE state = 'pending'"
    assert ask(url, waiting) == [{"alerts": 0}]
    assert numbers_made(url, LENIENT) == numbers_of(measured_by(LENIENT, lake))
    assert outcome_of(lake, history, plan).differing == 1

    own = history.query("backfill_changes", group="search-suggest")
    assert own == history.query("backfill_changes")
    assert {each["rules"] for each in own} == {plan.rules}
    late = [e for e in own if (e["then_was"], e["now_is"]) == ("skewed load", "healthy")]
    pairs = zip(samples(url), samples(url, plan.rules), strict=True)
    expected = [
        now["taken_at"]
        for then, now in pairs
        if now["group_id"] == "search-suggest"
        and (then["diagnosis"], now["diagnosis"]) == ("skewed load", "healthy")
    ]
    assert [each["snapshots"] for each in late] == [len(expected)]
    assert late[0]["hours"] == len(expected) * EVERY / 3600 > 0
    assert (late[0]["first_at"], late[0]["last_at"]) == (expected[0], expected[-1])
    assert ("winner", "roundrobin", None) in {
        (each["what"], each["then_was"], each["now_is"]) for each in own
    }
    some = history.query(
        "backfill_changes", rules=f"rules_{LENIENT.version}", since=expected[0], until=expected[1]
    )
    assert [each["snapshots"] for each in some if each["what"] == "diagnosis"] == [1]


def test_rules_stand_side_by_side_and_what_is_there_is_not_made_again(
    url: str, lake: Recording
) -> None:
    """Each configuration and each pattern of groups has a schema; other days are added to those that are there."""
    some = replace(
        METRICS, since=METRICS.since + timedelta(seconds=COUNT // 2 * EVERY), groups="search-*"
    )
    first = replace(METRICS, until=METRICS.since + timedelta(seconds=COUNT // 2 * EVERY))
    for settings, asked in ((LENIENT, some), (SETTINGS, first), (LENIENT, first)):
        judge(url, lake, settings, asked)
    assert schemas(url) == sorted(
        {rules_of(SETTINGS, "*"), rules_of(LENIENT, "*"), rules_of(LENIENT, "search-*")}
    )
    whole = numbers_of(measured_by(LENIENT, lake))
    of_search = [row for row in whole[6 * COUNT // 2 :] if row[0].startswith("search-")]
    assert numbers_made(url, LENIENT, "search-*") == of_search
    assert numbers_made(url, LENIENT) == whole[: 6 * COUNT // 2]

    plan = planned(lake, shelf_of(url, LENIENT), LENIENT, METRICS)
    assert (plan.done, len(plan.left)) == (COUNT // 2, COUNT // 2)
    assert len(planned(lake, shelf_of(url, LENIENT), LENIENT, WHOLE).left) > COUNT // 2
    judge(url, lake, LENIENT, METRICS)
    assert numbers_made(url, LENIENT) == whole
    assert judge(url, lake, LENIENT, METRICS, tell=pytest.fail).left == ()


def test_it_goes_on_where_it_was_ended(url: str, lake: Recording) -> None:
    """What is there is not judged again, and all is as if it had never been ended, however it is cut."""
    judge(url, lake, LENIENT, WHOLE)
    whole = samples(url, rules_of(LENIENT, "*")), advice(url, rules_of(LENIENT, "*"))
    tell(url, f"DROP SCHEMA {rules_of(LENIENT, '*')} CASCADE")

    seen = list[str]()
    shelf = shelf_of(url, LENIENT)
    store = shelf.store_metrics

    def ends(snapshot_id: str, tables: Mapping[str, Any]) -> None:
        if len(seen) == 11:
            seen.append("ended")
            raise KeyboardInterrupt
        store(snapshot_id, tables)
        seen.append(snapshot_id)

    shelf.store_metrics = ends  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        pipeline.backfill(lake, shelf, LENIENT, WHOLE)
    plan = planned(lake, shelf, LENIENT, WHOLE)
    assert (plan.done, len(plan.left)) == (11, COUNT - 11)
    progress = []
    pipeline.backfill(lake, shelf, LENIENT, WHOLE, tell=progress.append)

    assert seen[:11] + seen[12:] == lake.snapshots(CLUSTER, limit=ALL)[::-1]
    assert (samples(url, plan.rules), advice(url, plan.rules)) == whole
    assert (progress[-1].done, progress[-1].of, progress[-1].left_seconds) == (COUNT, COUNT, 0)


def test_one_at_a_time_is_judged_of_a_cluster(url: str, lake: Recording) -> None:
    """Another one is refused in a line that says what to do; the pipeline's locks are others."""

    def meanwhile(_: object) -> None:
        with (
            PostgresHistory(url).lock(CLUSTER),
            pytest.raises(ClusterBusy, match=f"another backfill of {CLUSTER}"),
        ):
            judge(url, lake, LENIENT, METRICS)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        judge(url, lake, SETTINGS, METRICS, budget=timedelta(0), tell=meanwhile)


def distrusting(lake: Lake, refused: Mapping[int, str | None]) -> Recording:
    """A lake of the same snapshots; by place validation withheld a group of one, or (None) rejected it whole."""
    other, ids = Recording(), lake.snapshots(CLUSTER, limit=ALL)[::-1]
    failed = {
        "cluster": CLUSTER,
        "stage": "snapshot",
        "expectation": "brokers are known",
        "severity": "critical",
        "success": False,
    }
    for place, taken in enumerate(ids):
        manifest = lake.manifest("snapshot", taken)
        tables = {name: lake.read(name, [taken]) for name in manifest.rows}
        other.write("snapshot", taken, tables, manifest.facts)
        own = {"snapshot_id": taken, "group_id": refused.get(place)}
        rows = [failed | own] if place in refused else []
        other.write("validation", taken, {"validation": Table.from_rows(rows, VALIDATION)}, {})
    return other


def test_what_validation_distrusted_is_nobodys_past(url: str, lake: Recording) -> None:
    """
    A rejected snapshot counts as done and has no sample, a withheld group one that says so; those after them look back
    as the pipeline does, wherever it is cut.
    """
    rejected = dict.fromkeys((3, 15, 16))
    other = distrusting(
        lake, {**rejected, 10: "search-index", 11: "search-index", 18: "mail-sender"}
    )
    ids = other.snapshots(CLUSTER, limit=ALL)[::-1]
    kept = [one for place, one in enumerate(ids) if place not in rejected]
    for taken in kept:
        pipeline.record_metrics(other, taken, pipeline.compute_metrics(other, SETTINGS, taken))
    for hours in (6, 10):
        asked = replace(METRICS, until=METRICS.since + timedelta(hours=hours))
        assert judge(url, other, SETTINGS, asked).left == ()
    assert len(planned(other, shelf_of(url, SETTINGS), SETTINGS, METRICS).left) == 0
    assert numbers_made(url, SETTINGS) == numbers_of(other, kept)
    unreadable = [row for row in samples(url, rules_of(SETTINGS, "*")) if not row["readable"]]
    assert len(unreadable) == 3


def test_what_is_too_old_goes_with_the_snapshots(url: str, make_database: Any) -> None:
    """The maintenance removes of a schema what it removes of the history, and a schema of which nothing is left."""
    other, lake = make_database(), Recording()
    migrate(other)
    write(PostgresHistory(other), 6, lake)
    late = replace(METRICS, since=METRICS.since + timedelta(seconds=3 * EVERY), until=METRICS.until)
    early = replace(METRICS, until=late.since)
    asked = replace(late, until=late.since + timedelta(hours=2))
    judge(other, lake, SETTINGS, asked)
    judge(other, lake, LENIENT, early)
    PostgresHistory(other).expire(late.since + timedelta(seconds=EVERY))
    assert schemas(other) == [rules_of(SETTINGS, "*")]
    assert len(ask(other, f"SELECT FROM {rules_of(SETTINGS, '*')}.snapshot")) == 2


def test_whoever_may_read_the_history_may_read_it(
    url: str, lake: Recording, postgres_server: PostgresServer
) -> None:
    """Every view and query answers in the schema, also to the role of readers, who also asks what differs."""
    asked = replace(DAYS, until=DAYS.since + timedelta(hours=2))
    plan = judge(url, lake, LENIENT, asked)
    there = in_schema(url, plan.rules)
    name = str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
    reader = f"{PREFIX}reader_of_rules"
    postgres_server.create_reader(reader)
    try:
        migrate(url, reader=reader)
        migrate(there, reader=reader)
        read = PostgresHistory(in_schema(postgres_server.url(name, reader), plan.rules))
        groups = {row["group_id"] for row in read.query("groups")}
        assert groups == {row["group_id"] for row in samples(url)}
        assert read.query("lag_history", group="search-index", hours=9999999)
        changes = PostgresHistory(postgres_server.url(name, reader)).query("backfill_changes")
        assert changes == PostgresHistory(url).query("backfill_changes")
        with psycopg.connect(postgres_server.url(name, reader)) as connection:
            found = connection.execute("SELECT newest_rules('example', NULL)").fetchone()
        assert found == (plan.rules,)
    finally:
        tell(url, f"DROP SCHEMA {plan.rules} CASCADE")
        postgres_server.drop_reader(reader, name)
