"""
A group as `balanced` sees it: in canonical order, with nothing but what its criteria need, and what there is to weigh.

What arrives for a group and what its members can do are whole numbers, so that sums are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...model.arrays import NONE, Flags, Floats, Indices, Ints
from ...model.facts import Fact, FactKind
from ..interface import GroupSpec
from ..kit.members import seats

_GREATEST_TOTAL = 1 << 52
"""Lags that add up to more are not sure to be exact in the arithmetic of loads."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """
    M members, N partitions that somebody subscribes to, K classes of topics with the same subscribers.

    Members stand in Kafka's order of members, partitions by topic name and number, so nothing that is worked out from
    here can depend on the order of the input.

    Attributes:
        member: (M) index in the group.
        partition: (N) index in the group.
        topic_class: (N) class of the partition's topic.
        may: (K, M) who subscribes to the class.
        lag: (N) offsets, all 0 where the lag of a member cannot be told; *lagless* says why.
        holder: (N) subscriber that owns it now; NONE for nobody, or for an owner that does not subscribe.
        forced_moves: Partitions that change hands whatever is done.
        site: (M) column of the member's rack in *crosses* and *known*.
        pattern: (N) row of the partition in *crosses* and *known*.
        crosses, known: (patterns, sites) whether such a partition is known to cross racks when owned there, and
            whether that can be told at all. One pattern and one site where no choice of owner changes the share.
    """

    member: Indices
    partition: Ints
    topic_class: Ints
    may: Flags
    lag: Ints
    lagless: Fact | None
    holder: Ints
    forced_moves: int
    site: Ints
    pattern: Ints
    crosses: Flags
    known: Flags

    @property
    def members(self) -> int:
        """M."""
        return len(self.member)

    @property
    def partitions(self) -> int:
        """N."""
        return len(self.partition)


def problem_of(group: GroupSpec) -> Problem:
    """
    >>> from evenkeel.engine.assignors.interface import spec
    >>> members = {"b": ["u", "t"], "a": ["t", "u"], "c": ["t"]}
    >>> found = problem_of(spec(members, {"u": 1, "t": 2}, owned={"c": [("t", 0)]}))
    >>> found.member.tolist(), found.partition.tolist(), found.topic_class.tolist()
    ([1, 0, 2], [1, 2, 0], [0, 0, 1])
    >>> found.may.tolist(), found.holder.tolist()
    ([[True, True, True], [True, True, False]], [2, -1, -1])
    """
    order, partition, topic_class, may, _, holder = seats(group)
    lag, lagless = _lags(group, partition)
    site, pattern, crosses, known = _racks(group, order, partition)
    return Problem(
        member=order,
        partition=partition,
        topic_class=topic_class,
        may=may,
        lag=lag,
        lagless=lagless,
        holder=holder,
        forced_moves=int((group.owner != NONE).sum() - (holder != NONE).sum()),
        site=site,
        pattern=pattern,
        crosses=crosses,
        known=known,
    )


def _lags(group: GroupSpec, partition: Ints) -> tuple[Ints, Fact | None]:
    lag = group.lag.take(partition)
    unknown = len(lag) - int(lag.known.sum())
    if not unknown and lag.values.astype(np.float64).sum() < _GREATEST_TOTAL:
        return lag.values, None
    left_out = Fact(
        kind=FactKind.NOT_PROVEN, measure="largest_member_lag", partitions=unknown or None
    )
    return np.zeros(len(lag), np.int64), left_out


def _racks(group: GroupSpec, order: Indices, partition: Ints) -> tuple[Ints, Ints, Flags, Flags]:
    """Sites and patterns as `evenkeel.engine.metrics.racks` judges them: see `Problem`."""
    nothing = np.zeros((1, 1), np.bool_)
    nowhere = np.zeros(len(order), np.int64), np.zeros(len(partition), np.int64), nothing, nothing
    if not len(order):
        return nowhere
    racks, site = np.unique(group.member_rack[order], return_inverse=True)
    entry = np.repeat(np.arange(group.partition_count), np.diff(group.replica_start))
    column = np.full(len(group.racks) + 1, NONE, np.int64)  # the last entry is what NONE reads
    column[racks] = np.arange(len(racks))
    there = column[group.replica_rack]
    near = np.zeros((group.partition_count, len(racks)), np.bool_)
    near[entry[there != NONE], there[there != NONE]] = True
    told = np.diff(group.replica_start) > 0
    told[entry[group.replica_rack == NONE]] = False
    named = racks != NONE
    rows = np.concatenate([~near & told[:, None] & named, (near | told[:, None]) & named], axis=1)
    rows, pattern = _distinct_rows(rows[partition])
    crosses, known = np.split(rows, 2, axis=1)
    alike = (crosses == crosses[:, :1]).all() and (known == known[:, :1]).all()
    if crosses.any() and not alike:
        return site, pattern, crosses, known
    return nowhere


def _distinct_rows(rows: Flags) -> tuple[Flags, Ints]:
    """The distinct rows, and which of them each row is."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which.astype(np.int64)


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

    def lists(self) -> Rules:
        """For the interpreter, which walks lists faster than arrays."""
        return Rules(*(v.tolist() if isinstance(v, np.ndarray) else v for v in self))  # type: ignore[arg-type]


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


