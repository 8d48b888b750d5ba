"""The steps of a run, in the order of the DAG `advise_assignments`: how each is started, and what its rows are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TASK = Path(__file__).with_name("task.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    A step.

    Attributes:
        name: Of the task in the DAG.
        spark: Whether the task starts `python -m evenkeel.spark_tasks.<name>`; else it calls `dags.runtime.<name>`.
        rows_of: The steps of the lake whose rows are counted: those it checks, or those it writes.
    """

    name: str
    spark: bool = False
    rows_of: Sequence[str] = ()

    def command(self, python: Path, snapshot_id: str) -> list[str]:
        """What is run, by an interpreter of the checkout that is measured."""
        if self.spark:
            module = f"evenkeel.spark_tasks.{self.name}"
            return [str(python), "-m", module, "--snapshot-id", snapshot_id]
        return [str(python), str(TASK), self.name, snapshot_id]

    def rows(self, lake: Path, snapshot_id: str) -> int:
        """How many rows it was about, by the manifests in the lake's folder, whichever version wrote them."""
        manifests = [
            json.loads(path.read_text(encoding="utf-8"))
            for name in self.rows_of
            for path in (lake / "_manifests" / name).rglob(f"{snapshot_id}.json")
        ]
        return sum(sum(manifest["rows"].values()) for manifest in manifests)


STEPS = (
    Step(name="validate_snapshot", rows_of=("snapshot",)),
    Step(name="compute_metrics", spark=True, rows_of=("metrics",)),
    Step(name="propose_candidates", spark=True, rows_of=("candidates",)),
    Step(name="validate_candidates", rows_of=("metrics", "candidates")),
    Step(name="advise", rows_of=("candidates",)),
    Step(name="alert"),
)
"""What a run does after its snapshot. A step that is started otherwise, or is new, is a line here."""
