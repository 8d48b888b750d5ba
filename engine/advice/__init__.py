"""
Scores, forecasts, history and policy -> `Advice`, or "stay", always with its reason.

`feasibility` (could this group run that strategy; `listed_protocols`: by what its members list), `bounce` and `rollout`
(how it gets there), `price` (what that costs), `decide` (what pays in one snapshot: `by_forecast`, `by_racks`;
`reasons_to_stay`), `course` (how that goes on from snapshot to snapshot: `wins` counts and says what the group is told,
`afterwards` what was promised and what came). The judge is `scoring`; `tradeoff`, `next_change` and `past_changes`
answer questions of their own, `task_tradeoff` and `next_task_change` those of applications; `uneven_subscriptions` says
what those cost.
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
