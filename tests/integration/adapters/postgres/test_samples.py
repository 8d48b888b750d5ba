"""What the history keeps of every snapshot: right when stored late or again, and packed or dropped in nobody's way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.assignments import Verdict
from tests.helpers.history_rows import FIRST, advice, candidates, manifest, metrics

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

DAY = 24 * 60
"""Minutes of a day."""


def rows(url: str, question: str) -> list[tuple[Any, ...]]:
    """Ask the database itself."""
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode()).fetchall()


def at(number: int) -> Any:
    """When that snapshot was taken."""
    return FIRST + timedelta(minutes=number)


def measured(history: PostgresHistory, number: int, cluster: str = "demo", **columns: Any) -> str:
    """A snapshot of one group with its metrics; its id."""
    taken = manifest(number, cluster)
    history.store_snapshot(taken)
    history.store_metrics(taken.snapshot_id, metrics(taken.snapshot_id, {"app": [5]}, **columns))
    return taken.snapshot_id


@contextmanager
def beside(url: str, *works: Callable[[], object]) -> Iterator[list[Future[Any]]]:
    """Each begun when those before it wait for a lock, or are done; at the end all have come to theirs."""
    with ThreadPoolExecutor(len(works)) as pool, psycopg.connect(url, autocommit=True) as third:
        begun: list[Future[Any]] = []
        try:
            for work in works:
                begun.append(pool.submit(work))
                deadline = time.monotonic() + 30
                while third.execute(WAITING).rowcount != sum(not each.done() for each in begun):
                    assert time.monotonic() < deadline, "it neither waits nor ends"
            yield begun
        except BaseException:  # what it waits for may be held by who is told
            third.execute(f"SELECT pg_cancel_backend(pid) FROM ({WAITING}) AS waits")
            raise


WAITING = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'"""


def impatient(url: str) -> str:
    """The same database for whom no lock is worth three seconds."""
    return f"{url}{'&' if '?' in url else '?'}options=-c%20lock_timeout%3D3s"


FORECAST = "SELECT total_lag, forecast_soon_lag_high, forecast_lag_expected FROM lag_history"


def test_a_forecast_outlives_metrics_that_are_stored_again(
    history: PostgresHistory, database_url: str
) -> None:
    """A step that runs twice takes nothing from what a later step had kept."""
    snapshot_id = measured(history, 0)
    forecast = {"forecast_soon_lag_high": 7.5, "forecast_lag_expected": 3.5}
    history.store_candidates(snapshot_id, candidates(snapshot_id, "app", **forecast))
    assert rows(database_url, FORECAST) == [(5, 7.5, 3.5)]
    history.store_metrics(snapshot_id, metrics(snapshot_id, {"app": [6]}))
    assert rows(database_url, FORECAST) == [(6, 7.5, 3.5)]


@pytest.mark.parametrize("again", ["without a forecast", "of no group"])
def test_a_forecast_that_is_not_made_again_is_gone(
    history: PostgresHistory, database_url: str, again: str
) -> None:
    """What an earlier try forecast is not shown as if it were still said."""
    snapshot_id = measured(history, 0)
    history.store_candidates(snapshot_id, candidates(snapshot_id, "app", forecast_lag_expected=3.5))
    made = candidates(snapshot_id, "app")
    made = made if again == "without a forecast" else made.slice(0, 0)
    history.store_candidates(snapshot_id, made)
    assert rows(database_url, FORECAST) == [(5, None, None)]


def test_after_a_late_snapshot_the_next_is_compared_with_it(
    history: PostgresHistory, database_url: str
) -> None:
    """An outage is caught up with newest first: each of its snapshots says whether its own assignment was new."""
    for number, assignment in ((0, "old"), (4, "new"), (3, "new"), (2, "new"), (1, "old")):
        measured(history, number, assignment=assignment)
        measured(history, number, "other", assignment=f"{number}")
    asked = "SELECT taken_at, reassigned FROM lag_history WHERE cluster = '{}' ORDER BY 1"
    new = [True, False, True, False, False]
    assert rows(database_url, asked.format("demo")) == [(at(n), new[n]) for n in range(5)]
    assert rows(database_url, asked.format("other")) == [(at(n), True) for n in range(5)]


