"""The tradeoff of what crosses racks against what moves, of partitions: all corners, each exact."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.advice.tradeoff import present, tradeoffs
from evenkeel.engine.assignors.flow.min_cost import Weights, min_cost
from evenkeel.engine.assignors.flow.plain_group import plain_group
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.groups_with_racks import racked_groups


def everything(group):
    """(moved, crossing) of every assignment that has the group's counts and keeps to subscriptions."""
    read = plain_group(group)
    able = [
        set(read.subscriber[slice(*read.start[t : t + 2])].tolist()) for t in read.topic.tolist()
    ]
    found = set()
    for owner in itertools.product(range(len(read.member)), repeat=len(read.partition)):
        counts = np.bincount(owner, minlength=len(read.member))
        if (counts == read.count).all() and all(o in a for o, a in zip(owner, able, strict=True)):
            crossing = sum(
                read.crosses[k, read.rack[o]] for k, o in zip(read.kind, owner, strict=True)
            )
            found.add((int((np.array(owner) != read.previous_owner).sum()), int(crossing)))
    return found


def hull(points):
    """Corners of the lower left hull, by moves: those cheapest for some range of weights."""
    corners = []
    for moved, crossing in sorted(points):
        if corners and crossing >= corners[-1][1]:
            continue
        while len(corners) > 1:
            (a, b), (c, d) = corners[-2:]
            if (c - a) * (b - crossing) < (moved - a) * (b - d):
                break
            corners.pop()
        corners.append((moved, crossing))
    return corners


@given(racked_groups())
def test_all_corners_are_found_and_nothing_else(group):
    """Against every assignment there is, of groups with few enough of them."""
    read = plain_group(group)
    if not 0 < len(read.partition) * np.log(max(len(read.member), 1)) <= np.log(3000):
        return
    expected = hull(everything(group))
    found = tradeoffs(group)[0]
    lost = int((np.delete(group.owner, read.partition) != NONE).sum())  # nobody subscribes to them
    corners = [(point.moves + point.newly_owned, point.crossing) for point in found.corners]

    assert [moved for moved, _ in corners] == [moved + lost for moved, _ in expected]
    assert [crossing for _, crossing in corners] == [crossing for _, crossing in expected]


@given(racked_groups())
def test_each_corner_is_the_cheapest_for_its_weights(group):
    """Anywhere between its bounds, weighing partitions so gives an answer of no other cost."""
    for one in tradeoffs(group):
        balance = one.strategy == "balance_subtopology"
        for corner in one.corners:
            lowest = corner.lowest or Fraction(0)
            worth = (lowest + corner.highest) / 2 if corner.highest else lowest + 1
            weights = Weights(traffic=worth.numerator, move=worth.denominator)
            best = min_cost(group, weights, balance_topics=balance)
            others = corner.crossing - best.crossing, corner.moves - _moves(group, best)

            assert weights.traffic * others[0] + weights.move * others[1] == 0


def _moves(group, answer):
    return int(((group.owner != NONE) & (answer.owner != group.owner)).sum())


def group_of(replicas, owned, racks):
    """One topic; *owned* is the member of each partition."""
    held = {m: [("t", p) for p, o in enumerate(owned) if o == m] for m in racks}
    return spec(
        {m: ["t"] for m in racks},
        {"t": len(replicas)},
        racks=racks,
        replicas={"t": replicas},
        owned=held,
    )


def test_a_tradeoff_of_three_corners():
    """Two swaps: one saves two crossings, the other one, so it pays only where a crossing is worth more."""
    group = group_of([["y"], ["x"], ["y"], ["x", "y"]], ["a", "b", "a", "b"], {"a": "x", "b": "y"})
    found = tradeoffs(group)[0]

    assert [(p.moves, p.crossing, p.lowest, p.highest) for p in found.corners] == [
        (0, 3, 0, 1),
        (2, 1, 1, 2),
        (4, 0, 2, None),
    ]


def test_corners_are_sought_on_both_sides_of_a_new_one():
    """Four corners: the first one found in between has another beside it."""
    group = group_of(
        [["x"], ["z"], ["x", "z"], ["x"], ["x"], ["z"], ["y"]],
        ["c", "a", "c", "c", "b", "a", "a"],
        {"a": "x", "b": "y", "c": "z"},
    )
    found = [(p.moves, p.crossing) for p in tradeoffs(group)[0].corners]

    assert found == hull(everything(group)) == [(1, 6), (2, 4), (4, 2), (6, 1)]


def test_a_group_that_is_where_it_should_be_has_one_corner():
    """Nothing crosses, nothing moves, whatever the weights."""
    group = group_of([["x"], ["y"]], ["a", "b"], {"a": "x", "b": "y"})

    for one in tradeoffs(group):
        assert [(p.moves, p.crossing, p.lowest, p.highest) for p in one.corners] == [
            (0, 0, 0, None)
        ]


def test_the_present_is_told_beside_it():
    """What crosses now, of what has an owner; nothing moves."""
    group = group_of([["y"], ["y"], ["x"]], ["a", "b", None], {"a": "x", "b": "y"})
    now = present(group)

    assert (now.crossing, now.share, now.moves, now.newly_owned, now.rate) == (1, 0.5, 0, 0, None)
    assert [p.newly_owned for p in tradeoffs(group)[0].corners] == [1]


def test_nobody_subscribed_no_tradeoff():
    """Without partitions to own there is nothing to sweep."""
    assert tradeoffs(spec({"a": ["gone"]}, {})) == []


def test_a_missing_rack_leaves_no_tradeoff():
    """The reason is the strategies' own."""
    with pytest.raises(Infeasible, match="no rack"):
        tradeoffs(spec({"a": ["t"]}, {"t": 1}, replicas={"t": [["x"]]}))
