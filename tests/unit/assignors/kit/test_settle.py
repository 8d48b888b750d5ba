"""Rounds of a group until nothing is withheld."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import rejoining, spec
from evenkeel.engine.assignors.kit.settle import settle
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Assignment, Lists
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.sticky_groups import told_in_subscription
from tests.helpers.strategies import Shape, groups

PAIR = spec({"a": ["t"], "b": ["t"]}, {"t": 2})


def _answers(*rounds):
    """A strategy that gives these answers one after another, and the groups it was asked about."""
    asked = []

    def assign(group):
        asked.append(group)
        return rounds[len(asked) - 1]

    return assign, asked


def _waits(owner, transferring):
    return Assignment(
        owner=np.array(owner, np.int32), transferring=np.array(transferring, np.int32)
    )


DONE = _waits([0, 1], [NONE, NONE])


@pytest.mark.parametrize("done", [DONE, Assignment(owner=np.array([0, 1], np.int32))])
def test_a_strategy_that_withholds_nothing_is_asked_once(done):
    """Nothing transferring, or no word of it: settled after one round, and nobody waited."""
    assign, asked = _answers(done)
    settled = settle(assign, PAIR)

    assert (settled.assignment, settled.rounds, settled.waited) == (done, 1, 0)
    assert asked == [PAIR]


def test_members_rejoin_owning_what_they_kept():
    """In the second round everybody tells of the first, with one new generation; what was withheld is nobody's."""
    group = told_in_subscription({"a": ["t"], "b": ["t"]}, {"t": 2}, {"a": ("t-0 t-1", 6)})
    assign, asked = _answers(_waits([0, NONE], [NONE, 1]), DONE)
    settled = settle(assign, group)

    assert (settled.rounds, settled.waited) == (2, 1)
    again = asked[1]
    assert (again.owned_start.tolist(), again.owned_partition.tolist()) == ([0, 1, 1], [0])
    assert again.generation.tolist() == [7, 7]


def test_what_was_sent_twice_is_claimed_twice():
    """Members own what they were sent, also where one owner per partition cannot say it."""
    twice = Lists(
        start=np.array([0, 3, 4]),
        topic=np.zeros(4, np.int32),
        partition=np.array([9, 0, 1, 1], np.int32),
    )
    first = Assignment(
        owner=np.array([0, 0]), transferring=np.array([NONE, 1]), raw_assignment=twice
    )
    assign, asked = _answers(first, DONE)
    settle(assign, PAIR)

    assert asked[1].owned_start.tolist() == asked[1].user_data_start.tolist() == [0, 3, 4]
    assert (
        asked[1].owned_partition.tolist() == asked[1].user_data_partition.tolist() == [0, 1, 9, 1]
    )


def test_a_group_that_does_not_settle_is_infeasible():
    """After the last round allowed, the error says how many there were and what still waits."""
    assign, asked = _answers(*[_waits([0, NONE], [NONE, 1])] * 3)

    with pytest.raises(Infeasible, match="after 3 rounds 1 partition still waits"):
        settle(assign, PAIR, most_rounds=3)
    assert len(asked) == 3


def test_waited_counts_the_first_round():
    """What waits later is not added."""
    assign, _ = _answers(_waits([NONE, NONE], [1, 0]), _waits([0, NONE], [NONE, 1]), DONE)

    assert (settled := settle(assign, PAIR)).waited == 2
    assert settled.rounds == 3


@given(groups(Shape(fewest_members=1)))
def test_cooperative_sticky_settles(group):
    """A group whose members own what somebody gave them is through after a few rounds, with nothing left over."""
    settled = settle(ASSIGNORS["cooperative-sticky"].assign, rejoining(group, group.owner))
    subscribed = np.array([len(s) > 0 for s in group.subscribers], np.bool_)[group.topic_of]

    assert settled.assignment.findings or (settled.assignment.owner != NONE)[subscribed].all()
