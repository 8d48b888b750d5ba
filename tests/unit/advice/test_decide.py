"""What a group is told: who wins, what forbids a switch, what cannot be judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.config import Policy
from evenkeel.engine.messages.wording import because
from evenkeel.engine.model.assignments import Deployment, Verdict
from evenkeel.engine.model.facts import finding, reason
from tests.helpers.weighed import (
    GB,
    SKEWED,
    candidate,
    decided,
    forecast,
    live,
    yardstick,
)

BEHIND = forecast(40_000)


def _carries(gb_a_day):
    return {"cross_rack_bytes_per_second": gb_a_day * GB}


@pytest.mark.parametrize(
    ("gain", "now", "then", "words"),
    [
        ("lag", {"ahead": BEHIND}, {"ahead": forecast(400)}, "lag in an hour 40,000 -> 400"),
        ("racks", _carries(5.0), _carries(1.5), "3.5 GB a day less across racks"),
        ("unowned", {"unowned": 2}, {"unowned": 0}, "2 unowned partitions get an owner"),
    ],
)
def test_one_gain_without_loss_is_a_switch(gain, now, then, words):
    """Each kind of gain is enough alone, and is told in numbers."""
    advice = decided(live(**now), candidate(**then), **SKEWED)

    assert (Verdict.SWITCH, "roundrobin") == (advice.verdict, advice.strategy), gain
    assert words in because(advice.facts)


@pytest.mark.parametrize(
    ("loss", "now", "then"),
    [
        ("forecast", {"ahead": forecast(10)}, {"ahead": forecast(900)}),
        ("spread", {"partition_spread": 1}, {"partition_spread": 4}),
        ("unowned", {}, {"unowned": 1}),
    ],
)
def test_a_gain_with_a_loss_is_no_switch(loss, now, then):
    """What gets better may not be paid for by something else getting worse."""
    advice = decided(live(**_carries(5.0), **now), candidate(**_carries(0.0), **then))

    assert advice.verdict is Verdict.STAY, loss
    assert "would gain" in because(advice.facts)
    assert "but lose" in because(advice.facts)


def test_counts_that_get_less_even_are_no_loss_where_forecasts_tell_what_they_do():
    """Who takes a hot partition for itself has fewer than the others, and that is the point."""
    advice = decided(
        live(ahead=BEHIND, partition_spread=1),
        candidate(ahead=forecast(400), partition_spread=4),
        **SKEWED,
    )

    assert advice.verdict is Verdict.SWITCH


def test_a_flawed_assignment_is_never_advised():
    """However much it gains: an answer that gives a partition to two members is shown, not recommended."""
    better = candidate(unowned=0)
    flawed = replace(better, findings=(finding("given_twice", ["t-0"], partitions=1),))

    advice = decided(live(unowned=2), flawed)

    assert advice.verdict is Verdict.STAY
    assert "flawed: 1 partition is given to more than one member, t-0" in because(advice.facts)
    assert decided(live(unowned=2), better).verdict is Verdict.SWITCH


def test_what_is_never_advised_is_no_yardstick_either():
    """A random assignment can be lucky; nobody should aim for it."""
    lucky = yardstick("random", **_carries(0.0))

    advice = decided(live(**_carries(5.0)), replace(lucky, deployment=Deployment.NEVER))

    assert advice.yardstick is None
    assert decided(live(**_carries(5.0)), lucky).yardstick == "random"


def test_too_many_moves_are_a_loss():
    """The policy bounds the share of partitions that may change hands."""
    policy = Policy(moves_per_gain=0.3)
    advice = decided(live(unowned=2), candidate(unowned=0, moves=4), policy=policy)

    assert advice.verdict is Verdict.STAY
    assert "4 partitions would move, the policy allows 3" in because(advice.facts)


def test_lag_that_nobody_owns_is_not_held_against_who_takes_it():
    """What members have is less while partitions lie unowned: that is neither a loss nor a floor reached."""
    now = live(unowned=2, largest_member_lag=900, lag_floor=1000)
    taken = decided(now, candidate(unowned=0, largest_member_lag=3000, lag_floor=1000))
    alone = decided(now)

    assert (taken.verdict, taken.strategy) == (Verdict.SWITCH, "roundrobin")
    assert "floor" not in because(alone.facts)


def _mended(strategy, integral, price=0.0, moves=0, **more):
    ahead = forecast(400, integral=integral, restarts=3, offset_seconds=price)
    return candidate(strategy, ahead=ahead, moves=moves, **more)


@pytest.mark.parametrize(
    ("candidates", "best"),
    [
        ([_mended("range", 9e6), _mended("sticky", 8e6)], "sticky"),
        ([_mended("range", 9e6), _mended("sticky", 8e6, price=2e6)], "range"),
        (
            [_mended("range", 9e6, **_carries(3.0)), _mended("sticky", 9e6, **_carries(1.0))],
            "sticky",
        ),
        ([_mended("range", 9e6, moves=5), _mended("sticky", 9e6, moves=3)], "sticky"),
        ([_mended("range", 9e6, moves=3), _mended("sticky", 9e6, moves=3)], "range"),
        ([_mended("range", 9e6), candidate("sticky", ahead=BEHIND, **_carries(0.0))], "range"),
    ],
)
def test_the_most_valuable_is_chosen(candidates, best):
    """Least lag after its price, then most saved across racks, then fewest moves, then the order of the table."""
    told = decided(live(ahead=BEHIND, **_carries(9.0)), *candidates, **SKEWED)

    assert (told.verdict, told.strategy) == (Verdict.SWITCH, best)


def test_among_those_that_save_across_racks_the_bytes_decide_before_the_price():
    """One restart less is not worth a GB a day."""
    dear = forecast(100, restarts=6, offset_seconds=9000.0)
    cheap = forecast(100, restarts=3, offset_seconds=4000.0)

    told = decided(
        live(ahead=forecast(100), **_carries(9.0)),
        candidate("range", ahead=cheap, **_carries(5.0)),
        candidate("sticky", ahead=dear, **_carries(1.0)),
    )

    assert told.strategy == "sticky"


def test_what_cannot_be_deployed_is_a_yardstick_beside_it():
    """The better one that this group cannot run is named, never advised."""
    ideal = yardstick("uniform", **_carries(0.0))
    advice = decided(live(**_carries(5.0)), candidate(**_carries(3.0)), ideal)

    assert ("roundrobin", "uniform") == (advice.strategy, advice.yardstick)
    assert because(advice.yardstick_facts) == "5.0 GB a day less across racks"


def test_a_yardstick_is_held_to_the_same_rule():
    """Without diagnosis or forecast it gains no lag either, and a worse forecast is its loss, too."""
    ideal = yardstick("uniform", ahead=forecast(400))

    assert decided(live(ahead=BEHIND), ideal, **SKEWED).yardstick == "uniform"
    assert decided(live(ahead=BEHIND), ideal).yardstick is None
    worse = yardstick("uniform", ahead=forecast(90_000), **_carries(0.0))
    assert decided(live(ahead=BEHIND, **_carries(5.0)), worse).yardstick is None


def test_a_yardstick_that_is_no_better_is_not_mentioned():
    """Only what beats the deployable best is worth a word."""
    ideal = yardstick("uniform", **_carries(3.0))
    advice = decided(live(**_carries(5.0)), candidate(**_carries(3.0)), ideal)

    assert advice.yardstick is None


@pytest.mark.parametrize(("integral", "named"), [(9e6, None), (1e6, None), (-5e6, "uniform")])
def test_a_yardstick_does_not_win_by_a_price_that_nobody_knows(integral, named):
    """It has to mend more by what the policy calls a gain: 63 million offset-seconds fall, a fifth more are 75.6."""
    ideal = yardstick("uniform", ahead=forecast(400, integral=integral))
    advice = decided(live(ahead=BEHIND), _mended("range", 9e6, price=5e6), ideal, **SKEWED)

    assert (advice.strategy, advice.yardstick) == ("range", named)


def test_policy_says_which_kinds_of_strategy_may_be_advised():
    """A class to ship is advised only where the policy allows it."""
    own = replace(candidate("lag-aware", **_carries(0.0)), deployment=Deployment.CLASS)
    now = live(**_carries(5.0))

    assert decided(now, own).verdict is Verdict.STAY
    allowed = Policy(deployment=("setting", "class"))
    assert decided(now, own, policy=allowed).verdict is Verdict.SWITCH


@pytest.mark.parametrize(
    ("candidates", "withheld", "why"),
    [
        ([live()], "offsets are missing", "offsets are missing"),
        (
            [replace(live(), score=None, reason=(reason("in_rebalance", ["Reconciling"]),))],
            None,
            "rebalancing (Reconciling)",
        ),
        ([], None, "there is no live assignment to compare with"),
    ],
)
def test_what_cannot_be_judged_says_why(candidates, withheld, why):
    """Withheld data and infeasible groups are not told to stay."""
    advice = decided(*candidates, withheld=withheld)

    assert (Verdict.NOT_JUDGED, why) == (advice.verdict, because(advice.facts))


def test_unknown_scores_are_neither_gain_nor_loss():
    """What is unknown on either side says nothing."""
    advice = decided(
        live(cross_rack_bytes_per_second=None, partition_spread=None),
        candidate(partition_spread=5, **_carries(0.0)),
    )

    assert advice.verdict is Verdict.STAY
