"""
What the joins and leaves of the past moved, and what they would have moved under another strategy.

Memberships as snapshots recorded them are gone through in order. From one to the next a strategy, which begins with a
fresh assignment of the first, is asked as its members would have rejoined: once without those who left, then with those
who came. A dynamic member that restarted did both; a static one (KIP-345) has what it had.

Both counts are from snapshot to snapshot, by what stays the same over restarts: a partition that a restarted member
lost and got back did not move. What happened between two snapshots and left no trace is in neither.

>>> from evenkeel.engine.assignors.interface import answering, spec
>>> from evenkeel.engine.assignors import ASSIGNORS
>>> three = spec({m: ["t"] for m in "abc"}, {"t": 6}, owned={"a": [("t", 0), ("t", 1)], "b": [("t", 2), ("t", 3)]})
>>> two = spec({m: ["t"] for m in "bc"}, {"t": 6}, owned={"b": [("t", 0), ("t", 1), ("t", 2)]})
>>> past = [Membership(group=each, identities=each.members) for each in (three, two)]
>>> replayed(answering(ASSIGNORS["range"].assign), past)
PastChanges(compared=1, changed=1, joins=0, leaves=1, restarts=0, moved=2, would_move=3)

What it does not do: see who changed a subscription and nothing else, or know what lags were between snapshots.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..assignors.interface import GroupSpec, fresh, spec_of
from ..assignors.interface.rejoin import with_members
from ..assignors.kit.settle import settle_many
from ..model.arrays import NONE, Column, Flags, Indices, Ints
from ..model.groups import GroupSnapshot
from .after_change import Assign, Stage, after, moved
from .feasibility import blocked


@dataclass(frozen=True, kw_only=True, eq=False)
class Membership:
    """
    A group as one snapshot found it, at rest.

    Attributes:
        group: Its members, partitions, and who owned what.
        identities: (members) what stays the same over restarts; several members can share one.
    """

    group: GroupSpec
    identities: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastChanges:
    """
    What became of a group from snapshot to snapshot.

    Attributes:
        compared: Pairs of consecutive snapshots.
        changed: How many of them differ in their members.
        joins, leaves, restarts: Members that came, went, and came back under another id.
        moved: Partitions that went from one member to another, over all pairs.
        would_move: The same under the strategy asked.
    """

    compared: int
    changed: int
    joins: int
    leaves: int
    restarts: int
    moved: int
    would_move: int


def memberships(snapshots: Iterable[GroupSnapshot]) -> list[Membership]:
    """
    What snapshots of one group, oldest first, recorded of its members.

    Those in which it could not be read, was rebalancing, had nobody or assigned tasks are left out. Lags and rates are
    unknown, so a strategy that needs them is `Infeasible` on these; so is what configuration says of members.
    """
    past = []
    for each in snapshots:
        if blocked(each) is None and not each.places_tasks:
            partitions = len(each.partitions)
            group = spec_of(each, Column.unknown(partitions), np.full(partitions, np.nan))
            identities = [member.identity for member in each.members]
            past.append(Membership(group=group, identities=identities))
    return past


def replayed(assign: Assign, past: Sequence[Membership]) -> PastChanges:
    """
    What the changes between these memberships moved, and would have moved under a strategy.

    Args:
        assign: The strategy.
        past: Oldest first.

    Raises:
        Infeasible: The strategy cannot run on one of them.
    """
    pairs = [_Pair(before, then) for before, then in itertools.pairwise(past)]
    would_move, owner = 0, np.zeros(0, np.int32)
    if past:
        first = fresh(past[0].group)
        answers = settle_many(assign, first).answers
        answers.one()
        owner = answers.owners(first)
    for pair in pairs:
        had = pair.carried(owner)
        owner = pair.rejoined(assign, had)
        would_move += int(moved(had, owner).sum())
    really = [moved(p.carried(p.before.group.owner), p.then.group.owner) for p in pairs]
    return PastChanges(
        compared=len(pairs),
        changed=sum(pair.joins + pair.leaves + pair.restarts > 0 for pair in pairs),
        joins=sum(pair.joins for pair in pairs),
        leaves=sum(pair.leaves for pair in pairs),
        restarts=sum(pair.restarts for pair in pairs),
        moved=sum(int(flags.sum()) for flags in really),
        would_move=would_move,
    )


class _Pair:
    """
    Two memberships, one after the other.

    Members have their numbers in the later one; those who are gone have the numbers after these.
    """

    def __init__(self, before: Membership, then: Membership) -> None:
        self.before, self.then = before, then
        self.was = np.array(_matched(before, then), np.int64)
        """(members) the number each had before, NONE for who is new."""
        known, names = self.was != NONE, np.array([*before.group.members, None], object)
        same = names[self.was] == np.array(then.group.members, object)
        static = np.array([instance is not None for instance in then.group.instance_ids])
        self.stays: Flags = known & (same | static)
        self.joins = int((~known).sum())
        self.leaves = len(before.group.members) - int(known.sum())
        self.restarts = int((known & ~same).sum())
        self.lost: bool = self.leaves > 0 or bool((known & ~self.stays).any())
        """Whether somebody left, if only to come back."""
        old, new = before.group, then.group
        at = {key: n for n, key in enumerate(zip(old.topics, old.topic_ids, strict=True))}
        named = [at.get(key, NONE) for key in zip(new.topics, new.topic_ids, strict=True)]
        topic = np.array([*named, NONE], np.int64)[new.topic_of]
        size, start = np.append(old.topic_size, 0), np.append(old.topic_start[:-1], 0)
        known_before = new.number_of < size[topic]
        self.places: Ints = np.where(known_before, start[topic] + new.number_of, NONE)
        """(P) which partition of the earlier group each of the later one is, NONE for one that is new."""

    def carried(self, owner: Indices) -> Indices:
        """(P) who owned each partition of the later group before, by number; NONE for nobody."""
        number = np.full(len(self.before.group.members) + 1, NONE, np.int32)
        known = np.flatnonzero(self.was != NONE)
        number[self.was[known]] = known
        gone = np.flatnonzero(number[:-1] == NONE)
        number[gone] = len(self.was) + np.arange(len(gone))
        carried: Indices = number[np.append(owner, NONE)[self.places]]
        return carried

    def rejoined(self, assign: Assign, had: Indices) -> Indices:
        """(P) who owns what after the rebalances that lead from one to the other."""
        group, every = self.then.group, np.arange(len(self.stays))
        stay = np.flatnonzero(self.stays)
        keeps = np.append(self.stays, np.zeros(self.leaves + 1, np.bool_))
        owner = np.where(keeps[had], had, NONE)  # who restarted lost what it had
        if self.lost and len(stay):
            ids = [group.members[place] for place in stay.tolist()]
            without = with_members(group, stay, ids)
            reports = np.ones(len(stay), np.bool_)
            owner = _after(assign, Stage(group=without, places=stay, reports=reports), owner)
        same = len(self.places) == self.before.group.partition_count
        if len(stay) < len(every) or not same or (self.places == NONE).any():
            whole = with_members(group, every, group.members)
            owner = _after(assign, Stage(group=whole, places=every, reports=self.stays), owner)
        return owner


def _after(assign: Assign, stage: Stage, owner: Indices) -> Indices:
    """
    Raises:
        Infeasible: The strategy cannot run on the group.
    """
    then, problems = after(assign, stage, owner)
    if problems:
        raise problems[0]
    return then


def _matched(before: Membership, then: Membership) -> list[int]:
    """The number each member had before: of its id, else of one of its identity that is gone; NONE for who is new."""
    by_id = {name: number for number, name in enumerate(before.group.members)}
    staying = set(then.group.members)
    gone = defaultdict[str, list[int]](list)
    for number, name in enumerate(before.group.members):
        if name not in staying:
            gone[before.identities[number]].append(number)
    numbers = list[int]()
    for name, identity in zip(then.group.members, then.identities, strict=True):
        if name in by_id:
            numbers.append(by_id[name])
        else:
            numbers.append(gone[identity].pop(0) if gone[identity] else NONE)
    return numbers
