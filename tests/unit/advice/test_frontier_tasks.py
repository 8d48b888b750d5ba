"""The frontier of a Streams application against all placements there are."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random

import numpy as np
import pytest

from evenkeel.engine.advice.frontier import missing, task_frontiers
from evenkeel.engine.streams.compare import across
from evenkeel.engine.streams.live import running
from tests.helpers.streams import process
from tests.helpers.streams_groups import Sub, Thread, live_group, on


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


@pytest.mark.parametrize(
    ("threads", "measure", "subjects"),
    [
        ([Thread(1, "0_0", rack="a"), Thread(2, "0_1")], "clients_without_rack", (process(2),)),
        ([Thread(1, "0_0", rack="a", standby="0_1")], "tasks_run_nowhere", ("0_1",)),
    ],
)
def test_what_is_missing_is_named(threads, measure, subjects):
    """A rack, or a task that nobody runs."""
    group = live_group(threads, {"0": Sub(2)})

    lacking = missing(running(group))

    assert lacking is not None
    assert (lacking.measure, lacking.subjects) == (measure, subjects)
