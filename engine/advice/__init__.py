"""
Scores, forecasts, history and policy -> `Advice`, or "stay", always with its reason.

`feasibility` (could this group run that strategy), `weighing` (does it pay: `by_forecast`, `by_racks`), `staying` (why
not, and what is a remark), `decide` (what pays in one snapshot), `course` (how that goes on from snapshot to snapshot:
`sight` is what one shows, `wins` counts, `advising` says what the group is told, `afterwards` what was promised and
what came).
"""

from ..assignors.kafka.protocol_names import SERVER_SIDE
from .decide import decide
from .feasibility import Feasibilities, FeasibilityJudgement, blocked, runs, unfit

__all__ = [
    "SERVER_SIDE",
    "Feasibilities",
    "FeasibilityJudgement",
    "blocked",
    "decide",
    "runs",
    "unfit",
]