def test_a_day_is_made_once_by_two_at_the_same_moment(
    history: PostgresHistory, database_url: str
) -> None:
    """Two clusters that begin a day together both store their snapshots."""
    taken = manifest(0, "other")
    history.store_snapshot(taken)
    with psycopg.connect(database_url) as first:
        first.execute("SELECT make_sample_day(%s)", [FIRST])
        own = taken.snapshot_id
        made = metrics(own, {"app": [5]})
        with beside(database_url, lambda: history.store_metrics(own, made)) as (second,):
            first.commit()
            second.result(30)
    assert rows(database_url, "SELECT cluster, total_lag FROM lag_history") == [("other", 5)]


def test_who_stores_a_snapshot_waits_for_no_other_day(
    history: PostgresHistory, database_url: str
) -> None:
    """Yesterday is packed, or read by somebody who takes long, while today's snapshots come in."""
    measured(history, 0)
    storing = PostgresHistory(impatient(database_url))
    with psycopg.connect(database_url) as packing:
        packing.execute("LOCK TABLE group_sample_20260301 IN ACCESS EXCLUSIVE MODE")
        snapshot_id = measured(storing, DAY)
        storing.store_metrics(snapshot_id, metrics(snapshot_id, {"app": [6]}))
        made = candidates(snapshot_id, "app", forecast_lag_expected=3.5)
        storing.store_candidates(snapshot_id, made)
    assert rows(database_url, f"{FORECAST} ORDER BY taken_at") == [(5, None, None), (6, None, 3.5)]


PACKED = """
    SELECT relname FROM pg_class INNER JOIN pg_index ON indrelid = pg_class.oid
    WHERE indisclustered ORDER BY 1"""
DAYS = """
    SELECT inhrelid::regclass::text FROM pg_inherits
    WHERE inhparent = 'group_sample'::regclass ORDER BY 1"""


def test_a_day_that_somebody_reads_is_packed_another_time(
    history: PostgresHistory, database_url: str
) -> None:
    """The others are packed meanwhile, and nobody waits behind the one who reads."""
    for day in range(3):
        measured(history, day * DAY)
    with psycopg.connect(database_url) as reader:
        reader.execute("SELECT FROM group_sample_20260302")
        PostgresHistory(impatient(database_url)).pack_samples(at(3 * DAY))
        days = ["group_sample_20260301", "group_sample_20260303"]
        assert rows(database_url, PACKED) == [(day,) for day in days]
    history.pack_samples(at(3 * DAY))
    assert len(rows(database_url, PACKED)) == 3


