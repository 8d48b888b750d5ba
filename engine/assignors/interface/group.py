"""
The integers a strategy works on.

Members, topics and partitions are indices into name tables; the partitions of topic t are the contiguous indices
`topic_start[t]:topic_start[t + 1]`, so a partition's number within its topic is its index minus the topic's start.
A million partitions are a handful of arrays, not a million objects. Names are a view for people: `lists` and doctests.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Column, Flags, Indices, Ints, ragged_entries
from ...model.assignments import Assignment, Lists
from ...model.pauses import USUAL, Pauses

R = TypeVar("R")

PARTS = "parts made"
"""Where many groups keep their parts (`parts.part_of`): nobody else has the same."""

LIKE = "like"
"""Where groups with other members (`rejoin.with_members`) keep whom these are `Like`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """
    Where each of G groups begins that lie behind each other in one `GroupSpec`.

    Attributes:
        members: (G + 1) its members.
        topics: (G + 1) its topics.
    """

    members: Ints
    topics: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSpec:
    """
    The frozen input of every strategy: M members, T topics, P partitions.

    It is one group, or many behind each other (`many.together`): no member subscribes to a topic of another group.
    A strategy with a method `assign_many` takes many; all others see one.

    Attributes:
        members: Member ids, in the order in which the broker lists them.
        instance_ids: `group.instance.id` of static members, None for dynamic ones.
        racks: Rack names; *member_rack*, *known_rack*, *leader_rack* (P) and *replica_rack* point into it, or NONE.
        member_rack: (M) what each member sent (`client.rack`): all that Kafka's strategies see.
        known_rack: (M) where each member is, as far as is known: what it sent, unless no broker is there, else what
            configuration says. What crosses racks is measured with it, and plans are made with it (`as_read`).
        leaders_only: Whether brokers serve reads from leaders only (no KIP-392): then the leader's rack is what counts
            for both; Kafka's strategies look at the racks of all replicas all the same.
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
        user_data: (M) all of the strategy's own user data, decoded; None without. A custom strategy that needs them has
            those of every member: sent, or else configured.
        lag: (P) offsets; rate: (P) offsets/s produced, nan where unknown.
        bytes_per_record: (P) what one offset weighs, nan where unknown.
        capacity: (M) offsets/s a member can consume, nan where unknown.
        config: (M) client id and host of a member, and what configuration says of it; never what it sent.
        backlog: (P) offsets of the lag beyond what waits for the next commit; None: not told.
        pauses: For how long partitions stand still where the group takes another assignment.
        bounds: Where each of many groups begins; None for one group.
    """

    members: tuple[str, ...]
    instance_ids: tuple[str | None, ...]
    racks: tuple[str, ...]
    member_rack: Indices
    known_rack: Indices
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
    leaders_only: bool = False
    pauses: Pauses = USUAL
    bounds: Bounds | None = None

    @property
    def partition_count(self) -> int:
        """P, the number of partitions of all topics."""
        return int(self.topic_start[-1])

    @property
    def group_count(self) -> int:
        """G, the number of groups."""
        return len(self.member_start) - 1

    @cached_property
    def member_start(self) -> Ints:
        """(G + 1) where each group's members begin."""
        return np.array([0, len(self.members)]) if self.bounds is None else self.bounds.members

    @cached_property
    def topics_start(self) -> Ints:
        """(G + 1) where each group's topics begin."""
        return np.array([0, len(self.topics)]) if self.bounds is None else self.bounds.topics

    @cached_property
    def partition_start(self) -> Ints:
        """(G + 1) where each group's partitions begin."""
        return self.topic_start[self.topics_start]

    @cached_property
    def group_of_member(self) -> Ints:
        """(M) the group of each member."""
        return np.arange(self.group_count).repeat(np.diff(self.member_start))

    @cached_property
    def group_of_topic(self) -> Ints:
        """(T) the group of each topic."""
        return np.arange(self.group_count).repeat(np.diff(self.topics_start))

    @cached_property
    def group_of(self) -> Ints:
        """(P) the group of each partition."""
        return np.arange(self.group_count).repeat(np.diff(self.partition_start))

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
        """
        (P) the partitions by (topic name, number), group after group; Kafka's topic names are ASCII, so any string
        order will do.
        """
        names = [
            topic
            for first, last in itertools.pairwise(self.topics_start.tolist())
            for topic in sorted(range(first, last), key=self.topics.__getitem__)
        ]
        return ragged_entries(self.topic_start, np.array(names, np.int64))[1]


class Like(NamedTuple):
    """Whom the members (M) of a group are like: by their places in another; and which have another id."""

    group: GroupSpec
    places: Ints
    new: Ints


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


def once_of_topics(function: Callable[[GroupSpec], R]) -> Callable[[GroupSpec], R]:
    """As `once`, for functions that look at topics and partitions alone: of groups with other members that is known."""
    known = once(function)

    @wraps(function)
    def found(group: GroupSpec) -> R:
        like: Like | None = vars(group).get(LIKE)
        return known(group) if like is None else found(like.group)

    return found


def like(group: GroupSpec, other: GroupSpec, places: Ints, new: Ints) -> GroupSpec:
    """A group of the same topics as another one, and of other members, told whom they are `Like`."""
    vars(group).update({name: getattr(other, name) for name in _OF_TOPICS})
    vars(group)[LIKE] = Like(other, places, new)
    return group


_OF_TOPICS = (
    *("topics_start", "partition_start", "group_of_topic", "group_of"),
    *("topic_size", "topic_of", "number_of", "by_name"),
)
"""What a group works out of its topics and partitions alone."""


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
    other = object.__new__(type(group))
    vars(other).update(vars(group), **reports)
    vars(other).pop(PARTS, None)
    return other


def learn(group: GroupSpec, other: GroupSpec) -> None:
    """Let a group know by `once` what is known of the same group with other reports."""
    for name, value in vars(other).items():
        if name != PARTS:
            vars(group).setdefault(name, value)


def with_lags(group: GroupSpec, lag: Column) -> GroupSpec:
    """The group with other lags."""
    other = reporting(group, {"lag": lag})
    # what a function of `once` found may go by them
    for name in [name for name in vars(other) if "." in name]:
        del vars(other)[name]
    return other
