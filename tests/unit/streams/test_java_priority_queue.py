"""Java's PriorityQueue, against a recording of JDK 17."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from evenkeel.engine.streams.java import drain, offer, poll, remove

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "java_heap.json").read_text())
"""Elements with keys, and the queue's content after each step; keys also change while elements wait."""


def _replay(case, put, take, drop):
    """(what Java's queue held, what ours held) after each step that touched it."""
    first = np.array(case["keys"])
    second = np.zeros(len(first), np.int64)
    queue, length = np.zeros(len(first), np.int64), 0
    for step in case["steps"]:
        if step[0] == "key":
            first[step[1]] = step[2]
            continue
        if step[0] == "poll":
            assert queue[0] == step[1]
            length = take(queue, length, first, second)
        else:
            change = put if step[0] == "offer" else drop
            length = change(queue, length, step[1], first, second)
        yield step[2], queue[:length].tolist()


def test_every_step_leaves_the_queue_as_java_does():
    """Equal elements and elements whose keys changed while they waited lie where Java puts them."""
    for number, case in enumerate(RECORDED):
        for java, ours in _replay(case, offer, poll, remove):
            assert java == ours, number


def test_the_second_key_decides_between_equal_first_ones():
    """Elements come out by both keys."""
    first, second, queue, length = [1, 1, 0], [5, 4, 9], [0] * 3, 0
    for element in range(3):
        length = offer(queue, length, element, first, second)

    assert drain(queue, length, first, second) == [2, 1, 0]
