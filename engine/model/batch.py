"""
Many groups in shared arrays, for vectorized computation.

The rows of group g are `start[g]:start[g + 1]`, its members `members.start[g]:members.start[g + 1]`. Owners are numbers
of members in the whole batch; a topic of the partition table belongs to one group. Sums, maxima and counts per group
are reductions over consecutive rows (`sum_by`, `max_by`, `min_by`, `count_by`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import NONE, Column, Flags, Floats, Indices, Ints, ragged, starts_of
from .groups import GroupHeader, GroupSnapshot, PartitionTable, Roster


@dataclass(frozen=True, kw_only=True, eq=False)
class Members(Roster):
    """
    The members of the groups of a batch, group by group.

    Attributes:
        start: (G + 1) where each group's members begin.
        generations: Generation or epoch of the assignment of each; None unknown.
        subscription_start, subscription_topic: Ragged, member -> the topics it subscribes to, by their place in
            *topic_names*; none where that is not known.
        subscription_known: (M) whether its subscription is known at all.
        shares: (M) partitions of a member of a share group, as in `model.Member`; NONE elsewhere.
    """

    start: Ints
    generations: Sequence[int | None]
    subscription_start: Ints
    subscription_topic: Ints
    topic_names: Sequence[str]
    subscription_known: Flags
    shares: Ints

    def roster(self, group: int) -> Roster:
        """The members of one group by property."""
        own = slice(int(self.start[group]), int(self.start[group + 1]))
        return Roster(**{name: getattr(self, name)[own] for name in _OF_ROSTER})

    @cached_property
    def counts(self) -> Ints:
        """(G) number of members of each group."""
        counts: Ints = np.diff(self.start)
        return counts

    @cached_property
    def group(self) -> Ints:
        """(M) the group of each member."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def subscribed(self) -> Ints:
        """(M) how many topics each subscribes to; 0 also where that is not known."""
        counts: Ints = np.diff(self.subscription_start)
        return counts

    def subscriptions(self, group: int) -> list[frozenset[str]]:
        """The subscription of each member that subscribes to a topic."""
        if group not in self._subscriptions:
            self._subscriptions[group] = self._listed(group)
        return self._subscriptions[group]

    @cached_property
    def _subscriptions(self) -> dict[int, list[frozenset[str]]]:
        return {}

    def _listed(self, group: int) -> list[frozenset[str]]:
        bounds = self.subscription_start[self.start[group] : self.start[group + 1] + 1].tolist()
        topics = self.subscription_topic
        return [
            frozenset(self.topic_names[t] for t in topics[first:last].tolist() if t != NONE)
            for first, last in itertools.pairwise(bounds)
            if last > first
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupBatch:
    """
    Groups of a snapshot.

    Attributes:
        headers: (G) properties of each group without members and partitions.
        members: Members of all groups.
        topics: (G) subscribed topics of each group, existing or not.
        partitions: Partitions of all groups, by (group, topic name, partition); an owner is the number of a member in
            the batch.
        start: (G + 1) start of the rows of each group in *partitions*.
        groups: The groups as single values, created on demand.
    """

    headers: Sequence[GroupHeader]
    members: Members
    topics: tuple[frozenset[str], ...]
    partitions: PartitionTable
    start: Ints
    groups: Sequence[GroupSnapshot]

    def __len__(self) -> int:
        return len(self.headers)

    @cached_property
    def group(self) -> Ints:
        """(n) the group of each row."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def place(self) -> dict[str, int]:
        """Group id -> its number in the batch."""
        return {header.group: number for number, header in enumerate(self.headers)}

    @cached_property
    def readable(self) -> Flags:
        """(G) whether each group could be read."""
        return self.flags(lambda header: header.error is None)

    @cached_property
    def rebalancing(self) -> Flags:
        """(G) whether each group was rebalancing."""
        return self.flags(lambda header: header.rebalancing)

    @cached_property
    def shared(self) -> Flags:
        """(G) whether each group is a share group."""
        return self.flags(lambda header: header.shares_partitions)

    @cached_property
    def epochs(self) -> npt.NDArray[np.object_]:
        """(G) the epoch of each group, None where it has none."""
        return np.array([header.epoch for header in self.headers], np.object_)

    @cached_property
    def topic_group(self) -> Ints:
        """(topics) the group each topic of the partition table belongs to."""
        of_topic = np.zeros(len(self.partitions.topics), np.int64)
        of_topic[self.partitions.topic] = self.group
        return of_topic

    def flags(self, condition: Any) -> Flags:
        """(G) a condition of each group's header."""
        return np.fromiter((condition(h) for h in self.headers), np.bool_, len(self))

    def rows(self, group: int) -> slice:
        """The rows of a group."""
        return slice(int(self.start[group]), int(self.start[group + 1]))

    def members_of(self, group: int) -> slice:
        """The members of a group."""
        return slice(int(self.members.start[group]), int(self.members.start[group + 1]))

    def owners_of(self, group: int) -> Indices:
        """(rows of the group) owner of each, counted from the first member of the group."""
        return _local(self.partitions.owner[self.rows(group)], int(self.members.start[group]))

    def table_of(self, group: int) -> PartitionTable:
        """The partition table of one group; owners are members of that group."""
        return one_group(self.partitions, self.rows(group), int(self.members.start[group]))


_OF_ROSTER = tuple(each.name for each in fields(Roster))

OF_HEADERS = ("place", "readable", "rebalancing", "shared", "epochs")
"""What follows from the headers of a batch, but for the snapshot and its moment."""

_COLUMNS = tuple(f.name for f in fields(PartitionTable) if f.type == "Column")
_OF_TOPICS = ("topics", "topic_ids", "cleanup_policies", "retention_ms", "retention_bytes")
_PLAIN = ("partition", "exists", "subscribed", "target_turn", "commit_unread", "leader_rack")


def one_group(table: PartitionTable, rows: slice, base: int) -> PartitionTable:
    """The rows of one group; the owners in them count from *base*."""
    topic = table.topic[rows]
    first = int(topic[0]) if len(topic) else 0
    topics = slice(first, int(topic[-1]) + 1 if len(topic) else 0)
    entries = slice(int(table.replica_start[rows.start]), int(table.replica_start[rows.stop]))
    return PartitionTable(
        racks=table.racks,
        topic=topic - np.int32(first),
        owner=_local(table.owner[rows], base),
        target_owner=_local(table.target_owner[rows], base),
        replica_start=table.replica_start[rows.start : rows.stop + 1] - entries.start,
        replica_rack=table.replica_rack[entries],
        in_sync=table.in_sync[entries],
        **{name: getattr(table, name)[topics] for name in _OF_TOPICS},
        **{name: getattr(table, name)[rows] for name in _PLAIN},
        **{name: getattr(table, name).take(rows) for name in _COLUMNS},
    )


def _local(owner: Indices, base: int) -> Indices:
    return np.where(owner == NONE, NONE, owner - base).astype(np.int32)


def batch_of(groups: Sequence[GroupSnapshot]) -> GroupBatch:
    """Groups that are there one by one, as a batch."""
    members = [member for group in groups for member in group.members]
    counts = np.array([len(group.members) for group in groups], np.int64)
    base = starts_of(counts)
    sizes = np.array([len(group.partitions) for group in groups], np.int64)
    names = sorted({topic for member in members for topic in member.subscription or ()})
    place = {name: number for number, name in enumerate(names)}
    subscribed, topics = ragged([[place[t] for t in m.subscription or ()] for m in members])
    return GroupBatch(
        headers=tuple(groups),
        members=Members(
            **vars(Roster.of(members)),
            start=base,
            generations=[m.generation for m in members],
            subscription_start=subscribed,
            subscription_topic=topics.astype(np.int64),
            topic_names=names,
            subscription_known=np.array([m.subscription is not None for m in members], np.bool_),
            shares=np.array([NONE if m.shares is None else m.shares for m in members], np.int64),
        ),
        topics=tuple(group.topics for group in groups),
        partitions=_joined([g.partitions for g in groups], base.tolist()),
        start=starts_of(sizes),
        groups=groups,
    )


def _joined(tables: Sequence[PartitionTable], base: Sequence[int]) -> PartitionTable:
    """Partition tables below each other; racks are named by all of them together."""
    racks = tuple(sorted({rack for table in tables for rack in table.racks}))
    place = {rack: number for number, rack in enumerate(racks)}
    renamed = [
        np.array([*(place[rack] for rack in table.racks), NONE], np.int32) for table in tables
    ]
    topics = starts_of([len(table.topics) for table in tables])
    entries = starts_of([len(table.replica_rack) for table in tables])

    def stacked(name: str, kind: Any = np.int32) -> Any:
        return _concatenated([getattr(table, name) for table in tables], kind)

    def shifted(name: str) -> Any:
        parts = [
            np.where(getattr(table, name) == NONE, NONE, getattr(table, name) + by)
            for table, by in zip(tables, base, strict=False)
        ]
        return _concatenated(parts, np.int32)

    def column(name: str) -> Column:
        parts = [getattr(table, name) for table in tables]
        return Column(
            _concatenated([p.values for p in parts], np.int64),
            _concatenated([p.known for p in parts], np.bool_),
        )

    of_topics: dict[str, Any] = {
        name: tuple(each for table in tables for each in getattr(table, name))
        for name in _OF_TOPICS
    }
    columns: dict[str, Any] = {name: column(name) for name in _COLUMNS}
    of_racks = list(zip(tables, renamed, strict=True))
    return PartitionTable(
        racks=racks,
        topic=_concatenated(
            [t.topic + by for t, by in zip(tables, topics.tolist(), strict=False)], np.int32
        ),
        partition=stacked("partition"),
        exists=stacked("exists", np.bool_),
        subscribed=stacked("subscribed", np.bool_),
        owner=shifted("owner"),
        target_owner=shifted("target_owner"),
        target_turn=stacked("target_turn"),
        commit_unread=stacked("commit_unread", np.bool_),
        leader_rack=_concatenated([names[t.leader_rack] for t, names in of_racks], np.int32),
        replica_start=_concatenated(
            [
                np.zeros(1, np.int64),
                *(
                    t.replica_start[1:] + by
                    for t, by in zip(tables, entries.tolist(), strict=False)
                ),
            ],
            np.int64,
        ),
        replica_rack=_concatenated([names[t.replica_rack] for t, names in of_racks], np.int32),
        in_sync=stacked("in_sync", np.bool_),
        **of_topics,
        **columns,
    )


def _concatenated(parts: Sequence[npt.NDArray[Any]], kind: Any) -> Any:
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)


