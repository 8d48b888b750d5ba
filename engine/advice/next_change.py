"""
What a strategy moves at a group's next change: one member leaves, one like the others joins, all restart one by one.

Two strategies that spread a group equally well differ in what they do next (KIP-54). Each starts from its own
assignment, in force and settled; after every change the members that stay report what they own with one generation,
who comes reports nothing, and the strategy is followed until nothing waits (`assignors.kit.settle`).

* A dynamic member that restarts leaves first and comes back under a new id: two rebalances, each counted. A static one
  (KIP-345) is back before its session ends, has what it had, and nothing is assigned anew.
* An eager protocol makes everybody give everything up at each rebalance. Counted is what changes owner all the same.
* A move is a partition that goes from one member to another; what a member leaves behind is among them.

>>> from evenkeel.engine.assignors.interface import spec
>>> from evenkeel.engine.assignors import ASSIGNORS
>>> group = spec({m: ["t"] for m in "abc"}, {"t": 6})
>>> changes = Changes(group)
>>> for strategy in (ASSIGNORS["range"], ASSIGNORS["cooperative-sticky"]):
...     next_change = changes.of(strategy.assign, strategy.assign(group).owner)
...     print(strategy.name, next_change.leave_moves_worst, next_change.leave_moves_of_others_mean)
range 3 0.6666666666666666
cooperative-sticky 2 0.0

* Every restart starts from the assignment in force, not from what the one before it left.

Cost: a run of the strategy for each member that leaves, for the one that joins, and for each that is back; how many
leave is at most the budget over (partitions + members).
Source: KIP-54, KIP-345, KIP-429; `ConsumerCoordinator` of Kafka 4.3 for who leaves on close.

What it does not do: know which member will leave, how lag has grown by then, or how long anybody pauses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np

from ..assignors.interface import GroupSpec
from ..assignors.interface.rejoin import another_id, with_members
from ..model.arrays import Flags, Indices, Ints
from ..model.figures import NextChange
from .after_change import Assign, Stage, after, moved

BUDGET = 200
"""Work per strategy: (partitions + members) of the group x members tried; at least one is tried."""

MOST_TRIED = 3
"""More are not tried, however small the group: an answer takes a while even for few partitions."""

MOST_RESTARTED = 1
"""So many of those tried restart; what that moves is taken to hold for all."""


class Changes:
    """The next changes of one group; what strategies share of them is worked out once."""

    def __init__(
        self,
        group: GroupSpec,
        *,
        budget: int = BUDGET,
        most_tried: int = MOST_TRIED,
        most_restarted: int = MOST_RESTARTED,
    ) -> None:
        """
        Args:
            group: The group as strategies see it, with at least one member.
            budget: How much work a strategy may take, see `BUDGET`.
            most_tried: With how many members at most.
            most_restarted: How many of them restart, at most.
        """
        self.group = group
        self._count = len(group.members)
        work = group.partition_count + self._count
        self._most = min(max(budget // work, 1), most_tried)
        self._most_restarted = most_restarted

    @cached_property
    def tried(self) -> Ints:
        """Which members leave, evenly over the broker's list; who joins is like the first of them."""
        most = min(self._count, self._most)
        return np.arange(most) * self._count // most

    @cached_property
    def dynamic(self) -> Ints:
        """The members without an instance id: those whose restart is a change."""
        return np.flatnonzero([instance is None for instance in self.group.instance_ids])

    def of(
        self, assign: Assign, owner: Indices, silent: Collection[int] = frozenset()
    ) -> NextChange:
        """
        What a strategy would move.

        Args:
            assign: The strategy.
            owner: (P) who owns what once it is in force, NONE for nobody.
            silent: The numbers of the members that report nothing at a rebalance although they stay.

        Raises:
            Infeasible: It cannot run on the group after a change.
        """
        left = [after(assign, stage, owner, silent) for stage in self._leaving]
        gone = [moved(owner, then) for then in left]
        others = [m & (owner != leaver) for m, leaver in zip(gone, self.tried, strict=True)]
        joined = moved(owner, after(assign, self._joining, owner, silent))
        counts = [int(flags.sum()) for flags in gone]
        by_leaver = dict(zip(self.tried.tolist(), left, strict=True))
        return NextChange(
            leave_moves_mean=_mean(gone),
            leave_moves_of_others_mean=_mean(others),
            leave_moves_worst=max(counts),
            join_moves=int(joined.sum()),
            restart_moves=self._restarts(assign, owner, silent, by_leaver),
            members_tried=len(self.tried),
        )

    def _restarts(
        self, assign: Assign, owner: Indices, silent: Collection[int], left: Mapping[int, Indices]
    ) -> int:
        """What moves while all restart; *left*: who owns what once one of the members tried has left."""
        moves = 0
        for member, out, back in self._restarting:
            gone = left[member] if member in left else after(assign, out, owner, silent)
            then = after(assign, back, gone, silent)
            moves += int(moved(owner, gone).sum() + moved(gone, then).sum())
        return round(moves * len(self.dynamic) / max(len(self._restarting), 1))

    @cached_property
    def _leaving(self) -> list[Stage]:
        return [_without(self.group, member) for member in self.tried.tolist()]

    @cached_property
    def _joining(self) -> Stage:
        like, places = int(self.tried[0]), np.arange(self._count + 1)
        return Stage(
            group=with_members(
                self.group,
                [*range(self._count), like],
                [*self.group.members, another_id(self.group.members[like])],
            ),
            places=places,
            reports=places < self._count,
        )

    @cached_property
    def _restarting(self) -> list[tuple[int, Stage, Stage]]:
        """Members that restart, those tried before others: the group without each, and with it again."""
        tried = [*np.intersect1d(self.tried, self.dynamic).tolist(), *self.dynamic[:1].tolist()]
        places, stages = np.arange(self._count), list[tuple[int, Stage, Stage]]()
        for member in list(dict.fromkeys(tried))[: min(self._most, self._most_restarted)]:
            ids = list(self.group.members)
            ids[member] = another_id(ids[member], number=1)
            back = with_members(self.group, places, ids)
            stages.append(
                (
                    member,
                    _without(self.group, member),
                    Stage(group=back, places=places, reports=places != member),
                )
            )
        return stages


def silent_members(group: GroupSpec, ids: Collection[str]) -> frozenset[int]:
    """The numbers of the members of these ids."""
    return frozenset(n for n, name in enumerate(group.members) if name in ids)


def _without(group: GroupSpec, member: int) -> Stage:
    stay = np.delete(np.arange(len(group.members)), member)
    ids = [group.members[place] for place in stay.tolist()]
    return Stage(
        group=with_members(group, stay, ids), places=stay, reports=np.ones(len(stay), np.bool_)
    )


def _mean(flags: Sequence[Flags]) -> float:
    return sum(int(each.sum()) for each in flags) / len(flags)
