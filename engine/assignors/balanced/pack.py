"""
The least largest member lag of an island, by depth-first search: the exact end of what `level` approaches.

Partitions with lag are placed in descending order, each with every member that may own it (of members alike in every
way only the first), while the loads stay under what is already known. A branch ends where the rest cannot be placed:
where its lag exceeds what the members can still take, given how many more each may own. Partitions without lag come
last and all at once, as a flow. Korf's complete search for number partitioning (1998), with counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenkeel.engine.assignors.balanced.deal import deal_by_lag
from evenkeel.engine.assignors.balanced.flow import cheapest
from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.assignors.balanced.restrict import Capped
from evenkeel.engine.assignors.balanced.work import ASKED, Work
from evenkeel.engine.kit.compiled import at_work, kernel
from evenkeel.engine.model import NONE, Ints

_UNCAPPED = 1 << 60
"""The other islands are not this search's business."""

_NODE = 10
"""Elementary steps for each member of a node."""

_PLACED, _SPENT, _DONE = 1, 2, 3
"""Where a search stops: all lag is placed, the work is spent, nothing is left to try."""


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """
    The least largest load of the island that was found, owners of all partitions (None: nothing better than known), and
    whether nothing is better, or it is at the floor.
    """

    largest: int
    owner: Ints | None
    proven: bool


def pack(leeway: Leeway, island: int, known: int, floor: int, work: Work | None) -> Packed:
    """
    Args:
        leeway: The rules.
        island: Which island.
        known: The largest load of an assignment that is known already.
        floor: The largest load cannot be below this.
        work: What it may take; None for as much as it takes.
    """
    return _Packing(leeway, island, known, floor, work).run()


class Island(NamedTuple):
    """
    What stays as it is while the lag of an island is placed.

    Attributes:
        lag: Of each partition that has some, descending.
        start, member: Ragged, partition -> the members that may own it, ascending.
        kind: Of each member; those of one kind are alike in all that follows.
        least, most: Partitions each member owns.
        company: Entry i is the sum of the i smallest lags, before: that of the i largest.
        full: How many members own their most, at most.
    """

    lag: Ints
    start: Ints
    member: Ints
    kind: Ints
    least: Ints
    most: Ints
    company: Ints
    before: Ints
    full: int


class _Packing:
    def __init__(
        self, leeway: Leeway, island: int, known: int, floor: int, work: Work | None
    ) -> None:
        self.leeway, self.floor, self.work = leeway, floor, work
        self.known = known
        self.best: Ints | None = None
        self.who = np.flatnonzero(leeway.island == island)
        mine = np.flatnonzero(leeway.island_of == island)
        mine = mine[np.lexsort((mine, -leeway.lag[mine]))]
        self.island = _island(leeway, self.who, mine)
        self.mine = mine[: len(self.island.lag)].tolist()
        self.stuck: set[tuple[int, ...]] = set()  # counts of lag that leave no way for the rest

    def run(self) -> Packed:
        """Search with falling limits until nothing smaller is there."""
        members, size = len(self.who), len(self.mine)
        state: list[Any] = [
            *(np.zeros(members, np.int64) for _ in range(2)),
            np.full(size + 1, NONE),
            *(np.zeros(size + 1, np.int64) for _ in range(2)),
            np.zeros((size + 1) * members, np.int64),
            np.array([0, 1]),
        ]
        island = self.island
        run = at_work(search, (size + 1) * members, ASKED)
        if run is not search:
            rules: Any = island
        else:
            flat: list[Any] = [v.tolist() if isinstance(v, np.ndarray) else v for v in island]
            rules = Island(*flat)
            state = [array.tolist() for array in state]
        limited, left, end = self.work is not None, 0, _DONE
        while self.known > self.floor:
            before = left = self.work.left if self.work else 0
            end, left = run(rules, self.known, limited, left, *state)
            if self.work:
                self.work.left = left
                ASKED.steps += before - left
            if end != _PLACED:
                break
            self._finish(*(list(map(int, part)) for part in state[:3]))
        proven = end != _SPENT or self.known <= self.floor
        return Packed(self.known, self.best, proven=proven)

    def _finish(self, load: list[int], count: list[int], chosen: list[int]) -> None:
        """All lag is placed: give out the rest, if counts and subscriptions let it be."""
        counts = tuple(count)
        if counts in self.stuck:
            return
        fixed = {p: int(self.who[one]) for p, one in zip(self.mine, chosen, strict=False)}
        narrowed, plan = Capped(self.leeway, _UNCAPPED).narrowed(fixed, {}), None
        if narrowed is not None:
            plan = cheapest(narrowed, np.zeros(self.leeway.crosses.shape, np.int64))
        if narrowed is None or plan is None:
            self.stuck.add(counts)
            return
        self.best, self.known = deal_by_lag(plan, narrowed.lag, narrowed.members), max(load)


