"""The parts of Kafka's sticky assignors, each against the literal way of doing it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.racks import rack_info
from evenkeel.engine.assignors.kafka.sticky.general import least_first
from evenkeel.engine.assignors.kafka.sticky.hand_out import UnfilledMembers, assign_near
from evenkeel.engine.assignors.kafka.sticky.reassignment import (
    Balance,
    Reassignment,
)
from evenkeel.engine.assignors.kit.java_order import JavaSet, string_hashes, topic_partition_hashes
from evenkeel.engine.assignors.kit.orders import stable_order
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.sticky_groups import told_in_user_data

STICKY = ASSIGNORS["sticky"]


@st.composite
def uneven_groups(draw):
    """Unequal subscriptions and a lopsided past: several generations, partitions that are gone, topics left."""
    topics = {t: draw(st.integers(1, 6)) for t in "tuvw"[: draw(st.integers(1, 4))]}
    names = "abcdef"[: draw(st.integers(2, 6))]
    some = st.lists(st.sampled_from(list(topics)), min_size=1, max_size=3)
    members = {m: draw(some) for m in names}
    told = {m: [] for m in names}
    for topic, count in topics.items():
        for number in range(count + draw(st.sampled_from([0, 0, 0, 0, 0, 1]))):
            told[draw(st.sampled_from([names[0], names[-1], *names]))].append(f"{topic}-{number}")
    owned = {m: (" ".join(told[m]), draw(st.sampled_from([2, 2, 1]))) for m in names}
    return told_in_user_data(members, topics, owned)


def _balanced(balance):
    """Kafka's question, literally: all members, all partitions each could have."""
    current, participants = balance._current, balance._participants
    size = current.size.tolist()
    part = [m for m in np.argsort(balance._hash_place).tolist() if not participants.fixed[m]]
    if max(size[m] for m in part) - min(size[m] for m in part) <= 1:
        return True
    lists = list(zip(*(a.tolist() for a in current.lists()), strict=True))
    owner = {p: m for m in part for n, p in lists if n == m}
    return not any(
        size[owner[p]] > size[m] + 1 and (m, p) not in lists
        for topic in range(len(participants.has_fixed_subscriber))
        for m in participants.among(topic).tolist()
        for p in participants.partitions[
            slice(*participants.partition_start[topic : topic + 2].tolist())
        ].tolist()
        if not participants.fixed[m] and size[m] != balance._max_assignment_size[m]
    )


@given(uneven_groups())
def test_balance_is_kafkas(group):
    """Whenever it is asked, a witness or a search says what looking at everything says."""
    asked = Balance.is_balanced

    def is_balanced(self, member, partition):
        answer = asked(self, member, partition)
        assert answer == _balanced(self)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Balance, "is_balanced", is_balanced)
        try:
            STICKY.assign(group)
        except Infeasible:
            reject()


@given(uneven_groups())
def test_passing_over_runs_misses_no_partition(group):
    """Looking at every partition, one by one, gives the same lists."""
    outcome = _outcome(group)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reassignment, "_next", lambda self, partitions, topic, at: at)
        assert _outcome(group) == outcome


def _outcome(group):
    try:
        return group.lists(STICKY.assign(group))
    except Infeasible as reason:
        return str(reason)


RECORDED = json.loads((Path(__file__).parents[3] / "data" / "java_set.json").read_text())
"""
What a `HashSet<TopicPartition>` of JDK 17 and Kafka 4.3 was taken through: *changes* (partition n added, or -n - 1:
partition n removed), and which partition its iterator gave *first* after each.
"""


def _hashes(topic, numbers):
    return topic_partition_hashes(
        np.repeat(string_hashes([topic]), len(numbers)), np.array(numbers)
    )


