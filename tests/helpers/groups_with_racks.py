"""Random groups whose racks are all known, and their costs by name alone."""

from __future__ import annotations

import math

import numpy as np

from evenkeel.engine.model.arrays import NONE
from tests.helpers.strategies import Shape, groups


def racked_groups(alike=False):
    """Small groups of which all racks are known; *alike*: all members subscribe to the same."""
    size = {"most_members": 5, "most_topics": 4, "most_partitions": 5, "fewest_members": 1}
    return groups(Shape(alike=alike, racked=True, **size))


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
