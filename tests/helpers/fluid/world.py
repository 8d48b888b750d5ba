"""The offsets of many groups side by side, and one time step of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenkeel.engine.model.arrays import NONE, Flags, Floats, Ints
from tests.helpers.fluid.plan import STEP

NEVER = 1 << 60
"""A step that does not come."""


@dataclass(kw_only=True, eq=False)
class World:
    """
    Partitions (P) of groups, and their members (M); offsets are fractions, because consumption is a flow.

    Attributes:
        position: (P) next record that the group will read, whoever of it.
        committed: (P), and *has_commit* whether there is one.
        owner: (P) member, NONE for nobody.
        ready: (P) step from which the owner may read: rebalances put it off.
        blocked: (P) until which step nothing is consumed, because of a record on which its consumer fails.
        stable: (P) last stable offset while a transaction is open, up to which is read; infinity while none is.
        capacity: (M) records/s.
        every, phase: (M) a member commits at each step s with `(s - phase) % every == 0`.
        consumed, lost, skipped, rewound: (P) what moved the position, in all: read; cut off by retention before it was
            read; jumped over by a reset; jumped back, by a reset or to the commit of a member that crashed.
        seconds: Of one step.
    """

    position: Floats
    committed: Floats
    has_commit: Flags
    owner: Ints
    ready: Ints
    blocked: Ints
    stable: Floats
    capacity: Floats
    every: Ints
    phase: Ints
    consumed: Floats
    lost: Floats
    skipped: Floats
    rewound: Floats
    seconds: float = STEP

    @classmethod
    def at_rest(cls, position: Floats, **told: Any) -> World:
        """All that was read is committed, nobody owns anything, and whoever reads commits at every step."""
        rows, members = len(position), len(told["capacity"])
        still = {name: np.zeros(rows) for name in ("consumed", "lost", "skipped", "rewound")}
        told = {
            "committed": position.copy(),
            "has_commit": np.ones(rows, np.bool_),
            "owner": np.full(rows, NONE),
            "ready": np.zeros(rows, np.int64),
            "blocked": np.zeros(rows, np.int64),
            "stable": np.full(rows, np.inf),
            "every": np.ones(members, np.int64),
            "phase": np.zeros(members, np.int64),
            **told,
        }
        return cls(position=position, **told, **still)

    def advance(self, step: int, end: Floats, begin: Floats) -> None:
        """
        One step: logs have grown to *end* and are cut to *begin* (P), members consume, and commit when it is time.

        What retention cuts is lost to a group whether or not somebody reads: there is nothing left to read.
        """
        cut = np.maximum(begin - self.position, 0)
        self.lost += cut
        self.position += cut
        reads = (self.owner != NONE) & (self.ready <= step) & (self.blocked <= step)
        there = np.maximum(np.minimum(end, self.stable) - self.position, 0)
        taken = shared(np.where(reads, there, 0), self.owner, self.capacity * self.seconds)
        self.consumed += taken
        self.position += taken
        due = (step + 1 - self.phase) % self.every == 0
        commits = (self.owner != NONE) & (self.ready <= step) & due[self.owner]
        self.commit(commits & (self.capacity > 0)[self.owner])

    def commit(self, which: Flags | Ints) -> None:
        """Commit what was read of some partitions."""
        self.committed[which] = self.position[which]
        self.has_commit[which] = True

    def go(self, rows: Ints, to: Floats) -> None:
        """Set the positions of some partitions, forwards or backwards."""
        moved = to - self.position[rows]
        self.skipped[rows] += np.maximum(moved, 0)
        self.rewound[rows] += np.maximum(-moved, 0)
        self.position[rows] = to


def shared(wanted: Floats, owner: Ints, budget: Floats) -> Floats:
    """
    What members take of their partitions: equal shares, and what one partition does not need goes to the others.

    Args:
        wanted: (P) records that could be read; 0 where nobody owns the partition.
        owner: (P) member, NONE for nobody.
        budget: (M) records that each can consume.

    Returns:
        (P) max-min fair shares: `min(wanted, level)` with one level per member.

    >>> shared(np.array([1.0, 9, 9, 4]), np.array([0, 0, 0, 1]), np.array([11.0, 10])).tolist()
    [1.0, 5.0, 5.0, 4.0]
    """
    of_member = np.bincount(owner[wanted > 0], wanted[wanted > 0], minlength=len(budget))
    over = np.append(of_member > budget, False)
    rows = np.flatnonzero((wanted > 0) & over[owner])
    if not len(rows):
        return wanted
    rows = rows[np.lexsort((wanted[rows], owner[rows]))]
    who, sizes = owner[rows], wanted[rows]
    begins = np.ones(len(rows), np.bool_)
    np.not_equal(who[1:], who[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    counts = np.bincount(who)[who[first]]
    smaller = np.cumsum(sizes) - sizes
    smaller -= np.repeat(smaller[first], counts)
    left = np.repeat(first + counts, counts) - np.arange(len(rows))
    # the level if all smaller ones get what they want rises while that is so, and falls from there on
    level = np.maximum.reduceat((budget[who] - smaller) / left, first)
    taken = wanted.copy()
    taken[rows] = np.minimum(sizes, np.repeat(level, counts))
    return taken
