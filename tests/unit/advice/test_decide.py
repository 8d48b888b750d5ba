"""When a switch pays, when to stay, and in which words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.advice import decide
from evenkeel.engine.config import Policy
from evenkeel.engine.facts import Fact, FactKind, fact, finding, reason
from evenkeel.engine.figures import Score
from evenkeel.engine.model import Candidate, Deployment, Diagnosis, Feasibility, Verdict
from evenkeel.engine.ports import PreviousAdvice
from evenkeel.engine.wording import because

EVEN = Score(
    partition_spread=0,
    balanced=True,
    most_partitions=2,
    fewest_partitions=2,
    largest_member_lag=0,
    lag_skew=None,
    lag_floor=0,
    lag_floor_equal_counts=0,
    cross_rack_share=None,
    cross_rack_rate_share=None,
    cross_rack_in_sync_share=None,
    cross_leader_share=None,
    racks_left_out=0,
    moves=0,
    newly_owned=0,
    unowned=0,
    drain_seconds=None,
)
ONCE = Policy(confirmations=1)
RESTART = Fact(kind=FactKind.HOW, measure="restart_one")


def _candidate(strategy="roundrobin", feasibility=Feasibility.COULD_RUN, **score):
    return Candidate(
        strategy=strategy,
        deployment=Deployment.LIVE if strategy == "live" else Deployment.SETTING,
        feasibility=feasibility,
        reason=(reason("runs_it"),),
        score=replace(EVEN, **score),
    )


def _decide(*candidates, policy=ONCE, **more):
    return decide(group="g", candidates=candidates, partitions=10, policy=policy, **more)


def _before(strategy, seen):
    return PreviousAdvice(group_id="g", strategy=strategy, seen=seen)


def _live(**score):
    return _candidate("live", Feasibility.CAN_RUN, **score)


@pytest.mark.parametrize(
    ("gain", "live", "other", "words"),
    [
        (
            "lag",
            {"largest_member_lag": 1000},
            {"largest_member_lag": 400},
            "1,000 -> 400 offsets (-60%)",
        ),
        (
            "racks",
            {"cross_rack_share": 0.5},
            {"cross_rack_share": 0.0},
            "cross-rack share 50% -> 0%",
        ),
        ("spread", {"partition_spread": 5}, {"partition_spread": 1}, "partition spread 5 -> 1"),
        ("unowned", {"unowned": 2}, {"unowned": 0}, "2 unowned partitions get an owner"),
    ],
)
def test_one_gain_without_loss_is_a_switch(gain, live, other, words):
    """Each kind of gain is enough alone, and is told in numbers."""
    advice = _decide(_live(**live), _candidate(**other))

    assert (Verdict.SWITCH, "roundrobin") == (advice.verdict, advice.strategy), gain
    assert words in because(advice.facts)


@pytest.mark.parametrize(
    ("loss", "live", "other"),
    [
        (
            "lag",
            {"largest_member_lag": 1000, "cross_rack_share": 0.5},
            {"largest_member_lag": 2000, "cross_rack_share": 0.0},
        ),
        (
            "racks",
            {"largest_member_lag": 1000, "cross_rack_share": 0.0},
            {"largest_member_lag": 100, "cross_rack_share": 0.3},
        ),
        (
            "spread",
            {"cross_rack_share": 0.5, "partition_spread": 1},
            {"cross_rack_share": 0.0, "partition_spread": 4},
        ),
        ("unowned", {"cross_rack_share": 0.5}, {"cross_rack_share": 0.0, "unowned": 1}),
    ],
)
def test_a_gain_with_a_loss_is_no_switch(loss, live, other):
    """What gets better may not be paid for by something else getting worse."""
    advice = _decide(_live(**live), _candidate(**other))

    assert advice.verdict is Verdict.STAY, loss
    assert "would gain" in because(advice.facts)
    assert "but lose" in because(advice.facts)


def test_a_flawed_assignment_is_never_advised():
    """However much it gains: an answer that gives a partition to two members is shown, not recommended."""
    better = _candidate(largest_member_lag=100)
    flawed = replace(better, findings=(finding("given_twice", ["t-0"], partitions=1),))

    advice = _decide(_live(largest_member_lag=1000), flawed)

    assert advice.verdict is Verdict.STAY
    assert "flawed: 1 partition is given to more than one member, t-0" in because(advice.facts)
    assert _decide(_live(largest_member_lag=1000), better).verdict is Verdict.SWITCH


def test_what_is_never_advised_is_no_yardstick_either():
    """A random assignment can be lucky; nobody should aim for it."""
    lucky = _candidate("random", Feasibility.YARDSTICK, largest_member_lag=100)

    advice = _decide(_live(largest_member_lag=1000), replace(lucky, deployment=Deployment.NEVER))

    assert advice.yardstick is None
    assert _decide(_live(largest_member_lag=1000), lucky).yardstick == "random"


def test_too_many_moves_are_a_loss():
    """The policy bounds the share of partitions that may change hands."""
    policy = Policy(confirmations=1, moves_per_gain=0.3)
    advice = _decide(
        _live(cross_rack_share=0.5), _candidate(cross_rack_share=0.0, moves=4), policy=policy
    )

    assert advice.verdict is Verdict.STAY
    assert "4 partitions would move, the policy allows 3" in because(advice.facts)


def test_a_threshold_of_zero_still_asks_for_a_gain():
    """Whoever wants every gain, however small, is not told to switch to what is no better."""
    eager = Policy(confirmations=1, lag_gain=0, rack_gain=0)
    same = {"largest_member_lag": 1000, "cross_rack_share": 0.5}

    assert _decide(_live(**same), _candidate(**same), policy=eager).verdict is Verdict.STAY


def test_no_rack_gained_is_no_loss_at_a_threshold_of_zero():
    """What stays as it is does not stand against another gain."""
    eager = Policy(confirmations=1, rack_gain=0)
    live = _live(largest_member_lag=1000, cross_rack_share=0.5)
    other = _candidate(largest_member_lag=400, cross_rack_share=0.5)

    assert _decide(live, other, policy=eager).verdict is Verdict.SWITCH


def test_a_fall_of_exactly_the_threshold_is_a_gain():
    """30 % to 20 % are 10 points, whatever binary fractions make of them."""
    live, other = _live(cross_rack_share=0.3), _candidate(cross_rack_share=0.2)

    assert _decide(live, other).verdict is Verdict.SWITCH


def test_lag_that_nobody_owns_is_not_held_against_who_takes_it():
    """What members have is less while partitions lie unowned: that is neither a loss nor a floor reached."""
    live = _live(unowned=2, largest_member_lag=900, lag_floor=1000)
    taken = _decide(live, _candidate(unowned=0, largest_member_lag=3000, lag_floor=1000))
    alone = _decide(live)

    assert (taken.verdict, taken.strategy) == (Verdict.SWITCH, "roundrobin")
    assert "floor" not in because(alone.facts)


def test_small_lag_is_nobodys_problem():
    """Below the policy's worth, a relative gain means nothing."""
    advice = _decide(_live(largest_member_lag=90), _candidate(largest_member_lag=1))

    assert advice.verdict is Verdict.STAY
    assert "nothing to gain" in because(advice.facts)


