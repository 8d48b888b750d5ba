"""
What becomes of a group: its backlog over a horizon, under the assignment it has and under others.

`futures` (which of its past intervals a future is made of), `backlog` (what that does to each member: low, expected
and high), `doubt` (whether members can do what they would get is known), `comparison` (what a group has to do and can,
and all its assignments side by side).
"""

from .backlog import Load, Outlooks, outlooks
from .comparison import SOON_SECONDS, UNCERTAIN, capacity_of, forecasts, load_of
from .doubt import doubtful
from .futures import HORIZON_SECONDS, PATHS, STEPS, Futures, futures, step_after

__all__ = [
    "HORIZON_SECONDS",
    "PATHS",
    "SOON_SECONDS",
    "STEPS",
    "UNCERTAIN",
    "Futures",
    "Load",
    "Outlooks",
    "capacity_of",
    "doubtful",
    "forecasts",
    "futures",
    "load_of",
    "outlooks",
    "step_after",
]
