"""What a report shows of one group in one snapshot, from the rows that steps store of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from evenkeel.engine.model import NONE, CapacityBasis, Diagnosis, Feasibility, GroupSnapshot, Move
from evenkeel.engine.report import (
    GroupReport,
    MemberLoad,
    RackCounts,
    Standing,
    StrategyScore,
)

Rows = Sequence[Mapping[str, Any]]


Lags = Mapping[tuple[str, int], int | None]
"""The lag (offsets) of partitions, by topic and number."""


def gone_group(
    name: str, last_seen: datetime, open_incident: str | None, over_time: Mapping[str, Any]
) -> GroupReport:
    """
    A group that the newest snapshot does not have: nothing is known of it now.

    Args:
        name: Its id.
        last_seen: When it was there last.
        open_incident: What is wrong with it and told, if something is.
        over_time: What snapshots before that show, by attribute of `GroupReport`.
    """
    return GroupReport(
        group_id=name,
        owner=None,
        kind="?",
        state=None,
        strategy=None,
        diagnosis=Diagnosis.UNKNOWN,
        reason=None,
        diagnosed_at=None,
        at_least=False,
        now=Standing(),
        members=None,
        partitions=None,
        gone_since=last_seen,
        open_incident=open_incident,
        **over_time,
    )


def member_loads(
    names: Mapping[str, str], members: Rows, moves: Sequence[Move], lags: Lags
) -> tuple[MemberLoad, ...]:
    """
    The members of a group, the busiest first; where partitions are to change hands, with what they would own.

    Args:
        names: What members are called, by id.
        members: Rows of `member_metrics`, its own.
        moves: The partitions that change hands with the advised switch, by ids of members.
        lags: Of those partitions; one that is missing is unknown.
    """
    after = _after(moves, lags) if moves else None
    loads = [
        _load(row, names.get(row["member_id"]) or str(row["member_id"]), after) for row in members
    ]
    return tuple(
        sorted(loads, key=lambda one: (-_order(one.utilisation), -_order(one.lag), one.name))
    )


def _order(value: float | None) -> float:
    return -1.0 if value is None else value


def _load(row: Mapping[str, Any], name: str, after: _After | None) -> MemberLoad:
    load = MemberLoad(
        name=name,
        rack=row["rack"],
        utilisation=row["utilisation"],
        at_most=row["capacity_basis"] == CapacityBasis.AT_LEAST,
        silent=row["silent"],
        lag=row["lag"],
        partitions=row["partitions"],
    )
    if after is None:
        return load
    member = row["member_id"]
    gets, gives = after.gets[member], after.gives[member]
    known = row["lag"] is not None and member not in after.unknown
    return replace(
        load,
        gets=gets,
        gives=gives,
        partitions_after=row["partitions"] + gets - gives,
        lag_after=row["lag"] + after.lag[member] if known else None,
    )


class _After:
    """What moves bring each member and take from it, by member id."""

    def __init__(self) -> None:
        self.gets: Counter[str] = Counter()
        self.gives: Counter[str] = Counter()
        self.lag: Counter[str] = Counter()
        self.unknown: set[str] = set()


def _after(moves: Sequence[Move], lags: Lags) -> _After:
    after = _After()
    for move in moves:
        lag = lags.get((move.topic, move.partition))
        for member, counted, sign in (
            (move.from_member, after.gives, -1),
            (move.to_member, after.gets, 1),
        ):
            if member is None:
                continue
            counted[member] += 1
            if lag is None:
                after.unknown.add(member)
            else:
                after.lag[member] += sign * lag
    return after


def rack_counts(group: GroupSnapshot) -> RackCounts | None:
    """Which racks read which; None where no member of the group tells its rack, or no leader's is known."""
    table = group.partitions
    rows = np.flatnonzero(table.assignable & (table.owner != NONE)).tolist()
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    local: Counter[str | None] = Counter()
    blind: set[str | None] = set()
    for row in rows:
        rack = group.members[table.owner[row]].rack
        leader = int(table.leader_rack[row])
        pairs[rack, None if leader == NONE else table.racks[leader]] += 1
        replicas = table.replica_rack[table.replica_start[row] : table.replica_start[row + 1]]
        known = replicas[replicas != NONE].tolist()
        if rack is None or not known:
            blind.add(rack)
        local[rack] += any(table.racks[one] == rack for one in known)
    members, leaders = (_racks(key[side] for key in pairs) for side in (0, 1))
    if not any(members) or not any(leaders):
        return None
    return RackCounts(
        members=members,
        leaders=leaders,
        counts=tuple(tuple(pairs[m, leader] for leader in leaders) for m in members),
        local=tuple(None if m in blind else local[m] for m in members),
    )


def _racks(racks: Iterable[str | None]) -> tuple[str | None, ...]:
    """Each once, sorted; unknown is last."""
    every = set(racks)
    named: list[str | None] = [*sorted(rack for rack in every if rack is not None)]
    return (*named, None) if None in every else tuple(named)


def scores(candidates: Rows) -> tuple[StrategyScore, ...]:
    """The scoreboard, in its order; *candidates* are rows of the dataset."""
    ordered = sorted(candidates, key=lambda row: row["position"])
    return tuple(
        StrategyScore(
            name=row["strategy"],
            got_by=row["deployment"],
            feasible=row["feasibility"] != Feasibility.INFEASIBLE,
            running=row["is_running"],
            reason=row["reason"],
            lag_low=row["forecast_lag_low"],
            lag_expected=row["forecast_lag_expected"],
            lag_high=row["forecast_lag_high"],
            largest_member_lag=row["largest_member_lag"],
            partition_spread=row["partition_spread"],
            cross_rack_share=row["cross_rack_share"],
            moves=row["moves"],
            restarts=row["price_restarts"],
        )
        for row in ordered
    )


def named_moves(names: Mapping[str, str], moves: Iterable[Move]) -> tuple[Move, ...]:
    """Moves with members by their short names; who has none keeps the id."""

    def called(member: str | None) -> str | None:
        return None if member is None else names.get(member, member)

    return tuple(
        replace(move, from_member=called(move.from_member), to_member=called(move.to_member))
        for move in moves
    )
