"""Queries of a period: which groups were worst, what a moment changed, and where a period ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.tables import Table
from evenkeel.engine.snapshots import METRICS
from tests.helpers.history_rows import FIRST, manifest, metrics
from tests.helpers.silenced import silence

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

HOUR = timedelta(hours=1)
UNTIL = FIRST + HOUR
WEEK = 7 * 24 * 60
ILL = "skewed load"


def seen(history: PostgresHistory, minute: int, **groups: Mapping[str, Any]) -> None:
    """A snapshot of these groups, each with columns of its own."""
    taken = manifest(minute)
    history.store_snapshot(taken)
    tables = metrics(taken.snapshot_id, {name: [0] for name in groups})
    rows = [row | groups[row["group_id"]] for row in tables["group_metrics"].to_pylist()]
    tables["group_metrics"] = Table.from_rows(rows, METRICS["group_metrics"])
    history.store_metrics(taken.snapshot_id, tables)


def happened(url: str, group: str | None, began: datetime, **columns: Any) -> None:
    """An incident that began then."""
    row = {
        "cluster": "demo",
        "group_id": group,
        "kind": "skewed load",
        "severity": "warning",
        "began_at": began,
        "opened_at": began,
        "last_seen_at": began,
        **columns,
    }
    names = ", ".join(row)
    marks = ", ".join(["%s"] * len(row))
    with psycopg.connect(url) as connection:
        connection.execute(
            f"INSERT INTO incident ({names}) VALUES ({marks})".encode(), [*row.values()]
        )


def lost(amount: int) -> str:
    """The causes of an incident with data loss."""
    return json.dumps([{"cause": "data loss", "amount": amount}, {"cause": ILL, "amount": 7}])


def a_week(history: PostgresHistory) -> None:
    """Snapshots before, at both ends of, within and after the week that ends at `UNTIL`."""
    well = {"diagnosis": "healthy"}
    for minute, columns in (
        (-WEEK - 90, {"old": well}),
        (-WEEK - 60, {"old": {"diagnosis": ILL, "total_lag": 10**6}}),
        (-WEEK + 70, {"old": well, "edge": {"diagnosis": ILL, "total_lag": 5}}),
        (-WEEK + 100, {"edge": well}),
        (-3 * 24 * 60, {"long": {"diagnosis": ILL, "total_lag": 30, "time_lag_seconds": 9.0}}),
        (-3 * 24 * 60 + 30, {"long": {"diagnosis": ILL, "total_lag": 20}}),
        (-3 * 24 * 60 + 60, {"long": {"diagnosis": "hot partition", "total_lag": 50}}),
        (-3 * 24 * 60 + 90, {"long": well}),
        (0, {"short": well}),
        (30, {"short": {"diagnosis": ILL, "total_lag": 900, "time_lag_seconds": 99.0}}),
        (70, {"late": {"diagnosis": ILL, "total_lag": 10**6}}),
    ):
        seen(history, minute, **columns)


def asked(history: PostgresHistory, *names: str, **given: Any) -> list[tuple[Any, ...]]:
    """These columns of the week's worst groups."""
    rows = history.query("worst_groups", **({"until": UNTIL} | given))
    return [tuple(row[name] for name in names) for row in rows]


WORST = [
    ("long", 3600 + 1800 + 1800, 50, 9.0, ILL),
    ("edge", 3600, 5, None, ILL),
    ("short", 1800, 900, 99.0, ILL),
]
MEASURED = ("group_id", "unhealthy_seconds", "peak_lag", "peak_time_lag_seconds", "diagnosis")


def test_the_group_that_was_unhealthy_longest_was_worst(history: PostgresHistory) -> None:
    """Of the week alone, by hours at its ends and days between; one that only looked bad outside it is not listed."""
    a_week(history)
    assert asked(history, *MEASURED) == WORST
    assert asked(history, "group_id", limit=1) == [("long",)]
    assert asked(history, "group_id", since=FIRST) == [("short",)]
    assert asked(history, "group_id", since=FIRST + HOUR, until=FIRST + 2 * HOUR) == [("late",)]
    begins = FIRST - timedelta(days=3)
    [(first_at, last_at)] = asked(history, "first_at", "last_at", group="long")
    assert (first_at, last_at) == (begins, begins + 1.5 * HOUR)
    assert asked(history, "last_at", group="short") == [(None,)]


def test_rolled_up_hours_and_days_answer_without_their_snapshots(
    history: PostgresHistory,
) -> None:
    """The week is answered alike when all its snapshots are rolled up and deleted."""
    a_week(history)
    later = FIRST + 24 * HOUR
    for day in history.days_to_roll_up(later):
        history.roll_up(day, kept=FIRST - timedelta(days=9), before=later)
    history.expire(later)
    assert history.query("lag_history", group="long", hours=10**6) == []
    assert asked(history, *MEASURED) == WORST


