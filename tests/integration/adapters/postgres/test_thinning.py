"""What the history keeps of older snapshots: what changed, not what was said again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.records import AdviceRow
from tests.helpers.history_rows import (
    FIRST,
    advice,
    candidates,
    checks,
    manifest,
    metrics,
    validation,
)

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

NONE = {"events": [], "checks": [], "moves": [], "state": None, "state_since": None}
GROUPS = ("app", "other")


def said(verdict: str = "stay", strategy: str | None = None, **columns: Any) -> dict[str, Any]:
    """Columns of an advice of which nothing became anything."""
    return NONE | {"verdict": Verdict(verdict), "strategy": strategy, "seen": 0} | columns


def told(
    history: PostgresHistory, number: int, by_group: Mapping[str, Mapping[str, Any]], lag: int = 5
) -> str:
    """One snapshot a minute, through every step."""
    taken = manifest(number)
    snapshot_id = taken.snapshot_id
    history.store_snapshot(taken, "c0ffee")
    found = checks(validation("app", success=True), validation("other", success=number != 1))
    history.store_validation(snapshot_id, "snapshot", found)
    lags = {group: [lag + number, 7] for group in GROUPS}
    rates = {"production_per_second": 1.1, "delay_seconds": 0.1 * number, "diagnosis": "healthy"}
    history.store_metrics(snapshot_id, metrics(snapshot_id, lags, **rates))
    history.store_candidates(snapshot_id, candidates(snapshot_id, "app"))
    rows: list[AdviceRow] = [advice(snapshot_id, g, **own) for g, own in by_group.items()]
    history.store_advice(snapshot_id, rows)
    return snapshot_id


def rows(url: str, question: str) -> list[tuple[Any, ...]]:
    """Ask the database itself."""
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode()).fetchall()


def at(number: int) -> Any:
    """When that snapshot was taken."""
    return FIRST + timedelta(minutes=number)


@pytest.fixture
def history(database_url: str) -> PostgresHistory:
    """A history that is migrated and empty."""
    return PostgresHistory(database_url)


def test_advice_is_a_span_from_when_to_when_it_was_told(
    history: PostgresHistory, database_url: str
) -> None:
    """Stay, then a switch that is proposed and confirmed, then a group that is gone; thinned it is the same."""
    proposed = said("stay", "range", seen=1, state="proposed", state_since=at(2))
    confirmed = said("switch", "range", seen=2, state="confirmed", state_since=at(3))
    for number, own in enumerate((said(), said(), proposed, confirmed, confirmed)):
        told(history, number, {"app": own, "other": said()} if number < 4 else {"app": own})

    expected = [
        ("app", "stay", None, at(0), at(2)),
        ("app", "stay", "range", at(2), at(3)),
        ("app", "switch", "range", at(3), None),
        ("other", "stay", None, at(0), at(4)),
    ]
    spans = "SELECT group_id, verdict, strategy, since, until FROM advice_history ORDER BY 1, 4"
    assert rows(database_url, spans) == expected
    assert rows(database_url, "SELECT count(*) FROM advice") == [(9,)]

    history.thin("demo", 0)
    assert rows(database_url, spans) == expected
    kept = "SELECT group_id, since, repeats FROM advice INNER JOIN snapshot USING (snapshot_id) ORDER BY 1, started_at"
    assert rows(database_url, kept) == [
        ("app", at(0), False),
        ("app", at(2), False),
        ("app", at(3), False),
        ("app", at(3), True),
        ("other", at(0), False),
        ("other", at(0), True),
        ("other", at(0), True),
    ], "those of the newest three snapshots, and the last of a group: how far its advice had come"


def test_what_every_snapshot_said_of_groups_is_kept_and_their_rows_are_not(
    history: PostgresHistory, database_url: str
) -> None:
    """Metrics and members of the newest three only; the history of a group and its hours stay what they were."""
    for number in range(6):
        told(history, number, {group: said() for group in GROUPS})
    asked = {"group": "app", "hours": 10**7}
    before = history.query("lag_history", **asked)
    hours = rows(database_url, "SELECT * FROM group_lag_trend ORDER BY per, group_id, since")
    churn = history.query("churn", hours=10**7)

    history.thin("demo", 0)
    assert history.query("lag_history", **asked) == before
    assert [(row["total_lag"], row["delay_seconds"]) for row in before[:3]] == [
        (12, 0.0),
        (13, 0.1),
        (14, 0.2),
    ], "seven digits come back as they were"
    assert (
        rows(database_url, "SELECT * FROM group_lag_trend ORDER BY per, group_id, since") == hours
    )
    assert hours
    assert history.query("churn", hours=10**7) == churn
    for table in ("group_metrics", "member_metrics", "partition_worst"):
        assert rows(database_url, f"SELECT count(DISTINCT snapshot_id) FROM {table}") == [(3,)]
    assert rows(database_url, "SELECT count(*) FROM snapshot WHERE thinned_at IS NULL") == [(3,)]


def test_what_is_newer_than_the_detail_stays(history: PostgresHistory, database_url: str) -> None:
    """Three minutes of detail are the newest snapshot and the three before."""
    for number in range(6):
        told(history, number, {"app": said()})
    history.thin("demo", 3 / 60)
    assert rows(database_url, "SELECT count(DISTINCT snapshot_id) FROM group_metrics") == [(4,)]
    assert rows(database_url, "SELECT count(DISTINCT snapshot_id) FROM candidate") == [(3,)]


def test_snapshots_far_apart_lose_what_only_the_newest_are_asked_for(
    history: PostgresHistory, database_url: str
) -> None:
    """What is whole because it is among the newest three goes with the fourth, however old it was by then."""
    for number in range(6):
        told(history, number * 90, {"app": said()})
        history.thin("demo", 1)
    for table in ("candidate", "partition_worst", "validation", "group_metrics", "member_metrics"):
        count = f"SELECT count(DISTINCT snapshot_id) FROM {table}"
        assert rows(database_url, count) == [(3,)], table


def test_a_large_history_is_thinned_in_turns(
    history: PostgresHistory, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes so many of the oldest, and of the newest what these do not need; a late one has its turn, too."""
    monkeypatch.setattr("evenkeel.engine.adapters.postgres.advice.THINNED_AT_ONCE", 2)
    ids = [told(history, number, {"app": said()}) for number in range(12)]
    asked = {
        table: f"SELECT DISTINCT started_at FROM {table} INNER JOIN snapshot USING (snapshot_id) ORDER BY 1"
        for table in ("candidate", "group_metrics", "member_metrics", "partition_worst")
    }

    def left() -> dict[str, list[Any]]:
        numbers = {at(number): number for number in range(12)}
        return {
            name: [numbers[row[0]] for row in rows(database_url, q)] for name, q in asked.items()
        }

    history.thin("demo", 5 / 60)
    detail = list(range(2, 12))
    whole = [2, 3, 4, 5, 6, 9, 10, 11]
    assert left() == {
        "candidate": whole,
        "group_metrics": detail,
        "member_metrics": detail,
        "partition_worst": whole,
    }
    for _ in range(2):
        history.thin("demo", 5 / 60)
    assert left()["group_metrics"] == list(range(6, 12))
    assert left()["candidate"] == [6, 9, 10, 11], "it goes when its own turn comes"
    history.store_metrics(ids[1], metrics(ids[1], {"app": [100]}))
    history.thin("demo", 0)
    assert left()["group_metrics"] == list(range(7, 12))


