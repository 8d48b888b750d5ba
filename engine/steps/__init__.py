"""
The pipeline, one function per step; ports come in as arguments.

Only the snapshot id travels between steps. Each reads by that id, writes its own dataset to the lake, then merges it
into the history in one transaction that replaces what an earlier try left. `take_snapshot` cannot be repeated;
everything after it can.
"""

from engine.steps.advise import advise
from engine.steps.alert import alert, watch
from engine.steps.measure import compute_metrics, measure_group, record_metrics
from engine.steps.propose import propose_candidates, propose_group, record_candidates
from engine.steps.reading import GroupWithPast, groups_with_past
from engine.steps.scheduled import late_for_advice, repeats, take_scheduled_snapshot
from engine.steps.snapshot import take_snapshot
from engine.steps.upkeep import upkeep
from engine.steps.validation import distrusted, record_validation, withheld_groups

__all__ = [
    "GroupWithPast",
    "advise",
    "alert",
    "compute_metrics",
    "distrusted",
    "groups_with_past",
    "late_for_advice",
    "measure_group",
    "propose_candidates",
    "propose_group",
    "record_candidates",
    "record_metrics",
    "record_validation",
    "repeats",
    "take_scheduled_snapshot",
    "take_snapshot",
    "upkeep",
    "watch",
    "withheld_groups",
]
