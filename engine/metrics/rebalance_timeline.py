"""What consecutive snapshots show of one group: members that came and went, stopped, epochs, topics and owners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Indices
from ..model.batch import GroupBatch
from .past import Past
from .samples import Samples, any_of_owner

HALF = 0.5
"""A member that committed less than this share of its incoming records, while the others did more, had stopped."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """
    A group in one of its snapshots.

    Attributes:
        taken_at: Start of the snapshot.
        moving: Whether the group was rebalancing.
        epoch: Group epoch, or the newest generation that a member tells; None unknown.
        coordinator: Id of the broker that coordinates it; None unknown.
        assignor: The assignor in use; None unknown.
        names: Member id -> name that survives restarts.
        static: Ids of members with an instance id.
        topics: Subscribed topics -> number of their partitions, 0 if they do not exist; None if a member tells no
            subscription.
    """

    taken_at: datetime
    moving: bool
    epoch: int | None
    coordinator: int | None
    assignor: str | None
    names: Mapping[str, str]
    static: frozenset[str]
    topics: Mapping[str, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    What changed between two consecutive snapshots.

    Attributes:
        came, gone: Member ids.
        restarted: Names of members that returned with another id, or are in the group twice.
        stuck: Those of *gone* whose partitions had lag and no commits in the interval before -> for how many seconds.
    """

    came: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()
    stuck: Mapping[str, float]

    @property
    def any(self) -> bool:
        """Whether members came or went."""
        return bool(self.came or self.gone)


