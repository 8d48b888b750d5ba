"""The tasks of a run, in the order of the DAG `advise_assignments`, and what their rows are."""

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
        rows_of: The steps of the lake whose rows are counted: those it checks, or those it writes.
    """

    name: str
    rows_of: Sequence[str] = ()

    def rows(self, lake: Path, snapshot_id: str) -> int:
        """How many rows it was about, by the manifests in the lake's folder, whichever version wrote them."""
        manifests = [
            json.loads(path.read_text(encoding="utf-8"))
            for name in self.rows_of
            for path in (lake / "_manifests" / name).rglob(f"{snapshot_id}.json")
        ]
        return sum(sum(manifest["rows"].values()) for manifest in manifests)


STEPS: Sequence[Step] = (
    Step(name="validate_snapshot", rows_of=("snapshot",)),
    Step(name="measure_and_propose", rows_of=("metrics", "candidates")),
    Step(name="validate_candidates", rows_of=("metrics", "candidates")),
    Step(name="advise", rows_of=("candidates",)),
    Step(name="alert"),
)
"""What a run does after its snapshot. A new step is a line here."""
