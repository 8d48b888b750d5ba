"""What diagnoses follow from, for many groups and for one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Flags, Floats, Indices, Ints
from ...model.batch import GroupBatch, count_by
from ...model.facts import Fact
from ...model.groups import GroupHeader
from ...model.labels import Labels
from ...model.states import CapacityBasis
from ..capacity import Capacity
from ..rebalance_causes import RebalanceCauses, Repeated
from ..retention import kept_seconds
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
    def of_rows(self) -> Mapping[str, npt.NDArray[Any]]:
        """(n), or (intervals, n): what `OneGroup` has of its partitions, by name."""
        samples, counted, start = self.samples, self.counted, self.batch.members.start
        late = self.behind[0] & counted
        held_back = np.where(counted, self.held_back, np.nan)
        ownerless = np.where(counted, self.unassigned, np.nan)
        held, unassigned = ~np.isnan(held_back), ~np.isnan(ownerless)
        behind, evicted = late & ~held & ~unassigned, self.evicted & counted
        soon = self.time_to_loss < self.loss_within[self.batch.group]
        own = np.where(samples.owner[0] == NONE, NONE, samples.owner[0] - start[self.batch.group])
        return {
            "owner": own.astype(np.int32),
            "counted": counted,
            "lag": self.lag,
            "lost": self.lost,
            "arrivals": np.nan_to_num(self.arrivals),
            "age": samples.age[0],
            "delay": self.delays[0],
            "held_back": held_back,
            "held": held,
            "ownerless": ownerless,
            "unassigned": unassigned,
            "helpless": held | unassigned,
            "behind": behind,
            "in_doubt": self.in_doubt,
            "time_to_loss": self.time_to_loss,
            "evicted": evicted,
            "lost_soon": (late | held) & ~((self.lost > 0) | evicted) & soon,
            "jumps": self.jumps,
            "jumped": self.jumped,
            "over_lost": self.over_lost,
            "consumed": samples.consumed[:RECENT],
            "seconds": samples.seconds[:RECENT],
            "goes_on": samples.goes_on,
            "still": behind & samples.stands,
        }

    @cached_property
    def some(self) -> Mapping[str, list[bool]]:
        """(G) by name whether one of a group's partitions or members is what a rule needs (`rules.RULES`)."""
        rows, start = self.of_rows, self.batch.start
        flags = {
            name: rows[name] for name in ("lost_soon", "unassigned", "held", "still", "behind")
        }
        flags["losing"] = self.counted & (self.lost > 0) | rows["evicted"]
        flags["leaping"] = self.jumped | self.over_lost
        found = {name: count_by(each, start) > 0 for name, each in flags.items()}
        for name in ("over", "suspected"):
            found[name] = count_by(self.of_members[name], self.batch.members.start) > 0
        return {name: each.tolist() for name, each in found.items()}

    @cached_property
    def of_members(self) -> Mapping[str, npt.NDArray[Any]]:
        """(M) what `OneGroup` has of its members, by name."""
        capacity, arrivals = self.capacity, self.of_rows["arrivals"]
        owner, count = self.samples.owner[0], len(self.batch.members)
        load = sums_by_owner(arrivals, owner, self.counted, count)
        unseen = np.isnan(capacity.saturated)
        late = any_of_owner(self.of_rows["behind"], owner, count)
        firm = firm_capacities(capacity.basis, load > 0, self.batch.members.start)
        return {
            "late": late,
            "firm": firm,
            **overtaxed(late, firm, load, capacity.per_second, capacity.saturated),
            "capacity": capacity.per_second,
            "saturated": capacity.saturated,
            "seen_speed": np.where(unseen, capacity.at_least, capacity.saturated),
            "past_speed": capacity.before,
            "load": load,
            "taken": ~np.isnan(capacity.sure),
        }

    @cached_property
    def has_past(self) -> Flags:
        """(G) whether anything is known of a group from before; another one of the batch may have a past."""
        there: Flags = np.any(~np.isnan(self.samples.at[1:]), axis=0)
        return count_by(there, self.batch.start) > 0

    @cached_property
    def retention_used(self) -> Floats:
        """(n) how old the oldest unread record is, as a share of the time that its topic keeps records; nan unknown."""
        kept = kept_seconds(self.batch.partitions)
        used = self.samples.age[0] / np.where(kept > 0, kept, np.nan)
        return np.where(self.counted, used, np.nan)

    @cached_property
    def _looked_at(self) -> dict[int, OneGroup]:
        return {}

    def of_group(self, number: int) -> OneGroup:
        """One group of it; made once, for whoever asks first."""
        if number not in self._looked_at:
            self._looked_at[number] = OneGroup(self, number)
        return self._looked_at[number]


