"""
The tables of the database, derived from the records; `evenkeel admin migrate` creates them.

A column has the name, type, comment and default that its field declares, and is NOT NULL unless the field may be None.
The docstring of a record is the comment of its table. This module adds keys, references, checks, indices and the
partitioning of `group_sample` by day.

Columns have the order of the record, after the first column of the key; columns that a migration adds come last. Names
are not qualified by a schema, so tables are created and found in the schemas of `search_path`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from ..model.assignments import AdviceState, Verdict
from ..model.columns import REQUIRED, ColumnSpec, columns_of
from . import TABLES
from .alert import AlertState
from .silence import SilenceKind
from .step_run import Outcome
from .validation import STAGES

METADATA = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(referred_table_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)
"""Every table of the database."""

_JSON = JSONB(none_as_null=True)

_TYPES: Mapping[Any, TypeEngine[Any]] = {
    str: Text(),
    int: BigInteger(),
    float: Double(),
    bool: Boolean(),
    datetime: DateTime(timezone=True),
    Mapping: _JSON,
}

_SMALL: Mapping[Any, TypeEngine[Any]] = {
    (int, 16): SmallInteger(),
    (int, 32): Integer(),
    (float, 32): REAL(),
}
"""Types of numbers of fewer than 64 bits, by kind and bits."""


def type_of(spec: ColumnSpec) -> TypeEngine[Any]:
    """The type of a column in Postgres."""
    if spec.kind is tuple:
        listed = _SMALL.get((spec.item, spec.bits)) or _TYPES.get(spec.item)
        return ARRAY(listed) if listed else _JSON
    if (spec.kind, spec.bits) in _SMALL:
        return _SMALL[spec.kind, spec.bits]
    if is_dataclass(spec.kind):
        return _JSON
    return _TYPES[str if issubclass(spec.kind, enum.Enum) else spec.kind]


def _columns(record: Any, first: str) -> list[Column[Any]]:
    """The columns of a table, the first one of its key first; lists with a table of their own are left out."""
    stored = {spec.name: _column(spec) for spec in columns_of(record) if spec.meaning.table is None}
    return [stored[name] for name in dict.fromkeys((first, *stored))]


def _column(spec: ColumnSpec) -> Column[Any]:
    number = spec.meaning.generated and spec.kind is int
    return Column(
        spec.name,
        type_of(spec),
        *([Identity(always=True)] if number else []),
        nullable=spec.nullable and not spec.meaning.generated,
        server_default=None if number else _default(spec),
        comment=spec.meaning.comment,
    )


def _default(spec: ColumnSpec) -> Any:
    """The default of a column in SQL, now() for generated moments; None without a default."""
    if spec.meaning.generated:
        return text("now()")
    if spec.default is REQUIRED:
        return None
    match spec.default:
        case None:
            return None
        case str() as word:
            return text(f"'{word}'")
        case Mapping():
            return text("'{}'")
        case tuple():
            return text("'{}'" if isinstance(type_of(spec), ARRAY) else "'[]'")
        case value:
            return text(str(value).lower())


def _one_of(column: str, values: Iterable[str]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _refers_to(table: str, key: str, name: str | None = None) -> ForeignKeyConstraint:
    """A foreign key that deletes a row with the row that it refers to."""
    return ForeignKeyConstraint([key], [f"{table}.{key}"], ondelete="CASCADE", name=name)


def _by_time(name: str) -> Index:
    """A small BRIN index on the time of rows, which are inserted in order of time."""
    return Index(
        name,
        "taken_at",
        postgresql_using="brin",
        postgresql_with={"pages_per_range": 16, "autosummarize": "on"},
    )


def _table(name: str, *items: SchemaItem, key: tuple[str, ...], **options: Any) -> Table:
    record = TABLES[name]
    comment = " ".join((record.__doc__ or "").partition("\n\n")[0].split())
    columns = _columns(record, key[0])
    return Table(
        name, METADATA, *columns, PrimaryKeyConstraint(*key), *items, comment=comment, **options
    )


_OF_SNAPSHOT = ("snapshot", "snapshot_id")

CLUSTER = _table("cluster", key=("cluster",))

SNAPSHOT = _table(
    "snapshot",
    _refers_to("cluster", "cluster"),
    Index("snapshot_newest", "cluster", text("started_at DESC"), text("snapshot_id DESC")),
    Index("snapshot_started_at", "started_at"),
    Index(
        "snapshot_not_rolled_up",
        "cluster",
        text("date_bin('01:00:00', started_at, '2000-01-01 00:00:00+00')"),
        postgresql_where=text("measured_at IS NOT NULL AND rolled_up_at IS NULL"),
    ),
    Index("snapshot_thinned", "cluster", "thinned_at"),
    key=("snapshot_id",),
)

VALIDATION = _table(
    "validation",
    _refers_to(*_OF_SNAPSHOT),
    _one_of("stage", STAGES),
    Index("validation_snapshot", "snapshot_id", "stage", "group_id"),
    Index(
        "validation_failed",
        "snapshot_id",
        "group_id",
        postgresql_where=text("NOT success AND severity = 'critical'"),
    ),
    key=("validation_id",),
)

GROUP_METRICS = _table("group_metrics", _refers_to(*_OF_SNAPSHOT), key=("snapshot_id", "group_id"))
# many rows per group: a trigger of `snapshot` deletes them, because a foreign key is checked row by row
MEMBER_METRICS = _table("member_metrics", key=("snapshot_id", "group_id", "member_id"))
REBALANCE = _table(
    "rebalance",
    _refers_to(*_OF_SNAPSHOT),
    Index("rebalance_of_group", "cluster", "group_id", "until"),
    key=("snapshot_id", "group_id"),
)
PARTITION_BLOCK = _table(
    "partition_block",
    key=("snapshot_id", "group_id", "topic", "first_partition"),
    # a row stays in its page, uncompressed
    postgresql_with={"toast_tuple_target": 8160},
)
PARTITION_WORST = _table("partition_worst", key=("snapshot_id", "group_id", "topic", "partition"))
CANDIDATE = _table("candidate", key=("snapshot_id", "group_id", "strategy"))

CANDIDATE_SAMPLE = _table(
    "candidate_sample", _refers_to(*_OF_SNAPSHOT), key=("snapshot_id", "group_id")
)
CANDIDATE_HOUR, CANDIDATE_DAY = (
    _table(name, Index(f"{name}_since", "since"), key=("cluster", "group_id", "since"))
    for name in ("candidate_hour", "candidate_day")
)

ADVICE = _table(
    "advice",
    _refers_to(*_OF_SNAPSHOT),
    UniqueConstraint("snapshot_id", "group_id", name="advice_snapshot_group_key"),
    _one_of("verdict", Verdict),
    _one_of("state", AdviceState),
    Index("advice_of_group", "group_id", "cluster", "snapshot_id"),
    Index("advice_span", "cluster", "group_id", "since", postgresql_where=text("NOT repeats")),
    Index(
        "advice_open",
        "cluster",
        "group_id",
        postgresql_where=text("NOT repeats AND until IS NULL"),
    ),
    key=("advice_id",),
)
ADVICE_MOVE = _table(
    "advice_move", _refers_to("advice", "advice_id"), key=("advice_id", "topic", "partition")
)
ADVICE_EVENT = _table(
    "advice_event",
    _refers_to("advice", "advice_id"),
    _one_of("state", AdviceState),
    Index("advice_event_at", "at"),
    key=("advice_id", "state"),
)
ADVICE_CHECK = _table(
    "advice_check",
    _refers_to("advice", "advice_id"),
    key=("advice_id", "after_seconds", "measure"),
)
ADVICE_REGRET = _table(
    "advice_regret", _refers_to("advice", "advice_id"), key=("advice_id", "since")
)
# it refers to nothing, so that it stays when snapshots are deleted
LEDGER = _table(
    "ledger",
    UniqueConstraint("snapshot_id", name="ledger_snapshot_key"),
    key=("cluster", "number"),
)

INCIDENT = _table(
    "incident",
    UniqueConstraint("key", name="incident_key_key"),
    Index(
        "incident_one_open",
        "cluster",
        "kind",
        unique=True,
        postgresql_where=text("closed_at IS NULL AND group_id IS NULL"),
    ),
    Index(
        "incident_one_open_of_group",
        "cluster",
        "group_id",
        unique=True,
        postgresql_where=text("closed_at IS NULL AND group_id IS NOT NULL"),
    ),
    Index("incident_of_group", "cluster", "group_id", "opened_at"),
    Index("incident_alert", "alert_key", postgresql_where=text("alert_key IS NOT NULL")),
    key=("incident_id",),
)
INCIDENT_WATCH = _table("incident_watch", key=("cluster", "subject"))
INCIDENT_COURSE = _table("incident_course", key=("cluster", "subject", "name"))

ALERT = _table(
    "alert",
    _refers_to(*_OF_SNAPSHOT),
    UniqueConstraint("key", name="alert_key_key"),
    _one_of("state", AlertState),
    Index("alert_pending", "created_at", postgresql_where=text("state = 'pending'")),
    Index("alert_snapshot", "snapshot_id"),
    Index("alert_replaces", "replaces", postgresql_where=text("replaces IS NOT NULL")),
    Index("alert_answers", "answers", postgresql_where=text("answers IS NOT NULL")),
    key=("alert_id",),
)
SILENCE = _table(
    "silence",
    _one_of("kind", SilenceKind),
    CheckConstraint("ends_at > starts_at AND (ends_at IS NOT NULL OR kind = 'ack')", name="end"),
    Index(
        "silence_window",
        "cluster",
        "groups",
        "starts_at",
        unique=True,
        postgresql_where=text("kind = 'maintenance' AND ended_at IS NULL"),
    ),
    Index("silence_not_over", "starts_at", postgresql_where=text("end_notified_at IS NULL")),
    key=("silence_id",),
)

CONSUMER_GROUP = _table(
    "consumer_group",
    _refers_to("cluster", "cluster"),
    UniqueConstraint("cluster", "group_id", name="consumer_group_key"),
    key=("group_number",),
)
GROUP_SAMPLE = _table(
    "group_sample",
    _refers_to("consumer_group", "group_number", "group_sample_group_fkey"),
    _by_time("group_sample_taken_at"),
    Index(
        "group_sample_changes",
        "group_number",
        "taken_at",
        postgresql_where=text("would_have_moved IS NOT NULL"),
    ),
    key=("group_number", "taken_at"),
    postgresql_partition_by="RANGE (taken_at)",
)
MEMBER_SPAN = _table(
    "member_span",
    _refers_to("cluster", "cluster"),
    Index("member_span_since", "cluster", "since"),
    Index("member_span_until", "cluster", "until", postgresql_where=text("until IS NOT NULL")),
    Index(
        "member_span_open",
        "cluster",
        "group_id",
        "member_id",
        unique=True,
        postgresql_where=text("until IS NULL"),
    ),
    key=("cluster", "group_id", "member_id", "since"),
)
GROUP_HOUR = _table(
    "group_hour", Index("group_hour_since", "since"), key=("cluster", "group_id", "since")
)
GROUP_DAY = _table(
    "group_day",
    Index("group_day_since", "since"),
    Index("group_day_week", text("date_bin('7 days', since, '2000-01-03 00:00:00+00')")),
    key=("cluster", "group_id", "since"),
)
DIAGNOSIS_SPAN = _table(
    "diagnosis_span",
    Index(
        "diagnosis_span_open",
        "cluster",
        "group_id",
        unique=True,
        postgresql_where=text("until IS NULL"),
    ),
    Index("diagnosis_span_until", "until"),
    key=("cluster", "group_id", "since"),
)

STEP_RUN = _table(
    "step_run",
    _one_of("outcome", Outcome),
    Index("step_run_started_at", "started_at"),
    Index("step_run_cluster", "cluster", "step", text("started_at DESC")),
    Index("step_run_snapshot", "snapshot_id"),
    key=("step_run_id",),
)

HELD_LOCK = _table("held_lock", key=("name",))

INSTALLATION = _table(
    "installation",
    # there is one at most
    Index("installation_only_one", text("(true)"), unique=True),
    key=("installation_id",),
)
