"""Dealing partitions to members with room, by whole arrays and by rack, against the literal way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.racks import rack_info
from evenkeel.engine.assignors.kafka.sticky.constrained import (
    UnfilledMembers,
    assign_rack_aware_round_robin,
    assign_round_robin,
)
from evenkeel.engine.assignors.kafka.sticky.general import least_first
from evenkeel.engine.assignors.kit.orders import stable_order
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible


def _unfilled(under_min, need, exactly_min=(), over_min_left=0):
    arrays = (np.array(values, np.int64) for values in (under_min, need, exactly_min))
    return UnfilledMembers(
        **dict(zip(("under_min", "need", "exactly_min"), arrays, strict=True)),
        over_min_left=over_min_left,
    )


@pytest.mark.parametrize(
    ("situation", "count", "unfilled", "expected"),
    [
        ("nothing to deal", 0, _unfilled([], []), []),
        ("round and round", 4, _unfilled([5, 6], [2, 2]), [5, 6, 5, 6]),
        ("who has enough is passed over", 5, _unfilled([5, 6, 7], [1, 3, 1]), [5, 6, 7, 6, 6]),
        ("then one each", 3, _unfilled([5], [1], [3, 4], 2), [5, 3, 4]),
        ("then to those filled last", 5, _unfilled([5, 6], [2, 1], [4], 3), [5, 6, 5, 4, 6]),
    ],
)
def test_a_round_deals(situation, count, unfilled, expected):
    """Who is short takes turns until all have enough; then those with just enough, in the order they came to it."""
    assert assign_round_robin(count, unfilled).tolist() == expected


@pytest.mark.parametrize(("situation", "count"), [("too few", 1), ("too many", 4)])
def test_a_round_that_does_not_come_out_even_is_infeasible(situation, count):
    """Kafka's class throws; the numbers say by how much it does not fit."""
    with pytest.raises(Infeasible, match=f"{count} partitions .* lack 2 and can take 3"):
        assign_round_robin(count, _unfilled([0], [2]))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 30))
def test_least_first_deals_one_by_one(sizes, count):
    """All at once is the same as always to the one with least, the first of several."""
    held, expected = list(sizes), []
    for _ in range(count):
        expected.append(held.index(min(held)))
        held[expected[-1]] += 1

    assert least_first(np.array(sizes), count).tolist() == expected


@given(st.data(), st.integers(1, 6), st.integers(0, 12))
def test_racks_are_dealt_as_by_walking_the_list(data, count, unassigned):
    """Places kept by rack give what walking round the shrinking list of members gives."""
    names = [f"m{m}" for m in range(count)]
    rack = st.sampled_from(["a", "b", "c"])
    lives = {m: data.draw(rack | st.none()) for m in names}
    replicas = [
        ["x"],
        *(data.draw(st.lists(rack, max_size=2, unique=True)) for _ in range(unassigned)),
    ]
    group = spec(
        {m: ["t"] for m in names}, {"t": unassigned + 1}, racks=lives, replicas={"t": replicas}
    )
    racks = rack_info(group, np.array([True]))
    need = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    under_min = [m for m in range(count) if need[m]]
    exactly_min = [m for m in range(count) if not need[m]]
    over_min_left = data.draw(st.integers(0, count))
    unfilled = _unfilled(
        under_min, [need[m] for m in under_min], exactly_min if over_min_left else [], over_min_left
    )
    if racks is None:
        return

    takers, left = assign_rack_aware_round_robin(np.arange(1, unassigned + 1), racks, unfilled)

    expected = _hash_place([set(r) for r in replicas[1:]], lives, names, unfilled)
    assert (
        takers.tolist(),
        left.under_min.tolist(),
        left.exactly_min.tolist(),
        left.over_min_left,
    ) == expected


def _hash_place(replicas, lives, names, unfilled):
    """The literal way: one list of members short, one of those with just enough, and a cursor."""
    under_min, exactly_min, over_min_left = (
        unfilled.under_min.tolist(),
        unfilled.exactly_min.tolist(),
        unfilled.over_min_left,
    )
    need = dict(zip(under_min, unfilled.need.tolist(), strict=True))
    takers, cursor = [], 0
    for fitting in replicas:
        ring = [(cursor + i) % len(under_min) for i in range(len(under_min))]
        at = next((i for i in ring if lives[names[under_min[i]]] in fitting), NONE)
        first = next((m for m in exactly_min if lives[names[m]] in fitting), NONE)
        if at != NONE:
            takers.append(member := under_min[at])
            need[member] -= 1
            if not need[member]:
                under_min.remove(member)
                exactly_min += [member] * (over_min_left > 0)
            else:
                at += 1
            cursor = at % len(under_min) if under_min else 0
            continue
        takers.append(first)
        if first != NONE:
            exactly_min.remove(first)
            over_min_left -= 1
            exactly_min = exactly_min if over_min_left else []
    return takers, under_min, exactly_min, over_min_left


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1 << 20)), min_size=1))
def test_stable_order_sorts_by_all_keys(rows):
    """By the first key, then the second, and what is equal stays in its order, large keys or small."""
    keys = [np.array(column) for column in zip(*rows, strict=True)]

    assert stable_order(*keys).tolist() == sorted(range(len(rows)), key=rows.__getitem__)
