"""What the steps leave in a real Postgres: written twice it is the same, and an older snapshot never hides a newer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.errors import HistoryError
from evenkeel.engine.model.facts import Fact, FactKind
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.tables import Table
from evenkeel.engine.records import Outcome, StepRun, record_of, row_of
from evenkeel.engine.records.forecast_course import ForecastCourse, PendingForecast
from evenkeel.engine.snapshots import METRICS
from tests.helpers.history_rows import (
    FIRST,
    advice,
    candidates,
    checks,
    fill,
    manifest,
    metrics,
    validation,
)

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

TABLES = [
    "cluster",
    "snapshot",
    "validation",
    "group_metrics",
    "member_metrics",
    "partition_latest",
    "partition_worst",
    "candidate",
    "advice",
    "advice_move",
]


def ask(url: str, question: str, *values: Any) -> list[dict[str, Any]]:
    """Rows of a question asked without the adapter."""
    with psycopg.connect(url, row_factory=dict_row) as connection:
        return connection.execute(question.encode(), values).fetchall()


def everything(url: str) -> Mapping[str, list[str]]:
    """All rows of all tables as sorted JSON, without the numbers Postgres gives out."""

    def plain(row: dict[str, Any]) -> str:
        return json.dumps({k: v for k, v in row.items() if k != "validation_id"}, default=str)

    return {table: sorted(plain(r) for r in ask(url, f"SELECT * FROM {table}")) for table in TABLES}


def test_writing_everything_twice_leaves_the_same_rows(
    history: PostgresHistory, database_url: str
) -> None:
    """Each step of a snapshot can be repeated, and no row is doubled, lost or changed."""
    taken = manifest()
    snapshot_id = taken.snapshot_id
    found = checks(validation("orders-app", success=True), validation(None, success=True))
    measured = metrics(snapshot_id, {"orders-app": [5, None], "idle": [0]})
    proposed = candidates(snapshot_id, "orders-app")
    seen = []
    for _ in range(2):
        history.store_snapshot(taken, "c0ffee")
        history.store_validation(snapshot_id, "snapshot", found)
        history.store_metrics(snapshot_id, measured)
        history.store_validation(snapshot_id, "candidates", found)
        history.store_candidates(snapshot_id, proposed)
        history.store_advice(snapshot_id, [advice(snapshot_id, "orders-app")])
        seen.append(everything(database_url))
    assert seen[0] == seen[1]
    assert all(seen[0].values())


def test_the_newest_partitions_are_shown_as_they_were_measured(
    history: PostgresHistory, database_url: str
) -> None:
    """More than a block of them; texts that repeat, numbers that are unknown or have no end."""
    snapshot_id = fill(history)
    tables = metrics(snapshot_id, {"orders-app": [*range(70)], "idle": [None]})
    varied = [
        row
        | {
            "topic": "orders" if n < 66 else "orders-2",
            "topic_id": None if n == 3 else "t-1",
            "member_id": (None, "m-1", "m-2", "m-1")[n % 4],
            "cross_rack": (None, True, False)[n % 3],
            "committed_offset": None if n > 40 else n,
            "time_to_loss_seconds": (None, 1.5, float("inf"))[n % 3],
            "bytes_per_record_basis": None,
        }
        for n, row in enumerate(tables["partition_metrics"].to_pylist())
    ]
    schema = METRICS["partition_metrics"]
    tables["partition_metrics"] = Table.from_rows(varied, schema)
    history.store_metrics(snapshot_id, tables)
    shown = ask(database_url, "SELECT * FROM partition_latest ORDER BY group_id DESC, lag")
    assert shown == [{name: row[name] for name in shown[0]} for row in varied]
    own = "SELECT first_partition, words FROM partition_block WHERE group_id = 'orders-app' ORDER BY topic, 1"
    blocks = ask(database_url, own)
    assert [row["first_partition"] for row in blocks] == [0, 32, 64, 66]
    assert [len(row["words"]) for row in blocks] == [6, 6, 5, 6]


def test_members_of_a_snapshot_that_is_stored_again_are_those_of_the_last_try(
    history: PostgresHistory, database_url: str
) -> None:
    """One that is still there keeps its row, one that is gone has none."""
    snapshot_id = fill(history)
    spans = "SELECT group_id, identity, since, until FROM member_span ORDER BY group_id"
    for groups in (("a", "b"), ("b", "c"), ("b", "c")):
        history.store_metrics(snapshot_id, metrics(snapshot_id, {group: [1] for group in groups}))
        expected = [
            {"group_id": g, "identity": "c@h", "since": FIRST, "until": None} for g in groups
        ]
        assert ask(database_url, spans) == expected


def test_writing_again_replaces_what_an_earlier_try_left(
    history: PostgresHistory, database_url: str
) -> None:
    """Rows that the second try no longer has are gone, and those of another stage or snapshot stay."""
    other, again = fill(history, 0), fill(history, 1)
    history.store_metrics(again, metrics(again, {"renamed": [1]}))
    history.store_candidates(again, candidates(again, "renamed", ["live"]))
    history.store_validation(again, "snapshot", checks(validation("renamed", success=False)))
    by_snapshot = "SELECT group_id FROM {} WHERE snapshot_id = %s ORDER BY group_id"
    for table in ("group_metrics", "member_metrics", "partition_latest", "partition_worst"):
        found = ask(database_url, by_snapshot.format(table), again)
        assert [row["group_id"] for row in found] == ["renamed"]
    assert [r["group_id"] for r in ask(database_url, by_snapshot.format("candidate"), again)] == [
        "renamed"
    ]
    assert len(ask(database_url, by_snapshot.format("group_metrics"), other)) == 2
    stages = ask(
        database_url,
        "SELECT stage, group_id FROM validation WHERE snapshot_id = %s ORDER BY stage",
        again,
    )
    assert [tuple(row.values()) for row in stages] == [
        ("candidates", "orders-app"),
        ("snapshot", "renamed"),
    ]


def test_sql_finds_groups_by_a_fact(history: PostgresHistory, database_url: str) -> None:
    """Facts are JSON of one form in metrics, candidates and advice, found by kind, measure and number."""
    lost = {"kind": "finding", "measure": "lost_records", "after": 6.0, "partitions": 1}
    gain = row_of(Fact(kind=FactKind.GAIN, measure="moves", before=3.0, after=1.0))
    taken = manifest()
    snapshot_id = taken.snapshot_id
    history.store_snapshot(taken)
    history.store_metrics(snapshot_id, metrics(snapshot_id, {"orders-app": [3]}, facts=[lost]))
    history.store_candidates(snapshot_id, candidates(snapshot_id, "orders-app", facts=[gain]))
    history.store_advice(snapshot_id, [advice(snapshot_id, "orders-app", facts=[gain])])

    finds = "SELECT DISTINCT group_id FROM {} WHERE facts @> '{}'"
    for table, fact in (
        ("group_metrics", '[{"kind": "finding", "measure": "lost_records", "after": 6}]'),
        ("candidate", '[{"measure": "moves"}]'),
        ("advice", '[{"kind": "gain", "measure": "moves"}]'),
    ):
        assert ask(database_url, finds.format(table, fact)) == [{"group_id": "orders-app"}], table
        assert ask(database_url, finds.format(table, '[{"measure": "other"}]')) == [], table


def test_forecasts_go_on_where_the_stored_ones_were(
    history: PostgresHistory, database_url: str
) -> None:
    """Factors and what is not due yet come back to the digit, for a re-evaluation that goes on from them."""
    pending = [PendingForecast(FIRST.timestamp(), 900.0, 0.1, 7.0)]
    course = ForecastCourse.of(FIRST, "a", (1 / 3, 1.0, 2.5, 20.0), pending)
    taken = manifest()
    history.store_snapshot(taken)
    stored = metrics(taken.snapshot_id, {"orders-app": [5]}, forecast_course=row_of(course))
    history.store_metrics(taken.snapshot_id, stored)

    (row,) = ask(database_url, "SELECT forecast_course FROM group_metrics")

    assert record_of(ForecastCourse, row["forecast_course"]) == course


def test_values_come_back_as_they_went_in(history: PostgresHistory, database_url: str) -> None:
    """Null, infinity, lists and moments survive the way through COPY."""
    taken = manifest(problems=["group 'x': not authorised"], bytes_received=5_000_000_000)
    snapshot_id = taken.snapshot_id
    history.store_snapshot(taken)
    history.store_metrics(
        snapshot_id,
        metrics(
            snapshot_id,
            {'é, "g"': [None]},
            drain_seconds=float("inf"),
            rates_since=FIRST,
            commit_ages_seconds=[1.5, 60.0],
        ),
    )
    never = {
        "forecast_drained_seconds_expected": float("inf"),
        "forecast_utilization_expected": None,
    }
    history.store_candidates(snapshot_id, candidates(snapshot_id, 'é, "g"', **never))
    (group,) = history.query("groups")
    assert (group["group_id"], group["total_lag"], group["taken_at"]) == ('é, "g"', None, FIRST)
    assert group["findings"] == ['one, "two"']
    live, proposed = history.query("scoreboard")
    assert (live["strategy"], live["is_live"], live["is_running"]) == ("live", True, False)
    assert (proposed["strategy"], proposed["is_running"]) == ("range", True)
    assert proposed["drain_seconds"] == float("inf")
    assert {name: proposed[name] for name in never} == never
    (row,) = ask(database_url, "SELECT commit_ages_seconds FROM group_metrics")
    assert row == {"commit_ages_seconds": [1.5, 60.0]}
    (health,) = history.query("snapshot_health")
    assert (health["partial"], health["problems"]) == (True, ["group 'x': not authorised"])
    assert (health["duration_seconds"], health["reading_seconds"]) == (3.0, 1.0)
    assert (health["request_count"], health["group_count"]) == (5, 2)
    assert health["bytes_received"] == 5_000_000_000


def test_a_snapshot_stored_again_keeps_what_later_steps_noted(
    history: PostgresHistory, database_url: str
) -> None:
    """A retry of the first step does not undo the verdicts of the others, nor the configuration it does not know."""
    taken = manifest()
    history.store_snapshot(taken, "c0ffee")
    history.store_validation(taken.snapshot_id, "snapshot", checks(validation(None, success=False)))
    history.store_snapshot(taken)
    (row,) = ask(database_url, "SELECT * FROM snapshot")
    assert (row["config_version"], row["rejected"]) == ("c0ffee", True)
    assert row["validated_at"] is not None


def test_a_failed_critical_check_of_the_whole_rejects_the_snapshot(
    history: PostgresHistory,
) -> None:
    """A rejection at one stage is not undone by the other stage; a group's failure withholds only the group."""
    taken = manifest()
    snapshot_id = taken.snapshot_id
    history.store_snapshot(taken)
    history.store_validation(snapshot_id, "snapshot", checks(validation("a", success=False)))
    assert history.query("snapshot_health")[0]["rejected"] is False
    history.store_validation(snapshot_id, "snapshot", checks(validation(None, success=False)))
    history.store_validation(snapshot_id, "candidates", checks(validation("a", success=False)))
    (health,) = history.query("snapshot_health")
    assert (health["rejected"], health["skipped_groups"]) == (True, 1)
    assert [(r["group_id"], r["stage"]) for r in history.query("skipped_groups")] == [
        (None, "snapshot"),
        ("a", "candidates"),
    ]


