"""The course of a group's advice: each state, why it is reached, and what is never done."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.inputs import FollowedPlan, LiveFigures, Sight
from evenkeel.engine.advice.lifecycle import follow, gone
from evenkeel.engine.config import Policy
from evenkeel.engine.messages.wording import because
from evenkeel.engine.model.assignments import (
    Advice,
    AdviceState,
    Candidate,
    Deployment,
    Feasibility,
    Verdict,
)
from evenkeel.engine.model.facts import Fact, FactKind, reason
from evenkeel.engine.model.figures import Forecast, Score
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.records import Course, blank, record_of, to_json

FIRST = datetime(2026, 3, 1, 10, tzinfo=UTC)
DAY = 1440
GAIN = Fact(kind=FactKind.GAIN, measure="partition_spread", before=5, after=1)
NAMES = {"s": "sticky", "u": "uniform", "r": "range", ".": None, "?": None}
FORECAST = Forecast(
    **{
        one.name: {"low": 50.0, "expected": 100.0, "high": 200.0}[one.name.rpartition("_")[2]]
        for one in fields(Forecast)
        if one.name.startswith("forecast_")
    }
)
LESS_BYTES = Fact(kind=FactKind.GAIN, measure="cross_rack_bytes_per_second", before=60_000, after=0)
LESS_ACROSS = Fact(
    kind=FactKind.REMARK, measure="cross_rack_share", before=0.83, after=0.0, unit="share"
)
CAME = LiveFigures(lag=120, delay_seconds=3.0, utilization=0.5, cross_rack_share=None)


@dataclass
class Story:
    """A group from snapshot to snapshot, five minutes apart; what it shows can be changed in between."""

    policy: Policy = field(default_factory=Policy)
    every: float = 5
    minute: float = 0
    running: str = "range"
    assignment: str | None = "before"
    diagnosis: Diagnosis = Diagnosis.SKEWED_LOAD
    live: LiveFigures = CAME
    would_be: str | None = None
    able: tuple[str, ...] = ("range", "sticky", "uniform")
    forecast: Forecast | None = FORECAST
    racks: float | None = None
    gains: tuple[Fact, ...] = (GAIN,)
    says: float = 1.0
    also_pays: str = ""
    unsure: str = ""
    unknown: str = ""
    course: Course | None = None
    last: FollowedPlan | None = None
    told: list[tuple[float, str, str]] = field(default_factory=list)
    checks: list = field(default_factory=list)

    def goes_on(self, winners: str, **changes) -> Story:
        """One snapshot per letter: who wins (s, u, r), nobody (.), or that it cannot be judged (?)."""
        for name, value in changes.items():
            setattr(self, name, value)
        for winner in winners:
            self.last = follow(self.course, self.sight(winner), self.policy)
            self.course = self.last.course
            self.told += [(self.minute, e.strategy, e.state.value) for e in self.last.events]
            self.checks += self.last.checks
            self.minute += self.every
        return self

    def sight(self, winner: str) -> Sight:
        """What the next snapshot shows."""
        verdict = {".": Verdict.STAY, "?": Verdict.NOT_EVALUATED}.get(winner, Verdict.SWITCH)
        facts = (
            self.gains if verdict is Verdict.SWITCH else (reason("nothing_to_gain", ["sticky"]),)
        )
        paying = [str(NAMES[one]) for one in winner + self.also_pays if NAMES[one]]
        return Sight(
            at=FIRST + timedelta(minutes=self.minute),
            decided=Advice(
                group="g",
                verdict=verdict,
                strategy=NAMES[winner],
                facts=facts,
                says=dict.fromkeys([str(NAMES[one]) for one in self.unsure], 0.0)
                | dict.fromkeys(paying, self.says)
                | dict.fromkeys([str(NAMES[one]) for one in self.unknown], None),
            ),
            diagnosis=self.diagnosis,
            candidates={name: self.candidate(name) for name in ("range", "sticky", "uniform")},
            live=self.live,
            assignment=self.assignment,
            would_be=self.would_be,
        )

    def candidate(self, name: str) -> Candidate:
        """A strategy of this group."""
        able = name in self.able
        return Candidate(
            strategy=name,
            deployment=Deployment.SETTING,
            feasibility=Feasibility.NEEDS_RESTART if able else Feasibility.NOT_APPLICABLE,
            reason=(),
            is_running=name == self.running,
            forecast=self.forecast,
            score=None if self.racks is None else _score(self.racks),
        )

    @property
    def said(self) -> str:
        """The verdict of the last snapshot and why."""
        assert self.last is not None
        advice = self.last.advice
        return f"{advice.verdict} {advice.strategy}: {because(advice.facts)}"

    @property
    def cause(self) -> str:
        """Why the last snapshot led to another state."""
        assert self.last is not None
        return because(self.last.events[-1].facts)


def _score(share: float) -> Score:
    counts = {"racks_left_out": 0, "moves": 0, "newly_owned": 0, "unowned": 0}
    return blank(Score, cross_rack_share=share, most_partitions=2, fewest_partitions=2, **counts)


def confirmed(**more) -> Story:
    """A group that has been advised to switch to sticky."""
    story = Story(**more).goes_on("sssssss")
    assert story.told[-1][2] == "confirmed"
    return story


def taken_up(**more) -> Story:
    """A group that follows: minute 35."""
    return confirmed(**more).goes_on(".", running="sticky", assignment="after")


P, C, T, V, M, W, E = (state.value for state in AdviceState)


@pytest.mark.parametrize(
    ("winners", "expected"),
    [
        ("......", []),
        ("s", [(0, P)]),
        ("sssss", [(0, P)]),
        ("ssssss", [(0, P), (25, C)]),
        ("ss.ssssss", [(0, P), (40, C)]),
        ("sssss.ssss", [(0, P)]),
        ("sssss.sssss", [(0, P), (50, C)]),
        ("ssssss.....", [(0, P), (25, C)]),
        ("ssssss......", [(0, P), (25, C), (55, W)]),
        ("ssssss....s....", [(0, P), (25, C)]),
        ("s??s??sssss", [(0, P), (45, C)]),
        ("ssssss????????......", [(0, P), (25, C), (95, W)]),
        ("s.....", [(0, P)]),
        ("s......", [(0, P), (30, W)]),
        ("s......s", [(0, P), (30, W), (35, P)]),
        ("s.s.s.s.s.s.s.s.s.s.", [(0, P)]),
    ],
)
def test_evidence_makes_states(winners, expected):
    """Confirmed once it pays for 25 minutes, withdrawn as slowly; what is undecided counts for nothing."""
    told = Story().goes_on(winners).told

    assert [(minute, state) for minute, _, state in told] == expected


@pytest.mark.parametrize("every", [5, 1])
@pytest.mark.parametrize("win", [1.0, 0.5])
def test_what_brings_nothing_is_hardly_ever_told(every, win):
    """
    However often one looks: of twenty claims at most one is confirmed, and it takes 3.5 hours on average.

    A strategy saves a share of what is new in some snapshots, and does harm in others: on average, nothing.
    """
    toss = np.random.default_rng(2027)
    story, minutes, claims, told = Story(every=every, says=win), 0, 0, 0
    for wins in (toss.random(6000) < 1 / (1 + win)).tolist():
        known = story.course is not None and story.course.claims
        story.goes_on("s" if wins else ".")
        minutes += every
        claims += bool(wins and not known)
        if story.told and story.told[-1][2] == C:
            story, told = Story(every=every, says=win), told + 1

    assert told <= claims / 20
    assert told * 3.5 * 60 <= minutes


def test_it_says_what_is_waited_for():
    """How much evidence there is, since when, and when it will be told."""
    story = Story().goes_on(".ssss")

    assert story.said == (
        "stay sticky: sticky would help (partition spread 5 -> 1); pending: evidence 6 of 20,"
        " since 2026-03-01 10:05:00 UTC; advised 2026-03-01 10:30:00 UTC at the earliest"
    )
    assert story.goes_on("ss").said == "switch sticky: partition spread 5 -> 1"
    assert story.last.advice.seen == 6
    assert story.last.advice.state is AdviceState.CONFIRMED
    assert story.last.advice.state_since == FIRST + timedelta(minutes=30)
    assert story.cause == (
        "sticky would help (partition spread 5 -> 1), since 2026-03-01 10:05:00 UTC"
    )


def test_what_is_confirmed_is_told_though_it_did_not_win_once():
    """With the gains it had, until it is withdrawn; then it is told no more, with the cause."""
    story = confirmed().goes_on(".")

    assert story.said == (
        "switch sticky: sticky would help (partition spread 5 -> 1), by earlier snapshots, since"
        " 2026-03-01 10:35:00 UTC"
    )
    assert story.goes_on(".....").said.startswith("stay None: no better strategy")
    assert story.cause.startswith("sticky would no longer help, since 2026-03-01 10:35:00 UTC; no")


def test_what_cannot_be_judged_keeps_its_state():
    """A group that is not read is not advised to switch, and is told again once it is."""
    story = confirmed().goes_on("?")

    assert (story.last.advice.verdict, story.course.state) == (Verdict.NOT_EVALUATED, C)
    assert story.goes_on("s").last.advice.verdict is Verdict.SWITCH
    moving = story.goes_on("s", diagnosis=Diagnosis.REBALANCING)
    assert moving.course.claims == story.course.claims


def test_a_strategy_that_wins_every_second_snapshot_is_never_told():
    """A day of flapping makes one proposal and no message."""
    story = Story()
    for _ in range(12 * 24 // 2):
        story.goes_on("s.")
        assert story.last.advice.verdict is Verdict.STAY
    assert [state for *_, state in story.told] == [P]


def test_what_won_before_a_gap_of_days_counts_no_more():
    """The evidence of four snapshots is worth nothing three days later."""
    story = Story().goes_on("ssss")
    story.minute += 3 * 24 * 60

    assert [state for _, _, state in story.goes_on("s").told] == ["proposed"]
    assert [state for _, _, state in story.goes_on("ssss").told] == ["proposed"]
    assert story.goes_on("s").told[-1][2] == "confirmed"


def test_another_strategy_replaces_what_is_confirmed_once_it_is_confirmed_itself():
    """Till then the first is told; then one event for the other, and none for the first."""
    story = confirmed().goes_on("uuuuu")
    assert story.said.startswith("switch sticky")
    story.goes_on("u")

    assert story.said.startswith("switch uniform")
    assert story.told[2:] == [(60, "uniform", C)]


def test_another_strategy_is_proposed_where_the_first_is_not_confirmed():
    """Once nothing speaks for that any more, what pays takes its place."""
    story = Story().goes_on("ssuuuuuuuu")

    assert story.told == [(0, "sticky", P), (10, "uniform", P), (35, "uniform", C)]


def test_a_forecast_that_is_not_sure_takes_no_evidence_away():
    """What is new speaks for the switch all along: two looks in between that tell nothing cost two looks."""
    story = Story().goes_on("sss").goes_on("..", unsure="s").goes_on("sss")

    assert story.told == [(0, "sticky", P), (35, "sticky", C)]
    assert [s for *_, s in story.goes_on("." * 6).told[2:]] == [W]


def test_what_is_unknown_takes_no_evidence_away_and_withdraws_nothing():
    """A backlog that is worked off between two waves, or a forecast that nobody knows, for as long as that may last."""
    story = Story().goes_on("sss").goes_on("." * 20, unknown="s").goes_on("sss", unknown="")

    assert story.told == [(0, "sticky", P), (125, "sticky", C)]
    assert len(story.goes_on("." * 20, unknown="s").told) == 2


def test_two_that_pay_alike_do_not_take_evidence_from_each_other():
    """Whichever pays most, both pay: one is told as soon as if it were alone, and the other does not replace it."""
    story = Story(also_pays="su").goes_on("su" * 24)

    assert story.told == [(0, "sticky", P), (25, "uniform", C)]


def test_weak_evidence_takes_longer():
    """Of what saves half of what is new 9 snapshots are asked for, of what saves a tenth 36."""
    minutes = [Story(says=says).goes_on("s" * 50).told[-1][0] for says in (1, 0.5, 0.1)]

    assert minutes == [25, 45, 175]


@pytest.mark.parametrize(("says", "confirmed_at"), [(1.0, 25), (0.5, 45)])
def test_looking_five_times_as_often_says_it_at_about_the_same_time(says, confirmed_at):
    """And takes it back at about the same time."""
    told = [
        Story(says=says, every=every).goes_on("s" * (60 // every) + "." * (60 // every)).told
        for every in (5, 1)
    ]

    rare, often = ([minute for minute, *_ in events] for events in told)
    assert rare == [0, confirmed_at, 85]
    assert often == pytest.approx(rare, abs=5)


def test_it_is_taken_up_when_it_runs_with_another_assignment():
    """The strategy alone or another assignment alone is not enough; then nothing is to be done any more."""
    only_strategy = confirmed().goes_on("s", running="sticky")
    only_assignment = confirmed().goes_on("s", assignment="after")
    unknown = confirmed().goes_on("s", running="sticky", assignment=None)
    for story in (only_strategy, only_assignment, unknown):
        assert story.told[-1][2] == C

    story = taken_up()
    assert story.told[-1] == (35, "sticky", T)
    assert story.cause == "the group runs sticky now, with another assignment"
    assert story.last.advice.verdict is Verdict.STAY


def test_what_asks_for_client_rack_runs_once_no_row_asks_for_it():
    """A strategy with members' racks is taken up when it runs, and nothing is left to say of racks not sent."""
    sight = Story(running="range").sight(".")
    asks = replace(sight, candidates=sight.candidates | {"range+client.rack": _row_of("range")})

    assert sight.runs("range+client.rack")
    assert not asks.runs("range+client.rack")
    assert (sight.runs("range"), sight.runs("sticky+client.rack")) == (True, False)


