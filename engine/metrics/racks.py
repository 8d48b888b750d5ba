"""
What crosses racks, in partitions, in bytes, and what that costs.

A partition read from a rack that holds none of its replicas costs money in most clouds.

A record weighs what it takes on its leader's disk: brokers send batches as they keep them, compressed. On average over
what a log holds, that is its size over its offsets. Of two kinds of topics this says nothing: compaction thins a log
out without closing its gaps, and a log whose start is moved by its readers (DeleteRecords, as Kafka Streams does with
repartition topics) keeps whole segments on disk that it no longer counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Indices, Ints
from ..model.batch import GroupBatch, count_by, sum_by
from ..model.groups import PartitionTable
from ..model.labels import Labels
from ..model.states import SizeBasis


@dataclass(frozen=True, kw_only=True, eq=False)
class Crossing:
    """Per partition: whether it is known to cross, and whether that could be told at all (owner and replicas known)."""

    crosses: Flags
    known: Flags

    def share(self, weight: Floats | None = None) -> float | None:
        """As `shares`, of one group."""
        return self.shares(np.array([0, len(self.known)]), weight)[0]

    def shares(self, start: Ints, weight: Floats | None = None) -> list[float | None]:
        """
        (G) crossing partitions over those that could be told, or their weights (offsets/s), of each group.

        None when none could be told, a weight among them is unknown, or all weights are 0.

        Args:
            start: (G + 1) where each group's partitions begin.
            weight: (P) of each partition, nan unknown; each counts 1 without it.
        """
        weighed = np.ones(len(self.known)) if weight is None else weight
        total = sum_by(np.where(self.known, weighed, 0.0), start)
        crossing = sum_by(np.where(self.crosses, weighed, 0.0), start)
        none = np.isnan(total) | (total == 0)
        shares = np.divide(crossing, total, out=np.zeros(len(total)), where=~none)
        return [
            None if unknown else share
            for share, unknown in zip(shares.tolist(), none.tolist(), strict=True)
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class Nearness:
    """
    In which racks partitions have replicas.

    Attributes:
        near: (P, racks + 1) whether a replica that counts is in that rack; never in the last, which NONE reads.
        racked: (P) whether all replicas that count have a rack, and there is one.
    """

    near: Flags
    racked: Flags

    @classmethod
    def of(
        cls, replica_start: Ints, replica_rack: Indices, racks: int, counts: Flags | None = None
    ) -> Nearness:
        """
        Args:
            replica_start, replica_rack: Ragged racks of the replicas, NONE without.
            racks: How many there are.
            counts: Per replica entry, whether it counts (in-sync ones only); all without it.
        """
        size = replica_start[1:] - replica_start[:-1]
        row = np.arange(len(size)).repeat(size)
        if counts is not None:
            row, replica_rack = row[counts], replica_rack[counts]
        near = np.zeros((len(size), racks + 1), np.bool_)
        near[row, replica_rack] = True
        some, unracked = near.any(axis=1), near[:, NONE].copy()
        near[:, NONE] = False
        return cls(near=near, racked=some & ~unracked)

    def crossing(self, owner_rack: Indices) -> Crossing:
        """Whether each partition's owner (by rack, NONE unknown or unowned) is in a rack without a replica."""
        match = self.near[np.arange(len(owner_rack)), owner_rack]
        known = (owner_rack != NONE) & (match | self.racked)
        return Crossing(crosses=known & ~match, known=known)


def replica_crossing(
    owner_rack: Indices, replica_start: Ints, replica_rack: Indices, counts: Flags | None = None
) -> Crossing:
    """
    Whether each partition's owner is in a rack without a replica.

    A replica on a broker without rack leaves it open unless another one matches; no replicas at all leave it open too.

    Args:
        owner_rack: (P) rack of the owner, NONE when unknown or unowned.
        replica_start, replica_rack: Ragged racks of the replicas.
        counts: Per replica entry, whether it counts (in-sync ones only); all without it.
    """
    racks = 1 + max(int(replica_rack.max(initial=NONE)), int(owner_rack.max(initial=NONE)))
    return Nearness.of(replica_start, replica_rack, racks, counts).crossing(owner_rack)


