"""The ragged array of subscribers."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kit.members import subscribers_in_order
from evenkeel.engine.assignors.kit.orders import distinct
from tests.helpers.strategies import groups


def test_subscribers_come_in_the_order_asked_for():
    """Each topic lists its subscribers by their place in the given order, not by index."""
    group = spec({"a": ["t"], "b": ["u", "t"], "c": ["t"]}, {"t": 1, "u": 1})

    pairs = subscribers_in_order(group, np.array([2, 0, 1]))

    assert (pairs.start.tolist(), pairs.member.tolist()) == ([0, 3, 4], [2, 0, 1, 1])
    assert pairs.place.tolist() == [0, 1, 2, 2]


def test_topics_without_partitions_have_no_pairs():
    """Missing and empty topics are nobody's, whoever subscribes."""
    group = spec({"a": ["gone", "empty", "t"]}, {"empty": 0, "t": 1})

    assert subscribers_in_order(group, np.array([0])).count.tolist() == [0, 1, 0]


@given(groups())
def test_pairs_equal_the_groups_own_subscribers(group):
    """In the order of listing, the pairs are those of the group itself."""
    pairs = subscribers_in_order(group, np.arange(len(group.members)))

    sizes = np.diff(group.topic_start)
    expected = [s.tolist() if n else [] for s, n in zip(group.subscribers, sizes, strict=True)]
    cuts = zip(pairs.start[:-1], pairs.start[1:], strict=True)
    assert [pairs.member[a:b].tolist() for a, b in cuts] == expected


def test_few_keys_in_a_wide_range_are_found_by_sorting():
    """Both ways to find distinct keys agree: a table for dense keys, sorting for sparse ones."""
    keys = np.array([9, 2, 9, 0, 2])

    assert distinct(keys, 10).tolist() == distinct(keys, 10**12).tolist() == [0, 2, 9]


def test_no_keys_are_no_keys():
    """Nothing distinct is found in nothing."""
    assert distinct(np.zeros(0, np.int64), 5).tolist() == []
