"""
Decides whether a group should switch its strategy: scores, forecasts and policy -> `Advice`, always with its reason.

* `feasibility`, `listed_protocols`: whether the group can run a strategy, by what its members list
* `rolling_restarts`, `rollout`: the restarts that lead there; `switch_cost`: what they cost
* `protocol_readiness`: which groups can move to the consumer protocol (KIP-848), and in which order
* `scoring`: scores of every candidate; `decide`: the verdict of one snapshot, from `by_forecast`, `by_racks` and
  `reasons_to_stay`
* `lifecycle`: the verdict over snapshots, by `evidence`; `verification` compares forecasts with actual values,
  `counterfactual` follows assignments that the group does not have, `verdict` says what a switch brought
* `tradeoff`, `next_change`, `past_changes`: questions of their own; `task_tradeoff`, `next_task_change` for Kafka
  Streams; `uneven_subscriptions`: what unequal subscriptions cost
"""

from ..assignors.kafka.protocol_names import SERVER_SIDE
from .decide import decide
from .feasibility import Feasibilities, FeasibilityJudgment, blocked, runs, unfit

__all__ = [
    "SERVER_SIDE",
    "Feasibilities",
    "FeasibilityJudgment",
    "blocked",
    "decide",
    "runs",
    "unfit",
]
