"""
A group as `balanced` sees it: in canonical order, with nothing but what its criteria need, and what there is to weigh.

What arrives for a group and what its members can do are whole numbers, so that sums are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import frexp
from typing import Any, NamedTuple

import numpy as np

from ...model.arrays import NONE, Flags, Floats, Indices, Ints, ragged_entries, starts_of
from ...model.batch import count_by
from ...model.facts import Fact, FactKind
from ..interface import GroupSpec, once
from ..kit.kernels import Tally, at_work
from ..kit.members import Seats, member_order, seats
from ..kit.orders import numbered, row_keys

ASKED = Tally()
"""What this process has asked of the loops; only their form depends on it, never an answer."""

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


def problem_of(
    group: GroupSpec, its_seats: Seats | None = None, its_racks: Racks | None = None
) -> Problem:
    """
    Args:
        group: The group.
        its_seats, its_racks: Its part of `seats` and `racks_of`, where they are at hand.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> members = {"b": ["u", "t"], "a": ["t", "u"], "c": ["t"]}
    >>> found = problem_of(spec(members, {"u": 1, "t": 2}, owned={"c": [("t", 0)]}))
    >>> found.member.tolist(), found.partition.tolist(), found.topic_class.tolist()
    ([1, 0, 2], [1, 2, 0], [0, 0, 1])
    >>> found.may.tolist(), found.holder.tolist()
    ([[True, True, True], [True, True, False]], [2, -1, -1])
    """
    order, partition, topic_class, may, _, holder = its_seats or seats(group)[0]
    site, pattern, crosses, known = its_racks or racks_of(group)[0]
    return Problem(
        member=order,
        partition=partition,
        topic_class=topic_class,
        may=may,
        holder=holder,
        forced_moves=int(np.count_nonzero(group.owner != NONE) - np.count_nonzero(holder != NONE)),
        site=site,
        pattern=pattern,
        crosses=crosses,
        known=known,
    )


class Racks(NamedTuple):
    """*site*, *pattern*, *crosses* and *known* of a `Problem`, as `evenkeel.engine.metrics.racks` judges them."""

    site: Ints
    pattern: Ints
    crosses: Flags
    known: Flags


@once
def racks_of(groups: GroupSpec) -> list[Racks]:
    """Those of each group."""
    count, racks = groups.group_count, len(groups.racks)
    parts = [one.partition for one in seats(groups)]
    sizes = starts_of(list(map(len, parts)))
    of_group = np.arange(count).repeat(np.diff(sizes))
    partition = np.concatenate(parts) + groups.partition_start[of_group]
    start, entries = ragged_entries(groups.replica_start, partition)
    replicas = np.diff(start)
    near = np.zeros((len(partition), racks + 1), np.bool_)  # the last column is NONE's
    near[np.arange(len(partition)).repeat(replicas), groups.replica_rack[entries]] = True
    told = ((replicas > 0) & ~near[:, -1])[:, None]
    home = np.zeros((count, racks + 1), np.bool_)
    home[groups.group_of_member, groups.member_rack] = True
    named = home[of_group, :-1]
    crosses, known = named & ~near[:, :-1] & told, named & (near[:, :-1] | told)
    keys, cells = row_keys(np.concatenate([crosses, known], axis=1))
    names, pattern = numbered(of_group * cells + keys, count * cells)
    sample = np.zeros(len(names), np.int64)
    sample[pattern] = np.arange(len(pattern))
    crosses, known = crosses[sample], known[sample]
    patterns = starts_of(np.bincount(of_group[sample], minlength=count))
    sites = home.sum(axis=1)[of_group[sample]]
    varies = np.zeros(len(sample), np.bool_)
    for table in (crosses, known):
        varies |= table.any(axis=1) & (table.sum(axis=1) < sites)
    some = np.count_nonzero(crosses, axis=1) > 0
    matter = (count_by(varies, patterns) > 0) & (count_by(some, patterns) > 0)
    order, of_member = member_order(groups), groups.group_of_member
    place = home.cumsum(axis=1) - 1 + home[:, -1:]  # whoever has none comes first
    place[:, -1] = 0
    site = place[of_member, groups.member_rack[order]]
    found, nowhere = list[Racks](), np.zeros((1, 1), np.bool_)
    bounds = groups.member_start, sizes, patterns
    spans = zip(*(pairwise(bound.tolist()) for bound in bounds), strict=True)
    for number, ((a, b), (first, last), (p, q)) in enumerate(spans):
        if not matter[number]:
            nothing = np.zeros(b - a, np.int64), np.zeros(last - first, np.int64)
            found.append(Racks(*nothing, nowhere, nowhere))
            continue
        columns = np.flatnonzero(home[number, :-1])
        tables = [table[p:q, columns] for table in (crosses, known)]
        if home[number, -1]:
            tables = [np.insert(table, 0, False, axis=1) for table in tables]
        found.append(Racks(site[a:b], pattern[first:last] - p, *tables))
    return found


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
        return _lag_of(group, problem)
    guessed = len(rate) - int(np.count_nonzero(known))
    if guessed:
        rate = np.where(known, rate, rate[known].mean())
    load, behind = rate, 0
    if group.backlog is not None and group.backlog.any():
        backlog = group.backlog[problem.partition]
        load, behind = rate + backlog / HORIZON_SECONDS, int(np.count_nonzero(backlog > 0))
    busy = np.flatnonzero(load > 0)
    size, idle = group.bytes_per_record[problem.partition], busy[:0]
    if len(busy) < len(load):
        rate, load, size, idle = rate[busy], load[busy], size[busy], np.flatnonzero(~(load > 0))
    unit = _unit(load, _BITS)
    capacity, capacities_known = _filled(group.capacity[problem.member])
    size, sizes_known = _filled(size)
    toll, of_a_toll, toll_unit = _tolls(rate * size)
    enough = enough if capacities_known else 0.0
    even = not enough and not len(idle)
    even = even and all((values == values[0]).all() for values in (load, capacity, toll))
    return LoadProblem(
        rules=_rules(
            problem,
            busy,
            weight=np.maximum(np.rint(load / unit), 1).astype(np.int64),
            capacity=capacity / unit,
            toll=toll,
            even=even,
        ),
        partition=busy,
        idle=idle,
        peak="peak_utilization" if capacities_known else "peak_load",
        crossing="cross_rack_bytes" if sizes_known else "cross_rack_rate",
        of_a_toll=of_a_toll,
        toll_unit=toll_unit,
        guessed=guessed,
        behind=behind,
        enough=enough,
    )


def _lag_of(group: GroupSpec, problem: Problem) -> LoadProblem:
    """Partitions that count alike, and weigh what they lag; nothing where that of a member cannot be told."""
    lag, everything = group.lag.take(problem.partition), np.arange(problem.partitions)
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


def _filled(values: Floats) -> tuple[Floats, bool]:
    """The values, unknown ones as the median of the known, all 1 where none is; and whether one is known."""
    known = np.isfinite(values) & (values > 0)
    count = int(np.count_nonzero(known))
    if count == len(values):
        return values, count > 0
    if not count:
        return np.ones(len(values)), False
    ascending = np.sort(values[known])
    usual = (ascending[(count - 1) // 2] + ascending[count // 2]) / 2
    return np.where(known, values, usual), True


def _unit(values: Floats, bits: int) -> float:
    """How much one unit is of what is about 2 to so many of them altogether."""
    return float(2.0 ** (frexp(values.sum())[1] - bits))


def _tolls(volume: Floats) -> tuple[Ints, int, float]:
    """(n) what each costs across racks, what one unit of that weighs, and how much volume one unit is."""
    of_a_toll = len(volume) + 3
    room = _COST_BITS - of_a_toll.bit_length()
    unit = _unit(volume, min(room, _BITS))
    return np.rint(volume / unit).astype(np.int64) * of_a_toll, of_a_toll, unit


def loads_of(rules: Rules, owner: Ints) -> Ints:
    """(M) what arrives for each member, in units."""
    load = np.zeros(len(rules.capacity), np.int64)
    np.add.at(load, owner[owner != NONE], rules.weight[owner != NONE])
    return load


class Loops:
    """The rules of a group, and arrays, in the form that its loops take: compiled or interpreted."""

    def __init__(self, rules: Rules, *, fast: bool) -> None:
        self.fast = fast
        self._rules = rules if fast else rules.lists()

    @classmethod
    def at_work(cls, rules: Rules, loop: Any, steps: int, until_now: Loops | None = None) -> Loops:
        """Those that suit the work after so many elementary steps more; those used *until_now* where they still do."""
        fast = at_work(loop, steps, ASKED) is not loop
        return until_now if until_now and until_now.fast is fast else cls(rules, fast=fast)

    def run(self, loop: Any, *others: object) -> Any:
        """Run a kernel over the rules."""
        return (loop.fast if self.fast else loop)(self._rules, *others)

    def given(self, values: Any) -> Any:
        """Whole numbers in the form that is used: the interpreter walks lists faster than arrays."""
        if self.fast:
            return np.asarray(values, np.int64)
        return values if isinstance(values, list) else values.tolist()

    def blank(self, length: int) -> Any:
        """Room for so many whole numbers."""
        return np.zeros(length, np.int64) if self.fast else [0] * length
