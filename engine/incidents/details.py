"""What somebody needs who is to act: on which host, at which offset, who was there last and when they committed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..metrics.diagnosis.evidence import OneGroup, names_of
from ..metrics.samples import Samples
from ..model.arrays import NONE, Flags
from ..model.batch import GroupBatch
from ..model.facts import MOMENT, Fact, FactKind, fact
from ..model.groups import PartitionTable

MOST = 3
"""So many partitions that stand still are told with their offsets."""


def silent_hosts(group: OneGroup) -> Iterator[Fact]:
    """Where the silent members are, as far as their hosts are known."""
    hosts = [group.hosts[member] for member in np.flatnonzero(group.silent).tolist()]
    if places := list(dict.fromkeys(filter(None, map(_place, hosts)))):
        yield fact(FactKind.DIAGNOSIS, "silent_hosts", places)


def stuck_at(group: OneGroup, samples: Samples, rows: slice) -> Iterator[Fact]:
    """At which offset the first stuck partitions stand, where they end, and who owns them."""
    committed, end = samples.committed[0][rows].tolist(), samples.end[0][rows].tolist()
    owners = _placed(group.names, group.hosts)
    for row in np.flatnonzero(group.stuck)[:MOST].tolist():
        owner = int(group.owner[row])
        partition = f"{group.topics[row]}-{group.numbers[row]}"
        names = [partition, *([owners[owner]] if owner != NONE else [])]
        yield fact(FactKind.DIAGNOSIS, "stuck_at", names, before=committed[row], after=end[row])


def open_transactions(group: OneGroup, table: PartitionTable, rows: slice) -> Iterator[Fact]:
    """At which offset the first open transactions began, and where their partitions end."""
    began, end = (column.take(rows) for column in (table.last_stable, table.high_watermark))
    for row in np.flatnonzero(group.held)[:MOST].tolist():
        yield fact(
            FactKind.DIAGNOSIS,
            "open_transaction",
            [f"{group.topics[row]}-{group.numbers[row]}"],
            before=float(began.values[row]),
            after=float(end.values[row]),
        )


def last_members(snapshots: Sequence[tuple[GroupBatch, int]]) -> Iterator[Fact]:
    """
    Who was there when somebody last was.

    Args:
        snapshots: The group in each of them, by its number, the newest first.
    """
    for batch, number in snapshots:
        if batch.members.counts[number]:
            own = batch.members_of(number)
            names = _placed(names_of(batch, own), batch.members.hosts[own])
            at = batch.headers[number].taken_at.timestamp()
            yield fact(FactKind.DIAGNOSIS, "last_members", names, after=at, unit=MOMENT)
            return


def last_commit(samples: Samples, rows: slice, counted: Flags) -> Iterator[Fact]:
    """When a commit of the group was last seen to have gone on; nothing where none has, as far as is looked back."""
    moved, at = samples.moved[:, rows][:, counted], samples.at[:-1, rows][:, counted]
    seen = at[moved & ~np.isnan(at)]
    if len(seen):
        yield fact(FactKind.DIAGNOSIS, "last_commit", after=float(seen.max()), unit=MOMENT)


def retention(group: OneGroup, table: PartitionTable, rows: slice, lost: Fact) -> Iterator[Fact]:
    """How long the first topic that loses records keeps them; nothing if its configuration is unknown."""
    topic = lost.subjects[0].rpartition("-")[0] if lost.subjects else ""
    if topic in group.topics:
        number = int(table.topic[rows][group.topics.index(topic)])
        kept, size = table.retention_ms[number], table.retention_bytes[number]
        if kept is not None:
            most = None if size is None else float(size)
            yield fact(FactKind.DIAGNOSIS, "retention_ms", [topic], after=float(kept), bound=most)


def _place(host: str) -> str:
    return host.removeprefix("/")


def _placed(names: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """Names with the host of each, unless they say it already."""
    places = map(_place, hosts)
    return [
        f"{name} at {place}" if place and f" at {place}" not in name else name
        for name, place in zip(names, places, strict=True)
    ]
