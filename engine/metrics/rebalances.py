"""
Rebalances between snapshots, and how long they stopped the members of a group.

Every dynamic member that came or went between two samples brought a rebalance. A member that kept its partitions and
was behind at both samples consumed less by what it stood still:

    pause of one rebalance = (seconds - consumed / capacity - restart) / rebalances

where *restart* is for who restarted itself. It is taken only where the pauses add up to a tenth of the interval:
capacities are known to a twentieth. So short pauses stay unknown, as do those of cooperative members, which go on with
what they keep.

What it does not do: see the restart of a static member, or a rebalance that left the members as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Ints
from ..model.batch import Members
from ..model.pauses import USUAL
from .past import Past
from .samples import Samples, any_of_owner, sums_by_owner

SEEN = 0.1
"""The least share of an interval that pauses take, to be told from a capacity that is a little off."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rebalances:
    """
    The rebalances that members brought who came or went.

    Attributes:
        past: The groups and their earlier samples.
        snapshot: (S, G) which snapshot each sample is from: 0 is now, k the k-th of the earlier ones, NONE none.
        number: (S - 1, G) rebalances between sample i + 1 and sample i.
    """

    past: Past
    snapshot: Ints
    number: Ints

    @classmethod
    def of(cls, past: Past) -> Rebalances:
        """Those between the samples of some groups."""
        shape = (past.samples + 1, len(past.now))
        snapshot, marks = np.full(shape, NONE, np.int64), np.zeros(shape, np.int64)
        snapshot[0], marks[0] = 0, _marks(past.now.members)
        known = {id(old.members): old.members for old in past.earlier}
        marks_of = {place: _marks(members) for place, members in known.items()}
        for place, (old, sample, of_group) in enumerate(
            zip(past.earlier, past.sample, past.of_group, strict=True), 1
        ):
            own = np.flatnonzero(sample != NONE)
            snapshot[sample[own] + 1, own] = place
            marks[sample[own] + 1, own] = marks_of[id(old.members)][of_group[own]]
        found = cls(past=past, snapshot=snapshot, number=np.zeros((shape[0] - 1, shape[1]), int))
        changed = (marks[:-1] != marks[1:]) & (snapshot[1:] != NONE)
        for at, group in np.argwhere(changed).tolist():
            found.number[at, group] = len(found.ids(at, group) ^ found.ids(at + 1, group))
        return found

    def ids(self, sample: int, group: int) -> set[str]:
        """The dynamic members of a group at a sample."""
        place, batch, number = int(self.snapshot[sample, group]), self.past.now, group
        if place:
            batch, number = self.past.earlier[place - 1], int(self.past.of_group[place - 1][group])
        own = batch.members_of(number)
        names = zip(batch.members.ids[own], batch.members.instance_ids[own], strict=True)
        return {name for name, instance in names if instance is None}

    def pauses(self, samples: Samples, behind: Flags, speed: Floats, before: Floats) -> Floats:
        """
        (G) for how many seconds members stand still in a rebalance; nan unknown.

        Args:
            samples: The partitions of the groups.
            behind: (S, n) whether each was behind at each sample.
            speed: (M) offsets/s that members do when they are behind; nan unknown.
            before: (G) what was learned after the preceding snapshot, nan nothing; it counts where nothing new shows.
        """
        seconds = before.copy()
        for group in np.flatnonzero(self.number.any(axis=0)).tolist():
            rows = self.past.now.rows(group)
            late = (behind[1:, rows] & behind[:-1, rows]).any(axis=1)
            seen = [
                pause
                for at in np.flatnonzero(late & (self.number[:, group] > 0)).tolist()
                for pause in self._pauses(samples, behind, speed, at, group)
            ]
            if seen:
                seconds[group] = median(seen)
        return seconds

    def _pauses(
        self, samples: Samples, behind: Flags, speed: Floats, at: int, group: int
    ) -> Iterator[float]:
        """For how long members stood still in each rebalance of an interval that were behind all the time."""
        batch = self.past.now
        rows, own = batch.rows(group), batch.members_of(group)
        ids, first = batch.members.ids[own], own.start
        older, owner = (
            np.where(each == NONE, NONE, each - first) for each in samples.owner[[at + 1, at], rows]
        )
        kept = samples.stayed[at, rows] & (samples.consumed[at, rows] >= 0)
        lost = any_of_owner(~kept, older, len(ids)) | any_of_owner(~kept, owner, len(ids))
        waited = any_of_owner(kept & behind[at, rows] & behind[at + 1, rows], owner, len(ids))
        done = sums_by_owner(samples.consumed[at, rows], owner, kept, len(ids)) / speed[own]
        lasted, known = float(np.nanmax(samples.seconds[at, rows])), self.ids(at + 1, group)
        for member in np.flatnonzero(waited & ~lost & ~np.isnan(done)).tolist():
            stood = lasted - float(done[member])
            stood -= 0.0 if ids[member] in known else USUAL.restart_seconds
            if stood >= SEEN * lasted:
                yield stood / int(self.number[at, group])


def _marks(members: Members) -> Ints:
    """(G) a number for the dynamic members of each group: the same for the same members."""
    names = zip(map(hash, members.ids), members.instance_ids, strict=True)
    dynamic = [mark if instance is None else 0 for mark, instance in names]
    sums = np.zeros(len(members.counts), np.int64)
    np.add.at(sums, members.group, np.array(dynamic, np.int64))
    return sums
