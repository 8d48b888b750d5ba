"""The step that turns offsets into metrics: one row per group, member and partition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from evenkeel.engine.assignor import spec_of
from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import METRICS, rows_to_table
from evenkeel.engine.figures import Figures
from evenkeel.engine.metrics.balance import member_counts, member_sums
from evenkeel.engine.metrics.history import any_sum
from evenkeel.engine.metrics.observe import Observation, observe
from evenkeel.engine.metrics.racks import Crossing, leader_crossing, replica_crossing
from evenkeel.engine.metrics.status import worst
from evenkeel.engine.model import NONE, Column, GroupSnapshot, Indices, Status, from_ms
from evenkeel.engine.ports import Lake
from evenkeel.engine.records import GroupMetrics, MemberMetrics, blank, keys_of, row_of
from evenkeel.engine.steps.judging import judge_of
from evenkeel.engine.steps.reading import groups_with_past, with_others
from evenkeel.engine.wording import words

Rows = list[dict[str, Any]]


def compute_metrics(
    lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> dict[str, pa.Table]:
    """
    The metrics of a snapshot, without Spark: the tables of `datasets.METRICS`.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    rows: dict[str, Rows] = {name: [] for name in METRICS}
    for found in groups_with_past(lake, settings, snapshot_id, pattern):
        measured = measure_group(settings, found.group, found.earlier, found.withheld)
        for name, more in measured.items():
            rows[name].extend(more)
    return {name: rows_to_table(rows[name], schema) for name, schema in METRICS.items()}


def record_metrics(
    lake: Lake, snapshot_id: str, tables: Mapping[str, pa.Table], pattern: str = "*"
) -> None:
    """
    Keep the metrics in the lake; the history gets those that pass validation (`record_validation`).

    Computed for the groups of a pattern only, they replace only those groups' rows.
    """
    lake.write("metrics", snapshot_id, with_others(lake, snapshot_id, tables, pattern), {})


def observe_group(
    settings: Settings, group: GroupSnapshot, earlier: Sequence[GroupSnapshot]
) -> Observation:
    """What the numbers say of a group, by what the configuration knows of it."""
    rule = settings.rule(group.cluster, group.group)
    return observe(
        group,
        earlier,
        auto_offset_reset=rule.auto_offset_reset,
        capacity_per_second=rule.capacity_per_second,
        bytes_per_record=rule.bytes_per_record,
    )


def measure_group(
    settings: Settings,
    group: GroupSnapshot,
    earlier: Sequence[GroupSnapshot],
    withheld: str | None = None,
) -> dict[str, Rows]:
    """
    The metric rows of one group.

    Args:
        settings: The configuration.
        group: The group.
        earlier: Its earlier snapshots, newest first.
        withheld: Why its data cannot be trusted; then there is one group row that says so, with every number unknown.
    """
    keys = keys_of(group, settings.version)
    if withheld is not None or group.error is not None:
        unknown = blank(
            GroupMetrics,
            **keys,
            group_type=group.type,
            state=group.state,
            assignor=group.assignor,
            status=Status.UNKNOWN,
            members=len(group.members) if group.error is None else None,
            error=group.error or withheld,
            findings=(),
            facts=(),
        )
        return {"group_metrics": [row_of(unknown)], "member_metrics": [], "partition_metrics": []}
    seen = observe_group(settings, group, earlier)
    return {
        "group_metrics": [row_of(_group_metrics(settings, keys, seen))],
        "member_metrics": [row_of(member) for member in _member_metrics(keys, seen)],
        "partition_metrics": [keys | row for row in _partition_rows(seen)],
    }


def _group_metrics(settings: Settings, keys: dict[str, str], seen: Observation) -> GroupMetrics:
    group, counted = seen.group, seen.counted
    table, lag = group.partitions, seen.lag.shown.take(counted)
    judged = any(m.subscription for m in group.members) and not group.rebalancing
    some = bool(counted.any())  # none to look at is no lag of 0: they may be hidden from us
    owned = member_counts(table.owner, len(group.members))
    statuses = [s for s, c in zip(seen.statuses, counted.tolist(), strict=True) if c]
    since = seen.production.since_ms.take(counted)
    return GroupMetrics(
        **keys,
        group_type=group.type,
        state=group.state,
        assignor=group.assignor,
        status=worst(statuses),
        members=len(group.members),
        idle_members=int((owned == 0).sum()) if judged else None,
        partitions=int(counted.sum()),
        unowned_partitions=int((table.owner[counted] == NONE).sum()) if judged else None,
        unsubscribed_partitions=int((table.exists & ~table.subscribed).sum())
        if any(m.subscription for m in group.members)
        else None,
        total_lag=lag.total() if some else None,
        unknown_lag_partitions=int((~lag.known).sum()),
        largest_partition_lag=lag.max(),
        lost_records=_known_sum(seen.lag.lost.take(counted)),
        production_per_second=any_sum(seen.production.per_second, counted),
        consumption_per_second=any_sum(seen.consumption.per_second, counted),
        time_lag_seconds=_worst(seen.time_lag.seconds[counted], max),
        time_to_loss_seconds=_worst(seen.time_to_loss[counted], min),
        rates_since=from_ms(int(since.values[since.known].min()))
        if bool(since.known.any())
        else None,
        findings=tuple(words(fact) for fact in seen.findings),
        facts=seen.findings,
        subscribed_topics=tuple(sorted(seen.subscribed_topics)) or None,
        live=_figures(settings, seen) if judged and some else None,
        error=None,
    )


