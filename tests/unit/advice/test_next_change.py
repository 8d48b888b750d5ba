"""What a strategy moves when one member leaves, one joins, or all restart, and what it makes of the group then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenkeel.engine.advice.after_change import Stage, after, moved
from evenkeel.engine.advice.next_change import Changes, members_tried
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import (
    GroupSpec,
    answering,
    rejoining,
    spec,
    together,
)
from evenkeel.engine.assignors.interface.rejoin import another_id, with_members
from evenkeel.engine.assignors.kit.settle import settle
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.model.figures import NextChange
from tests.helpers.strategies import Shape, groups

THREE = spec({m: ["t"] for m in "abc"}, {"t": 6})
PLENTY = {"budget": 1_000_000, "most_tried": 100, "most_restarted": 100}
RUNNABLE = (
    "range",
    "roundrobin",
    "sticky",
    "cooperative-sticky",
    "uniform",
    "range-server",
    "fair",
)


def _of(name: str, group: GroupSpec, **changes: int) -> NextChange:
    assign = ASSIGNORS[name].assign
    owner = settle(assign, group).assignment.owner
    return _only(Changes(group, **(changes or PLENTY)).of(answering(assign), owner))


def _only(found: list[NextChange | Infeasible]) -> NextChange:
    """Of the only group."""
    [change] = found
    assert isinstance(change, NextChange)
    return change


@pytest.mark.parametrize(
    ("name", "mean", "of_others", "worst"),
    [
        # a 0-1, b 2-3, c 4-5: without a partition 3 goes on from b to c, without c partition 2 from b to a
        ("range", 8 / 3, 2 / 3, 3),
        ("range-server", 8 / 3, 2 / 3, 3),
        # a 0 3, b 1 4, c 2 5: in turns of two, two of the others' change places whoever leaves
        ("roundrobin", 4.0, 2.0, 4),
        ("sticky", 2.0, 0.0, 2),
        ("cooperative-sticky", 2.0, 0.0, 2),
        ("uniform", 2.0, 0.0, 2),
    ],
)
def test_when_one_leaves(name, mean, of_others, worst):
    """Range and roundrobin move what others own as well; the sticky ones only what the leaving member had."""
    change = _of(name, THREE)

    assert (change.leave_moves_mean, change.leave_moves_of_others_mean) == (mean, of_others)
    assert (change.leave_moves_worst, change.members_tried) == (worst, 3)


@pytest.mark.parametrize(("name", "moves"), [("sticky", 1), ("cooperative-sticky", 1)])
def test_who_joins_takes_its_share_from_the_sticky_ones_and_nothing_else_moves(name, moves):
    """Of six partitions of three members the fourth is to get one, in however many rounds."""
    assert _of(name, THREE).join_moves == moves


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky", "uniform"])
def test_a_restart_moves_what_a_member_has_there_and_back(name):
    """Three members with two partitions each: two leave with it, and two come back to it, three times."""
    assert _of(name, THREE).restart_moves == 12


@pytest.mark.parametrize("name", RUNNABLE)
def test_static_members_restart_without_a_move(name):
    """They have what they had when they are back."""
    group = spec({m: ["t"] for m in "abc"}, {"t": 6}, instance_ids={m: m for m in "abc"})

    assert _of(name, group).restart_moves == 0


def test_only_the_dynamic_ones_of_a_group_count_when_all_restart():
    """One dynamic member of three moves its two partitions there and back."""
    group = spec({m: ["t"] for m in "abc"}, {"t": 6}, instance_ids={"a": "a", "c": "c"})

    assert _of("cooperative-sticky", group).restart_moves == 4


@pytest.mark.parametrize("name", RUNNABLE)
def test_nobody_takes_over_from_a_member_alone(name):
    """What becomes unowned does not move; who joins takes half."""
    change = _of(name, spec({"a": ["t"]}, {"t": 4}))

    assert (change.leave_moves_mean, change.leave_moves_worst, change.restart_moves) == (0, 0, 0)
    assert change.join_moves == 2


def test_members_that_report_nothing_are_dealt_to_anew():
    """A cooperative strategy that hears nothing from anybody cannot keep what they have."""
    group = spec({m: ["t"] for m in "abc"}, {"t": 6})
    assign = answering(ASSIGNORS["cooperative-sticky"].assign)
    owner = np.array([0, 0, 1, 1, 2, 2], np.int32)

    heard = _only(Changes(group, **PLENTY).of(assign, owner))
    unheard = _only(Changes(group, **PLENTY).of(assign, owner, np.arange(3)))

    assert heard.leave_moves_of_others_mean == 0
    assert unheard.leave_moves_of_others_mean > 0


def test_large_groups_are_sampled():
    """The budget says how many members are tried, evenly over the list; what all restarts move is scaled up."""
    members = {f"m{n:02}": ["t"] for n in range(20)}
    group = spec(members, {"t": 80})
    change = _of("cooperative-sticky", group, budget=400, most_tried=9)

    assert Changes(group, budget=400, most_tried=9).tried[:, 0].tolist() == [0, 5, 10, 15]
    assert (change.members_tried, change.leave_moves_worst) == (4, 4)
    assert change.restart_moves == _of("cooperative-sticky", group).restart_moves == 160
    assert _of("cooperative-sticky", group, budget=1, most_tried=9).members_tried == 1
    assert _of("cooperative-sticky", group, budget=10**6, most_tried=2).members_tried == 2


def test_a_strategy_that_cannot_go_on_is_infeasible():
    """It is the caller who says that nothing is known then."""

    def assign(group: GroupSpec):
        raise Infeasible("two are too few.", fix="Have three.")

    [problem] = Changes(THREE).of(answering(assign), np.zeros(6, np.int32))
    assert isinstance(problem, Infeasible)


RANDOM = groups(Shape(fewest_members=1))


def _settled(name: str, group: GroupSpec, *, owned: bool = False) -> np.ndarray:
    """The strategy's own assignment of a group, whose partitions nobody owns unless told otherwise."""
    nobody = np.full(group.partition_count, NONE, np.int32)
    asked = group if owned else replace(group, owner=nobody)
    try:
        answer = settle(ASSIGNORS[name].assign, asked).assignment
    except Infeasible:
        assume(False)
    assume(not answer.findings)
    return answer.owner


