"""Hours and days of what strategies would have given groups, against a direct computation from their candidates."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median_low
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.tables import Table
from evenkeel.engine.records import CandidateRow, schema_of
from tests.helpers.history_rows import FIRST, advice, candidates, manifest, metrics

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
KEPT, LATER = FIRST - DAY, FIRST + 9 * DAY
MIDNIGHT = FIRST.replace(hour=0)
STORED = {
    "member_lag": "largest_member_lag",
    "forecast_lag": "forecast_lag_expected",
    "cross_rack_share": "cross_rack_share",
    "moves": "moves",
}
BYTES = "cross_rack_bytes_per_second"
QUIET: dict[str, Any] = {"events": [], "checks": [], "moves": [], "state": None}


@dataclass(frozen=True)
class Shot:
    """What candidates of a snapshot say: by group and strategy, columns; without `moves` it has no answer."""

    minute: int
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]]

    @property
    def at(self) -> datetime:
        """When it was taken."""
        return FIRST + timedelta(minutes=self.minute)


def drawn(seed: int, minutes: Iterable[int]) -> list[Shot]:
    """Snapshots of two groups with all that may be unknown, or without an answer, now and then."""
    draw = random.Random(seed)

    def maybe(value: Any, often: float = 0.7) -> Any:
        return value if draw.random() < often else None

    def candidate() -> dict[str, Any]:
        return {
            "largest_member_lag": maybe(draw.randrange(1000)),
            "forecast_lag_expected": maybe(draw.random() * 500, 0.3),
            "cross_rack_share": maybe(draw.random()),
            BYTES: maybe(draw.random() * 1e6),
            "moves": maybe(draw.randrange(12), 0.8),
            "feasibility": draw.choice(["available", "needs restart", "not deployable here"]),
        }

    names = ("live", "range", "lag-aware")
    return [
        Shot(minute, {g: {s: candidate() for s in names} for g in ("a", "b") if maybe(1, 0.9)})
        for minute in minutes
    ]


def store(history: PostgresHistory, shot: Shot, known: str | None = None, **said: Any) -> str:
    """Take it through every step, or store its candidates again; its id."""
    snapshot_id = known or manifest(shot.minute).snapshot_id
    rows = [
        row | shot.groups[group][row["strategy"]]
        for group, answers in shot.groups.items()
        for row in candidates(snapshot_id, group, tuple(answers)).to_pylist()
    ]
    if known is None:
        taken = manifest(shot.minute)
        snapshot_id = taken.snapshot_id
        rows = [row | {"snapshot_id": snapshot_id} for row in rows]
        history.store_snapshot(taken)
        history.store_metrics(snapshot_id, metrics(snapshot_id, {g: [0] for g in shot.groups}))
    history.store_candidates(snapshot_id, Table.from_rows(rows, schema_of(CandidateRow)))
    if known is None:
        told = QUIET | {"verdict": Verdict.STAY, "strategy": None} | said
        history.store_advice(snapshot_id, [advice(snapshot_id, g, **told) for g in shot.groups])
    return snapshot_id


def roll(history: PostgresHistory, before: datetime = LATER) -> int:
    """Make all hours that were over by then; how many snapshots were counted."""
    days = history.days_to_roll_up(before)
    return sum(history.roll_up(day, kept=KEPT, before=before) for day in days)


def ask(url: str, question: str) -> list[dict[str, Any]]:
    """The rows of a question."""
    with psycopg.connect(url, row_factory=dict_row) as connection:
        connection.execute("SET TIME ZONE 'Asia/Kathmandu'")
        return connection.execute(question.encode()).fetchall()


Key = tuple[str, str, datetime]


def computed(shots: Sequence[Shot], size: timedelta) -> dict[Key, dict[str, Any]]:
    """What an hour or a day says of each group and strategy: by (group, strategy, when it began)."""
    inside: dict[Key, list[tuple[datetime, Mapping[str, Any]]]] = {}
    for shot in shots:
        since = MIDNIGHT + (shot.at - MIDNIGHT) // size * size
        for group, answers in shot.groups.items():
            for strategy, columns in answers.items():
                if columns["moves"] is not None:
                    inside.setdefault((group, strategy, since), []).append((shot.at, columns))
    return {key: summed(looks) for key, looks in inside.items()}


def summed(looks: Sequence[tuple[datetime, Mapping[str, Any]]]) -> dict[str, Any]:
    """One row: the median of its hours' medians, so of an hour its own; a mean weighs hours by their snapshots."""
    hours: dict[datetime, list[Mapping[str, Any]]] = {}
    for at, columns in looks:
        hours.setdefault(at.replace(minute=0), []).append(columns)
    row: dict[str, Any] = {
        "snapshots": len(looks),
        "runnable_snapshots": len(
            [1 for _, c in looks if c["feasibility"] != "not deployable here"]
        ),
    }
    for name, column in STORED.items():
        by_hour = [[c[column] for c in hour if c[column] is not None] for hour in hours.values()]
        known = [values for values in by_hour if values]
        row[f"best_{name}"] = min(map(min, known), default=None)
        row[f"median_{name}"] = median_low(map(median_low, known)) if known else None
        row[f"worst_{name}"] = max(map(max, known), default=None)
    means = [
        (sum(values) / len(values), len(hour))
        for hour in hours.values()
        if (values := [c[BYTES] for c in hour if c[BYTES] is not None])
    ]
    row[BYTES] = sum(m * n for m, n in means) / sum(n for _, n in means) if means else None
    return row


