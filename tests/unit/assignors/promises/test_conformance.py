"""Every strategy keeps its promises, and every check catches who breaks one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import USUAL_PROMISES, Promise, spec
from evenkeel.engine.assignors.promises import Violation, check
from evenkeel.engine.model.arrays import NONE, Column
from evenkeel.engine.model.assignments import Assignment, Deployment, Lists
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.strategies import groups


class Deals:
    """Deals the partitions of each topic to its subscribers in turn, by name: nothing to object to."""

    name = "deals"
    works_on = frozenset({"partitions"})
    needs = frozenset()
    deployment = Deployment.CLASS
    source = "a test"
    promises = frozenset(USUAL_PROMISES | {Promise.EVEN_TOPICS})

    def __init__(self, spoil=None):
        self.spoil = spoil

    def assign(self, group):
        """The n-th partition goes to the n-th subscriber; then the answer, or the group, is spoilt."""
        owner = np.full(group.partition_count, NONE, np.int32)
        for topic, subscribers in enumerate(group.subscribers):
            ring = sorted(subscribers.tolist(), key=group.members.__getitem__)
            for number, partition in enumerate(group.partitions_of(topic)):
                owner[partition] = ring[number % len(ring)] if ring else NONE
        return self.spoil(group, owner) if self.spoil else Assignment(owner=owner)


def _leaves_one_out(group, owner):
    owner[:1] = NONE
    return Assignment(owner=owner)


def _owns_the_unsubscribed(group, owner):
    owner[owner == NONE] = 0
    return Assignment(owner=owner)


def _gives_to_strangers(group, owner):
    return Assignment(owner=owner * 0)


def _first_listed_takes_all(group, owner):
    return Assignment(owner=np.where(owner == NONE, NONE, 0).astype(np.int32))


def _alternates():
    turns = itertools.cycle([1, -1])
    return lambda group, owner: Assignment(owner=owner[:: next(turns)].copy())


def _remembers_the_last_group():
    seen = [GROUP.members]

    def spoil(group, owner):
        seen.append(group.members)
        return Assignment(owner=owner if seen[-2] == group.members else owner[::-1].copy())

    return spoil


def _writes_owner(group, owner):
    group.owner[:] = 0
    return Assignment(owner=owner)


def _writes_subscribers(group, owner):
    group.subscribers[0][:] = group.subscribers[0][::-1].copy()
    return Assignment(owner=owner)


def _writes_config(group, owner):
    group.config[0]["weight"] = 2
    return Assignment(owner=owner)


def _forgets_lag(group, owner):
    group.lag.known[:] = False
    return Assignment(owner=owner)


def _lends_its_input(group, owner):
    return Assignment(owner=group.owner)


def _sends(start, topic, partition):
    def spoil(group, owner):
        arrays = (np.array(entries, np.int64) for entries in (start, topic, partition))
        lists = Lists(**dict(zip(("start", "topic", "partition"), arrays, strict=True)))
        return Assignment(owner=owner, raw_assignment=lists)

    return spoil


def _lists_as_it_came(group, owner):
    return Assignment(owner=owner, order=np.arange(len(owner)))


def _raises(group, owner):
    raise KeyError("t-0")


def _cannot_run(group, owner):
    raise Infeasible(f"needs 9 members, has {len(group.members)}.")


def _order(order):
    return lambda group, owner: Assignment(owner=owner, order=order)


GROUP = replace(
    spec(
        {"b": ["t", "u"], "a": ["t", "u"]},
        {"u": 2, "t": 3, "unwanted": 1},
        owned={"a": [("t", 0), ("u", 0), ("unwanted", 0)]},
    ),
    lag=Column.of([1, 2, 3, 4, 5, 6]),
    config=({}, {}),
)
"""Two members, six partitions of which five are subscribed, some owned."""


@given(groups())
def test_every_strategy_keeps_its_promises(group):
    """On any group, whatever a strategy promises holds."""
    broken = {name: check(strategy, group) for name, strategy in ASSIGNORS.items()}

    assert {name: found for name, found in broken.items() if found} == {}


@given(groups())
def test_the_sound_sample_has_nothing_to_object_to(group):
    """What the broken ones are made from is sound, so what is caught is what was broken."""
    assert check(Deals(), group) == []


BROKEN = [
    (_leaves_one_out, Promise.COMPLETE, "1 of 5 partitions without owner, first u-0"),
    (_owns_the_unsubscribed, Promise.SUBSCRIBED, "1 partition owned without subscription"),
    (_alternates(), Promise.REPEATABLE, "asked twice"),
    (_remembers_the_last_group(), Promise.REPEATABLE, "another group in between"),
    (_writes_owner, Promise.UNTOUCHED, "it changed owner"),
    (_writes_subscribers, Promise.UNTOUCHED, "it changed subscribers"),
    (_writes_config, Promise.UNTOUCHED, "it changed config"),
    (_forgets_lag, Promise.UNTOUCHED, "it changed lag"),
    (_lends_its_input, Promise.UNTOUCHED, "owner of the answer is the memory of owner"),
    (_first_listed_takes_all, Promise.ORDER_FREE, "members and topics backwards"),
    (_lists_as_it_came, Promise.ORDER_FREE, "members and topics backwards"),
    (_first_listed_takes_all, Promise.EVEN_TOPICS, "of u one member owns 2, another 0"),
    (_first_listed_takes_all, Promise.EVEN_GROUP, "in total one member owns 5, another 0"),
]


@pytest.mark.parametrize(("spoil", "promise", "found"), BROKEN, ids=[case[2] for case in BROKEN])
def test_a_broken_promise_is_found(spoil, promise, found):
    """The check of that promise, asked alone, says what was broken in numbers."""
    violations = check(Deals(spoil), GROUP, promises={promise})

    assert [v.promise for v in violations][:1] == [promise]
    assert found in violations[0].what


def test_each_promise_is_broken_above():
    """No check goes untested."""
    assert {promise for _, promise, _ in BROKEN} == set(Promise)


def test_owning_without_subscription_is_found_among_subscribed_topics():
    """A partition of a topic that others subscribe to is found at whoever does not."""
    group = spec({"a": ["t"], "b": ["u"]}, {"t": 1, "u": 1})

    assert check(Deals(_gives_to_strangers), group, promises={Promise.SUBSCRIBED}) == [
        Violation(
            promise=Promise.SUBSCRIBED,
            what="1 partition owned without subscription, first u-0",
        )
    ]


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (_raises, "it raised KeyError: 't-0'"),
        (lambda group, owner: None, "it answered a NoneType, not an Assignment"),
        (
            lambda group, owner: Assignment(owner=owner[1:]),
            "owner has 5 entries for 6 partitions",
        ),
        (
            lambda group, owner: Assignment(owner=owner + 7),
            "owner has values from 6 to 8, outside -1 to 1",
        ),
        (
            lambda group, owner: Assignment(owner=owner.astype(float)),
            "owner is not a one-dimensional array of signed integers",
        ),
        (_order(np.zeros(6, np.int64)), "order names a partition twice, first u-0"),
        (_order(np.arange(1, 6)), "order leaves out the owned u-0"),
        (_order(np.arange(1, 7)), "order has values from 1 to 6, outside 0 to 5"),
        (
            lambda group, owner: Assignment(owner=owner, findings="odd"),
            "findings is not a tuple of facts",
        ),
        (
            lambda group, owner: Assignment(owner=owner, findings=(3,)),
            "findings is not a tuple of facts",
        ),
        (lambda group, owner: Assignment(owner=owner, proof=3), "proof is not a tuple of facts"),
        (
            lambda group, owner: Assignment(owner=owner, raw_assignment=[["u-0"], []]),
            "raw_assignment is a list, not Lists",
        ),
        (
            _sends([0, 1, 1], [9], [0]),
            "raw_assignment topic has values from 9 to 9, outside 0 to 2",
        ),
        (
            _sends([0, 1, 1], [0], [-1]),
            "raw_assignment partition has values from -1 to -1, outside 0 to 2147483647",
        ),
        (_sends([0, 1, 1], [0], [0, 1]), "raw_assignment has 1 topics for 2 partitions"),
        (
            _sends([0, 1, 2], [0], [0]),
            "raw_assignment start has values from 0 to 2, outside 0 to 1",
        ),
        (
            _sends([0, 1], [0], [0]),
            "raw_assignment start does not cut 1 entries into the lists of 2 members",
        ),
        (
            _sends([1, 0, 1], [0], [0]),
            "raw_assignment start does not cut 1 entries into the lists of 2 members",
        ),
        (_sends([0, 1, 1], [0], [0]), "raw_assignment leaves out the owned u-0"),
    ],
)
def test_an_answer_that_is_none_is_found(spoil, found):
    """Before any promise, an answer must be one for this group; nothing else is then checked."""
    assert check(Deals(spoil), GROUP) == [Violation(promise=None, what=found)]


def test_lists_that_begin_nowhere_are_found_without_members_too():
    """A group without members still has a first and a last place of its lists."""
    assert check(Deals(_sends([], [], [])), spec({}, {})) == [
        Violation(
            promise=None,
            what="raw_assignment start does not cut 0 entries into the lists of 0 members",
        )
    ]


def test_a_class_without_the_shape_is_found():
    """Something that is no assignor is told what it lacks."""
    assert check(object(), GROUP) == [
        Violation(promise=None, what="it has no name, works_on, needs, deployment, source, assign")
    ]


def test_infeasible_is_an_answer():
    """A strategy that says it cannot run breaks nothing."""
    assert check(Deals(_cannot_run), GROUP) == []


def test_what_is_not_promised_is_not_held_against_it():
    """Live leaves partitions without owner, which it never promised not to do."""
    assert check(ASSIGNORS["live"], spec({"a": ["t"]}, {"t": 2})) == []


def test_a_spoiler_spoils_nothing_else():
    """The group handed in stays as it was, whatever a strategy does to it."""
    before = GROUP.owner.tolist()

    check(Deals(_writes_owner), GROUP)

    assert GROUP.owner.tolist() == before
