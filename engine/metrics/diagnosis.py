"""
What is the matter with a group: the first of these that holds.

| diagnosis | when |
| --- | --- |
| unknown | it could not be read, or what would say how far behind it is, is missing |
| no members | nobody is there to consume |
| rebalancing | ownership is in motion |
| losing records | retention removed what it had not read, from where its commit stands now |
| skipped records | a commit jumped forward faster than a member consumes, or over what retention removed |
| silent member | none of a member's partitions moves, though records wait beyond the commit interval |
| stuck partition | the same of a partition whose owner consumes others |
| slow member | behind, and saturated at less than three quarters of what the median of its peers does |
| hot partition | behind, and more arrives in one partition than the best member can do |
| too few members | behind, and more arrives than all members together can do |
| skewed load | behind, and more arrives at a member than it can do, though the total fits |
| catching up | behind, and nobody gets more than he can do |
| keeps up | no partition is behind its end by more than the objective beyond the commit interval |

*Behind* is a matter of time: `commit_interval.delay` above the group's objective. What is unknown of some partitions
hides nothing that is known of others, so *unknown* is said where nothing worse is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenkeel.engine.batch import GroupBatch, count_by
from evenkeel.engine.facts import Fact, FactKind, fact
from evenkeel.engine.metrics.capacity import Capacity
from evenkeel.engine.metrics.samples import Samples, any_of_owner, sums_by_owner
from evenkeel.engine.model import (
    NONE,
    CapacityBasis,
    Diagnosis,
    Flags,
    Floats,
    GroupHeader,
    Indices,
)

SLOW = 0.75
"""A member below this share of what its median peer does is slow."""

JUMP = 4.0
"""Commits that went on so many times as fast as the best members would were set, not consumed."""

RECENT = 3
"""Intervals for which a jump is spoken of: somebody who looks every few snapshots should hear of it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnosed:
    """
    What is the matter with one group.

    Attributes:
        diagnosis: The first that holds.
        facts: With names and numbers: one fact per member or partition that it is about, else one.
    """

    diagnosis: Diagnosis
    facts: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """
    What diagnoses follow from; arrays follow the partitions, members or groups of the batch.

    Attributes:
        counted: (n) partitions inside the totals.
        lag: (n) offsets; nan unknown.
        lost: (n) offsets that retention removed beyond the commit; nan unknown.
        delays: (S, n) seconds behind beyond the commit interval; nan unknown.
        arrivals: (n) offsets/s of late; nan unknown.
        capacity: Of the members.
        interval: (G) seconds between commits; nan where none has been seen.
        objective: (G) seconds.
    """

    batch: GroupBatch
    samples: Samples
    counted: Flags
    lag: Floats
    lost: Floats
    delays: Floats
    arrivals: Floats
    capacity: Capacity
    interval: Floats
    objective: Floats

    @cached_property
    def behind(self) -> Flags:
        """(S, n) whether each partition was behind at each sample."""
        behind: Flags = np.nan_to_num(self.delays) > self.objective[self.batch.group]
        return behind

    @cached_property
    def in_doubt(self) -> Flags:
        """(n) partitions that may or may not be behind: something is unknown of them."""
        unseen = np.isnan(self.interval)[self.batch.group]
        old = np.nan_to_num(self.samples.age[0]) > self.objective[self.batch.group]
        unknown = np.isnan(self.delays[0]) & ~(self.lag == 0)
        doubtful: Flags = self.counted & (unknown | (unseen & old))
        return doubtful

    @cached_property
    def over_lost(self) -> Flags:
        """(n) commits that went on over what retention had removed, of late."""
        samples, before = self.samples, slice(1, RECENT + 1)
        over = samples.moved[:RECENT] & (samples.committed[before] < samples.begin[before])
        found: Flags = over.any(axis=0) & self.counted
        return found

    @cached_property
    def jumped(self) -> Flags:
        """(n) commits that went from far behind to the end within an interval, of late."""
        samples = self.samples
        went = samples.moved[:RECENT] & samples.current[:RECENT] & self.behind[1 : RECENT + 1]
        found: Flags = went.any(axis=0) & self.counted
        return found


