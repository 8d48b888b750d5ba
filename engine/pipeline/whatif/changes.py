"""
Changes of a group as values, and the members and partitions that it has once they are made.

Who joins is like the members that are there: subscribed to what most of them subscribe to, static where these are; its
rack is unknown. A topic that grows gets new partitions behind those it has, on unknown replicas.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Flags, Floats, Indices, Ints
from ...model.groups import GroupSnapshot, Member
from .lost_racks import Left, left_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaves:
    """A member leaves; *picked* is whether it was ours to say who."""

    member: str
    picked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Joins:
    """A member of this id joins."""

    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grows:
    """A topic has so many partitions, at least as many as now."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stands:
    """A member is in a rack."""

    member: str
    rack: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Can:
    """A member can consume so many offsets/s."""

    member: str
    per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HasThreads:
    """An instance of Kafka Streams has so many threads."""

    member: str
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutRack:
    """A rack is lost with its brokers; each member in it leaves by a `Leaves` of its own."""

    rack: str


Change = Leaves | Joins | Grows | Stands | Can | HasThreads | WithoutRack


def racks_lost(changes: Iterable[Change]) -> list[str]:
    """The racks that are lost."""
    return [change.rack for change in changes if isinstance(change, WithoutRack)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """
    The members and partitions of a group after changes: M members, n partitions of T topics.

    Attributes:
        members: In the order in which the broker would list them: who joins comes last.
        was: (M) the number each has in the group as it is, NONE for who joins.
        stated: (M) offsets/s that it can consume, as somebody says; nan where nobody does.
        rows: (n) the row of each in the group's partition table, NONE for one that is new.
        topic: (n) number of its topic in that table.
        partition: (n) its number in the topic.
        grown: (T) whether the topic has more partitions than now.
        left: The group's partition table, as racks that are lost leave it.
    """

    members: tuple[Member, ...]
    was: Ints
    stated: Floats
    rows: Ints
    topic: Indices
    partition: Indices
    grown: Flags
    left: Left

    @cached_property
    def dead(self) -> Flags:
        """(n) what nobody can read or write."""
        dead: Flags = self.of_rows(self.left.dead, False)
        return dead

    @cached_property
    def coming(self) -> frozenset[str]:
        """The ids of those who join."""
        return frozenset(m.id for m, n in zip(self.members, self.was, strict=True) if n == NONE)

    def of_members(self, values: npt.NDArray[Any], new: Any) -> Any:
        """(M) values of the members that are there; *new* for who joins."""
        return np.append(values, np.array([new], values.dtype))[self.was]

    def able(self, per_second: Floats, of_new: float) -> Floats:
        """(M) offsets/s that each can consume: as somebody says, as is known, of who joins *of_new*."""
        known = self.of_members(per_second, of_new)
        return np.where(np.isnan(self.stated), known, self.stated)

    def of_rows(self, values: npt.NDArray[Any], new: Any) -> Any:
        """(..., n) values of the partitions that are there; *new* for the others."""
        last = np.full((*values.shape[:-1], 1), new, values.dtype)
        return np.concatenate([values, last], axis=-1)[..., self.rows]

    def renumbered(self, owner: Indices) -> Indices:
        """Owners by their numbers in the group as it is, by their new ones; NONE for those who leave."""
        number = np.full(max(int(owner.max(initial=0)), int(self.was.max(initial=0))) + 2, NONE)
        stay = np.flatnonzero(self.was != NONE)
        number[self.was[stay]] = stay
        renumbered: Indices = number[owner].astype(np.int32)
        return renumbered

    def owners(self, owner: Indices) -> Indices:
        """(n) who owns each partition of those that stay, by its new number; NONE where its owner leaves."""
        return self.renumbered(self.of_rows(owner, NONE))

    def spread(self, per_second: Floats) -> Floats:
        """
        (n) what arrives: of a topic that grows the same in each of its partitions, for keys hash anew; where nobody
        can write, nothing.

        Args:
            per_second: (partitions that are there) offsets/s, nan where unknown; then it is of the whole topic.
        """
        old = self.rows != NONE
        topics = len(self.grown)
        arrives = np.where(old, self.of_rows(per_second, np.nan), 0.0)
        total = np.bincount(self.topic, arrives, minlength=topics)
        share = total / np.maximum(np.bincount(self.topic, minlength=topics), 1)
        return np.where(
            self.dead, 0.0, np.where(self.grown[self.topic], share[self.topic], arrives)
        )


def layout(group: GroupSnapshot, changes: Iterable[Change]) -> Layout:
    """
    What a group has after changes, made in their order.

    Args:
        group: The group as it is, its members' subscriptions known.
        changes: Of members and topics that it has by then.
    """
    members = list(group.members)
    changes = tuple(changes)
    stated = dict[str, float]()
    sizes = dict[str, int]()
    for change in changes:
        match change:
            case Leaves():
                members = [member for member in members if member.id != change.member]
            case Joins():
                members.append(_like(group.members, change.member))
            case Grows():
                sizes[change.topic] = change.partitions
            case Stands():
                members = [
                    replace(member, rack=change.rack, rack_source="subscription")
                    if member.id == change.member
                    else member
                    for member in members
                ]
            case Can():
                stated[change.member] = change.per_second
    known = {member.id: number for number, member in enumerate(group.members)}
    rows, topic, partition, grown = _partitions(group, sizes)
    return Layout(
        members=tuple(members),
        was=np.array([known.get(member.id, NONE) for member in members], np.int64),
        stated=np.array([stated.get(member.id, np.nan) for member in members], np.float64),
        rows=rows,
        topic=topic,
        partition=partition,
        grown=grown,
        left=left_of(group.partitions, racks_lost(changes)),
    )


def usual_subscription(members: Sequence[Member]) -> tuple[tuple[str, ...], int]:
    """What most members subscribe to (of equally many, what comes first), and how many of them do."""
    often = Counter(frozenset(member.subscription or ()) for member in members)
    [(topics, count)] = often.most_common(1)
    like = next(m for m in members if frozenset(m.subscription or ()) == topics)
    return like.subscription or (), count


def _like(members: Sequence[Member], name: str) -> Member:
    """A member that is like most of these."""
    topics, _ = usual_subscription(members)
    like = next(member for member in members if (member.subscription or ()) == topics)
    return Member(
        id=name,
        client_id=like.client_id,
        host=like.host,
        instance_id=None if like.instance_id is None else name,
        subscription=topics,
        subscription_regex=like.subscription_regex,
        kind=like.kind,
    )


def _partitions(
    group: GroupSnapshot, sizes: dict[str, int]
) -> tuple[Ints, Indices, Indices, Flags]:
    """Rows, topics and numbers of all partitions, by topic and number; and which topics grow."""
    table = group.partitions
    there = np.bincount(table.topic[table.exists], minlength=len(table.topics))
    wanted = np.array([sizes.get(name, 0) for name in table.topics], np.int64)
    grown: Flags = wanted > there
    # what is remembered of a partition that was there once is nothing of the one that comes
    kept = np.flatnonzero(
        ~(grown[table.topic] & ~table.exists & (table.partition < wanted[table.topic]))
    )
    rows, topic, partition = [kept], [table.topic[kept]], [table.partition[kept]]
    for number in np.flatnonzero(grown).tolist():
        more = np.arange(there[number], wanted[number], dtype=np.int32)
        rows.append(np.full(len(more), NONE))
        topic.append(np.full(len(more), number, np.int32))
        partition.append(more)
    topics, numbers = np.concatenate(topic), np.concatenate(partition)
    order = np.lexsort((numbers, topics))
    return np.concatenate(rows)[order], topics[order], numbers[order], grown


def last_by_name(members: Sequence[Member], count: int) -> list[Member]:
    """
    Those who leave first where nobody says who: the last by name, as the highest ordinal of a StatefulSet.

    Numbers in a name are compared as numbers; of the same name the last by host, then by id.

    >>> def member(name): return Member(id=f"{name}-id", client_id=name, host="")
    >>> [one.client_id for one in last_by_name([member("app-10"), member("app-9"), member("app-1")], 2)]
    ['app-10', 'app-9']
    """

    def by_name(member: Member) -> list[list[tuple[int, int, str]]]:
        return [
            [
                (1, int(part), "") if part.isdecimal() else (0, 0, part)
                for part in re.split(r"(\d+)", name)
            ]
            for name in (member.instance_id or member.client_id, member.host, member.id)
        ]

    return sorted(members, key=by_name)[::-1][:count]


def new_names(members: Sequence[Member], count: int) -> list[str]:
    """
    What members that join are called: `new-1` and so on, but for what a member is called already.

    >>> new_names([Member(id="x", client_id="new-1", host="")], 2)
    ['new-2', 'new-3']
    """
    taken = {name for m in members for name in (m.id, m.client_id, m.instance_id)}
    free = (name for n in range(1, count + len(taken) + 1) if (name := f"new-{n}") not in taken)
    return [name for _, name in zip(range(count), free, strict=False)]
