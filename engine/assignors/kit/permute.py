"""The same group listed in another order: what a strategy must not notice."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from ...model.arrays import NONE, Indices, Ints, ragged_entries
from ..interface import GroupSpec

T = TypeVar("T")


def permuted(group: GroupSpec, members: Ints, topics: Ints) -> GroupSpec:
    """
    The group with its members and topics in another order; each member's own lists keep theirs.

    Args:
        group: The group.
        members: (M) old index of each new member.
        topics: (T) old index of each new topic.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["u"]}, {"t": 1, "u": 2}, owned={"b": [("u", 1)]})
    >>> other = permuted(group, np.array([1, 0]), np.array([1, 0]))
    >>> other.members, other.topics, other.owner.tolist(), other.subscription_topic.tolist()
    (('b', 'a'), ('u', 't'), [-1, 0, -1], [0, 1])
    """
    new_member, new_topic = _new_indices(members), _new_indices(topics)
    partitions = partition_order(group, topics)
    subscription_start, subscribed = ragged_entries(group.subscription_start, members)
    owned_start, owned = ragged_entries(group.owned_start, members)
    user_data_start, user_data = ragged_entries(group.user_data_start, members)
    replica_start, replicas = ragged_entries(group.replica_start, partitions)
    return replace(
        group,
        members=_picked(group.members, members),
        instance_ids=_picked(group.instance_ids, members),
        member_rack=group.member_rack[members],
        topics=_picked(group.topics, topics),
        topic_ids=_picked(group.topic_ids, topics),
        topic_exists=group.topic_exists[topics],
        topic_start=ragged_entries(group.topic_start, topics)[0],
        subscription_start=subscription_start,
        subscription_topic=new_topic[group.subscription_topic[subscribed]],
        replica_start=replica_start,
        replica_rack=group.replica_rack[replicas],
        leader_rack=group.leader_rack[partitions],
        owner=new_member[group.owner[partitions]],
        owned_start=owned_start,
        owned_topic=new_topic[group.owned_topic[owned]],
        owned_partition=group.owned_partition[owned],
        generation=group.generation.take(members),
        user_data_start=user_data_start,
        user_data_topic=new_topic[group.user_data_topic[user_data]],
        user_data_partition=group.user_data_partition[user_data],
        user_data_generation=group.user_data_generation.take(members),
        user_data=_picked(group.user_data, members),
        lag=group.lag.take(partitions),
        rate=group.rate[partitions],
        bytes_per_record=group.bytes_per_record[partitions],
        capacity=group.capacity[members],
        config=_picked(group.config, members),
    )


def partition_order(group: GroupSpec, topics: Ints) -> Ints:
    """(P) the partitions topic by topic in the given order of topics."""
    return ragged_entries(group.topic_start, topics)[1]


def _new_indices(old: Ints) -> Indices:
    """Old index -> new one; the last entry is read by `NONE` and stays so."""
    new = np.full(len(old) + 1, NONE, np.int32)
    new[old] = np.arange(len(old), dtype=np.int32)
    return new


def _picked(values: tuple[T, ...], index: Ints) -> tuple[T, ...]:
    return tuple(values[i] for i in index.tolist())
