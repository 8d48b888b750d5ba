"""The lake's tables: which record each holds, and which step writes which."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ..model.columns import columns_of
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
    ValidationRow,
    arrow_schema,
    arrow_type,
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
    },
    "candidates": {"candidates": CandidateRow},
}
"""What a row is of each table that a writing step leaves in the lake, under one manifest per step."""

STEPS: Mapping[str, Mapping[str, pa.Schema]] = {
    step: {name: arrow_schema(record) for name, record in tables.items()}
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

_MAY_LACK = frozenset(
    (spec.name, arrow_type(spec))
    for tables in RECORDS.values()
    for record in tables.values()
    for spec in columns_of(record)
    if spec.default is None
)
"""Columns, with their types, whose default is None: files from before they were declared lack them."""


def with_nulls(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table of some columns of a dataset, with all of them; those that are missing are null."""
    columns = {
        field.name: table[field.name]
        if field.name in table.schema.names
        else pa.nulls(len(table), field.type)
        for field in schema
    }
    return pa.table(columns, schema=schema)


def shaped(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """
    A table read from a file, with exactly the columns of its dataset.

    Raises:
        pa.ArrowKeyError: It lacks a column that it must have.
        pa.ArrowException: A column is of another type.
    """
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        may_lack = (field.name, kind) in _MAY_LACK
        if may_lack and field.name not in table.schema.names:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    missing = [name for name in schema.names if name not in table.schema.names]
    if missing:
        raise pa.ArrowKeyError(f"column {missing[0]} is missing")
    return table.select(schema.names).cast(schema)


def picked(
    table: pa.Table,
    groups: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    coded: bool = False,
) -> pa.Table:
    """
    What `Lake.read` is asked for, of a table in memory: the rows of some groups and topics, and some columns.

    Raises:
        KeyError: It has no such column.
    """
    for column, values in (("group_id", groups), ("topic", topics)):
        if values is not None:
            among = pa.array(list(values), pa.string())
            table = table.filter(pc.is_in(table[column], value_set=among))
    if columns is not None:
        table = table.select(list(columns))
    return table.cast(coded_schema(table.schema)) if coded else table


def coded_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns, texts as dictionaries."""
    text = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [field.with_type(text) if pa.types.is_string(field.type) else field for field in schema]
    )
