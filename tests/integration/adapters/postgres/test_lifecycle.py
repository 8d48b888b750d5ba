"""How far advice has come, and what came of its promises, in a real Postgres."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresReports
from evenkeel.engine.model.assignments import AdviceState
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import ReportedGroups
from evenkeel.engine.records import AdviceCheck, AdviceEvent, Course, Regret
from evenkeel.engine.records.lifecycle import Mute
from tests.helpers.history_rows import FIRST, advice, manifest

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


def check(actual: float | None, measure: str = "lag", **more: float) -> AdviceCheck:
    """A promise of 50 to 200 an hour after sticky was taken up, and what came."""
    band = {"low": 50.0, "expected": 100.0, "high": 200.0} | more
    return AdviceCheck(
        strategy="sticky",
        adopted_at=FIRST,
        after_seconds=3600,
        measure=measure,
        unit="offsets",
        actual=actual,
        **band,
    )


def store(history: PostgresHistory, number: int, group: str = "a", **columns: object) -> None:
    """The advice of snapshot *number* for one group."""
    taken = manifest(number)
    history.store_snapshot(taken)
    history.store_advice(taken.snapshot_id, [advice(taken.snapshot_id, group, **columns)])


def test_the_scorecard_holds_promises_against_what_came(history: PostgresHistory) -> None:
    """Medians of the error, and shares of those that are known; a promise of nothing has no relative error."""
    for number, came in enumerate((120.0, 300.0, 10.0, None)):
        store(history, number, checks=[check(came)], events=[])
    store(history, 4, checks=[check(0.0, "delay_seconds", low=0, expected=0, high=0)], events=[])
    delay, lag = sorted(history.query("advice_scorecard"), key=lambda row: row["measure"])

    assert (lag["checks"], lag["known"], lag["error"], lag["relative_error"]) == (4, 3, 20.0, 0.2)
    assert (lag["inside_share"], lag["no_worse_share"]) == pytest.approx((1 / 3, 2 / 3))
    assert (lag["adopted_at"], lag["muted_until"]) == (FIRST, None)
    assert (delay["checks"], delay["error"], delay["relative_error"]) == (1, 0.0, None)
    assert history.query("advice_scorecard", group="b") == []


def test_what_a_switch_brought_stands_beside_what_staying_would_have(
    history: PostgresHistory,
) -> None:
    """One row per adoption and time after it, lag and time lag side by side; the scorecard has medians and sums."""
    stayed = {"if_stayed_low": 900.0, "if_stayed": 1000.0, "if_stayed_high": 1100.0}
    saved = {"saved_low": 3e6, "saved": 3.6e6, "saved_high": 4e6}
    late = replace(check(60.0, "delay_seconds"), **stayed)
    store(history, 0, checks=[replace(check(120.0), **stayed, **saved), late], events=[])
    other = replace(check(120.0), adopted_at=FIRST + timedelta(hours=2), if_stayed_low=1.0)
    store(history, 1, checks=[other], events=[])
    until = FIRST + timedelta(hours=3)
    unknown, row = history.query("switch_outcomes", until=until)

    assert (row["lag_came"], row["lag_if_stayed"], row["lag_if_stayed_high"]) == (120, 1000, 1100)
    assert (row["delay_came"], row["delay_if_stayed_low"]) == (60, 900)
    assert (row["saved_low"], row["saved"], row["saved_high"]) == (3e6, 3.6e6, 4e6)
    assert (unknown["lag_if_stayed"], unknown["delay_came"]) == (None, None)
    card = {one["measure"]: one for one in history.query("advice_scorecard")}["lag"]
    assert (card["came"], card["if_stayed"], card["saved_offset_seconds"]) == (120, 1000, 3.6e6)


def test_what_was_missed_is_summed_up_by_whether_it_was_advised(history: PostgresHistory) -> None:
    """What is not known, and what would have been no gain, count as nothing."""
    hour = timedelta(hours=1)

    def regret(number: int, saved: float | None, state: AdviceState | None) -> Regret:
        return Regret(
            since=FIRST + number * hour,
            until=FIRST + (number + 1) * hour,
            strategy="sticky",
            state=state,
            came=8e6,
            saved_low=-1e6,
            saved=saved,
            saved_high=9e6,
        )

    found = [(5e6, None), (None, AdviceState.WITHDRAWN), (-1e6, None), (7e6, AdviceState.CONFIRMED)]
    for number, (saved, state) in enumerate(found):
        store(history, number, checks=[], events=[], regrets=[regret(number, saved, state)])
    advised, silent = history.query("advice_regret", until=FIRST + 5 * hour)

    assert (advised["kind"], advised["saved_offset_seconds"]) == ("advised", 7e6)
    assert (silent["kind"], silent["periods"], silent["known_periods"]) == ("silent", 3, 2)
    assert (silent["saved_offset_seconds"], silent["came_offset_seconds"]) == (5e6, 2.4e7)
    assert silent["least_saved_offset_seconds"] == 0


def test_the_scorecard_says_what_is_muted(history: PostgresHistory) -> None:
    """By the newest advice of the group, and of that strategy alone."""
    until = utc_now().replace(microsecond=0) + timedelta(days=3)
    mute = Mute(strategy="sticky", until=until, missed=(FIRST, FIRST))
    other = replace(check(1.0), strategy="range")
    store(history, 0, checks=[check(300.0), check(1.0, "delay_seconds")], events=[])
    store(history, 1, checks=[other], events=[], course=Course(at=FIRST, mutes=(mute,)))
    rows = history.query("advice_scorecard")

    muted = {(row["strategy"], row["measure"]): row["muted_until"] for row in rows}
    assert muted == {
        ("sticky", "lag"): until,
        ("sticky", "delay_seconds"): until,
        ("range", "lag"): None,
    }


def test_events_are_listed_with_their_cause(history: PostgresHistory) -> None:
    """The newest first, with what was the matter then."""
    for number in range(2):
        store(history, number, checks=[])
    rows = history.query("advice_events", limit=5)

    assert [(row["state"], row["strategy"], row["cause"]) for row in rows] == [
        ("missed", "range", "it came worse")
    ] * 2
    assert [row["at"] for row in rows] == [FIRST + timedelta(minutes=1), FIRST]
    assert {row["diagnosis"] for row in rows} == {"skewed load"}


def test_what_is_taken_up_and_verified_at_once_has_both_events(
    history: PostgresHistory, database_url: str
) -> None:
    """Each is counted; the history of what was told shows the last."""
    both = [
        AdviceEvent(
            at=FIRST,
            strategy="range",
            state=state,
            facts=(),
            diagnosis=Diagnosis.HEALTHY,
            cause=f"why {state}",
        )
        for state in (AdviceState.ADOPTED, AdviceState.VERIFIED)
    ]
    store(history, 0, checks=[], events=both, state="verified")
    listed = [(row["state"], row["cause"]) for row in history.query("advice_events")]
    totals = history.query("advice_totals", hours=10**6)
    (told,) = history.query("advice_history")
    report = PostgresReports(database_url).report(
        ReportedGroups(cluster=told["cluster"], snapshots=9)
    )

    assert listed == [("verified", "why verified"), ("adopted", "why adopted")]
    assert [(row["adopted"], row["verified"]) for row in totals] == [(1, 1)]
    assert told["state"] == "verified"
    assert [row["event"] for row in report.events] == ["adopted", "verified"]


def test_advice_without_a_course_stays_readable(history: PostgresHistory) -> None:
    """Rows from before there were states have none."""
    store(history, 0, checks=[], events=[], state=None, state_since=None)
    (listed,) = history.query("advice_history")
    (row,) = history.advice_with_scores(listed["snapshot_id"])

    assert (row.state, row.state_since, row.course) == (None, None, None)