def test_partitions_are_those_of_the_newest_measured_snapshot(history: PostgresHistory) -> None:
    """A newer snapshot's partitions replace the older one's; measured late, the older one changes nothing."""
    old, new, other = manifest(0), manifest(1), manifest(0, "other")
    for taken in (old, new, other):
        history.store_snapshot(taken)
    for taken, lag in ((old, 1), (other, 9), (new, 2), (old, 3)):
        history.store_metrics(taken.snapshot_id, metrics(taken.snapshot_id, {"g": [lag]}))
    found = [(row["cluster"], row["lag"]) for row in history.query("worst_partitions")]
    assert found == [("other", 9), ("demo", 2)]
    assert [row["total_lag"] for row in history.query("groups", cluster="demo")] == [2]


def test_a_snapshot_still_being_worked_on_hides_nothing(history: PostgresHistory) -> None:
    """Until the next snapshot is measured, proposed and advised, every view shows the one before."""
    fill(history, 0)
    history.store_snapshot(manifest(1))
    assert len(history.query("groups")) == 2
    assert len(history.query("worst_partitions")) == 3
    assert len(history.query("scoreboard")) == 2
    assert len(history.query("advised_moves", group="orders-app")) == 1
    newest, before = history.query("snapshot_health")
    assert (newest["seconds_since_previous"], before["seconds_since_previous"]) == (60.0, None)


