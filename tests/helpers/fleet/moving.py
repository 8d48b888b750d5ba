"""Offsets, from snapshot to snapshot, by the physics of `tests.helpers.fluid` in steps of five minutes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenkeel.engine.model.arrays import NONE, Flags, Floats, Ints
from tests.helpers.fleet.groups import EVERY, Course, State
from tests.helpers.fleet.layout import Fleet
from tests.helpers.fluid.world import NEVER, World

QUIET = 0.1
"""Share of topics in which nothing is produced."""

KEPT_SECONDS = 4 * 3600
"""How long logs are kept that are not compacted."""

NEW_PARTITIONS, NEVER_COMMITTED = 0.15, 0.05
"""Share of committing groups in which so large a share of rows has no commit: nothing was read there yet."""

COMMIT_SECONDS = 5.0
"""A commit is at most so old (auto.commit.interval.ms)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Offsets:
    """
    The offsets of one snapshot.

    Attributes:
        begin, end: (P).
        committed: (R), of rows that have a commit.
        log_bytes: (P).
    """

    begin: Ints
    end: Ints
    committed: Ints
    log_bytes: Ints


class Movement:
    """
    How a fleet moves.

    Attributes:
        rate: (P) records/s.
        backlog: (R) at the first snapshot, records.
        commits: (R) whether there is a commit.
        able: (M) what each member can consume, as a multiple of what arrives for it.
    """

    def __init__(self, fleet: Fleet) -> None:
        rng = np.random.default_rng([fleet.shape.seed, 2])
        self.fleet, rows = fleet, len(fleet.row_link)
        self.rate = _rates(fleet, rng)
        self.backlog = self.rate[fleet.row_partition] * rng.uniform(0, 2, rows)
        hot = self._of(Course.HOT_PARTITION) & self.first
        self.rate[fleet.row_partition[hot]] *= 20
        self.backlog[self._of(Course.CATCHING_UP)] *= 1000
        self.backlog[self._of(State.EMPTY)] *= 900
        self.able = self._able(rng)
        growing = (rng.random(len(fleet.groups)) < NEW_PARTITIONS)[fleet.row_group]
        silent = self._of(State.UNCOMMITTED) | self._of(State.UNREADABLE)
        self.commits = ~silent & ~(growing & (rng.random(rows) < NEVER_COMMITTED))

    @cached_property
    def first(self) -> Flags:
        """(R) whether a row is its group's first."""
        group = self.fleet.row_group
        return np.concatenate([[True], group[1:] != group[:-1]])

    def _of(self, what: Course | State) -> Flags:
        """(R) whether a row is of a group that fares so, or is in that state."""
        groups = self.fleet.groups
        told = groups.course if isinstance(what, Course) else groups.state
        return np.array([one is what for one in told])[self.fleet.row_group]

    def _able(self, rng: np.random.Generator) -> Floats:
        fleet = self.fleet
        able, course = np.full(fleet.members, 2.0), np.array(fleet.groups.course, object)
        of = course[fleet.member_group]
        able[of == Course.CATCHING_UP] = 1.5
        few = of == Course.UNDER_PROVISIONED
        able[few] = rng.uniform(0.85, 0.97, len(few))[few]
        slow = (course == Course.SLOW_MEMBER) & (np.diff(fleet.member_start) > 0)
        able[fleet.member_start[:-1][slow]] = 0.7
        hot = self._of(Course.HOT_PARTITION) & self.first & (fleet.owner != NONE)
        able[fleet.owner[hot]] = 0.6
        return able

    def world(self, end: Floats) -> World:
        """Everything as it is at the first snapshot, when logs end there."""
        fleet, row = self.fleet, self.fleet.row_partition
        owned = fleet.owner != NONE
        load = np.bincount(fleet.owner[owned], self.rate[row][owned], minlength=fleet.members)
        return World.at_rest(
            np.maximum(end[row] - self.backlog, 0),
            owner=fleet.owner.astype(np.int64),
            blocked=np.where(self._of(Course.STUCK_PARTITION) & self.first, NEVER, 0),
            capacity=load * self.able,
            seconds=EVERY.total_seconds(),
        )


def _rates(fleet: Fleet, rng: np.random.Generator) -> Floats:
    """(P) records/s: topics differ by orders of magnitude, their partitions by a factor of two or so."""
    topics = len(fleet.topic_size)
    of_topic = np.exp(rng.normal(np.log(20), 1.5, topics)) * (rng.random(topics) >= QUIET)
    return of_topic[fleet.partition_topic] * np.exp(rng.normal(0, 0.5, fleet.partitions))


def moving(fleet: Fleet) -> Iterator[Offsets]:
    """The offsets of each snapshot, the oldest first."""
    movement = Movement(fleet)
    rng = np.random.default_rng([fleet.shape.seed, 3])
    rate, row, seconds = movement.rate, fleet.row_partition, EVERY.total_seconds()
    kept, compacted = rate * KEPT_SECONDS, fleet.compacted[fleet.partition_topic]
    end = kept * rng.uniform(0.2, 5, fleet.partitions) + rng.integers(0, 500, fleet.partitions)
    begin = np.where(compacted, 0, np.maximum(0, np.floor(end - kept)))
    bytes_each = np.exp(rng.normal(np.log(600), 0.8, len(fleet.topic_size)))[fleet.partition_topic]
    world, committed = movement.world(end), np.zeros(len(row))
    for number in range(fleet.shape.snapshots):
        if number:
            end = end + rate * seconds * rng.uniform(0.8, 1.2, fleet.partitions)
            world.advance(number, end[row], begin[row])
            # a log is cut segment by segment, not record by record, and here right before it is looked at
            cut = ~compacted & (fleet.partition_topic % 3 == number % 3)
            begin = np.where(cut, np.maximum(begin, np.floor(end - kept)), begin)
        age = rng.uniform(0, COMMIT_SECONDS, len(row)) * rate[row]
        reached = np.clip(np.floor(world.committed - age * (world.owner != NONE)), 0, None)
        committed = np.maximum(committed, reached)
        yield Offsets(
            begin=begin.astype(np.int64),
            end=np.floor(end).astype(np.int64),
            committed=np.minimum(committed, np.floor(end)[row]).astype(np.int64),
            log_bytes=((np.floor(end) - begin) * bytes_each).astype(np.int64),
        )
