"""The cluster's partitions, topics and brokers of one snapshot, indexed once for all groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..model.arrays import NONE, Flags, Indices, Ints
from ..model.groups import Broker
from .arrays import among, ints_of, moments_of, numbers_of, ragged_of


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

    def __init__(self, partitions: pa.Table, brokers: pa.Table) -> None:
        self._in_order = _in_order(partitions)
        rows = partitions.combine_chunks() if self._in_order else _ordered(partitions)
        self.brokers = tuple(
            Broker(node_id=b["node_id"], host=b["host"], port=b["port"], rack=b["rack"])
            for b in brokers.to_pylist()
        )
        self.racks = tuple(sorted({b.rack for b in self.brokers if b.rack}))
        self.follower_fetching = _all(brokers["follower_fetching"].to_pylist())
        self.group_assignors = _common(brokers["group_assignors"].to_pylist())
        self.partition = ints_of(rows["partition"]).astype(np.int32)
        self._read_offsets(rows)
        self.topics = tuple(_topics(rows))
        self.log_bytes = numbers_of(rows["log_bytes"])
        self.leader_rack = self._rack_of(ints_of(pc.fill_null(rows["leader"], NONE)))
        self.replica_start, replicas = ragged_of(rows["replicas"])
        self.replica_in_sync = _in_sync(rows, self.replica_start, replicas)
        self.replica_rack = self._rack_of(replicas)

    def _read_offsets(self, rows: pa.Table) -> None:
        self.begin, self.end = numbers_of(rows["begin_offset"]), numbers_of(rows["end_offset"])
        self.last_stable = numbers_of(rows["last_stable_offset"])
        self.begin_at, self.end_at = moments_of(rows["begin_at"]), moments_of(rows["end_at"])

    def moved(self, partitions: pa.Table) -> ClusterTables:
        """The same partitions at another moment: only offsets, and when they were read, are taken from the rows."""
        then = copy(self)
        rows = partitions.combine_chunks() if self._in_order else _ordered(partitions)
        then._read_offsets(rows)
        return then

    def __len__(self) -> int:
        return len(self.partition)

    @cached_property
    def names(self) -> pa.Array:
        """Topic names in the order of *topics*, ascending."""
        return pa.array([topic.name for topic in self.topics], pa.string())

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


def _in_order(partitions: pa.Table) -> bool:
    """Whether the rows stand by (topic, partition), as a lake has them: sorting is the exception."""
    topic, partition = partitions["topic"], partitions["partition"]
    if len(partitions) < 2:
        return True
    before, after = topic.slice(0, len(topic) - 1), topic.slice(1)
    rising = pc.or_(
        pc.less(before, after),
        pc.and_(
            pc.equal(before, after),
            pc.less(partition.slice(0, len(partition) - 1), partition.slice(1)),
        ),
    )
    return bool(pc.all(rising, skip_nulls=False, min_count=0).as_py())


def _ordered(partitions: pa.Table) -> pa.Table:
    order = [("topic", "ascending"), ("partition", "ascending")]
    return partitions.sort_by(order).combine_chunks()


def _all(answers: Sequence[bool | None]) -> bool | None:
    """Whether all do; None where nobody who is known does not, and somebody is not known."""
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _common(lists: Sequence[Sequence[str] | None]) -> frozenset[str] | None:
    """What is in all lists; None where one is not known."""
    known = [frozenset(one) for one in lists if one is not None]
    return frozenset.intersection(*known) if known and len(known) == len(lists) else None


def _topics(rows: pa.Table) -> Iterator[Topic]:
    """The runs of equal topic in sorted rows."""
    if not len(rows):
        return
    runs = pc.run_end_encode(rows["topic"].combine_chunks(), run_end_type=pa.int64())
    ends = runs.run_ends.to_pylist()
    starts = [0, *ends[:-1]]
    settings = ["topic_id", "cleanup_policy", "retention_ms", "retention_bytes"]
    told = rows.select(settings).take(starts).to_pylist()
    for name, start, end, known in zip(runs.values.to_pylist(), starts, ends, told, strict=True):
        yield Topic(name=name, rows=slice(start, end), **known)


def _in_sync(rows: pa.Table, start: Ints, replicas: Ints) -> Flags:
    """For each replica entry, whether it is among the partition's in-sync replicas."""
    isr_start, isr = ragged_of(rows["in_sync"])
    if np.array_equal(start, isr_start) and np.array_equal(replicas, isr):
        return np.ones(len(replicas), np.bool_)
    row_of_isr = np.repeat(np.arange(len(isr_start) - 1), np.diff(isr_start))
    row_of_replica = np.repeat(np.arange(len(start) - 1), np.diff(start))
    in_sync = np.sort(row_codes(row_of_isr, isr.astype(np.int32)))
    return among(row_codes(row_of_replica, replicas.astype(np.int32)), in_sync)
