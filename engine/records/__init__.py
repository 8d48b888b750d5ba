"""
One frozen record per kind of row that is stored or shown; each column is declared once, as a field.

A field declares its type, `| None` if the value may be unknown, and `column(...)` with a one-line comment, the range,
and the unit if the name doesn't say it (`model.columns`). Schemas, rows, JSON, range checks and table headings are
derived from that (`derivation`), and so are the tables of the database (`tables`, not imported here because importing
SQLAlchemy is slow).

`cluster_rows` (the five tables of a snapshot), `metrics`, `candidate`, `advice`, `lifecycle` (state of advice),
`ledger`, `validation`, `incident`, `silence`, `alert`, `snapshot` (in the history database), `step_run`, `held_lock`,
`installation`, `rollup` (hours and days of a group), `candidate_rollup` (hours and days of candidates), `answers`
(columns of views and named queries, from the headers of their files), `printed_rows` (rows that commands print without
storing them).
"""

from collections.abc import Mapping

from .advice import AdviceColumns, AdviceRow, CheckRow, EventRow, MoveRow, RegretRow, StoredAdvice
from .alert import AlertRow, AlertState
from .answers import Taken, columns_of_query, columns_of_view
from .candidate import CandidateRow
from .candidate_rollup import CandidateDay, CandidateHour, CandidateSample
from .cluster_rows import BrokerRow, CommitRow, GroupRow, MemberRow, PartitionRow
from .derivation import (
    blank,
    columns_named,
    fields_of,
    kind_of,
    record_of,
    records_of,
    row_of,
    schema_of,
    table_of,
    table_of_columns,
    to_json,
)
from .held_lock import HeldLock
from .incident import Bout, CauseSpan, CourseRow, IncidentCourse, IncidentRow, Readers, WatchRow
from .installation import Installation
from .keys import OfGroup, OfSnapshot, keys_of
from .ledger import AdviceDigest, LedgerRow
from .lifecycle import AdviceCheck, AdviceEvent, Course, Regret
from .metrics import (
    GroupMetrics,
    MemberMetrics,
    MembershipChange,
    PartitionBlock,
    PartitionMetrics,
    PartitionMetricsRow,
    PartitionWorst,
    StrategyMoves,
)
from .printed_rows import (
    PlacementRow,
    ReadinessRow,
    RecordedSnapshot,
    TaskWhatIfRow,
    TradeoffRow,
    WhatIfRow,
)
from .rebalance import RebalanceRow, RemedyCost
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
    "rebalance": RebalanceRow,
    "partition_block": PartitionBlock,
    "partition_worst": PartitionWorst,
    "candidate": CandidateRow,
    "candidate_sample": CandidateSample,
    "candidate_hour": CandidateHour,
    "candidate_day": CandidateDay,
    "advice": StoredAdvice,
    "advice_move": MoveRow,
    "advice_event": EventRow,
    "advice_check": CheckRow,
    "advice_regret": RegretRow,
    "ledger": LedgerRow,
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
    "installation": Installation,
}
"""The record of each table of the database, each after those that it refers to."""

__all__ = [
    "TABLES",
    "AdviceCheck",
    "AdviceColumns",
    "AdviceDigest",
    "AdviceEvent",
    "AdviceRow",
    "AlertRow",
    "AlertState",
    "Bout",
    "BrokerRow",
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
    "Installation",
    "LedgerRow",
    "MemberMetrics",
    "MemberRow",
    "MemberSpan",
    "MembershipChange",
    "MoveRow",
    "OfGroup",
    "OfSnapshot",
    "Outcome",
    "PartitionBlock",
    "PartitionMetrics",
    "PartitionMetricsRow",
    "PartitionRow",
    "PartitionWorst",
    "PlacementRow",
    "Readers",
    "ReadinessRow",
    "RebalanceRow",
    "RecordedSnapshot",
    "Regret",
    "RegretRow",
    "RemedyCost",
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
    "blank",
    "columns_named",
    "columns_of_query",
    "columns_of_view",
    "fields_of",
    "keys_of",
    "kind_of",
    "record_of",
    "records_of",
    "row_of",
    "schema_of",
    "table_of",
    "table_of_columns",
    "to_json",
]
