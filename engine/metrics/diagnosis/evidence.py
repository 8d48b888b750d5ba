"""What diagnoses follow from, for many groups and for one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ...model.arrays import NONE, Flags, Floats, Indices
from ...model.batch import GroupBatch
from ...model.groups import GroupHeader
from ...model.labels import Labels
from ...model.states import CapacityBasis
from ...model.text import member_names
from ..capacity import Capacity
from ..rebalance_causes import RebalanceCauses, Repeated
from ..samples import Samples, any_of_owner, silent_members, sums_by_owner

RECENT = 3
"""Intervals for which a jump is spoken of: somebody who looks every few snapshots should hear of it."""

EXACT = 0.95
"""A member below this share of a speed is slower than that, however exactly it is measured."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """
    What diagnoses follow from; arrays follow the partitions, members or groups of the batch.

    Attributes:
        counted: (n) partitions inside the totals.
        lag: (n) offsets; nan unknown.
        lost: (n) offsets that retention removed beyond the commit; nan unknown.
        delays: (S, n) seconds behind beyond the commit interval; nan unknown.
        behind: (S, n) whether each partition was behind at each sample: by more than the objective.
        arrivals: (n) offsets/s of late; nan unknown.
        capacity: Of the members.
        interval: (G) seconds between commits; nan where none has been seen.
        objective: (G) seconds.
        time_to_loss: (n) seconds until retention reaches what is not read; nan unknown.
        loss_within: (G) seconds: retention that reaches it sooner is a loss ahead.
        evicted: (n) whether retention has lately removed what was not read, though commits went on.
        causes: Why groups rebalanced.
        held_back: (n) seconds for which records have waited behind an open transaction; nan where none do.
        unassigned: (n) seconds for which nobody has owned a partition, though members subscribe to it; nan else.
    """

    batch: GroupBatch
    samples: Samples
    counted: Flags
    lag: Floats
    lost: Floats
    delays: Floats
    behind: Flags
    arrivals: Floats
    capacity: Capacity
    interval: Floats
    objective: Floats
    time_to_loss: Floats
    loss_within: Floats
    evicted: Flags
    causes: RebalanceCauses
    held_back: Floats
    unassigned: Floats

    @cached_property
    def in_doubt(self) -> Flags:
        """(n) partitions that may or may not be behind: something is unknown of them."""
        unseen = np.isnan(self.interval)[self.batch.group] & ~self.behind[0]
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
    def jumps(self) -> Flags:
        """(`RECENT`, n) commits that went from far behind to the end within an interval, the newest first."""
        samples = self.samples
        went = samples.moved[:RECENT] & samples.current[:RECENT] & self.behind[1 : RECENT + 1]
        found: Flags = went & self.counted
        return found

    @cached_property
    def jumped(self) -> Flags:
        """(n) partitions whose commits did."""
        found: Flags = np.any(self.jumps, axis=0)
        return found

    @cached_property
    def _looked_at(self) -> dict[int, OneGroup]:
        return {}

    def of_group(self, number: int) -> OneGroup:
        """One group of it; made once, for whoever asks first."""
        if number not in self._looked_at:
            self._looked_at[number] = OneGroup(self, number)
        return self._looked_at[number]


class OneGroup:
    """One group of the evidence: rows and members counted from 0."""

    def __init__(self, evidence: Evidence, group: int) -> None:
        batch, rows, own = (
            evidence.batch,
            evidence.batch.rows(group),
            evidence.batch.members_of(group),
        )
        self.header: GroupHeader = batch.headers[group]
        self.members_count = own.stop - own.start
        """How many members there are; *names* and arrays of members have one entry for all those of a share group."""
        together = self.header.shares_partitions and self.members_count > 0
        own = slice(own.start, own.start + 1) if together else own
        self.names = [self.header.group] if together else names_of(batch, own)
        self.repeated: Repeated | None = evidence.causes.repeated.get(group)
        """A crash loop or a flapping scaler; None without one."""
        self.deploying = group in evidence.causes.deploying
        self.nobody = not (self.names or self.header.rebalancing or self.header.members_unread)
        """Whether it has no members; not where they could not be read."""
        self.hosts = [""] if together else batch.members.hosts[own]
        self.asked: Callable[[], list[frozenset[str]]] = partial(batch.members.subscriptions, group)
        """What each member that subscribes to a topic subscribes to."""
        self.rows, self.table = rows, batch.partitions
        owner = evidence.samples.owner[0, rows]
        self.owner: Indices = np.where(owner == NONE, NONE, owner - own.start).astype(np.int32)
        self.counted = evidence.counted[rows]
        self.lag, self.lost = evidence.lag[rows], evidence.lost[rows]
        arrivals = evidence.arrivals[rows]
        known = arrivals[self.counted]
        self.arriving = None if np.isnan(known).all() else float(np.nansum(known))
        """Records/s that arrive in all that counts; None unknown."""
        self.arrivals = np.nan_to_num(arrivals)
        self.age, self.delay = evidence.samples.age[0][rows], evidence.delays[0][rows]
        self.held_back = np.where(self.counted, evidence.held_back[rows], np.nan)
        self.held: Flags = ~np.isnan(self.held_back)
        """(n) partitions in which an open transaction holds the group back: no member can help that."""
        self.ownerless = np.where(self.counted, evidence.unassigned[rows], np.nan)
        self.unassigned: Flags = ~np.isnan(self.ownerless)
        """(n) partitions that nobody owns, though members subscribe to them."""
        self.helpless: Flags = self.held | self.unassigned
        """(n) partitions that no member can help."""
        self.behind = evidence.behind[0][rows] & self.counted & ~self.helpless
        self.in_doubt = evidence.in_doubt[rows]
        self.time_to_loss = evidence.time_to_loss[rows]
        soon = self.time_to_loss < evidence.loss_within[group]
        self.evicted = evidence.evicted[rows] & self.counted
        losing = (self.lost > 0) | self.evicted
        late = evidence.behind[0][rows] & self.counted
        self.lost_soon: Flags = (late | self.held) & ~losing & soon
        self.jumps, self.jumped = evidence.jumps[:, rows], evidence.jumped[rows]
        self.over_lost = evidence.over_lost[rows]
        self.interval = float(evidence.interval[group])
        samples = evidence.samples
        there = ~np.isnan(samples.at[1:, rows])
        self.has_past = bool(there.any())  # another group of the batch may have one
        self.consumed = samples.consumed[:RECENT, rows]
        self.seconds = samples.seconds[:RECENT, rows]
        self.goes_on: Flags = samples.goes_on[rows]
        self.still: Flags = self.behind & samples.stands[rows]
        owned = (samples.owner[1 : RECENT + 1, rows] != NONE).any(axis=1)
        self.was_empty = bool((there[:RECENT].any(axis=1) & ~owned).any())
        capacity = evidence.capacity
        self.capacity, self.saturated = capacity.per_second[own], capacity.saturated[own]
        at_least = capacity.at_least[own]
        self.seen_speed = np.where(np.isnan(self.saturated), at_least, self.saturated)
        self.past_speed = capacity.before[own]
        """(M) records/s that each did before what it does when saturated; nan unknown."""
        self.load = self.of_members(self.arrivals)
        self.firm = firm_capacities(capacity.basis.take(own), self.load > 0)
        self.taken: Flags = ~np.isnan(capacity.sure[own])
        """(M) whose capacity forecasts go by: also what is only taken to be as that of its peers."""

    @cached_property
    def topics(self) -> list[str]:
        """(n) the topic of each partition."""
        return [self.table.topics[topic] for topic in self.table.topic[self.rows].tolist()]

    @cached_property
    def numbers(self) -> list[int]:
        """(n) the number of each partition."""
        return [*self.table.partition[self.rows].tolist()]

    def subscribers(self, topics: Collection[str]) -> int:
        """How many members subscribe to one of some topics."""
        return sum(not asked.isdisjoint(topics) for asked in self.asked())

    def of_members(self, values: Floats) -> Floats:
        """(M) the sum over each member's partitions that count."""
        return sums_by_owner(values, self.owner, self.counted, len(self.names))

    def any_of(self, rows: Flags) -> Flags:
        """(M) whether one of each member's partitions is among these."""
        return any_of_owner(rows, self.owner, len(self.names))

    @cached_property
    def silent(self) -> Flags:
        """(M) members none of whose partitions goes on, though one is behind; all of a share group if it stopped."""
        if self.header.shares_partitions:
            return np.full(len(self.names), self.stopped)
        return silent_members(self.still, self.goes_on, self.owner, len(self.names))

    @cached_property
    def stuck(self) -> Flags:
        """(n) partitions that stand still though they are behind, and whose owner is not silent."""
        stuck: Flags = self.still & ~np.append(self.silent, False)[self.owner]
        return stuck

    @cached_property
    def over(self) -> Flags:
        """(M) members that are behind and get more than they are known to do."""
        return self.any_of(self.behind) & self.firm & (self.load > np.nan_to_num(self.capacity))

    @cached_property
    def exact(self) -> float:
        """
        Which share of a speed is surely less than it, as it is measured while a member is saturated.

        A commit may come late by an interval at either end of that time.
        """
        time = np.nansum(self.seconds, axis=0).max(initial=0)
        off = np.nan_to_num(self.interval) / time if time > 0 else 1.0
        return float(min(EXACT, 1 - off))

    @cached_property
    def stopped(self) -> bool:
        """Whether nothing that waits is consumed: all of it stands still, and has for too long."""
        alive = self.counted & ~self.held & ((self.lag > 0) & ~self.still | self.goes_on)
        return bool(self.still.any() and not alive.any())

    @property
    def too_small(self) -> bool:
        """
        Whether more arrives than all members together can do.

        Where the capacity of one isn't firm, all together may do more.
        """
        enough = self.load.sum() <= self.capacity.sum()
        return bool(self.over.any() and self.firm.all() and not enough)

    def partitions(self, rows: Flags) -> list[str]:
        """Names of partitions."""
        return [f"{self.topics[row]}-{self.numbers[row]}" for row in np.flatnonzero(rows).tolist()]

    def members(self, chosen: Flags) -> list[str]:
        """Names of members."""
        return [self.names[member] for member in np.flatnonzero(chosen).tolist()]


def firm_capacities(basis: Labels[CapacityBasis], works: Flags) -> Flags:
    """
    (M) whether a capacity is what a member can do, and not only what it was seen to do.

    It is where it was measured or configured. What peers do says so of a member only if these are most of those that
    have something to do: the others may be the slow ones.

    Args:
        basis: (M) how each capacity is known.
        works: (M) whether something arrives at each.
    """
    measured = basis.equal(CapacityBasis.SATURATED) | basis.equal(CapacityBasis.CONFIGURED)
    are_most = 2 * int((measured & works).sum()) >= int(works.sum())
    firm: Flags = measured | (basis.equal(CapacityBasis.AS_ITS_PEERS) & are_most)
    return firm


def names_of(batch: GroupBatch, own: slice) -> list[str]:
    """What people call the members of a group."""
    members = batch.members
    names = zip(members.instance_ids[own], members.client_ids[own], strict=True)
    return member_names(
        [instance or client for instance, client in names], members.hosts[own], members.ids[own]
    )