def test_lag_at_its_floor_is_told_so():
    """No assignment can help: say where to look instead."""
    advice = _decide(
        _live(largest_member_lag=1000, lag_floor=990), _candidate(largest_member_lag=1000)
    )

    assert advice.verdict is Verdict.STAY
    assert "at its floor (990)" in because(advice.facts)


def test_a_switch_needs_confirmation():
    """One snapshot is a hint; the second in a row is advice; another strategy starts over."""
    candidates = _live(cross_rack_share=0.5), _candidate(cross_rack_share=0.0)
    policy = Policy(confirmations=2)
    first = _decide(*candidates, policy=policy)
    second = _decide(*candidates, policy=policy, previous=_before("roundrobin", 1))
    other = _decide(*candidates, policy=policy, previous=_before("range", 5))

    assert [(Verdict.STAY, 1), (Verdict.SWITCH, 2), (Verdict.STAY, 1)] == [
        (a.verdict, a.seen) for a in (first, second, other)
    ]
    assert "seen 1 of 2" in because(first.facts)


def test_the_best_is_chosen_then_the_fewest_moves():
    """More worth first; at equal worth, less disruption."""
    live = _live(cross_rack_share=0.6)
    less = _candidate("range", cross_rack_share=0.2, moves=1)
    more = _candidate("roundrobin", cross_rack_share=0.0, moves=9)
    cheap = _candidate("sticky", cross_rack_share=0.0, moves=3)

    assert _decide(live, less, more, cheap).strategy == "sticky"


