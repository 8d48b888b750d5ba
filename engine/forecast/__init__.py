"""
What becomes of a group: its backlog over a horizon, under the assignment it has and under others.

`drawn` (which of its past intervals a future is made of), `backlog` (what that does to each member), `outlook` (low,
expected and high, of what people ask for).
"""

from evenkeel.engine.forecast.backlog import Load, Outlooks, outlooks
from evenkeel.engine.forecast.drawn import HORIZON_SECONDS, PATHS, STEPS, Futures, futures

__all__ = [
    "HORIZON_SECONDS",
    "PATHS",
    "STEPS",
    "Futures",
    "Load",
    "Outlooks",
    "futures",
    "outlooks",
]
