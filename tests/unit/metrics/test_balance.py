"""Spread, skew, floors (also against brute force), and when two assignments are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.scoring import subscribed
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.metrics.balance import (
    fairly_balanced,
    lag_lower_bound,
    lag_lower_bound_equal_counts,
    member_counts,
    member_sums,
    skew,
    spread,
)
from evenkeel.engine.metrics.ownership import fingerprint_of, fingerprints
from evenkeel.engine.model.arrays import NONE, Column
from evenkeel.engine.model.batch import batch_of
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


def test_spread_compares_members_of_equal_subscription_only():
    """Two classes of their own are not uneven against each other."""
    group = spec({"a": ["x"], "b": ["x"], "c": ["y"]}, {"x": 5, "y": 9})

    assert spread(np.array([3, 2, 9]), subscribed(group)).tolist() == [1]


def test_spread_of_nobody_is_unknown():
    """A group whose members subscribe to nothing has no spread."""
    assert spread(np.array([0]), subscribed(spec({"a": []}, {}))).tolist() == [None]


@pytest.mark.parametrize(
    ("lags", "expected"),
    [([10, 10], 1.0), ([30, 10], 1.5), ([0, 0], None), ([5, None], None), ([], None)],
)
def test_skew_states_its_zero_case(lags, expected):
    """Largest over mean; undefined without lag, without members, or with an unknown lag."""
    assert [expected] == skew(Column.of(lags), np.array([0, len(lags)]))


def test_an_unknown_partition_makes_its_owners_sum_unknown_only():
    """Others keep their numbers; a member without partitions has 0."""
    sums = member_sums(np.array([0, 0, 1, -1], np.int32), 3, Column.of([1, None, 5, 7]))

    assert sums.tolist() == [None, 5, 0]


def test_balanced_looks_at_what_the_poorer_member_could_take():
    """Two more is fair when none of them is of a topic the other reads."""
    apart = spec({"a": ["x"], "b": ["y"]}, {"x": 3, "y": 1})
    shared = spec({"a": ["x"], "b": ["x", "y"]}, {"x": 3, "y": 1})
    owner = np.array([0, 0, 0, 1], np.int32)

    def fair(group):
        return fairly_balanced(member_counts(owner, 2), owner, subscribed(group)).tolist()

    assert fair(apart) == [True]
    assert fair(shared) == [False]


def test_floor_is_unknown_when_a_lag_is():
    """No bound can be proven over an unknown number."""
    group = spec({"a": ["x"]}, {"x": 2}, lags={"x": [1, None]})

    assert lag_lower_bound(group.lag, subscribed(group)).tolist() == [None]


LAGS = st.lists(st.integers(0, 50), min_size=1, max_size=5)


@given(LAGS, LAGS, st.integers(1, 3), st.integers(0, 2))
def test_no_assignment_goes_below_the_floor(x, y, both, only_y):
    """Brute force over every assignment of small groups of two classes finds none below the floor."""
    members = {f"b{i}": ["x", "y"] for i in range(both)} | {f"y{i}": ["y"] for i in range(only_y)}
    group = spec(members, {"x": len(x), "y": len(y)}, lags={"x": x, "y": y})
    choices = [group.subscribers[t].tolist() for t in group.topic_of.tolist()]
    if np.prod([len(c) for c in choices], dtype=float) > 3000:
        return
    sums = (member_sums(np.array(o, np.int32), len(members), group.lag) for o in product(*choices))
    best = min(s.max() for s in sums)

    assert lag_lower_bound(group.lag, subscribed(group)).max() <= best


@given(LAGS, st.integers(1, 3))
def test_no_assignment_of_equal_counts_goes_below_its_floor(lags, members):
    """Brute force over every assignment with counts at most one apart finds none below."""
    column = Column.of(lags)
    best = None
    for owner in product(range(members), repeat=len(lags)):
        counts = np.bincount(owner, minlength=members)
        if counts.max() - counts.min() <= 1:
            most = member_sums(np.array(owner, np.int32), members, column).max()
            best = most if best is None else min(best, most)

    group = spec({str(number): ["t"] for number in range(members)}, {"t": len(lags)})

    assert lag_lower_bound_equal_counts(column, subscribed(group)).max() <= best


PLAIN = {"a": [0, 1], "b": [2]}


def _print_of(
    held: Mapping[str, Sequence[int]], *, restarted: str = "", name: str = "t"
) -> str | None:
    """The fingerprint of a group in which members, by client id, own partitions of one topic of four."""
    members = [
        member(client + restarted, [name], {name: own}, client_id=client)
        for client, own in held.items()
    ]
    snapshot = make_snapshot(topics=[topic(name, 4)], groups=[group("g", members=members)])
    return fingerprints(batch_of(groups(snapshot)))[0]


def test_who_restarts_and_gets_back_what_it_had_changes_nothing():
    """Members are known by identity; their order in the broker's answer does not count either."""
    assert (
        _print_of(PLAIN)
        == _print_of(PLAIN, restarted="-again")
        == _print_of(dict(reversed(PLAIN.items())))
    )


@pytest.mark.parametrize(
    "other",
    [{"a": [0], "b": [1, 2]}, {"a": [2], "b": [0, 1]}, {"a": [0, 1], "b": [3]}, {"a": [0, 1, 2]}],
)
def test_another_owner_is_another_assignment(other):
    """A partition more, less, or exchanged."""
    assert _print_of(other) != _print_of(PLAIN)


def test_another_topic_is_another_assignment():
    """Of the same numbers and members."""
    assert _print_of(PLAIN, name="u") != _print_of(PLAIN)


def test_two_of_one_identity_may_change_places():
    """Nobody could tell; but what they own together may not be cut another way."""

    def of(owner):
        every = np.arange(len(owner))
        return fingerprint_of(["t"], every * 0, every, np.array(owner), ["same", "same"])

    assert of([0, 0, 1]) == of([1, 1, 0])
    assert of([0, 0, 1]) != of([0, 1, 1])


def test_where_nobody_owns_anything_there_is_no_assignment():
    """An empty group has none; a partition without owner does not count."""
    assert _print_of({"a": []}) is None
    nobody = [np.array([0, NONE]), np.array([0])]
    first, second = (
        fingerprint_of(["t"], owner * 0, np.arange(len(owner)), owner, ["a"]) for owner in nobody
    )
    assert first == second
