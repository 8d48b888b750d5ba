"""Whose word counts when members tell of different generations, rule by rule."""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from tests.helpers.owned import owned
from tests.helpers.sticky_groups import told_in_subscription, told_in_user_data

STICKY, COOPERATIVE = ASSIGNORS["sticky"], ASSIGNORS["cooperative-sticky"]
ALL = {m: ["t"] for m in "ab"}


def test_without_a_generation_a_past_counts_all_the_same():
    """The blob of an old client tells partitions and no generation."""
    told = {"a": ("t-1", None), "b": ("t-0", None)}

    assert owned(STICKY, told_in_user_data(ALL, {"t": 2}, told)) == {"a": "t-1", "b": "t-0"}


def test_who_missed_a_rebalance_keeps_what_nobody_else_claims():
    """An older generation alone is no reason to lose a partition when subscriptions are equal."""
    told = {"a": ("t-1", 1), "b": ("t-0", 9)}

    assert owned(STICKY, told_in_user_data(ALL, {"t": 2}, told)) == {"a": "t-1", "b": "t-0"}


@pytest.mark.parametrize(
    ("rule", "strategy", "generations", "beside", "keeps"),
    [
        ("the newer generation, walked last", COOPERATIVE, (1, 2), {}, "b"),
        ("the newer generation, walked first", COOPERATIVE, (2, 1), {}, "a"),
        ("a generation beats none", COOPERATIVE, (None, 0), {}, "b"),
        ("user data gives the generation that a Subscription of an old version lacks", COOPERATIVE, (None, None),
         {"user_data": {"a": 1, "b": 2}}, "b"),
        ("the generation of the Subscription comes first", COOPERATIVE, (3, 4), {"user_data": {"a": 9, "b": 1}}, "b"),
        ("an eager member's Subscription has none to compare with: the last walked wins, older or not", STICKY, (7, 2),
         {}, "b"),
        ("where one has, later claims are compared with that one", STICKY, (7, 2), {"subscription": {"a": 7}}, "a"),
    ],
)  # fmt: skip
def test_of_two_claims_counts(rule, strategy, generations, beside, keeps):
    """Whoever's word counts keeps both partitions that two members claim; the other gets none of them."""
    tell = told_in_user_data if strategy is STICKY else told_in_subscription
    told = {member: ("t-0 t-1", one) for member, one in zip("ab", generations, strict=True)}
    answer = owned(strategy, tell({**ALL, "c": ["t"]}, {"t": 6}, told, **beside))

    assert {m for m in "ab" if answer[m].startswith("t-0 t-1")} == {keeps}


def test_claims_of_equal_generations_both_fall():
    """Nobody keeps what two members claim for one generation; it waits until both have given it up."""
    told = {"a": ("t-0 t-1", 3), "b": ("t-0 t-2", 3)}
    group = told_in_subscription(ALL, {"t": 4}, told)

    assert owned(COOPERATIVE, group) == {"a": "t-1", "b": "t-2 t-3"}
    assert COOPERATIVE.assign(group).transferring.tolist() == [0, -1, -1, -1]


def test_a_third_claim_is_compared_with_the_later_of_two_equal_ones():
    """Two equal claims fall, but a newer third one keeps the partition."""
    told = {"a": ("t-0", 1), "b": ("t-0", 1), "c": ("t-0", 2)}
    members = {"a": ["t", "u"], "b": ["t"], "c": ["t", "u"]}
    group = told_in_subscription(members, {"t": 1, "u": 1}, told)

    assert owned(COOPERATIVE, group) == {"a": "u-0", "b": "", "c": "t-0"}


def test_claimed_twice_by_one_member():
    """Where its Subscription has another generation a member that names a partition twice owns it, else nobody does."""
    told = {"a": ("t-0 t-0", 7)}

    assert owned(STICKY, told_in_user_data(ALL, {"t": 2}, told, subscription={"a": 7})) == {
        "a": "t-0",
        "b": "t-1",
    }


def test_user_data_of_cooperative_sticky_tells_no_partitions():
    """What cooperative-sticky knows of the past stands in the Subscription alone, and the reverse with sticky."""
    told = {"a": ("t-1", 1), "b": ("t-0", 1)}

    assert owned(COOPERATIVE, told_in_user_data(ALL, {"t": 2}, told)) == {"a": "t-0", "b": "t-1"}
    assert owned(STICKY, told_in_subscription(ALL, {"t": 2}, told)) == {"a": "t-0", "b": "t-1"}


def test_a_partition_goes_back_to_who_had_it_a_generation_ago():
    """With unequal subscriptions, what must move goes to its previous owner rather than to who has least."""
    members = {"a": ["t"], "b": ["t"], "c": ["t", "u"]}
    told = {"c": ("t-0 t-1 t-2 t-3", 2)}
    topics = {"t": 4, "u": 1}

    without = owned(STICKY, told_in_user_data(members, topics, told))
    assert without == {"a": "t-0 t-2", "b": "t-1", "c": "t-3 u-0"}
    with_it = owned(STICKY, told_in_user_data(members, topics, {**told, "b": ("t-0", 1)}))
    assert with_it == {"a": "t-1 t-2", "b": "t-0", "c": "t-3 u-0"}


def test_of_several_previous_owners_the_newest_gets_it_back():
    """Among older generations the newest counts, and of equal ones the first on Kafka's walk."""
    members = {"a": ["t"], "b": ["t"], "c": ["t", "u"], "d": ["t"]}
    told = {"c": ("t-0 t-1 t-2 t-3", 5), "a": ("t-0", 1), "b": ("t-0", 3), "d": ("t-0", 3)}
    group = told_in_user_data(members, {"t": 4, "u": 1}, told, subscription={"c": 5})

    assert owned(STICKY, group)["b"] == "t-0"


def test_no_generation_is_older_than_any():
    """A member without a generation counts as a previous owner as soon as somebody has one."""
    members = {"a": ["t"], "c": ["t", "u"], "d": ["t"]}
    told = {"c": ("t-0 t-1 t-2", 0), "d": ("t-0", None)}
    group = told_in_user_data(members, {"t": 3, "u": 1}, told, subscription={"c": 0})

    assert owned(STICKY, group)["d"] == "t-0"
