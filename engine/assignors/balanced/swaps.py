"""
The best exchange of one partition for one, or for none: the loops in which `balanced` spends most of its time.

Every pair of a partition of one member and one of its partners' is looked at, some hundreds a time, thousands of times
a group. They are kernels over flat lists or arrays (`evenkeel.engine.kit.compiled`): plain lists run interpreted
about as fast as numpy on so few, compiled a hundred times faster.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from evenkeel.engine.assignors.balanced.holding import Holding, Price
from evenkeel.engine.assignors.balanced.subsets import SUBSET, exchange_between
from evenkeel.engine.assignors.balanced.work import ASKED, Work
from evenkeel.engine.kit.compiled import at_work, kernel
from evenkeel.engine.model import Flags, Ints

_COLUMNS = 160
"""Partitions of the least loaded members that are looked at for a swap, at least."""

_CALL = 2_500
"""Elementary steps that any look at some pairs takes."""

_FAR = (1 << 63) - 1
"""More than any load."""

_LOOKS = 12
"""Members that are relieved in one go, about."""

_PAIRS = 200
"""Steps that an exchange of subsets takes, about."""

Swap = list[int]
"""A partition, the member it goes to, the partition taken in return (-1 for none); -1 first where there is none."""


class Rules(NamedTuple):
    """
    What stays as it is while partitions are exchanged, flat.

    M members, *sites* columns of *toll*; the others as in `Leeway` and `Price`.
    """

    members: int
    sites: int
    of_a_toll: int
    moves: bool
    lag: Ints
    realm: Ints
    may: Flags
    pattern: Ints
    site: Ints
    toll: Ints
    holder: Ints
    least: Ints
    pool: Ints
    island: Ints


class Exchange(NamedTuple):
    """What it costs, and which partitions are given and taken."""

    cost: int
    given: Ints
    taken: Ints


class Swaps:
    """The best swaps under the rules of a holding, at a price."""

    def __init__(self, holding: Holding, price: Price) -> None:
        leeway, priced = holding.leeway, price.leeway
        self.holding = holding
        self.arrays = Rules(
            members=leeway.members,
            sites=price.toll.shape[1],
            of_a_toll=price.of_a_toll,
            moves=price.moves,
            lag=leeway.lag,
            realm=leeway.realm,
            may=leeway.may.ravel(),
            pattern=priced.pattern,
            site=priced.site,
            toll=price.toll.ravel(),
            holder=priced.holder,
            least=leeway.least,
            pool=leeway.pool,
            island=leeway.island,
        )

    @cached_property
    def lists(self) -> Rules:
        """The rules for the interpreter, which walks lists faster than arrays."""
        flat: list[Any] = [v.tolist() if isinstance(v, np.ndarray) else v for v in self.arrays]
        return Rules(*flat)

    def best(self, giver: int, target: int, work: Work) -> tuple[Swap, Swap, Swap]:
        """The best swap of each kind, as `best_swaps` has them; without work left there are none."""
        holding = self.holding
        pairs = int(holding.count[giver]) * min(_COLUMNS, len(holding.owner))
        run = at_work(best_swaps, (len(holding.owner) + 3 * pairs) // 6, ASKED)
        state = holding.owner, holding.load, holding.count
        if run is not best_swaps:
            filled = np.empty(9, np.int64)
            work.left = run(self.arrays, giver, target, *state, work.left, filled)
            swaps = filled.tolist()
        else:
            swaps = [0] * 9
            lists = [array.tolist() for array in state]
            work.left = run(self.lists, giver, target, *lists, work.left, swaps)
        return swaps[:3], swaps[3:6], swaps[6:]

    def between(
        self,
        giver: int,
        other: int,
        bounds: tuple[int, int],
        limit: int,
        *,
        moves: bool,
        work: Work | None = None,
    ) -> Exchange | None:
        """
        The cheapest exchange of a few partitions of two members, as `exchange_between` has it; None when all cost more.

        Args:
            giver, other: The member whose load is to fall by *bounds* (least, most), and its partner.
            limit: What it may cost.
            moves: Whether moves count in that.
            work: What it may take; None where it is paid and the partitions that would save most are to be looked at.
        """
        sides: tuple[Any, Any] = self.holding.held(giver), self.holding.held(other)
        run = at_work(exchange_between, (len(sides[0]) + len(sides[1])) // 3 + _PAIRS, ASKED)
        dearest, call, left = work is None, 0 if work is None else _CALL, work.left if work else 0
        partitions, rules, held = np.empty(2 * SUBSET, np.int64), self.arrays, sides
        if run is exchange_between:
            rules, held = self.lists, (sides[0].tolist(), sides[1].tolist())
        cost, gives, takes, left = run(
            rules, moves, *held, giver, other, *bounds, limit, dearest, left, call, partitions
        )
        if work is not None:
            work.left = left
        if not gives:
            return None
        return Exchange(cost, partitions[:gives], partitions[gives : gives + takes])

    def down(self, target: int, work: Work) -> bool:
        """As `swapped_down`: changes the holding."""
        holding = self.holding
        pairs = min(_COLUMNS, len(holding.owner)) * len(holding.owner) // max(len(holding.load), 1)
        run = at_work(swapped_down, _LOOKS * (len(holding.owner) + 3 * pairs) // 6, ASKED)
        state = holding.owner, holding.load, holding.count
        if run is not swapped_down:
            there, work.left = run(self.arrays, target, *state, work.left, np.empty(9, np.int64))
        else:
            lists = [array.tolist() for array in state]
            there, work.left = run(self.lists, target, *lists, work.left, [0] * 9)
            for array, changed in zip(state, lists, strict=True):
                array[:] = changed
        holding.forget()
        return there


@kernel
def best_swaps(  # noqa: C901  one pass over pairs
    rules: Any, giver: int, target: int, owner: Any, load: Any, count: Any, left: int, swaps: Any
) -> int:
    """
    Find the best swap of each kind that leaves both members below what *giver* has now.

    Kinds: adds nothing to the price, no toll, least toll. The best leaves the two least loaded (the target is as good
    as less), of equal ones it is the cheapest, of these the first.

    Args:
        rules: `Rules`.
        giver: The member that is to own less.
        target: Offsets.
        owner, load, count: As in `Holding`.
        left: Work left.
        swaps: (9) For each kind the partition given, to whom, and the partition taken in return (-1 for none); the
            first is -1 where there is no such swap.

    Returns:
        The work left then, below 0 when there was too little.
    """
    members, sites, of_a_toll, moves = rules.members, rules.sites, rules.of_a_toll, rules.moves
    lag, realm, may, pattern, site = rules.lag, rules.realm, rules.may, rules.pattern, rules.site
    toll, holder, least, pool, island = (
        rules.toll,
        rules.holder,
        rules.least,
        rules.pool,
        rules.island,
    )
    for place in range(9):
        swaps[place] = -1
    before, rack_of_one = load[giver], site[giver]
    near = [
        (load[m], m) for m in range(members) if load[m] < before - 1 and island[m] == island[giver]
    ]
    near.sort()
    begin = [-1] * members
    columns = others = 0
    for _, member in near:
        if columns >= _COLUMNS:
            break
        begin[member] = columns
        columns += count[member]
        others += 1
    theirs, owners, mine = [0] * columns, [0] * columns, [0] * count[giver]
    at = 0
    for p in range(len(owner)):
        member = owner[p]
        if member == giver:
            mine[at] = p
            at += 1
        elif begin[member] >= 0:
            theirs[begin[member]] = p
            owners[begin[member]] = member
            begin[member] += 1
    if pool[giver] != -1 and count[giver] > least[giver]:
        for _, member in near[:others]:
            if pool[member] == pool[giver] and count[member] == least[member]:
                owners.append(member)
                theirs.append(-1)
    if len(owners) == 0:
        return left
    steps = _CALL + len(mine) * len(owners)
    left -= steps if left >= steps else left + 1
    if left < 0:
        return left
    back, returned = [0] * len(owners), [0] * len(owners)
    for j in range(len(owners)):
        p, member = theirs[j], owners[j]
        if p >= 0:
            if may[realm[p] * members + giver]:
                back[j] = lag[p]
            else:
                back[j] = _FAR  # never worth it
            rack = pattern[p] * sites
            returned[j] = toll[rack + rack_of_one] - toll[rack + site[member]]
            if moves and holder[p] != -1:
                returned[j] += (holder[p] != giver) - (holder[p] != member)
    least_toll = worst_free = added_free = worst_none = added_none = worst_least = added_least = (
        _FAR
    )
    for p in mine:
        row, rack, mine_lag, held = realm[p] * members, pattern[p] * sites, lag[p], holder[p]
        here = toll[rack + rack_of_one]
        if moves and held != -1 and held != giver:
            here += 1
        for j in range(len(owners)):
            shift = mine_lag - back[j]
            if shift <= 0:
                continue
            member = owners[j]
            worst = max(before - shift, load[member] + shift)
            if worst >= before or not may[row + member]:
                continue
            worst = max(worst, target)
            added = toll[rack + site[member]] - here + returned[j]
            if moves and held != -1 and held != member:
                added += 1
            tolled = (added + 2) // of_a_toll  # a swap adds at most two moves, or takes two away
            if added <= 0 and (worst < worst_free or (worst == worst_free and added < added_free)):
                worst_free, added_free = worst, added
                swaps[0], swaps[1], swaps[2] = p, member, theirs[j]
            if tolled <= 0 and (worst < worst_none or (worst == worst_none and added < added_none)):
                worst_none, added_none = worst, added
                swaps[3], swaps[4], swaps[5] = p, member, theirs[j]
            if tolled < least_toll or (
                tolled == least_toll
                and (worst < worst_least or (worst == worst_least and added < added_least))
            ):
                least_toll, worst_least, added_least = tolled, worst, added
                swaps[6], swaps[7], swaps[8] = p, member, theirs[j]
    return left


@kernel
def swapped_down(
    rules: Any, target: int, owner: Any, load: Any, count: Any, left: int, swaps: Any
) -> tuple[bool, int]:
    """
    Make the best swap that adds nothing to the price, else one without toll, until all loads are down to *target*.

    Args:
        rules, target, owner, load, count, left, swaps: As for `best_swaps`; owners, loads and counts are changed.

    Returns:
        Whether they are, and the work left.
    """
    while len(load):
        giver = 0
        for member in range(1, len(load)):
            if load[member] > load[giver]:
                giver = member
        if load[giver] <= target:
            break
        left = best_swaps(rules, giver, target, owner, load, count, left, swaps)
        at = 0 if swaps[0] >= 0 else 3
        given, other, taken = swaps[at], swaps[at + 1], swaps[at + 2]
        if given < 0:
            return False, left
        owner[given] = other
        shift = rules.lag[given]
        if taken >= 0:
            owner[taken] = giver
            shift -= rules.lag[taken]
        else:
            count[giver] -= 1
            count[other] += 1
        load[giver] -= shift
        load[other] += shift
    return True, left
