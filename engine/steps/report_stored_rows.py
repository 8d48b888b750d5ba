"""Rows of the history as the values that a report shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evenkeel.engine.model import Member, Move
from evenkeel.engine.report import Happening, RackCounts, SnapshotHealth, Standing
from evenkeel.engine.steps.report_rows import Rows


def standings_of(row: Mapping[str, Any], snapshots: int) -> tuple[Standing | None, ...]:
    """How a group stood in each of so many snapshots, by its row of `report_lag`; None where it was not there."""
    standings: list[Standing | None] = [None] * snapshots
    arrays = (row[name] for name in ("numbers", "lags", "delays", "time_lags"))
    for number, lag, delay, age in zip(*arrays, strict=True):
        standings[number] = Standing(lag=lag, delay_seconds=delay, time_lag_seconds=age)
    return tuple(standings)


def health_of(row: Mapping[str, Any]) -> SnapshotHealth:
    """How a snapshot was taken."""
    return SnapshotHealth(
        taken_at=row["started_at"],
        seconds=row["duration_seconds"],
        groups=row["group_count"],
        problems=row["problems"],
        withheld=row["withheld_groups"],
        rejected=(row["rejection"] or "without a reason") if row["rejected"] else None,
        state=row["state"],
        failed_steps=row["failed_steps"],
        seconds_to_advice=row["seconds_to_advice"],
    )


def incidents_of(rows: Iterable[Mapping[str, Any]]) -> list[Happening]:
    """When each was opened, and when it was over; its summary is what was seen last."""
    happenings = []
    for row in rows:
        title = f"{row['kind']}; seen last: {row['summary']}" if row["summary"] else row["kind"]
        happenings.append(
            Happening(at=row["opened_at"], kind="opened", title=title, severity=row["severity"])
        )
        if row["closed_at"] is not None:
            over = f"{row['kind']}: over"
            happenings.append(
                Happening(at=row["closed_at"], kind="resolved", title=over, severity="resolved")
            )
    return sorted(happenings, key=lambda one: one.at)


def event_of(row: Mapping[str, Any]) -> Happening:
    """What became of an advice."""
    title = f"{row['event_strategy']}: {row['event_cause']}"
    return Happening(at=row["taken_at"], kind=row["event"], title=title, severity="info")


def moves_of(rows: Iterable[Mapping[str, Any]]) -> list[Move]:
    """What changes hands, by ids of members."""
    kept = ("topic", "partition", "from_member", "to_member")
    return [Move(**{column: row[column] for column in kept}) for row in rows]


def member_of(row: Mapping[str, Any]) -> Member:
    """As much of a member as its name takes."""
    return Member(
        id=row["member_id"],
        client_id=row["client_id"],
        host=row["client_host"],
        instance_id=row["instance_id"],
    )


def racks_of(members: Rows, left_out: int | None) -> RackCounts | None:
    """
    How many partitions the members of each rack own, and how many of those have a replica near.

    None where no member tells its rack. The racks of leaders are not known.
    """
    racks: list[str | None] = [*sorted({one["rack"] for one in members} - {None})]
    if not racks:
        return None
    blind = _sum(one["partitions"] for one in members if one["rack"] is None)
    # more left out than nobody's rack explains: those of replicas are unknown, of some member
    known = left_out == blind
    if any(one["rack"] is None for one in members):
        racks.append(None)
    own = {rack: [one for one in members if one["rack"] == rack] for rack in racks}
    return RackCounts(
        members=tuple(racks),
        leaders=(None,),
        counts=tuple((_sum(one["partitions"] for one in own[rack]),) for rack in racks),
        local=tuple(_local(own[rack]) if known and rack is not None else None for rack in racks),
    )


def _local(members: Rows) -> int | None:
    crossing = [one["cross_rack_partitions"] for one in members]
    if None in crossing:
        return None
    return _sum(one["partitions"] for one in members) - _sum(crossing)


_sum: Callable[[Iterable[int]], int] = sum
