"""What somebody needs who is to act: on which host, at which offset, who was there last and when they committed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ..metrics.diagnosis.evidence import RECENT, OneGroup
from ..metrics.samples import Samples, stack_of
from ..model.arrays import NONE, Flags, Floats, Ints
from ..model.batch import GroupBatch, count_by
from ..model.facts import MOMENT, Fact, FactKind, fact
from ..model.groups import PartitionTable

MOST = 3
"""So many partitions that stand still are told with their offsets, and so many members that became slower."""

CHANGED = 1.25
"""A rate that is so many times what it was, or was so many times what it is, has changed."""

HALF = 0.5
"""The share of retention from which on it is told how much of it is used."""


def silent_hosts(group: OneGroup) -> Iterator[Fact]:
    """Where the silent members are, as far as their hosts are known."""
    hosts = [group.hosts[member] for member in np.flatnonzero(group.silent).tolist()]
    if places := list(dict.fromkeys(filter(None, map(_place, hosts)))):
        yield fact(FactKind.DIAGNOSIS, "silent_hosts", places)


def stuck_at(group: OneGroup, samples: Samples, rows: slice) -> Iterator[Fact]:
    """At which offset the first stuck partitions stand, where they end, and who owns them."""
    committed, end = samples.committed[0][rows].tolist(), samples.end[0][rows].tolist()
    shared = group.header.shares_partitions
    owners = _placed(group.names, group.hosts)
    for row in np.flatnonzero(group.stuck)[:MOST].tolist():
        owner = int(group.owner[row])
        partition = f"{group.topics[row]}-{group.numbers[row]}"
        names = [partition, *([owners[owner]] if owner != NONE and not shared else [])]
        yield fact(
            FactKind.DIAGNOSIS,
            "stuck_at",
            names,
            before=committed[row],
            after=end[row],
            bound=group.members_count if shared else None,
        )


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
            own = batch.members.roster(number)
            names = _placed(own.names, own.hosts)
            at = batch.headers[number].taken_at.timestamp()
            yield fact(FactKind.DIAGNOSIS, "last_members", names, after=at, unit=MOMENT)
            return


def last_commit(
    samples: Samples, rows: slice, counted: Flags, shared: str | None = None
) -> Iterator[Fact]:
    """
    When a commit of the group was last seen to have gone on; nothing where none has, as far as is looked back.

    Args:
        samples: Those of all groups.
        rows: The partitions of the group.
        counted: (n) which of them count.
        shared: The type of a share group, which moves its start offsets on; None of other groups.
    """
    moved, at = samples.moved[:, rows][:, counted], samples.at[:-1, rows][:, counted]
    seen = at[moved & ~np.isnan(at)]
    if len(seen):
        yield fact(
            FactKind.DIAGNOSIS, "last_commit", after=float(seen.max()), unit=MOMENT, quote=shared
        )


def retention(group: OneGroup, table: PartitionTable, rows: slice, lost: Fact) -> Iterator[Fact]:
    """How long the first topic that loses records keeps them; nothing if its configuration is unknown."""
    topic = lost.subjects[0].rpartition("-")[0] if lost.subjects else ""
    if topic in group.topics:
        number = int(table.topic[rows][group.topics.index(topic)])
        kept, size = table.retention_ms[number], table.retention_bytes[number]
        if kept is not None:
            most = None if size is None else float(size)
            yield fact(FactKind.DIAGNOSIS, "retention_ms", [topic], after=float(kept), bound=most)


def retention_used(group: OneGroup) -> Iterator[Fact]:
    """How old the oldest unread record is, as a share of the time for which its topic keeps records, from `HALF` on."""
    used = group.retention_used
    if not np.isnan(used).all() and np.nanmax(used) >= HALF:
        worst = np.arange(len(used)) == np.nanargmax(used)
        share = float(np.nanmax(used))
        yield fact(FactKind.DIAGNOSIS, "retention_used", group.partitions(worst), after=share)


class RatesThenAndNow:
    """
    What arrives and is consumed in the newest and the oldest `RECENT` intervals of each group's samples.

    Of fewer than twice as many intervals each half counts.

    Attributes:
        ago: (G) seconds since the oldest of these; nan unknown, and of a group that has fewer than two intervals.
        came: Then and now, (n) offsets/s that arrived; nan unknown.
        did: Then and now, (n) offsets/s that were consumed, where one member had it all the time; nan elsewhere.
    """

    def __init__(self, samples: Samples, start: Ints) -> None:
        """
        Args:
            samples: Those of all groups.
            start: (G + 1) where the partitions of each begin.
        """
        seconds, at, row = samples.seconds, samples.at, np.arange(len(samples) - 1)[:, None]
        seen = [count_by(~np.isnan(each), start) > 0 for each in seconds]
        counts = stack_of(seen, len(start) - 1, np.int64).sum(axis=0)
        intervals = np.repeat(counts, np.diff(start))
        first = intervals - np.minimum(RECENT, intervals // 2)
        oldest, newest = (row >= first) & (row < intervals), row < intervals - first
        ages = at[0] - at[first, np.arange(len(first))]
        known = [ages[a:b][~np.isnan(ages[a:b])] for a, b in pairwise(start.tolist())]
        self.ago: list[float] = [
            float(np.median(each)) if len(each) and count >= 2 else np.nan
            for each, count in zip(known, counts.tolist(), strict=True)
        ]
        stayed = (samples.stayed | (row >= intervals)).all(axis=0)
        self.came = [_rates(samples.arrived, seconds, each) for each in (oldest, newest)]
        self.did = [
            np.where(stayed, _rates(samples.consumed, seconds, each), np.nan)
            for each in (oldest, newest)
        ]


def changed_rates(group: OneGroup, number: int, rates: RatesThenAndNow) -> Iterator[Fact]:
    """What arrives, and what members that are behind do, where that differs from when the oldest samples were taken."""
    ago, rows = rates.ago[number], group.rows
    if np.isnan(ago):
        return
    came = [each[rows] for each in rates.came]
    known = group.counted & ~np.isnan(came[0]) & ~np.isnan(came[1])
    before, after = (float(each[known].sum()) for each in came)
    if known.any() and not _is_like(before, after):
        yield fact(FactKind.NOTE, "arrivals_changed", before=before, after=after, bound=ago)
    if not group.late.any():
        return
    did = [each[rows] for each in rates.did]
    mine = ~np.isnan(did[0]) & ~np.isnan(did[1])
    speeds = [group.of_members(np.where(mine, each, 0)) for each in did]
    slower = group.late & (speeds[0] > CHANGED * speeds[1])
    for member in sorted(np.flatnonzero(slower).tolist(), key=lambda m: speeds[1][m])[:MOST]:
        its_before, its_after = (float(each[member]) for each in speeds)
        name = [group.names[member]]
        yield fact(
            FactKind.NOTE, "speed_changed", name, before=its_before, after=its_after, bound=ago
        )


def _rates(offsets: Floats, seconds: Floats, chosen: Flags) -> Floats:
    """(n) offsets/s over the chosen ones of (S - 1, n) intervals; nan unknown."""
    known = chosen & ~np.isnan(offsets) & ~np.isnan(seconds)
    total = np.where(known, seconds, 0).sum(axis=0)
    moved = np.where(known, offsets, 0).sum(axis=0)
    return np.where(total > 0, moved / np.where(total > 0, total, 1), np.nan)


def _is_like(before: float, after: float) -> bool:
    return after <= CHANGED * before and before <= CHANGED * after


def _place(host: str) -> str:
    return host.removeprefix("/")


def _placed(names: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """Names with the host of each, unless they say it already."""
    places = map(_place, hosts)
    return [
        f"{name} at {place}" if place and f" at {place}" not in name else name
        for name, place in zip(names, places, strict=True)
    ]