def test_one_turn_packs_a_few_days_the_newest_first(
    history: PostgresHistory, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade there are many: the next turns go on where this one ended."""
    monkeypatch.setattr("evenkeel.engine.adapters.postgres.results.PACKED_AT_ONCE", 2)
    for day in range(3):
        measured(history, day * DAY)
    history.pack_samples(at(3 * DAY))
    assert rows(database_url, PACKED) == [("group_sample_20260302",), ("group_sample_20260303",)]
    history.pack_samples(at(3 * DAY))
    assert len(rows(database_url, PACKED)) == 3


def test_a_day_that_somebody_reads_goes_another_time(
    history: PostgresHistory, database_url: str
) -> None:
    """Who looks at the history for long holds up neither what expires nor who stores."""
    old, new = measured(history, 0), measured(history, DAY)
    asked = "SELECT taken_at FROM lag_history ORDER BY 1"
    with psycopg.connect(database_url) as reader:
        reader.execute("SELECT FROM lag_history")
        assert PostgresHistory(impatient(database_url)).expire(at(DAY)) == [old]
        assert rows(database_url, DAYS) == [("group_sample_20260301",), ("group_sample_20260302",)]
        PostgresHistory(impatient(database_url)).store_metrics(new, metrics(new, {"app": [6]}))
    assert history.expire(at(DAY)) == []
    assert rows(database_url, DAYS) == [("group_sample_20260302",)]
    assert rows(database_url, asked) == [(at(DAY),)]


def test_the_history_is_read_while_snapshots_expire(
    history: PostgresHistory, database_url: str
) -> None:
    """However long their rows take to go, no table of a day is locked meanwhile."""
    old, _ = measured(history, 0), measured(history, DAY)
    with psycopg.connect(database_url) as holding:
        holding.execute("SELECT FROM snapshot WHERE snapshot_id = %s FOR UPDATE", [old])
        with beside(database_url, lambda: history.expire(at(DAY))) as (expiring,):
            try:
                assert len(rows(impatient(database_url), "SELECT FROM lag_history")) == 2
            finally:
                holding.rollback()
            assert expiring.result(30) == [old]


def tell(history: PostgresHistory, snapshot_id: str, verdict: Verdict) -> bool:
    """Its group is told that after a snapshot."""
    plain: dict[str, Any] = {"events": [], "checks": [], "moves": [], "state": None, "seen": 0}
    row = advice(snapshot_id, "app", verdict=verdict, **plain)
    return history.store_advice(snapshot_id, [row])


def test_advice_that_becomes_another_while_its_first_snapshot_expires_ends(
    history: PostgresHistory, database_url: str
) -> None:
    """Of a group one advice is told at a time, whoever comes first."""
    ids = [measured(history, number) for number in (0, 2 * DAY, 2 * DAY + 1)]
    for snapshot_id in ids[:2]:
        tell(history, snapshot_id, Verdict.STAY)
    with psycopg.connect(database_url) as holding:
        holding.execute("SELECT FROM snapshot WHERE snapshot_id = %s FOR UPDATE", [ids[0]])
        works = (lambda: history.expire(at(DAY)), lambda: tell(history, ids[2], Verdict.SWITCH))
        with beside(database_url, *works) as both:
            holding.rollback()
            assert [each.result(30) for each in both] == [ids[:1], True]
    asked = "SELECT verdict, since, until FROM advice_history ORDER BY since"
    assert rows(database_url, asked) == [
        ("stay", at(0), at(2 * DAY + 1)),
        ("switch", at(2 * DAY + 1), None),
    ]


def test_days_are_found_however_the_server_goes_about_it(
    history: PostgresHistory, database_url: str
) -> None:
    """It looks at other tables first where it likes that better: the name of none of these is taken for a day."""
    measured(history, 0)
    otherwise = (
        f"{database_url}{'&' if '?' in database_url else '?'}options=-c%20enable_nestloop%3Doff"
    )
    PostgresHistory(otherwise).pack_samples(at(DAY))
    assert rows(database_url, PACKED) == [("group_sample_20260301",)]
    PostgresHistory(otherwise).expire(at(DAY))
    assert rows(database_url, DAYS) == []


def test_snapshots_expire_in_several_transactions(
    history: PostgresHistory, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them go, the oldest first, however many there are."""
    monkeypatch.setattr("evenkeel.engine.adapters.postgres.results.EXPIRED_AT_ONCE", 2)
    names = [measured(history, number) for number in range(5)]
    assert history.expire(at(4)) == names[:4]
    assert rows(database_url, "SELECT snapshot_id FROM snapshot") == [(names[4],)]


def test_who_waits_for_a_cluster_holds_none_of_its_snapshots(
    history: PostgresHistory, database_url: str
) -> None:
    """Whoever has the cluster can write all of them: else both would wait for each other."""
    snapshot_id = measured(history, 0)
    with psycopg.connect(database_url) as upkeep:
        upkeep.execute("SELECT FROM cluster FOR UPDATE")
        with beside(database_url, lambda: tell(history, snapshot_id, Verdict.STAY)) as (told,):
            try:
                upkeep.execute("SELECT FROM snapshot FOR UPDATE NOWAIT")
            finally:
                upkeep.rollback()
            assert told.result(30)


def test_a_group_that_is_gone_is_forgotten_with_its_last_sample(
    history: PostgresHistory, database_url: str
) -> None:
    """Names that never come back are not kept for ever; who only has none in the newest snapshot stays."""
    measured(history, 0)
    for number, groups in ((1, ["app", "gone"]), (DAY, ["app", "away"]), (2 * DAY, ["app"])):
        taken = manifest(number)
        history.store_snapshot(taken)
        own = taken.snapshot_id
        history.store_metrics(own, metrics(own, {group: [5] for group in groups}))
    asked = {
        table: f"SELECT DISTINCT group_id FROM {table} ORDER BY 1"
        for table in ("consumer_group", "member_span", "diagnosis_span")
    }
    numbers = "SELECT group_number FROM consumer_group WHERE group_id = 'app'"
    number = rows(database_url, numbers)
    for _ in range(2):  # the last samples of a group go after its snapshots
        history.expire(at(DAY))
        history.expire_rollups(hours=at(DAY), days=at(DAY))
    for table, question in asked.items():
        assert rows(database_url, question) == [("app",), ("away",)], table
    assert rows(database_url, numbers) == number
