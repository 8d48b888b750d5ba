"""Targets as an assignor gets them, and the answers made of such sets."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.uniform.target import (
    MemberPartitions,
    answer_of_sets,
    current_target,
    held_wrongly,
)
from evenkeel.engine.model.arrays import NONE

GROUP = spec({m: ["t", "u"] for m in "ab"}, {"u": 2, "t": 3, "v": 0})


def _held(*entries):
    place, topic, number = zip(*entries, strict=True) if entries else ((), (), ())
    return MemberPartitions(
        place=np.array(place, np.int64),
        topic=np.array(topic, np.int64),
        number=np.array(number, np.int64),
    )


def _entries(held):
    return list(zip(held.place.tolist(), held.topic.tolist(), held.number.tolist(), strict=True))


@pytest.mark.parametrize(
    ("situation", "owned", "expected"),
    [
        ("nothing", {}, []),
        ("members by place", {"a": [("t", 0)], "b": [("t", 1)]}, [(0, 1, 1), (1, 1, 0)]),
        ("as listed", {"a": [("t", 2), ("t", 0), ("u", 1)]}, [(1, 1, 2), (1, 1, 0), (1, 0, 1)]),
        (
            "topics where first listed",
            {"a": [("t", 2), ("u", 0), ("t", 1), ("u", 1)]},
            [(1, 1, 2), (1, 1, 1), (1, 0, 0), (1, 0, 1)],
        ),
        ("said twice", {"a": [("t", 2), ("t", 0), ("t", 2)]}, [(1, 1, 2), (1, 1, 0)]),
        ("topics that are gone", {"a": [("gone", 0), ("t", 0)]}, [(1, 1, 0)]),
        ("numbers that are no more stay", {"a": [("u", 7), ("v", 0)]}, [(1, 0, 7), (1, 2, 0)]),
        ("two of one", {"a": [("t", 0)], "b": [("t", 0)]}, [(0, 1, 0), (1, 1, 0)]),
    ],
)
def test_the_target_is_walked_by_place_topic_and_list(situation, owned, expected):
    """Each member's sets, topic by topic as first mentioned, without topics that do not exist."""
    group = spec({m: ["t", "u"] for m in "ab"}, {"u": 2, "t": 3, "v": 0}, owned=owned)

    assert _entries(current_target(group, np.array([1, 0]))) == expected


def test_a_group_without_topics_has_no_target():
    """Claims of topics that are in no table are claims of topics that are gone."""
    group = spec({"a": []}, {}, owned={"a": [("gone", 1)]})

    assert len(current_target(group, np.array([0]))) == 0


def test_sets_become_owners():
    """Held once each, partitions have owners; the answer has lists by name and nothing to say."""
    answer = answer_of_sets(GROUP, np.array([1, 0]), _held((0, 1, 2), (1, 0, 1), (0, 0, 0)))

    assert answer.owner.tolist() == [1, 0, NONE, NONE, 1]
    assert (answer.raw_assignment, answer.findings) == (None, ())


def test_sets_that_overlap_are_sent_as_they_are():
    """A partition of two members and one that is no more stay in the lists, sorted, and are findings."""
    held = _held((1, 1, 1), (0, 1, 0), (0, 1, 1), (1, 1, 1), (0, 0, 9))

    answer = answer_of_sets(GROUP, np.array([0, 1]), held)

    assert GROUP.lists(answer) == {"a": [("t", 0), ("t", 1), ("u", 9)], "b": [("t", 1)]}
    assert [finding.subjects for finding in answer.findings] == [("u-9",), ("t-1",)]


def test_what_is_held_wrongly_is_marked():
    """Entries of a partition with two holders, or beyond the topic's end."""
    held = _held((0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 2, 0), (1, 0, 1))

    assert held_wrongly(GROUP, held).tolist() == [True, False, True, True, False]