def test_only_the_20_worst_partitions_of_each_group_are_kept(
    history: PostgresHistory, database_url: str
) -> None:
    """The largest lags stay, the unknown ones come last; a small group keeps all."""
    taken = manifest()
    history.store_snapshot(taken)
    lags = [None, *range(30)]
    history.store_metrics(
        taken.snapshot_id, metrics(taken.snapshot_id, {"big": lags, "small": [None, 4]})
    )
    kept = ask(database_url, "SELECT group_id, lag FROM partition_worst ORDER BY group_id, place")
    assert [r["lag"] for r in kept if r["group_id"] == "big"] == list(range(29, 9, -1))
    assert [r["lag"] for r in kept if r["group_id"] == "small"] == [4, None]


def test_expiry_takes_snapshots_with_all_that_belongs_to_them(
    history: PostgresHistory, database_url: str
) -> None:
    """What began before the moment goes, from every table; open incidents and unsent messages stay."""
    old, new = fill(history, 0), fill(history, 10)
    with psycopg.connect(database_url) as connection:
        for key, snapshot_id, state in (
            ("of the old snapshot", old, "pending"),
            ("of the new snapshot", new, "pending"),
            ("sent", None, "sent"),
            ("unsent", None, "pending"),
        ):
            connection.execute(
                "INSERT INTO alert (key, cluster, snapshot_id, kind, channel, message, state, created_at)"
                " VALUES (%s, 'demo', %s, 'advice', '#kafka', '{}', %s, %s)",
                (key, snapshot_id, state, FIRST),
            )
        for kind, closed_at in (("over", FIRST), ("open", None)):
            connection.execute(
                "INSERT INTO incident (cluster, kind, severity, opened_at, last_seen_at, closed_at)"
                " VALUES ('demo', %s, 'warning', %s, %s, %s)",
                (kind, FIRST, FIRST, closed_at),
            )
    assert history.expire(FIRST + timedelta(minutes=5)) == [old]
    for table in TABLES[1:-1]:
        assert {r["snapshot_id"] for r in ask(database_url, f"SELECT * FROM {table}")} == {new}
    assert len(ask(database_url, "SELECT * FROM advice_move")) == 1
    left = ask(database_url, "SELECT key FROM alert ORDER BY key")
    assert [row["key"] for row in left] == ["of the new snapshot", "unsent"]
    assert [row["kind"] for row in ask(database_url, "SELECT kind FROM incident")] == ["open"]


