"""Range, the client's and the broker's: a literal second opinion, and racks (KIP-881), one named situation per row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import fresh, rejoining, spec
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.model.arrays import NONE
from tests.helpers.owned import owned
from tests.helpers.plain_range import plain_range
from tests.helpers.strategies import Shape, groups

RANGE, RANGE_SERVER = ASSIGNORS["range"], ASSIGNORS["range-server"]
AB = {"c": "a", "d": "b"}
BA = {"c": "b", "d": "a"}
TWO = ["t", "u"]
ALL = {"c": TWO, "d": TWO}


def _rackless(group):
    return replace(group, member_rack=np.full_like(group.member_rack, NONE))


@given(groups())
def test_range_agrees_with_the_literal_algorithm(group):
    """Any group, racks and static members included, is assigned as the description says; the broker's without racks."""
    assert RANGE.assign(group).owner.tolist() == plain_range(group)
    assert RANGE_SERVER.assign(group).owner.tolist() == plain_range(_rackless(group))


@given(groups(Shape(most_topics=3, fewest_members=2, together=True)))
def test_range_agrees_with_the_literal_algorithm_on_co_partitioned_topics(group):
    """Equal topics in racks are matched line by line as the description says."""
    assert RANGE.assign(group).owner.tolist() == plain_range(group)


@given(groups(Shape(most_partitions=24, fewest_members=3)))
def test_range_agrees_with_the_literal_algorithm_on_long_topics(group):
    """Shares of several partitions each are dealt as the description says, too."""
    assert RANGE.assign(group).owner.tolist() == plain_range(group)
    assert RANGE_SERVER.assign(group).owner.tolist() == plain_range(_rackless(group))


@given(groups())
def test_what_members_own_does_not_matter_to_the_brokers(group):
    """It answers the same whatever members own by now."""
    backwards = rejoining(group, group.owner[::-1].copy())

    expected = RANGE_SERVER.assign(fresh(group)).owner.tolist()

    assert RANGE_SERVER.assign(backwards).owner.tolist() == expected


def _same(racks):
    """Both topics have the same racks."""
    return {"t": racks, "u": racks}


LINES = [["a"], ["a"], ["b"], ["b"]]
ABX = {"c": "a", "d": "b", "e": "x"}
CALM = {"t": [["b"], ["b"]], "u": [["b"], ["b"]]}


@pytest.mark.parametrize(
    ("situation", "members", "racks", "replicas", "expected"),
    [
        ("each to its rack", "t", BA, {"t": [["a"], ["b"]]}, {"c": "t-1", "d": "t-0"}),
        ("any replica will do", "t", BA, {"t": [["x", "a"], ["x", "b"]]}, {"c": "t-1", "d": "t-0"}),
        ("everything everywhere", "t", BA, {"t": [["a", "b"], ["b", "a"]]}, {"c": "t-0", "d": "t-1"}),
        ("balance before racks", "t", AB, {"t": [["a"], ["a"], ["a"], ["b"]]}, {"c": "t-0 t-1", "d": "t-2 t-3"}),
        ("the extra one to who can use it", "t", AB, {"t": [["b"], ["b"], ["a"]]}, {"c": "t-2", "d": "t-0 t-1"}),
        ("a member without rack takes any", "t", {"d": "a"}, {"t": [["a"], ["b"]]}, {"c": "t-0", "d": "t-1"}),
        ("an empty rack is none", "t", {"c": "", "d": "a"}, {"t": [["a"], ["b"]]}, {"c": "t-0", "d": "t-1"}),
        ("a partition without replicas fits nobody", "t", {"c": "a", "d": "a"}, {"t": [[], ["a"], ["a"]]},
         {"c": "t-1 t-2", "d": "t-0"}),
        ("the extra partition goes to one member only", {m: ["t"] for m in "cde"}, ABX, {"t": LINES},
         {"c": "t-0 t-1", "d": "t-2", "e": "t-3"}),
        ("co-partitioned topics agree", ALL, AB, {"t": [["b"], ["a"]], "u": [["b", "a"], ["a"]]},
         {"c": "t-1 u-1", "d": "t-0 u-0"}),
        ("co-partitioned topics disagree, and stay together", ALL, AB, {"t": [["b"], ["a"]], "u": [["a"], ["b"]]},
         {"c": "t-0 u-0", "d": "t-1 u-1"}),
        ("one line of them agrees", ALL, AB, {"t": [["b"], ["a"]], "u": [["b"], ["b"]]},
         {"c": "t-1 u-1", "d": "t-0 u-0"}),
        ("who has no rack fits every line, and goes before others behind it", ALL, {"d": "a"}, _same([["a"], ["b"]]),
         {"c": "t-0 u-0", "d": "t-1 u-1"}),
        ("the extra line goes to one member only", {m: TWO for m in "cde"}, ABX, _same(LINES),
         {"c": "t-0 t-1 u-0 u-1", "d": "t-2 u-2", "e": "t-3 u-3"}),
        ("topics of unequal size are matched alone", ALL, AB, {"t": [["b"], ["a"]], "u": [["a"], ["a"], ["b"]]},
         {"c": "t-1 u-0 u-1", "d": "t-0 u-2"}),
        ("topics of unequal subscribers are matched alone", {**ALL, "e": ["u"]}, AB,
         {"t": [["b"], ["a"]], "u": [["a"], ["b"]]}, {"c": "t-1 u-0", "d": "t-0 u-1", "e": ""}),
        ("topics that need no racks are left alone", ALL, AB, CALM, {"c": "t-0 u-0", "d": "t-1 u-1"}),
        ("unless another topic needs them, as Kafka does it", {m: [*TWO, "v"] for m in "cd"}, AB,
         {**CALM, "v": [["a"], ["a"], ["b"]]}, {"c": "t-1 u-1 v-0 v-1", "d": "t-0 u-0 v-2"}),
    ],
)  # fmt: skip
def test_racks_decide_within_shares(situation, members, racks, replicas, expected):
    """Within its share a subscriber gets what is on its rack; co-partitioned topics have one owner per line."""
    members = {m: ["t"] for m in "cd"} if members == "t" else members
    sizes = {topic: len(of) for topic, of in replicas.items()}

    assert owned(RANGE, spec(members, sizes, racks=racks, replicas=replicas)) == expected


@pytest.mark.slow
def test_compiled_it_matches_racks_alike():
    """One source, two speeds: topics on their own and co-partitioned ones."""
    racks = {f"m{n}": "abc"[n % 3] for n in range(9)}
    group = spec(
        {m: ["t", "u", "v"] if n % 2 else ["t", "u"] for n, m in enumerate(racks)},
        {"t": 40, "u": 40, "v": 30},
        racks=racks,
        replicas={t: [["abc"[n % 3], "bca"[n % 2]] for n in range(40)] for t in "tuv"},
    )
    with held_to(compiled=False):
        plain = RANGE.assign(group).owner.tolist()
    with held_to(compiled=True):
        assert RANGE.assign(group).owner.tolist() == plain
