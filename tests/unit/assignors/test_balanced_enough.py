"""`balanced` where a utilization is enough: whoever is below it needs no relief."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.balanced import Balanced
from evenkeel.engine.assignors.interface import build_spec
from evenkeel.engine.model.arrays import NONE
from tests.benchmarks.landau.heuristics import HEURISTICS
from tests.benchmarks.landau.sequences import CAPACITY, sequence
from tests.helpers.examples import times


def _group(rates, owner, members, capacity):
    return build_spec(
        members=[f"m{m:03}" for m in range(members)],
        instance_ids=[None] * members,
        member_racks=[None] * members,
        subscriptions=[["t"]] * members,
        topics=["t"],
        partition_counts=[len(rates)],
        replica_racks=[[]] * len(rates),
        owner=owner,
        rate=rates,
        capacity=[capacity] * members,
    )


@pytest.mark.parametrize(("enough", "moves"), [(0.0, 1), (0.59, 1), (0.6, 0)])
def test_nothing_moves_while_nobody_is_above_it(enough: float, moves: int) -> None:
    """The busiest is at 60 %: its second partition moves unless that is enough."""
    group = _group([50, 10, 20], [0, 0, 1], 2, 100)
    answer = Balanced(enough=enough).assign(group)
    told = {fact.measure: (fact.kind.value, fact.after) for fact in answer.proof}
    assert told["moves"] == ("exact", moves)
    assert int((answer.owner != group.owner).sum()) == moves


def test_where_no_capacity_is_known_nothing_is_enough() -> None:
    """Without capacities there is no utilization, so the busiest is relieved as ever."""
    group = _group([9, 8, 1], [0, 0, 1], 2, None)
    ever, then = Balanced().assign(group), Balanced(enough=0.9).assign(group)
    assert (then.owner.tolist(), then.proof) == (ever.owner.tolist(), ever.proof)


@times(4)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
    st.data(),
    st.sampled_from([0.4, 0.7, 1.0]),
)
def test_the_fewest_move_to_get_everybody_below_it(rates, data, enough):
    """All assignments of a small group tried: none with nobody above, or none of least peak, moves less."""
    owners = st.lists(st.integers(NONE, 2), min_size=len(rates), max_size=len(rates))
    group = _group(rates, data.draw(owners), 3, 10)
    answer = Balanced(enough=enough).assign(group)
    busy = np.array(rates) > 0

    def value(owner):
        owner = np.array(owner)
        moved = busy & (group.owner != NONE) & (owner != group.owner)
        peak = np.bincount(owner, weights=rates).max() / 10
        return max(peak, enough), int(moved.sum())

    every = itertools.product(range(3), repeat=len(rates))
    assert value(answer.owner) == min(value(owner) for owner in every)


def test_as_few_members_do_as_heaviest_first_packing_needs() -> None:
    """Where relief gets stuck above what members can take, partitions are packed, and what need not move stays."""
    before, now = sequence(5, measurements=2)
    random, nobody = np.random.default_rng(0), np.full(len(now), NONE)
    owner = HEURISTICS["BFD"](before, nobody, random)
    packed = HEURISTICS["BFD"](now, owner, random)
    members = int(packed.max()) + 1
    assert members >= int(owner.max()) + 1

    answer = Balanced(enough=1.0).assign(_group(now.tolist(), owner.tolist(), members, CAPACITY))
    assert np.bincount(answer.owner, weights=now).max() <= CAPACITY
    assert (answer.owner != owner).sum() < (packed != owner).sum()
