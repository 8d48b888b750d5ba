"""The lake's tables: their Arrow schemas, units in the columns' names, and which step writes which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 1
"""Written into every manifest; a reader refuses a version it does not know."""

_MOMENT = pa.timestamp("ms", tz="UTC")
_TEXTS = pa.list_(pa.string())
_NUMBERS = pa.list_(pa.int32())


def _schema(**columns: pa.DataType) -> pa.Schema:
    """A dataset's schema; every row says which snapshot and cluster it belongs to."""
    return pa.schema({"snapshot_id": pa.string(), "cluster": pa.string(), **columns})


SNAPSHOT: Mapping[str, pa.Schema] = {
    "brokers": _schema(
        node_id=pa.int32(),
        host=pa.string(),
        port=pa.int32(),
        rack=pa.string(),
        follower_fetching=pa.bool_(),
    ),
    "groups": _schema(
        group_id=pa.string(),
        group_type=pa.string(),
        state=pa.string(),
        protocol_type=pa.string(),
        assignor=pa.string(),
        coordinator=pa.int32(),
        epoch=pa.int32(),
        assignment_epoch=pa.int32(),
        topology=pa.string(),
        error=pa.string(),
    ),
    "members": _schema(
        group_id=pa.string(),
        position=pa.int32(),
        member_id=pa.string(),
        client_id=pa.string(),
        client_host=pa.string(),
        instance_id=pa.string(),
        rack=pa.string(),
        rack_source=pa.string(),
        kind=pa.string(),
        subscription=_TEXTS,
        subscription_regex=pa.string(),
        generation=pa.int32(),
        process_id=pa.string(),
        assigned_topics=_TEXTS,
        assigned_partitions=_NUMBERS,
        assigned_tasks=_TEXTS,
        target_topics=_TEXTS,
        target_partitions=_NUMBERS,
        active_tasks=_TEXTS,
        standby_tasks=_TEXTS,
        warmup_tasks=_TEXTS,
        task_offsets=pa.string(),
        task_end_offsets=pa.string(),
        client_tags=pa.string(),
        metadata=pa.binary(),
        assignment=pa.binary(),
    ),
    "partitions": _schema(
        topic=pa.string(),
        topic_id=pa.string(),
        partition=pa.int32(),
        leader=pa.int32(),
        replicas=_NUMBERS,
        in_sync=_NUMBERS,
        begin_offset=pa.int64(),
        end_offset=pa.int64(),
        last_stable_offset=pa.int64(),
        begin_at=_MOMENT,
        end_at=_MOMENT,
        cleanup_policy=pa.string(),
        retention_ms=pa.int64(),
        log_bytes=pa.int64(),
        error=pa.string(),
    ),
    "commits": _schema(
        group_id=pa.string(),
        topic=pa.string(),
        partition=pa.int32(),
        committed_offset=pa.int64(),
        read_at=_MOMENT,
        error=pa.string(),
    ),
}
"""What `take_snapshot` writes. A null offset is unknown; a commit row without offset is a group without a commit."""

_KEY = {"group_id": pa.string(), "config_version": pa.string()}

METRICS: Mapping[str, pa.Schema] = {
    "group_metrics": _schema(
        **_KEY,
        group_type=pa.string(),
        state=pa.string(),
        assignor=pa.string(),
        status=pa.string(),
        members=pa.int32(),
        idle_members=pa.int32(),
        partitions=pa.int32(),
        unowned_partitions=pa.int32(),
        unsubscribed_partitions=pa.int32(),
        total_lag=pa.int64(),
        unknown_lag_partitions=pa.int32(),
        largest_partition_lag=pa.int64(),
        largest_member_lag=pa.int64(),
        lag_skew=pa.float64(),
        lag_floor=pa.int64(),
        lost_records=pa.int64(),
        partition_spread=pa.int32(),
        cross_rack_share=pa.float64(),
        cross_leader_share=pa.float64(),
        racks_left_out=pa.int32(),
        production_per_second=pa.float64(),
        consumption_per_second=pa.float64(),
        time_lag_seconds=pa.float64(),
        time_to_loss_seconds=pa.float64(),
        drain_seconds=pa.float64(),
        rates_since=_MOMENT,
        error=pa.string(),
        findings=_TEXTS,
        cross_rack_bytes_per_second=pa.float64(),
        cross_rack_cost_per_month=pa.float64(),
        currency=pa.string(),
    ),
    "member_metrics": _schema(
        **_KEY,
        member_id=pa.string(),
        identity=pa.string(),
        client_id=pa.string(),
        client_host=pa.string(),
        instance_id=pa.string(),
        rack=pa.string(),
        rack_source=pa.string(),
        partitions=pa.int32(),
        lag=pa.int64(),
        production_per_second=pa.float64(),
        consumption_per_second=pa.float64(),
        capacity_per_second=pa.float64(),
        capacity_basis=pa.string(),
        cross_rack_partitions=pa.int32(),
    ),
    "partition_metrics": _schema(
        **_KEY,
        topic=pa.string(),
        topic_id=pa.string(),
        partition=pa.int32(),
        subscribed=pa.bool_(),
        begin_offset=pa.int64(),
        end_offset=pa.int64(),
        committed_offset=pa.int64(),
        lag=pa.int64(),
        lag_basis=pa.string(),
        lost_records=pa.int64(),
        production_per_second=pa.float64(),
        consumption_per_second=pa.float64(),
        time_lag_seconds=pa.float64(),
        time_lag_basis=pa.string(),
        time_to_loss_seconds=pa.float64(),
        status=pa.string(),
        member_id=pa.string(),
        cross_rack=pa.bool_(),
        committed_at=_MOMENT,
        end_at=_MOMENT,
        bytes_per_record=pa.float64(),
        bytes_per_record_basis=pa.string(),
    ),
}
"""What `compute_metrics` writes."""