def test_what_asks_for_client_rack_is_over_once_that_changes_nothing(monkeypatch):
    """It is not said that the group cannot run it."""
    monkeypatch.setitem(NAMES, "s", "sticky+client.rack")
    story = Story().goes_on("sssssss").goes_on("." * 6)

    assert [state for *_, state in story.told] == [P, C, E]
    assert story.cause == "sticky+client.rack now gives the same assignment as without client.rack"


def _row_of(name):
    return replace(Story().candidate(name), strategy=f"{name}+client.rack", is_running=False)


def test_what_was_only_proposed_cannot_be_taken_up():
    """Whoever switches unasked has followed no advice."""
    story = Story().goes_on("ss....", running="sticky").goes_on("..", assignment="after")

    assert T not in [state for *_, state in story.told]


def test_while_it_is_open_whether_a_promise_is_kept_nothing_else_is_proposed():
    """What pays meanwhile waits, and it says for what."""
    story = taken_up().goes_on("uuuuuuuuuu")

    assert story.told[-1][2] == T
    assert "sticky was adopted: evenkeel verifies its forecast by" in story.said


def test_a_promise_that_is_kept_is_verified():
    """Checked after 15 minutes, an hour and a day; an hour decides."""
    story = taken_up().goes_on("." * 12)

    assert story.told[-1] == (95, "sticky", V)
    assert story.cause == "lag an hour later 120 offsets, forecast 100 offsets, at most 200 offsets"
    assert [(c.after_seconds, c.measure) for c in story.checks] == [
        (900, "lag"),
        (3600, "lag"),
        (3600, "delay_seconds"),
        (3600, "utilization"),
    ]
    assert [c.actual for c in story.checks] == [120, 120, 3.0, 0.5]
    story.goes_on("." * (12 * 24))
    assert {c.after_seconds for c in story.checks[4:]} == {86_400}
    assert len(story.checks) == 7
    assert story.told[-1][2] == V


