"""
The integers a strategy works on.

Members, topics and partitions are indices into name tables; the partitions of topic t are the contiguous indices
`topic_start[t]:topic_start[t + 1]`, so a partition's number within its topic is its index minus the topic's start.
A million partitions are a handful of arrays, not a million objects. Names are a view for people: `lists` and doctests.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Column, Flags, Indices, Ints
from ...model.assignments import Assignment, Lists

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSpec:
    """
    The frozen input of every strategy: M members, T topics, P partitions.

    Attributes:
        members: Member ids, in the order in which the broker lists them.
        instance_ids: `group.instance.id` of static members, None for dynamic ones.
        racks: Rack names; *member_rack* (M), *leader_rack* (P) and *replica_rack* point into it, or NONE.
        topics: Names of all topics anybody mentions; *topic_exists* (T) is False for those the cluster lacks.
        topic_ids: Kafka's topic ids as UUID text, None where not known.
        topic_start: (T + 1) where each topic's partitions begin.
        subscription_start, subscription_topic: Ragged, member -> topic indices as it lists them: any order, even twice.
        replica_start, replica_rack: Ragged, partition -> racks of its replicas; NONE is a broker without rack.
        owner: (P) current owner, NONE for nobody.
        owned_start, owned_topic, owned_partition: Ragged, member -> partitions its Subscription says it owns, in its
            own order; two members may name the same one, and a partition number may no longer exist.
        generation: (M) the generation in its Subscription; unknown where it has none.
        user_data_start, user_data_topic, user_data_partition: Ragged, member -> partitions the strategy's own user data
            says it owns (`sticky` reads them there), in the order of the bytes.
        user_data_generation: (M) the generation in that user data; unknown where it has none.
        user_data: (M) all of the strategy's own user data, decoded; None without.
        lag: (P) offsets; rate: (P) offsets/s produced, nan where unknown.
        bytes_per_record: (P) what one offset weighs, nan where unknown.
        capacity: (M) offsets/s a member can consume, nan where unknown.
        config: (M) free settings of a member for custom strategies (weight, host ...).
        backlog: (P) offsets of the lag beyond what waits for the next commit; None: not told.
    """

    members: tuple[str, ...]
    instance_ids: tuple[str | None, ...]
    racks: tuple[str, ...]
    member_rack: Indices
    topics: tuple[str, ...]
    topic_ids: tuple[str | None, ...]
    topic_exists: Flags
    topic_start: Ints
    subscription_start: Ints
    subscription_topic: Indices
    replica_start: Ints
    replica_rack: Indices
    leader_rack: Indices
    owner: Indices
    owned_start: Ints
    owned_topic: Indices
    owned_partition: Indices
    generation: Column
    user_data_start: Ints
    user_data_topic: Indices
    user_data_partition: Indices
    user_data_generation: Column
    user_data: tuple[Mapping[str, Any] | None, ...]
    lag: Column
    rate: npt.NDArray[np.float64]
    bytes_per_record: npt.NDArray[np.float64]
    capacity: npt.NDArray[np.float64]
    config: tuple[Mapping[str, Any], ...] = field(default=())
    backlog: npt.NDArray[np.float64] | None = None

    @property
    def partition_count(self) -> int:
        """P, the number of partitions of all topics."""
        return int(self.topic_start[-1])

    @cached_property
    def topic_size(self) -> Ints:
        """(T) number of partitions of each topic."""
        return self.topic_start[1:] - self.topic_start[:-1]

    @cached_property
    def topic_of(self) -> Indices:
        """(P) the topic of each partition."""
        return np.arange(len(self.topics), dtype=np.int32).repeat(self.topic_size)

    @cached_property
    def number_of(self) -> Ints:
        """(P) each partition's number within its topic."""
        return np.arange(self.partition_count) - self.topic_start[self.topic_of]

    @cached_property
    def static(self) -> Flags:
        """(M) which members have an instance id (KIP-345)."""
        return np.array([name is not None for name in self.instance_ids], np.bool_)

    @cached_property
    def subscribers(self) -> tuple[Indices, ...]:
        """(T) the distinct members subscribed to each topic, ascending."""
        member = np.repeat(np.arange(len(self.members)), np.diff(self.subscription_start))
        keys = np.sort(self.subscription_topic.astype(np.int64) * len(self.members) + member)
        pairs = keys[np.diff(keys, prepend=-1) != 0]  # np.unique takes ten times as long
        topics, members = np.divmod(pairs, max(len(self.members), 1))
        cuts = np.searchsorted(topics, np.arange(len(self.topics) + 1))
        members = members.astype(np.int32)
        return tuple(members[a:b] for a, b in itertools.pairwise(cuts))

    def subscribed(self, member: int) -> Indices:
        """Topic indices as the member lists them."""
        at = self.subscription_start
        return self.subscription_topic[at[member] : at[member + 1]]

    def partitions_of(self, topic: int) -> range:
        """The partition indices of a topic."""
        return range(int(self.topic_start[topic]), int(self.topic_start[topic + 1]))

    def lists(self, assignment: Assignment) -> dict[str, list[tuple[str, int]]]:
        """
        The assignment in names: member -> (topic, partition) pairs, every member present.

        Exactly the raw assignment where the answer has one, in the strategy's own order where it has one, else by
        (topic, partition). A partition that must be given up first is in nobody's list.
        """
        if assignment.raw_assignment is not None:
            return self.named(assignment.raw_assignment)
        owner, number, topic_of = assignment.owner, self.number_of, self.topic_of
        order = self.by_name if assignment.order is None else assignment.order
        lists: dict[str, list[tuple[str, int]]] = {member: [] for member in self.members}
        held = order[owner[order] != NONE]
        rows = zip(
            owner[held].tolist(), topic_of[held].tolist(), number[held].tolist(), strict=True
        )
        for member, topic, partition in rows:
            lists[self.members[member]].append((self.topics[topic], partition))
        return lists

    def named(self, lists: Lists) -> dict[str, list[tuple[str, int]]]:
        """Lists of indices in names: member -> (topic, partition) pairs, every member present."""
        names = [self.topics[t] for t in lists.topic.tolist()]
        pairs = list(zip(names, lists.partition.tolist(), strict=True))
        bounds = itertools.pairwise(lists.start.tolist())
        return {m: pairs[a:b] for m, (a, b) in zip(self.members, bounds, strict=True)}

    @cached_property
    def by_name(self) -> Ints:
        """(P) the partitions by (topic name, number); Kafka's topic names are ASCII, so any string order will do."""
        names = sorted(range(len(self.topics)), key=self.topics.__getitem__)
        spans = [np.arange(*self.topic_start[t : t + 2]) for t in names]
        return np.concatenate([np.zeros(0, np.int64), *spans])


