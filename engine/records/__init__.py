"""
One frozen record per kind of row that is stored or shown; each column is declared once, as a field.

A field says its type, `| None` whether it may be unknown, and `column(...)` what it means: a one-line comment, its
range, and its unit unless the name says that (`model.columns`). Schemas, rows, JSON, range checks and heads of tables
follow from that (`derivation`), and so do the tables of the database (`tables`, which is not imported here: SQLAlchemy
takes its time).

`cluster_rows` (the five tables of a snapshot), `metrics`, `candidate`, `advice`, `course` (what is remembered of
advice), `validation`, `incident`, `silence`, `alert`, `snapshot` (as the history knows it), `step_run`, `held_lock`,
`rollup` (hours and days of a group), `candidate_rollup` (those of what strategies would have given it), `answers` (what
the database's views and named queries show, by what their files say), `printed_rows` (what the command line shows and
nobody stores).
"""

from collections.abc import Mapping

from .advice import AdviceColumns, AdviceRow, CheckRow, EventRow, MoveRow, StoredAdvice
from .alert import AlertRow, AlertState
from .answers import Taken, columns_of_query, columns_of_view
from .candidate import CandidateColumns, CandidateRow
from .candidate_rollup import CandidateDay, CandidateHour, CandidateSample
from .cluster_rows import BrokerRow, CommitRow, GroupRow, MemberRow, PartitionRow
from .derivation import (
    arrow_schema,
    arrow_type,
    blank,
    record_of,
    records_of,
    row_of,
    rows_to_table,
    table_of,
    to_json,
)
from .held_lock import HeldLock
from .incident import CauseSpan, CourseRow, IncidentCourse, IncidentRow, Readers, WatchRow
from .keys import OfGroup, OfSnapshot, keys_of
from .lifecycle import AdviceCheck, AdviceEvent, Course
from .metrics import (
    GroupMetrics,
    MemberMetrics,
    MembershipChange,
    PartitionLatest,
    PartitionMetrics,
    PartitionMetricsRow,
    PartitionWorst,
    StrategyMoves,
)
from .printed_rows import (
    PlacementRow,
    RecordedSnapshot,
    TaskWhatIfRow,
    TradeoffRow,
    WhatIfRow,
)
from .rollup import (
    ConsumerGroup,
    DiagnosisSpan,
    GroupDay,
    GroupHour,
    GroupSample,
    MemberSpan,
    Rollup,
)
from .silence import SilenceKind, SilenceRow, StoredSilence
from .snapshot import ClusterRow, SnapshotRow
from .step_run import Outcome, StepRun
from .validation import ValidationRow

TABLES: Mapping[str, type] = {
    "cluster": ClusterRow,
    "snapshot": SnapshotRow,
    "validation": ValidationRow,
    "group_metrics": GroupMetrics,
    "member_metrics": MemberMetrics,
    "partition_latest": PartitionLatest,
    "partition_worst": PartitionWorst,
    "candidate": CandidateColumns,
    "candidate_sample": CandidateSample,
    "candidate_hour": CandidateHour,
    "candidate_day": CandidateDay,
    "advice": StoredAdvice,
    "advice_move": MoveRow,
    "advice_event": EventRow,
    "advice_check": CheckRow,
    "incident": IncidentRow,
    "incident_watch": WatchRow,
    "incident_course": CourseRow,
    "alert": AlertRow,
    "silence": StoredSilence,
    "consumer_group": ConsumerGroup,
    "group_sample": GroupSample,
    "member_span": MemberSpan,
    "group_hour": GroupHour,
    "group_day": GroupDay,
    "diagnosis_span": DiagnosisSpan,
    "step_run": StepRun,
    "held_lock": HeldLock,
}
"""What a row is of each table of the database, each after those that it refers to."""

__all__ = [
    "TABLES",
    "AdviceCheck",
    "AdviceColumns",
    "AdviceEvent",
    "AdviceRow",
    "AlertRow",
    "AlertState",
    "BrokerRow",
    "CandidateColumns",
    "CandidateDay",
    "CandidateHour",
    "CandidateRow",
    "CandidateSample",
    "CauseSpan",
    "CheckRow",
    "ClusterRow",
    "CommitRow",
    "ConsumerGroup",
    "Course",
    "CourseRow",
    "DiagnosisSpan",
    "EventRow",
    "GroupDay",
    "GroupHour",
    "GroupMetrics",
    "GroupRow",
    "GroupSample",
    "HeldLock",
    "IncidentCourse",
    "IncidentRow",
    "MemberMetrics",
    "MemberRow",
    "MemberSpan",
    "MembershipChange",
    "MoveRow",
    "OfGroup",
    "OfSnapshot",
    "Outcome",
    "PartitionLatest",
    "PartitionMetrics",
    "PartitionMetricsRow",
    "PartitionRow",
    "PartitionWorst",
    "PlacementRow",
    "Readers",
    "RecordedSnapshot",
    "Rollup",
    "SilenceKind",
    "SilenceRow",
    "SnapshotRow",
    "StepRun",
    "StoredAdvice",
    "StoredSilence",
    "StrategyMoves",
    "Taken",
    "TaskWhatIfRow",
    "TradeoffRow",
    "ValidationRow",
    "WatchRow",
    "WhatIfRow",
    "arrow_schema",
    "arrow_type",
    "blank",
    "columns_of_query",
    "columns_of_view",
    "keys_of",
    "record_of",
    "records_of",
    "row_of",
    "rows_to_table",
    "table_of",
    "to_json",
]
