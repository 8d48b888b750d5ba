"""Hours and days of groups against a direct computation from what the snapshots said."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import Settings
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.maintain import MaintenanceReport, maintain
from evenkeel.engine.ports import ClusterDay
from evenkeel.engine.snapshots import METRICS
from tests.helpers.history_rows import FIRST, advice, manifest, metrics

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MONTH_SECONDS = 30 * 86_400
KEPT = FIRST - DAY
LATER = FIRST + 9 * DAY
STRATEGIES = ("range", "sticky")


@dataclass(frozen=True)
class Shot:
    """What a snapshot says: columns of each group, and what each was advised."""

    cluster: str
    minute: int
    groups: Mapping[str, Mapping[str, Any]]
    advised: Mapping[str, tuple[Verdict, str | None]]

    @property
    def at(self) -> datetime:
        """When it was taken."""
        return FIRST + timedelta(minutes=self.minute)


def drawn(seed: int, cluster: str, minutes: Sequence[int]) -> list[Shot]:
    """Snapshots of two groups with all that may be unknown now and then."""
    draw = random.Random(seed)

    def maybe(value: Any) -> Any:
        return value if draw.random() < 0.7 else None

    def group() -> dict[str, Any]:
        if draw.random() < 0.1:
            return {
                "error": "not authorised",
                "members": None,
                "total_lag": None,
                "status": "UNKNOWN",
            }
        told: dict[str, Any] = {
            "total_lag": maybe(draw.randrange(1000)),
            "delay_seconds": maybe(draw.random() * 90),
            "time_lag_seconds": maybe(draw.random() * 90),
            "members": draw.randrange(1, 9),
            "production_per_second": maybe(draw.random() * 50),
            "consumption_per_second": maybe(draw.random() * 50),
            "diagnosis": maybe(draw.choice(["healthy", "hot partition"])),
            "cross_rack_bytes_per_second": maybe(draw.random() * 1e6),
            "state": draw.choice(["Stable", "Stable", "Assigning"]),
        }
        if told["cross_rack_bytes_per_second"] is not None:
            told |= {"cross_rack_cost_per_month": draw.random() * 100, "currency": "EUR"}
        if maybe(1):
            change = {
                f"members_{what}": draw.randrange(2) for what in ("joined", "left", "restarted")
            }
            told |= change | {"partitions_moved": 3 * max(change.values())}
            if any(change.values()):
                replays = [
                    {"strategy": s, "moves": draw.randrange(5)} for s in STRATEGIES if maybe(1)
                ]
                told["would_have_moved"] = replays or None
        return told

    shots = []
    for minute in minutes:
        groups = {name: group() for name in ("a", "b") if draw.random() < 0.9}
        verdicts = [(Verdict.SWITCH, "range"), (Verdict.STAY, "sticky"), (Verdict.STAY, None)]
        verdicts.append((Verdict.NOT_EVALUATED, None))
        told = {name: draw.choice(verdicts) for name in groups if draw.random() < 0.8}
        shots.append(Shot(cluster, minute, groups, told))
    return shots


def store(history: PostgresHistory, shot: Shot, *, known: str | None = None) -> str:
    """Store what it says; its id."""
    taken = manifest(shot.minute, shot.cluster)
    snapshot_id = known or taken.snapshot_id
    if known is None:
        history.store_snapshot(taken)
    tables = metrics(snapshot_id, {name: [0] for name in shot.groups})
    rows = [row | shot.groups[row["group_id"]] for row in tables["group_metrics"].to_pylist()]
    tables["group_metrics"] = Table.from_rows(rows, METRICS["group_metrics"])
    history.store_metrics(snapshot_id, tables)
    if known is None:
        told = [
            advice(
                snapshot_id,
                name,
                verdict=verdict,
                strategy=strategy,
                moves=[],
                events=[],
                checks=[],
            )
            for name, (verdict, strategy) in shot.advised.items()
        ]
        history.store_advice(snapshot_id, told)
    return snapshot_id


def roll(history: PostgresHistory, before: datetime = LATER, kept: datetime = KEPT) -> list[int]:
    """Make all hours that were over by then; how many snapshots each day counted."""
    days = history.days_to_roll_up(before)
    return [history.roll_up(day, kept=kept, before=before) for day in days]


def rows(url: str, question: str) -> list[dict[str, Any]]:
    """The rows of a question, with moments in UTC."""
    with psycopg.connect(url, row_factory=dict_row) as connection:
        connection.execute("SET TIME ZONE 'Asia/Kathmandu'")
        found = connection.execute(question.encode()).fetchall()
    return [
        {k: v.astimezone(UTC) if isinstance(v, datetime) else v for k, v in row.items()}
        for row in found
    ]


def floor(moment: datetime, size: timedelta) -> datetime:
    """When its hour or day began."""
    start = datetime(2000, 1, 1, tzinfo=UTC)
    return start + (moment - start) // size * size


def known(values: Iterable[Any]) -> list[Any]:
    """Those that are not None."""
    return [value for value in values if value is not None]


def total(values: Iterable[Any]) -> Any:
    """Their sum; None where none is known."""
    there = known(values)
    return sum(there) if there else None


def computed(
    shots: Sequence[Shot], size: timedelta
) -> dict[tuple[str, str, datetime], dict[str, Any]]:
    """What an hour or a day says of each group, from the snapshots alone."""
    taken: dict[str, list[datetime]] = {}
    for shot in shots:
        taken.setdefault(shot.cluster, []).append(shot.at)
    inside: dict[tuple[str, str, datetime], list[tuple[Shot, Mapping[str, Any], float | None]]] = {}
    for shot in sorted(shots, key=lambda one: one.at):
        before = [at for at in taken[shot.cluster] if at < shot.at]
        span = min((shot.at - max(before)).total_seconds(), 3600) if before else None
        for name, told in shot.groups.items():
            inside.setdefault((shot.cluster, name, floor(shot.at, size)), []).append(
                (shot, told, span)
            )
    return {key: summed(key[1], looks) for key, looks in inside.items()}


def summed(
    name: str, looks: Sequence[tuple[Shot, Mapping[str, Any], float | None]]
) -> dict[str, Any]:
    """One row."""
    told = [each for _, each, _ in looks]
    spans = [(each, span) for _, each, span in looks if span is not None]
    lags = known(each.get("total_lag") for each in told)
    crossed = [(each, span) for each, span in spans if "EUR" == each.get("currency")]
    priced = any("EUR" == each.get("currency") for each in told)
    diagnoses: dict[str, float] = {}
    for each, span in spans:
        diagnosis = each.get("diagnosis") or "unknown"
        diagnoses[diagnosis] = diagnoses.get(diagnosis, 0) + span
    changes = [each for each in told if "members_joined" in each]
    moved: dict[str, list[int]] = {}
    for each in changes:
        for replay in each.get("would_have_moved") or ():
            moved.setdefault(replay["strategy"], []).append(replay["moves"])
    judged = [shot.advised[name] for shot, _, _ in looks if name in shot.advised]
    judged = [
        (verdict, strategy) for verdict, strategy in judged if verdict != Verdict.NOT_EVALUATED
    ]
    winners = sorted({strategy for _, strategy in judged}, key=lambda s: (s is None, s))

    def mean(column: str) -> float | None:
        there = known(each.get(column) for each in told)
        return fmean(there) if there else None

    def ends(column: str) -> tuple[Any, Any]:
        there = known(each.get(column) for each in told)
        return min(there, default=None), max(there, default=None)

    return {
        "snapshots": len(looks),
        "unreadable_snapshots": len([each for each in told if "error" in each]),
        "covered_seconds": sum(span for _, span in spans),
        "known_lag_snapshots": len(lags),
        "lowest_lag": min(lags, default=None),
        "mean_lag": fmean(lags) if lags else None,
        "highest_lag": max(lags, default=None),
        "last_lag": lags[-1] if lags else None,
        "highest_delay_seconds": ends("delay_seconds")[1],
        "highest_time_lag_seconds": ends("time_lag_seconds")[1],
        "fewest_members": ends("members")[0],
        "most_members": ends("members")[1],
        "known_production_snapshots": len(
            known(each.get("production_per_second") for each in told)
        ),
        "production_per_second": mean("production_per_second"),
        "known_consumption_snapshots": len(
            known(each.get("consumption_per_second") for each in told)
        ),
        "consumption_per_second": mean("consumption_per_second"),
        "diagnosis_seconds": diagnoses,
        "cross_rack_seconds": sum(span for _, span in crossed),
        "cross_rack_bytes": total(e["cross_rack_bytes_per_second"] * span for e, span in crossed),
        "cross_rack_cost": total(
            each["cross_rack_cost_per_month"] * span / MONTH_SECONDS for each, span in crossed
        ),
        "currency": "EUR" if priced else None,
        "rebalancing_snapshots": len([each for each in told if each.get("state") == "Assigning"]),
        "compared_snapshots": len(changes),
        "changed_snapshots": len(
            [e for e in changes if e["members_joined"] + e["members_left"] + e["members_restarted"]]
        ),
        **{
            column: total(each[column] for each in changes)
            for column in (
                "members_joined",
                "members_left",
                "members_restarted",
                "partitions_moved",
            )
        },
        "would_have_moved": [
            {"strategy": strategy, "moves": sum(moves), "changes": len(moves)}
            for strategy, moves in sorted(moved.items())
        ],
        "advised_snapshots": len(judged),
        "wins": [
            {
                "strategy": winner,
                "won": len([1 for _, strategy in judged if strategy == winner]),
                "advised": judged.count((Verdict.SWITCH, winner)),
            }
            for winner in winners
        ],
    }


def holds(found: Sequence[Mapping[str, Any]], expected: Mapping[Any, Mapping[str, Any]]) -> None:
    """Each row says what was computed, and there is no other."""
    keys = ("cluster", "group_id", "since")
    by_key = {
        tuple(row[k] for k in keys): {k: v for k, v in row.items() if k not in (*keys, "per")}
        for row in found
    }
    assert by_key.keys() == expected.keys()
    for key, row in expected.items():
        assert by_key[key].keys() == row.keys()
        for name, value in row.items():
            close = pytest.approx(value, rel=1e-6) if isinstance(value, float | dict) else value
            assert by_key[key][name] == close, (key, name)


# FIRST is at noon: minute 720 is midnight
MINUTES = [*range(0, 100, 7), 300, 301, *range(660, 800, 9), 1500]


def check(url: str, shots: Sequence[Shot]) -> None:
    """Tables and views say what was computed from the snapshots."""
    hours, days = computed(shots, HOUR), computed(shots, DAY)
    holds(rows(url, "SELECT * FROM group_lag_trend WHERE per = 'hour'"), hours)
    holds(rows(url, "SELECT * FROM group_lag_trend WHERE per = 'day'"), days)


def made(url: str) -> list[list[dict[str, Any]]]:
    """What stands in the tables."""
    return [
        rows(url, f"SELECT * FROM {table} ORDER BY 1, 2, 3")
        for table in ("group_hour", "group_day")
    ]


def test_hours_and_days_are_what_a_direct_computation_says(
    history: PostgresHistory, database_url: str
) -> None:
    """Before they are made, in between, and afterwards; over midnight, with gaps and with what is unknown."""
    shots = [*drawn(1, "demo", MINUTES), *drawn(10, "other", MINUTES[::2])]
    for shot in shots:
        store(history, shot)
    check(database_url, shots)

    noon = FIRST + timedelta(minutes=700)
    assert sum(roll(history, before=noon)) == len(
        [s for s in shots if floor(s.at, HOUR) + HOUR <= noon]
    )
    check(database_url, shots)

    assert sum(roll(history)) == len([s for s in shots if floor(s.at, HOUR) + HOUR > noon])
    check(database_url, shots)
    hours, days = made(database_url)
    holds(hours, computed(shots, HOUR))
    holds(days, computed(shots, DAY))
    assert rows(database_url, "SELECT FROM group_hour_open") == []
    assert rows(database_url, "SELECT FROM group_day_open") == []


def test_made_again_nothing_changes(history: PostgresHistory, database_url: str) -> None:
    """What is whole is not made again; what is marked as not counted comes out the same."""
    for shot in drawn(5, "demo", MINUTES):
        store(history, shot)
    assert sum(roll(history)) == len(MINUTES)
    before = made(database_url)
    assert roll(history) == []
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE snapshot SET rolled_up_at = NULL")
    assert sum(roll(history)) == len(MINUTES)
    assert made(database_url) == before


def test_a_snapshot_that_comes_late_and_one_that_is_measured_again_are_counted(
    history: PostgresHistory, database_url: str
) -> None:
    """Their hour and day are made again, and the hour of the one that follows, which stands for less time now."""
    shots = drawn(6, "demo", MINUTES)
    # one at the end of an hour, so that the next is in another
    late = max(
        (s for s in shots if s.minute < 720 and s.minute > 660), key=lambda shot: shot.minute
    )
    ids = {shot.minute: store(history, shot) for shot in shots if shot is not late}
    roll(history)
    check(database_url, [shot for shot in shots if shot is not late])

    store(history, late)
    check(database_url, shots)
    assert [day.day for day in history.days_to_roll_up(LATER)] == [
        datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2)
    ]
    roll(history)
    check(database_url, shots)

    again = drawn(7, "demo", [MINUTES[3]])[0]
    gone = Shot("demo", again.minute, {"a": {"total_lag": 7, "members": 1}}, shots[3].advised)
    store(history, gone, known=ids[gone.minute])
    shots[3] = gone
    check(database_url, shots)
    assert len(roll(history)) == 1
    check(database_url, shots)


def test_an_hour_that_may_have_lost_snapshots_stays_as_it_is(
    history: PostgresHistory, database_url: str
) -> None:
    """Measured again after the first of its snapshots went, it would count fewer than it has counted."""
    shots = drawn(8, "demo", range(0, 50, 5))
    ids = [store(history, shot) for shot in shots]
    roll(history)
    before = made(database_url)
    moment = FIRST + timedelta(minutes=20)
    assert len(history.expire(moment)) == 4
    store(history, shots[-1], known=ids[-1])
    assert roll(history, kept=moment) == [0]
    assert made(database_url) == before
    check(database_url, shots)


def test_hours_and_days_go_when_they_are_old(history: PostgresHistory, database_url: str) -> None:
    """Each kind by its own age, and not with the snapshots they were made of."""
    for shot in drawn(3, "demo", [0, 5, 800, 1500, 2900]):
        store(history, shot)
    roll(history)
    history.expire(LATER)
    kept = [{row["since"] for row in table} for table in made(database_url)]
    assert [len(moments) for moments in kept] == [4, 3]
    history.expire_rollups(hours=FIRST + DAY, days=floor(FIRST, DAY) + DAY)
    left = [{row["since"] for row in table} for table in made(database_url)]
    day = floor(FIRST, DAY)
    assert left == [{one for one in kept[0] if one >= FIRST + DAY}, {day + DAY, day + 2 * DAY}]


def test_the_maintenance_makes_hours_a_day_at_a_time_and_keeps_them_longer_than_snapshots(
    history: PostgresHistory, database_url: str, tmp_path: Path
) -> None:
    """A turn of no time makes a day and says what is left; snapshots go first, then hours, then days."""
    shots = drawn(4, "demo", [0, 70, 800, 1500, 2900])
    for shot in shots:
        store(history, shot)
    lake = FileLake(tmp_path)
    settings = Settings(keep_days=2, keep_hourly_days=1, keep_daily_days=4)
    told: list[str] = []

    def turn(after: timedelta) -> MaintenanceReport:
        now = FIRST + after
        return maintain(lake, history, settings, now, budget=timedelta(0), tell=told.append)

    assert [turn(2 * DAY) for _ in range(3)] == [
        MaintenanceReport(rolled=1, left=1),
        MaintenanceReport(rolled=1),
        MaintenanceReport(),
    ]
    assert told[:2] == [
        "1 of 2: hours of demo, 2026-03-01, of 2 snapshots",
        "rolled up 1 of 2 days; the rest next time",
    ]
    # hours are kept as long as snapshots, though less is configured
    assert turn(3 * DAY) == MaintenanceReport(rolled=1, history=3)
    hours, days = made(database_url)
    expected = computed(shots, HOUR)
    holds(hours, {key: row for key, row in expected.items() if key[2] >= floor(FIRST, DAY) + DAY})
    holds(days, computed(shots, DAY))
    assert turn(4 * DAY) == MaintenanceReport(history=1)
    hours, days = made(database_url)
    assert {row["since"] for row in hours} == {FIRST + 2 * DAY}
    assert {row["since"] for row in days} == {floor(FIRST, DAY) + n * DAY for n in range(3)}


def test_an_hour_without_groups_is_counted_beside_those_with_some(
    history: PostgresHistory, database_url: str
) -> None:
    """Groups that are gone leave the day what it was, and a group that is not there any more leaves its hour."""
    shots = [Shot("demo", minute, {"a": {"total_lag": 7, "members": 1}}, {}) for minute in (0, 60)]
    ids = [store(history, shot) for shot in shots]
    shots.append(Shot("demo", 120, {}, {}))
    roll(history)
    store(history, shots[-1])
    assert roll(history) == [1]
    check(database_url, shots)
    shots[1] = Shot("demo", 60, {}, {})
    store(history, shots[1], known=ids[1])
    assert roll(history) == [1]
    check(database_url, shots)
    assert [len(table) for table in made(database_url)] == [1, 1]


def test_a_cost_in_two_currencies_is_unknown(history: PostgresHistory, database_url: str) -> None:
    """Euros and dollars have no sum, bytes have."""
    for minute, currency in ((0, "EUR"), (5, "EUR"), (10, "USD")):
        told = {
            "cross_rack_bytes_per_second": 2.0,
            "cross_rack_cost_per_month": 1.0,
            "currency": currency,
        }
        store(history, Shot("demo", minute, {"a": told}, {}))
    (row,) = rows(database_url, "SELECT * FROM rack_cost_daily")
    assert (row["cross_rack_bytes"], row["cross_rack_cost"], row["currency"]) == (1200, None, None)
    assert (row["cross_rack_gigabytes"], row["cross_rack_seconds"]) == (1.2e-6, 600)


def test_nothing_waits_before_an_hour_is_over(history: PostgresHistory) -> None:
    """An hour is made when it is over; the day of it is named in UTC."""
    store(history, drawn(1, "demo", [59])[0])
    assert history.days_to_roll_up(FIRST + timedelta(minutes=59)) == []
    assert history.days_to_roll_up(FIRST + HOUR) == [
        ClusterDay(cluster="demo", day=floor(FIRST, DAY))
    ]


def test_a_diagnosis_has_the_moment_since_which_it_holds(
    history: PostgresHistory, database_url: str
) -> None:
    """From the snapshot that first showed it; of the first one known it is said that it may be so for longer."""
    said = ["healthy", "healthy", "hot partition", "hot partition", None]
    for minute, diagnosis in enumerate(said):
        store(history, Shot("demo", minute, {"a": {"diagnosis": diagnosis}}, {}))
    # measured after a newer one: it says nothing of now
    store(history, Shot("demo", -5, {"a": {"diagnosis": "member not committing"}}, {}))
    spans = rows(
        database_url,
        "SELECT diagnosis, since, until, already_so FROM diagnosis_span ORDER BY since",
    )
    at = [FIRST + timedelta(minutes=minute) for minute in range(5)]
    assert [tuple(span.values()) for span in spans] == [
        ("healthy", at[0], at[2], True),
        ("hot partition", at[2], at[4], False),
        ("unknown", at[4], None, False),
    ]
    (status,) = rows(
        database_url, "SELECT diagnosis, diagnosis_since, diagnosis_already_so FROM group_status"
    )
    assert tuple(status.values()) == (None, at[4], False)


def test_a_snapshot_that_is_measured_again_takes_back_what_it_said_of_a_diagnosis(
    history: PostgresHistory, database_url: str
) -> None:
    """With another result, or without the group, it is as if it had been measured only so."""
    asked = "SELECT diagnosis, since, until FROM diagnosis_span"
    store(history, Shot("demo", 0, {"a": {"diagnosis": "healthy"}}, {}))
    wrong = Shot("demo", 1, {"a": {"diagnosis": "hot partition"}}, {})
    taken = store(history, wrong)
    for groups in ({"a": {"diagnosis": "healthy"}}, wrong.groups, {}):
        store(history, Shot("demo", 1, groups, {}), known=taken)
        spans = [tuple(row.values()) for row in rows(database_url, f"{asked} ORDER BY since")]
        if groups != wrong.groups:
            assert spans == [("healthy", FIRST, None)]
        else:
            then = FIRST + timedelta(minutes=1)
            assert spans == [("healthy", FIRST, then), ("hot partition", then, None)]