@pytest.mark.parametrize(
    ("racks", "live", "state", "cause"),
    [
        (None, replace(CAME, lag=201, delay_seconds=201), M, "lag an hour later 201 offsets"),
        (None, replace(CAME, lag=201, delay_seconds=None), M, "lag an hour later 201 offsets"),
        (None, replace(CAME, lag=201, delay_seconds=0), V, "lag an hour later 201 offsets"),
        (None, replace(CAME, lag=3), V, "lag an hour later 3 offsets"),
        (0.2, replace(CAME, cross_rack_share=0.25), V, "cross-rack share an hour later 25%"),
        (0.2, replace(CAME, cross_rack_share=0.26), M, "cross-rack share an hour later 26%"),
        (0.2, replace(CAME, lag=999, cross_rack_share=None), E, "is not known"),
        (None, replace(CAME, lag=None), E, "is not known"),
    ],
)
def test_lag_and_racks_decide_what_came_of_it(racks, live, state, cause):
    """
    Worse than the band in one of them is missed, lag only of a group that is later than promised, too; unknown in one
    of them is nothing that anybody could say.
    """
    story = taken_up(racks=racks).goes_on("." * 12, live=live)

    assert story.told[-1] == (95, "sticky", state)
    assert cause in story.cause


def for_racks(**more) -> Story:
    """A group whose switch is told for what crosses racks alone, and that has not followed yet: minute 35."""
    crosses = replace(CAME, cross_rack_share=0.83)
    given = {"live": crosses, "racks": 0.0, "gains": (LESS_BYTES, LESS_ACROSS)} | more
    return confirmed(**given)


