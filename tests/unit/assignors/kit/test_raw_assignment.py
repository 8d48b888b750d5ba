"""Lists as a class of Kafka sends them, turned into an answer that owns up to what is wrong with them."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.raw_assignment import answer_of
from evenkeel.engine.assignors.kit import members as subscribers
from evenkeel.engine.model.arrays import ragged
from evenkeel.engine.model.assignments import Lists
from tests.helpers.facts import said
from tests.helpers.strategies import groups

GROUP = spec({"a": ["t", "u"], "b": ["t"]}, {"t": 2, "u": 1})


def _lists(*members):
    start, topics = ragged([[t for t, _ in pairs] for pairs in members])
    return Lists(
        start=start, topic=topics, partition=ragged([[p for _, p in m] for m in members])[1]
    )


def test_flawless_lists_are_plain_owners_and_an_order():
    """Nothing is kept beside owners and order, and the names come out in the order sent."""
    answer = answer_of(GROUP, _lists([(1, 0), (0, 1)], [(0, 0)]))

    assert (answer.owner.tolist(), answer.raw_assignment, answer.findings) == ([1, 0, 0], None, ())
    assert GROUP.lists(answer) == {"a": [("u", 0), ("t", 1)], "b": [("t", 0)]}


def test_a_member_that_never_subscribed_is_a_finding(monkeypatch):
    """Whichever way subscriptions are looked up, who gets what it did not ask for is named."""
    for cells in (1 << 24, 0):
        monkeypatch.setattr(subscribers, "_CELLS", cells)

        answer = answer_of(GROUP, _lists([(0, 0), (0, 1)], [(1, 0)]))

        assert answer.owner.tolist() == [0, 0, 1]
        assert said(answer.findings) == (
            "1 partition is assigned to a member that does not subscribe to its topic, u-0",
        )


@given(groups())
def test_lists_of_any_flawless_answer_give_it_back(group):
    """From owners to lists and back nothing changes, for any group."""
    owner = ASSIGNORS["range"].assign(group).owner
    held = np.flatnonzero(owner >= 0)[np.argsort(owner[owner >= 0], kind="stable")]
    counts = np.bincount(owner[held], minlength=len(group.members))
    lists = Lists(
        start=np.concatenate([[0], np.cumsum(counts)]),
        topic=group.topic_of[held],
        partition=group.number_of[held].astype(np.int32),
    )

    answer = answer_of(group, lists)

    assert (answer.owner.tolist(), answer.findings) == (owner.tolist(), ())