def test_candidates_stay_where_advice_became_another(
    history: PostgresHistory, database_url: str
) -> None:
    """What a change rested on can be looked up later; of all others the lake has them."""
    event = {"at": at(1), "strategy": "range", "state": "proposed", "facts": [], "cause": "it wins"}
    for number in range(6):
        events = {"events": [event]} if number == 1 else {}
        told(history, number, {"app": said("stay", "range" if number else None, **events)})
    history.thin("demo", 0)
    kept = """
        SELECT DISTINCT snapshot.started_at FROM candidate INNER JOIN snapshot USING (snapshot_id) ORDER BY 1"""
    assert rows(database_url, kept) == [(at(number),) for number in (1, 3, 4, 5)]


def test_of_older_checks_those_stay_that_did_not_hold(
    history: PostgresHistory, database_url: str
) -> None:
    """And how many there were."""
    for number in range(6):
        told(history, number, {"app": said()})
    history.thin("demo", 0)
    failed = "SELECT started_at FROM validation INNER JOIN snapshot USING (snapshot_id) WHERE NOT success"
    assert rows(database_url, failed) == [(at(1),)]
    assert rows(database_url, "SELECT count(*) FROM validation WHERE success") == [(6,)]
    assert rows(database_url, "SELECT DISTINCT checks FROM snapshot") == [(2,)]