FOLLOWS = {"running": "sticky", "assignment": "after"}


def crossing(share: float | None, **more) -> dict:
    """What a group shows that follows, by how much still crosses racks."""
    return FOLLOWS | {"live": replace(CAME, cross_rack_share=share, **more)}


def test_what_is_won_across_racks_alone_is_verified_by_the_snapshot_that_shows_it():
    """The one that shows that it was taken up: both are noted, and what more was promised is checked all the same."""
    story = for_racks().goes_on(".", **crossing(0.0))

    assert story.told[2:] == [(35, "sticky", T), (35, "sticky", V)]
    assert story.cause == "reads across racks 0% (83% before)"
    assert story.last.advice.state is AdviceState.VERIFIED
    assert [(c.after_seconds, c.measure, c.actual) for c in story.checks] == [
        (0, "cross_rack_share", 0.0)
    ]
    story.goes_on("." * 12 * 25)
    assert story.told[-1] == (35, "sticky", V)
    assert {c.after_seconds for c in story.checks} == {0, 900, 3600, 86_400}
    assert len(story.checks) == 1 + 2 + 4 + 4


@pytest.mark.parametrize(
    ("shown", "told", "cause"),
    [
        ([0.83, 0.83], [(40, M)], "reads across racks 83% as before (forecast at most 5%)"),
        ([0.83, 0.81], [(40, M)], "reads across racks 81% (83% before, forecast at most 5%)"),
        ([0.83, 0.04], [(40, V)], "reads across racks 4% (83% before)"),
        ([0.83, None, None, 0.0], [(50, V)], "reads across racks 0% (83% before)"),
        ([0.83, None, None, 0.83], [(50, M)], "reads across racks 83% as before"),
        ([0.4, 0.4], [], "the group runs sticky now"),
    ],
)
def test_what_is_not_won_across_racks_is_missed_by_the_next_snapshot(shown, told, cause):
    """Members may be restarting at first; where it is neither as promised nor as before, an hour decides."""
    story = for_racks()
    causes = []
    for share in shown:
        story.goes_on(".", **crossing(share))
        causes += [story.cause] if story.last.events else []

    assert [(minute, state) for minute, _, state in story.told[2:]] == [(35, T), *told]
    assert causes[-1].startswith(cause)