def test_incidents_of_the_week_are_counted_beside_it(
    history: PostgresHistory, database_url: str
) -> None:
    """Also of a group that was healthy; those that ended before it, began after it, or are of the pipeline are not."""
    a_week(history)
    early, day = FIRST - timedelta(days=9), timedelta(days=1)
    happened(database_url, "told", early, closed_at=FIRST - day, notified_at=early, causes=lost(40))
    happened(database_url, "told", FIRST - day, kind="data loss", causes=lost(2))
    happened(database_url, "long", early, closed_at=early + day, causes=lost(9))
    happened(database_url, "short", UNTIL + HOUR, causes=lost(9))
    happened(database_url, "edge", FIRST, kind="data loss")
    happened(database_url, None, FIRST)

    counted = asked(history, "group_id", "incidents", "notified", "lost_records")
    assert counted == [
        ("long", 0, 0, 0),
        ("edge", 1, 0, None),
        ("short", 0, 0, 0),
        ("told", 2, 1, 42),
    ]


def test_what_a_moment_changed_is_told_by_group_with_the_largest_change_first(
    history: PostgresHistory,
) -> None:
    """The hour before it beside the hour after it, whatever was earlier or later; the moment itself is after it."""
    for minute, factor in ((-90, 50), (-40, 1), (-20, 1), (0, 3), (20, 3), (90, 50)):
        after = minute >= 0
        groups: dict[str, dict[str, Any]] = {
            "calm": {"total_lag": 10**6 * factor, "time_lag_seconds": 1.0 * factor},
            "slow": {"total_lag": 10 * factor, "time_lag_seconds": 100.0 * factor},
            "ill": {"total_lag": 5, "diagnosis": ILL if after else "healthy"},
            "grown": {"total_lag": 5, "members": 5 if after else 4, "time_lag_seconds": 0.5},
        }
        seen(history, minute, **groups, **({} if after else {"gone": {"total_lag": 7}}))

    rows = history.query("before_after", at=FIRST)
    names = ("group_id", "period", "total_lag", "time_lag_seconds", "diagnosis", "members")
    told = [tuple(row[name] for name in names) for row in rows]
    assert told == [
        ("grown", "before", 5, 0.5, "unknown", 4),
        ("grown", "after", 5, 0.5, "unknown", 5),
        ("gone", "before", 7, None, "unknown", 1),
        ("ill", "before", 5, None, "healthy", 1),
        ("ill", "after", 5, None, ILL, 1),
        ("slow", "before", 10, 100, "unknown", 1),
        ("slow", "after", 30, 300, "unknown", 1),
        ("calm", "before", 10**6, 1, "unknown", 1),
        ("calm", "after", 3 * 10**6, 3, "unknown", 1),
    ]
    assert {row["snapshots"] for row in rows} == {2}
    limited = history.query("before_after", at=FIRST, limit=1)
    assert [row["group_id"] for row in limited] == ["grown", "grown"]
    assert {row["group_id"] for row in history.query("before_after", at=FIRST, group="ill")} == {
        "ill"
    }
    assert {row["snapshots"] for row in history.query("before_after", at=FIRST, hours=2)} == {3}


def test_incidents_of_a_period_that_is_over(history: PostgresHistory, database_url: str) -> None:
    """Those that were open then: what began later is left out, and what lasts counts until the end of the period."""
    happened(database_url, "before", FIRST - 3 * HOUR, closed_at=FIRST - 2 * HOUR)
    happened(database_url, "within", FIRST - HOUR, closed_at=FIRST)
    happened(database_url, "lasting", FIRST - HOUR / 2)
    happened(database_url, "later", UNTIL + HOUR)

    period = {"hours": 2, "until": UNTIL}
    shown = [row["group_id"] for row in history.query("incident_history", **period)]
    assert shown == ["lasting", "within"]
    totals = history.query("incident_totals", **period)
    assert [(row["group_id"], row["wrong_seconds"]) for row in totals] == [
        ("lasting", 5400),
        ("within", 3600),
    ]


def test_silences_steps_and_waits_of_a_period_that_is_over(
    history: PostgresHistory, database_url: str
) -> None:
    """None that began after its end."""
    for minutes in (0, 90):
        at = FIRST + timedelta(minutes=minutes)
        history.store_snapshot(manifest(minutes))
        history.add_silence(silence(cluster="demo", starts_at=at, ends_at=at + HOUR))
        with psycopg.connect(database_url) as connection:
            connection.execute(
                "INSERT INTO step_run (cluster, step, started_at, finished_at, outcome, error)"
                " VALUES ('demo', 'advise', %s, %s, 'failed', 'no')",
                [at, at],
            )
    for name, moment in (
        ("silences", "starts_at"),
        ("failed_steps", "started_at"),
        ("advice_age", "started_at"),
    ):
        rows = history.query(name, hours=2, until=UNTIL)
        assert [row[moment] for row in rows] == [FIRST], name


def test_membership_changes_of_a_period_that_is_over(history: PostgresHistory) -> None:
    """Its last hour counts, the next one does not."""
    would = [{"strategy": "range", "moves": 1}]
    change = {"members_joined": 1, "members_left": 0, "members_restarted": 0, "partitions_moved": 4}
    for minute in (0, 10, 130):
        seen(history, minute, app=change | {"would_have_moved": would})

    (row,) = history.query("membership_changes", until=UNTIL)
    assert (row["changed"], row["moved"]) == (2, 8)