def check(url: str, shots: Sequence[Shot]) -> None:
    """The view says of hours and days what was computed, and nothing else."""
    for per, size in (("hour", HOUR), ("day", DAY)):
        expected = computed(shots, size)
        found = ask(url, f"SELECT * FROM strategy_history WHERE per = '{per}'")
        rows = {(row["group_id"], row["strategy"], row["since"]): row for row in found}
        assert len(rows) == len(found)
        assert rows.keys() == expected.keys()
        for key, row in expected.items():
            assert rows[key]["is_live"] == (key[1] == "live")
            for name, value in row.items():
                close = value if value is None else pytest.approx(value, rel=1e-6)
                assert rows[key][name] == close, (per, key, name)


def made(url: str) -> list[list[dict[str, Any]]]:
    """What stands in the tables."""
    return [ask(url, f"SELECT * FROM candidate_{per} ORDER BY 1, 2, 3") for per in ("hour", "day")]


# FIRST is at noon: minute 720 is midnight
MINUTES = [*range(0, 130, 13), 300, *range(680, 800, 11), 1500]


def test_hours_and_days_are_what_a_direct_computation_says(
    history: PostgresHistory, database_url: str
) -> None:
    """Before they are made, in between, and afterwards, when no candidate is left; made again nothing changes."""
    shots = drawn(1, MINUTES)
    for shot in shots:
        store(history, shot)
    check(database_url, shots)
    assert roll(history, before=FIRST + timedelta(minutes=745)) > 0
    check(database_url, shots)
    roll(history)
    history.thin("demo", 0)
    history.expire_candidates(samples=LATER, hours=KEPT, days=KEPT)
    assert ask(database_url, "SELECT FROM candidate_sample") == []
    check(database_url, shots)
    kept = made(database_url)
    assert [len({row["since"] for row in table}) for table in kept] == [7, 2]
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE snapshot SET rolled_up_at = NULL")
    assert roll(history) == len(shots)
    assert made(database_url) == kept


def test_a_snapshot_that_comes_late_and_one_that_is_stored_again_are_counted(
    history: PostgresHistory, database_url: str
) -> None:
    """Their hour and day are made again, while the samples of the hour are there."""
    shots = drawn(3, MINUTES)
    late, again = shots[2], shots[5]
    ids = {shot.minute: store(history, shot) for shot in shots if shot is not late}
    roll(history)
    store(history, late)
    check(database_url, shots)
    assert roll(history) > 0
    check(database_url, shots)

    shots[5] = drawn(4, [again.minute])[0]
    store(history, shots[5], known=ids[again.minute])
    check(database_url, shots)
    assert roll(history) > 0
    check(database_url, shots)


def test_samples_go_by_whole_hours_that_are_counted(
    history: PostgresHistory, database_url: str
) -> None:
    """An hour whose samples are gone stays as it was made, whatever comes late; so does its day."""
    shots = drawn(5, range(0, 110, 10))
    for shot in shots[1:]:
        store(history, shot)
    roll(history, before=FIRST + HOUR)
    history.expire_candidates(samples=FIRST + 59 * timedelta(minutes=1), hours=KEPT, days=KEPT)
    assert len(ask(database_url, "SELECT DISTINCT snapshot_id FROM candidate_sample")) == 10
    history.expire_candidates(samples=LATER, hours=KEPT, days=KEPT)
    assert len(ask(database_url, "SELECT DISTINCT snapshot_id FROM candidate_sample")) == 5
    store(history, shots[0])
    check(database_url, shots[1:])
    roll(history)
    check(database_url, shots[1:])