class Timeline:
    """One group over the lookback: snapshot 0 is the newest, interval 0 lies between snapshots 1 and 0."""

    def __init__(self, past: Past, samples: Samples, group: int) -> None:
        self.past, self.samples, self.group = past, samples, group
        places = [(past.now, group), *past.snapshots_of(group)]
        self.rows = past.now.rows(group)
        self._places = places
        named = _named_by_client(places)
        self.looks = [_look(batch, number, named) for batch, number in places]
        self._stopped: dict[int, dict[str, float]] = {}

    @cached_property
    def changes(self) -> list[Change]:
        """What changed in each interval, the newest first."""
        return [self._change(at) for at in range(len(self.looks) - 1)]

    def _change(self, at: int) -> Change:
        now, then = self.looks[at], self.looks[at + 1]
        came = tuple(id for id in now.names if id not in then.names)
        gone = tuple(id for id in then.names if id not in now.names)
        before = Counter(then.names.values())
        back = [now.names[id] for id in came if before[now.names[id]]]
        stopped = self.stopped(at + 1) if gone else {}
        stuck = {id: stopped[id] for id in gone if id in stopped}
        return Change(came=came, gone=gone, restarted=tuple(dict.fromkeys(back)), stuck=stuck)

    def owners(self, at: int) -> Indices:
        """(n) owners in a snapshot, numbered as in its own batch."""
        if at == 0:
            return self.past.now.partitions.owner[self.rows]
        owners: Indices = self.past.owners[at - 1, self.rows]
        return owners

    def stopped(self, at: int) -> dict[str, float]:
        """
        Members that committed nothing up to a snapshot though their partitions had lag -> for how many seconds.

        The others committed meanwhile: otherwise the whole group had stopped.
        """
        if at not in self._stopped:
            self._stopped[at] = self._stopped_at(at)
        return self._stopped[at]

    def _stopped_at(self, at: int) -> dict[str, float]:
        samples, rows, ids = self.samples, self.rows, [*self.looks[at].names]
        owner = self.of(ids, at)
        behind = samples.committed[at, rows] < samples.end[at, rows]
        active = any_of_owner(behind, owner, len(ids))
        seconds = np.zeros(len(ids))
        for interval in range(at, len(self.looks) - 1):
            active &= ~any_of_owner(self.of(ids, interval + 1) != owner, owner, len(ids))
            if not active.any():
                break
            arrived, consumed = samples.arrived[interval, rows], samples.consumed[interval, rows]
            share = _shares(consumed, arrived, owner, len(ids))
            lasted = float(np.nanmax(samples.seconds[interval, rows], initial=0.0))
            active &= share < HALF
            seconds += np.where(active, (1 - np.maximum(share, 0)) * lasted, 0.0)
            active &= share <= 0
        return {ids[one]: float(seconds[one]) for one in np.flatnonzero(seconds > 0).tolist()}

    def of(self, ids: Collection[str], at: int) -> Indices:
        """(n) the owner of each partition in a snapshot by its place among some ids; NONE for all others."""
        batch, number = self._places[at]
        own = batch.members_of(number)
        place = {id: n for n, id in enumerate(ids)}
        known = [place.get(id, NONE) for id in batch.members.ids[own]]
        there = np.array([*known, NONE], np.int32)
        owners = self.owners(at)
        return there[np.where(owners == NONE, NONE, owners - own.start)]

    def at_rest(self, at: int) -> int:
        """The newest snapshot from *at* on back in which members tell what they have; without one, *at*."""
        told = (
            place for place in range(at, len(self.looks)) if self.looks[place].topics is not None
        )
        return next(told, at)

    def advanced(self) -> int | None:
        """By how much the epoch rose, less what was seen meanwhile if it was unknown; None unknown."""
        epochs = [look.epoch for look in self.looks]
        known = (at for at, epoch in enumerate(epochs) if at and epoch is not None)
        now, at = epochs[0], next(known, 0)
        before = epochs[at]
        if now is None or before is None or not at or now < before:
            return None  # lower: the group was deleted and created again
        return max(0, now - before - sum(self.seen(between) for between in range(1, at)))

    def seen(self, at: int) -> int:
        """How many rebalances members show that joined and left in an interval, or a snapshot that found one begun."""
        now, then, change = self.looks[at], self.looks[at + 1], self.changes[at]
        number = sum(id not in now.static for id in change.came)
        number += sum(id not in then.static for id in change.gone)
        return max(number, int(now.moving and not then.moving))

    def moved(self, rest: int) -> tuple[Flags, Flags]:
        """(n) partitions with an owner in an earlier snapshot, and those of them with another owner now."""
        was: Flags = self.owners(rest) != NONE
        if self.looks[0].moving and not (self.owners(0) != NONE).any():
            return was, np.zeros_like(was)
        owner = self.samples.owner[:, self.rows]
        moved: Flags = was & (owner[0] != owner[rest])
        return was, moved

    def topics(self, at: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Topics that the group began or ceased to subscribe to, and those with more partitions."""
        now, then = self.looks[at].topics, self.looks[self.at_rest(at + 1)].topics
        if not now or not then:
            return (), ()
        others = tuple(sorted(now.keys() ^ then.keys()))
        grown = tuple(name for name in sorted(now.keys() & then.keys()) if now[name] > then[name])
        return others, grown

    def name(self, member: str) -> str:
        """The name of a member in the lookback."""
        return next(look.names[member] for look in self.looks if member in look.names)


def _shares(consumed: Floats, arrived: Floats, owner: Indices, members: int) -> Floats:
    """
    (M) committed over incoming records of each member in an interval.

    Infinite where that says nothing: nothing came, something is unknown, or the others had stopped, too.
    """
    unknown = any_of_owner(np.isnan(consumed) | np.isnan(arrived), owner, members)
    known = ~(np.isnan(consumed) | np.isnan(arrived))
    mine = known & (owner != NONE)
    came, done = (
        np.bincount(owner[mine], each[mine], minlength=members) for each in (arrived, consumed)
    )
    others_came, others_done = arrived[known].sum() - came, consumed[known].sum() - done
    with np.errstate(invalid="ignore", divide="ignore"):
        share, of_others = done / came, others_done / others_came
    says_nothing = unknown | ~(came > 0) | ((others_came > 0) & (of_others < HALF))
    shares: Floats = np.where(says_nothing, np.inf, share)
    return shares


def _look(batch: GroupBatch, number: int, by_client: bool) -> Look:
    header, own, members = batch.headers[number], batch.members_of(number), batch.members
    ids, instances = members.ids[own], members.instance_ids[own]
    names = members.client_ids[own] if by_client else members.identities[own]
    told = [one for one in members.generations[own] if one is not None]
    topics = None
    if members.subscription_known[own].all() and batch.topics[number]:
        rows, table = batch.rows(number), batch.partitions
        chosen = table.topic[rows][table.assignable[rows]]
        places, counts = np.unique(chosen, return_counts=True)
        sizes = zip((table.topics[t] for t in places.tolist()), counts.tolist(), strict=True)
        topics = {**dict.fromkeys(batch.topics[number], 0), **dict(sizes)}
    return Look(
        taken_at=header.taken_at,
        moving=header.rebalancing,
        epoch=header.epoch if header.epoch is not None else max(told, default=None),
        coordinator=header.coordinator_id,
        assignor=header.assignor,
        names={
            id: instance or name for id, instance, name in zip(ids, instances, names, strict=True)
        },
        static=frozenset(
            id for id, instance in zip(ids, instances, strict=True) if instance is not None
        ),
        topics=topics,
    )


def _named_by_client(places: Sequence[tuple[GroupBatch, int]]) -> bool:
    """Whether client ids tell members apart, so that they are names that survive a change of host."""
    listed = [batch.members.client_ids[batch.members_of(number)] for batch, number in places]
    different = {name for clients in listed for name in clients}
    return all(different) and len(different) >= max(map(len, listed))