def diagnose(evidence: Evidence) -> list[Diagnosed]:
    """(G) what is the matter with each group."""
    batch = evidence.batch
    odd = evidence.counted & (evidence.behind[0] | evidence.in_doubt | (evidence.lost > 0))
    odd |= evidence.jumped | evidence.over_lost
    looked_at = count_by(odd, batch.start) > 0
    looked_at |= (batch.members.counts == 0) | (count_by(evidence.counted, batch.start) == 0)
    return [
        _first(_Group(evidence, group))
        if look or header.error is not None or header.rebalancing
        else WELL
        for group, (header, look) in enumerate(zip(batch.headers, looked_at.tolist(), strict=True))
    ]


WELL = Diagnosed(diagnosis=Diagnosis.KEEPS_UP, facts=())


class _Group:
    """One group of the evidence: rows and members counted from 0."""

    def __init__(self, evidence: Evidence, group: int) -> None:
        batch, rows, own = (
            evidence.batch,
            evidence.batch.rows(group),
            evidence.batch.members_of(group),
        )
        self.header: GroupHeader = batch.headers[group]
        self.names = _member_names(batch, own)
        table, base = batch.partitions, own.start
        self.topics = [table.topics[topic] for topic in table.topic[rows].tolist()]
        self.numbers = table.partition[rows].tolist()
        self.owner: Indices = np.where(table.owner[rows] == NONE, NONE, table.owner[rows] - base)
        self.counted = evidence.counted[rows]
        self.lag, self.lost = evidence.lag[rows], evidence.lost[rows]
        self.arrivals = np.nan_to_num(evidence.arrivals[rows])
        self.age, self.delay = evidence.samples.age[0][rows], evidence.delays[0][rows]
        self.behind = evidence.behind[0][rows] & self.counted
        self.in_doubt = evidence.in_doubt[rows]
        self.jumped, self.over_lost = evidence.jumped[rows], evidence.over_lost[rows]
        self.interval = float(evidence.interval[group])
        self.objective = float(evidence.objective[group])
        samples = evidence.samples
        there = ~np.isnan(samples.at[1:, rows])
        self.has_past = bool(there.any())  # another group of the batch may have one
        self.consumed = samples.consumed[:RECENT, rows]
        self.seconds = samples.seconds[:RECENT, rows]
        self.moved: Flags = np.logical_or.reduce(samples.moved[:1, rows], axis=0)
        stood = samples.stayed[:1, rows] & (self.consumed[:1] == 0)
        self.still: Flags = self.behind & np.logical_or.reduce(stood, axis=0)
        owned = (samples.owner[1 : RECENT + 1, rows] != NONE).any(axis=1)
        self.was_empty = bool((there[:RECENT].any(axis=1) & ~owned).any())
        capacity = evidence.capacity
        self.capacity, self.saturated = capacity.per_second[own], capacity.saturated[own]
        at_least = capacity.at_least[own]
        self.seen_speed = np.where(np.isnan(self.saturated), at_least, self.saturated)
        self.firm = ~capacity.basis.take(own).equal(CapacityBasis.AT_LEAST) & ~np.isnan(
            self.capacity
        )
        self.load = self.of_members(self.arrivals)

    def of_members(self, values: Floats) -> Floats:
        """(M) the sum over each member's partitions that count."""
        return sums_by_owner(values, self.owner, self.counted, len(self.names))

    def any_of(self, rows: Flags) -> Flags:
        """(M) whether one of each member's partitions is among these."""
        return any_of_owner(rows, self.owner, len(self.names))

    @cached_property
    def silent(self) -> Flags:
        """(M) members none of whose partitions moves, though one is behind."""
        return self.any_of(self.still) & ~self.any_of(self.moved)

    @cached_property
    def over(self) -> Flags:
        """(M) members that are behind and get more than they are known to do."""
        return self.any_of(self.behind) & self.firm & (self.load > np.nan_to_num(self.capacity))

    def partitions(self, rows: Flags) -> list[str]:
        """Names of partitions."""
        return [f"{self.topics[row]}-{self.numbers[row]}" for row in np.flatnonzero(rows).tolist()]

    def members(self, chosen: Flags) -> list[str]:
        """Ids of members."""
        return [self.names[member] for member in np.flatnonzero(chosen).tolist()]