def leader_crossing(owner_rack: Indices, leader_rack: Indices) -> Crossing:
    """Whether each partition's leader is in another rack: what costs without follower fetching."""
    known = (owner_rack != NONE) & (leader_rack != NONE)
    return Crossing(crosses=known & (owner_rack != leader_rack), known=known)


def read_crossing(
    owner_rack: Indices,
    replica_start: Ints,
    replica_rack: Indices,
    leader_rack: Indices,
    leaders_only: Flags | bool,
) -> Crossing:
    """
    What is read across racks: the one measure of it, from the nearest replica or from the leader.

    Args:
        owner_rack: (P) as for `replica_crossing`.
        replica_start, replica_rack: As there.
        leader_rack: (P) rack of the leader, NONE unknown.
        leaders_only: (P), or one for all: whether brokers serve reads from leaders only (no KIP-392).
    """
    leader = leader_crossing(owner_rack, leader_rack)
    nearest = replica_crossing(owner_rack, replica_start, replica_rack)
    return Crossing(
        crosses=np.where(leaders_only, leader.crosses, nearest.crosses),
        known=np.where(leaders_only, leader.known, nearest.known),
    )


def stray_racks(racks: Iterable[str | None], table: PartitionTable) -> frozenset[str]:
    """
    Those of some members' racks that no broker has: what they read may cross racks or not, nobody can tell.

    None where the cluster's brokers tell no rack, or the rack of a replica is unknown: it may be one of these.

    Args:
        racks: Racks of members, None unknown.
        table: The partitions of their group, with the racks of all brokers.
    """
    if not table.racks or bool((table.replica_rack == NONE).any()):
        return frozenset()
    return frozenset(rack for rack in racks if rack) - set(table.racks)


def known_racks(batch: GroupBatch) -> Indices:
    """(M) where each member of a batch is, by index into the racks of its partitions; NONE where nobody can tell."""
    table = batch.partitions
    # a rack that is no broker's, but may be that of a replica, has an index of its own
    names = {rack: i for i, rack in enumerate(table.racks)}
    racks = [names.setdefault(rack, len(names)) if rack else NONE for rack in batch.members.racks]
    rack = np.array(racks, np.int32)
    return np.where(stray_members(batch), NONE, rack).astype(np.int32)


def stray_members(batch: GroupBatch) -> Flags:
    """(M) whose rack is no broker's, in a group with the rack of every replica known: see `stray_racks`."""
    table, members = batch.partitions, batch.members
    known = {None, "", *table.racks}
    elsewhere = np.array([rack not in known for rack in members.racks], np.bool_)
    unracked = count_by(table.replica_rack == NONE, table.replica_start[batch.start]) > 0
    return elsewhere & ~unracked[members.group] & bool(table.racks)


def batch_crossing(batch: GroupBatch) -> Crossing:
    """What is read across racks now, of the partitions of many groups: as `read_crossing`, by `stray_racks`."""
    table, rack = batch.partitions, known_racks(batch)
    return read_crossing(
        np.append(rack, np.int32(NONE))[table.owner],
        table.replica_start,
        table.replica_rack,
        table.leader_rack,
        batch.flags(lambda header: header.follower_fetching is False)[batch.group],
    )


SECONDS_PER_MONTH = 30 * 24 * 3600
BYTES_PER_GB = 10**9