def test_an_assignment_in_motion_is_no_next_snapshot():
    """Nor is one that cannot be judged; what changes again at once is seen as it has become."""
    story = for_racks().goes_on(".", **crossing(0.83))
    story.goes_on("??").goes_on("s", diagnosis=Diagnosis.REBALANCING)
    assert story.told[-1][2] == T
    story.goes_on(".", diagnosis=Diagnosis.HEALTHY, assignment="settled")
    assert story.told[-1][2] == E

    story = for_racks().goes_on(".", **crossing(0.83))
    story.goes_on(".", **crossing(0.0) | {"assignment": "settled"})
    assert story.told[2:] == [(35, "sticky", T), (40, "sticky", V)]


def test_what_was_verified_at_once_keeps_its_word_while_members_restart():
    """What was promised of lag then counts from the last change, and is not forgotten."""
    story = for_racks().goes_on(".", **crossing(0.0)).goes_on(".", assignment="settled")
    story.goes_on("." * 12)

    assert story.told[-1] == (35, "sticky", V)
    assert {c.adopted_at for c in story.checks if c.after_seconds == 3600} == {
        FIRST + timedelta(minutes=40)
    }


def test_lag_that_comes_worse_revokes_what_was_verified_at_once():
    """An hour after it was adopted."""
    story = for_racks().goes_on(".", **crossing(0.0))
    story.goes_on("." * 12, **crossing(0.0, lag=999, delay_seconds=999))

    assert story.told[2:] == [(35, "sticky", T), (35, "sticky", V), (95, "sticky", M)]
    assert story.cause == "lag an hour later 999 offsets, forecast 100 offsets, at most 200 offsets"


def test_lag_that_comes_worse_revokes_nothing_while_something_else_is_proposed():
    """The checks say it all the same."""
    story = for_racks().goes_on(".", **crossing(0.0))
    story.goes_on("u" * 12, **crossing(0.0, lag=999, delay_seconds=999))

    assert [state for *_, state in story.told[2:]] == [T, V, P, C]
    assert [c.actual for c in story.checks if c.measure == "lag"] == [999, 999]