def _member_names(batch: GroupBatch, own: slice) -> list[str]:
    """What people call the members: by instance id or client id, where no other has the same, else by member id."""
    members = batch.members
    ids, clients = members.ids[own], members.client_ids[own]
    names = [
        instance or client
        for instance, client in zip(members.instance_ids[own], clients, strict=True)
    ]
    often = Counter(names)
    return [
        name if name and often[name] == 1 else own_id
        for name, own_id in zip(names, ids, strict=True)
    ]


Rule = Callable[[_Group], Iterator[Fact]]


def _first(group: _Group) -> Diagnosed:
    for diagnosis, rule in RULES:
        if facts := tuple(rule(group)):
            return Diagnosed(diagnosis=diagnosis, facts=facts)
    return WELL


def _stated(
    diagnosis: Diagnosis, names: list[str] | None = None, **known: float | str | None
) -> Fact:
    return fact(FactKind.DIAGNOSIS, diagnosis.measure, names or [], **known)


def _unreadable(group: _Group) -> Iterator[Fact]:
    if group.header.error is not None:
        yield fact(FactKind.DIAGNOSIS, "unreadable", quote=group.header.error)


def _no_members(group: _Group) -> Iterator[Fact]:
    if not group.names and not group.header.rebalancing:
        yield _stated(
            Diagnosis.NO_MEMBERS,
            after=float(group.arrivals[group.counted].sum()) if group.has_past else None,
            partitions=int(group.counted.sum()),
        )


def _rebalancing(group: _Group) -> Iterator[Fact]:
    if group.header.rebalancing:
        yield _stated(Diagnosis.REBALANCING, [group.header.state])


def _losing_records(group: _Group) -> Iterator[Fact]:
    rows = group.counted & (group.lost > 0)
    if rows.any():
        yield _stated(
            Diagnosis.LOSING_RECORDS,
            group.partitions(rows),
            after=float(group.lost[rows].sum()),
            partitions=int(rows.sum()),
        )


def _skipped_records(group: _Group) -> Iterator[Fact]:
    rows = group.over_lost | (group.jumped if _too_fast(group) else np.zeros_like(group.jumped))
    if rows.any():
        yield _stated(
            Diagnosis.SKIPPED_RECORDS,
            group.partitions(rows),
            after=float(np.nan_to_num(group.consumed).max(axis=0)[rows].sum()),
            partitions=int(rows.sum()),
        )


def _too_fast(group: _Group) -> bool:
    """
    Whether what jumped went on faster than all members together could consume.

    Only of a group without members can offsets be set from outside; of one that had some, what its members were seen
    to do when busy decides.
    """
    known = group.seen_speed if group.was_empty else group.saturated
    if not group.jumped.any() or np.isnan(known).all():
        return False
    speed = np.nan_to_num(group.consumed / group.seconds)[:, group.jumped].sum(axis=1).max()
    return bool(speed > JUMP * np.nanmax(known) * len(known))


def _silent_member(group: _Group) -> Iterator[Fact]:
    if group.silent.any():
        rows = group.still & group.silent[group.owner]
        yield _stated(
            Diagnosis.SILENT_MEMBER,
            group.members(group.silent),
            before=float(group.load[group.silent].sum()),
            after=float(np.nanmax(group.age[rows])),
            partitions=int(rows.sum()),
        )


def _stuck_partition(group: _Group) -> Iterator[Fact]:
    if group.still.any():
        yield _stated(
            Diagnosis.STUCK_PARTITION,
            group.partitions(group.still),
            after=float(np.nanmax(group.age[group.still])),
            partitions=int(group.still.sum()),
        )


def _slow_member(group: _Group) -> Iterator[Fact]:
    suspects = group.any_of(group.behind) & (
        group.load > np.nan_to_num(group.saturated, nan=np.inf)
    )
    for member in np.flatnonzero(suspects).tolist():
        peers = np.delete(group.seen_speed, member)
        median = float(np.nanmedian(peers)) if not np.isnan(peers).all() else math.nan
        if group.saturated[member] < SLOW * median:
            yield _stated(
                Diagnosis.SLOW_MEMBER,
                [group.names[member]],
                before=float(group.load[member]),
                after=float(group.saturated[member]),
                bound=median,
            )


