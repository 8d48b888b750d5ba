"""The lake's tables: which record each holds, and which step writes which."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..model.columns import columns_of
from ..model.tables import Kind, Schema, Table, nulls
from ..records import (
    BrokerRow,
    CandidateRow,
    CommitRow,
    GroupMetrics,
    GroupRow,
    MemberMetrics,
    MemberRow,
    PartitionMetricsRow,
    PartitionRow,
    RebalanceRow,
    ValidationRow,
    kind_of,
    schema_of,
)

SCHEMA_VERSION = 1
"""Written into every manifest; a reader refuses a version it does not know."""

RECORDS: Mapping[str, Mapping[str, type]] = {
    "snapshot": {
        "brokers": BrokerRow,
        "groups": GroupRow,
        "members": MemberRow,
        "partitions": PartitionRow,
        "commits": CommitRow,
    },
    "validation": {"validation": ValidationRow},
    "metrics_validation": {"metrics_validation": ValidationRow},
    "candidate_validation": {"candidate_validation": ValidationRow},
    "metrics": {
        "group_metrics": GroupMetrics,
        "member_metrics": MemberMetrics,
        "partition_metrics": PartitionMetricsRow,
        "rebalances": RebalanceRow,
    },
    "candidates": {"candidates": CandidateRow},
}
"""What a row is of each table that a writing step leaves in the lake, under one manifest per step."""

STEPS: Mapping[str, Mapping[str, Schema]] = {
    step: {name: schema_of(record) for name, record in tables.items()}
    for step, tables in RECORDS.items()
}
"""The schemas of the same."""

SNAPSHOT = STEPS["snapshot"]
"""What `take_snapshot` writes. A null offset is unknown; a commit row without offset is a group without a commit."""

METRICS = STEPS["metrics"]
"""What `compute_metrics` writes."""

CANDIDATES = STEPS["candidates"]
"""What `propose_candidates` writes: one row per group and strategy. Infinity in drain_seconds means never."""

VALIDATION = STEPS["validation"]["validation"]
"""
What the validation steps write; *group_id* is null for a check of the whole snapshot. A failed row of severity
`critical` withholds its group, or rejects the snapshot when it has no group.
"""

_MAY_LACK: frozenset[tuple[str, Kind]] = frozenset(
    (spec.name, kind_of(spec))
    for tables in RECORDS.values()
    for record in tables.values()
    for spec in columns_of(record)
    if spec.default is None
)
"""Columns, with their types, whose default is None: files from before they were declared lack them."""


def with_nulls(table: Table, schema: Schema) -> Table:
    """A table of some columns of a dataset, with all of them; those that are missing are unknown."""
    return _filled(table, schema, schema.items())


def shaped(table: Table, schema: Schema) -> Table:
    """
    A table read from a file, with exactly the columns of its dataset.

    Raises:
        KindError: It lacks a column that it must have, or one is of another kind; the message names it.
    """
    return _filled(table, schema, _MAY_LACK)


def _filled(table: Table, schema: Schema, may_lack: Collection[tuple[str, Kind]]) -> Table:
    lacking = {
        name: nulls(len(table), kind)
        for name, kind in schema.items()
        if name not in table.columns and (name, kind) in may_lack
    }
    return Table({**table.columns, **lacking}, len(table)).cast(schema)


def picked(
    table: Table,
    groups: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Table:
    """
    What `Lake.read` is asked for, of a table in memory: the rows of some groups and topics, and some columns.

    Raises:
        KeyError: It has no such column.
    """
    for name, values in (("group_id", groups), ("topic", topics)):
        if values is not None:
            table = table.filter(table[name].is_in(values))
    return table if columns is None else table.select(columns)
