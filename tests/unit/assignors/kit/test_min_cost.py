"""PlainGroup groups near their data: even counts, the least cost, limits per topic, and when racks are off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.engine.advice.scoring import subscribed as members_of
from evenkeel.engine.assignors.flow.min_cost import Weights, min_cost
from evenkeel.engine.assignors.flow.plain_group import even_counts
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.messages.wording import proof
from evenkeel.engine.metrics.balance import fairly_balanced, member_counts
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.groups_with_racks import (
    costs,
    limits,
    owned_by_subscribers,
    racked_groups,
    subscribed,
)
from tests.helpers.transport_lp import least_cost

WEIGHTS = st.sampled_from([Weights(), Weights(traffic=1, move=10), Weights(traffic=1, move=0)])


def least(group, weights, counts, most):
    """The linear program's optimum for partitions that anybody subscribes to."""
    rows = subscribed(group)
    return least_cost(costs(group, weights)[rows], counts, group.topic_of[rows], most)


@given(racked_groups(), WEIGHTS)
def test_nothing_with_the_same_counts_is_cheaper(group, weights):
    """Without limits the cost is that of a linear program in which members take only what they subscribe to."""
    answer = min_cost(group, weights, balance_topics=False)
    counts = member_counts(answer.owner, len(group.members))
    may = limits(group, np.ones(len(group.members)), 10_000)
    rows = np.flatnonzero(subscribed(group))

    if len(rows):
        assert answer.cost == least(group, weights, counts, may)
    assert answer.cost == costs(group, weights)[rows, answer.owner[rows]].sum()


@given(racked_groups(), WEIGHTS)
def test_limits_are_kept_and_raised_only_where_they_must_be(group, weights):
    """The cost within limits is a linear program's; with limits one lower there would be no answer."""
    answer = min_cost(group, weights, balance_topics=True)
    counts = member_counts(answer.owner, len(group.members))
    rows = subscribed(group)
    if not rows.any():
        assert answer.partitions == 0
        return
    most = limits(group, counts, answer.raised)
    held = np.zeros_like(most)
    np.add.at(held, (group.topic_of[rows], answer.owner[rows]), 1)

    assert (held <= most).all()
    assert answer.cost == least(group, weights, counts, most)
    if answer.raised:
        lower = np.maximum(limits(group, counts, answer.raised - 1), 0)
        assert least(group, weights, counts, lower) is None


@given(racked_groups(alike=True))
def test_equal_subscriptions_need_no_raised_limits(group):
    """The KIP's own limits always leave an answer."""
    assert min_cost(group, balance_topics=True).raised == 0


def settled(group):
    """The group after an assignment that pays for moves only."""
    answer = min_cost(group, Weights(traffic=0, move=1), balance_topics=False)
    return replace(group, owner=answer.owner)


LEFT = spec(
    {"c0": ["t1"], "c1": ["t0", "t1"], "c2": ["t0"]},
    {"t0": 1, "t1": 2},
    racks={"c0": "x", "c1": "x", "c2": "x"},
    replicas={"t0": [["x"]], "t1": [["x"]] * 2},
    owned={"c0": [("t1", 0)], "c1": [("t0", 0)], "c2": [("t1", 1)]},
)
"""Everybody owns one partition, and c2 that of a topic it has left."""


@given(racked_groups() | racked_groups().map(settled), st.booleans())
@example(LEFT, False)
def test_even_counts_are_kept(group, balance):
    """Where subscribers own all partitions and nobody could relieve anybody, counts stay, whoever gets what."""
    owned = owned_by_subscribers(group)
    counts = member_counts(owned, len(group.members))
    complete = (owned[subscribed(group)] != NONE).all()
    if not complete or not fairly_balanced(counts, owned, members_of(group)).all():
        return
    answer = min_cost(group, balance_topics=balance)

    assert member_counts(answer.owner, len(group.members)).tolist() == counts.tolist()


@given(racked_groups(alike=True), st.booleans())
def test_equal_subscriptions_make_equal_counts(group, balance):
    """Whatever the group has now, counts differ by one at most."""
    counts = member_counts(min_cost(group, balance_topics=balance).owner, len(group.members))

    assert counts.max() - counts.min() <= 1


@st.composite
def classes(draw):
    """Classes with their subscribers, what these own of them, and what nobody owns: (lists, held, size)."""
    members = draw(st.integers(1, 6))
    one = st.sets(st.integers(0, members - 1), min_size=1).map(sorted)
    lists = draw(st.lists(one, min_size=1, max_size=5))
    held = [[draw(st.integers(0, 6)) for _ in row] for row in lists]
    size = [sum(row) + draw(st.integers(0, 6)) for row in held]
    return members, lists, held, size


@given(classes())
def test_counts_add_up_and_nobody_could_be_relieved(given_classes):
    """All is given out; pouring the result again changes nothing."""
    members, lists, held, size = given_classes
    start = np.cumsum([0, *map(len, lists)])
    counts = even_counts(
        start, np.concatenate(lists), np.concatenate(held), np.array(size), members
    )

    assert counts.sum() == sum(size)
    if len({tuple(row) for row in lists}) == 1:
        shares = counts[lists[0]]
        assert shares.max() - shares.min() <= 1