@pytest.mark.parametrize(
    "gains",
    [
        (GAIN, LESS_BYTES, LESS_ACROSS),
        (LESS_BYTES,),
        (LESS_BYTES, replace(LESS_ACROSS, before=0.09)),
    ],
)
def test_where_racks_are_not_all_or_hardly_show_an_hour_decides(gains):
    """Of a gain in lag as well, of racks that are not known, and of bytes that fall while partitions hardly do."""
    story = for_racks(gains=gains).goes_on("." * 12, **crossing(0.0))

    assert [state for *_, state in story.told[2:]] == [T]
    story.goes_on(".")
    assert story.told[-1] == (95, "sticky", V)


def test_what_is_promised_is_not_renewed_by_what_came_of_it():
    """The snapshot that shows that it was taken up holds it against what was said before."""
    story = for_racks().goes_on("..", **crossing(0.83), racks=0.83)

    assert story.told[-1] == (40, "sticky", M)
    assert {c.expected for c in story.checks} == {0.0}


def test_without_a_forecast_nobody_knows():
    """It is not waited for what nothing was promised of."""
    story = taken_up(forecast=None).goes_on(".")

    assert (story.told[-1][2], story.cause) == (E, "no forecast of sticky to compare with")


def test_a_snapshot_too_far_from_the_moment_tells_nothing():
    """Unknown stays unknown."""
    story = taken_up()
    story.minute += 20
    story.goes_on(".")
    assert [(c.after_seconds, c.actual) for c in story.checks] == [(900, None)]
    story.minute += 60
    story.goes_on(".")

    assert [c.actual for c in story.checks] == [None] * 4
    assert story.told[-1][2] == E


def test_an_assignment_that_changes_again_shows_nothing():
    """What was not due yet is unknown, and so is what came of it."""
    story = taken_up().goes_on("....").goes_on(".", assignment="another")

    assert [c.actual for c in story.checks] == [120, *[None] * 6]
    assert "the assignment changed again" in story.cause


def test_members_that_restart_one_by_one_are_waited_for():
    """While the assignment goes on changing at once, promises count from the last change."""
    story = taken_up().goes_on(".", assignment="settled")
    assert story.told[-1][2] == T
    story.goes_on("." * 12)

    assert story.told[-1] == (100, "sticky", V)
    assert {c.adopted_at for c in story.checks} == {FIRST + timedelta(minutes=40)}


def test_nobody_follows():
    """After a week it is over, and may begin anew."""
    story = confirmed(every=60 * 12, policy=Policy(confirm_evidence=1))
    story.goes_on("s" * 8)

    assert [state for *_, state in story.told] == [C, E]
    assert story.cause == "not adopted within 7 d"
    assert story.said.startswith("stay sticky: sticky would help")
    assert [state for *_, state in story.goes_on("s").told[2:]] == [C]


def test_a_group_that_can_no_longer_run_it():
    """It is not withdrawn, for it might pay; as slowly, for it may be over soon."""
    story = confirmed().goes_on(".....", able=("range",))
    assert story.told[-1][2] == C
    story.goes_on(".")

    assert (story.told[-1][2], story.cause) == (E, "the group can no longer run sticky")


def test_a_group_that_is_gone():
    """Whatever was open has expired; where nothing was, nothing is said."""
    at = FIRST + timedelta(days=1)
    ended = gone(confirmed().course, "g", at)

    assert ended is not None
    assert [(e.strategy, e.state, because(e.facts)) for e in ended.events] == [
        ("sticky", AdviceState.EXPIRED, "the group no longer exists")
    ]
    assert (ended.advice.verdict, ended.course.proposal) == (Verdict.NOT_EVALUATED, None)
    assert gone(ended.course, "g", at) is None
    assert gone(taken_up().course, "g", at) is not None


def verified(**more) -> Story:
    """A group that followed and is glad of it."""
    return taken_up(**more).goes_on("." * 12)


def test_the_way_back_is_closed_for_a_week():
    """Neither the strategy nor the assignment that it came from wins; after that they may."""
    story = verified().goes_on("r" * 20)
    assert story.told[-1][2] == V
    assert "range would revert the switch to sticky: not advised for 7 d" in story.said
    other = verified().goes_on("u" * 20, would_be="before")
    assert other.told[-1][2] == V
    story.minute += 7 * DAY

    assert story.goes_on("r").told[-1][1:] == ("range", P)


