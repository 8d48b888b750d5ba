"""How a step of the pipeline ended."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime

from ..model.columns import column


class Outcome(enum.StrEnum):
    """How a run of a step ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRun:
    """A run of a step of the pipeline; a failed one with its error."""

    step_run_id: int | None = field(
        default=None, metadata=column("Number of the run.", generated=True)
    )
    cluster: str | None = field(
        default=None,
        metadata=column(
            "Configured name of the cluster; null for a step that concerns all.", none=True
        ),
    )
    snapshot_id: str | None = field(
        default=None,
        metadata=column(
            "The snapshot, also one that has no row yet; null for a step that makes one or needs none.",
            head="Snapshot",
            none=True,
        ),
    )
    step: str = field(metadata=column("Name of the step."))
    started_at: datetime = field(metadata=column("When it began."))
    finished_at: datetime = field(metadata=column("When it ended."))
    outcome: Outcome = field(
        metadata=column("How it ended: ok, failed, or skipped as the run before was still at it.")
    )
    error: str | None = field(
        default=None,
        metadata=column("Why it failed or was skipped, in one line; null when it was not."),
    )
    link: str | None = field(
        default=None,
        metadata=column(
            "Address of the task in Airflow, one for all tries of a run; null elsewhere."
        ),
    )