def test_what_does_not_divide_goes_to_whoever_keeps_more():
    """Five partitions, and the second member has most of them: it keeps the third."""
    counts = even_counts(np.array([0, 2]), np.array([0, 1]), np.array([1, 4]), np.array([5]), 2)

    assert counts.tolist() == [2, 3]


def test_counts_are_levelled_over_chains_of_topics():
    """Member 0 passes on what member 1 may take, who passes on what member 2 may."""
    counts = even_counts(
        np.array([0, 2, 4]), np.array([0, 1, 1, 2]), np.array([6, 0, 0, 0]), np.array([6, 3]), 3
    )

    assert counts.tolist() == [3, 3, 3]


@pytest.mark.parametrize("balance", [False, True])
def test_a_missing_rack_names_who_and_what(balance):
    """Members without rack, unknown replicas and rackless brokers are all told, with their numbers."""
    group = spec(
        {"a": ["t"], "b": ["t"], "idle": ["gone"]},
        {"t": 3},
        racks={"a": "x"},
        replicas={"t": [["x"], [], ["x", None]]},
    )

    with pytest.raises(Infeasible) as told:
        min_cost(group, balance_topics=balance)
    assert told.value.message == (
        "a missing rack switches it off (KIP-925): 1 of 2 members has no rack (b); "
        "1 of 3 partitions has unknown replicas (t-1); "
        "1 of 3 partitions has a replica on a broker without rack (t-2)."
    )


def test_many_missing_racks_are_counted_not_listed():
    """Three are named, the others counted."""
    group = spec({f"c{n}": ["t"] for n in range(5)}, {"t": 1}, replicas={"t": [["x"]]})

    with pytest.raises(Infeasible, match=r"5 of 5 members have no rack \(c0, c1, c2 and 2 more\)"):
        min_cost(group, balance_topics=False)


def test_a_group_without_members_owns_nothing():
    """Nobody subscribes: nothing is given out, nothing is claimed of it."""
    answer = min_cost(spec({}, {"t": 2}), balance_topics=True)

    assert answer.owner.tolist() == [NONE, NONE]
    assert answer.assignment().proof == ()


def test_an_owner_that_does_not_subscribe_keeps_nothing():
    """Whoever holds a partition of a topic it left is not its home, and counts as nobody."""
    group = spec(
        {"a": ["t"], "b": ["u"]},
        {"t": 1, "u": 1},
        racks={"a": "x", "b": "x"},
        replicas={"t": [["x"]], "u": [["x"]]},
        owned={"b": [("t", 0), ("u", 0)]},
    )
    answer = min_cost(group, balance_topics=False)

    assert (answer.owner.tolist(), answer.moved) == ([0, 1], 1)


def test_equal_costs_are_said_to_gain_nothing():
    """Every partition on both racks: the answer says that racks make no difference."""
    group = spec(
        {"a": ["t"], "b": ["t"]},
        {"t": 2},
        racks={"a": "x", "b": "y"},
        replicas={"t": [["x", "y"], ["y", "x"]]},
    )
    told = proof(min_cost(group, balance_topics=False).assignment().proof)

    assert told is not None
    assert "racks make no difference" in told


def test_racks_that_no_subscriber_shares_gain_nothing_either():
    """Two racks hold the data and the only subscriber of each topic is in neither or in both alike."""
    group = spec(
        {"a": ["t"], "b": ["u"]},
        {"t": 1, "u": 1},
        racks={"a": "x", "b": "y"},
        replicas={"t": [["y"]], "u": [["x"]]},
    )

    assert not min_cost(group, balance_topics=False).racks_matter


def test_raised_limits_are_said():
    """The member that subscribes to both topics must own all of the second, more than half."""
    group = spec(
        {"a": ["t"], "b": ["t", "u"]},
        {"t": 2, "u": 2},
        racks={"a": "x", "b": "x"},
        replicas={"t": [["x"]] * 2, "u": [["x"]] * 2},
    )
    answer = min_cost(group, balance_topics=True)

    assert answer.raised == 1
    assert "raised by 1, because subscriptions differ" in (proof(answer.assignment().proof) or "")


@pytest.mark.parametrize(("size", "raised"), [(2, 1), (4, 2), (6, 3), (10, 5), (14, 7)])
def test_limits_are_raised_by_the_least_number(size, raised):
    """One member subscribes to both topics and has to own all of the second: twice its share."""
    group = spec(
        {"a": ["t"], "b": ["t", "u"]},
        {"t": size, "u": size},
        racks={"a": "x", "b": "x"},
        replicas={"t": [["x"]] * size, "u": [["x"]] * size},
    )

    assert min_cost(group, balance_topics=True).raised == raised


def test_too_many_limits_are_not_tried(monkeypatch):
    """Memory grows with topics times members; the numbers are told, and min_traffic still answers."""
    monkeypatch.setattr("evenkeel.engine.assignors.flow.min_cost.MOST_LIMITS", 3)
    group = spec(
        {"a": ["t", "u"], "b": ["t", "u"]},
        {"t": 1, "u": 1},
        racks={"a": "x", "b": "x"},
        replicas={"t": [["x"]], "u": [["x"]]},
    )

    with pytest.raises(Infeasible, match="2 topics and 2 members make 4 limits, more than 3"):
        min_cost(group, balance_topics=True)
    assert min_cost(group, balance_topics=False).partitions == 2
