"""Cooperative sticky: what is withheld in a round, and that it ends as sticky does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, reject

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import rejoining, spec
from evenkeel.engine.assignors.kit.settle import settle
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.owned import owned
from tests.helpers.sticky_groups import told_in_subscription
from tests.helpers.strategies import Shape, groups

COOPERATIVE, STICKY = ASSIGNORS["cooperative-sticky"], ASSIGNORS["sticky"]


def test_what_another_must_give_up_is_withheld():
    """Four partitions, a owns all, b is new: a keeps two, and two have no owner until a has given them up."""
    group = told_in_subscription({m: ["t"] for m in "ab"}, {"t": 4}, {"a": ("t-0 t-1 t-2 t-3", 1)})
    answer = COOPERATIVE.assign(group)

    assert owned(COOPERATIVE, group) == {"a": "t-0 t-1", "b": ""}
    assert answer.owner.tolist() == [0, 0, NONE, NONE]
    assert answer.transferring.tolist() == [NONE, NONE, 1, 1]


@pytest.mark.parametrize(
    ("situation", "members", "told", "expected", "waiting"),
    [
        ("nobody owned it", {m: ["t"] for m in "ab"}, {"a": "t-0 t-1"},
         {"a": "t-0 t-1", "b": "t-2 t-3"}, {}),
        ("its owner has left", {m: ["t"] for m in "ab"}, {"a": "t-0", "gone": "t-1 t-2 t-3"},
         {"a": "t-0 t-1", "b": "t-2 t-3"}, {}),
        ("the same member gets it back", {m: ["t"] for m in "ab"}, {"a": "t-3 t-2 t-1", "b": "t-0"},
         {"a": "t-1 t-2", "b": "t-0"}, {"b": "t-3"}),
        ("its owner no longer subscribes", {"a": ["t"], "b": ["u"]}, {"b": "t-0 t-1"},
         {"a": "t-2 t-3", "b": "u-0"}, {"a": "t-0 t-1"}),
        ("it moves for balance", {"a": ["t"], "b": ["t", "u"]}, {"b": "t-0 t-1 t-2 t-3 u-0"},
         {"a": "", "b": "t-2 t-3 u-0"}, {"a": "t-0 t-1"}),
    ],
)  # fmt: skip
def test_a_round_gives(situation, members, told, expected, waiting):
    """Only what somebody else in the group says it owns, and loses, has to wait."""
    past = {m: (pairs, 1) for m, pairs in told.items() if m in members}
    group = told_in_subscription(members, {"t": 4, "u": 1}, past)
    to = COOPERATIVE.assign(group).transferring
    names = {m: [] for m in waiting}
    for partition in np.flatnonzero(to != NONE).tolist():
        topic, number = group.topics[group.topic_of[partition]], group.number_of[partition]
        names.setdefault(group.members[to[partition]], []).append(f"{topic}-{number}")

    assert owned(COOPERATIVE, group) == expected
    assert {m: " ".join(pairs) for m, pairs in names.items()} == waiting


@given(groups(Shape(fewest_members=1)))
def test_nothing_is_given_while_another_owns_it(group):
    """Whatever was claimed stays with a claimant for the round, or has no owner."""
    claimed = rejoining(group, group.owner)
    answer = COOPERATIVE.assign(claimed)
    moved = (group.owner != NONE) & (answer.owner != NONE) & (answer.owner != group.owner)

    assert answer.findings or not moved.any()


@given(groups(Shape(fewest_members=1)))
def test_withheld_partitions_have_no_owner(group):
    """A partition is either somebody's or on its way to somebody, never both."""
    try:
        answer = COOPERATIVE.assign(group)
    except Infeasible:
        reject()

    assert answer.findings or not ((answer.owner != NONE) & (answer.transferring != NONE)).any()


def test_settled_it_is_what_sticky_would_give():
    """With the same past the rounds end where the eager strategy goes at once."""
    members = {f"c{m}": ["t", "u"] for m in range(4)}
    owner = np.arange(20, dtype=np.int32) % 3
    group = rejoining(spec(members, {"t": 12, "u": 8}), owner)
    settled = settle(COOPERATIVE.assign, group)

    assert settled.rounds == 2
    assert settled.assignment.owner.tolist() == STICKY.assign(group).owner.tolist()
