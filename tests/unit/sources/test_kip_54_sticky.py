"""
KIP-54, sticky, of which the source is a page "Versions Compared": most of it elided, some words run together.

Known errors of the document, each named at its test:

1. "Assigned to B A can be assigned to A B" is two versions in one: if A has two fewer than B, none of *B's* partitions
   can be assigned to *A*.
2. "Discussion Accepted", "three four topics", "stickies stickiest" likewise: accepted, four, stickiest.
3. The algorithm it describes had a bug, fixed by KIP-341: claims carry a generation.
4. The sticky table after C1 left, elided here and printed in the article and in today's Javadoc, is no longer what
   the class does.

What the page elides of its examples is taken from the article, whose first two sticky examples are the KIP's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.scoring import subscribed
from evenkeel.engine.assignors import by_name
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.metrics.balance import fairly_balanced, member_counts
from evenkeel.engine.model.arrays import NONE, Column
from tests.helpers.next_round import next_round
from tests.helpers.owned import owned

FOUR = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}
TWO = {"t0": 2, "t1": 2}


def _members(names, topics):
    return {name: list(topics) for name in names}


def _sets(lists):
    return {member: set(pairs.split()) for member, pairs in lists.items()}


@pytest.mark.parametrize("strategy", ["sticky", "roundrobin"])
def test_example_1_sticky_and_round_robin_agree_from_scratch(strategy):
    """Three consumers, four topics of two partitions (error 2: the page says three four)."""
    group = spec(_members(["C0", "C1", "C2"], FOUR), FOUR)

    assert _sets(owned(by_name(strategy), group)) == {
        "C0": {"t0-0", "t1-1", "t3-0"},
        "C1": {"t0-1", "t2-0", "t3-1"},
        "C2": {"t1-0", "t2-1"},
    }


def _third_came():
    held = {"C0": "t0-0 t1-0", "C1": "t0-1 t1-1"}
    return next_round(_members(["C0", "C1", "C2"], TWO), TWO, held)


def test_the_fragment_round_robin_is_not_the_stickiest():
    """The one table the page prints: two topics of two partitions after a third consumer came."""
    group = _third_came()
    dealt = by_name("roundrobin").assign(group)

    assert owned(by_name("roundrobin"), group) == {"C0": "t0-0 t1-1", "C1": "t0-1", "C2": "t1-0"}
    assert np.count_nonzero(dealt.owner != group.owner) == 2


def test_the_fragment_sticky_moves_one_partition():
    """One consumer gives one partition to the newcomer, all else stays."""
    group = _third_came()
    answer = by_name("sticky").assign(group)

    assert np.count_nonzero(answer.owner != group.owner) == 1
    assert sorted(member_counts(answer.owner, 3).tolist()) == [1, 1, 2]


def test_error_4_the_sticky_table_after_a_consumer_left_is_stale():
    """
    C1 leaves: the Javadoc's table is not what the class gives; both keep C0 and C2 what they had, and four each.
    """
    stale = {"C0": {"t0-0", "t1-1", "t3-0", "t2-0"}, "C2": {"t1-0", "t2-1", "t0-1", "t3-1"}}
    held = {"C0": "t0-0 t1-1 t3-0", "C1": "t0-1 t2-0 t3-1", "C2": "t1-0 t2-1"}
    found = _sets(owned(by_name("sticky"), next_round(_members(["C0", "C2"], FOUR), FOUR, held)))

    assert found == {"C0": {"t0-0", "t3-0", "t1-1", "t0-1"}, "C2": {"t1-0", "t2-1", "t2-0", "t3-1"}}
    assert found != stale
    for table in (found, stale):
        assert all(table[member] >= set(held[member].split()) for member in ("C0", "C2"))
        assert [len(pairs) for pairs in table.values()] == [4, 4]


def test_error_1_the_predicate_asks_for_partitions_of_who_has_more():
    """
    A owns none, B two of a topic A does not read: balanced, because none of B's can be assigned to A.

    Read the other way round the page would ask whether A's partitions can go to B, which A, having none, always
    answers well: also where A reads B's topic, and there the group is not balanced.
    """
    owner = np.array([1, 1], np.int32)
    for reads, balanced in (({"A": [], "B": ["t"]}, True), ({"A": ["t"], "B": ["t"]}, False)):
        group = subscribed(spec(reads, {"t": 2}))
        assert fairly_balanced(np.array([0, 2]), owner, group).all() == balanced


@given(st.integers(1, 6), st.lists(st.integers(0, 5), max_size=4))
def test_promise_counts_differ_by_one_at_most_from_scratch(members, sizes):
    """The first of the two bullets, for consumers that all read the same."""
    topics = {f"t{number}": size for number, size in enumerate(sizes)}
    group = spec(_members("ABCDEF"[:members], topics), topics)
    counts = member_counts(by_name("sticky").assign(group).owner, members)

    assert counts.max() - counts.min() <= 1


def test_error_3_a_claim_from_an_older_generation_loses():
    """
    KIP-341's zombie: C1 missed a rebalance and still claims t-0 and t-1; what the others were given since then holds.
    """
    topics = {"t": 3}
    group = next_round(_members(["C0", "C1", "C2"], topics), topics, {"C0": "t-0", "C2": "t-1 t-2"})
    stale = np.array([0, 0], np.int32), np.array([0, 1], np.int32)
    at = int(group.user_data_start[1])
    zombie = replace(
        group,
        user_data_start=group.user_data_start + np.array([0, 0, 2, 2]),
        user_data_topic=np.insert(group.user_data_topic, at, stale[0]),
        user_data_partition=np.insert(group.user_data_partition, at, stale[1]),
        user_data_generation=Column(np.array([2, 1, 2])),
    )
    found = _sets(owned(by_name("sticky"), zombie))

    assert found["C0"] == {"t-0"}
    assert len(found["C1"]) == 1
    assert found["C1"] <= {"t-1", "t-2"}
    assert NONE not in by_name("sticky").assign(zombie).owner
