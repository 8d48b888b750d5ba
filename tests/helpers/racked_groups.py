"""Hypothesis strategies for plain groups whose racks are all known, and their costs by name alone."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

import tests.helpers.strategies  # noqa: F401 registers the profile
from evenkeel.engine.assignor import spec
from evenkeel.engine.model import NONE

RACKS = ("rack-a", "rack-b", "rack-c")


@st.composite
def racked_groups(draw, alike=None):
    """
    Any small group with racks: fresh or with owners, complete or not, even or not.

    Args:
        draw: Of Hypothesis.
        alike: Whether all subscribe to the same; either without it.
    """
    topics = {f"t{n}": draw(st.integers(0, 5)) for n in range(draw(st.integers(1, 4)))}
    names = [f"c{n}" for n in range(draw(st.integers(1, 5)))]
    rack = st.sampled_from(RACKS)
    replica = st.lists(rack, min_size=1, max_size=3)
    same = draw(st.booleans()) if alike is None else alike
    some = st.lists(st.sampled_from([*topics, "gone"]), max_size=4)
    members = {m: list(topics) if same else draw(some) for m in names}
    owner = st.sampled_from([None, *names])
    owned: dict[str, list[tuple[str, int]]] = {m: [] for m in names}
    if draw(st.booleans()):
        for topic, size in topics.items():
            for number in range(size):
                held = draw(owner)
                if held is not None:
                    owned[held].append((topic, number))
    return spec(
        members,
        topics,
        racks={m: draw(rack) for m in names},
        replicas={t: [draw(replica) for _ in range(n)] for t, n in topics.items()},
        owned=owned,
    )


def costs(group, weights):
    """(P, M) what each partition costs on each member, worked out one by one."""
    matrix = np.zeros((group.partition_count, len(group.members)), np.int64)
    for partition in range(group.partition_count):
        near = group.replica_rack[slice(*group.replica_start[partition : partition + 2])]
        owner = group.owner[partition]
        for member in range(len(group.members)):
            matrix[partition, member] += weights.traffic * (group.member_rack[member] not in near)
            matrix[partition, member] += weights.move * (owner == NONE or member != owner)
    return matrix


def limits(group, counts, raised):
    """(T, M) most partitions of each topic per member with so many partitions; 0 where not subscribed."""
    size = np.diff(group.topic_start)
    most = np.zeros((len(group.topics), len(group.members)), np.int64)
    for member in range(len(group.members)):
        mine = sorted(set(group.subscribed(member).tolist()))
        reach = int(size[mine].sum())
        for topic in mine:
            if reach and size[topic]:
                share = counts[member] * 1.0 / reach * int(size[topic])
                most[topic, member] = math.ceil(share) + raised
    return most


def subscribed(group):
    """(P) whether anybody subscribes to the partition's topic."""
    return np.array([len(s) > 0 for s in group.subscribers], np.bool_)[group.topic_of]


def owned_by_subscribers(group):
    """(P) the owner of each partition; NONE where it does not subscribe to the partition's topic."""
    owner = group.owner.copy()
    for partition, topic in enumerate(group.topic_of.tolist()):
        if owner[partition] not in group.subscribers[topic]:
            owner[partition] = NONE
    return owner
