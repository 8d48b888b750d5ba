"""
Chains of replacement: one partition takes another's place at its owner, that one the next one's, back to the first.

Where subscriptions differ, two members often have nothing to swap though three or four could go round (cyclic exchange;
Ahuja, Orlin and Sharma, 2001). A shortest chain is found breadth first in the table of who could replace whom.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenkeel.engine.assignors.balanced.holding import Holding, Price
from evenkeel.engine.assignors.balanced.work import ASKED, Work
from evenkeel.engine.kit.compiled import at_work, kernel
from evenkeel.engine.model import Flags, Ints

_LONGEST = 6
"""Partitions in a chain."""


def relieved(holding: Holding, member: int, limit: int, tolls: Price | None, work: Work) -> bool:
    """
    Rotate a shortest chain through one of a member's partitions after which it, and all others, own at most *limit*.

    Args:
        holding: Changed in place.
        member: The member.
        limit: Offsets; all other members own at most this.
        tolls: Only replacements that add nothing to this price; None for any.
        work: What it may take; a chain takes a few times the square of the number of partitions.

    Returns:
        Whether there was such a chain.
    """
    mine = np.flatnonzero(holding.leeway.island_of == holding.leeway.island[member])
    if work.left < 8 * len(mine) ** 2:  # the rest may do more for others
        return False
    work.spend(4 * len(mine) ** 2)
    fits = _replaceable(holding, mine, limit, tolls)
    starts = np.flatnonzero(holding.owner[mine] == member)
    starts = starts[np.argsort(-holding.leeway.lag[mine[starts]], kind="stable")]
    run = at_work(shortest, len(mine) ** 2 // 8, ASKED)
    table = fits.ravel() if run is not shortest else fits.ravel().tolist()
    for start in starts.tolist():
        if not work.spend(len(mine) ** 2 // 2):
            return False
        chain = run(table, len(mine), start)
        owners = holding.owner[mine[chain]]
        if len(chain) and len(set(owners.tolist())) == len(chain):
            holding.rotate(mine[chain])
            return True
    return False


def _replaceable(holding: Holding, mine: Ints, limit: int, tolls: Price | None) -> Flags:
    """(mine, mine) whether the row's partition could take the place of the column's at its owner."""
    leeway, owner = holding.leeway, holding.owner[mine]
    lag = leeway.lag[mine]
    room = limit - holding.load[owner] + lag
    fits: Flags = leeway.may[leeway.realm[mine]][:, owner] & (lag[:, None] <= room[None, :])
    fits &= owner[:, None] != owner[None, :]
    if tolls is not None:
        there = tolls.of(mine[:, None], owner[None, :])
        fits &= there <= tolls.of(mine, owner)[:, None]
    return fits


@kernel
def shortest(fits: Any, size: int, start: int) -> Any:
    """A shortest cycle through *start*: each replaces the next, the last the first. Empty when there is none."""
    before = [-1] * size
    front = [start]
    for _ in range(_LONGEST - 1):
        for last in front:
            if fits[last * size + start]:
                chain = [last]
                while chain[len(chain) - 1] != start:
                    chain.append(before[chain[len(chain) - 1]])
                return np.array(chain[::-1])
        reached = [-1] * size
        for each in front:
            for other in range(size):
                if fits[each * size + other] and reached[other] < 0:
                    reached[other] = each
        front = [
            other
            for other in range(size)
            if reached[other] >= 0 and before[other] < 0 and other != start
        ]
        for other in front:
            before[other] = reached[other]
        if len(front) == 0:
            break
    return np.zeros(0, np.int64)
