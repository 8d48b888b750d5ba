"""Past snapshots judged again: a real history, filled by the pipeline's own steps, and the lake it was filled from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from evenkeel.engine import steps
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.postgres.connecting import engine_for
from evenkeel.engine.adapters.postgres.running import execute
from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.columns import columns_of
from evenkeel.engine.datasets import VALIDATION, rows_to_table
from evenkeel.engine.errors import ClusterBusy, InputError
from evenkeel.engine.ports import ALL, Lake
from evenkeel.engine.records.backfill import Numbers
from evenkeel.engine.steps.backfill_plan import planned, question
from evenkeel.engine.steps.backfilled import Judged, Stretch
from tests.helpers.cookbook_history import (
    CLUSTER,
    COUNT,
    DAYS,
    EVERY,
    LENIENT,
    SETTINGS,
    write,
)

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

OWN = ("backfill", "backfilled_group", "backfilled_candidate")
"""The tables of backfills."""

METRICS = replace(DAYS, candidates_every=None)
"""The same days, without candidates."""


@pytest.fixture(scope="module")
def lake() -> Recording:
    """The lake that the history was filled from."""
    return Recording()


@pytest.fixture(scope="module")
def url(module_database_url: str, lake: Recording) -> str:
    """A history of two days of six groups."""
    write(PostgresHistory(module_database_url), lake=lake)
    return module_database_url


@pytest.fixture
def history(url: str) -> Iterator[PostgresHistory]:
    """The same, without backfills."""
    yield PostgresHistory(url)
    ask(url, "DELETE FROM backfill RETURNING 1")


def ask(url: str, query: str) -> list[dict[str, Any]]:
    """The rows of a query."""
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        return connection.execute(query.encode()).fetchall()


def everything_else(url: str) -> dict[str, str]:
    """A hash of each table that is none of backfills."""
    tables = ask(
        url,
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
    names = sorted({row["relname"] for row in tables} - {*OWN})
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


def rows_of(url: str) -> list[dict[str, Any]]:
    """What backfills made of groups, in order."""
    return ask(url, "SELECT * FROM backfill_history ORDER BY config_version, taken_at, group_id")


def measured_by(settings: Any, lake: Lake) -> Recording:
    """A lake of the same snapshots, measured by the pipeline's steps with other settings, oldest first."""
    other = Recording()
    for taken in lake.snapshots(CLUSTER, limit=ALL)[::-1]:
        manifest = lake.manifest("snapshot", taken)
        tables = {name: lake.read(name, [taken]) for name in manifest.rows}
        other.write("snapshot", taken, tables, manifest.facts)
        other.write("validation", taken, {"validation": rows_to_table([], VALIDATION)}, {})
        steps.record_metrics(other, taken, steps.compute_metrics(other, settings, taken))
    return other


def numbers_of(lake: Lake, ids: list[str] | None = None) -> list[tuple[Any, ...]]:
    """Diagnoses and numbers of each snapshot, or of these, and of each group, as the pipeline measured them."""
    columns = ["group_id", "diagnosis", *(spec.name for spec in columns_of(Numbers))]
    return [
        tuple(row.values())
        for taken in ids or lake.snapshots(CLUSTER, limit=ALL)[::-1]
        for row in lake.read("group_metrics", [taken], columns=columns)
        .sort_by("group_id")
        .to_pylist()
    ]