HORIZON_SECONDS = 3600.0
"""Within which a backlog is to be worked off: that of forecasts."""


def load_of(group: GroupSpec, problem: Problem, enough: float = 0.0) -> LoadProblem:
    """
    What arrives, for whom; where no arrivals are known, or none above 0, what lags.

    A backlog counts as if it arrived over the coming hour. Unknown rates count as the mean of the known ones, unknown
    capacities and record sizes as their medians. Where no capacity is known there is no utilization that is *enough*.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> from evenkeel.engine.assignors.balanced.problem import problem_of
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 3}, rates={"t": [3, 1, 0]}, capacities={"a": 8})
    >>> load = load_of(group, problem_of(group))
    >>> shares = load.rules.weight[:, None] / load.rules.capacity
    >>> shares.tolist(), load.idle.tolist(), load.peak
    ([[0.375, 0.375], [0.125, 0.125]], [2], 'peak_utilization')
    """
    rate = group.rate[problem.partition]
    known = np.isfinite(rate)
    if not rate[known].any():
        return _lag_of(problem)
    rate = np.where(known, rate, rate[known].mean())
    backlog = np.zeros(len(rate)) if group.backlog is None else group.backlog[problem.partition]
    load = rate + backlog / HORIZON_SECONDS
    busy = np.flatnonzero(load > 0)
    rate, load = rate[busy], load[busy]
    unit = 2.0 ** (int(np.frexp(load.sum())[1]) - _BITS)
    capacity, capacities_known = _filled(group.capacity[problem.member])
    size, sizes_known = _filled(group.bytes_per_record[problem.partition][busy])
    toll, of_a_toll, toll_unit = _tolls(rate * size)
    enough = enough if capacities_known else 0.0
    alike = not enough and all((values == values[0]).all() for values in (load, capacity, toll))
    return LoadProblem(
        rules=_rules(
            problem,
            busy,
            weight=np.maximum(np.rint(load / unit), 1).astype(np.int64),
            capacity=capacity / unit,
            toll=toll,
            even=alike and len(busy) == problem.partitions,
        ),
        partition=busy,
        idle=np.setdiff1d(np.arange(problem.partitions), busy),
        peak="peak_utilization" if capacities_known else "peak_load",
        crossing="cross_rack_bytes" if sizes_known else "cross_rack_rate",
        of_a_toll=of_a_toll,
        toll_unit=toll_unit,
        guessed=int((~known).sum()),
        behind=int((backlog > 0).sum()),
        enough=enough,
    )


def _lag_of(problem: Problem) -> LoadProblem:
    """Partitions that count alike, and weigh what they lag; nothing where that is not known."""
    everything, of_a_toll = np.arange(problem.partitions), problem.partitions + 3
    toll, capacity = np.full(problem.partitions, of_a_toll), np.ones(problem.members)
    return LoadProblem(
        rules=_rules(
            problem, everything, weight=problem.lag, capacity=capacity, toll=toll, even=True
        ),
        partition=everything,
        idle=everything[:0],
        peak="largest_member_lag",
        crossing="cross_rack_share",
        of_a_toll=of_a_toll,
        toll_unit=1.0,
        guessed=0,
    )


def _rules(problem: Problem, partition: Ints, **known: Any) -> Rules:
    """The rules of some partitions, where *known* are those that do not stand in the problem."""
    return Rules(
        topic_class=problem.topic_class[partition],
        may=problem.may.ravel(),
        pattern=problem.pattern[partition],
        site=problem.site,
        crosses=problem.crosses.ravel(),
        sites=problem.crosses.shape[1],
        holder=problem.holder[partition],
        **known,
    )


def _filled(values: Floats) -> tuple[Floats, bool]:
    """The values, unknown ones as the median of the known, all 1 where none is; and whether one is known."""
    known = np.isfinite(values) & (values > 0)
    usual = float(np.median(values[known])) if known.any() else 1.0
    return np.where(known, values, usual), bool(known.any())


def _tolls(volume: Floats) -> tuple[Ints, int, float]:
    """(n) what each costs across racks, what one unit of that weighs, and how much volume one unit is."""
    of_a_toll = len(volume) + 3
    room = _COST_BITS - of_a_toll.bit_length()
    unit = 2.0 ** (int(np.frexp(volume.sum())[1]) - min(room, _BITS))
    return np.rint(volume / unit).astype(np.int64) * of_a_toll, of_a_toll, unit


def loads_of(rules: Rules, owner: Ints) -> Ints:
    """(M) what arrives for each member, in units."""
    load = np.zeros(len(rules.capacity), np.int64)
    np.add.at(load, owner[owner != NONE], rules.weight[owner != NONE])
    return load


def peak_of(rules: Rules, owner: Ints) -> float:
    """The largest utilization of a member."""
    return float((loads_of(rules, owner) / rules.capacity).max(initial=0))
