"""Where Kafka's class does what nobody would ask of it: its answer, with findings, or its exception."""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.facts import said
from tests.helpers.owned import owned
from tests.helpers.sticky_groups import told_in_subscription, told_in_user_data

STICKY = ASSIGNORS["sticky"]
both = pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])


def _told(name, members, topics, told):
    tell = told_in_user_data if name == "sticky" else told_in_subscription
    return tell(members, topics, told)


@both
def test_an_empty_subscription_walked_first_gets_what_it_never_asked_for(name):
    """It passes for equal to all others, and the answer says what is wrong with it."""
    answer = ASSIGNORS[name].assign(group := spec({"a": [], "b": ["t"]}, {"t": 2}))

    assert group.lists(answer) == {"a": [("t", 0)], "b": [("t", 1)]}
    assert said(answer.findings) == (
        "1 partition is assigned to a member that does not subscribe to its topic, t-0",
    )


def test_an_empty_subscription_walked_later_gets_nothing():
    """Then subscriptions count as unequal."""
    answer = STICKY.assign(group := spec({"a": ["t"], "b": []}, {"t": 2}))

    assert group.lists(answer) == {"a": [("t", 0), ("t", 1)], "b": []}
    assert answer.findings == ()


def test_a_topic_named_twice_may_pass_for_equal():
    """Two mentions of one topic are as many as two topics, so the member gets one it did not name."""
    answer = STICKY.assign(group := spec({"a": ["t", "u"], "b": ["u", "u"]}, {"t": 2, "u": 2}))

    assert group.lists(answer)["b"] == [("t", 1), ("u", 1)]
    assert "does not subscribe" in said(answer.findings)[0]


STALE = {"q": ("t-0 t-1", 1), "c": (" ".join(f"t-{p}" for p in range(8)), 2)}
"""q claims, for an older generation, two of the partitions that c owns."""


@both
def test_who_left_a_topic_gets_partitions_of_it_back(name):
    """Kafka moves a partition to its previous owner without a look at what that still subscribes to."""
    members = {"q": ["u"], "c": ["t", "u"], "d": ["t"]}
    group = _told(name, members, {"t": 8, "u": 1}, STALE)
    answer = ASSIGNORS[name].assign(group)

    lists = owned(ASSIGNORS[name], group)
    assert (lists["q"], lists["c"]) == ("u-0 t-0 t-1", "t-5 t-6 t-7")
    assert said(answer.findings) == (
        "2 partitions, first t-0, of which each is assigned to a member that does not subscribe to its topic",
    )


@both
def test_who_left_a_topic_and_takes_no_part_makes_kafka_throw(name):
    """A previous owner that has all it can have has been set aside, and Kafka looks for its list in vain."""
    members = {"q": ["v"], "c": ["t", "u"], "d": ["t"]}
    group = _told(name, members, {"t": 8, "u": 1, "v": 1}, STALE)

    with pytest.raises(Infeasible, match=r"t-0 could go to member q.*NullPointerException"):
        ASSIGNORS[name].assign(group)


@both
def test_a_vanished_partition_is_kept(name):
    """A topic made anew with fewer partitions: the answer still holds one that is gone, and says so."""
    members = {"a": ["t"], "b": ["t"]}
    group = _told(name, members, {"t": 3}, {"a": ("t-7", 1)})
    answer = ASSIGNORS[name].assign(group)

    assert owned(ASSIGNORS[name], group) == {"a": "t-7 t-1", "b": "t-0 t-2"}
    assert said(answer.findings) == ("1 partition is kept although it no longer exists, t-7",)


def test_behind_a_vanished_partition_kept_ones_are_handed_out_again():
    """Kafka stops to look for what is kept, so what sorts behind goes to a second member."""
    members = {"a": ["t", "u"], "b": ["t", "u"], "c": ["t", "u"]}
    group = told_in_user_data(members, {"t": 4, "u": 3}, {"a": ("t-9", 1), "b": ("u-0", 1)})
    answer = STICKY.assign(group)

    assert owned(STICKY, group) == {"a": "t-9 t-0 u-0", "b": "u-0 t-1 u-1", "c": "t-2 t-3 u-2"}
    assert said(answer.findings) == (
        "1 partition is kept although it no longer exists, t-9",
        "1 partition is assigned to more than one member, u-0",
    )


@both
def test_vanished_partitions_may_leave_no_room(name):
    """They fill quotas, and once nobody has room for the rest Kafka throws."""
    members = {"a": ["t"], "b": ["t"]}
    told = {"a": ("t-5 t-6", 1), "b": ("t-0 t-1", 1)}

    with pytest.raises(Infeasible, match=r"2 .* can take 0 \(Kafka: IllegalStateException\)"):
        ASSIGNORS[name].assign(_told(name, members, {"t": 4}, told))


@both
def test_kafka_may_never_come_to_an_end(name):
    """t-0 is to leave c for a, t-1 goes back from b to a in its stead, and is moved to b again: Kafka's class hangs."""
    members = {"a": ["t"], "b": ["t"], "c": ["t", "u"], "d": ["u"], "e": ["u"]}
    told = {
        "a": "t-1 t-2 t-3",
        "b": "t-0 t-4",
        "d": "u-0 u-1 u-2 u-3 u-4",
        "e": "u-5 u-6 u-7 u-8 u-9",
    }
    past = {member: (pairs, 1) for member, pairs in told.items()}

    with pytest.raises(Infeasible, match=r"pass 2 over 15 partitions .*Kafka: no answer"):
        ASSIGNORS[name].assign(_told(name, members, {"t": 5, "u": 10}, past))