def test_a_snapshot_that_is_measured_late_or_again_is_thinned_again(
    history: PostgresHistory, database_url: str
) -> None:
    """Its sample is replaced, its rows go with the next turn."""
    _, late, *_ = (told(history, number, {"app": said()}) for number in range(5))
    history.thin("demo", 0)
    history.store_metrics(late, metrics(late, {"app": [100]}))
    history.thin("demo", 0)
    asked = history.query("lag_history", group="app", hours=10**7)
    assert [row["total_lag"] for row in asked] == [12, 100, 14, 15, 16]
    assert rows(database_url, "SELECT count(DISTINCT snapshot_id) FROM group_metrics") == [(3,)]
    others = history.query("lag_history", group="other", hours=10**7)
    assert [row["total_lag"] for row in others] == [12, 14, 15, 16], (
        "what is not measured any more goes"
    )


def test_advice_on_an_older_snapshot_is_a_span_of_its_own(
    history: PostgresHistory, database_url: str
) -> None:
    """It ends where the next advice begins, and changes nothing of that."""
    for number in (0, 2):
        told(history, number, {"app": said()})
    told(history, 1, {"app": said("switch", "range")})
    spans = "SELECT verdict, since, until FROM advice_history ORDER BY since"
    assert rows(database_url, spans) == [("stay", at(0), None), ("switch", at(1), at(2))]
    judged = (
        "SELECT sum(advised_snapshots) FROM group_lag_trend WHERE per = 'hour' AND group_id = 'app'"
    )
    assert rows(database_url, judged) == [(3,)]


def test_a_span_outlives_the_snapshot_it_began_with(
    history: PostgresHistory, database_url: str
) -> None:
    """What is told for longer than snapshots are kept is told still, and since when; days that are over go."""
    day = 24 * 60
    for number in (0, 1, day, 2 * day):
        told(history, number, {"app": said()})
    for last in (1, 1):
        history.thin("demo", 0)
        history.expire(at(last * day + 1))
    spans = "SELECT verdict, since, until FROM advice_history"
    assert rows(database_url, spans) == [("stay", at(0), None)]
    days = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'group_sample'::regclass"
    assert rows(database_url, days) == [(2,)]
    told(history, 3 * day, {"app": said("switch", "range")})
    assert rows(database_url, f"{spans} ORDER BY since") == [
        ("stay", at(0), at(3 * day)),
        ("switch", at(3 * day), None),
    ]


def test_days_that_are_over_are_packed_once(history: PostgresHistory, database_url: str) -> None:
    """Group by group, with the same answers; the day that is not over stays as it is."""
    day = 24 * 60
    for number in (*range(5), day):
        told(history, number, {"app": said()})
    asked = "SELECT * FROM lag_history ORDER BY group_id, taken_at"
    before = rows(database_url, asked)
    lying = "SELECT group_number FROM ONLY group_sample_20260301 ORDER BY ctid"
    assert rows(database_url, lying) == [(1,), (2,)] * 5

    history.pack_samples(at(day + 1))
    assert rows(database_url, lying) == [(1,)] * 5 + [(2,)] * 5
    assert rows(database_url, asked) == before
    packed = "SELECT relname FROM pg_class INNER JOIN pg_index ON indrelid = pg_class.oid WHERE indisclustered"
    assert rows(database_url, packed) == [("group_sample_20260301",)]
    files = "SELECT pg_relation_filenode('group_sample_20260301')"
    once = rows(database_url, files)
    history.pack_samples(at(day + 1))
    assert rows(database_url, files) == once
