"""
The judge: an assignment and its group -> `Score`. It knows no strategy, so it can be everybody's second opinion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..assignors.interface import GroupSpec
from ..metrics.balance import (
    counting_members,
    fairly_balanced,
    lag_lower_bound,
    lag_lower_bound_equal_counts,
    member_counts,
    member_sums,
    skew,
    spread,
    subscription_classes,
)
from ..metrics.racks import Crossing, Nearness, Tariff, leader_crossing, read_crossing
from ..model.arrays import NONE, Column, Flags, Floats, Indices, Ints
from ..model.assignments import Assignment, Move
from ..model.figures import Figures, Score


@dataclass(frozen=True, kw_only=True, eq=False)
class Judge:
    """
    Scores any number of assignments of one group; what they share is worked out once.

    Args:
        group: The group, its `owner` being what it has now and its `lag` what shall be shown (unknown stays unknown).
        capacity: (M) offsets/s each member can consume, nan where neither configured nor seen.
        in_sync: Per replica entry of the group, whether that replica is in sync; None when not known.
        tariff: What reading across racks carries and costs; None when not known.
        live: The figures of what the group has now, where they have been worked out before.
    """

    group: GroupSpec
    capacity: Floats
    in_sync: Flags | None = None
    tariff: Tariff | None = None
    live: Figures | None = None

    @cached_property
    def subscriptions(self) -> list[frozenset[int]]:
        """(M) the topics each member subscribes to, of those that exist."""
        exists = self.group.topic_exists
        return [
            frozenset(t for t in self.group.subscribed(m).tolist() if exists[t])
            for m in range(len(self.group.members))
        ]

    @cached_property
    def _classes(self) -> list[Ints]:
        return subscription_classes(self.subscriptions)

    @cached_property
    def _counting(self) -> Flags:
        return counting_members(self.subscriptions)

    @cached_property
    def _floor(self) -> int | None:
        return lag_lower_bound(self.group.lag, self.group.topic_of, self.group.subscribers)

    @cached_property
    def _floor_equal_counts(self) -> int | None:
        if len(self._classes) != 1:
            return None
        return lag_lower_bound_equal_counts(self.group.lag, int(self._counting.sum()))

    @cached_property
    def _near(self) -> Nearness:
        group = self.group
        return Nearness.of(group.replica_start, group.replica_rack, len(group.racks))

    @cached_property
    def _near_in_sync(self) -> Nearness | None:
        if self.in_sync is None or bool(self.in_sync.all()):
            return None if self.in_sync is None else self._near
        group = self.group
        return Nearness.of(
            group.replica_start, group.replica_rack, len(group.racks), counts=self.in_sync
        )

    @cached_property
    def _known(self) -> dict[bytes, Figures]:
        """Figures by owners: several strategies often have the same answer."""
        return {} if self.live is None else {_key(self.group.owner): self.live}

    def score(self, assignment: Assignment) -> Score:
        """What there is to say of one assignment of this group."""
        before, owner = self.group.owner, assignment.owner
        key = _key(owner)
        if key not in self._known:
            self._known[key] = self.figures(owner)
        changed, had = owner != before, before != NONE
        return Score.of(
            self._known[key],
            moves=int(np.count_nonzero(changed & had)),
            newly_owned=int(np.count_nonzero(changed & ~had)),
            unowned=int(np.count_nonzero(owner == NONE)),
        )

    def counts(self, assignment: Assignment) -> list[int]:
        """How many partitions the members that count have under an assignment, most first."""
        counts = member_counts(assignment.owner, len(self.group.members))[self._counting]
        return sorted(counts.tolist(), reverse=True)

    def figures(self, owner: Indices) -> Figures:
        """
        What there is to say of an assignment by itself.

        Args:
            owner: (P) a member index per partition, NONE for nobody.
        """
        group, members = self.group, len(self.group.members)
        counts, every_lag = (
            member_counts(owner, members),
            member_sums(owner, members, group.lag),
        )
        lags, counted = every_lag.take(self._counting), counts[self._counting]
        owner_rack = owner_racks(group, owner)
        by_leader = leader_crossing(owner_rack, group.leader_rack)
        by_replica = self._near.crossing(owner_rack)
        crossing = by_leader if group.leaders_only else by_replica
        in_sync = None
        if self._near_in_sync is not None:
            same = self._near_in_sync is self._near
            in_sync = by_replica if same else self._near_in_sync.crossing(owner_rack)
        carried = None if self.tariff is None else self.tariff.carried(crossing)
        return Figures(
            partition_spread=spread(counts, self._classes),
            balanced=fairly_balanced(counts, group.topic_of, owner, group.subscribers),
            most_partitions=int(counted.max(initial=0)),
            fewest_partitions=int(counted.min()) if len(counted) else 0,
            largest_member_lag=lags.max() if bool(lags.known.all()) else None,
            lag_skew=skew(lags),
            lag_lower_bound=self._floor,
            lag_lower_bound_equal_counts=self._floor_equal_counts,
            cross_rack_share=crossing.share(),
            cross_rack_rate_share=crossing.share(group.rate),
            cross_rack_in_sync_share=None if in_sync is None else in_sync.share(),
            cross_leader_share=by_leader.share(),
            racks_left_out=int(np.count_nonzero((owner != NONE) & ~crossing.known)),
            drain_seconds=drain_seconds(every_lag, owner, group.rate, self.capacity),
            cross_rack_bytes_per_second=carried,
            cross_rack_cost_per_month=self.tariff.cost_per_month(carried) if self.tariff else None,
            currency=self.tariff.currency if self.tariff else None,
        )


def _key(owner: Indices) -> bytes:
    return owner.astype(np.int32, copy=False).tobytes()


def drain_seconds(lags: Column, owner: Indices, rate: Floats, capacity: Floats) -> float | None:
    """
    Seconds until the slowest member has caught up: the largest lag / (capacity - production).

    0 without lag; infinity when a member with lag is known not to outrun its production, whatever is unknown of
    others; None when a lag, or the rate or capacity of a member with lag, is unknown.

    Args:
        lags: (M) of each member.
        owner: (P) a member index per partition, NONE for nobody.
        rate: (P) offsets/s produced, nan where unknown.
        capacity: (M) offsets/s, nan where unknown.
    """
    if not bool(lags.known.all()):
        return None
    behind = lags.values > 0
    if not bool(behind.any()):
        return 0.0
    production = np.zeros(len(lags) + 1)  # the last is nobody's
    np.add.at(production, owner, rate)
    margin = (capacity - production[:-1])[behind]
    if bool((margin <= 0).any()):
        return math.inf
    if bool(np.isnan(margin).any()):
        return None
    return float((lags.values[behind] / margin).max())


def crossing_of(group: GroupSpec, owner: Indices) -> Crossing:
    """What an assignment (P, NONE for nobody) reads across racks."""
    return read_crossing(
        owner_racks(group, owner),
        group.replica_start,
        group.replica_rack,
        group.leader_rack,
        group.leaders_only,
    )


def owner_racks(group: GroupSpec, owner: Indices) -> Indices:
    """(P) where each partition's owner is known to be, NONE where that is not known or it is nobody's."""
    racks: Indices = np.append(group.known_rack, np.int32(NONE))[owner]
    return racks


@dataclass(frozen=True, kw_only=True, eq=False)
class Moves:
    """
    Partitions that change hands, by (topic, partition); iterated, they are `Move` values.

    Attributes:
        group: Whose partitions they are.
        partition: (k) which of them.
        new_owner: (k) the member that gets each, NONE for nobody.
    """

    group: GroupSpec
    partition: Ints
    new_owner: Indices

    def __len__(self) -> int:
        return len(self.partition)

    def __iter__(self) -> Iterator[Move]:
        group, names = self.group, [*self.group.members, None]
        columns = (
            group.topic_of[self.partition],
            group.number_of[self.partition],
            group.owner[self.partition],
            self.new_owner,
        )
        for topic, number, owner, new in zip(*(c.tolist() for c in columns), strict=True):
            yield Move(
                topic=group.topics[topic],
                partition=number,
                from_member=names[owner],
                to_member=names[new],
            )

    @property
    def owner_after(self) -> Indices:
        """(P) who owns each partition of the group afterwards, NONE for nobody."""
        owner = self.group.owner.copy()
        owner[self.partition] = self.new_owner
        return owner

    def take(self, mask: Flags) -> Moves:
        """Some of them."""
        return Moves(
            group=self.group, partition=self.partition[mask], new_owner=self.new_owner[mask]
        )


def moves(group: GroupSpec, assignment: Assignment) -> Moves:
    """
    The partitions that change hands.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2}, owned={"a": [("t", 0), ("t", 1)]})
    >>> [(m.partition, m.from_member, m.to_member) for m in moves(group, Assignment(owner=np.array([0, 1])))]
    [(1, 'a', 'b')]
    """
    by_name = group.by_name
    changed = by_name[(group.owner != assignment.owner)[by_name]]
    return Moves(group=group, partition=changed, new_owner=assignment.owner[changed])
