"""
One frozen record per kind of row that is stored or shown; each column is declared once, as a field.

A field says its type, `| None` whether it may be unknown, and `column(...)` what it means, its unit, range and one-line
comment (`columns`). Schemas, rows, JSON, range checks and heads of tables follow from that (`deriving`). The database's
schema is written by hand in `sql/`, and a test holds it against the records.

`reading` (the five tables of a snapshot), `metrics`, `candidate`, `advice`, `validation`, `incident`, `alert`,
`step_run`.
"""

from evenkeel.engine.records.advice import AdviceRow, MoveRow
from evenkeel.engine.records.alert import AlertRow, AlertState
from evenkeel.engine.records.candidate import CandidateRow
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
from evenkeel.engine.records.metrics import GroupMetrics, MemberMetrics, PartitionMetrics
from evenkeel.engine.records.reading import BrokerRow, CommitRow, GroupRow, MemberRow, PartitionRow
from evenkeel.engine.records.step_run import Outcome, StepRun
from evenkeel.engine.records.validation import ValidationRow

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
