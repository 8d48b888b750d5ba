"""The same group listed in another order: what a strategy must not notice."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.model import NONE, Indices, Ints, ragged_entries

T = TypeVar("T")


def permuted(group: GroupSpec, members: Ints, topics: Ints) -> GroupSpec:
    """
    The group with its members and topics in another order; each member's own lists keep theirs.

    Args:
        group: The group.
        members: (M) old index of each new member.
        topics: (T) old index of each new topic.

    >>> from evenkeel.engine.assignor import spec
    >>> group = spec({"a": ["t"], "b": ["u"]}, {"t": 1, "u": 2}, owned={"b": [("u", 1)]})
    >>> other = permuted(group, np.array([1, 0]), np.array([1, 0]))
    >>> other.members, other.topics, other.owner.tolist(), other.subscription_topic.tolist()
    (('b', 'a'), ('u', 't'), [-1, 0, -1], [0, 1])
    """
    new_member, new_topic = _new_indices(members), _new_indices(topics)
    partitions = partition_order(group, topics)
    subscription_start, sent = ragged_entries(group.subscription_start, members)
    claim_start, claimed = ragged_entries(group.claim_start, members)
    blob_start, told = ragged_entries(group.blob_start, members)
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
        subscription_topic=new_topic[group.subscription_topic[sent]],
        replica_start=replica_start,
        replica_rack=group.replica_rack[replicas],
        leader_rack=group.leader_rack[partitions],
        owner=new_member[group.owner[partitions]],
        claim_start=claim_start,
        claim_topic=new_topic[group.claim_topic[claimed]],
        claim_partition=group.claim_partition[claimed],
        generation=group.generation.take(members),
        blob_start=blob_start,
        blob_topic=new_topic[group.blob_topic[told]],
        blob_partition=group.blob_partition[told],
        blob_generation=group.blob_generation.take(members),
        user_data=_picked(group.user_data, members),
        lag=group.lag.take(partitions),
        rate=group.rate[partitions],
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
