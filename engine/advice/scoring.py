"""
The judge: an assignment and its group -> `Score`. It knows no strategy, so it can be everybody's second opinion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..assignors.interface import GroupSpec, together
from ..metrics.balance import (
    Subscribed,
    fairly_balanced,
    lag_lower_bound,
    lag_lower_bound_equal_counts,
    member_counts,
    member_sums,
    skew,
    spread,
)
from ..metrics.racks import Crossing, Nearness, Tariff, carried_by, leader_crossing, read_crossing
from ..model.arrays import NONE, Column, Flags, Floats, Indices, Ints, starts_of
from ..model.assignments import Assignment, Move
from ..model.batch import count_by, max_by, min_by
from ..model.figures import Figures, Score


@dataclass(frozen=True, kw_only=True, eq=False)
class Judge:
    """
    Scores any number of assignments of one group, or of many behind each other; what they share is worked out once.

    Args:
        group: The group, its `owner` being what it has now and its `lag` what shall be shown (unknown stays unknown).
        capacity: (M) offsets/s each member can consume, nan where neither configured nor seen.
        in_sync: Per replica entry of the group, whether that replica is in sync; None when not known.
        tariff: What reading across racks carries and costs; None when not known.
        live: The figures of what the group has now, where they have been worked out before.
        each: Of many groups the judge of each.
    """

    group: GroupSpec
    capacity: Floats
    in_sync: Flags | None = None
    tariff: Tariff | None = None
    live: Figures | None = None
    each: Sequence[Judge] = ()

    @classmethod
    def together(cls, judges: Sequence[Judge]) -> Judge:
        """One for many groups, all or none of whose replicas are known to be in sync."""
        if len(judges) == 1:
            return judges[0]
        known = [judge.in_sync for judge in judges if judge.in_sync is not None]
        return cls(
            group=together([judge.group for judge in judges]),
            capacity=np.concatenate([judge.capacity for judge in judges]),
            in_sync=np.concatenate(known) if known else None,
            each=judges,
        )

    @property
    def _judges(self) -> Sequence[Judge]:
        return self.each or (self,)

    @cached_property
    def subscriptions(self) -> list[frozenset[int]]:
        """(M) the topics each member subscribes to, of those that exist."""
        return [*self._members.subscriptions()]

    @cached_property
    def _members(self) -> Subscribed:
        return subscribed(self.group)

    @cached_property
    def _floors(self) -> tuple[list[int | None], list[int | None]]:
        """(G) lower bounds of the largest member lag, of any assignment and of one with equal counts."""
        known = [judge.live for judge in self._judges if judge.live is not None]
        if len(known) == len(self._judges):
            return (
                [each.lag_lower_bound for each in known],
                [each.lag_lower_bound_equal_counts for each in known],
            )
        lag, members = self.group.lag, self._members
        return (
            lag_lower_bound(lag, members).tolist(),
            lag_lower_bound_equal_counts(lag, members).tolist(),
        )

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
    def _leaders_only(self) -> Flags:
        """(P) whether brokers serve reads from leaders only."""
        leaders_only = [judge.group.leaders_only for judge in self._judges]
        return np.array(leaders_only, np.bool_)[self.group.group_of]

    @cached_property
    def _bytes_per_second(self) -> Floats:
        """(P) what is produced to each partition, nan where unknown."""
        unknown = np.zeros(0)
        return np.concatenate(
            [
                np.full(judge.group.partition_count, np.nan)
                if judge.tariff is None
                else judge.tariff.bytes_per_second
                for judge in self._judges
            ]
            or [unknown]
        )

    @cached_property
    def _known(self) -> dict[bytes, Figures]:
        """Figures by owners: several strategies often have the same answer."""
        return {} if self.live is None else {_key(self.group.owner): self.live}

    def score(self, assignment: Assignment) -> Score:
        """What there is to say of one assignment of this group."""
        owner = assignment.owner
        key = _key(owner)
        if key not in self._known:
            self._known[key] = self.figures(owner)
        changes = self._changes(owner)
        return Score.of(self._known[key], **{name: of[0] for name, of in changes.items()})

    def scores(self, owner: Indices) -> list[Score]:
        """
        (G) what there is to say of an assignment of each group; of what a group has now what is known of that.

        Args:
            owner: (P) a member index per partition, NONE for nobody.
        """
        same = count_by(owner != self.group.owner, self.group.partition_start) == 0
        pairs = zip(self._judges, same.tolist(), strict=True)
        known = [judge.live if is_live else None for judge, is_live in pairs]
        changes = self._changes(owner)
        columns = changes | (self._columns(owner) if None in known else {})
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        return [
            Score(**row)
            if live is None
            else Score.of(live, **{name: row[name] for name in changes})
            for live, row in zip(known, rows, strict=True)
        ]

    def _changes(self, owner: Indices) -> dict[str, list[Any]]:
        """Columns of a `Score` that are none of `Figures`, each with one entry per group."""
        before, start = self.group.owner, self.group.partition_start
        changed, had = owner != before, before != NONE
        flags = {"moves": changed & had, "newly_owned": changed & ~had, "unowned": owner == NONE}
        return {name: count_by(each, start).tolist() for name, each in flags.items()}

    def counts(self, assignment: Assignment) -> list[int]:
        """How many partitions the members that count have under an assignment, most first."""
        counts = member_counts(assignment.owner, len(self.group.members))[self._members.counting]
        return sorted(counts.tolist(), reverse=True)

    def figures(self, owner: Indices) -> Figures:
        """
        What there is to say of an assignment of the only group by itself.

        Args:
            owner: (P) a member index per partition, NONE for nobody.
        """
        return self.all_figures(owner)[0]

    def all_figures(self, owner: Indices) -> list[Figures]:
        """
        (G) what there is to say of an assignment of each group by itself.

        Args:
            owner: (P) a member index per partition, NONE for nobody.
        """
        columns = self._columns(owner)
        rows = zip(*columns.values(), strict=True)
        return [Figures(**dict(zip(columns, row, strict=True))) for row in rows]

    def _columns(self, owner: Indices) -> dict[str, list[Any]]:
        """Columns of `Figures`, each with one entry per group."""
        group, members, start = self.group, self._members, self.group.partition_start
        counts = member_counts(owner, members.members)
        every_lag = member_sums(owner, members.members, group.lag)
        lags, counted = every_lag.take(members.counting), counts[members.counting]
        counting = starts_of(count_by(members.counting, members.member_start))
        largest = Column(max_by(lags.values, counting, 0), count_by(~lags.known, counting) == 0)
        largest.known[counting[1:] == counting[:-1]] = False
        owner_rack = owner_racks(group, owner)
        by_leader = leader_crossing(owner_rack, group.leader_rack)
        by_replica = self._near.crossing(owner_rack)
        only = self._leaders_only
        crossing = Crossing(
            crosses=np.where(only, by_leader.crosses, by_replica.crosses),
            known=np.where(only, by_leader.known, by_replica.known),
        )
        in_sync: list[float | None] = [None] * group.group_count
        if self._near_in_sync is not None:
            same = self._near_in_sync is self._near
            by_in_sync = by_replica if same else self._near_in_sync.crossing(owner_rack)
            in_sync = by_in_sync.shares(start)
        lower, lower_equal_counts = self._floors
        return {
            "partition_spread": spread(counts, members).tolist(),
            "balanced": fairly_balanced(counts, owner, members).tolist(),
            "most_partitions": max_by(counted, counting, 0).tolist(),
            "fewest_partitions": min_by(counted, counting, 0).tolist(),
            "largest_member_lag": largest.tolist(),
            "lag_skew": skew(lags, counting),
            "lag_lower_bound": lower,
            "lag_lower_bound_equal_counts": lower_equal_counts,
            "cross_rack_share": crossing.shares(start),
            "cross_rack_rate_share": crossing.shares(start, group.rate),
            "cross_rack_in_sync_share": in_sync,
            "cross_leader_share": by_leader.shares(start),
            "racks_left_out": count_by((owner != NONE) & ~crossing.known, start).tolist(),
            "drain_seconds": drain_seconds(
                every_lag, owner, group.rate, self.capacity, members.member_start
            ),
            **self._costs(carried_by(crossing, self._bytes_per_second, start)),
        }

    def _costs(self, carried: Sequence[float | None]) -> dict[str, list[Any]]:
        """What each group reads across racks, what that costs in a month, and in which currency."""
        priced = [
            (None, None, None)
            if tariff is None
            else (each, tariff.cost_per_month(each), tariff.currency)
            for tariff, each in zip([judge.tariff for judge in self._judges], carried, strict=True)
        ]
        names = ("cross_rack_bytes_per_second", "cross_rack_cost_per_month", "currency")
        return dict(zip(names, map(list, zip(*priced, strict=True)), strict=True))


def _key(owner: Indices) -> bytes:
    return owner.astype(np.int32, copy=False).tobytes()


def drain_seconds(
    lags: Column, owner: Indices, rate: Floats, capacity: Floats, start: Ints
) -> list[float | None]:
    """
    (G) seconds until a group's slowest member has caught up: the largest lag / (capacity - production).

    0 without lag; infinity when a member with lag is known not to outrun its production, whatever is unknown of
    others; None when a lag, or the rate or capacity of a member with lag, is unknown.

    Args:
        lags: (M) of each member.
        owner: (P) a member index per partition, NONE for nobody.
        rate: (P) offsets/s produced, nan where unknown.
        capacity: (M) offsets/s, nan where unknown.
        start: (G + 1) where each group's members begin.
    """
    production = np.zeros(len(lags) + 1)  # the last is nobody's
    np.add.at(production, owner, rate)
    behind = lags.values > 0
    margin = np.where(behind, capacity - production[:-1], np.inf)
    never, unknown = margin <= 0, np.isnan(margin)
    sure = behind & ~never & ~unknown
    seconds = np.divide(lags.values, margin, out=np.zeros(len(margin)), where=sure)
    slowest = max_by(seconds, start, 0.0)
    slowest[count_by(unknown, start) > 0] = np.nan
    slowest[count_by(never, start) > 0] = np.inf
    slowest[count_by(~lags.known, start) > 0] = np.nan
    return [None if math.isnan(each) else each for each in slowest.tolist()]


def subscribed(group: GroupSpec) -> Subscribed:
    """Who subscribes to what, as evenness is worked out from it."""
    return Subscribed(
        member_start=group.member_start,
        topics_start=group.topics_start,
        topic_start=group.topic_start,
        exists=group.topic_exists,
        subscription_start=group.subscription_start,
        subscription_topic=group.subscription_topic,
    )


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