MOVE = pa.struct(
    {
        "topic": pa.string(),
        "partition": pa.int32(),
        "from_member": pa.string(),
        "to_member": pa.string(),
    }
)

CANDIDATES: Mapping[str, pa.Schema] = {
    "candidates": _schema(
        **_KEY,
        strategy=pa.string(),
        position=pa.int32(),
        reach=pa.string(),
        feasibility=pa.string(),
        reason=pa.string(),
        how=pa.string(),
        replay=pa.string(),
        partition_spread=pa.int32(),
        balanced=pa.bool_(),
        most_partitions=pa.int32(),
        fewest_partitions=pa.int32(),
        largest_member_lag=pa.int64(),
        lag_skew=pa.float64(),
        lag_floor=pa.int64(),
        lag_floor_equal_counts=pa.int64(),
        cross_rack_share=pa.float64(),
        cross_rack_rate_share=pa.float64(),
        cross_rack_in_sync_share=pa.float64(),
        cross_leader_share=pa.float64(),
        racks_left_out=pa.int32(),
        moves=pa.int32(),
        newly_owned=pa.int32(),
        unowned=pa.int32(),
        drain_seconds=pa.float64(),
        findings=_TEXTS,
        moved=pa.list_(MOVE),
        proof=pa.string(),
        cross_rack_bytes_per_second=pa.float64(),
        cross_rack_cost_per_month=pa.float64(),
        currency=pa.string(),
    ),
}
"""What `propose_candidates` writes: one row per group and strategy. Infinity in drain_seconds means never."""

VALIDATION = _schema(
    stage=pa.string(),
    group_id=pa.string(),
    expectation=pa.string(),
    severity=pa.string(),
    success=pa.bool_(),
    unexpected_count=pa.int64(),
    checked_count=pa.int64(),
    reason=pa.string(),
)
"""
What the validation steps write. *stage* is `snapshot` or `candidates`; *group_id* is null for a check of the whole
snapshot. A failed row of severity `critical` withholds its group, or rejects the snapshot when it has no group.
"""

STEPS: Mapping[str, Mapping[str, pa.Schema]] = {
    "snapshot": SNAPSHOT,
    "validation": {"validation": VALIDATION},
    "candidate_validation": {"candidate_validation": VALIDATION},
    "metrics": METRICS,
    "candidates": CANDIDATES,
}
"""Which tables each writing step leaves in the lake, under one manifest per step."""


_ADDED = {
    *("assigned_tasks", "task_offsets", "task_end_offsets"),
    *("follower_fetching", "cleanup_policy", "retention_ms", "log_bytes"),
    *("cross_rack_bytes_per_second", "cross_rack_cost_per_month", "currency"),
    *("bytes_per_record", "bytes_per_record_basis"),
}
"""Columns that files of this schema version may lack, since the first such files had none: nothing is known there."""


def shaped(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """
    A table read from a file, with exactly the columns of its dataset.

    Raises:
        pa.ArrowKeyError: It lacks a column that it must have.
        pa.ArrowException: A column is of another type.
    """
    for field in schema:
        if field.name in _ADDED and field.name not in table.schema.names:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    missing = [name for name in schema.names if name not in table.schema.names]
    if missing:
        raise pa.ArrowKeyError(f"column {missing[0]} is missing")
    return table.select(schema.names).cast(schema)


def rows_to_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as dicts into a table of exactly this schema; a missing key is null."""
    return pa.Table.from_pylist(list(rows), schema=schema)
