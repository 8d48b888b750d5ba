"""
One frozen record per kind of row that is stored or shown; each column is declared once, as a field.

A field says its type, `| None` whether it may be unknown, and `column(...)` what it means, its unit, range and one-line
comment (`columns`). Schemas, rows, JSON, range checks and heads of tables follow from that (`deriving`). The database's
schema is written by hand in `sql/`, and a test holds it against the records.

`reading` (the five tables of a snapshot), `metrics`, `candidate`, `advice`, `course` (what is remembered of advice),
`validation`, `incident`, `alert`,
`snapshot` (as the history knows it), `step_run`, `views` (what the database's views show), `answers` (what its named
queries answer), `shown` (what the command line shows and nobody stores).
"""

from collections.abc import Mapping

from evenkeel.engine.records.advice import AdviceColumns, AdviceRow, CheckRow, EventRow, MoveRow
from evenkeel.engine.records.alert import AlertRow, AlertState
from evenkeel.engine.records.answers import ANSWERS, columns_of_query
from evenkeel.engine.records.candidate import CandidateColumns, CandidateRow
from evenkeel.engine.records.course import AdviceCheck, AdviceEvent, Course
from evenkeel.engine.records.deriving import (
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
from evenkeel.engine.records.incident import IncidentRow
from evenkeel.engine.records.keys import OfGroup, OfSnapshot, keys_of
from evenkeel.engine.records.metrics import (
    GroupMetrics,
    MemberMetrics,
    MembershipChange,
    PartitionMetrics,
    PartitionMetricsRow,
    StrategyMoves,
)
from evenkeel.engine.records.reading import BrokerRow, CommitRow, GroupRow, MemberRow, PartitionRow
from evenkeel.engine.records.shown import FrontierRow, PlacementRow, RecordedSnapshot
from evenkeel.engine.records.snapshot import ClusterRow, SnapshotRow
from evenkeel.engine.records.step_run import Outcome, StepRun
from evenkeel.engine.records.validation import ValidationRow
from evenkeel.engine.records.views import (
    VIEWS,
    AdviceScorecard,
    LatestAdvice,
    LatestLag,
    NewestSnapshot,
    SnapshotHealth,
    StrategyScoreboard,
)

TABLES: Mapping[str, type] = {
    "cluster": ClusterRow,
    "snapshot": SnapshotRow,
    "validation": ValidationRow,
    "group_metrics": GroupMetrics,
    "member_metrics": MemberMetrics,
    "partition_latest": PartitionMetrics,
    "partition_worst": PartitionMetrics,
    "candidate": CandidateColumns,
    "advice": AdviceRow,
    "advice_move": MoveRow,
    "advice_event": EventRow,
    "advice_check": CheckRow,
    "incident": IncidentRow,
    "alert": AlertRow,
    "step_run": StepRun,
}
"""What a row is of each table of the database."""

__all__ = [
    "ANSWERS",
    "TABLES",
    "VIEWS",
    "AdviceCheck",
    "AdviceColumns",
    "AdviceEvent",
    "AdviceRow",
    "AdviceScorecard",
    "AlertRow",
    "AlertState",
    "BrokerRow",
    "CandidateColumns",
    "CandidateRow",
    "CheckRow",
    "ClusterRow",
    "CommitRow",
    "Course",
    "EventRow",
    "FrontierRow",
    "GroupMetrics",
    "GroupRow",
    "IncidentRow",
    "LatestAdvice",
    "LatestLag",
    "MemberMetrics",
    "MemberRow",
    "MembershipChange",
    "MoveRow",
    "NewestSnapshot",
    "OfGroup",
    "OfSnapshot",
    "Outcome",
    "PartitionMetrics",
    "PartitionMetricsRow",
    "PartitionRow",
    "PlacementRow",
    "RecordedSnapshot",
    "SnapshotHealth",
    "SnapshotRow",
    "StepRun",
    "StrategyMoves",
    "StrategyScoreboard",
    "ValidationRow",
    "arrow_schema",
    "arrow_type",
    "blank",
    "columns_of_query",
    "keys_of",
    "record_of",
    "records_of",
    "row_of",
    "rows_to_table",
    "table_of",
    "to_json",
]
