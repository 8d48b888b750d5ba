"""
What would be the matter with a group whose members, partitions or owners were others, by the rules of every diagnosis.

Nothing of such a group was seen. What stands behind today stays behind, and a partition that nobody gets on with stays
stuck. Who gets more than he is known to do will be behind, so his partitions count as behind. Who gets more than he was
ever seen to do, while what he can do is not known, leaves the diagnosis unknown where nothing worse is.

Who is new can do what his peers do: the median, the lower of two in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ...metrics.diagnosis import Diagnosed, first_of
from ...metrics.diagnosis.evidence import OneGroup, overtaxed
from ...metrics.forecast import doubtful
from ...metrics.samples import sums_by_owner
from ...model.arrays import NONE, Flags, Floats, Indices, Ints
from ...model.facts import Fact, FactKind, fact
from ...model.groups import GroupSnapshot
from ...model.states import Diagnosis
from .changes import Layout

ROOM = 0.05
"""By which share more than those of whom it is known members do who are not taken for equal."""


class Condition:
    """What is the matter with a group after changes, whoever owns what in it."""

    def __init__(
        self,
        evidence: OneGroup,
        group: GroupSnapshot,
        made: Layout,
        names: Sequence[str],
        arrivals: Floats,
    ) -> None:
        """
        Args:
            evidence: What was seen of the group.
            group: The group after the changes.
            made: Its M members and n partitions.
            names: (M) what its members are called.
            arrivals: (n) offsets/s after the changes; nan unknown.
        """
        self.seen, self.group, self.made, self.names = evidence, group, made, names
        self.arrivals, self.counted = arrivals, group.partitions.assignable
        self._unknown = self.counted & np.isnan(arrivals)

    @cached_property
    def firm(self) -> Floats:
        """(M) offsets/s that each member is known to do at most, as forecasts take it; nan unknown."""
        one = self.seen
        # who keeps up with more than was thought does so
        does = np.where(one.taken, np.fmax(one.capacity, self._kept_up), np.nan)
        return self.made.able(does, self.peers_firm)

    @cached_property
    def at_least(self) -> Floats:
        """(M) offsets/s that each was seen to do at least; nan where nothing was seen."""
        seen = np.fmax(self.seen.seen_speed, self._kept_up)
        return self.made.able(seen, self._median(seen))

    @cached_property
    def silent(self) -> Flags:
        """(M) who does nothing any more."""
        silent: Flags = self.made.of_members(self.seen.silent, False)
        return silent

    @property
    def _kept_up(self) -> Floats:
        """(members seen) the load of those that are known to have no backlog; nan of the others."""
        one = self.seen
        waits = one.any_of(one.counted & ~((one.delay == 0) | (one.lag == 0)))
        return np.where(waits | (one.load <= 0), np.nan, one.load)

    @cached_property
    def peers_firm(self) -> float:
        """Offsets/s that one who joins is taken to do at most; nan unknown."""
        one = self.seen
        known = np.where(one.taken, one.capacity, np.nan)
        return newcomer(self._median(known), self._median(one.seen_speed))

    def _median(self, per_second: Floats) -> float:
        return median_peer(per_second, self.made.was, self.made.stated)

    def load(self, owner: Indices) -> Floats:
        """(M) offsets/s that would arrive at each; nan where that is unknown of a partition of its."""
        return sums_by_owner(self.arrivals, owner, self.counted, len(self.names))

    def overtaxed(self, owner: Indices) -> Flags:
        """(M) who would get more than he is known to do."""
        load = self.load(owner)
        known: Flags = (load > self.firm) | (self.silent & (load > 0))
        return known

    def doubtful(self, owner: Indices) -> Flags:
        """(M) of whom it is not known whether he could do what he would get."""
        does = np.where(self.silent, 0.0, self.firm)
        return doubtful(self.load(owner), does, self.at_least)

    def keeps_up(self, owner: Indices) -> bool | None:
        """
        Whether nobody would get more than he can do; None unknown.

        Args:
            owner: (n) a member, or NONE.
        """
        if self.overtaxed(owner).any():
            return False
        return None if self.doubtful(owner).any() else True

    def diagnosed(self, owner: Indices) -> Diagnosed:
        """
        What would be the matter with it.

        Args:
            owner: (n) a member, or NONE.
        """
        found = first_of(self._under(owner))
        doubtful = self.doubtful(owner)
        well = found.diagnosis in (Diagnosis.HEALTHY, Diagnosis.CATCHING_UP)
        if not (well and doubtful.any()):
            return found
        return Diagnosed(diagnosis=Diagnosis.UNKNOWN, facts=(self._doubt(owner, doubtful),))

    def why_not(self, owner: Indices) -> Iterator[Fact]:
        """
        Why it would not keep up, or why that is not known; nothing where it would.

        Args:
            owner: (n) a member, or NONE.
        """
        over, doubtful, load = self.overtaxed(owner), self.doubtful(owner), self.load(owner)
        if not over.any():
            if doubtful.any():
                yield self._doubt(owner, doubtful)
            return
        does = np.where(self.silent, 0.0, self.firm)
        worst = int(np.where(over, load - np.nan_to_num(does), -np.inf).argmax())
        best = float(np.nanmax(does))
        mine = np.where((owner == worst) & self.counted, self.arrivals, -np.inf)
        hottest = int(mine.argmax())
        if mine[hottest] > best:
            table = self.group.partitions
            name = f"{table.names[hottest]}-{table.partition[hottest]}"
            yield _stated(Diagnosis.HOT_PARTITION, name, float(mine[hottest]), best)
        else:
            name = self.names[worst]
            yield _stated(Diagnosis.SKEWED_LOAD, name, float(load[worst]), float(does[worst]))

    def _doubt(self, owner: Indices, doubtful: Flags) -> Fact:
        if self._unknown.any():
            return fact(FactKind.DIAGNOSIS, "arrivals_unknown", partitions=int(self._unknown.sum()))
        load = np.where(doubtful, self.load(owner), -1.0)
        busiest = int(load.argmax())
        seen = float(self.at_least[busiest])
        others = [n for n in np.flatnonzero(doubtful).tolist() if n != busiest]
        return fact(
            FactKind.DIAGNOSIS,
            "ability_unknown",
            [self.names[member] for member in (busiest, *others)],
            before=None if np.isnan(seen) else seen,
            after=float(load[busiest]),
        )

    def _under(self, owner: Indices) -> OneGroup:
        """The group as the rules look at it."""
        group, made, table, seen = self.seen.supposed(), self.made, self.group.partitions, self.seen
        group.header, group.names = self.group, list(self.names)
        group.members_count = group.consumers = len(group.names)
        group.repeated = None  # what members did until now says nothing of others
        group.hosts = ["" if was == NONE else seen.hosts[was] for was in made.was.tolist()]
        group.topics, group.numbers = list(table.names), table.partition.tolist()
        group.owner, group.counted = owner, self.counted
        group.arrivals = np.nan_to_num(self.arrivals)
        for name in ("lag", "lost", "age", "delay"):
            setattr(group, name, made.of_rows(getattr(seen, name), 0.0))
        group.held_back = made.of_rows(seen.held_back, np.nan)
        group.ownerless = np.where(owner == NONE, made.of_rows(seen.ownerless, np.nan), np.nan)
        group.unassigned = ~np.isnan(group.ownerless)
        group.asked = lambda: [frozenset(m.subscription or ()) for m in self.group.members]
        for name in ("in_doubt", "jumped", "over_lost", "goes_on", "held", "evicted"):
            setattr(group, name, made.of_rows(getattr(seen, name), False))
        group.helpless = group.held | group.unassigned
        group.consumed = made.of_rows(seen.consumed, np.nan)
        group.seconds = made.of_rows(seen.seconds, np.nan)
        group.capacity = np.where(np.isnan(self.firm), self.at_least, self.firm)
        group.firm = ~np.isnan(self.firm)
        group.saturated = made.able(seen.saturated, np.nan)
        group.seen_speed = np.where(np.isnan(group.saturated), self.at_least, group.saturated)
        group.past_speed = made.able(seen.past_speed, np.nan)
        group.load = group.of_members(group.arrivals)
        of_silent = np.append(self.silent, False)[owner]
        stuck = made.of_rows(seen.stuck, False)
        over = np.append(group.firm & (group.load > np.nan_to_num(group.capacity)), False)[owner]
        arrive = self.counted & (group.arrivals > 0)
        behind = made.of_rows(seen.behind, False) & self.counted
        over &= ~group.held
        group.behind = behind | (arrive & (over | of_silent))
        group.still = (stuck & self.counted) | (of_silent & group.behind)
        group.late = group.any_of(group.behind)
        able = (group.capacity, group.saturated)
        vars(group).update(overtaxed(group.late, group.firm, group.load, *able))
        vars(group)["silent"] = self.silent & group.any_of(group.still)
        vars(group)["stuck"] = stuck & ~of_silent & group.behind
        return group


def _stated(diagnosis: Diagnosis, name: str, after: float, bound: float) -> Fact:
    return fact(FactKind.DIAGNOSIS, diagnosis.measure, [name], after=after, bound=bound)


def median_peer(per_second: Floats, was: Ints, stated: Floats) -> float:
    """
    What somebody new is taken to do: the median of all members seen, by what is said of them where something is.

    Args:
        per_second: (members seen) offsets/s; nan, or 0 of those who are silent, says nothing of a peer.
        was, stated: As in `Layout`.
    """
    peers = per_second.copy()
    told = np.flatnonzero(~np.isnan(stated) & (was != NONE))
    peers[was[told]] = stated[told]
    known = np.sort(peers[peers > 0])
    return float(known[(len(known) - 1) // 2]) if len(known) else float("nan")


def newcomer(at_most: float, at_least: float) -> float:
    """
    What somebody new is taken to do at most; nan unknown.

    Where his median peer was seen to do more than those of whom it is known, these are the slow ones.

    >>> newcomer(6.0, 6.1), newcomer(0.6, 2.0), newcomer(float("nan"), 2.0)
    (6.0, nan, nan)

    Args:
        at_most: Offsets/s, the median of the peers of whom it is known what they can do; nan where of none.
        at_least: Offsets/s, the median of what the peers were seen to do; nan where nothing was.
    """
    return float("nan") if at_least > at_most * (1 + ROOM) else at_most
