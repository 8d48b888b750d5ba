"""The ledger: what was advised stays as it was, and what comes of it is scored by one query."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.advice.ledger import Chain, Misfit, verified
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.ports import Manifest
from tests.helpers.history_rows import FIRST, advice, candidates, manifest, metrics

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

QUIET: dict[str, Any] = {
    "verdict": Verdict.STAY,
    "strategy": None,
    "moves": [],
    "events": [],
    "checks": [],
    "state": None,
    "state_since": None,
}
GROUPS = ("app", "other", "third")


def told(history: PostgresHistory, taken: int | Manifest, **by_group: dict[str, Any]) -> Manifest:
    """Advice for all groups of a snapshot, of which nothing comes but what is given."""
    taken = manifest(taken) if isinstance(taken, int) else taken
    history.store_snapshot(taken, "c0ffee")
    rows = [
        advice(taken.snapshot_id, group, **(QUIET | by_group.get(group, {}))) for group in GROUPS
    ]
    history.store_advice(taken.snapshot_id, rows)
    return taken


def chain(history: PostgresHistory) -> Chain:
    """The ledger of the only cluster, verified."""
    (only,) = verified(history.ledger())
    return only


def run(url: str, *commands: str) -> None:
    """Commands of the owner of the tables."""
    with psycopg.connect(url) as connection:
        for command in commands:
            connection.execute(command.encode())


def test_every_snapshot_with_advice_has_one_row_whatever_is_stored_again(
    history: PostgresHistory,
) -> None:
    """Rows follow each other as advice was stored, an older snapshot's last; a retry adds none."""
    taken = [told(history, number) for number in (0, 2, 1)]
    told(history, taken[1], app={"reason": "another"})
    rows = [entry.written for entry in history.ledger() if entry.written]
    assert [row.snapshot_id for row in rows] == [each.snapshot_id for each in taken]
    assert [row.number for row in rows] == [1, 2, 3]
    assert [row.previous for row in rows] == [None, rows[0].hash, rows[1].hash]
    found = chain(history)
    assert (found.rows, found.whole, found.finding) == (3, 3, None)


OF_SECOND = "snapshot_id = (SELECT snapshot_id FROM ledger WHERE number = 2)"
ADVICE_OF_SECOND = (
    f"advice_id = (SELECT advice_id FROM advice WHERE {OF_SECOND} AND group_id = 'app')"
)


@pytest.mark.parametrize(
    ("commands", "kind", "number"),
    [
        (
            [f"UPDATE advice SET verdict = 'switch' WHERE {OF_SECOND} AND group_id = 'app'"],
            Misfit.ADVICE_CHANGED,
            2,
        ),
        ([f"DELETE FROM advice WHERE {OF_SECOND} AND group_id = 'app'"], Misfit.ADVICE_MISSING, 2),
        ([f"UPDATE advice_check SET saved = 5 WHERE {ADVICE_OF_SECOND}"], Misfit.ADVICE_CHANGED, 2),
        ([f"DELETE FROM advice_event WHERE {ADVICE_OF_SECOND}"], Misfit.ADVICE_CHANGED, 2),
        ([f"DELETE FROM snapshot WHERE {OF_SECOND}"], Misfit.SNAPSHOT_MISSING, 2),
        (["DELETE FROM ledger WHERE number = 2"], Misfit.ROW_MISSING, 3),
        (["DELETE FROM ledger WHERE number = 3"], Misfit.NOT_IN_LEDGER, None),
        (["UPDATE ledger SET groups = 2 WHERE number = 2"], Misfit.ROW_CHANGED, 2),
        (
            [
                "UPDATE ledger SET number = 4 WHERE number = 2",
                "UPDATE ledger SET number = 2 WHERE number = 3",
                "UPDATE ledger SET number = 3 WHERE number = 4",
            ],
            Misfit.ROW_CHANGED,
            2,
        ),
        (
            [
                "UPDATE advice SET group_id = 'x' WHERE group_id = 'app'",
                "UPDATE advice SET group_id = 'app' WHERE group_id = 'third'",
                "UPDATE advice SET group_id = 'third' WHERE group_id = 'x'",
            ],
            Misfit.ADVICE_CHANGED,
            2,
        ),
    ],
)
def test_whatever_is_changed_is_found_and_named(
    history: PostgresHistory, database_url: str, commands: list[str], kind: Misfit, number: int
) -> None:
    """Advice, what came of it, and rows of the ledger: changed, removed or swapped."""
    told(history, 0)
    told(history, 1, app={"events": EVENT, "checks": [check(FIRST, saved=1.0)]})
    told(history, 2)
    run(database_url, "GRANT UPDATE, DELETE ON ledger TO CURRENT_USER", *commands)
    finding = chain(history).finding
    assert finding is not None
    assert (finding.kind, finding.number) == (kind, number)
    assert finding.expected != finding.found or kind in (
        Misfit.SNAPSHOT_MISSING,
        Misfit.NOT_IN_LEDGER,
    )


