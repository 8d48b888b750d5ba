"""What groups have to do and can, and who gets which partition: of one group, and of many behind each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TypeVar

import numpy as np

from ...model.arrays import (
    NONE,
    Flags,
    Floats,
    Indices,
    Ints,
    parts_within,
    ragged_entries,
    starts_of,
)
from ...model.pauses import Standstill
from .correction import NO_CORRECTION
from .futures import STEP_SECONDS, STEPS

T = TypeVar("T")
A = TypeVar("A", Floats, Flags)

AT_ONCE = 5_000
"""Most queues of members that are filled together: what is worked out of them fits into caches."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Load:
    """
    What a group has to do, and can.

    Attributes:
        arrivals: (I, n) offsets/s of its partitions in past intervals, newest first.
        backlog: (n) offsets behind now, beyond what waits for the next commit.
        capacity: (M) offsets/s; nan unknown.
        uncertainty: (M) by which share of itself a capacity may be off.
        ages: (A) seconds since the last commit, as they were seen, at least one.
        owner: (n) the member who has each partition now; NONE for nobody.
        stuck: (n) partitions that nobody gets on with, whoever has them.
        correction: By how much earlier forecasts were too narrow or too wide, see `correction`.
        seen: (M) offsets/s that members were seen to do, nan where nothing was; None: that is not asked.
    """

    arrivals: Floats
    backlog: Floats
    capacity: Floats
    uncertainty: Floats
    ages: Floats
    owner: Indices
    stuck: Flags
    correction: Floats = field(default_factory=lambda: np.array(NO_CORRECTION))
    seen: Floats | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastInput:
    """
    Assignments of a group that a forecast is asked of.

    Attributes:
        load: What the group has to do, and can.
        owners: K assignments: (n) a member, or NONE; what nobody owns is not consumed.
        standstills: K times what pauses on the way there; None: nothing does, or it has no price.
            Empty: nothing does.
        live: Which of them the group has; the others' gain over it is taken future by future. None: none of them.
    """

    load: Load
    owners: Sequence[Indices]
    standstills: Sequence[Standstill | None] = ()
    live: int | None = None

    @cached_property
    def steps_still(self) -> int:
        """In how many steps of a forecast some member stands still."""
        lost = [each.lost_seconds.max(initial=0.0) for each in self.standstills if each]
        return int(np.sum(np.arange(STEPS) * STEP_SECONDS < max(lost, default=0.0)))


def worked_out(
    groups: Sequence[ForecastInput], work: Callable[[Sequence[ForecastInput]], Iterable[T]]
) -> list[T]:
    """
    What is worked out of each group, part by part of groups that go together.

    Those of a part have as many past intervals and stand still in as many steps, so that what is said of a group does
    not hang on the others; and they are no more than fit into caches.

    Args:
        groups: The groups.
        work: Gives something of each group of a part, in its order.
    """
    found = dict[int, T]()
    for part in _parts(groups):
        found.update(zip(part, work([groups[number] for number in part]), strict=True))
    return [found[number] for number in range(len(groups))]


def _parts(groups: Sequence[ForecastInput]) -> Iterator[list[int]]:
    keys = [(len(each.load.arrivals), each.steps_still) for each in groups]
    queues = [len(each.owners) * (len(each.load.capacity) + 1) for each in groups]
    for _, alike in groupby(sorted(range(len(groups)), key=keys.__getitem__), keys.__getitem__):
        numbers = [*alike]
        for part in parts_within([queues[number] for number in numbers], AT_ONCE):
            yield numbers[part]


class AssignmentBatch:
    """
    Assignments of many groups behind each other, and a queue for each member under each of them.

    The queues of an assignment are those of its members, and behind them one of what nobody gets on with.

    Attributes:
        loads: What each group has to do, and can.
        group: (K) the group of each assignment.
        first: (G + 1) the first assignment of each group.
        partition_start, member_start: (G + 1) where those of each group begin; the last member of each is nobody.
        start: (K + 1) where the queues of each assignment begin.
        member: (Q) whose queue each is.
        partition: (E) the partitions of each assignment.
        queue: (E) in whose queue each one is.
        held_up: (E) seconds for which it stands still in all.
        lost: (Q) seconds for which a member consumes nothing.
    """

    def __init__(self, groups: Sequence[ForecastInput]) -> None:
        self.loads = [each.load for each in groups]
        self.first = starts_of([len(each.owners) for each in groups])
        self.group: Ints = np.repeat(np.arange(len(groups)), np.diff(self.first))
        self.partition_start = starts_of([len(load.backlog) for load in self.loads])
        self.member_start = starts_of([len(load.capacity) + 1 for load in self.loads])
        self.start, self.member = ragged_entries(self.member_start, self.group)
        entry_start, self.partition = ragged_entries(self.partition_start, self.group)
        owner = np.concatenate([owner for each in groups for owner in each.owners])
        nobody = (owner == NONE) | self.of_partitions([load.stuck for load in self.loads])
        first, last = self.start[:-1], self.start[1:] - 1
        sizes = np.diff(entry_start)
        self.queue: Ints = np.where(nobody, last.repeat(sizes), first.repeat(sizes) + owner)
        self.held_up, self.lost = np.zeros(len(self.partition)), np.zeros(len(self.member))
        for first_row, each in zip(self.first.tolist(), groups, strict=False):
            for row, pauses in enumerate(each.standstills, start=first_row):
                if pauses is not None:
                    self.held_up[slice(*entry_start[row : row + 2])] = pauses.held_up_seconds
                    self.lost[self.start[row] : self.start[row + 1] - 1] = pauses.lost_seconds

    @cached_property
    def arrivals(self) -> Floats:
        """(I, P) offsets/s of the partitions of all groups in past intervals, newest first."""
        return np.concatenate([load.arrivals for load in self.loads], axis=1)

    @cached_property
    def totals(self) -> Floats:
        """(G, I) the same of each group in all."""
        return np.array([load.arrivals.sum(axis=1) for load in self.loads])

    @cached_property
    def backlog(self) -> Floats:
        """(E) offsets behind now."""
        return self.of_partitions([load.backlog for load in self.loads])

    @cached_property
    def arrives(self) -> Floats:
        """(E) offsets/s in the mean of past intervals."""
        return np.asarray(self.arrivals.mean(axis=0)[self.partition])

    @cached_property
    def capacity(self) -> Floats:
        """(M) offsets/s that the members of all groups can do, nan unknown; nobody does anything."""
        return self.of_members([load.capacity for load in self.loads])

    def of_partitions(self, values: Sequence[A]) -> A:
        """(E) values of the partitions of each group."""
        return np.concatenate(values)[self.partition]

    def of_members(self, values: Sequence[Floats]) -> Floats:
        """(M) values of the members of each group, 0 of nobody."""
        return np.concatenate([part for each in values for part in (each, np.zeros(1))])

    def sums(self, *values: Floats) -> Floats:
        """(..., Q) the sums of (E) values in each queue."""
        count = len(self.member)
        return np.array([np.bincount(self.queue, each, count) for each in values], np.float64)