@pytest.mark.parametrize(
    ("diagnosis", "opens"),
    [
        (Diagnosis.SKEWED_LOAD, False),
        (Diagnosis.HEALTHY, False),
        (Diagnosis.UNDER_PROVISIONED, True),
    ],
)
def test_another_diagnosis_opens_the_way_back(diagnosis, opens):
    """What is the matter now must be something else, and not that it is well."""
    story = verified().goes_on("r", diagnosis=diagnosis)

    assert (story.told[-1][2] == P) is opens


def followed(*lags: float) -> Story:
    """A group that followed so many times, and how far behind it was an hour later each time."""
    story = Story(policy=Policy(revert_cooldown_seconds=0))
    for number, lag in enumerate(lags):
        story.goes_on("sssssss", running="range", assignment=f"before {number}", live=CAME)
        story.goes_on(".", running="sticky", assignment=f"after {number}")
        story.goes_on("." * 12, live=replace(CAME, lag=lag, delay_seconds=lag))
    return story


def missed_twice() -> Story:
    """A group that followed twice in vain."""
    story = followed(999, 999)
    assert [state for *_, state in story.told if state in (M, V)] == [M, M]
    return story


def test_what_was_missed_twice_is_muted():
    """It is proposed and never told, with the dates; after 30 days it may be again."""
    story = missed_twice().goes_on("s" * 20, running="range", assignment="x")

    assert story.told[-1][1:] == ("sticky", P)
    assert story.said == (
        "stay sticky: paused until 2026-03-31 13:15:00 UTC: sticky missed its forecast, missed 2026-03-01"
        " 11:35:00 UTC, missed 2026-03-01 13:15:00 UTC"
    )
    assert [mute.strategy for mute in story.course.mutes] == ["sticky"]
    story.minute += 30 * DAY
    story.goes_on("sssssssss")
    assert story.told[-1][1:] == ("sticky", C)


def test_only_that_strategy_is_muted_and_only_twice_in_a_row():
    """Another is told; one miss mutes nothing, nor do two with a success in between."""
    assert missed_twice().goes_on("u" * 7).told[-1][1:] == ("uniform", C)
    story = followed(999, 100, 999)
    assert [state for *_, state in story.told if state in (M, V)] == [M, V, M]
    assert story.course.mutes == ()


def test_what_is_muted_and_taken_up_all_the_same_may_prove_itself():
    """Verified, it is muted no more."""
    story = missed_twice().goes_on("ss", running="range", assignment="x", live=CAME)
    story.goes_on("." + "." * 12, running="sticky", assignment="y")

    assert story.told[-1][1:] == ("sticky", V)
    assert story.course.mutes == ()


def test_nothing_is_remembered_of_a_group_that_nothing_pays_for():
    """No row of it carries anything."""
    assert Story().goes_on("....").course is None


looks = st.lists(
    st.tuples(
        st.sampled_from("ssssu.?"),
        st.sampled_from([1, 5, 10, 60]),
        st.sampled_from(["range", "range", "sticky", "uniform"]),
        st.sampled_from(["a", "a", "a", "b", None]),
        st.sampled_from([10, 10, 999, None]),
    ),
    max_size=80,
)


@given(looks)
def test_whatever_comes_it_is_steady(story_of):
    """No switch before it is confirmed by time, one state per snapshot at most, and all of it survives JSON."""
    story = Story()
    first_won: dict[str, float] = {}
    winners: list[str | None] = []
    for winner, minutes, running, assignment, lag in story_of:
        story.minute += minutes - story.every
        if (name := NAMES[winner]) is not None:
            first_won.setdefault(name, story.minute)
        story.goes_on(
            winner,
            running=running,
            assignment=assignment,
            live=replace(CAME, lag=lag, delay_seconds=lag),
        )
        assert story.last is not None
        assert [e.state for e in story.last.events[:-1]] in ([], [AdviceState.ADOPTED])
        winners += [] if winner == "?" else [NAMES[winner]]
        for event in story.last.events:
            if event.state is AdviceState.CONFIRMED:
                assert winners[-1] == event.strategy
                assert winners.count(event.strategy) >= 4
        advice = story.last.advice
        if advice.verdict is Verdict.SWITCH:
            assert advice.state is AdviceState.CONFIRMED
            assert story.minute - story.every - first_won[str(advice.strategy)] >= 23
        if story.course is not None:
            assert advice.state is story.course.state
            text = json.dumps(to_json(story.course))
            assert record_of(Course, json.loads(text)) == story.course