@given(RANDOM, st.sampled_from(RUNNABLE))
def test_the_same_group_has_the_same_next_change(group, name):
    """Whoever was asked before, and whatever was worked out for it."""
    owner, assign = _settled(name, group), answering(ASSIGNORS[name].assign)
    shared = Changes(group)
    for other in RUNNABLE:
        shared.of(answering(ASSIGNORS[other].assign), owner)

    assert shared.of(assign, owner) == Changes(group).of(assign, owner)


@given(st.lists(RANDOM, min_size=1, max_size=4))
def test_many_groups_at_once_have_the_next_change_of_each_alone(some):
    """No group shows in what moves in another, whoever is static, silent or alone."""
    assign = ASSIGNORS["range"].assign_many
    of_one = [int(members_tried(group)[0]) for group in some]
    alike = [group for group, tried in zip(some, of_one, strict=True) if tried == of_one[0]]
    owners = [ASSIGNORS["range"].assign(group).owner for group in alike]

    many = together(alike)
    found = Changes(many).of(assign, assign(many).owners(many))

    assert found == [
        _only(Changes(group).of(assign, owner)) for group, owner in zip(alike, owners, strict=True)
    ]


@given(RANDOM, st.sampled_from(RUNNABLE))
def test_figures_hang_together(group, name):
    """A mean lies below the worst, what others lose within all, and nothing exceeds the partitions there are."""
    owner = _settled(name, group)
    change = _only(Changes(group, **PLENTY).of(answering(ASSIGNORS[name].assign), owner))

    assert change.members_tried == len(group.members)
    assert change.leave_moves_of_others_mean <= change.leave_moves_mean
    assert change.leave_moves_mean <= change.leave_moves_worst <= group.partition_count
    assert change.join_moves <= group.partition_count
    assert change.restart_moves <= 2 * len(group.members) * group.partition_count


@given(
    st.integers(2, 6),
    st.integers(0, 20),
    st.sampled_from(["sticky", "cooperative-sticky", "uniform"]),
)
def test_the_sticky_ones_move_no_more_than_balance_needs(members, partitions, name):
    """With equal subscriptions only the leaving one's partitions move, and at most its share to who joins."""
    group = spec({f"m{n}": ["t"] for n in range(members)}, {"t": partitions})
    change = _of(name, group)

    assert change.leave_moves_of_others_mean == 0
    assert change.leave_moves_mean == partitions / members
    assert change.join_moves <= -(-partitions // (members + 1))


PAIRS = groups(Shape(fewest_members=2))


@given(PAIRS, st.sampled_from(RUNNABLE))
def test_a_group_of_the_same_members_is_the_same_group(group, name):
    """Made anew of all its members, it gets the answer of its next rebalance."""
    owner, count = _settled(name, group, owned=True), len(group.members)
    everybody = np.ones(count, np.bool_)
    same = with_members(group, range(count), group.members)

    then, _ = after(
        answering(ASSIGNORS[name].assign),
        Stage(group=same, places=np.arange(count), reports=everybody),
        owner,
    )

    again = settle(ASSIGNORS[name].assign, rejoining(group, owner))
    assert then.tolist() == again.assignment.owner.tolist()


@given(PAIRS, st.sampled_from(RUNNABLE), st.data())
def test_who_stays_takes_over_all_that_it_subscribes_to(group, name, data):
    """What strategies promise holds after somebody left: complete, to subscribers, to nobody who is gone."""
    owner, count = _settled(name, group, owned=True), len(group.members)
    leaver = data.draw(st.integers(0, count - 1))
    stay = np.delete(np.arange(count), leaver)
    left = with_members(group, stay, [group.members[n] for n in stay.tolist()])
    # where its first members have no subscription, sticky takes all for equal, as Kafka does, and the answer tells it
    assume(not settle(ASSIGNORS[name].assign, left).assignment.findings)

    then, _ = after(
        answering(ASSIGNORS[name].assign),
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