def _figures(settings: Settings, seen: Observation) -> Figures:
    """What the judge says of the assignment that the group has now."""
    group, rates = seen.group, seen.production.per_second
    spec = spec_of(group, seen.lag.shown, rates)
    judge = judge_of(
        group,
        spec,
        settings.rule(group.cluster, group.group),
        production=rates,
        bytes_per_record=seen.sizes.bytes,
        capacity=seen.capacity,
    )
    return judge.figures(spec.owner)


def _known_sum(numbers: Column) -> int | None:
    """What is known to be lost; None when nothing is known."""
    return int(numbers.values[numbers.known].sum()) if bool(numbers.known.any()) else None


def _worst(values: Any, choose: Any) -> float | None:
    """The worst of what is known; None when nothing is."""
    known = values[~np.isnan(values)]
    return float(choose(known)) if len(known) else None


def _member_metrics(keys: dict[str, str], seen: Observation) -> list[MemberMetrics]:
    group, table = seen.group, seen.group.partitions
    if group.rebalancing:
        return []
    count = len(group.members)
    counts = member_counts(table.owner, count)
    lags = member_sums(table.owner, count, seen.lag.shown).tolist()
    crossing = _crossing(group)
    crossed = member_counts(np.where(crossing.crosses, table.owner, NONE), count)
    told = np.array([m.rack is not None for m in group.members], np.bool_)
    return [
        MemberMetrics(
            **keys,
            member_id=member.id,
            identity=member.identity,
            client_id=member.client_id,
            client_host=member.host,
            instance_id=member.instance_id,
            rack=member.rack,
            rack_source=member.rack_source,
            partitions=int(counts[i]),
            lag=lags[i],
            production_per_second=_of_member(seen.production.per_second, table.owner == i),
            consumption_per_second=_of_member(seen.consumption.per_second, table.owner == i),
            capacity_per_second=_number(seen.capacity[i]),
            capacity_basis=seen.capacity_basis[i],
            cross_rack_partitions=int(crossed[i]) if told[i] else None,
        )
        for i, member in enumerate(group.members)
    ]


def _of_member(rates: Any, owned: Any) -> float | None:
    """A member's offsets/s: 0 for one without partitions, None when a rate of its own is unknown."""
    return any_sum(rates, owned) if bool(owned.any()) else 0.0


def _crossing(group: GroupSnapshot) -> Crossing:
    """What is read across racks: from any replica, or from leaders where brokers serve reads from these alone."""
    table, owner = group.partitions, _owner_racks(group)
    if group.follower_fetching is False:
        return leader_crossing(owner, table.leader_rack)
    return replica_crossing(owner, table.replica_start, table.replica_rack)


def _owner_racks(group: GroupSnapshot) -> Indices:
    """Rack index of each partition's owner; a rack no broker has gets an index of its own."""
    names = {rack: i for i, rack in enumerate(group.partitions.racks)}
    racks = [names.setdefault(m.rack, len(names)) if m.rack else NONE for m in group.members]
    return np.array([*racks, NONE], np.int32)[group.partitions.owner]


def _partition_rows(seen: Observation) -> Rows:
    group, table = seen.group, seen.group.partitions
    crossing = _crossing(group)
    owners = [*(m.id for m in group.members), None]
    columns = {
        "topic": table.names,
        "topic_id": [table.topic_ids[t] for t in table.topic.tolist()],
        "partition": table.partition.tolist(),
        "subscribed": _subscribed(group),
        "begin_offset": table.begin.tolist(),
        "end_offset": table.end.tolist(),
        "committed_offset": table.committed.tolist(),
        "lag": seen.lag.shown.tolist(),
        "lag_basis": [basis.value for basis in seen.lag.basis],
        "lost_records": seen.lag.lost.tolist(),
        "production_per_second": _numbers(seen.production.per_second),
        "consumption_per_second": _numbers(seen.consumption.per_second),
        "time_lag_seconds": _numbers(seen.time_lag.seconds),
        "time_lag_basis": [basis.value for basis in seen.time_lag.basis],
        "time_to_loss_seconds": _numbers(seen.time_to_loss),
        "status": [status.value for status in seen.statuses],
        "member_id": [owners[o] for o in table.owner.tolist()],
        "cross_rack": [
            c if k else None
            for c, k in zip(crossing.crosses.tolist(), crossing.known.tolist(), strict=True)
        ],
        "committed_at": _moments(table.committed_at_ms),
        "end_at": _moments(table.end_at_ms),
        "counted": seen.counted.tolist(),
        "lag_for_strategies": seen.lag.for_strategies.tolist(),
        "production_deviation_per_second": _numbers(seen.production_deviation),
        "consumption_deviation_per_second": _numbers(seen.consumption_deviation),
        "bytes_per_record": _numbers(seen.sizes.bytes),
        "bytes_per_record_basis": [basis.value for basis in seen.sizes.basis],
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _subscribed(group: GroupSnapshot) -> list[bool | None]:
    """Whether somebody subscribes to each row's topic; unknown where a member does not tell (it rebalances)."""
    untold = None if any(m.subscription is None for m in group.members) else False
    return [known or untold for known in group.partitions.subscribed.tolist()]


def _moments(column: Column) -> list[datetime | None]:
    return [from_ms(ms) for ms in column.tolist()]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _numbers(values: Any) -> list[float | None]:
    return [_number(v) for v in values.tolist()]
