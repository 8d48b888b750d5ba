"""Groups simulated step by step, and what is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenkeel.engine.model.arrays import Flags, Floats, Ints
from tests.helpers.fluid.arrivals import Logs, logs_of
from tests.helpers.fluid.life import Life, View, step_of
from tests.helpers.fluid.plan import EVERY, STEP, WARM, Group
from tests.helpers.fluid.world import World

COMMITS_READ, BEGINS_READ, ENDS_READ = 0.2, 0.6, 1.0
"""Seconds after a snapshot begins at which each is read: commits first, so that no lag is below 0."""


def between(offsets: Floats, step: int, seconds: float) -> Floats:
    """(P) some seconds after a step boundary; within a step all flows evenly."""
    return np.asarray(offsets[step] + (offsets[step + 1] - offsets[step]) * seconds / STEP)


def committed_offsets(positions: Floats) -> Floats:
    """Whole records up to some positions."""
    return np.floor(positions + 1e-6)


@dataclass(frozen=True, kw_only=True, eq=False)
class Moment:
    """
    What was so at one snapshot.

    Attributes:
        views: (G) what coordinators say; None of a group that is gone.
        committed, has_commit: (P).
        stable: (P) last stable offset where a transaction is open, else infinity.
        capacity: (M) records/s that each member of the groups could consume; 0 for one that is away.
        unread_ends, unread_commits: (G) what cannot be read.
    """

    views: tuple[View | None, ...]
    committed: Floats
    has_commit: Flags
    stable: Floats
    capacity: Floats
    unread_ends: tuple[bool, ...]
    unread_commits: tuple[bool, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """
    What became of some groups.

    Attributes:
        groups: In this order.
        every: Seconds from snapshot to snapshot.
        start: (G + 1) where the partitions of each begin.
        end, begin: (S + 1, P) at every step boundary, `STEP` seconds apart, the first `WARM` before snapshot 0.
        born: (P) step from which on each partition exists.
        position: (S + 1, P) next record to read.
        moments: (K) the snapshots.
        consumed, lost, skipped, rewound: (K, P) in all until then; what moved positions, see `World`.
    """

    groups: tuple[Group, ...]
    every: int
    start: Ints
    end: Floats
    begin: Floats
    born: Ints
    position: Floats
    moments: tuple[Moment, ...]
    consumed: Floats
    lost: Floats
    skipped: Floats
    rewound: Floats

    @property
    def backlog(self) -> Floats:
        """(S + 1, P) records that arrived and are not read."""
        return self.end - self.position

    def lag(self, group: str) -> Floats:
        """(K) offsets that a group lags, as its snapshots tell: what lies between commits included."""
        rows, told = self.rows(group), []
        for number, moment in enumerate(self.moments):
            ends, begins = (
                np.floor(between(offsets, self.step(number), after)[rows])
                for offsets, after in ((self.end, ENDS_READ), (self.begin, BEGINS_READ))
            )
            read = np.maximum(committed_offsets(moment.committed[rows]), begins)
            told.append(float((ends - read).sum()))
        return np.array(told)

    def place(self, group: str) -> int:
        """Which of the groups has this name."""
        return [each.name for each in self.groups].index(group)

    def rows(self, group: str) -> slice:
        """The partitions of a group."""
        place = self.place(group)
        return slice(int(self.start[place]), int(self.start[place + 1]))

    def members(self, group: str) -> slice:
        """Its members among those of all groups."""
        first = sum(len(each.members) for each in self.groups[: self.place(group)])
        return slice(first, first + len(self.groups[self.place(group)].members))

    def step(self, snapshot: int) -> int:
        """The step boundary of a snapshot."""
        return step_of(snapshot * self.every)


def simulate(
    groups: Sequence[Group],
    snapshots: int = 120,
    seed: int = 7,
    every: int = EVERY,
    of: int | None = None,
) -> History:
    """
    Simulate groups side by side; none knows of the others, and each does the same alone.

    Args:
        groups: Those of one name are one group that goes different ways: to all of them the same arrives.
        snapshots: How many are taken, the first at 0 s.
        seed: Of what arrives.
        every: Seconds from one to the next, a multiple of `STEP`.
        of: The same arrives as in a simulation of so many snapshots, of which this one is the beginning; None: of none.
    """
    steps = (WARM + (snapshots - 1) * every) // STEP + 1  # ends are read a moment after the last
    whole = steps if of is None else (WARM + (of - 1) * every) // STEP + 1
    drawn = {group.name: logs_of(group, seed, whole) for group in groups}
    logs = [drawn[group.name] for group in groups]
    end, begin = (
        np.hstack([getattr(one, name)[: steps + 1] for one in logs]) for name in ("end", "begin")
    )
    start = np.concatenate([[0], np.cumsum([len(one.born) for one in logs])])
    world = _world(groups, end[0])
    bases = np.concatenate([[0], np.cumsum([len(group.members) for group in groups])])
    lives = [
        _life(group, world, log, slice(int(a), int(b)), int(base))
        for group, log, a, b, base in zip(groups, logs, start, start[1:], bases, strict=False)
    ]
    position, moments, sums = np.empty_like(end), [], []
    first = step_of(0)
    for step in range(steps + 1):
        position[step] = world.position
        if step >= first and (step - first) * STEP % every == 0 and len(moments) < snapshots:
            moments.append(_moment(world, lives, step))
            sums.append(
                [x.copy() for x in (world.consumed, world.lost, world.skipped, world.rewound)]
            )
        if step == steps:
            break
        for life in lives:
            if life.next_step <= step:
                life.catch_up(step)
        world.advance(step, end[step + 1], begin[step + 1])
    consumed, lost, skipped, rewound = (np.array(one) for one in zip(*sums, strict=True))
    return History(
        groups=tuple(groups),
        every=every,
        start=start,
        end=end,
        begin=begin,
        born=np.concatenate([one.born for one in logs]),
        position=position,
        moments=tuple(moments),
        consumed=consumed,
        lost=lost,
        skipped=skipped,
        rewound=rewound,
    )


def _world(groups: Sequence[Group], end: Floats) -> World:
    """Everything at rest: all that is not backlog is read and committed."""
    members = [(group, number) for group in groups for number in range(len(group.members))]
    behind = [g.backlog or (0.0,) * len(g.partitions) for g in groups]
    position = end - np.concatenate([np.array(one, float) for one in behind])
    commits = [group.commits for group, _ in members]
    phase = [c.phase + number * c.spread for c, (_, number) in zip(commits, members, strict=True)]
    here = [group.members[number].here for group, number in members]
    capacity = [group.members[number].capacity for group, number in members]
    return World.at_rest(
        position,
        capacity=np.where(here, capacity, 0.0),
        every=np.array([max(round(c.every / STEP), 1) for c in commits]),
        phase=np.array([step_of(moment) for moment in phase]),
    )


def _life(group: Group, world: World, log: Logs, rows: slice, base: int) -> Life:
    world.has_commit[rows] = log.born == 0
    return Life(group=group, world=world, rows=rows, base=base, end=log.end, born=log.born)


def _moment(world: World, lives: Sequence[Life], step: int) -> Moment:
    return Moment(
        views=tuple(life.view() for life in lives),
        committed=world.committed.copy(),
        has_commit=world.has_commit.copy(),
        stable=world.stable.copy(),
        capacity=world.capacity.copy(),
        unread_ends=tuple(step < life.unread_ends for life in lives),
        unread_commits=tuple(step < life.unread_commits for life in lives),
    )