def test_a_write_that_fails_leaves_everything_as_it_was(
    history: PostgresHistory, database_url: str
) -> None:
    """Metrics whose last table is wrong change no row of the first ones."""
    snapshot_id = fill(history)
    before = everything(database_url)
    broken = metrics(snapshot_id, {"new": [1]})
    twice = broken["partition_metrics"]
    broken["partition_metrics"] = twice.take([0, 0])
    with pytest.raises(HistoryError, match="duplicate key"):
        history.store_metrics(snapshot_id, broken)
    assert everything(database_url) == before


def test_the_runs_of_steps_are_noted(history: PostgresHistory) -> None:
    """A failed run is found by the query, with its error; one that concerns no cluster, too."""
    for cluster, outcome, error in (("demo", "ok", None), (None, "failed", "no such key")):
        history.record_step(
            StepRun(
                cluster=cluster,
                snapshot_id=None,
                step="take_snapshot",
                started_at=FIRST,
                finished_at=FIRST + timedelta(seconds=2),
                outcome=Outcome(outcome),
                error=error,
            )
        )
    (row,) = history.query("failed_steps", hours=10**7)
    assert (row["cluster"], row["error"], row["duration_seconds"]) == (None, "no such key", 2.0)


def test_partition_worst_has_the_columns_of_partition_latest(database_url: str) -> None:
    """The worst partitions are rows of the newest ones with their place: none is left out of the history."""
    question = "SELECT * FROM {} LIMIT 0"
    with psycopg.connect(database_url) as connection:
        columns = [
            [c.name for c in connection.execute(question.format(table).encode()).description or ()]
            for table in ("partition_latest", "partition_worst")
        ]
    assert {*columns[0], "place"} == {*columns[1]}


def test_views_take_no_snapshot_from_the_future_for_the_newest(database_url: str) -> None:
    """A clock was ahead when it was taken; where all are from the future, the database's clock is behind instead."""
    history = PostgresHistory(database_url)
    ahead = (utc_now() + timedelta(days=1) - FIRST) // timedelta(minutes=1)
    for cluster, numbers in (("demo", (0, 1, ahead)), ("behind", (ahead, ahead + 1))):
        for number in numbers:
            history.store_snapshot(manifest(number, cluster))
    newest = ask(
        database_url, "SELECT cluster, left(right(taken, 23), 13) AS at FROM newest_snapshot"
    )
    expected = {
        "demo": FIRST + timedelta(minutes=1),
        "behind": FIRST + timedelta(minutes=ahead + 1),
    }
    assert {row["cluster"]: row["at"] for row in newest} == {
        cluster: f"{at:%Y%m%dT%H%M}" for cluster, at in expected.items()
    }
