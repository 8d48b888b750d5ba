"""
What a strategy moves at a group's next change: one member leaves, one like the others joins, all restart one by one.

Two strategies that spread a group equally well differ in what they do next (KIP-54). Each starts from its own
assignment, in force and settled; after every change the members that stay report what they own with one generation,
who comes reports nothing, and the strategy is followed until nothing waits (`assignors.kit.settle`).

* A dynamic member that restarts leaves first and comes back under a new id: two rebalances, each counted. A static one
  (KIP-345) is back before its session ends, has what it had, and nothing is assigned anew.
* An eager protocol makes everybody give everything up at each rebalance. Counted is what changes owner all the same.
* A move is a partition that goes from one member to another; what a member leaves behind is among them.

>>> from evenkeel.engine.assignors.interface import answering, spec
>>> from evenkeel.engine.assignors import ASSIGNORS
>>> group = spec({m: ["t"] for m in "abc"}, {"t": 6})
>>> changes = Changes(group)
>>> for strategy in (ASSIGNORS["range"], ASSIGNORS["cooperative-sticky"]):
...     [next_change] = changes.of(answering(strategy.assign), strategy.assign(group).owner)
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

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..assignors.interface import GroupSpec
from ..assignors.interface.rejoin import another_id, with_members
from ..model.arrays import Flags, Indices, Ints
from ..model.batch import count_by, sum_by
from ..model.errors import Infeasible
from ..model.figures import NextChange
from .after_change import Assign, Stage, after, moved

BUDGET = 200
"""Work per strategy: (partitions + members) of the group x members tried; at least one is tried."""

MOST_TRIED = 3
"""More are not tried, however small the group: an answer takes a while even for few partitions."""

MOST_RESTARTED = 1
"""So many of those tried restart; what that moves is taken to hold for all."""


class Changes:
    """The next changes of some groups; what strategies share of them is worked out once."""

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
            group: The group as strategies see it, with at least one member; or many, of each of which as many members
                are tried (`members_tried`).
            budget: How much work a strategy may take, see `BUDGET`.
            most_tried: With how many members at most.
            most_restarted: How many of them restart, at most.
        """
        self.group = group
        self._counts: Ints = np.diff(group.member_start)
        allowed = _allowed(group, budget, most_tried)
        self._tried = int(np.minimum(self._counts, allowed).max())
        self._most_restarted = min(int(allowed.max()), most_restarted)

    @cached_property
    def tried(self) -> Ints:
        """(tried, G) which members leave, evenly over the broker's list; who joins is like the first of them."""
        turns = np.arange(self._tried)[:, None]
        return self.group.member_start[:-1] + turns * self._counts // self._tried

    @cached_property
    def dynamic(self) -> Flags:
        """(M) the members without an instance id: those whose restart is a change."""
        return ~self.group.static

    def of(
        self, assign: Assign, owner: Indices, silent: Ints | None = None
    ) -> list[NextChange | Infeasible]:
        """
        (G) what a strategy would move, or why it cannot run on a group after a change.

        Args:
            assign: The strategy.
            owner: (P) who owns what once it is in force, NONE for nobody.
            silent: The numbers of the members that report nothing at a rebalance although they stay.
        """
        problems: dict[int, Infeasible] = {}

        def then(stage: Stage, before: Indices) -> Indices:
            owners, found = after(assign, stage, before, silent)
            problems.update(found)
            return owners

        group, start = self.group, self.group.partition_start
        left = [then(stage, owner) for stage in self._leaving]
        gone = [moved(owner, each) for each in left]
        others = [
            flags & (owner != leaver[group.group_of])
            for flags, leaver in zip(gone, self.tried, strict=True)
        ]
        joined = count_by(moved(owner, then(self._joining, owner)), start)
        of_leavers = np.array([count_by(each, start) for each in gone])
        of_others = np.array([count_by(each, start) for each in others])
        columns = (
            of_leavers.sum(axis=0) / self._tried,
            of_others.sum(axis=0) / self._tried,
            of_leavers.max(axis=0),
            joined,
            self._restarts(then, owner, left[0]),
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [
            problems.get(number)
            or NextChange(
                leave_moves_mean=mean,
                leave_moves_of_others_mean=of_others_mean,
                leave_moves_worst=worst,
                join_moves=join,
                restart_moves=restart,
                members_tried=self._tried,
            )
            for number, (mean, of_others_mean, worst, join, restart) in enumerate(rows)
        ]

    def _restarts(
        self, then: Callable[[Stage, Indices], Indices], owner: Indices, left: Indices
    ) -> Ints:
        """(G) what moves while all restart; *left*: who owns what once the first of the members tried has left."""
        moves, restarting = np.zeros((2, self.group.group_count), np.int64)
        for out, with_it_again, restarts in self._restarting:
            gone = left if out is None else then(out, owner)
            back = then(with_it_again, gone)
            changed = moved(owner, gone).astype(np.int64) + moved(gone, back)
            moves += np.where(restarts, sum_by(changed, self.group.partition_start), 0)
            restarting += restarts
        dynamic = count_by(self.dynamic, self.group.member_start)
        counts = zip(moves.tolist(), dynamic.tolist(), restarting.tolist(), strict=True)
        return np.array([round(moved * all_ / max(some, 1)) for moved, all_, some in counts])

    @cached_property
    def _leaving(self) -> list[Stage]:
        return [_without(self.group, leavers) for leavers in self.tried]

    @cached_property
    def _joining(self) -> Stage:
        """Numbers of those who join come after those of all members."""
        group, like = self.group, self.tried[0].tolist()
        rows, ids, places = list[int](), list[str](), list[int]()
        members = len(group.members)
        for number, (first, last) in enumerate(pairwise(group.member_start.tolist())):
            rows += [*range(first, last), like[number]]
            ids += [*group.members[first:last], another_id(group.members[like[number]])]
            places += [*range(first, last), members + number]
        start = group.member_start + np.arange(group.group_count + 1)
        numbers = np.array(places, np.int64)
        return Stage(
            group=with_members(group, rows, ids, start),
            places=numbers,
            reports=numbers < members,
        )

    @cached_property
    def _restarting(self) -> list[tuple[Stage | None, Stage, Flags]]:
        """
        One member of each group that restarts, those tried before others: the groups without it (None: as without the
        first that leaves), the groups with it again, and in which groups (G) somebody restarts.
        """
        dynamic, tried = self.dynamic.tolist(), self.tried.T.tolist()
        chosen: list[list[int]] = []
        for (first, last), some in zip(
            pairwise(self.group.member_start.tolist()), tried, strict=True
        ):
            able = [member for member in some if dynamic[member]]
            able += [member for member in range(first, last) if dynamic[member]][:1]
            chosen.append([*dict.fromkeys(able)][: self._most_restarted])
        stages: list[tuple[Stage | None, Stage, Flags]] = []
        for turn in range(max(map(len, chosen))):
            restarts = np.array([turn < len(some) for some in chosen])
            member = self.tried[0].copy()
            member[restarts] = [some[turn] for some in chosen if turn < len(some)]
            first = bool((member == self.tried[0]).all())
            out = None if first else _without(self.group, member)
            stages.append((out, _back(self.group, member), restarts))
        return stages


def members_tried(group: GroupSpec) -> Ints:
    """(G) of how many members of each group the leave is simulated."""
    return np.minimum(np.diff(group.member_start), _allowed(group, BUDGET, MOST_TRIED))


def _allowed(group: GroupSpec, budget: int, most_tried: int) -> Ints:
    work = np.diff(group.partition_start) + np.diff(group.member_start)
    allowed: Ints = np.minimum(np.maximum(budget // work, 1), most_tried)
    return allowed


def _without(group: GroupSpec, leavers: Ints) -> Stage:
    stay = np.delete(np.arange(len(group.members)), leavers)
    ids = [group.members[place] for place in stay.tolist()]
    start = group.member_start - np.arange(group.group_count + 1)
    return Stage(
        group=with_members(group, stay, ids, start),
        places=stay,
        reports=np.ones(len(stay), np.bool_),
    )


def _back(group: GroupSpec, members: Ints) -> Stage:
    """The groups with one member of each back under another id."""
    ids = list(group.members)
    for member in members.tolist():
        ids[member] = another_id(ids[member], number=1)
    places = np.arange(len(ids))
    return Stage(
        group=with_members(group, places, ids, group.member_start),
        places=places,
        reports=~np.isin(places, members),
    )