def test_what_cannot_be_deployed_is_a_yardstick_beside_it():
    """The better one that this group cannot run is named, never advised."""
    yardstick = _candidate("uniform", Feasibility.YARDSTICK, cross_rack_share=0.0)
    advice = _decide(_live(cross_rack_share=0.5), _candidate(cross_rack_share=0.3), yardstick)

    assert ("roundrobin", "uniform") == (advice.strategy, advice.yardstick)
    assert because(advice.yardstick_facts) == "cross-rack share 50% -> 0%"


def test_a_yardstick_that_is_no_better_is_not_mentioned():
    """Only what beats the deployable best is worth a word."""
    yardstick = _candidate("uniform", Feasibility.YARDSTICK, cross_rack_share=0.3)
    advice = _decide(_live(cross_rack_share=0.5), _candidate(cross_rack_share=0.3), yardstick)

    assert advice.yardstick is None


def test_policy_says_which_kinds_of_strategy_may_be_advised():
    """A class to ship is advised only where the policy allows it."""
    own = replace(_candidate("lag-aware", cross_rack_share=0.0), deployment=Deployment.CLASS)
    live = _live(cross_rack_share=0.5)

    assert _decide(live, own).verdict is Verdict.STAY
    allowed = Policy(confirmations=1, deployment=("setting", "class"))
    assert _decide(live, own, policy=allowed).verdict is Verdict.SWITCH


@pytest.mark.parametrize(
    ("candidates", "withheld", "why"),
    [
        ([_live()], "offsets are missing", "offsets are missing"),
        (
            [replace(_live(), score=None, reason=(reason("in_rebalance", ["Reconciling"]),))],
            None,
            "rebalancing (Reconciling)",
        ),
        ([], None, "there is no live assignment to compare with"),
    ],
)
def test_what_cannot_be_judged_says_why(candidates, withheld, why):
    """Withheld data and infeasible groups are not told to stay."""
    advice = _decide(*candidates, withheld=withheld)

    assert (Verdict.NOT_JUDGED, why) == (advice.verdict, because(advice.facts))


def test_unknown_scores_are_neither_gain_nor_loss():
    """An unknown lag on either side says nothing."""
    advice = _decide(_live(largest_member_lag=None), _candidate(largest_member_lag=500))

    assert advice.verdict is Verdict.STAY


PRICED = {"currency": "EUR", "cross_rack_bytes_per_second": 1.0}


def _priced(share, cost):
    return {"cross_rack_share": share, "cross_rack_cost_per_month": cost, **PRICED}


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (20.0, "cross-rack share 80% -> 10%, 100.50 EUR a month saved"),
        (120.501, "cross-rack share 80% -> 10%, less than 0.01 EUR a month more"),
        (None, "cross-rack share 80% -> 10%"),
    ],
)
def test_what_a_switch_saves_is_said_where_it_is_known(cost, words):
    """Money stands beside the share; without both costs nothing is said of it."""
    told = _decide(_live(**_priced(0.8, 120.5)), _candidate(**_priced(0.1, cost)))

    assert (told.verdict, because(told.facts)) == (Verdict.SWITCH, words)


@pytest.mark.parametrize(
    ("live", "other", "verdict"),
    [
        ((0.8, 120.0), (0.1, 60.0), Verdict.SWITCH),
        ((0.8, 120.0), (0.1, 100.0), Verdict.STAY),
        ((0.8, 120.0), (0.79, 60.0), Verdict.SWITCH),
        ((0.8, None), (0.1, None), Verdict.SWITCH),
    ],
)
def test_with_cost_gain_money_decides_where_it_is_known(live, other, verdict):
    """50 a month must be saved, whatever the share; unknown costs leave it to the share."""
    policy = Policy(confirmations=1, cost_gain=50)

    assert _decide(
        _live(**_priced(*live)), _candidate(**_priced(*other)), policy=policy
    ).verdict is (verdict)


