"""
What a strategy that moves partitions in two steps comes to: rounds of rebalance until nothing waits.

A cooperative assignor gives a partition to its new owner only after the old one gave it up: the
first round leaves it with nobody, the members rejoin with what they kept, the next round hands it
out (KIP-429). A strategy that withholds nothing settles in one round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.assignor import GroupSpec, rejoining
from engine.errors import Infeasible
from engine.model import NONE, Assignment

MOST_ROUNDS = 16
"""Far more than any group needs; two is usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """
    Where a group comes to rest.

    Attributes:
        assignment: The last round's answer, which withholds nothing.
        rounds: How many rebalances it takes, 1 where nothing waits.
        waited: How many partitions the first round leaves with nobody until they are given up.
    """

    assignment: Assignment
    rounds: int
    waited: int


def settle(assign: Callable[[GroupSpec], Assignment], group: GroupSpec) -> Settled:
    """
    Let the group rebalance until no partition waits to be given up.

    Raises:
        Infeasible: The strategy cannot run on the group, or partitions still wait after `MOST_ROUNDS`.
    """
    waited = 0
    for rounds in range(1, MOST_ROUNDS + 1):
        answer = assign(group)
        waiting = 0 if answer.transferring is None else int((answer.transferring != NONE).sum())
        if not waiting:
            return Settled(assignment=answer, rounds=rounds, waited=waited)
        waited = waited or waiting
        group = rejoining(group, answer.owner, generation=rounds + 1)
    raise Infeasible(
        f"after {MOST_ROUNDS} rounds {waiting} of {group.partition_count} partitions still wait to be given up."
    )