def test_a_day_whose_hours_are_gone_stays_as_it_was_made(
    history: PostgresHistory, database_url: str
) -> None:
    """Each kind goes by its own age; a snapshot that comes late to such a day makes no hour of it."""
    shots = drawn(6, [0, 5, 130, 800, 1500])
    for shot in shots[1:]:
        store(history, shot)
    roll(history)
    whole = made(database_url)
    history.expire_candidates(samples=LATER, hours=MIDNIGHT + DAY, days=MIDNIGHT)
    store(history, shots[0])
    roll(history)
    assert made(database_url) == [
        [row for row in whole[0] if row["since"] >= MIDNIGHT + DAY],
        whole[1],
    ]
    history.expire_candidates(samples=LATER, hours=LATER, days=MIDNIGHT + DAY)
    assert made(database_url) == [[], [row for row in whole[1] if row["since"] > MIDNIGHT]]


LIVE = {"largest_member_lag": 90, "cross_rack_share": 0.5, BYTES: 8e6, "moves": 0}
PLAIN = {"feasibility": "available", "forecast_lag_expected": None}


def test_what_a_strategy_would_have_brought_stands_beside_what_the_group_had(
    history: PostgresHistory, database_url: str
) -> None:
    """Over the days of the period on which it had an answer; with how often it won and was advised."""
    nothing = {"moves": None}
    other = {"largest_member_lag": 30, "cross_rack_share": 0.25, BYTES: 2e6, "moves": 6}
    ahead = {"forecast_lag_expected": 70.0}
    for minute, own, said in (
        (-1440, PLAIN | other, {}),
        (0, PLAIN | other | ahead, {"verdict": Verdict.SWITCH, "strategy": "lag-aware"}),
        (5, PLAIN | other | {"largest_member_lag": 40}, {"strategy": "lag-aware"}),
        (10, PLAIN | other | {"feasibility": "not deployable here", "moves": 7}, {}),
        (1440, PLAIN | nothing, {}),
    ):
        live = PLAIN | LIVE | ({"forecast_lag_expected": 900.0} if minute == 0 else {})
        store(history, Shot(minute, {"pay-app": {"live": live, "lag-aware": own}}), **said)
    roll(history, before=LATER - 8 * DAY)
    asked = {"since": MIDNIGHT, "until": MIDNIGHT + 9 * DAY, "strategy": "lag-aware"}
    (row,) = history.query("strategy_history", pattern="pay%", **asked)
    assert row == {
        "cluster": "demo",
        "group_id": "pay-app",
        "strategy": "lag-aware",
        "days": 1,
        "snapshots": 3,
        "runnable_snapshots": 2,
        "won_snapshots": 2,
        "switch_snapshots": 1,
        "live_member_lag": 90,
        "member_lag": 30,
        "live_worst_member_lag": 90,
        "worst_member_lag": 40,
        "live_forecast_lag": 900,
        "forecast_lag": 70,
        "live_worst_forecast_lag": 900,
        "worst_forecast_lag": 70,
        "live_cross_rack_share": 0.5,
        "cross_rack_share": 0.25,
        f"live_{BYTES}": 8e6,
        BYTES: 2e6,
        "moves": 6,
        "worst_moves": 7,
        "first_at": MIDNIGHT,
        "last_at": MIDNIGHT,
    }
    assert history.query("strategy_history", pattern="other%", **asked) == []
    whole = {"strategy": "lag-aware", "pattern": None, "since": None, "until": None}
    (row,) = history.query("strategy_history", **whole)
    assert (row["days"], row["snapshots"]) == (2, 4)
    # of the group as it is: nothing was better after the third snapshot of the day
    (live,) = ask(
        database_url,
        f"SELECT * FROM strategy_history WHERE per = 'day' AND is_live AND since = '{MIDNIGHT}'",
    )
    assert (live["won_snapshots"], live["switch_snapshots"]) == (1, 0)