def test_no_role_changes_the_ledger_by_mistake(
    history: PostgresHistory, database_url: str, reader_url: str
) -> None:
    """Its owner adds rows, readers read and verify it; nobody updates or deletes."""
    told(history, 0)
    commands = [
        "UPDATE ledger SET groups = 1",
        "DELETE FROM ledger",
        "TRUNCATE ledger",
        "INSERT INTO ledger SELECT * FROM ledger",
    ]
    refused = [(reader_url, one) for one in commands] + [
        (database_url, one) for one in commands[:3]
    ]
    for url, command in refused:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(url, command)
    assert chain(PostgresHistory(reader_url)) == chain(history)


def test_what_is_deleted_by_age_is_left_out_and_its_rows_stay(
    history: PostgresHistory, database_url: str
) -> None:
    """Repeated advice goes after some hours, snapshots after days; neither is a finding, a changed rest is."""
    for number in range(6):
        told(history, number, app={"reason": "again", "events": EVENT if number == 2 else []})
    history.thin("demo", 0)
    found = chain(history)
    assert (found.rows, found.whole, found.lasting, found.finding) == (6, 1, 5, None)
    history.expire(FIRST + timedelta(minutes=2))
    found = chain(history)
    assert (found.rows, found.whole, found.lasting, found.expired) == (6, 1, 3, 2)
    assert found.finding is None
    run(database_url, "UPDATE advice_event SET cause = 'other'")
    changed = chain(history).finding
    assert changed is not None
    assert (changed.kind, changed.number) == (Misfit.ADVICE_CHANGED, 3)


# Scores

EVENT = [
    {
        "at": FIRST,
        "strategy": "range",
        "state": "confirmed",
        "facts": [],
        "diagnosis": "skewed load",
        "cause": "it is better",
    }
]


def check(at: datetime, saved: float, *, after: int = 3600, **columns: Any) -> dict[str, Any]:
    """A lag forecast that held, of advice that was adopted at a moment, with the lag that it saved, more or less."""
    return {
        "strategy": "range",
        "adopted_at": at,
        "after_seconds": after,
        "measure": "lag",
        "unit": "offsets",
        "low": 50,
        "expected": 100,
        "high": 200,
        "actual": 150,
        "saved_low": saved - 10,
        "saved": saved,
        "saved_high": saved + 10,
    } | columns


def regret(hours: int, saved: float, state: str | None = None) -> dict[str, Any]:
    """An hour in which 1,000 offset-seconds came, and what a switch would have saved of it."""
    since = FIRST + timedelta(hours=hours)
    return {
        "since": since,
        "until": since + timedelta(hours=1),
        "strategy": "range",
        "state": state,
        "came": 1000.0,
        "saved_low": saved - 10,
        "saved": saved,
        "saved_high": saved + 10,
    }


def scores(history: PostgresHistory) -> dict[tuple[str, int | None], tuple[Any, int, Any]]:
    """Value, cases and group of the worst case, by score and time after the adoption."""
    rows = history.query("ledger_scores", until=FIRST + timedelta(days=3), cluster="demo")
    return {
        (row["score"], row["after_seconds"]): (row["value"], row["cases"], row["worst_group"])
        for row in rows
    }


def test_a_score_without_a_case_is_unknown(history: PostgresHistory) -> None:
    """Neither 0 nor 100 %: nothing was advised to switch, in no time."""
    told(history, 0)
    assert {value for value, *_ in scores(history).values()} == {None}
    told(history, 30)
    found = scores(history)
    assert {name for (name, _), (value, *_) in found.items() if value is not None} == {
        "wobble",
        "messages",
    }
    assert found["wobble", None][0] == 0


def test_switches_are_scored_by_what_they_saved(history: PostgresHistory) -> None:
    """One saved, one cost more than it saved, one is uncertain, one nobody advised; after a day all is well."""
    adopted = FIRST + timedelta(minutes=5)
    given = {"events": EVENT}
    told(history, 0, app=given, other=given)
    of_app = [check(adopted, 100), check(adopted, 900, after=86400)]
    told(history, 65, app={"checks": of_app}, other={"checks": [check(adopted, -100)]})
    told(history, 66, third={"checks": [check(adopted, -100)]})
    found = scores(history)
    assert found["switches_that_paid", 3600] == (0.5, 2, "other")
    assert found["harm", 3600] == (0.5, 2, "other")
    assert found["switches_that_paid", 86400] == (1.0, 1, None)
    assert found["harm", 86400] == (0.0, 1, None)
    assert found["coverage", 86400] == (1.0, 1, None)

    told(history, 70, other=given)
    told(history, 140, other={"checks": [check(FIRST + timedelta(minutes=80), 5)]})
    found = scores(history)
    assert found["switches_that_paid", 3600] == (pytest.approx(1 / 3), 3, "other")
    assert found["harm", 3600] == (pytest.approx(1 / 3), 3, "other")


