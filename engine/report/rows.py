"""Values of a report, from stored rows and snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from ..metrics.racks import batch_crossing
from ..model.arrays import NONE
from ..model.assignments import Feasibility
from ..model.batch import batch_of
from ..model.groups import GroupSnapshot, Member
from ..model.states import CapacityBasis, PauseBasis
from ..model.text import listed
from .values import (
    Happening,
    MemberLoad,
    RackCounts,
    Rebalanced,
    SnapshotHealth,
    Standing,
    StrategyScore,
)

Rows = Sequence[Mapping[str, Any]]


def standings_of(row: Mapping[str, Any], snapshots: int) -> tuple[Standing | None, ...]:
    """Metrics of a group in each snapshot, from its row of `report_lag`; None if it was not there."""
    standings: list[Standing | None] = [None] * snapshots
    arrays = (row[name] for name in ("numbers", "lags", "delays", "time_lags"))
    for number, lag, delay, age in zip(*arrays, strict=True):
        standings[number] = Standing(lag=lag, delay_seconds=delay, time_lag_seconds=age)
    return tuple(standings)


def health_of(row: Mapping[str, Any]) -> SnapshotHealth:
    """The health of a snapshot."""
    return SnapshotHealth(
        taken_at=row["started_at"],
        seconds=row["duration_seconds"],
        groups=row["group_count"],
        problems=row["problems"],
        withheld=row["skipped_groups"],
        rejected=(row["rejection"] or "unknown reason") if row["rejected"] else None,
        state=row["state"],
        failed_steps=row["failed_steps"],
        seconds_to_advice=row["seconds_to_advice"],
    )


def incidents_of(rows: Iterable[Mapping[str, Any]]) -> list[Happening]:
    """The opening and the end of each incident, with its last summary."""
    told: list[tuple[datetime, str, str, str]] = []  # when, kind, title, severity
    for row in rows:
        title = f"{row['kind']}; seen last: {row['summary']}" if row["summary"] else row["kind"]
        told.append((row["opened_at"], "opened", title, row["severity"]))
        if row["closed_at"] is not None:
            told.append((row["closed_at"], "resolved", f"{row['kind']}: resolved", "resolved"))
    told.sort(key=lambda one: one[0])
    return [
        Happening(at=at, kind=kind, title=title, severity=severity)
        for at, kind, title, severity in told
    ]


def event_of(row: Mapping[str, Any]) -> Happening:
    """A state change of an advice."""
    title = f"{row['event_strategy']}: {row['event_cause']}"
    return Happening(at=row["taken_at"], kind=row["event"], title=title, severity="info")


def rebalanced(row: Mapping[str, Any]) -> Rebalanced:
    """The rebalances of a group between two snapshots, from its row of `rebalance`."""
    changes = {"joined": "joined", "left_members": "left", "restarted": "restarted"}
    return Rebalanced(
        at=row["until"],
        cause=row["cause"],
        rebalances=row["rebalances"],
        members="; ".join(
            f"{listed(row[column])} {did}" for column, did in changes.items() if row[column]
        ),
        moved=row["partitions_moved"],
        partition_seconds=row["partition_seconds"],
        delayed_records=row["delayed_records"],
        estimated=row["pause_basis"] == PauseBasis.USUAL,
    )


def member_loads(names: Mapping[str, str], members: Rows, moves: Rows) -> tuple[MemberLoad, ...]:
    """
    The members of a group, busiest first, also after the advised switch.

    Args:
        names: Short names of members by id.
        members: Rows of `member_metrics` of the group.
        moves: Partitions that the advised switch reassigns, by ids of members, with their lag.
    """
    gets, gives, gained = Counter[str](), Counter[str](), Counter[str]()
    unknown = set[str]()
    for move in moves:
        for member, counted, sign in (
            (move["from_member"], gives, -1),
            (move["to_member"], gets, 1),
        ):
            if member is None:
                continue
            counted[member] += 1
            if move["lag"] is None:
                unknown.add(member)
            else:
                gained[member] += sign * move["lag"]

    def after(row: Mapping[str, Any]) -> dict[str, int | None]:
        member, lag = row["member_id"], row["lag"]
        return {
            "gets": gets[member],
            "gives": gives[member],
            "partitions_after": row["partitions"] + gets[member] - gives[member],
            "lag_after": None if lag is None or member in unknown else lag + gained[member],
        }

    loads = [
        MemberLoad(
            name=names.get(row["member_id"]) or str(row["member_id"]),
            rack=row["rack"],
            utilization=row["utilization"],
            at_most=row["capacity_basis"] == CapacityBasis.AT_LEAST,
            not_committing=row["not_committing"],
            lag=row["lag"],
            partitions=row["partitions"],
            **(after(row) if moves else {}),
        )
        for row in members
    ]
    return tuple(
        sorted(loads, key=lambda one: (-_order(one.utilization), -_order(one.lag), one.name))
    )


def _order(value: float | None) -> float:
    return -1.0 if value is None else value


def scores(candidates: Rows) -> tuple[StrategyScore, ...]:
    """The scores of strategies; *candidates* are rows of the dataset."""
    as_called = ("reason", "largest_member_lag", "partition_spread", "cross_rack_share", "moves")
    return tuple(
        StrategyScore(
            name=row["strategy"],
            got_by=row["deployment"],
            feasible=row["feasibility"] != Feasibility.NOT_APPLICABLE,
            running=row["is_running"],
            lag_low=row["forecast_lag_low"],
            lag_expected=row["forecast_lag_expected"],
            lag_high=row["forecast_lag_high"],
            restarts=row["price_restarts"],
            **{column: row[column] for column in as_called},
        )
        for row in sorted(candidates, key=lambda row: row["position"])
    )


def member_of(row: Mapping[str, Any]) -> Member:
    """The part of a member that its name needs."""
    return Member(
        id=row["member_id"],
        client_id=row["client_id"],
        host=row["client_host"],
        instance_id=row["instance_id"],
    )


def racks_of(members: Rows, left_out: int | None) -> RackCounts | None:
    """
    Number of partitions by rack of members, and number of those read within the rack.

    None if no rack of a member is known. The racks of leaders are unknown.
    """
    racks = _racks(one["rack"] for one in members)
    if not any(racks):
        return None
    blind = sum(one["partitions"] for one in members if one["cross_rack_partitions"] is None)
    # more left out than members in unknown racks explain: those of replicas are unknown, of some member
    known = left_out == blind
    counts, local = list[tuple[int]](), list[int | None]()
    for rack in racks:
        own = [one for one in members if one["rack"] == rack]
        crossing = [one["cross_rack_partitions"] for one in own]
        counts.append((sum(one["partitions"] for one in own),))
        told = known and rack is not None and None not in crossing
        local.append(counts[-1][0] - sum(crossing) if told else None)
    return RackCounts(members=racks, leaders=(None,), counts=tuple(counts), local=tuple(local))


def rack_counts(group: GroupSnapshot) -> RackCounts | None:
    """Reads by rack; None if the racks of members or of leaders are unknown."""
    table = group.partitions
    rows = np.flatnonzero(table.assignable & (table.owner != NONE)).tolist()
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    local: Counter[str | None] = Counter()
    blind: set[str | None] = set()
    read = batch_crossing(batch_of([group]))
    for row in rows:
        rack = group.members[table.owner[row]].rack
        leader = int(table.leader_rack[row])
        pairs[rack, None if leader == NONE else table.racks[leader]] += 1
        if not read.known[row]:
            blind.add(rack)
        local[rack] += not read.crosses[row]
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
    """Unique racks, sorted, unknown last."""
    every = set(racks)
    named: list[str | None] = [*sorted(rack for rack in every if rack is not None)]
    return (*named, None) if None in every else tuple(named)