CENT = 0.01
"""What is below this, in any currency, is not spoken of."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordSize:
    """(n) bytes per record of each partition, nan where unknown, and how it is known."""

    bytes: Floats
    basis: Labels[SizeBasis]


def record_size(table: PartitionTable, configured: Floats | float = np.nan) -> RecordSize:
    """
    The average size of a record in each partition of a table.

    From its own log; where that is empty or unknown, from the other logs of its topic; else as configured.

    Args:
        table: The partitions.
        configured: Bytes per record where logs do not tell, for all partitions or for each; nan when not configured.
    """
    offsets = np.where(
        table.end.known & table.begin.known, table.end.values - table.begin.values, 0
    )
    from_log = table.log_bytes.known & (offsets > 0) & _tells(table)
    held = np.where(from_log, table.log_bytes.values, 0).astype(np.float64)
    count = np.where(from_log, offsets, 0).astype(np.float64)
    of_topic = _ratio(_by_topic(table, held), _by_topic(table, count))[table.topic]
    sizes, of_rule = _ratio(held, count), np.broadcast_to(configured, len(table))
    from_topic = ~from_log & table.exists & ~np.isnan(of_topic)
    from_rule = ~from_log & table.exists & ~from_topic & ~np.isnan(of_rule)
    return RecordSize(
        bytes=np.select([from_topic, from_rule], [of_topic, of_rule], sizes),
        basis=Labels.choose(
            SizeBasis,
            [from_log, from_topic, from_rule],
            [SizeBasis.LOG, SizeBasis.TOPIC, SizeBasis.CONFIGURED],
            SizeBasis.UNKNOWN,
        ),
    )


def _tells(table: PartitionTable) -> Flags:
    """(n) whether a log is known to be neither compacted nor purged: one kept for ever begins at 0, else it was."""
    plain = [p is not None and "compact" not in p for p in table.cleanup_policies]
    for_ever = [r == -1 for r in table.retention_ms]
    purged = np.array(for_ever, np.bool_)[table.topic] & (table.begin.filled(1) > 0)
    tells: Flags = np.array(plain, np.bool_)[table.topic] & ~purged
    return tells


def _by_topic(table: PartitionTable, values: Floats) -> Floats:
    sums: Floats = np.bincount(table.topic, values, minlength=len(table.topics)).astype(np.float64)
    return sums


def _ratio(dividend: Floats, divisor: Floats) -> Floats:
    """nan where there is nothing to divide by."""
    nothing = np.full(len(dividend), np.nan)
    ratio: Floats = np.divide(dividend, divisor, out=nothing, where=divisor > 0)
    return ratio


@dataclass(frozen=True, kw_only=True, eq=False)
class Tariff:
    """
    What reading some partitions across racks carries and costs.

    Attributes:
        bytes_per_second: (P) what is produced to each, nan where unknown.
        price_per_gb: What 10^9 bytes cost, in *currency*; None where nobody said.
    """

    bytes_per_second: Floats
    price_per_gb: float | None = None
    currency: str | None = None

    def cost_per_month(self, bytes_per_second: float | None) -> float | None:
        """What a steady stream across racks costs in 30 days."""
        if bytes_per_second is None or self.price_per_gb is None:
            return None
        return bytes_per_second * SECONDS_PER_MONTH / BYTES_PER_GB * self.price_per_gb


def carried_by(crossing: Crossing, bytes_per_second: Floats, start: Ints) -> list[float | None]:
    """
    (G) bytes/s that each group reads across racks, by the partitions of which that is known.

    None where it is known of none, or where the size or rate of one that crosses is unknown.

    Args:
        crossing: (P) what crosses.
        bytes_per_second: (P) what is produced to each, nan where unknown.
        start: (G + 1) where each group's partitions begin.
    """
    total = sum_by(np.where(crossing.crosses, bytes_per_second, 0.0), start)
    known = (count_by(crossing.known, start) > 0) & ~np.isnan(total)
    return [
        each if told else None for each, told in zip(total.tolist(), known.tolist(), strict=True)
    ]


def tariff(
    bytes_per_record: Floats,
    rate: Floats,
    rows: Flags,
    price_per_gb: float | None = None,
    currency: str | None = None,
) -> Tariff:
    """
    Args:
        bytes_per_record: (n) of the partitions of a table, nan where unknown.
        rate: Records/s produced to each, nan where unknown.
        rows: Which of them count.
        price_per_gb, currency: As in `Tariff`; a currency without price is left out.
    """
    # nothing produced weighs nothing, whatever a record would weigh
    carried = np.where(rate == 0, 0.0, bytes_per_record * rate)
    return Tariff(
        bytes_per_second=carried[rows],
        price_per_gb=price_per_gb,
        currency=None if price_per_gb is None else currency,
    )