def _hot_partition(group: _Group) -> Iterator[Fact]:
    if not group.over.any():
        return
    best = float(np.nanmax(group.capacity))
    hot = group.behind & (group.arrivals > best) & np.append(group.over, False)[group.owner]
    for row in np.flatnonzero(hot).tolist():
        alone = np.arange(len(hot)) == row
        yield _stated(
            Diagnosis.HOT_PARTITION,
            group.partitions(alone),
            after=float(group.arrivals[row]),
            bound=best,
        )


def _too_few_members(group: _Group) -> Iterator[Fact]:
    total, capacity = float(group.load.sum()), float(group.capacity.sum())
    if group.over.any() and total > capacity:
        enough = math.ceil(total / float(np.median(group.capacity)))
        yield _stated(
            Diagnosis.TOO_FEW_MEMBERS,
            before=len(group.names),
            after=enough,
            bound=int(group.counted.sum()),
        )
        yield fact(FactKind.DIAGNOSIS, "group_load", after=total, bound=capacity)


def _skewed_load(group: _Group) -> Iterator[Fact]:
    for member in np.flatnonzero(group.over).tolist():
        yield _stated(
            Diagnosis.SKEWED_LOAD,
            [group.names[member]],
            after=float(group.load[member]),
            bound=float(group.capacity[member]),
        )


def _catching_up(group: _Group) -> Iterator[Fact]:
    if group.behind.any():
        yield _stated(
            Diagnosis.CATCHING_UP,
            before=float(np.nanmax(group.delay[group.behind])),
            after=_until(group),
            partitions=int(group.behind.sum()),
        )


def _until(group: _Group) -> float | None:
    """Seconds until the last member that is behind has caught up; None unknown."""
    if not group.names:
        return None
    waits = np.nan_to_num(group.interval) * group.arrivals
    backlog = group.of_members(np.maximum(np.nan_to_num(group.lag) - waits, 0))
    spare = np.where(group.firm, group.capacity - group.load, np.nan)
    seconds = np.where(spare > 0, backlog / np.where(spare > 0, spare, 1), np.nan)
    needed = seconds[group.any_of(group.behind)]
    return float(needed.max()) if len(needed) and not np.isnan(needed).any() else None


def _unknown(group: _Group) -> Iterator[Fact]:
    doubtful = int(group.in_doubt.sum())
    if not group.counted.any():
        yield fact(FactKind.DIAGNOSIS, "no_partitions_seen")
    elif doubtful and not group.has_past:
        yield fact(FactKind.DIAGNOSIS, "no_past", partitions=doubtful)
    elif (group.in_doubt & np.isnan(group.lag)).any():
        rows = group.in_doubt & np.isnan(group.lag)
        yield fact(FactKind.DIAGNOSIS, "no_lag", partitions=int(rows.sum()))
    elif doubtful and math.isnan(group.interval):
        yield fact(FactKind.DIAGNOSIS, "no_commit_interval", partitions=doubtful)
    elif doubtful:
        yield fact(FactKind.DIAGNOSIS, "no_time_lag", partitions=doubtful)


RULES: tuple[tuple[Diagnosis, Rule], ...] = (
    (Diagnosis.UNKNOWN, _unreadable),
    (Diagnosis.NO_MEMBERS, _no_members),
    (Diagnosis.REBALANCING, _rebalancing),
    (Diagnosis.LOSING_RECORDS, _losing_records),
    (Diagnosis.SKIPPED_RECORDS, _skipped_records),
    (Diagnosis.SILENT_MEMBER, _silent_member),
    (Diagnosis.STUCK_PARTITION, _stuck_partition),
    (Diagnosis.SLOW_MEMBER, _slow_member),
    (Diagnosis.HOT_PARTITION, _hot_partition),
    (Diagnosis.TOO_FEW_MEMBERS, _too_few_members),
    (Diagnosis.SKEWED_LOAD, _skewed_load),
    (Diagnosis.CATCHING_UP, _catching_up),
    (Diagnosis.UNKNOWN, _unknown),
)
