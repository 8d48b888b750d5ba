"""The cluster's partitions, topics and brokers of one snapshot, indexed once for all groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.arrays import NONE, Flags, Indices, Ints
from ..model.coordinators import coordinator_settings
from ..model.groups import Broker
from ..model.tables import Table, places_of
from .arrays import among, ints_of, numbers_of, ragged_of


@dataclass(frozen=True, slots=True)
class Topic:
    """The rows of one topic, in partition order."""

    name: str
    topic_id: str | None
    cleanup_policy: str | None
    retention_ms: int | None
    retention_bytes: int | None
    rows: slice


class ClusterTables:
    """
    The cluster's partitions and brokers, from which any number of groups are assembled.

    Args:
        partitions: Rows of the dataset `partitions` (any order; those of the topics needed are enough).
        brokers: Rows of the dataset `brokers`.
    """

    def __init__(self, partitions: Table, brokers: Table) -> None:
        self._in_order = _in_order(partitions)
        rows = partitions if self._in_order else _ordered(partitions)
        self.brokers = tuple(
            Broker(node_id=b["node_id"], host=b["host"], port=b["port"], rack=b["rack"])
            for b in brokers.to_pylist()
        )
        self.racks = tuple(sorted({b.rack for b in self.brokers if b.rack}))
        self.follower_fetching = _all(brokers["follower_fetching"].to_pylist())
        self.group_assignors = _common(brokers["group_assignors"].to_pylist())
        self.coordinator = coordinator_settings(brokers["group_settings"].to_pylist())
        self.kafka_release = next(filter(None, brokers["kafka_release"].to_pylist()), None)
        self.partition = ints_of(rows["partition"]).astype(np.int32)
        self._read_offsets(rows)
        self.topics = tuple(_topics(rows))
        self.log_bytes = numbers_of(rows["log_bytes"])
        self.leader_rack = self._rack_of(ints_of(rows["leader"]))
        self.replica_start, replicas = ragged_of(rows["replicas"])
        self.replica_in_sync = _in_sync(rows, self.replica_start, replicas)
        self.replica_rack = self._rack_of(replicas)

    def _read_offsets(self, rows: Table) -> None:
        self.begin, self.end = numbers_of(rows["begin_offset"]), numbers_of(rows["end_offset"])
        self.last_stable = numbers_of(rows["last_stable_offset"])
        self.begin_at, self.end_at = numbers_of(rows["begin_at"]), numbers_of(rows["end_at"])

    def moved(self, partitions: Table) -> ClusterTables:
        """The same partitions at another moment: only offsets, and when they were read, are taken from the rows."""
        then = copy(self)
        rows = partitions if self._in_order else _ordered(partitions)
        then._read_offsets(rows)
        return then

    def __len__(self) -> int:
        return len(self.partition)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each topic in *topics*, by its name."""
        return places_of(topic.name for topic in self.topics)

    @cached_property
    def topic_start(self) -> Ints:
        """(T + 1) where the rows of each topic begin."""
        return np.array([0, *(topic.rows.stop for topic in self.topics)], np.int64)

    @cached_property
    def codes(self) -> Ints:
        """(rows) topic number and partition in one ascending number: see `row_codes`."""
        topic = np.repeat(np.arange(len(self.topics)), np.diff(self.topic_start))
        return row_codes(topic, self.partition)

    def rows_of(self, topic: Ints, partition: Indices) -> Ints:
        """
        The row of each partition asked for, NONE where there is no such partition.

        Args:
            topic: Numbers of topics, NONE for one that the cluster does not have.
            partition: Of the same length.
        """
        if not len(self):
            return np.full(len(topic), NONE, np.int64)
        wanted = row_codes(topic, partition)
        place = np.minimum(np.searchsorted(self.codes, wanted), len(self) - 1)
        there = (topic != NONE) & (self.codes[place] == wanted)
        rows: Ints = np.where(there, place, NONE)
        return rows

    def _rack_of(self, nodes: Ints) -> Indices:
        """Broker ids to rack indices; NONE for an unknown broker and for one without a rack."""
        index = {rack: i for i, rack in enumerate(self.racks)}
        known = {b.node_id: index[b.rack] for b in self.brokers if b.rack}
        if not known:
            return np.full(len(nodes), NONE, np.int32)
        ordered = np.array(sorted(known), np.int64)
        racks = np.array([known[node] for node in ordered.tolist()], np.int32)
        place = np.minimum(np.searchsorted(ordered, nodes), len(ordered) - 1)
        return np.where(ordered[place] == nodes, racks[place], NONE).astype(np.int32)


def row_codes(topic: Ints, partition: Indices) -> Ints:
    """Topic number and partition as one number that sorts by both."""
    codes: Ints = (np.asarray(topic, np.int64) << 32) | partition.astype(np.int64)
    return codes


def _in_order(partitions: Table) -> bool:
    """Whether the rows stand by (topic, partition), as a lake has them: sorting is the exception."""
    codes = row_codes(
        partitions["topic"].codes(), ints_of(partitions["partition"]).astype(np.int32)
    )
    return bool((codes[:-1] < codes[1:]).all())


def _ordered(partitions: Table) -> Table:
    return partitions.sorted_by("topic", "partition")


def _all(answers: Sequence[bool | None]) -> bool | None:
    """Whether all do; None where nobody who is known does not, and somebody is not known."""
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _common(lists: Sequence[Sequence[str] | None]) -> frozenset[str] | None:
    """What is in all lists; None where one is not known."""
    known = [frozenset(one) for one in lists if one is not None]
    return frozenset.intersection(*known) if known and len(known) == len(lists) else None


def _topics(rows: Table) -> Iterator[Topic]:
    """The runs of equal topic in sorted rows."""
    if not len(rows):
        return
    topic = rows["topic"]
    new = np.flatnonzero(np.diff(topic.places)) + 1
    starts, ends = [0, *new.tolist()], [*new.tolist(), len(rows)]
    names = ("topic", "topic_id", "cleanup_policy", "retention_ms", "retention_bytes")
    told = (rows[name].take(starts).to_pylist() for name in names)
    yield from map(Topic, *told, map(slice, starts, ends))


def _in_sync(rows: Table, start: Ints, replicas: Ints) -> Flags:
    """For each replica entry, whether it is among the partition's in-sync replicas."""
    isr_start, isr = ragged_of(rows["in_sync"])
    if np.array_equal(start, isr_start) and np.array_equal(replicas, isr):
        return np.ones(len(replicas), np.bool_)
    row_of_isr = np.repeat(np.arange(len(isr_start) - 1), np.diff(isr_start))
    row_of_replica = np.repeat(np.arange(len(start) - 1), np.diff(start))
    in_sync = np.sort(row_codes(row_of_isr, isr.astype(np.int32)))
    return among(row_codes(row_of_replica, replicas.astype(np.int32)), in_sync)
