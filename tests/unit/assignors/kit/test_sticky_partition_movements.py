"""Partitions that go back, and the HashSet of partitions that says which one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.sticky.reassignment import PartitionMovements
from evenkeel.engine.assignors.kit.java_order import JavaSet, string_hashes, topic_partition_hashes

RECORDED = json.loads((Path(__file__).parents[3] / "data" / "java_set.json").read_text())
"""
What a `HashSet<TopicPartition>` of JDK 17 and Kafka 4.3 was taken through: *changes* (partition n added, or -n - 1:
partition n removed), and which partition its iterator gave *first* after each.
"""

A, B, C = range(3)


def _hashes(topic, numbers):
    return topic_partition_hashes(
        np.repeat(string_hashes([topic]), len(numbers)), np.array(numbers)
    )


def test_a_partition_hashes_as_in_java():
    """Number and topic name are mixed as `TopicPartition.hashCode` does, in 32 bits."""
    ours = [_hashes(case["topic"], [5]).astype(np.int32).item() for case in RECORDED]

    assert ours == [case["hash"] for case in RECORDED]


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["topic"])
def test_the_first_of_a_set_is_as_recorded(case):
    """Growth, early growth where many share a bucket, and what was there before show as they do in Java."""
    found, firsts = JavaSet(), []
    for change in case["changes"]:
        if change < 0:
            found.remove(-change - 1)
        else:
            found.add(change, int(_hashes(case["topic"], [change])[0]))
        firsts.append(found.first() if len(found) else None)

    assert firsts == case["first"]


@pytest.fixture
def movements():
    """Of two topics with three partitions each: t-0 is 0, u-0 is 3."""
    return PartitionMovements(spec({"a": ["t", "u"]}, {"t": 3, "u": 3}))


def test_without_movements_a_partition_moves_itself(movements):
    """Nothing has to go back first."""
    assert movements.actual_partition_to_move(0, A, B) == 0


def test_what_came_goes_back_first(movements):
    """After t-1 went from b to a, it goes back to b in place of t-0."""
    movements.record(1, B, A)

    assert movements.actual_partition_to_move(0, A, B) == 1


@pytest.mark.parametrize(
    ("situation", "partition", "source", "target"),
    [("another topic", 3, A, B), ("another source", 0, C, B), ("another target", 0, A, C)],
)
def test_what_came_stays_when_it_is_about(situation, partition, source, target, movements):
    """Only the reverse of the same movement within the same topic counts."""
    movements.record(1, B, A)

    assert movements.actual_partition_to_move(partition, source, target) == partition


def test_several_moves_count_as_one_from_the_first_source(movements):
    """t-1 went from b over c to a: so it is what goes from a back to b, not to c."""
    movements.record(1, B, C)
    movements.record(1, C, A)

    assert movements.actual_partition_to_move(0, A, B) == 1
    assert movements.actual_partition_to_move(0, A, C) == 0


def test_a_partition_that_moved_is_looked_at_from_its_first_source(movements):
    """t-0 came to c from a, so what counts is whether something went from b to a."""
    movements.record(0, A, C)
    movements.record(1, B, A)

    assert movements.actual_partition_to_move(0, C, B) == 1


def test_a_return_leaves_no_trace(movements):
    """After it is back, nothing is known of the movement."""
    movements.record(1, B, A)
    movements.record(1, A, B)

    assert movements.actual_partition_to_move(0, A, B) == 0
    assert movements.state() == PartitionMovements(spec({}, {})).state()
