"""What a group is told: who wins, what forbids a switch, what cannot be judged, and what is said where nothing pays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.config import Policy
from evenkeel.engine.messages.wording import because, possible
from evenkeel.engine.model.assignments import Deployment, Feasibility, Verdict
from evenkeel.engine.model.facts import FactKind, fact, finding, reason
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.weighed import (
    GB,
    SKEWED,
    candidate,
    decided,
    forecast,
    live,
    undeployable,
)

BEHIND, AHEAD = forecast(40_000), forecast(400)
SWITCH, STAY = Verdict.SWITCH, Verdict.STAY


def _carries(gb_a_day):
    return {"cross_rack_bytes_per_second": gb_a_day * GB}


@pytest.mark.parametrize(
    ("now", "then", "more", "verdict", "words"),
    [
        # each kind of gain is enough alone, and is told in numbers
        ({"ahead": BEHIND}, {"ahead": AHEAD}, SKEWED, SWITCH, "lag in an hour 40,000 -> 400"),
        (_carries(5.0), _carries(1.5), SKEWED, SWITCH, "3.5 GB a day less across racks"),
        ({"unowned": 2}, {}, SKEWED, SWITCH, "2 unowned partitions get an owner"),
        # what gets better may not be paid for by something else getting worse
        (
            _carries(5.0) | {"ahead": forecast(10)},
            _carries(0.0) | {"ahead": forecast(900)},
            {},
            STAY,
            "and losses (lag in an hour 10 -> 900",
        ),
        (
            _carries(5.0) | {"partition_spread": 1},
            _carries(0.0) | {"partition_spread": 4},
            {},
            STAY,
            "and losses (partition spread 1 -> 4",
        ),
        (_carries(5.0), _carries(0.0) | {"unowned": 1}, {}, STAY, "and losses ("),
        (
            _carries(5.0) | {"stores_in_one_rack": 3, "stores_judged": 6},
            _carries(0.0) | {"stores_in_one_rack": 4, "stores_judged": 6},
            {},
            STAY,
            "and losses (stores with all copies in one rack 3 -> 4",
        ),
        # fewer of them is told beside a gain, and is none by itself; of new copies none is lost
        (
            _carries(5.0) | {"stores_in_one_rack": 3, "stores_judged": 6},
            _carries(0.0) | {"stores_in_one_rack": 0, "stores_judged": 6},
            {},
            SWITCH,
            "stores with all copies in one rack 3 -> 0",
        ),
        (
            {"stores_in_one_rack": 3, "stores_judged": 6},
            {"stores_in_one_rack": 0, "stores_judged": 6},
            {},
            STAY,
            "",
        ),
        (
            _carries(5.0) | {"stores_in_one_rack": 1, "stores_judged": 2},
            _carries(0.0) | {"stores_in_one_rack": 2, "stores_judged": 6},
            {},
            SWITCH,
            "a day less across racks",
        ),
        # nor by moving more than the policy allows
        (
            {"unowned": 2},
            {"moves": 4},
            {"policy": Policy(moves_per_gain=0.3)},
            STAY,
            "4 partitions would move, the policy allows 3",
        ),
        # who takes a hot partition for itself has fewer than the others: forecasts tell what that does
        (
            {"ahead": BEHIND, "partition_spread": 1},
            {"ahead": AHEAD, "partition_spread": 4},
            SKEWED,
            SWITCH,
            "lag in an hour",
        ),
        # lag that nobody owns is not held against who takes it
        (
            {"unowned": 2, "largest_member_lag": 900, "lag_lower_bound": 1000},
            {"largest_member_lag": 3000, "lag_lower_bound": 1000},
            {},
            SWITCH,
            "2 unowned partitions get an owner",
        ),
        # what is unknown on either side is neither
        (
            {"cross_rack_bytes_per_second": None, "partition_spread": None},
            _carries(0.0) | {"partition_spread": 5},
            {},
            STAY,
            "",
        ),
    ],
)
def test_a_switch_takes_a_gain_and_no_loss(now, then, more, verdict, words):
    """What forbids it is told beside what would be gained."""
    advice = decided(live(**now), candidate(**then), **more)

    assert (advice.verdict, advice.strategy) == (
        verdict,
        "roundrobin" if verdict is SWITCH else None,
    )
    assert words in because(advice.facts)
    assert ("has gains" in because(advice.facts)) is (verdict is STAY and bool(words))


def test_lag_that_nobody_owns_is_no_floor_reached():
    """What members have is less while partitions lie unowned."""
    alone = decided(live(unowned=2, largest_member_lag=900, lag_lower_bound=1000))

    assert "floor" not in because(alone.facts)


def test_a_flawed_assignment_is_never_advised():
    """However much it gains: an answer that gives a partition to two members is shown, not recommended."""
    better = candidate(unowned=0)
    flawed = replace(better, findings=(finding("given_twice", ["t-0"], partitions=1),))

    advice = decided(live(unowned=2), flawed)

    assert advice.verdict is Verdict.STAY
    assert "flawed: 1 partition is assigned to more than one member, t-0" in because(advice.facts)
    assert decided(live(unowned=2), better).verdict is Verdict.SWITCH


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


@pytest.mark.parametrize(
    ("now", "ideal", "more", "named"),
    [
        # a random assignment can be lucky; nobody should aim for it
        (_carries(5.0), undeployable("random", **_carries(0.0)), {}, "random"),
        (
            _carries(5.0),
            replace(undeployable("random", **_carries(0.0)), deployment=Deployment.NEVER),
            {},
            None,
        ),
        # without diagnosis it gains no lag either, and a worse forecast is its loss, too
        ({"ahead": BEHIND}, undeployable("uniform", ahead=AHEAD), SKEWED, "uniform"),
        ({"ahead": BEHIND}, undeployable("uniform", ahead=AHEAD), {}, None),
        (
            {"ahead": BEHIND, **_carries(5.0)},
            undeployable("uniform", ahead=forecast(90_000), **_carries(0.0)),
            {},
            None,
        ),
    ],
)
def test_a_baseline_is_held_to_the_same_rule(now, ideal, more, named):
    """It is named where it would pay, and is none that nobody should run."""
    assert decided(live(**now), ideal, **more).best_undeployable == named


def test_what_cannot_be_deployed_is_a_baseline_beside_it():
    """The better one that this group cannot run is named, never advised."""
    ideal = undeployable("uniform", **_carries(0.0))
    advice = decided(live(**_carries(5.0)), candidate(**_carries(3.0)), ideal)

    assert ("roundrobin", "uniform") == (advice.strategy, advice.best_undeployable)
    assert because(advice.best_undeployable_facts) == "5.0 GB a day less across racks"
    assert possible(advice.best_undeployable_facts) == "possible, not deployable"
    no_better = undeployable("uniform", **_carries(3.0))
    assert (
        decided(live(**_carries(5.0)), candidate(**_carries(3.0)), no_better).best_undeployable
        is None
    )


@pytest.mark.parametrize(("integral", "named"), [(9e6, None), (1e6, None), (-5e6, "uniform")])
def test_a_baseline_does_not_win_by_a_price_that_nobody_knows(integral, named):
    """It has to mend more by what the policy calls a gain: 63 million lag-seconds fall, a fifth more are 75.6."""
    ideal = undeployable("uniform", ahead=forecast(400, integral=integral))
    advice = decided(live(ahead=BEHIND), _mended("range", 9e6, price=5e6), ideal, **SKEWED)

    assert (advice.strategy, advice.best_undeployable) == ("range", named)


def test_policy_says_which_kinds_of_strategy_may_be_advised():
    """A class to ship is advised only where the policy allows it."""
    own = replace(candidate("lag-aware", **_carries(0.0)), deployment=Deployment.CLASS)
    now = live(**_carries(5.0))

    told = decided(now, own)
    assert (told.verdict, told.best_undeployable) == (Verdict.STAY, "lag-aware")
    assert possible(told.best_undeployable_facts) == "possible, not allowed"
    assert because(told.best_undeployable_facts) == (
        "5.0 GB a day less across racks; policy.deployment doesn't allow class"
    )
    allowed = Policy(deployment=("setting", "class"))
    assert decided(now, own, policy=allowed).verdict is Verdict.SWITCH


@pytest.mark.parametrize(
    ("feasibility", "verdict"),
    [(Feasibility.AVAILABLE, Verdict.SWITCH), (Feasibility.NEEDS_RESTART, Verdict.STAY)],
)
def test_who_follows_plans_has_allowed_them(feasibility, verdict):
    """A plan needs no permission of its own in a group that follows one; to get there does."""
    planned = replace(
        candidate("lag-aware", **_carries(0.0)),
        deployment=Deployment.PLAN,
        feasibility=feasibility,
    )
    told = decided(live(**_carries(5.0)), planned, policy=Policy(deployment=("setting",)))

    assert told.verdict is verdict


@pytest.mark.parametrize(
    ("candidates", "withheld", "why"),
    [
        ([live()], "offsets are missing", "offsets are missing"),
        (
            [replace(live(), score=None, reason=(reason("in_rebalance", ["Reconciling"]),))],
            None,
            "rebalancing (Reconciling)",
        ),
        ([], None, "no current assignment to compare with"),
    ],
)
def test_what_cannot_be_judged_says_why(candidates, withheld, why):
    """Withheld data and infeasible groups are not advised to stay."""
    advice = decided(*candidates, withheld=withheld)

    assert (Verdict.NOT_EVALUATED, why) == (advice.verdict, because(advice.facts))


LOPSIDED = {"balanced": False, "most_partitions": 14, "fewest_partitions": 2}
KEEPS_UP = {"diagnosis": Diagnosis.HEALTHY}


def test_counts_that_could_be_more_even_are_a_remark():
    """Of a group that keeps up it is said, and restarts nobody."""
    even = {"most_partitions": 6, "fewest_partitions": 6}
    told = decided(live(partition_spread=12, **LOPSIDED), candidate(**even), **KEEPS_UP)

    assert told.verdict is Verdict.STAY
    assert because(told.facts) == (
        "roundrobin would be more even (most 14 -> 6, fewest 2 -> 6), which alone doesn't justify a switch"
    )


def test_so_are_counts_of_members_that_subscribe_differently():
    """Their spread says nothing, each being alone in its class; KIP-54's predicate does."""
    worse = candidate("range", balanced=False, most_partitions=13, fewest_partitions=2)
    best = candidate("sticky", most_partitions=12, fewest_partitions=3)

    told = decided(live(**LOPSIDED), candidate(**LOPSIDED), worse, best, **KEEPS_UP)

    assert because(told.facts).startswith("sticky would be more even (most 14 -> 12")