def count_by(mask: Flags, start: Ints) -> Ints:
    """(G) how many rows of each group the mask selects."""
    counts: Ints = _reduced(np.add, mask.astype(np.int64), start, 0)
    return counts


def sum_by(values: Any, start: Ints) -> Any:
    """(G) the sum over each group's rows; 0 without rows, nan where one is nan."""
    return _reduced(np.add, values, start, 0)


def max_by(values: Any, start: Ints, otherwise: float) -> Any:
    """(G) the largest of each group's rows."""
    return _reduced(np.maximum, values, start, otherwise)


def min_by(values: Any, start: Ints, otherwise: float) -> Any:
    """(G) the smallest of each group's rows."""
    return _reduced(np.minimum, values, start, otherwise)


def median_by(values: Floats, start: Ints) -> Floats:
    """(G) the median of each group's known rows (the lower of two in the middle); nan where none is known."""
    group = np.repeat(np.arange(len(start) - 1), np.diff(start))
    known = ~np.isnan(values)
    counts = count_by(known, start)
    ordered = values[known][np.lexsort((values[known], group[known]))]
    middle = np.cumsum(counts) - counts + np.maximum(counts - 1, 0) // 2
    medians = np.full(len(counts), np.nan)
    medians[counts > 0] = ordered[middle[counts > 0]]
    return medians


def _reduced(reduction: np.ufunc, values: Any, start: Ints, otherwise: float) -> Any:
    some = start[1:] > start[:-1]
    if len(some) and bool(some.all()):
        return reduction.reduceat(values, start[:-1])
    reduced = np.full(len(some), otherwise, values.dtype)
    if bool(some.any()):
        # groups without rows take no room between their neighbors
        reduced[some] = reduction.reduceat(values, start[:-1][some])
    return reduced