def test_a_switch_for_racks_is_scored_by_its_share(history: PostgresHistory) -> None:
    """That a restart cost lag is no harm; that more crosses racks is."""
    adopted = FIRST + timedelta(minutes=5)
    course = {
        "at": FIRST,
        "uptakes": [
            {
                "strategy": "range",
                "first_at": adopted,
                "at": adopted,
                "assignment": "a",
                "diagnosis": "healthy",
                "ran": [],
                "came_from": None,
                "crossed": 0.5,
                "promises": [],
            }
        ],
    }

    def outcome(share: float) -> dict[str, Any]:
        share_check = check(adopted, 0, measure="cross_rack_share", actual=share)
        lag = check(adopted, -1000)
        nothing = dict.fromkeys(("saved_low", "saved", "saved_high"))
        return {"course": course, "checks": [lag, share_check | nothing]}

    told(history, 0, app={"events": EVENT}, other={"events": EVENT})
    told(history, 65, app=outcome(0.1), other=outcome(0.6))
    found = scores(history)
    assert found["switches_that_paid", 3600] == (0.5, 2, "other")
    assert found["harm", 3600] == (0.5, 2, "other")
    assert found["regret", 3600] == (None, 0, None)


def test_recall_and_regret_count_chances_by_their_first_hour_or_day(
    history: PostgresHistory,
) -> None:
    """Of three chances one was never advised, one within the hour, one adopted; one would have saved too little."""
    adopted = FIRST + timedelta(minutes=5)
    told(history, 0, app={"events": EVENT})
    told(history, 65, app={"checks": [check(adopted, 200)]})
    silent = [regret(0, 300), regret(1, 300), regret(2, 100), regret(6, 5), regret(7, -50)]
    told(
        history,
        500,
        other={"regrets": silent, "state": None},
        third={"regrets": [regret(0, 400)], "state": "confirmed"},
    )
    found = scores(history)
    assert found["recall", 3600] == (pytest.approx(2 / 3), 3, "other")
    missed = 300 + 5 + 400
    assert found["regret", 3600] == (pytest.approx(missed / (missed + 200)), 4, "third")
    # on the day as a whole, a switch of `other` would have saved more than a fifth
    assert found["recall", 86400] == (pytest.approx(2 / 3), 3, "other")
    missed = 700 + 5 + 400
    assert found["regret", 86400] == (pytest.approx(missed / (missed + 200)), 4, "other")


def forecast(snapshot_id: str, group: str) -> Any:
    """Between 50 and 150 offsets, 15 minutes ahead and an hour ahead."""
    ends = {"low": 50.0, "expected": 100.0, "high": 150.0}
    bands = {
        f"forecast_{ahead}_{end}": value
        for ahead in ("soon_lag", "lag")
        for end, value in ends.items()
    }
    return candidates(snapshot_id, group, ["live"], **bands)


@pytest.mark.parametrize(
    ("assigned_at", "share", "cases"), [(None, 0.5, 4), (20, 1.0, 1), (60, 1.0, 2)]
)
def test_coverage_is_that_of_forecasts_that_came_due(
    history: PostgresHistory, assigned_at: int | None, share: float, cases: int
) -> None:
    """15 minutes ahead they held, an hour ahead not; one whose group got another assignment before does not count."""
    for number in range(0, 130, 5):
        taken = manifest(number)
        history.store_snapshot(taken)
        now = "b" if assigned_at is not None and number >= assigned_at else "a"
        lags = {"app": [100 if number < 60 else 300]}
        history.store_metrics(taken.snapshot_id, metrics(taken.snapshot_id, lags, assignment=now))
        if number in (0, 5):
            history.store_candidates(taken.snapshot_id, forecast(taken.snapshot_id, "app"))
            history.store_advice(taken.snapshot_id, [])
    found = scores(history)
    assert found["coverage", 3600] == (share, cases, None)
    assert found["coverage_of_worst_tenth", 3600] == (None, 0, None), "too few forecasts"


def test_advice_that_comes_and_goes_wobbles(history: PostgresHistory) -> None:
    """It was withdrawn, and given again within a day; that it was withdrawn at last does not count."""
    for hours, state in ((0, "confirmed"), (2, "withdrawn"), (5, "confirmed"), (9, "withdrawn")):
        at = FIRST + timedelta(hours=hours)
        told(history, 60 * hours, app={"events": [EVENT[0] | {"at": at, "state": state}]})
    value, days, worst = scores(history)["wobble", None]
    # the gaps between snapshots count an hour each
    assert (value, days, worst) == (pytest.approx(1000 / (3 * 3 / 24)), 0, "app")
