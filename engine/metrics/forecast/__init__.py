"""
What becomes of a group: its backlog over a horizon, under the assignment it has and under others.

`futures` (which of its past intervals a future is made of), `load` (what groups have to do and can, and who gets which
partition), `queues` (how the backlog of each member grows and falls), `backlog` (what comes of that: low, expected and
high), `correction` (what came of earlier forecasts), `doubt` (whether members can do what they would get is known),
`comparison` (all assignments of a group side by side). All but `comparison.load_of` take many groups at once.
"""

from .backlog import Outlooks, outlooks
from .comparison import UNCERTAIN, capacity_of, delayed_offsets, forecasts, lags, load_of
from .correction import NO_CORRECTION, course_of, with_forecast, within
from .doubt import doubtful
from .futures import (
    AHEAD,
    HORIZON_SECONDS,
    PATHS,
    SOON_SECONDS,
    STEPS,
    Futures,
    futures,
    step_after,
)
from .load import AssignmentBatch, ForecastInput, Load

__all__ = [
    "AHEAD",
    "HORIZON_SECONDS",
    "NO_CORRECTION",
    "PATHS",
    "SOON_SECONDS",
    "STEPS",
    "UNCERTAIN",
    "AssignmentBatch",
    "ForecastInput",
    "Futures",
    "Load",
    "Outlooks",
    "capacity_of",
    "course_of",
    "delayed_offsets",
    "doubtful",
    "forecasts",
    "futures",
    "lags",
    "load_of",
    "outlooks",
    "step_after",
    "with_forecast",
    "within",
]