def test_a_partition_hashes_as_in_java():
    """Number and topic name are mixed as `TopicPartition.hashCode` does, in 32 bits."""
    ours = [_hashes(case["topic"], [5]).astype(np.int32).item() for case in RECORDED]

    assert ours == [case["hash"] for case in RECORDED]


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["topic"])
def test_the_first_of_a_set_is_as_recorded(case):
    """Growth, early growth where many share a bucket, and what was there before show as they do in Java."""
    found, firsts = JavaSet(), []
    for change in case["changes"]:
        if change < 0:
            found.remove(-change - 1)
        else:
            found.add(change, int(_hashes(case["topic"], [change])[0]))
        firsts.append(found.first() if len(found) else None)

    assert firsts == case["first"]


def _unfilled(under_min, need, exactly_min=(), over_min_left=0):
    arrays = (np.array(values, np.int64) for values in (under_min, need, exactly_min))
    return UnfilledMembers(
        **dict(zip(("under_min", "need", "exactly_min"), arrays, strict=True)),
        group_of=np.zeros(100, np.int64),
        over_min_left=np.array([over_min_left]),
    )


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 30))
def test_least_first_deals_one_by_one(sizes, count):
    """All at once is the same as always to the one with least, the first of several."""
    held, expected = list(sizes), []
    for _ in range(count):
        expected.append(held.index(min(held)))
        held[expected[-1]] += 1

    assert least_first(np.array(sizes), count).tolist() == expected


@given(st.data(), st.integers(1, 6), st.integers(0, 12))
def test_racks_are_dealt_as_by_walking_the_list(data, count, unassigned):
    """Places kept by rack give what walking round the shrinking list of members gives."""
    names = [f"m{m}" for m in range(count)]
    rack = st.sampled_from(["a", "b", "c"])
    lives = {m: data.draw(rack | st.none()) for m in names}
    replicas = [
        ["x"],
        *(data.draw(st.lists(rack, max_size=2, unique=True)) for _ in range(unassigned)),
    ]
    group = spec(
        {m: ["t"] for m in names}, {"t": unassigned + 1}, racks=lives, replicas={"t": replicas}
    )
    racks = rack_info(group)
    need = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    under_min = [m for m in range(count) if need[m]]
    exactly_min = [m for m in range(count) if not need[m]]
    over_min_left = data.draw(st.integers(0, count))
    unfilled = _unfilled(
        under_min, [need[m] for m in under_min], exactly_min if over_min_left else [], over_min_left
    )
    if racks is None:
        return

    takers, left = assign_near(
        np.arange(1, unassigned + 1), np.array([unassigned]), racks, unfilled
    )

    expected = _hash_place([set(r) for r in replicas[1:]], lives, names, unfilled)
    assert (
        takers.tolist(),
        left.under_min.tolist(),
        left.exactly_min.tolist(),
        left.over_min_left.item(),
    ) == expected


def _hash_place(replicas, lives, names, unfilled):
    """The literal way: one list of members short, one of those with just enough, and a cursor."""
    under_min, exactly_min, over_min_left = (
        unfilled.under_min.tolist(),
        unfilled.exactly_min.tolist(),
        unfilled.over_min_left.item(),
    )
    need = dict(zip(under_min, unfilled.need.tolist(), strict=True))
    takers, cursor = [], 0
    for fitting in replicas:
        ring = [(cursor + i) % len(under_min) for i in range(len(under_min))]
        at = next((i for i in ring if lives[names[under_min[i]]] in fitting), NONE)
        first = next((m for m in exactly_min if lives[names[m]] in fitting), NONE)
        if at != NONE:
            takers.append(member := under_min[at])
            need[member] -= 1
            if not need[member]:
                under_min.remove(member)
                exactly_min += [member] * (over_min_left > 0)
            else:
                at += 1
            cursor = at % len(under_min) if under_min else 0
            continue
        takers.append(first)
        if first != NONE:
            exactly_min.remove(first)
            over_min_left -= 1
            exactly_min = exactly_min if over_min_left else []
    return takers, under_min, exactly_min, over_min_left


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1 << 20)), min_size=1))
def test_stable_order_sorts_by_all_keys(rows):
    """By the first key, then the second, and what is equal stays in its order, large keys or small."""
    keys = [np.array(column) for column in zip(*rows, strict=True)]

    assert stable_order(*keys).tolist() == sorted(range(len(rows)), key=rows.__getitem__)