def _island(leeway: Leeway, who: Ints, mine: Ints) -> Island:
    """Of members and their partitions, in descending lag."""
    least, most, lags = leeway.least[who], leeway.most[who], leeway.lag[mine]
    some = np.count_nonzero(lags)
    may = leeway.may[:, who]
    alike: dict[tuple[bytes, int, int], int] = {}
    kinds = zip(
        (may[:, i].tobytes() for i in range(len(who))), least.tolist(), most.tolist(), strict=True
    )
    allowed = may[leeway.realm[mine[:some]]]
    start = np.zeros(some + 1, np.int64)
    np.cumsum(allowed.sum(axis=1), out=start[1:])
    return Island(
        lag=lags[:some],
        start=start,
        member=np.nonzero(allowed)[1],
        kind=np.array([alike.setdefault(k, len(alike)) for k in kinds], np.int64),
        least=least,
        most=most,
        company=np.concatenate([[0], np.cumsum(lags[::-1])]),
        before=np.concatenate([[0], np.cumsum(lags)]),
        full=len(mine) - int(least.sum()),
    )


@kernel
def room_for_rest(rules: Any, known: int, at: int, load: Any, count: Any) -> bool:
    """Whether members can still take the rest of the lag, and enough of them the rest of the partitions."""
    before, size = rules.before, len(rules.before) - 1
    left, full = before[size] - before[at], 0
    for member in range(len(load)):
        until = min(at + rules.most[member] - count[member], size)
        left -= min(known - 1 - load[member], before[until] - before[at])
        full += count[member] > rules.least[member]
    return bool(left <= 0 and full <= rules.full)


@kernel
def search(  # noqa: C901  one walk through a tree
    rules: Any,
    known: int,
    limited: bool,
    left: int,
    load: Any,
    count: Any,
    chosen: Any,
    width: Any,
    turn: Any,
    order: Any,
    at: Any,
) -> tuple[int, int]:
    """
    Place partition after partition, each with one member after another, the least loaded first.

    Args:
        rules: `Island`.
        known: All loads shall stay below this.
        limited: Whether work counts.
        left: Work left.
        load, count: Of each member so far; changed.
        chosen: Per partition the member it is placed with, NONE where open; changed.
        width, turn, order: Per partition how many members are to be tried, how many have been, and which; changed.
        at: The partition that is tried, and whether for the first time; the search goes on from there. Changed.

    Returns:
        Where the search stops, and the work left then.
    """
    members, size = len(load), len(rules.lag)
    depth, first = at[0], at[1]
    while depth >= 0:
        if first:
            if depth == size:
                at[0], at[1] = depth - 1, 0
                return _PLACED, left
            if limited:
                steps = _NODE * members
                left -= steps if left >= steps else left + 1
                if left < 0:
                    return _SPENT, left
            width[depth] = turn[depth] = first = 0
            if room_for_rest(rules, known, depth, load, count):
                some = [
                    (load[rules.member[i]], rules.member[i])
                    for i in range(rules.start[depth], rules.start[depth + 1])
                ]
                some.sort()
                for i in range(len(some)):
                    order[depth * members + i] = some[i][1]
                width[depth] = len(some)
        elif chosen[depth] >= 0:
            load[chosen[depth]] -= rules.lag[depth]
            count[chosen[depth]] -= 1
            chosen[depth] = -1
        while turn[depth] < width[depth]:
            place = depth * members + turn[depth]
            member = order[place]
            turn[depth] += 1
            if count[member] == rules.most[member]:
                continue
            alike, other = False, place - 1  # one that is alike in every way has been tried
            while not alike and other >= depth * members:
                if load[order[other]] != load[member]:
                    break
                alike = (
                    count[order[other]] == count[member]
                    and rules.kind[order[other]] == rules.kind[member]
                )
                other -= 1
            lacking = max(rules.least[member] - count[member] - 1, 0)
            if alike or load[member] + rules.lag[depth] + rules.company[lacking] >= known:
                continue
            load[member] += rules.lag[depth]
            count[member] += 1
            chosen[depth] = member
            depth += 1
            first = 1
            break
        else:
            depth -= 1
    return _DONE, left
