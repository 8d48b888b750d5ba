"""
For how long members are away that restart, as far as snapshots show it.

A member that restarts comes back under another id, with the identity it had (instance id, else client id and host).
Two things bound for how long it was away:

* The samples. It stopped after the last one at which it was well, and before the first one at which it was gone; it was
  back between the last sample without its new id and the first one with it. Gone is a dynamic member that is not
  listed. A static one is listed all the time, and so is one that crashed until its session ends: it is well no longer
  when none of its partitions goes on, for longer than commits are apart, though there are records to read.
* What it consumed: a static member keeps its partitions, so if it was behind all the time, its restart took what it
  would have needed less (`rebalances.Idle`). Of a dynamic member others read the partitions meanwhile.

A span that says little is left out: it has to be known (`pauses.is_known`), or to contradict the default.

What it does not do: see a restart on another host without an instance id, or that of one of several members with the
same client id on a host, nor tell a member that was silent before it restarted from one that was away for so long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ..model.pauses import USUAL
from ..model.states import GroupType
from ..records.pause_course import PauseSpan
from .pauses import is_known
from .rebalances import Idle, Rebalances
from .samples import Samples

LONGEST = 600.0
"""Seconds: who was away for longer was stopped, and started again."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Restarts:
    """
    The restarts of the members of a group.

    Attributes:
        rebalances: Those of the batch.
        samples: Its partitions.
        idle: For how long members of the group did nothing.
        apart: Seconds from one commit of the group to the next; nan unknown.
        group: The number of the group.
    """

    rebalances: Rebalances
    samples: Samples
    idle: Idle
    apart: float
    group: int

    @cached_property
    def _moments(self) -> list[float]:
        return self.rebalances.moments(self.group)

    @cached_property
    def _number(self) -> dict[str, int]:
        """The number in the group of each present member that shares its identity with nobody."""
        batch = self.rebalances.past.now
        alone = self.rebalances.lives(0, self.group)
        names = enumerate(batch.members.identities[batch.members_of(self.group)])
        return {who: number for number, who in names if len(alone[who]) == 1}

    def spans(self) -> list[PauseSpan]:
        """For how long each was away."""
        samples = range(len(self._moments))
        lives = [self.rebalances.lives(sample, self.group) for sample in samples]
        several = {who for each in lives for who in each} if len(lives) > 1 else set()
        return [span for who in sorted(several) for span in self._of(who, lives)]

    def _of(self, who: str, lives: Sequence[dict[str, set[str]]]) -> Iterator[PauseSpan]:
        """The restarts of one identity; while its old id is still listed beside the new one, it is back."""
        ids = [each.get(who, set()) for each in lives]
        if all(own == ids[0] for own in ids):
            return
        alone = [sample for sample, own in enumerate(ids) if len(own) == 1]
        for newer, older in pairwise(alone):
            new, old = ids[newer], ids[older]
            between = set[str]().union(*ids[newer:older])
            if new == old or not between <= new | old:
                continue
            back = max(sample for sample in range(newer, older) if new <= ids[sample])
            if (span := self._span(who, older, back)) is not None:
                yield span

    def _span(self, who: str, last: int, back: int) -> PauseSpan | None:
        """
        For how long one was away; None where that says little.

        Args:
            who: An identity.
            last: The last sample at which it had its old id.
            back: The first sample at which it has its new one.
        """
        number, moments = self._number.get(who), self._moments
        well = None if number is None else self._well(number, last)
        if number is None or well is None:
            return None
        batch = self.rebalances.past.now
        static = batch.members.instance_ids[batch.members_of(self.group).start + number] is not None
        waited = moments[last] - moments[well]
        if waited > self.apart:
            first, latest = moments[well + 1], moments[well] + self.apart
        else:  # listed, which says something of a dynamic one, unless it may be dead already
            doubtful = static or (waited > 0 and math.isnan(self.apart))
            first, latest = moments[well + 1 if doubtful else last], moments[last - 1]
        low, high = max(moments[back + 1] - latest, 0.0), moments[back] - first
        idle = self._idle(number, range(back, last), range(last, well + 1)) if static else None
        if idle is not None:
            low, high = max(low, idle[0]), min(high, idle[1])
        says = is_known(low, high) or idle is not None or high < USUAL.restart_seconds
        return PauseSpan(moments[back], low, high) if says and low <= high <= LONGEST else None

    def _idle(self, number: int, away: range, before: range) -> tuple[float, float] | None:
        """At least and at most for how long a member did nothing; None unknown, or where others made it stand still."""
        intervals = [*away, *before]
        if self.rebalances.number[intervals, self.group].any():
            return None
        spans = [(at, *self.idle.span(at, number).tolist()) for at in intervals]
        counted = [
            (low, high) for at, low, high in spans if at in away or low > 0 or math.isnan(low)
        ]
        low, high = (sum(ends) for ends in zip(*counted, strict=True))
        return None if math.isnan(low) else (low, high)

    def _well(self, number: int, last: int) -> int | None:
        """The last sample, of those with its old id, until which a member's commits went on; None unknown."""
        well, oldest = last, len(self._moments) - 1
        while well < oldest and self._reads(number, well) is False:
            well += 1
        return well if well < oldest and self._reads(number, well) else None

    def _reads(self, number: int, at: int) -> bool | None:
        """Whether a member showed life in an interval: its commits went on, or it took part in a rebalance."""
        batch, samples, seen = self.rebalances.past.now, self.samples, self.rebalances
        rows = batch.rows(self.group)
        member = batch.members_of(self.group).start + number
        own = samples.stayed[at, rows] & (samples.owner[at, rows] == member)
        if bool((own & (samples.consumed[at, rows] > 0)).any()):
            return True
        moved = bool(seen.number[at, self.group]) or bool(seen.rebalancing[at + 1, self.group])
        stable = not seen.rebalancing[at, self.group]
        classic = batch.headers[self.group].type is GroupType.CLASSIC
        if moved and stable and classic and batch.members.instance_ids[member] is None:
            return True  # nobody has partitions who did not join in it
        waiting = samples.committed[at + 1, rows] < samples.end[at, rows]
        return False if bool((own & waiting).any()) else None
