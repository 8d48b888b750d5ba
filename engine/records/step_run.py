"""How a step of the pipeline ended."""

from __future__ import annotations

import enum
from datetime import datetime

from ..model.columns import column, record


class Outcome(enum.StrEnum):
    """How a run of a step ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@record
class StepRun:
    """A run of a step of the pipeline; a failed one with its error."""

    step_run_id: int | None = column("Number of the run.", default=None, generated=True)
    cluster: str | None = column(
        "Configured name of the cluster; null for a step that concerns all.",
        default=None,
        none=True,
    )
    snapshot_id: str | None = column(
        "The snapshot, also one that has no row yet; null for a step that makes one or needs none.",
        default=None,
        head="Snapshot",
        none=True,
    )
    step: str = column("Name of the step.")
    started_at: datetime = column("When it began.")
    finished_at: datetime = column("When it ended.")
    outcome: Outcome = column(
        "How it ended: ok, failed, or skipped as the run before was still at it."
    )
    error: str | None = column(
        "Why it failed or was skipped, in one line; null when it was not.", default=None
    )
    link: str | None = column(
        "Address of the task in Airflow, one for all tries of a run; null elsewhere.", default=None
    )