class OneGroup:
    """
    One group of the evidence: rows and members counted from 0.

    Attributes:
        members_count: How many members there are.
        consumers: How many entries *names* and arrays of members have: one for all members of a share group.
        repeated: A crash loop or a flapping scaler; None without one.
        nobody: Whether it has no members; not where they could not be read.
        asked: What each member that subscribes to a topic subscribes to.
        held: (n) partitions in which an open transaction holds the group back: no member can help that.
        unassigned: (n) partitions that nobody owns, though members subscribe to them.
        helpless: (n) partitions that no member can help.
        late: (M) members who are behind in a partition.
        firm: (M) whether a capacity is what a member can do (`firm_capacities`).
        over: (M) members that are behind and get more than they are known to do.
        suspected: (M) members that are behind and get more than they do when saturated.
        past_speed: (M) records/s that each did before what it does when saturated; nan unknown.
        taken: (M) whose capacity forecasts go by: also what is only taken to be as that of its peers.
    """

    owner: Indices
    counted: Flags
    lag: Floats
    lost: Floats
    arrivals: Floats
    age: Floats
    delay: Floats
    held_back: Floats
    held: Flags
    ownerless: Floats
    unassigned: Flags
    helpless: Flags
    behind: Flags
    in_doubt: Flags
    time_to_loss: Floats
    evicted: Flags
    lost_soon: Flags
    jumps: Flags
    jumped: Flags
    over_lost: Flags
    consumed: Floats
    seconds: Floats
    goes_on: Flags
    still: Flags
    late: Flags
    firm: Flags
    over: Flags
    suspected: Flags
    capacity: Floats
    saturated: Floats
    seen_speed: Floats
    past_speed: Floats
    load: Floats
    taken: Flags

    def __init__(self, evidence: Evidence, group: int) -> None:
        batch, rows, own = (
            evidence.batch,
            evidence.batch.rows(group),
            evidence.batch.members_of(group),
        )
        self.header: GroupHeader = batch.headers[group]
        self.members_count = own.stop - own.start
        together = self.header.shares_partitions and self.members_count > 0
        own = slice(own.start, own.start + 1) if together else own
        self.consumers = own.stop - own.start
        self.repeated: Repeated | None = evidence.causes.repeated.get(group)
        self.deploying = group in evidence.causes.deploying
        self.nobody = not (
            self.members_count or self.header.rebalancing or self.header.members_unread
        )
        self.asked: Callable[[], list[frozenset[str]]] = partial(batch.members.subscriptions, group)
        self.rows, self.own, self.table, self._evidence = rows, own, batch.partitions, evidence
        self._number = group
        self.interval = float(evidence.interval[group])
        self.has_past = bool(evidence.has_past[group])
        self._some = {name for name, groups in evidence.some.items() if groups[group]}

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        """Its part of the evidence's arrays, cut out when a rule asks for it."""
        if name.startswith("_"):
            raise AttributeError(name)
        evidence = self._evidence
        if name in evidence.of_rows:
            found = evidence.of_rows[name][..., self.rows]
        elif name in evidence.of_members:
            found = evidence.of_members[name][self.own]
        else:
            raise AttributeError(name)
        setattr(self, name, found)
        return found

    @cached_property
    def names(self) -> list[str]:
        """(M) what people call its members."""
        if self.header.shares_partitions:
            return [self.header.group] * self.consumers
        return self._evidence.batch.members.roster(self._number).names

    @cached_property
    def hosts(self) -> Sequence[str]:
        """(M) where they are."""
        if self.header.shares_partitions:
            return [""] * self.consumers
        return self._evidence.batch.members.hosts[self.own]

    @cached_property
    def arriving(self) -> float | None:
        """Records/s that arrive in all that counts; None unknown."""
        evidence = self._evidence
        known = evidence.arrivals[self.rows][evidence.counted[self.rows]]
        return None if np.isnan(known).all() else float(np.nansum(known))

    @cached_property
    def was_empty(self) -> bool:
        """Whether it had no members at one of the last few samples."""
        samples, recent = self._evidence.samples, slice(1, RECENT + 1)
        there = ~np.isnan(samples.at[recent, self.rows])
        owned = (samples.owner[recent, self.rows] != NONE).any(axis=1)
        return bool((there.any(axis=1) & ~owned).any())

    @cached_property
    def retention_used(self) -> Floats:
        """(n) as of the evidence."""
        return self._evidence.retention_used[self.rows]

    @cached_property
    def topics(self) -> list[str]:
        """(n) the topic of each partition."""
        return [self.table.topics[topic] for topic in self.table.topic[self.rows].tolist()]

    @cached_property
    def numbers(self) -> list[int]:
        """(n) the number of each partition."""
        return [*self.table.partition[self.rows].tolist()]

    def supposed(self) -> OneGroup:
        """A copy to give other numbers: it keeps nothing that rules found or that follows, and is asked every rule."""
        other = copy(self)
        for derived in ("silent", "stuck", "_found"):
            vars(other).pop(derived, None)
        other._some = {*self._evidence.some}
        return other

    def facts_of(
        self, rule: Callable[[OneGroup], Iterable[Fact]], needs: str | None
    ) -> tuple[Fact, ...]:
        """What one of `rules.RULES` finds; asked once, for whoever asks first."""
        if needs is not None and needs not in self._some:
            return ()
        if rule not in self._found:
            self._found[rule] = tuple(rule(self))
        return self._found[rule]

    @cached_property
    def _found(self) -> dict[Any, tuple[Fact, ...]]:
        return {}

    def subscribers(self, topics: Collection[str]) -> int:
        """How many members subscribe to one of some topics."""
        return sum(not asked.isdisjoint(topics) for asked in self.asked())

    def of_members(self, values: Floats) -> Floats:
        """(M) the sum over each member's partitions that count."""
        return sums_by_owner(values, self.owner, self.counted, self.consumers)

    def any_of(self, rows: Flags) -> Flags:
        """(M) whether one of each member's partitions is among these."""
        return any_of_owner(rows, self.owner, self.consumers)

    @cached_property
    def silent(self) -> Flags:
        """(M) members none of whose partitions goes on, though one is behind; all of a share group if it stopped."""
        if self.header.shares_partitions:
            return np.full(self.consumers, self.stopped)
        return silent_members(self.still, self.goes_on, self.owner, self.consumers)

    @cached_property
    def stuck(self) -> Flags:
        """(n) partitions that stand still though they are behind, and whose owner is not silent."""
        stuck: Flags = self.still & ~np.append(self.silent, False)[self.owner]
        return stuck

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


def overtaxed(
    late: Flags, firm: Flags, load: Floats, capacity: Floats, saturated: Floats
) -> dict[str, Flags]:
    """(M) whether members are `over` and `suspected`, from what `OneGroup` has of them."""
    does = np.where(np.isnan(saturated), np.inf, saturated)
    return {
        "over": late & firm & (load > np.nan_to_num(capacity)),
        "suspected": late & (load > does),
    }


def firm_capacities(basis: Labels[CapacityBasis], works: Flags, start: Ints) -> Flags:
    """
    (M) whether a capacity is what a member can do, and not only what it was seen to do.

    It is where it was measured or configured. What peers do says so of a member only if these are most of those that
    have something to do: the others may be the slow ones.

    Args:
        basis: (M) how each capacity is known.
        works: (M) whether something arrives at each.
        start: (G + 1) where the members of each group begin.
    """
    measured = basis.equal(CapacityBasis.SATURATED) | basis.equal(CapacityBasis.CONFIGURED)
    are_most = 2 * count_by(measured & works, start) >= count_by(works, start)
    as_peers = basis.equal(CapacityBasis.AS_ITS_PEERS) & np.repeat(are_most, np.diff(start))
    firm: Flags = measured | as_peers
    return firm
