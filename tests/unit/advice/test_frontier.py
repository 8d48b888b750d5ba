"""The frontier of what crosses racks against what moves, of partitions and of tasks: all corners, each exact."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.advice.frontier import frontiers, missing, present, task_frontiers
from evenkeel.engine.assignors.flow.min_cost import Weights, min_cost
from evenkeel.engine.assignors.flow.plain_group import plain_group
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.streams.compare import across
from evenkeel.engine.streams.live import running
from tests.helpers.racked_groups import racked_groups
from tests.helpers.streams_groups import Sub, Thread, live_group, on


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
            crossing = sum(read.crosses[n, read.rack[o]] for n, o in enumerate(owner))
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
    found = frontiers(group)[0]
    lost = int((np.delete(group.owner, read.partition) != NONE).sum())  # nobody subscribes to them
    corners = [(point.moves + point.newly_owned, point.crossing) for point in found.corners]

    assert [moved for moved, _ in corners] == [moved + lost for moved, _ in expected]
    assert [crossing for _, crossing in corners] == [crossing for _, crossing in expected]


@given(racked_groups())
def test_each_corner_is_the_cheapest_for_its_weights(group):
    """Anywhere between its bounds, weighing partitions so gives an answer of no other cost."""
    for one in frontiers(group):
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


def test_a_frontier_of_three_corners():
    """Two swaps: one saves two crossings, the other one, so it pays only where a crossing is worth more."""
    group = group_of([["y"], ["x"], ["y"], ["x", "y"]], ["a", "b", "a", "b"], {"a": "x", "b": "y"})
    found = frontiers(group)[0]

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
    found = [(p.moves, p.crossing) for p in frontiers(group)[0].corners]

    assert found == hull(everything(group)) == [(1, 6), (2, 4), (4, 2), (6, 1)]


def test_a_group_that_is_where_it_should_be_has_one_corner():
    """Nothing crosses, nothing moves, whatever the weights."""
    group = group_of([["x"], ["y"]], ["a", "b"], {"a": "x", "b": "y"})

    for one in frontiers(group):
        assert [(p.moves, p.crossing, p.lowest, p.highest) for p in one.corners] == [
            (0, 0, 0, None)
        ]


def test_the_present_is_told_beside_it():
    """What crosses now, of what has an owner; nothing moves."""
    group = group_of([["y"], ["y"], ["x"]], ["a", "b", None], {"a": "x", "b": "y"})
    now = present(group)

    assert (now.crossing, now.share, now.moves, now.newly_owned, now.rate) == (1, 0.5, 0, 0, None)
    assert [p.newly_owned for p in frontiers(group)[0].corners] == [1]


def test_nobody_subscribed_no_frontier():
    """Without partitions to own there is nothing to sweep."""
    assert frontiers(spec({"a": ["gone"]}, {})) == []


def test_a_missing_rack_leaves_no_frontier():
    """The reason is the strategies' own."""
    with pytest.raises(Infeasible, match="no rack"):
        frontiers(spec({"a": ["t"]}, {"t": 1}, replicas={"t": [["x"]]}))


def _drawn(random):
    """Two clients in two racks, four tasks with state and two without, replicas anywhere."""
    tasks = [f"1_{p}" for p in range(4)] + [f"0_{p}" for p in range(2)]
    first = random.sample(tasks, 3)
    rest = [task for task in tasks if task not in first]
    replicas = {}
    for name, size in (("source-0", 2), ("source-1", 4)):
        words = " ".join(random.choice(["a", "b", "ab", "c"]) for _ in range(size))
        replicas |= on(name, words)
    return live_group(
        [Thread(1, " ".join(first), rack="a"), Thread(2, " ".join(rest), rack="b")],
        {"0": Sub(2), "1": Sub(4, ["app-store-changelog"])},
        replicas=replicas,
    )


