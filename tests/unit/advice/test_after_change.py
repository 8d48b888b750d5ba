"""A group after a change of its members, and what a strategy makes of it."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from evenkeel.engine.advice.after_change import Stage, after, moved
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import rejoining, spec
from evenkeel.engine.assignors.interface.rejoin import another_id, with_members
from evenkeel.engine.assignors.kit.settle import settle
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.strategies import Shape, groups

NAMES = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "range-server", "fair")
RANDOM = groups(Shape(fewest_members=2))


def _settled(name, group):
    """A sound answer of the strategy, and who owns what by it."""
    try:
        answer = settle(ASSIGNORS[name].assign, group).assignment
    except Infeasible:
        assume(False)
    assume(not answer.findings)
    return answer.owner


@given(RANDOM, st.sampled_from(NAMES))
def test_a_group_of_the_same_members_is_the_same_group(group, name):
    """Made anew of all its members, it gets the answer of its next rebalance."""
    owner, count = _settled(name, group), len(group.members)
    everybody = np.ones(count, np.bool_)
    same = with_members(group, range(count), group.members)

    then = after(
        ASSIGNORS[name].assign,
        Stage(group=same, places=np.arange(count), reports=everybody),
        owner,
    )

    again = settle(ASSIGNORS[name].assign, rejoining(group, owner))
    assert then.tolist() == again.assignment.owner.tolist()


@given(RANDOM, st.sampled_from(NAMES), st.data())
def test_who_stays_takes_over_all_that_it_subscribes_to(group, name, data):
    """What strategies promise holds after somebody left: complete, to subscribers, to nobody who is gone."""
    owner, count = _settled(name, group), len(group.members)
    leaver = data.draw(st.integers(0, count - 1))
    stay = np.delete(np.arange(count), leaver)
    left = with_members(group, stay, [group.members[n] for n in stay.tolist()])
    # where its first members have no subscription, sticky takes all for equal, as Kafka does, and the answer tells it
    assume(not settle(ASSIGNORS[name].assign, left).assignment.findings)

    then = after(
        ASSIGNORS[name].assign,
        Stage(group=left, places=stay, reports=np.ones(count - 1, np.bool_)),
        owner,
    )

    for partition, topic in enumerate(group.topic_of.tolist()):
        subscribers = set(group.subscribers[topic].tolist()) - {leaver}
        assert int(then[partition]) in (subscribers or {NONE})


def test_only_what_goes_from_one_to_another_moves():
    """To get an owner, or to lose the last one, is no move."""
    before, then = np.array([0, 0, 1, NONE, NONE]), np.array([0, 1, NONE, 1, NONE])

    assert moved(before, then).tolist() == [False, True, False, False, False]


def test_a_static_newcomer_has_an_instance_id_of_its_own():
    """Two members of one instance id would fence each other off; who was there keeps its own."""
    group = spec({"a": ["t"], "b": ["t"]}, {"t": 1}, instance_ids={"a": "host-1"})
    more = with_members(group, [0, 1, 0], ["a", "b", "c"])

    assert more.instance_ids == ("host-1", None, "c")


def test_new_ids_keep_the_client_id_and_differ():
    """Where they stand among others is as random as in Kafka, and the same each time."""
    client, old = "app-7", "6dbf03ea-6f9d-4b2f-8a47-0d8a3b4f1f7b"
    first, second = (another_id(f"{client}-{old}", number) for number in (0, 1))

    assert first != second
    assert first == another_id(f"{client}-{old}", 0)
    assert first.startswith("app-7-")
    assert len(first) == len(f"{client}-{old}")