def test_the_counts_themselves_are_said_where_they_are_kept():
    """Most first; where they are not, as in older rows, the ends are."""

    def with_counts(one, counts):
        return replace(one, counts=(fact(FactKind.COUNTS, "member_counts", [counts]),))

    better = candidate("sticky", most_partitions=12, fewest_partitions=3)
    told = decided(
        with_counts(live(**LOPSIDED), "14/2/2"), with_counts(better, "12/3/3"), **KEEPS_UP
    )

    assert because(told.facts) == (
        "sticky would be more even (14/2/2 -> 12/3/3), which alone doesn't justify a switch"
    )


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ({}, {"most_partitions": 1}),
        ({"balanced": None}, {}),
        (LOPSIDED, LOPSIDED),
        (LOPSIDED, {**LOPSIDED, "most_partitions": 15}),
        (LOPSIDED, {"balanced": None, "most_partitions": 3}),
    ],
)
def test_counts_that_are_as_even_as_can_be_are_not_spoken_of(now, then):
    """Nor those of which that is unknown, nor by a strategy that does not mend them."""
    told = decided(live(**now), candidate(**then), **KEEPS_UP)

    assert because(told.facts).startswith("no better strategy: roundrobin")


@pytest.mark.parametrize(
    ("now", "then", "said"), [(0.9, 0.6, True), (0.9, 0.8, False), (0.3, 0.1, False)]
)
def test_load_that_could_be_more_even_is_a_remark(now, then, said):
    """Where a member is busy, and would be less so by what counts as a gain."""
    told = decided(
        live(ahead=forecast(9, used=now)), candidate(ahead=forecast(9, used=then)), **KEEPS_UP
    )

    assert told.verdict is Verdict.STAY
    words = f"(load of the busiest member {now:.0%} -> {then:.0%} of its capacity)"
    assert (words in because(told.facts)) is said