def _every_placement(application):
    """(moves, crossing) of all placements in which both clients keep their tasks of both kinds."""
    app, before = application.app, application.owner
    kept = Counter(zip(before.tolist(), app.stateful.tolist(), strict=True))
    found = set()
    for owner in set(permutations(before.tolist())):
        if Counter(zip(owner, app.stateful.tolist(), strict=True)) == kept:
            placed = np.array(owner, np.int32)
            crossing = across(app, app.source_start, app.source, placed).crosses.sum()
            found.add((int((placed != before).sum()), int(crossing)))
    return found


@pytest.mark.parametrize("seed", range(15))
def test_each_corner_is_the_cheapest_and_no_corner_is_missing(seed):
    """For any two weights the least cost of all placements is that of a corner, the one whose prices say so."""
    application = running(_drawn(Random(seed)))
    every = _every_placement(application)

    _, [least, _] = task_frontiers(application, {})

    assert [corner.moves for corner in least.corners] == sorted(c.moves for c in least.corners)
    for traffic in range(1, 9):
        for move in range(1, 9):
            cost = min(move * moves + traffic * crossing for moves, crossing in every)
            worth = traffic / move
            own = [
                c
                for c in least.corners
                if (c.lowest or 0) <= worth and (c.highest is None or worth <= c.highest)
            ]
            assert {move * c.moves + traffic * c.crossing for c in own} == {cost}


def test_the_application_as_it_is_stands_beside():
    """Its crossing partitions, their share and their offsets per second."""
    group = live_group(
        [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")],
        {"0": Sub(2)},
        replicas=on("source-0", "b a"),
    )

    now, [least, _] = task_frontiers(running(group), {("source-0", 0): 2.0, ("source-0", 1): 3.0})

    assert (now.crossing, now.share, now.rate, now.moves) == (2, 1.0, 5.0, 0)
    assert [(c.crossing, c.moves, c.rate) for c in least.corners] == [(2, 0, 5.0), (0, 2, 0.0)]
    assert [(c.lowest, c.highest) for c in least.corners] == [(0, 1), (1, None)]


def test_corners_of_an_application_are_weighed_by_replicas_and_told_by_who_serves_reads():
    """Prices are those of Kafka's weights; what crosses is read from leaders."""
    threads = [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")]
    replicas, rates = on("source-0", "b ca"), {("source-0", 0): 2.0, ("source-0", 1): 3.0}
    group = live_group(threads, {"0": Sub(2)}, replicas=replicas, follower_fetching=False)

    now, [least, _] = task_frontiers(running(group), rates)

    assert (now.crossing, now.rate) == (2, 5.0)
    # weighed, both are far before and neither is then
    assert [(c.crossing, c.moves, c.highest) for c in least.corners] == [(2, 0, 1), (1, 2, None)]


def test_the_frontier_of_racks_that_a_rule_gives_says_what_it_takes():
    """It is that of the application whose clients send them."""
    sent = [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")]
    told = [replace(one, columns={"rack_source": "configured"}) for one in sent]
    groups = [
        live_group(each, {"0": Sub(2)}, replicas=on("source-0", "b a")) for each in (sent, told)
    ]
    (seen, [one, _]), (known, [other, _]) = (task_frontiers(running(each), {}) for each in groups)

    assert missing(running(groups[1])) is None
    assert (seen.crossing, one.corners) == (known.crossing, other.corners)
    assert one.remarks == ()
    assert [(each.measure, each.subjects) for each in other.remarks] == [
        ("client_rack_first", ("app-1", "app-2"))
    ]


@pytest.mark.parametrize(
    ("threads", "measure", "subjects"),
    [
        ([Thread(1, "0_0", rack="a"), Thread(2, "0_1")], "clients_without_rack", ("app-2",)),
        ([Thread(1, "0_0", rack="a", standby="0_1")], "tasks_run_nowhere", ("0_1",)),
    ],
)
def test_what_is_missing_is_named(threads, measure, subjects):
    """A rack, or a task that nobody runs."""
    group = live_group(threads, {"0": Sub(2)})

    lacking = missing(running(group))

    assert lacking is not None
    assert (lacking.measure, lacking.subjects) == (measure, subjects)
