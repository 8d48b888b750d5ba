"""What is said where nothing pays: what is unknown, what could be more even, what could be nearer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.messages.wording import because
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.facts import FactKind, fact, finding
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.weighed import SKEWED, candidate, decided, forecast, live

LOPSIDED = {"balanced": False, "most_partitions": 14, "fewest_partitions": 2}
KEEPS_UP = {"diagnosis": Diagnosis.KEEPS_UP}


def test_counts_that_could_be_more_even_are_a_remark():
    """Of a group that keeps up it is said, and restarts nobody."""
    even = {"most_partitions": 6, "fewest_partitions": 6}
    told = decided(live(partition_spread=12, **LOPSIDED), candidate(**even), **KEEPS_UP)

    assert told.verdict is Verdict.STAY
    assert because(told.facts) == (
        "could be more even with roundrobin (most 14 -> 6, fewest 2 -> 6), by itself no reason to switch"
    )


def test_so_are_counts_of_members_that_subscribe_differently():
    """Their spread says nothing, each being alone in its class; KIP-54's predicate does."""
    worse = candidate("range", balanced=False, most_partitions=13, fewest_partitions=2)
    best = candidate("sticky", most_partitions=12, fewest_partitions=3)

    told = decided(live(**LOPSIDED), candidate(**LOPSIDED), worse, best, **KEEPS_UP)

    assert because(told.facts).startswith("could be more even with sticky (most 14 -> 12")


def test_the_counts_themselves_are_said_where_they_are_kept():
    """Most first; where they are not, as in older rows, the ends are."""

    def with_counts(one, counts):
        return replace(one, counts=(fact(FactKind.COUNTS, "member_counts", [counts]),))

    better = candidate("sticky", most_partitions=12, fewest_partitions=3)
    told = decided(
        with_counts(live(**LOPSIDED), "14/2/2"), with_counts(better, "12/3/3"), **KEEPS_UP
    )

    assert because(told.facts) == (
        "could be more even with sticky (14/2/2 -> 12/3/3), by itself no reason to switch"
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

    assert because(told.facts).startswith("nothing to gain: roundrobin")


@pytest.mark.parametrize(
    ("now", "then", "said"), [(0.9, 0.6, True), (0.9, 0.8, False), (0.3, 0.1, False)]
)
def test_load_that_could_be_more_even_is_a_remark(now, then, said):
    """Where a member is busy, and would be less so by what counts as a gain."""
    told = decided(
        live(ahead=forecast(9, used=now)), candidate(ahead=forecast(9, used=then)), **KEEPS_UP
    )

    assert told.verdict is Verdict.STAY
    words = f"(its busiest member gets {now:.0%} -> {then:.0%} of what it can do)"
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
    assert first.startswith("catching up: over too soon")
    assert second.startswith("could be more even")


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
        "the lag of 3 partitions is unknown, and nothing else is to gain; nothing is committed on 3 partitions, and"
        " where the group would begin is not known: set auto_offset_reset in a rule of evenkeel.toml"
    )


def test_a_skewed_load_that_no_strategy_mends_is_nothing_to_gain():
    """Those that were tried are named."""
    told = decided(
        live(ahead=forecast(4000)), candidate(ahead=forecast(4000)), candidate("range"), **SKEWED
    )

    assert because(told.facts) == (
        "nothing to gain: roundrobin, range are no better by as much as the policy asks"
    )
