"""When less across racks pays for a switch: by bytes, else by records, or by money where the policy asks."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import Policy
from evenkeel.engine.messages.wording import because
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.weighed import GB, SKEWED, candidate, decided, forecast, live

KEEPS_UP = {"diagnosis": Diagnosis.HEALTHY}
PRICE = {"restarts": 6, "held_up_offsets": 3600.0, "offset_seconds": 54_000.0}
AS_NOW = forecast(100, **PRICE)


def _bytes(share, gb_a_day, cost=None):
    """What crosses racks, as a score has it."""
    known = {"cross_rack_share": share, "cross_rack_bytes_per_second": gb_a_day * GB}
    return known | {"cross_rack_cost_per_month": cost, "currency": "EUR"}


def _records(share):
    return {"cross_rack_share": share, "cross_rack_rate_share": share}


def _told(now, then, *, policy=None, **more):
    """What a group that keeps up is told."""
    return decided(
        live(ahead=forecast(100), **now),
        candidate(ahead=AS_NOW, **then),
        policy=policy or Policy(),
        **(KEEPS_UP | more),
    )


def test_bytes_saved_are_told_with_the_price():
    """By day, with the share of partitions and what the restarts cost."""
    told = _told(_bytes(0.8, 4.2), _bytes(0.1, 1.0))

    assert told.says == {"roundrobin": 1.0}
    assert (told.verdict, because(told.facts)) == (
        Verdict.SWITCH,
        "3.2 GB a day less across racks, cross-rack share 80% -> 10%, 6 restarts delay about 3,600 records, a cost"
        " of 54,000 lag-seconds",
    )


@pytest.mark.parametrize(("before", "verdict"), [(2.0, Verdict.SWITCH), (1.99, Verdict.STAY)])
def test_less_than_a_gb_a_day_restarts_nobody(before, verdict):
    """Whatever its share of the partitions."""
    assert _told(_bytes(1.0, before), _bytes(0.0, 1.0)).verdict is verdict


def test_the_least_saving_is_a_matter_of_policy():
    """In bytes where these are known, in records elsewhere; 0 still asks for a saving."""
    modest = Policy(least_saving_bytes_per_day=1e6)
    eager = Policy(least_saving_bytes_per_day=0)

    assert _told(_bytes(1.0, 0.002), _bytes(0.0, 0.0), policy=modest).verdict is Verdict.SWITCH
    assert _told(_bytes(1.0, 0.002), _bytes(1.0, 0.002), policy=eager).verdict is Verdict.STAY


@pytest.mark.parametrize(
    ("arrives", "verdict"),
    [(1e6 / 86_400 / 0.7, Verdict.SWITCH), (0.9e6 / 86_400 / 0.7, Verdict.STAY)],
)
def test_without_sizes_records_decide(arrives, verdict):
    """A million a day by default."""
    told = _told(_records(0.8), _records(0.1), arrives_per_second=arrives * 1.000001)

    assert told.verdict is verdict
    if verdict is Verdict.SWITCH:
        assert because(told.facts).startswith(
            "1,000,001 records a day less across racks (their size is unknown: configure bytes_per_record),"
            " cross-rack share 80% -> 10%"
        )


@pytest.mark.parametrize(
    ("now", "then", "arrives"),
    [
        ({"cross_rack_share": 0.8}, {"cross_rack_share": 0.1}, 1e6),
        (_records(0.8), _records(0.1), None),
        ({**_records(0.8), "racks_left_out": 1}, {**_records(0.1), "racks_left_out": 1}, 1e6),
    ],
)
def test_partitions_alone_are_a_remark(now, then, arrives):
    """While it is not known what they carry, or whose racks they are, nobody is restarted for them."""
    told = _told(now, then, arrives_per_second=arrives)

    assert told.verdict is Verdict.STAY
    assert because(told.facts) == (
        "roundrobin would read fewer partitions across racks (cross-rack share 80% -> 10%), but their traffic is not"
        " known yet"
    )


def test_what_saves_too_little_is_told_with_what_it_would_save():
    """Who reads of 80 % across racks learns why that is no reason to restart anybody."""
    less, least = _bytes(0.3, 0.01), candidate("sticky", ahead=AS_NOW, **_bytes(0.1, 0.002))
    told = decided(live(ahead=forecast(100), **_bytes(0.8, 0.014)), candidate(**less), least)

    assert told.verdict is Verdict.STAY
    assert because(told.facts).endswith(
        "sticky would save too little to justify a switch: 12.0 MB a day less across racks, cross-rack share"
        " 80% -> 10%"
    )


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (20.0, "3.0 GB a day less across racks, 100.50 EUR a month saved, cross-rack share"),
        (120.495, "3.0 GB a day less across racks, cross-rack share"),
    ],
)
def test_what_saves_too_little_money_is_told_in_money(cost, words):
    """Where that is what is asked for; below a cent nothing is said of it."""
    told = _told(_bytes(0.8, 4.0, 120.5), _bytes(0.1, 1.0, cost), policy=Policy(cost_gain=500))

    assert told.verdict is Verdict.STAY
    assert f"too little to justify a switch: {words}" in because(told.facts)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (
            20.0,
            "3.0 GB a day less across racks, 100.50 EUR a month saved, cross-rack share 80% -> 10%",
        ),
        (120.495, "3.0 GB a day less across racks, cross-rack share 80% -> 10%"),  # half a cent
        (None, "3.0 GB a day less across racks, cross-rack share 80% -> 10%"),
    ],
)
def test_what_a_switch_saves_is_said_where_it_is_known(cost, words):
    """Money stands beside the bytes; below a cent nothing is said of it."""
    told = _told(_bytes(0.8, 4.0, 120.5), _bytes(0.1, 1.0, cost))

    assert told.verdict is Verdict.SWITCH
    assert because(told.facts).startswith(f"{words}, 6 restarts")


@pytest.mark.parametrize(
    ("now", "then", "verdict"),
    [
        ((0.8, 4.0, 120.0), (0.1, 1.0, 60.0), Verdict.SWITCH),
        ((0.8, 4.0, 120.0), (0.1, 1.0, 100.0), Verdict.STAY),
        ((0.8, 0.5, 120.0), (0.8, 0.2, 60.0), Verdict.SWITCH),
        ((0.8, 4.0, None), (0.1, 1.0, None), Verdict.SWITCH),
    ],
)
def test_with_cost_gain_money_decides_where_it_is_known(now, then, verdict):
    """50 a month must be saved, whatever the bytes; unknown costs leave it to these."""
    told = _told(_bytes(*now), _bytes(*then), policy=Policy(cost_gain=50))

    assert told.verdict is verdict


def test_what_costs_more_by_half_of_cost_gain_forbids_a_switch():
    """Partitions that get an owner do not pay for it."""
    told = _told(
        {"unowned": 1, **_bytes(0.1, 1.0, 20.0)},
        _bytes(0.12, 2.0, 50.0),
        policy=Policy(cost_gain=50),
    )

    assert told.verdict is Verdict.STAY
    assert "and losses (30.00 EUR a month more, 1.0 GB a day more across racks" in because(
        told.facts
    )


def test_more_across_racks_is_told_beside_what_is_gained():
    """Whoever mends its lag hears what that sends across racks, where it is enough to count."""
    behind, ahead = forecast(40_000), forecast(10_000)
    told = decided(
        live(ahead=behind, **_bytes(0.1, 1.0)), candidate(ahead=ahead, **_bytes(0.5, 3.5)), **SKEWED
    )

    assert told.verdict is Verdict.SWITCH
    assert because(told.facts).endswith(", 2.5 GB a day more across racks")


def test_what_goes_to_members_of_unknown_racks_is_no_gain():
    """Two partitions that crossed now go where nobody knows: neither nearer nor cheaper."""
    told = _told(
        {"racks_left_out": 1, **_bytes(0.67, 9.0, 103.68)},
        {"racks_left_out": 3, **_bytes(0.0, 0.0, 0.0)},
    )

    assert told.verdict is Verdict.STAY
    assert "saved" not in because(told.facts)


def test_a_confirmed_strategy_needs_half_of_the_saving_to_stay_so():
    """In bytes as in money."""
    now, then = _bytes(0.8, 1.6, 100.0), _bytes(0.1, 1.0, 70.0)
    money = Policy(cost_gain=50)

    assert _told(now, then).verdict is Verdict.STAY
    assert _told(now, then, kept="roundrobin").verdict is Verdict.SWITCH
    assert _told(now, then, policy=money).verdict is Verdict.STAY
    assert _told(now, then, policy=money, kept="roundrobin").verdict is Verdict.SWITCH