def test_beside_trouble_nobody_hears_of_evenness():
    """Who has a slow member has something else to do."""
    slow = fact(FactKind.DIAGNOSIS, "slow_member", ["m-3"], before=2.0, after=0.6, bound=2.0)
    told = decided(live(**LOPSIDED), candidate(), diagnosis=Diagnosis.SLOW_MEMBER, findings=[slow])

    assert "even" not in because(told.facts)


def test_beside_a_backlog_that_is_soon_gone_it_is_said():
    """Why it is no reason to restart anybody comes first."""
    soon = fact(FactKind.DIAGNOSIS, "catching_up", before=400.0, after=600.0, partitions=3)
    told = decided(live(**LOPSIDED), candidate(), diagnosis=Diagnosis.CATCHING_UP, findings=[soon])

    first, second = because(told.facts).split("; ")[:2]
    assert first.startswith("catching up: a restart wouldn't help in time")
    assert second.startswith("roundrobin would be more even")


def test_unknown_lag_is_not_called_nothing_to_gain():
    """A group that never committed learns that its lag is unknown, of how much, and what to configure."""
    unset = finding("no_offset_reset", partitions=3)
    advice = decided(
        live(largest_member_lag=None),
        candidate(largest_member_lag=None),
        unknown_lag=3,
        findings=[finding("rebalancing"), unset],
    )

    assert advice.verdict is Verdict.STAY
    assert because(advice.facts) == (
        "the lag of 3 partitions is unknown, and no other gain is known; no commits on 3 partitions, and the start"
        " offset is unknown: set auto_offset_reset in a rule of evenkeel.toml"
    )


def test_a_skewed_load_that_no_strategy_mends_is_nothing_to_gain():
    """Those that were tried are named."""
    told = decided(
        live(ahead=forecast(4000)), candidate(ahead=forecast(4000)), candidate("range"), **SKEWED
    )

    assert because(told.facts) == (
        "no better strategy: roundrobin, range are within the minimum gain of the policy"
    )