def numbers_made(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The same of what a backfill made."""
    columns = ["group_id", "diagnosis", *(spec.name for spec in columns_of(Numbers))]
    return [tuple(row[name] for name in columns) for row in rows]


def test_by_the_same_rules_the_same_is_said(
    url: str, history: PostgresHistory, lake: Recording
) -> None:
    """Every diagnosis, number and winner is the one that the pipeline stored, with candidates of every snapshot."""
    always = replace(DAYS, candidates_every=timedelta(seconds=EVERY))
    row = steps.backfill(lake, history, SETTINGS, always)
    made = rows_of(url)

    assert (row.done_snapshots, row.snapshots, row.finished_at is None) == (COUNT, COUNT, False)
    assert numbers_made(made) == numbers_of(lake)
    assert not any(each["differs"] for each in made)
    assert [each["diagnosis"] for each in made] == [each["diagnosis_then"] for each in made]
    assert {each["winner_then"] for each in made} >= {"roundrobin", None}
    judged = [each for each in made if each["is_judged"] and each["was_judged"]]
    assert len(judged) > 0.9 * len(made)
    assert [each["winner"] for each in judged] == [each["winner_then"] for each in judged]
    outcome = history.backfill_outcome(row)
    assert (outcome.groups, outcome.differing) == (6, 0)
    assert history.query("backfill_changes") == []


def test_other_rules_say_what_the_pipeline_would_have_said_by_them(
    url: str, history: PostgresHistory, lake: Recording
) -> None:
    """Snapshot by snapshot what the steps make by these rules; only the groups that they are about differ."""
    row = steps.backfill(lake, history, LENIENT, DAYS)
    made = rows_of(url)

    assert numbers_made(made) == numbers_of(measured_by(LENIENT, lake))
    differing = {each["group_id"] for each in made if each["differs"]}
    assert differing == {"search-index", "search-suggest"}
    assert history.backfill_outcome(row).differing == 2
    changes = history.query("backfill_changes", group="search-index")
    late = [each for each in changes if each["then_was"] == "skewed load"]
    expected = [each for each in made if each["group_id"] == "search-index"]
    expected = [
        e for e in expected if (e["diagnosis_then"], e["diagnosis"]) == ("skewed load", "keeps up")
    ]
    assert [(each["now_is"], each["snapshots"]) for each in late] == [("keeps up", len(expected))]
    assert late[0]["hours"] == len(expected) * EVERY / 3600 > 0
    assert (late[0]["first_at"], late[0]["last_at"]) == (
        expected[0]["taken_at"],
        expected[-1]["taken_at"],
    )
    assert ("winner", "roundrobin", None) in {
        (each["what"], each["then_was"], each["now_is"]) for each in changes
    }


def test_what_the_pipeline_wrote_stays(url: str, history: PostgresHistory, lake: Recording) -> None:
    """Every other table is the same before and after, byte for byte, and so is the lake."""
    before, in_lake = everything_else(url), contents(lake)
    steps.backfill(lake, history, LENIENT, DAYS)
    assert everything_else(url) == before
    assert contents(lake) == in_lake
    assert ask(url, "SELECT count(*) AS rows FROM backfilled_candidate")[0]["rows"] > COUNT


def test_two_configurations_stand_side_by_side_and_each_replaces_its_own(
    url: str, history: PostgresHistory, lake: Recording
) -> None:
    """Judged again by one of them, for some groups of one day, nothing is there twice and nothing is gone."""
    for settings in (SETTINGS, LENIENT):
        steps.backfill(lake, history, settings, DAYS)
    before = [{**row, "backfilled_at": None} for row in rows_of(url)]
    assert len(before) == 2 * 6 * COUNT
    assert {row["config_version"] for row in before} == {SETTINGS.version, LENIENT.version}

    some = question(CLUSTER, "2026-03-03", "2026-03-03", groups="search-*")
    row = steps.backfill(lake, history, LENIENT, some)
    assert (row.snapshots, history.backfill_outcome(row).groups) == (COUNT // 2, 2)
    assert [{**each, "backfilled_at": None} for each in rows_of(url)] == before


def test_what_differs_is_that_of_the_newest_run(
    url: str, history: PostgresHistory, lake: Recording
) -> None:
    """Of the days that it judged alone, whatever the same rules made of others before."""
    steps.backfill(lake, history, LENIENT, METRICS)
    some = question(CLUSTER, "2026-03-02T05:00Z", "2026-03-02T07:30Z", candidates_every="none")
    row = steps.backfill(lake, history, LENIENT, some)
    changes = _module().changes_of(history, row)
    known = [each for each in rows_of(url) if some.since <= each["taken_at"] < some.until]
    differing = [each for each in known if each["differs"]]
    assert {each["group_id"] for each in changes} == {"search-suggest"}
    assert sum(each["snapshots"] for each in changes) == len(differing) > 0
    assert sum(each["hours"] for each in changes) == len(differing) * EVERY / 3600
    assert all(some.since <= each["first_at"] <= each["last_at"] < some.until for each in changes)


def test_it_goes_on_where_it_was_ended(
    url: str, history: PostgresHistory, lake: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was stored is not judged again, and all is as if it had never been ended, however it is cut."""
    steps.backfill(lake, history, LENIENT, METRICS)
    whole = numbers_made(rows_of(url))
    ask(url, "DELETE FROM backfill RETURNING 1")

    monkeypatch.setattr(_module(), "SNAPSHOTS", 7)
    judge, judged = _module()._in_process(lake, LENIENT), list[str]()

    def ends(stretch: Stretch, work: dict[str, int]) -> Judged:
        if len(judged) == 21:
            raise KeyboardInterrupt
        judged.extend(stretch.ids)
        return judge(stretch, work)

    with pytest.raises(KeyboardInterrupt):
        steps.backfill(lake, history, LENIENT, METRICS, judge=ends)
    plan = planned(lake, history, LENIENT, METRICS)
    assert (plan.resumes, plan.row.done_snapshots, len(plan.left)) == (True, 21, COUNT - 21)
    judged.append("some more")
    progress = []
    row = steps.backfill(lake, history, LENIENT, METRICS, judge=ends, tell=progress.append)

    assert judged[:21] + judged[22:] == lake.snapshots(CLUSTER, limit=ALL)[::-1]
    assert numbers_made(rows_of(url)) == whole
    assert [each.done for each in progress] == [*range(28, COUNT, 7), COUNT]
    assert progress[-1].left_seconds == 0 < progress[0].left_seconds
    assert row.finished_at is not None
    assert not planned(lake, history, LENIENT, METRICS).resumes


def _module() -> Any:
    import sys

    return sys.modules["evenkeel.engine.steps.backfill"]


def test_a_turn_ends_when_its_time_is_over(
    history: PostgresHistory, lake: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left unfinished after the first stretch; the next turns do the rest."""
    monkeypatch.setattr(_module(), "SNAPSHOTS", 40)
    turns = []
    while not turns or turns[-1].finished_at is None:
        turns.append(steps.backfill(lake, history, SETTINGS, METRICS, budget=timedelta(0)))
    assert [turn.done_snapshots for turn in turns] == [40, 80, 96]
    assert len({turn.started_at for turn in turns}) == 1


def test_one_at_a_time_is_judged_of_a_cluster(history: PostgresHistory, lake: Recording) -> None:
    """Another one is refused in a line that says what to do; the pipeline's locks are others."""

    def meanwhile(stretch: Stretch, work: dict[str, int]) -> Judged:
        with (
            history.lock(CLUSTER),
            pytest.raises(ClusterBusy, match=f"another backfill of {CLUSTER}"),
        ):
            steps.backfill(lake, history, SETTINGS, METRICS)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        steps.backfill(lake, history, SETTINGS, METRICS, judge=meanwhile)


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
        other.write("validation", taken, {"validation": rows_to_table(rows, VALIDATION)}, {})
    return other


def test_what_validation_distrusted_is_nobodys_past(
    url: str, history: PostgresHistory, lake: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    A rejected snapshot counts as done and has no row, a withheld group one that says so; those after them look back as
    the pipeline does, wherever it is cut.
    """
    rejected = dict.fromkeys((3, 50, 51))
    other = distrusting(
        lake, {**rejected, 20: "search-index", 21: "search-index", 70: "mail-sender"}
    )
    ids = other.snapshots(CLUSTER, limit=ALL)[::-1]
    kept = [one for place, one in enumerate(ids) if place not in rejected]
    for taken in kept:
        steps.record_metrics(other, taken, steps.compute_metrics(other, SETTINGS, taken))
    expected = numbers_of(other, kept)
    for number in (36, 5):
        monkeypatch.setattr(_module(), "SNAPSHOTS", number)
        row = steps.backfill(other, history, SETTINGS, METRICS)
        made = rows_of(url)
        assert row.done_snapshots == COUNT
        assert numbers_made(made) == expected
        assert sum(each["error"] is not None for each in made) == 3
        assert not any(each["differs"] for each in made)


def test_what_is_too_old_goes_with_the_snapshots(
    url: str, history: PostgresHistory, lake: Recording
) -> None:
    """The upkeep removes rows of snapshots that it removes, and a backfill of which nothing is left."""
    steps.backfill(lake, history, SETTINGS, DAYS)
    early = question(CLUSTER, "2026-03-02", "2026-03-02")
    steps.backfill(lake, history, LENIENT, early)
    noon = DAYS.since + timedelta(hours=36)
    with engine_for(url).connect() as connection:
        # as the upkeep does it, and then all is there again for the other tests
        execute(connection, "expire", before=noon, most=2 * COUNT)
        left = connection.exec_driver_sql(
            "SELECT min(taken_at), (SELECT count(*) FROM backfill) FROM backfilled_group"
        ).one()
        kept = connection.exec_driver_sql("SELECT min(taken_at) FROM backfilled_candidate").one()
        connection.rollback()
    assert left == (noon, 1)
    assert kept == (noon,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            (CLUSTER, "2026-03-03", "2026-03-02"),
            "from 2026-03-03 to 2026-03-02 ends before it begins",
        ),
        (("other", "2026-03-02", "2026-03-03"), "no cluster 'other' is configured"),
        (
            (CLUSTER, "2026-02-27", "2026-03-03"),
            f"snapshots of {CLUSTER} from 2026-03-02 to 2026-03-03 only",
        ),
        ((CLUSTER, "2026-03-02", "2026-03-20"), "--from 2026-03-02 --to 2026-03-03"),
        (
            (CLUSTER, "2026-03-02T00:01Z", "2026-03-02T00:29Z"),
            f"no snapshot of {CLUSTER} from 2026-03-02",
        ),
        ((CLUSTER, "the day before", "2026-03-02"), "is no moment"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_line(
    history: PostgresHistory, lake: Recording, given: tuple[str, str, str], message: str
) -> None:
    """It names what is wrong and what would do."""
    with pytest.raises(InputError) as refused:
        planned(lake, history, SETTINGS, question(*given))
    assert message in str(refused.value)
    assert refused.value.fix
