"""Rows of the validation steps: one per expectation, and one per group that fails it."""

from __future__ import annotations

from ..model.columns import Unit, column, record
from .keys import OfSnapshot

STAGES = ("snapshot", "metrics", "candidates")
SEVERITIES = ("critical", "warning", "info")


@record
class ValidationRow(OfSnapshot):
    """One row per expectation of a snapshot and its results. A failed critical row skips its group."""

    validation_id: int | None = column("Number of the row.", default=None, generated=True)
    stage: str = column(
        "Validated data: snapshot, metrics or candidates.",
        one_of=STAGES,
    )
    group_id: str | None = column(
        "Checked group; null for the whole snapshot.", head="Group", none=True
    )
    expectation: str = column("Expectation.")
    severity: str = column(
        "Severity of a failure: critical skips the group (without a group, rejects the snapshot), warning or info.",
        one_of=SEVERITIES,
    )
    success: bool = column("True if the expectation was met.")
    unexpected_count: int | None = column(
        "Number of rows that failed it.", unit=Unit.ROWS, at_least=0
    )
    checked_count: int | None = column("Number of checked rows.", unit=Unit.ROWS, at_least=0)
    reason: str | None = column("Description of the failure.", head="Why")

    @property
    def withholds(self) -> bool:
        """Whether the failure skips its group, or rejects the whole snapshot."""
        return not self.success and self.severity == "critical"
