"""Range with racks (KIP-881), one named situation per row."""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from tests.helpers.owned import owned

RANGE = ASSIGNORS["range"]


@pytest.mark.parametrize(
    ("situation", "racks", "replicas", "expected"),
    [
        ("each to its rack", {"c": "b", "d": "a"}, [["a"], ["b"]], {"c": "t-1", "d": "t-0"}),
        (
            "any replica will do",
            {"c": "b", "d": "a"},
            [["x", "a"], ["x", "b"]],
            {"c": "t-1", "d": "t-0"},
        ),
        (
            "everything everywhere",
            {"c": "b", "d": "a"},
            [["a", "b"], ["b", "a"]],
            {"c": "t-0", "d": "t-1"},
        ),
        (
            "balance before racks",
            {"c": "a", "d": "b"},
            [["a"], ["a"], ["a"], ["b"]],
            {"c": "t-0 t-1", "d": "t-2 t-3"},
        ),
        (
            "the extra one to who can use it",
            {"c": "a", "d": "b"},
            [["b"], ["b"], ["a"]],
            {"c": "t-2", "d": "t-0 t-1"},
        ),
        (
            "a member without rack takes any",
            {"d": "a"},
            [["a"], ["b"]],
            {"c": "t-0", "d": "t-1"},
        ),
        (
            "an empty rack is none",
            {"c": "", "d": "a"},
            [["a"], ["b"]],
            {"c": "t-0", "d": "t-1"},
        ),
        (
            "a partition without replicas fits nobody",
            {"c": "a", "d": "a"},
            [[], ["a"], ["a"]],
            {"c": "t-1 t-2", "d": "t-0"},
        ),
    ],
)
def test_racks_decide_within_shares(situation, racks, replicas, expected):
    """A subscriber gets partitions on its rack as far as its share goes."""
    members = {"c": ["t"], "d": ["t"]}
    group = spec(members, {"t": len(replicas)}, racks=racks, replicas={"t": replicas})

    assert owned(RANGE, group) == expected


@pytest.mark.parametrize(
    ("situation", "of_u", "expected"),
    [
        ("both topics agree", [["b", "a"], ["a"]], {"c": "t-1 u-1", "d": "t-0 u-0"}),
        ("topics disagree", [["a"], ["b"]], {"c": "t-0 u-0", "d": "t-1 u-1"}),
        ("one line agrees", [["b"], ["b"]], {"c": "t-1 u-1", "d": "t-0 u-0"}),
    ],
)
def test_co_partitioned_topics_stay_together(situation, of_u, expected):
    """Partition p of topics with equal subscribers and size has one owner; racks decide only if all agree."""
    group = spec(
        {"c": ["t", "u"], "d": ["t", "u"]},
        {"t": 2, "u": 2},
        racks={"c": "a", "d": "b"},
        replicas={"t": [["b"], ["a"]], "u": of_u},
    )

    assert owned(RANGE, group) == expected


def test_a_member_without_rack_takes_co_partitioned_lines_too():
    """Who has no rack fits every line, and goes before others that stand behind it."""
    together = [["a"], ["b"]]
    group = spec(
        {"c": ["t", "u"], "d": ["t", "u"]},
        {"t": 2, "u": 2},
        racks={"d": "a"},
        replicas={"t": together, "u": together},
    )

    assert owned(RANGE, group) == {"c": "t-0 u-0", "d": "t-1 u-1"}


def test_the_extra_line_goes_to_one_member_only():
    """Once a member has the extra line, the next one stops at its share although more would fit."""
    together = [["a"], ["a"], ["b"], ["b"]]
    group = spec(
        {m: ["t", "u"] for m in "cde"},
        {"t": 4, "u": 4},
        racks={"c": "a", "d": "b", "e": "x"},
        replicas={"t": together, "u": together},
    )

    assert owned(RANGE, group) == {"c": "t-0 t-1 u-0 u-1", "d": "t-2 u-2", "e": "t-3 u-3"}


def test_the_extra_partition_goes_to_one_member_only():
    """The same holds for a topic matched alone."""
    group = spec(
        {m: ["t"] for m in "cde"},
        {"t": 4},
        racks={"c": "a", "d": "b", "e": "x"},
        replicas={"t": [["a"], ["a"], ["b"], ["b"]]},
    )

    assert owned(RANGE, group) == {"c": "t-0 t-1", "d": "t-2", "e": "t-3"}


def test_topics_of_unequal_size_are_matched_alone():
    """A topic that is not co-partitioned follows its own racks."""
    group = spec(
        {"c": ["t", "u"], "d": ["t", "u"]},
        {"t": 2, "u": 3},
        racks={"c": "a", "d": "b"},
        replicas={"t": [["b"], ["a"]], "u": [["a"], ["a"], ["b"]]},
    )

    assert owned(RANGE, group) == {"c": "t-1 u-0 u-1", "d": "t-0 u-2"}


def test_topics_of_unequal_subscribers_are_matched_alone():
    """Equal size does not co-partition topics whose subscribers differ."""
    group = spec(
        {"c": ["t", "u"], "d": ["t", "u"], "e": ["u"]},
        {"t": 2, "u": 2},
        racks={"c": "a", "d": "b"},
        replicas={"t": [["b"], ["a"]], "u": [["a"], ["b"]]},
    )

    assert owned(RANGE, group) == {"c": "t-1 u-0", "d": "t-0 u-1", "e": ""}


def test_one_topic_in_need_takes_co_partitioned_ones_along():
    """Topics that need no racks are matched as soon as another topic does, as Kafka does it."""
    calm = {"t": [["b"], ["b"]], "u": [["b"], ["b"]]}
    racks = {"c": "a", "d": "b"}
    alone = spec({m: ["t", "u"] for m in "cd"}, {"t": 2, "u": 2}, racks=racks, replicas=calm)
    beside = spec(
        {m: ["t", "u", "v"] for m in "cd"},
        {"t": 2, "u": 2, "v": 1 + 2},
        racks=racks,
        replicas={**calm, "v": [["a"], ["a"], ["b"]]},
    )

    assert owned(RANGE, alone) == {"c": "t-0 u-0", "d": "t-1 u-1"}
    assert owned(RANGE, beside) == {"c": "t-1 u-1 v-0 v-1", "d": "t-0 u-0 v-2"}
