"""When lag speaks for a switch: by forecasts, against the price, and only where the assignment is to blame."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.config import Policy
from evenkeel.engine.messages.wording import because
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.facts import FactKind, fact, note
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.weighed import (
    GB,
    SKEWED,
    candidate,
    decided,
    drains,
    forecast,
    live,
    undeployable,
)

STAYS = forecast(40_000, 45_000, 52_000)
SWITCHES = forecast(
    9_000,
    12_000,
    15_000,
    integral=30_000_000,
    drained=2400.0,
    restarts=6,
    held_up_offsets=3600.4,
    offset_seconds=123_000.0,
)


def _told(stays=STAYS, switches=SWITCHES, **more):
    return decided(live(ahead=stays), candidate(ahead=switches), **(SKEWED | more))


def test_a_gain_tells_both_forecasts_and_the_price():
    """Lag in an hour, both ends, when it is drained, what is gained over the hour, and what the restarts cost."""
    told = _told()

    assert (told.verdict, told.strategy) == (Verdict.SWITCH, "roundrobin")
    assert because(told.facts) == (
        "lag in an hour 45,000 -> 12,000 offsets (-73%), p10 40,000 -> 9,000, p90 52,000 -> 15,000, caught up in"
        " 40 min, with the current assignment not caught up within the hour, over the hour 14,167 offsets less"
        " behind on average (51,000,000 lag-seconds), 6 restarts delay about 3,600 records, a cost of 123,000"
        " lag-seconds"
    )


@pytest.mark.parametrize(
    ("diagnosis", "facts", "verdict"),
    [
        (Diagnosis.SKEWED_LOAD, (), Verdict.SWITCH),
        (Diagnosis.CATCHING_UP, (drains(2 * 3600.0),), Verdict.SWITCH),
        (Diagnosis.CATCHING_UP, (drains(3600.0),), Verdict.STAY),
        (Diagnosis.CATCHING_UP, (drains(None),), Verdict.STAY),
        (Diagnosis.HEALTHY, (), Verdict.STAY),
        (Diagnosis.SLOW_MEMBER, (), Verdict.SWITCH),
        (Diagnosis.HOT_PARTITION, (), Verdict.SWITCH),
        (Diagnosis.UNDER_PROVISIONED, (), Verdict.SWITCH),
        (Diagnosis.STUCK_PARTITION, (), Verdict.STAY),
        (Diagnosis.UNKNOWN, (), Verdict.STAY),
        (None, (), Verdict.STAY),
    ],
)
def test_lag_speaks_for_a_switch_only_where_the_assignment_is_to_blame(diagnosis, facts, verdict):
    """What another assignment cannot mend, what is over soon, and what nobody knows restarts nobody."""
    told = decided(
        live(ahead=STAYS, drain_seconds=9 * 3600.0),
        candidate(ahead=SWITCHES, drain_seconds=8 * 3600.0),
        diagnosis=diagnosis,
        findings=facts,
    )

    assert told.verdict is verdict


@pytest.mark.parametrize(
    "diagnosis",
    [
        Diagnosis.SKEWED_LOAD,
        Diagnosis.HOT_PARTITION,
        Diagnosis.UNDER_PROVISIONED,
        Diagnosis.SLOW_MEMBER,
    ],
)
def test_what_arrived_last_must_overload_members_by_less(diagnosis):
    """What arrived before does not come again: to hand it on is no reason for a switch."""
    fast = replace(SWITCHES, overload_per_second=STAYS.overload_per_second * 0.98)

    told = _told(switches=fast, diagnosis=diagnosis)
    assert told.verdict is Verdict.STAY
    assert "would" not in because(told.facts).replace("would help enough", "")


@pytest.mark.parametrize(
    ("overloads", "gain_low", "more", "verdict", "says"),
    [
        (0.0, 1.0, {}, Verdict.SWITCH, 1.0),
        (0.75, 1.0, {}, Verdict.SWITCH, 0.25),
        (0.75, -1.0, {}, Verdict.STAY, 0.0),
        (1.0, 1.0, {}, Verdict.STAY, -1.0),
        (0.0, 1.0, {"diagnosis": Diagnosis.HEALTHY}, Verdict.STAY, -1.0),
    ],
)
def test_how_much_speaks_for_a_switch_is_what_would_overload_no_more(
    overloads, gain_low, more, verdict, says
):
    """Of what arrived last, as a share; a forecast that is not sure says nothing, what mends nothing speaks against."""
    rate = STAYS.overload_per_second * overloads
    told = _told(
        switches=replace(SWITCHES, overload_per_second=rate, forecast_gain_low=gain_low), **more
    )

    assert (told.verdict, told.says) == (verdict, {"roundrobin": says})


def test_a_backlog_that_is_worked_off_says_nothing_of_a_switch():
    """Neither for nor against: what arrives overloads nobody for now. Nor does a forecast that nobody knows."""
    over = _told(diagnosis=Diagnosis.CATCHING_UP, findings=(drains(60.0),))
    unknown = decided(live(ahead=STAYS), candidate(ahead=None), diagnosis=Diagnosis.SKEWED_LOAD)

    assert over.says == unknown.says == {"roundrobin": None}


def test_how_many_partitions_of_the_slow_member_would_do_elsewhere_is_told():
    """Of the member that the diagnosis names, and of no other."""
    other = replace(
        undeployable("balanced", ahead=SWITCHES),
        notes=(note("relieved_member", ["c-1"], after=2, partitions=4),),
    )
    names = {name: [fact(FactKind.DIAGNOSIS, "slow_member", [name])] for name in ("c-1", "c-2")}
    named, unnamed = (
        decided(live(ahead=STAYS), other, diagnosis=Diagnosis.SLOW_MEMBER, findings=names[name])
        for name in names
    )

    told = because(named.best_undeployable_facts)
    assert "2 of the 4 partitions of c-1 on other members would do" in told
    assert "would do" not in because(unnamed.best_undeployable_facts)


@pytest.mark.parametrize(("then", "verdict"), [(8.0, Verdict.SWITCH), (8.1, Verdict.STAY)])
def test_a_backlog_that_drains_anyway_is_worth_a_switch_that_saves_an_hour(then, verdict):
    """Nine hours until it is drained become eight."""
    told = decided(
        live(ahead=STAYS, drain_seconds=9 * 3600.0),
        candidate(ahead=SWITCHES, drain_seconds=then * 3600.0),
        diagnosis=Diagnosis.CATCHING_UP,
        findings=(drains(9 * 3600.0),),
    )

    assert told.verdict is verdict
    only = "for this backlog only: drained in 9 h -> 8 h"
    assert (only in because(told.facts)) is (verdict is Verdict.SWITCH)


@pytest.mark.parametrize(
    ("low", "gain", "verdict"),
    [
        (1.0, 0.6, Verdict.SWITCH),
        (1.0, 0.63, Verdict.STAY),
        (0.0, 0.2, Verdict.STAY),
        (0.0, 0.0, Verdict.STAY),
    ],
)
def test_a_switch_gains_in_nine_of_ten_futures_and_enough_in_half_of_them(low, gain, verdict):
    """51 of 81 million lag-seconds are 0.63 of them; a threshold of zero still asks for less."""
    switches = replace(SWITCHES, forecast_gain_low=low)

    policy = Policy(lag_gain=gain)
    assert _told(switches=switches, policy=policy).verdict is verdict


def test_bands_that_overlap_do_not_hide_what_all_futures_agree_on():
    """Traffic may double under both assignments; in each future the switch is better."""
    switches = replace(SWITCHES, forecast_lag_high=60_000, forecast_gain_low=4e6)

    assert _told(switches=switches).verdict is Verdict.SWITCH


@pytest.mark.parametrize(
    ("lag", "then", "verdict"),
    [
        (None, 2_120_000, Verdict.STAY),
        (2_000_000, 2_120_000, Verdict.SWITCH),
        (2_000_000, 2_120_001, Verdict.STAY),
        (2_300_000, 2_120_000, Verdict.SWITCH),
        (100, 2_120_000, Verdict.STAY),
    ],
)
def test_of_a_large_backlog_only_what_the_hour_changes_counts(lag, then, verdict):
    """Two million behind are not gone in an hour: who stops their growth by a fifth, or drains them faster, gains."""
    of_the_hour = 3600.0
    stays = forecast(2_200_000, integral=2_150_000 * of_the_hour)
    switches = forecast(2_000_000, integral=then * of_the_hour)

    assert _told(stays, switches, lag=lag).verdict is verdict


def test_what_is_probably_better_and_not_surely_is_told_so():
    """With the strategy that is expected to mend most, and no word of counts beside it."""
    unsure = [
        candidate(name, ahead=forecast(900, expected, 41_000, drained=60.0, gain_low=-1.0))
        for name, expected in (("range", 12_000), ("sticky", 9_000))
    ]
    lopsided = {"balanced": False, "most_partitions": 9}
    told = decided(live(ahead=STAYS, **lopsided), *unsure, **SKEWED)

    assert told.verdict is Verdict.STAY
    assert because(told.facts) == (
        "sticky would be better, but not reliably by the minimum gain of the policy (lag in an hour 45,000 -> 9,000"
        " offsets, p10 40,000 -> 900, p90 52,000 -> 41,000)"
    )


@pytest.mark.parametrize(("price", "verdict"), [(34e6, Verdict.SWITCH), (51e6, Verdict.STAY)])
def test_the_gain_over_the_hour_must_exceed_the_price(price, verdict):
    """Of 51 million lag-seconds a fifth of 81 million must be left; as many are not paid for with them."""
    told = _told(switches=replace(SWITCHES, price_offset_seconds=price))

    assert told.verdict is verdict
    if verdict is Verdict.STAY:
        why = "and losses (a cost of 51,000,000 lag-seconds, more than the gain of 51,000,000 lag-seconds)"
        assert why in because(told.facts)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"cross_rack_bytes_per_second": 3 * GB}, "3.0 GB a day less across racks"),
        ({"unowned": 1}, "1 unowned partition gets an owner"),
    ],
)
def test_what_is_too_dear_for_the_lag_may_pay_for_something_else(now, words):
    """Then nothing is said of the lag."""
    dear = replace(SWITCHES, price_offset_seconds=60e6)
    then = {name: 0 for name in now}
    told = decided(live(ahead=STAYS, **now), candidate(ahead=dear, **then), **SKEWED)

    assert told.verdict is Verdict.SWITCH
    assert because(told.facts).startswith(words)


def test_a_strategy_for_which_nothing_has_to_be_done_has_no_price():
    """What comes with the next rebalance costs nothing, and nothing is said of it."""
    free = replace(
        SWITCHES, price_restarts=None, price_held_up_offsets=None, price_offset_seconds=None
    )
    told = _told(switches=free)

    assert told.verdict is Verdict.SWITCH
    assert "price" not in because(told.facts)


@pytest.mark.parametrize(
    ("stays", "switches", "words"),
    [
        (forecast(100, 110, 120), forecast(121, 200, 300), "lag in an hour 110 -> 200 offsets"),
        (
            forecast(100, used=0.9),
            forecast(100, used=1.04),
            "load of the busiest member 90% -> 104% of its capacity",
        ),
        (
            forecast(100),
            forecast(100, used=1.04),
            "load of the busiest member 104% of its capacity",
        ),
    ],
)
def test_a_worse_forecast_is_a_loss_whatever_else_is_gained(stays, switches, words):
    """Partitions that get an owner do not pay for a group that falls behind."""
    told = decided(live(ahead=stays, unowned=2), candidate(ahead=switches))

    assert told.verdict is Verdict.STAY
    assert f"has gains (2 unowned partitions get an owner) and losses ({words})" in because(
        told.facts
    )


@pytest.mark.parametrize(
    ("stays", "switches"),
    [
        (forecast(100, 110, 120), forecast(120, 200, 300)),
        (forecast(100, used=1.2), forecast(100, used=1.1)),
        (None, forecast(100, used=1.1)),
        (forecast(100), None),
    ],
)
def test_what_may_be_as_good_is_no_loss(stays, switches):
    """Bands that meet, a member that is beyond its capacity either way, and what is not known hold nobody back."""
    told = decided(live(ahead=stays, unowned=2), candidate(ahead=switches))

    assert told.verdict is Verdict.SWITCH


@pytest.mark.parametrize(("expected", "verdict"), [(120, Verdict.SWITCH), (121, Verdict.STAY)])
def test_who_saves_across_racks_only_must_not_expect_more_lag(expected, verdict):
    """A switch for the money is held to more: what is expected of it lies within what is possible now."""
    told = decided(
        live(ahead=forecast(100, 110, 120), cross_rack_bytes_per_second=3 * GB),
        candidate(ahead=forecast(90, expected, 130), cross_rack_bytes_per_second=0.0),
        diagnosis=Diagnosis.HEALTHY,
    )

    assert told.verdict is verdict


@pytest.mark.parametrize(
    ("diagnosis", "stays", "switches"),
    [(None, STAYS, SWITCHES), (Diagnosis.SKEWED_LOAD, None, SWITCHES)],
)
def test_without_a_past_it_is_said_that_a_forecast_needs_one(diagnosis, stays, switches):
    """After one snapshot nobody knows what a switch would bring."""
    told = _told(stays, switches, diagnosis=diagnosis)

    assert told.verdict is Verdict.STAY
    assert because(told.facts) == ("no forecast yet: it needs two snapshots")


def test_a_confirmed_strategy_needs_half_of_the_gain_to_stay_so():
    """Whoever was advised to switch is not told otherwise because a number went up and down."""
    switches = replace(SWITCHES, forecast_lag_integral_expected=70e6)

    assert _told(switches=switches).verdict is Verdict.STAY
    assert _told(switches=switches, kept="range").verdict is Verdict.STAY
    assert _told(switches=switches, kept="roundrobin").verdict is Verdict.SWITCH
    tight = Policy(hysteresis=1)
    assert _told(switches=switches, kept="roundrobin", policy=tight).verdict is Verdict.STAY


def test_what_no_assignment_mends_is_said_with_its_names():
    """Who reads it knows where to look."""
    slow = fact(FactKind.DIAGNOSIS, "slow_member", ["m-3"], before=2.0, after=0.6, bound=2.0)

    told = _told(switches=STAYS, diagnosis=Diagnosis.SLOW_MEMBER, findings=[slow])

    assert because(told.facts) == (
        "slow member: no strategy that this group can deploy would help enough; m-3 processes 0.6 records/s,"
        " its peers 2 records/s; 2 records/s incoming"
    )


@pytest.mark.parametrize(
    ("diagnosis", "words"),
    [
        (Diagnosis.CATCHING_UP, "at its lower bound (990)"),
        (Diagnosis.SKEWED_LOAD, "no better strategy"),
    ],
)
def test_lag_that_no_assignment_lowers_is_told_so(diagnosis, words):
    """A backlog on one partition drains as fast as its member reads; of a load that is skewed that is no excuse."""
    at_floor = {"largest_member_lag": 1000, "lag_lower_bound": 990}
    told = decided(
        live(ahead=STAYS, **at_floor),
        candidate(ahead=STAYS, **at_floor),
        diagnosis=diagnosis,
        findings=[drains(7200.0)],
    )

    assert told.verdict is Verdict.STAY
    assert words in because(told.facts)