def once(function: Callable[[GroupSpec], R]) -> Callable[[GroupSpec], R]:
    """
    Have something worked out once per group, however many strategies ask for it.

    For functions that do not look at what members report (*owned_...*, *user_data...*, generations): the same group
    with other reports (`rejoin`) keeps what is known. Nobody may change what such a function returns.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(group: GroupSpec) -> R:
        kept = vars(group)
        if name not in kept:
            kept[name] = function(group)
        found: R = kept[name]
        return found

    return known


def nothing_reported(members: int) -> dict[str, Any]:
    """The fields of a group none of whose members owns or reports anything yet, by name."""
    nothing, nobody = np.zeros(members + 1, np.int64), np.zeros(0, np.int32)
    unknown = Column.unknown(members)
    return {
        "owned_start": nothing,
        "owned_topic": nobody,
        "owned_partition": nobody,
        "generation": unknown,
        "user_data_start": nothing,
        "user_data_topic": nobody,
        "user_data_partition": nobody,
        "user_data_generation": unknown,
    }


def reporting(group: GroupSpec, reports: Mapping[str, Any]) -> GroupSpec:
    """The group with other reports of its members, by field; what is known of it by `once` stays known."""
    other = replace(group, **reports)
    for name, value in vars(group).items():
        vars(other).setdefault(name, value)
    return other


def learn(group: GroupSpec, other: GroupSpec) -> None:
    """Let a group know by `once` what is known of the same group with other reports."""
    for name, value in vars(other).items():
        vars(group).setdefault(name, value)
