"""
One frozen record per kind of row that is stored or shown; each column is declared once, as a field.

A field says its type, `| None` whether it may be unknown, and `column(...)` what it means, its unit, range and one-line
comment (`engine.columns`). Schemas, rows, JSON, range checks and heads of tables follow from that (`deriving`); the
database's schema is written by hand in `sql/`, and a test holds it against the records.

`reading` (the five tables of a snapshot), `metrics`, `candidate`, `advice`, `validation`, `incident`, `alert`,
`step_run`.
"""

from engine.records.advice import AdviceRow, MoveRow
from engine.records.alert import AlertRow, AlertState
from engine.records.candidate import CandidateRow
from engine.records.deriving import (
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
from engine.records.incident import IncidentRow
from engine.records.keys import OfGroup, OfSnapshot, keys_of
from engine.records.metrics import GroupMetrics, MemberMetrics, PartitionMetrics
from engine.records.reading import BrokerRow, CommitRow, GroupRow, MemberRow, PartitionRow
from engine.records.step_run import Outcome, StepRun
from engine.records.validation import ValidationRow

__all__ = [
    "AdviceRow",
    "AlertRow",
    "AlertState",
    "BrokerRow",
    "CandidateRow",
    "CommitRow",
    "GroupMetrics",
    "GroupRow",
    "IncidentRow",
    "MemberMetrics",
    "MemberRow",
    "MoveRow",
    "OfGroup",
    "OfSnapshot",
    "Outcome",
    "PartitionMetrics",
    "PartitionRow",
    "StepRun",
    "ValidationRow",
    "arrow_schema",
    "arrow_type",
    "blank",
    "keys_of",
    "record_of",
    "records_of",
    "row_of",
    "rows_to_table",
    "table_of",
    "to_json",
]
