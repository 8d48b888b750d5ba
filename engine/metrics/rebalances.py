"""
Rebalances between snapshots, and how long they stopped the members of a group.

Every dynamic member that came or went between two samples brought a rebalance. A member that kept its partitions and
was behind at both samples consumed less by what it stood still:

    pause of one rebalance = (seconds - consumed / capacity) / rebalances

That is off by a twentieth of the interval, as capacities are, or by what a member did in others beyond its capacity:
commits that fall into one interval or the next. So an interval gives a span of seconds, from 0 where pauses are short,
and where members both came and went: meanwhile it may have read what others left. Who restarted itself says nothing
here, as its restart is in it, nor do cooperative members, which go on with what they keep.

Where snapshots are so frequent that they see a rebalance of an eager group under way, the samples that do and those
around them are the ends of a span as well, less the heartbeat interval in which members hear of it.

What it does not do: see a rebalance between two samples that left the members as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Ints
from ..model.batch import GroupBatch, Members, sum_by
from ..model.groups import GroupHeader
from ..records.pause_course import PauseSpan
from .past import Past
from .pauses import is_known
from .samples import Samples, any_of_owner, sums_by_owner

OFF = 0.05
"""The share of an interval by which what a member consumed over its capacity may be off."""

COMPARED = 3
"""So many intervals of a member show by how much that really is off."""

HEARTBEAT = 3.0
"""Seconds between two heartbeats of a member of a classic group, by default: `heartbeat.interval.ms`."""

EAGER = frozenset({"range", "roundrobin", "sticky"})
"""Under whom all members stand still from the beginning of a rebalance to its end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rebalances:
    """
    The rebalances that members brought who came or went.

    Attributes:
        past: The groups and their earlier samples.
        snapshot: (S, G) which snapshot each sample is from: 0 is now, k the k-th of the earlier ones, NONE none.
        number: (S - 1, G) rebalances between sample i + 1 and sample i.
        changed: (S - 1, G) whether members came, went or restarted in between, static ones included.
    """

    past: Past
    snapshot: Ints
    number: Ints
    changed: Flags
    _lives: dict[tuple[int, int], dict[str, set[str]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, past: Past) -> Rebalances:
        """Those between the samples of some groups."""
        shape = (past.samples + 1, len(past.now))
        snapshot, marks = np.full(shape, NONE, np.int64), np.zeros((*shape, 2), np.int64)
        snapshot[0], marks[0] = 0, _marks(past.now.members)
        known = {id(old.members): old.members for old in past.earlier}
        by_place = {place: _marks(members) for place, members in known.items()}
        for place, (old, sample, of_group) in enumerate(
            zip(past.earlier, past.sample, past.of_group, strict=True), 1
        ):
            own = np.flatnonzero(sample != NONE)
            snapshot[sample[own] + 1, own] = place
            marks[sample[own] + 1, own] = by_place[id(old.members)][of_group[own]]
        differs = (marks[:-1] != marks[1:]) & (snapshot[1:] != NONE)[..., None]
        number = np.zeros((shape[0] - 1, shape[1]), int)
        found = cls(past=past, snapshot=snapshot, number=number, changed=differs.any(axis=2))
        for at, group in np.argwhere(differs[..., 0]).tolist():
            number[at, group] = len(found.ids(at, group) ^ found.ids(at + 1, group))
        return found

    def samples_of(self, group: int) -> int:
        """How many samples there are of a group, the present one included."""
        return int((self.snapshot[:, group] != NONE).sum())

    def at(self, sample: int, group: int) -> tuple[GroupBatch, int]:
        """The snapshot that a sample of a group is from, and its number there."""
        place = int(self.snapshot[sample, group])
        if not place:
            return self.past.now, group
        return self.past.earlier[place - 1], int(self.past.of_group[place - 1][group])

    def header(self, sample: int, group: int) -> GroupHeader:
        """The group at a sample."""
        batch, number = self.at(sample, group)
        return batch.headers[number]

    def moments(self, group: int) -> list[float]:
        """Unix times of the samples of a group, newest first."""
        own = range(self.samples_of(group))
        return [self.header(sample, group).taken_at.timestamp() for sample in own]

    def ids(self, sample: int, group: int) -> set[str]:
        """The dynamic members of a group at a sample."""
        batch, number = self.at(sample, group)
        own = batch.members_of(number)
        names = zip(batch.members.ids[own], batch.members.instance_ids[own], strict=True)
        return {name for name, instance in names if instance is None}

    def lives(self, sample: int, group: int) -> dict[str, set[str]]:
        """The members of a group at a sample: what survives restarts, and the ids that it stands for then."""
        if (sample, group) not in self._lives:
            batch, number = self.at(sample, group)
            own, found = batch.members_of(number), dict[str, set[str]]()
            for who, name in zip(
                batch.members.identities[own], batch.members.ids[own], strict=True
            ):
                found.setdefault(who, set()).add(name)
            self._lives[sample, group] = found
        return self._lives[sample, group]

    def pauses(self, group: int, idle: Idle) -> list[PauseSpan]:
        """For how long members stand still in a rebalance of a group, by each interval that shows it."""
        moments, spans = self.moments(group), [*self._under_way(group)]
        names = self.past.now.members.identities[self.past.now.members_of(group)]
        for at in np.flatnonzero(self.number[:, group]).tolist():
            then, before = self.lives(at, group), self.lives(at + 1, group)
            now, old = self.ids(at, group), self.ids(at + 1, group)
            one_way = now <= old or old <= now
            for member in np.flatnonzero(~np.isnan(idle.seconds[at])).tolist():
                if then.get(names[member]) == before.get(names[member]):
                    low, high = idle.span(at, member) / self.number[at, group]
                    spans.append(
                        PauseSpan(moments[at], float(low) if one_way else 0.0, float(high))
                    )
        return spans

    def _under_way(self, group: int) -> Iterator[PauseSpan]:
        """How long the rebalances lasted that samples saw, with one before and one after."""
        count = self.samples_of(group)
        if not any(self.rebalancing[:, group]):
            return
        moments = self.moments(group)
        for moving, run in groupby(range(count), lambda k: bool(self.rebalancing[k, group])):
            samples = [*run]
            newest, oldest = samples[0], samples[-1]
            if not moving or newest == 0 or oldest == count - 1:
                continue
            each = max(int(self.number[newest - 1 : oldest + 1, group].sum()), 1)
            # members go on until a heartbeat tells them
            low = max(0.0, moments[newest] - moments[oldest] - HEARTBEAT)
            high = moments[newest - 1] - moments[oldest + 1]
            is_eager = self.header(oldest + 1, group).assignor in EAGER
            if is_eager and is_known(low, high):
                yield PauseSpan(moments[newest - 1], low / each, high / each)

    @cached_property
    def rebalancing(self) -> Flags:
        """(S, G) whether a group was rebalancing at a sample."""
        before = self.past.flags("rebalancing")
        return np.concatenate([self.past.now.rebalancing[None], before])


@dataclass(frozen=True, kw_only=True, eq=False)
class Idle:
    """
    For how long members of a group did nothing that were behind all the time.

    Attributes:
        seconds: (S - 1, M of the group) in each interval; nan of one who did not keep its partitions or was not behind.
        off: (S - 1, M of the group) seconds by which that may be wrong.
    """

    seconds: Floats
    off: Floats

    @classmethod
    def of(
        cls, rebalances: Rebalances, samples: Samples, behind: Flags, speed: Floats, group: int
    ) -> Idle:
        """
        Args:
            rebalances: Those of the batch.
            samples: Its partitions.
            behind: (S, n) whether each was behind at each sample.
            speed: (M of the batch) offsets/s that members do when they are behind; nan unknown.
            group: The group's number.
        """
        batch = rebalances.past.now
        rows, own = batch.rows(group), batch.members_of(group)
        count, first = own.stop - own.start, own.start
        lasted = np.nanmax(samples.seconds[:, rows], axis=1, initial=0.0)[:, None]
        seconds = np.full((len(lasted), count), np.nan)
        for at in np.flatnonzero((behind[1:, rows] & behind[:-1, rows]).any(axis=1)).tolist():
            older, owner = (
                np.where(each == NONE, NONE, each - first)
                for each in samples.owner[[at + 1, at], rows]
            )
            kept = samples.stayed[at, rows] & (samples.consumed[at, rows] >= 0)
            lost = any_of_owner(~kept, older, count) | any_of_owner(~kept, owner, count)
            waited = any_of_owner(kept & behind[at, rows] & behind[at + 1, rows], owner, count)
            done = sums_by_owner(samples.consumed[at, rows], owner, kept, count) / speed[own]
            seconds[at] = np.where(waited & ~lost, lasted[at] - done, np.nan)
        compared = (~np.isnan(seconds)).sum(axis=0) >= COMPARED
        seconds = np.where(compared, seconds, np.nan)
        off = np.maximum(np.fmax.reduce(-seconds, axis=0, initial=0.0), OFF * lasted)
        return cls(seconds=seconds, off=off)

    def span(self, at: int, member: int) -> Floats:
        """(2) at least and at most for how long a member did nothing in an interval; nan unknown."""
        seconds, off = self.seconds[at, member], self.off[at, member]
        return np.maximum([seconds - off, seconds + off], 0.0)


def _marks(members: Members) -> Ints:
    """(G, 2) a number for the dynamic members of each group, and one for all: the same for the same members."""
    marks = np.fromiter(map(hash, members.ids), np.int64, len(members))
    dynamic = np.array([instance is None for instance in members.instance_ids], np.bool_)
    sums = [sum_by(each, members.start) for each in (np.where(dynamic, marks, 0), marks)]
    return np.stack(sums, axis=1)