def test_what_costs_more_by_half_of_cost_gain_forbids_a_switch():
    """A better spread does not pay for it."""
    live = _live(partition_spread=6, **_priced(0.1, 20.0))
    other = _candidate(partition_spread=0, **_priced(0.12, 50.0))
    told = _decide(live, other, policy=Policy(confirmations=1, cost_gain=50))

    assert told.verdict is Verdict.STAY
    assert "10% -> 12%, 30.00 EUR a month more" in because(told.facts)


def test_what_goes_to_members_of_unknown_racks_is_no_gain():
    """Two partitions that crossed now go where nobody knows: neither nearer nor cheaper."""
    live = _live(racks_left_out=1, **_priced(0.67, 103.68))
    other = _candidate(racks_left_out=3, **_priced(0.0, 0.0))

    told = _decide(live, other)

    assert told.verdict is Verdict.STAY
    assert "saved" not in because(told.facts)


def test_unknown_lag_is_not_called_nothing_to_gain():
    """A group that never committed learns that its lag is unknown, of how much, and what to configure."""
    unset = finding("no_offset_reset", partitions=3)
    live, other = _live(largest_member_lag=None), _candidate(largest_member_lag=None)

    advice = _decide(live, other, unknown_lag=3, findings=[finding("rebalancing"), unset])

    assert advice.verdict is Verdict.STAY
    assert because(advice.facts) == (
        "the lag of 3 partitions is unknown, and nothing else is to gain; nothing is committed on 3 partitions, and"
        " where the group would begin is not known: set auto_offset_reset in a rule of evenkeel.toml"
    )


LESS_LAG = {"largest_member_lag": 3000, "lag_floor": 100}


def _diagnosed(diagnosis, *facts, live=None, other=None):
    """Advice on a group of a diagnosis, that a strategy would give half of its largest member lag."""
    return _decide(
        _live(**(live or {"largest_member_lag": 6000})),
        _candidate(**(other or LESS_LAG)),
        policy=Policy(confirmations=1),
        diagnosis=diagnosis,
        findings=facts,
    )


def _drains(seconds):
    return fact(FactKind.DIAGNOSIS, "catching_up", before=4000.0, after=seconds, partitions=3)


@pytest.mark.parametrize(
    ("diagnosis", "facts", "verdict"),
    [
        (Diagnosis.SKEWED_LOAD, (), Verdict.SWITCH),
        (Diagnosis.CATCHING_UP, (_drains(2 * 3600.0),), Verdict.SWITCH),
        (Diagnosis.CATCHING_UP, (_drains(600.0),), Verdict.STAY),
        (Diagnosis.CATCHING_UP, (_drains(None),), Verdict.STAY),
        (Diagnosis.KEEPS_UP, (), Verdict.STAY),
        (Diagnosis.SLOW_MEMBER, (), Verdict.STAY),
        (Diagnosis.UNKNOWN, (), Verdict.STAY),
        (None, (), Verdict.SWITCH),
    ],
)
def test_lag_speaks_for_a_switch_only_where_the_assignment_is_to_blame(diagnosis, facts, verdict):
    """What another assignment cannot mend, and what is over soon, restarts nobody."""
    assert _diagnosed(diagnosis, *facts).verdict is verdict


def test_what_no_assignment_mends_is_said_with_its_names():
    """Who reads it knows where to look."""
    slow = fact(FactKind.DIAGNOSIS, "slow_member", ["m-3"], before=2.0, after=0.6, bound=2.0)

    assert because(_diagnosed(Diagnosis.SLOW_MEMBER, slow).facts) == (
        "slow member: no other assignment mends that; m-3 does 0.6/s, its peers 2/s; 2/s arrives"
    )


def test_counts_that_could_be_more_even_are_a_remark():
    """Of a group that keeps up it is said, and restarts nobody."""
    told = _diagnosed(
        Diagnosis.KEEPS_UP, live={"partition_spread": 12}, other={"partition_spread": 1}
    )

    assert told.verdict is Verdict.STAY
    assert because(told.facts) == (
        "it keeps up; counts could be more even with roundrobin (partition spread 12 -> 1)"
    )


def test_racks_speak_for_a_switch_whatever_the_diagnosis():
    """What crosses racks costs, also while a group keeps up."""
    told = _diagnosed(
        Diagnosis.KEEPS_UP, live={"cross_rack_share": 0.8}, other={"cross_rack_share": 0.1}
    )

    assert told.verdict is Verdict.SWITCH
