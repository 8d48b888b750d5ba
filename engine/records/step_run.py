"""Runs of steps of the pipeline."""

from __future__ import annotations

import enum
from datetime import datetime

from ..model.columns import column, record


class Outcome(enum.StrEnum):
    """Outcome of a step run."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@record
class StepRun:
    """One row per run of a step of the pipeline."""

    step_run_id: int | None = column("Number of the run.", default=None, generated=True)
    cluster: str | None = column(
        "Configured name of the cluster; null for a step of all clusters.",
        default=None,
        none=True,
    )
    snapshot_id: str | None = column(
        "Id of the snapshot, which may have no row; null for a step that takes one or needs none.",
        default=None,
        head="Snapshot",
        none=True,
    )
    step: str = column("Name of the step.")
    started_at: datetime = column("Start.")
    finished_at: datetime = column("End.")
    outcome: Outcome = column(
        "Outcome: ok, failed, or skipped because the previous run was still active."
    )
    error: str | None = column(
        "Reason of a failure or skip in one line; null if the step succeeded.", default=None
    )
    link: str | None = column(
        "URL of the task in Airflow, the same for all tries; null outside of Airflow.", default=None
    )
