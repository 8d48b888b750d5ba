"""
What is left of partitions once racks are lost with their brokers.

A replica there counts no more. Another one that is in sync leads what was led from there; which one Kafka elects is
known as far as all of these stand in one rack. A partition without a replica in sync has no leader (but for unclean
elections, which are off by default): nobody reads or writes it until the rack is back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...model.arrays import NONE, Flags, starts_of
from ...model.facts import Fact, note
from ...model.groups import PartitionTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Left:
    """
    The n partitions of a table without some racks.

    Attributes:
        racks: Those that are lost.
        table: Without replicas there.
        moved: (n) whether they are led from elsewhere than now.
        dead: (n) whether nobody can lead them.
    """

    racks: Collection[str]
    table: PartitionTable
    moved: Flags
    dead: Flags

    def names(self, rows: Flags) -> list[str]:
        """Some partitions, by their names."""
        table = self.table
        return [f"{table.names[n]}-{table.partition[n]}" for n in np.flatnonzero(rows).tolist()]


def left_of(table: PartitionTable, racks: Collection[str]) -> Left:
    """A table without some racks; without any it is what it is."""
    size = np.diff(table.replica_start)
    nothing = np.zeros(len(table), np.bool_)
    if not racks:
        return Left(racks=racks, table=table, moved=nothing, dead=nothing)
    lost = np.array([*(rack in racks for rack in table.racks), False], np.bool_)
    row, stays = np.repeat(np.arange(len(table)), size), ~lost[table.replica_rack]
    able = stays & table.in_sync
    least, most = np.full(len(table), np.iinfo(np.int32).max), np.full(len(table), NONE)
    np.minimum.at(least, row[able], table.replica_rack[able])
    np.maximum.at(most, row[able], table.replica_rack[able])
    # where nothing is known to be in sync now, any replica may lead
    told = np.bincount(row[table.in_sync], minlength=len(table)) > 0
    dead = (size > 0) & (
        np.bincount(row[np.where(told[row], able, stays)], minlength=len(table)) == 0
    )
    led = lost[table.leader_rack]
    return Left(
        racks=racks,
        table=replace(
            table,
            leader_rack=np.where(
                led | dead, np.where(least == most, most, NONE), table.leader_rack
            ).astype(np.int32),
            replica_start=starts_of(np.bincount(row[stays], minlength=len(table))),
            replica_rack=table.replica_rack[stays],
            in_sync=table.in_sync[stays],
        ),
        moved=led & ~dead,
        dead=dead & table.exists,
    )


def assumed_of(left: Left, stay: Collection[str]) -> Iterator[Fact]:
    """What is assumed of a group where racks are lost; *stay* are its members without a known rack."""
    if not left.racks:
        return
    table, moved = left.table, left.moved & left.table.assignable
    yield note("rack_lost", left.racks, partitions=int(moved.sum()))
    if unsure := int((moved & (table.leader_rack == NONE)).sum()):
        yield note("leaders_open", partitions=unsure)
    bare = table.assignable & (np.diff(table.replica_start) == 0) & ~left.dead
    if bare.any():
        yield note("replicas_open", partitions=int(bare.sum()))
    if stay:
        yield note("rackless_stay", stay)
