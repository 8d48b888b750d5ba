"""
What there is to weigh of groups as `balanced` sees them: what arrives, or what lags, for whom.

What arrives for a group and what its members can do are whole numbers, so that sums are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...model.arrays import NONE, Flags, Floats, Ints, starts_of
from ...model.facts import Fact, FactKind
from ..interface import GroupSpec, backlogs
from .problem import Problem

_GREATEST_TOTAL = 1 << 52
"""Lags that add up to more are not sure to be exact in the arithmetic of loads."""

_BITS = 52
"""All loads of a group are about 2 to this many units: sums are exact, as whole numbers and as floats."""

_COST_BITS = 61
"""What all partitions cost together stays below 2 to this."""


class Rules(NamedTuple):
    """
    What loops over members and partitions with arrivals look at, flat.

    n partitions, M members, K classes of topics.

    Attributes:
        weight: (n) what there is to do, in units.
        capacity: (M) units a member can do; a member's utilization is its load over it.
        topic_class: (n) class of the partition's topic.
        may: (K x M) whether the member subscribes to the class.
        toll: (n) what it costs that a partition is read across racks; a move costs 1.
        pattern, site, crosses, sites: Whether it is: `crosses[pattern[p] * sites + site[m]]`.
        holder: (n) who owns it now, NONE for nobody who may.
        even: Whether everybody's number of partitions is to stay, but for who has the one more.
    """

    weight: Ints
    capacity: Floats
    topic_class: Ints
    may: Flags
    toll: Ints
    pattern: Ints
    site: Ints
    crosses: Flags
    sites: int
    holder: Ints
    even: bool

    @property
    def members(self) -> int:
        """M."""
        return len(self.capacity)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadProblem:
    """
    What is to be weighed of a problem, and in which words.

    Attributes:
        rules: What the loops look at: partitions with arrivals; where no arrivals are known all, with their lags.
        partition: (n) index in the problem.
        idle: (N - n) the others.
        peak: What a peak is: utilization; arrivals (offsets/s) where no capacity is known; lag where no arrivals are.
        crossing: What crosses racks: bytes/s; offsets/s where no size is known; partitions where no arrivals are.
        of_a_toll: What one unit of toll weighs against moves: more than all of them.
        toll_unit: How much of that is one unit of toll.
        guessed: Partitions of unknown rate, taken as the mean of the known.
        behind: Partitions with a backlog that counts.
        enough: A peak that counts as least.
        lagless: Why lags weigh nothing.
    """

    rules: Rules
    partition: Ints
    idle: Ints
    peak: str
    crossing: str
    of_a_toll: int
    toll_unit: float
    guessed: int
    behind: int = 0
    enough: float = 0.0
    lagless: Fact | None = None


HORIZON_SECONDS = 3600.0
"""Within which a backlog is to be worked off: that of forecasts."""


def weighed(
    groups: GroupSpec, problems: Sequence[Problem], enough: float = 0.0
) -> list[LoadProblem]:
    """
    What arrives in each group, for whom; where no arrivals are known, or none above 0, what lags.

    A backlog counts as if it arrived over the coming hour. Unknown rates count as the mean of the known ones, unknown
    capacities and record sizes as their medians. Where no capacity is known there is no utilization that is *enough*.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> from evenkeel.engine.assignors.balanced.problem import problems_of
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 3}, rates={"t": [3, 1, 0]}, capacities={"a": 8})
    >>> (load,) = weighed(group, problems_of(group))
    >>> shares = load.rules.weight[:, None] / load.rules.capacity
    >>> shares.tolist(), load.idle.tolist(), load.peak
    ([[0.375, 0.375], [0.125, 0.125]], [2], 'peak_utilization')
    """
    rows = _Rows([one.partitions for one in problems])
    start = groups.partition_start[rows.of]
    partition = np.concatenate([one.partition for one in problems]) + start
    rate, guessed, arrives = _rates(groups.rate[partition], rows)
    load, behind, backlog = rate, guessed * 0, backlogs(groups)
    if backlog is not None:
        backlog = backlog[partition]
        load, behind = rate + backlog / HORIZON_SECONDS, rows.count(backlog > 0)
    busy = (load > 0) & arrives[rows.of]
    crew = _Rows([one.members for one in problems])
    member = np.concatenate([one.member for one in problems]) + groups.member_start[crew.of]
    arriving = [each[busy] for each in (partition, rate, load)]
    own = _Arrivals(groups, crew, member, _Rows(rows.count(busy)), arriving)
    found = list[LoadProblem]()
    for number, (problem, span) in enumerate(zip(problems, rows.spans, strict=True)):
        if not arrives[number]:
            found.append(_lag_of(groups, number, problem))
            continue
        mine, known = busy[span], bool(own.capacities_known[number])
        here, idle = np.flatnonzero(mine), np.flatnonzero(~mine)
        even = not len(idle) and bool(own.alike[number]) and not (enough and known)
        found.append(
            LoadProblem(
                rules=_rules(problem, here, **own.rules(number), even=even),
                partition=here,
                idle=idle,
                peak="peak_utilization" if known else "peak_load",
                crossing="cross_rack_bytes" if own.sizes_known[number] else "cross_rack_rate",
                of_a_toll=int(own.of_a_toll[number]),
                toll_unit=float(own.toll_unit[number]),
                guessed=int(guessed[number]),
                behind=int(behind[number]),
                enough=enough if known else 0.0,
            )
        )
    return found


class _Rows:
    """Rows (n) of several groups behind each other: how many each has, the group of each, and where they are."""

    def __init__(self, counts: Sequence[int] | Ints) -> None:
        self.counts = np.asarray(counts, np.int64)
        self.of = np.arange(len(self.counts)).repeat(self.counts)
        self.spans = [slice(a, b) for a, b in pairwise(starts_of(self.counts).tolist())]

    def count(self, mask: Flags) -> Ints:
        """(G) how many rows of each group the mask selects."""
        return np.bincount(self.of[mask], minlength=len(self.counts))

    def alike(self, values: Any) -> Flags:
        """(G) whether the values of a group are all the same."""
        alike, of = np.ones(len(self.counts), np.bool_), self.of[1:]
        alike[of[(values[1:] != values[:-1]) & (of == self.of[:-1])]] = False
        return alike

    def units(self, values: Floats, bits: Any) -> Floats:
        """(G) how much one unit is of what is about 2 to so many of them altogether in a group."""
        # sums of its own rows alone: no group shows in the answer of another
        sums = np.array([values[span].sum() for span in self.spans])
        units: Floats = np.ldexp(1.0, np.frexp(sums)[1] - bits)
        return units


class _Arrivals:
    """What arrives for partitions (n) of all groups, and what their members (M) can do, in units."""

    def __init__(
        self, groups: GroupSpec, crew: _Rows, member: Ints, rows: _Rows, arriving: Sequence[Any]
    ) -> None:
        """
        Args:
            groups: The groups.
            crew, member: (M) their members.
            rows, arriving: (n) partitions for which something arrives, how much, and that with their backlogs.
        """
        self._rows, self._crew, (partition, rate, load) = rows, crew, arriving
        capacity, self.capacities_known = _filled(groups.capacity[member], crew)
        size, self.sizes_known = _filled(groups.bytes_per_record[partition], rows)
        unit, volume = rows.units(load, _BITS), rate * size
        self.weight = np.maximum(np.rint(load / unit[rows.of]), 1).astype(np.int64)
        self.capacity = capacity / unit[crew.of]
        self.of_a_toll = rows.counts + 3
        room = _COST_BITS - np.frexp(self.of_a_toll)[1]
        self.toll_unit = rows.units(volume, np.minimum(room, _BITS))
        tolls = np.rint(volume / self.toll_unit[rows.of]).astype(np.int64)
        self.toll = tolls * self.of_a_toll[rows.of]
        self.alike = rows.alike(load) & crew.alike(capacity) & rows.alike(self.toll)

    def rules(self, group: int) -> dict[str, Any]:
        """What the rules of a group have of it."""
        rows, crew = self._rows.spans[group], self._crew.spans[group]
        return {
            "weight": self.weight[rows],
            "capacity": self.capacity[crew],
            "toll": self.toll[rows],
        }


def _rates(rate: Floats, rows: _Rows) -> tuple[Floats, Ints, Flags]:
    """(n) what arrives, unknown as the mean of its group; (G) how many are, and whether anything is known to arrive."""
    known = np.isfinite(rate)
    unknown, arrives = rows.count(~known), rows.count(known & (rate != 0)) > 0
    for number in np.flatnonzero((unknown > 0) & arrives).tolist():
        own, span = known[rows.spans[number]], rows.spans[number]
        rate[span][~own] = rate[span][own].mean()
    return rate, unknown, arrives


def _filled(values: Floats, rows: _Rows) -> tuple[Floats, Flags]:
    """
    The values of each group, unknown ones as the median of its known, all 1 where none is; (G) whether one is known.

    >>> _filled(np.array([3.0, np.nan, 5.0, np.nan]), _Rows([3, 1]))
    (array([3., 4., 5., 1.]), array([ True, False]))
    """
    known = np.isfinite(values) & (values > 0)
    counts, filled = rows.count(known), np.where(known, values, 1.0)
    for number in np.flatnonzero((counts > 0) & (counts < rows.counts)).tolist():
        own, span = known[rows.spans[number]], rows.spans[number]
        ascending, count = np.sort(values[span][own]), int(counts[number])
        filled[span][~own] = (ascending[(count - 1) // 2] + ascending[count // 2]) / 2
    return filled, counts > 0


def _lag_of(groups: GroupSpec, number: int, problem: Problem) -> LoadProblem:
    """Partitions that count alike, and weigh what they lag; nothing where that of a member cannot be told."""
    lag = groups.lag.take(problem.partition + groups.partition_start[number])
    everything = np.arange(problem.partitions)
    weight, left_out, of_a_toll = lag.values, None, problem.partitions + 3
    unknown = len(lag) - int(np.count_nonzero(lag.known))
    if unknown or lag.values.astype(np.float64).sum() >= _GREATEST_TOTAL:
        measure, weight = "largest_member_lag", np.zeros(len(lag), np.int64)
        left_out = Fact(kind=FactKind.NOT_PROVEN, measure=measure, partitions=unknown or None)
    toll, capacity = np.full(problem.partitions, of_a_toll), np.ones(problem.members)
    return LoadProblem(
        rules=_rules(problem, everything, weight=weight, capacity=capacity, toll=toll, even=True),
        partition=everything,
        idle=everything[:0],
        peak="largest_member_lag",
        crossing="cross_rack_share",
        of_a_toll=of_a_toll,
        toll_unit=1.0,
        guessed=0,
        lagless=left_out,
    )


def _rules(problem: Problem, partition: Ints, **known: Any) -> Rules:
    """The rules of some partitions, where *known* are those that do not stand in the problem."""
    topic_class, pattern, holder = problem.topic_class, problem.pattern, problem.holder
    if len(partition) < problem.partitions:
        topic_class, pattern, holder = topic_class[partition], pattern[partition], holder[partition]
    return Rules(
        topic_class=topic_class,
        may=problem.may.ravel(),
        pattern=pattern,
        site=problem.site,
        crosses=problem.crosses.ravel(),
        sites=problem.crosses.shape[1],
        holder=holder,
        **known,
    )


def loads_of(rules: Rules, owner: Ints) -> Ints:
    """(M) what arrives for each member, in units."""
    load = np.zeros(len(rules.capacity), np.int64)
    np.add.at(load, owner[owner != NONE], rules.weight[owner != NONE])
    return load
