"""What the validation steps leave: one row per expectation, and per group that it fails for."""

from __future__ import annotations

from ..model.columns import Unit, column, record
from .keys import OfSnapshot

STAGES = ("snapshot", "metrics", "candidates")
SEVERITIES = ("critical", "warning", "info")


@record
class ValidationRow(OfSnapshot):
    """
    What was expected of a snapshot, or of what was made of it, and whether it held. A failed critical row withholds its
    group.
    """

    validation_id: int | None = column(
        "Number of the row, without meaning.", default=None, generated=True
    )
    stage: str = column(
        '"snapshot": what was read; "metrics": what was measured; "candidates": what was proposed.',
        one_of=STAGES,
    )
    group_id: str | None = column(
        "Which group was checked; null for the snapshot as a whole.", head="Group", none=True
    )
    expectation: str = column("What was expected.")
    severity: str = column(
        '"critical" withholds the group, or rejects the snapshot where there is none.',
        one_of=SEVERITIES,
    )
    success: bool = column("Whether it held.")
    unexpected_count: int | None = column(
        "Number of rows that broke it.", unit=Unit.ROWS, at_least=0
    )
    checked_count: int | None = column(
        "Number of rows that were looked at.", unit=Unit.ROWS, at_least=0
    )
    reason: str | None = column("What is wrong, for people.", head="Why")

    @property
    def withholds(self) -> bool:
        """Whether it is a reason not to go on: with its group, or with the whole snapshot."""
        return not self.success and self.severity == "critical"
