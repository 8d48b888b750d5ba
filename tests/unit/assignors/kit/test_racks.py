"""When racks can make a difference, one named situation per row."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.racks import rack_aware_topics, replica_racks
from evenkeel.engine.assignors.kit.members import subscribers_in_order


@pytest.mark.parametrize(
    ("situation", "member_racks", "replicas", "expected"),
    [
        ("a subset of racks each", {"c0": "a"}, [["a"], ["b"]], True),
        ("one partition without replicas", {"c0": "a"}, [["a"], []], True),
        ("only one of two members has a rack", {"c1": "b"}, [["a"], ["b"]], True),
        ("no member has a rack", {}, [["a"], ["b"]], False),
        ("an empty rack is none", {"c0": "", "c1": ""}, [["a"], ["b"]], False),
        ("every partition on every rack", {"c0": "a"}, [["a", "b"], ["b", "a"]], False),
        ("all partitions on one rack", {"c0": "a"}, [["a"], ["a", "a"]], False),
        ("members elsewhere", {"c0": "x", "c1": "y"}, [["a"], ["b"]], False),
        ("brokers without racks", {"c0": "a"}, [[None], [None, None]], False),
        ("replicas unknown", {"c0": "a"}, [[], []], False),
        ("a rackless broker does not count", {"c0": "a"}, [["a", None], ["a"]], False),
    ],
)
def test_a_topic_needs_racks(situation, member_racks, replicas, expected):
    """Racks count when a subscriber's is among the partitions' and these differ from each other."""
    members = {"c0": ["t"], "c1": ["t"]}
    group = spec(members, {"t": 2}, racks=member_racks, replicas={"t": replicas})

    pairs = subscribers_in_order(group, np.array([0, 1]))

    assert rack_aware_topics(group, pairs, replica_racks(group)).tolist() == [expected]


def test_each_topic_is_judged_by_its_own_subscribers():
    """A racked member makes no difference to a topic it does not subscribe to."""
    group = spec(
        {"c0": ["t"], "c1": ["u"]},
        {"t": 2, "u": 2},
        racks={"c0": "a"},
        replicas={"t": [["a"], ["b"]], "u": [["a"], ["b"]]},
    )

    pairs = subscribers_in_order(group, np.array([0, 1]))

    assert rack_aware_topics(group, pairs, replica_racks(group)).tolist() == [True, False]
