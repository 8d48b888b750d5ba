"""
What a switch is held against: the assignment before, with the records that came.

Two members of 10/s each and four partitions, all of them with the first member; snapshots every five minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from evenkeel.engine.advice.counterfactual import BestWay, Present
from evenkeel.engine.advice.inputs import FollowedPlan, LiveFigures, Sight
from evenkeel.engine.advice.lifecycle import follow
from evenkeel.engine.config import Policy
from evenkeel.engine.messages.wording import because
from evenkeel.engine.metrics.counterfactual import capacity_ends
from evenkeel.engine.model.assignments import (
    Advice,
    Candidate,
    Deployment,
    Feasibility,
    Verdict,
)
from evenkeel.engine.model.facts import reason
from evenkeel.engine.model.figures import Forecast
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.records import Course, record_of, to_json
from evenkeel.engine.records.lifecycle import AdviceCheck, Regret

FIRST = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
EVERY = 300
FIRST_ALONE, SECOND_ALONE, EVEN = (
    np.array(each, np.int32) for each in ([0] * 4, [1] * 4, [0, 0, 1, 1])
)
CAPACITY = 10.0
FORECAST = Forecast(
    **{
        f"forecast_{name}_{end}": None
        for name in ("soon_lag", "drained_seconds", "utilization", "lag_integral")
        for end in ("low", "expected", "high")
    },
    forecast_delay_seconds_low=0,
    forecast_delay_seconds_expected=0,
    forecast_delay_seconds_high=60,
    forecast_lag_low=3000,
    forecast_lag_expected=4000,
    forecast_lag_high=5000,
    overload_per_second=0.0,
)


@dataclass
class Life:
    """A group that is simulated second by second, and what is said of it."""

    per_second: float = 14.0
    owner: np.ndarray = field(default_factory=lambda: FIRST_ALONE)
    can: tuple[float, float] = (CAPACITY, CAPACITY)
    known: tuple[float, float] = (CAPACITY, CAPACITY)
    at_least: tuple[bool, bool] = (False, False)
    members: tuple[str, ...] = ("a", "b")
    ids: str = "first"
    best: BestWay | None = None
    number: int = 0
    ends: np.ndarray = field(default_factory=lambda: np.zeros(4))
    waits: np.ndarray = field(default_factory=lambda: np.zeros(4))
    course: Course | None = None
    last: FollowedPlan | None = None
    states: list[str] = field(default_factory=list)
    checks: list[AdviceCheck] = field(default_factory=list)
    regrets: list[Regret] = field(default_factory=list)

    def goes_on(self, snapshots: int, winner: str | None = None, runs: str = "range") -> Life:
        """So many snapshots in which a strategy wins, or none, while the group runs one."""
        for _ in range(snapshots):
            if self.number:
                self._live()
            course = None if self.course is None else record_of(Course, to_json(self.course))
            self.last = follow(course, self._sight(winner, runs), Policy())
            self.course = self.last.course
            self.states += [event.state.value for event in self.last.events]
            self.checks += self.last.checks
            self.regrets += self.last.regrets
            self.number += 1
        return self

    def _live(self) -> None:
        arrive = np.full(4, self.per_second / 4)
        for _ in range(EVERY):
            self.ends = self.ends + arrive
            self.waits = self.waits + arrive
            for member, capacity in enumerate(self.can):
                own = self.owner == member
                there = self.waits[own].sum()
                if there:
                    self.waits[own] -= self.waits[own] / there * min(there, capacity)

    def _sight(self, winner: str | None, runs: str) -> Sight:
        verdict = Verdict.STAY if winner is None else Verdict.SWITCH
        assignment = str(self.owner.tolist())
        waits = float(self.waits.sum())
        return Sight(
            at=FIRST + timedelta(seconds=EVERY * self.number),
            decided=Advice(
                group="g",
                verdict=verdict,
                strategy=winner,
                facts=(reason("nothing"),),
                says={} if winner is None else {winner: 1.0},
            ),
            diagnosis=Diagnosis.SKEWED_LOAD,
            candidates={name: _candidate(name, name == runs) for name in ("range", "sticky")},
            live=LiveFigures(
                lag=waits, delay_seconds=waits / 14, utilization=None, cross_rack_share=None
            ),
            assignment=assignment,
            present=Present(
                partitions="four",
                members=self.members,
                ids=self.ids,
                assignment=assignment,
                owner=self.owner,
                stuck=np.zeros(4, np.bool_),
                ends=self.ends,
                rates=np.full(4, self.per_second / 4),
                backlog=self.waits,
                capacity=capacity_ends(self.known, self.at_least),
                as_peers=np.zeros(2, np.bool_),
                lag=waits,
                arrives=self.per_second,
                age=0.0,
                delay_seconds=waits / 14,
            ),
            best=self.best,
        )


def _candidate(name: str, runs: bool) -> Candidate:
    return Candidate(
        strategy=name,
        deployment=Deployment.SETTING,
        feasibility=Feasibility.NEEDS_RESTART,
        reason=(),
        is_running=runs,
        forecast=FORECAST,
    )


def told(**more) -> Life:
    """A group that is behind, and has been advised to switch."""
    life = Life(**more).goes_on(8, "sticky")
    assert life.states == ["proposed", "confirmed"]
    return life


def of_lag(life: Life, after: int = 3600) -> AdviceCheck:
    """The check of lag after so many seconds."""
    [found] = [c for c in life.checks if (c.measure, c.after_seconds) == ("lag", after)]
    return found


def test_traffic_that_falls_does_not_verify_a_switch():
    """The other member alone is no better; less arrives afterwards, so the forecast is met."""
    life = told()
    life.owner, life.per_second = SECOND_ALONE, 5.0
    life.goes_on(14, runs="sticky")
    check = of_lag(life)
    assert check.actual <= check.high
    assert life.states[2:] == ["adopted", "expired"]
    assert check.if_stayed == pytest.approx(check.actual, rel=0.01)


def test_traffic_that_rises_does_not_make_a_switch_a_miss():
    """Both together do 20/s, and 24 arrive: more waits than was forecast, and far less than without the switch."""
    life = told()
    life.owner, life.per_second = EVEN, 24.0
    life.goes_on(14, runs="sticky")
    check = of_lag(life)
    assert check.actual > check.high
    assert life.states[2:] == ["adopted", "verified"]
    before = 8 * EVERY * 4 - EVERY * 4  # of 14/s one member does 10
    assert check.if_stayed == pytest.approx(before + 13 * EVERY * 14, rel=0.01)
    assert check.saved_low > 0


def test_a_switch_that_makes_it_worse_is_missed():
    """The other member does half as much."""
    life = told(can=(CAPACITY, 5.0), known=(CAPACITY, 5.0))
    life.owner = SECOND_ALONE
    life.goes_on(14, runs="sticky")
    check = of_lag(life)
    assert life.states[2:] == ["adopted", "missed"]
    assert check.saved_high < 0
    assert check.if_stayed_high < check.actual


def test_the_verdict_says_what_came_and_what_would_have():
    """How late first, then the lag."""
    life = told()
    life.owner = EVEN
    life.goes_on(13, runs="sticky")
    assert life.states[-1] == "verified"
    assert because(life.last.events[-1].facts) == (
        "29 min late without, 0 s with; lag 24,000 without, 0 with"
    )


def test_what_the_switch_costs_is_in_what_came():
    """Nobody consumes in the interval of the switch, 3,000 offsets that wait for as long as there is a backlog."""
    free, paid = told(), told()
    free.owner = paid.owner = EVEN
    paid.can = (0.0, 0.0)
    for life in (free, paid):
        life.goes_on(1, runs="sticky")
        life.can = (CAPACITY, CAPACITY)
        life.goes_on(13, runs="sticky")
    gained, rest = (of_lag(life) for life in (free, paid))
    assert rest.if_stayed == pytest.approx(gained.if_stayed, rel=0.01)
    assert gained.saved - rest.saved > 3000 * 1800


def test_what_restarts_cost_before_the_assignment_changes_is_in_what_came():
    """In a first round of restarts the old strategy is still elected: the replay begins before that."""
    life = told()
    life.can, life.ids = (0.0, 0.0), "second"
    life.goes_on(1)
    life.can, life.owner, life.ids = (CAPACITY, CAPACITY), EVEN, "third"
    life.goes_on(14, runs="sticky")
    check = of_lag(life)
    assert check.if_stayed == pytest.approx(4 * EVERY * (7 + 2 + 12), rel=0.01)


def test_a_restart_of_yesterday_is_no_part_of_a_switch():
    """Members restart for other reasons; an hour later the replay begins anew."""
    life = told()
    life.can, life.ids = (0.0, 0.0), "second"
    life.goes_on(1, "sticky")
    life.can = (CAPACITY, CAPACITY)
    life.goes_on(14, "sticky")
    assert life.course.proposal.stays.ids == "second"


def test_a_replay_that_misses_what_came_says_so():
    """Both members do less than they are known to: the ends are moved apart by as much."""
    sure, unsure = told(), told()
    for life in (sure, unsure):
        life.owner = EVEN
    unsure.can = (6.0, 6.0)
    for life in (sure, unsure):
        life.goes_on(14, runs="sticky")
    narrow, wide = (of_lag(life) for life in (sure, unsure))
    assert wide.if_stayed_high - narrow.if_stayed_high > 2 * 3600


def test_who_was_given_more_than_it_is_known_to_do_makes_it_unknown():
    """How much the first member can do was never seen; it got all that came, and more came than before."""
    life = told(known=(12.0, CAPACITY), at_least=(True, False))
    life.owner, life.per_second = EVEN, 19.0
    life.goes_on(14, runs="sticky")
    check = of_lag(life)
    assert check.if_stayed is None
    assert (check.if_stayed_low, check.if_stayed_high > 0) == (0.0, True)


def test_with_other_members_a_switch_is_held_against_its_promise():
    """What other members would have done nobody knows."""
    life = told()
    life.owner, life.members = EVEN, ("a", "c")
    life.goes_on(14, runs="sticky")
    check = of_lag(life)
    assert check.if_stayed_low is None
    assert life.states[-1] == "verified"
    assert life.last.course.uptakes[-1].stays is None


def test_what_the_best_strategy_would_have_saved_is_told_after_an_hour():
    """14/s arrive, one member does 10: 4/s more wait each second, and none of them with both."""
    life = Life(best=BestWay(strategy="sticky", owner=EVEN, price=1000.0))
    life.goes_on(1).goes_on(25)
    first, second = life.regrets
    assert (first.strategy, first.state) == ("sticky", None)
    assert (first.until - first.since, second.since) == (timedelta(hours=1), first.until)
    assert first.saved == pytest.approx(4 * 3600**2 / 2 - 1000, rel=0.001)
    assert first.saved_high - first.saved == first.saved - first.saved_low == 1000
    assert first.came == pytest.approx(4 * 3600**2 / 2, rel=0.01)


def test_a_period_ends_where_the_assignment_became_another():
    """What came before it counts."""
    life = Life(best=BestWay(strategy="sticky", owner=EVEN, price=0.0))
    life.goes_on(4)
    life.owner, life.best = EVEN, None
    life.goes_on(3)
    [regret] = life.regrets
    assert regret.until - regret.since == timedelta(minutes=15)
    assert life.course is None or life.course.best is None


def test_nothing_is_followed_where_nothing_would_help():
    """A healthy group has no course for it."""
    life = Life().goes_on(14)
    assert life.regrets == []
    assert life.course is None


def test_a_snapshot_with_a_member_less_is_passed_over():
    """While members restart one is missing now and then; what arrived meanwhile is not forgotten."""
    plain, broken = told(), told()
    for life in (plain, broken):
        life.owner = EVEN
        life.goes_on(3, runs="sticky")
    broken.members = ("a",)
    plain.goes_on(1, runs="sticky")
    broken.goes_on(1, runs="sticky")
    broken.members = ("a", "b")
    found = [of_lag(life.goes_on(10, runs="sticky")) for life in (plain, broken)]
    assert found[0].if_stayed == pytest.approx(found[1].if_stayed, rel=1e-6)


def test_the_same_snapshot_twice_says_the_same():
    """A step that is repeated writes the same."""
    life = told()
    life.owner = EVEN
    life.goes_on(5, runs="sticky")
    again = replace(life, states=[], checks=[], regrets=[])
    assert life.goes_on(1, runs="sticky").last == again.goes_on(1, runs="sticky").last
