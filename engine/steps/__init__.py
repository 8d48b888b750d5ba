"""
The pipeline, one function per step; ports come in as arguments.

Only the snapshot id travels between steps. Each reads by that id, writes its own dataset to the lake, then merges it
into the history in one transaction that replaces what an earlier try left. `take_snapshot` cannot be repeated;
everything after it can.
"""

from evenkeel.engine.steps.advise import advise
from evenkeel.engine.steps.alert import alert, watch
from evenkeel.engine.steps.backfill import backfill
from evenkeel.engine.steps.catching_up import (
    Turn,
    measured_now,
    on_the_way,
    take_turn,
    unmeasured,
    unvalidated,
)
from evenkeel.engine.steps.measure import compute_metrics, measure_chunk, record_metrics
from evenkeel.engine.steps.propose import (
    propose_candidates,
    propose_chunk,
    propose_group,
    record_candidates,
)
from evenkeel.engine.steps.reading import GroupWithPast, groups_with_past, lookback_of
from evenkeel.engine.steps.resume import is_made, made_by
from evenkeel.engine.steps.scheduled import late_for_advice, repeats, take_scheduled_snapshot
from evenkeel.engine.steps.snapshot import take_snapshot
from evenkeel.engine.steps.upkeep import upkeep
from evenkeel.engine.steps.validation import distrusted, record_validation, withheld_groups
from evenkeel.engine.steps.watch_groups import watch_groups

__all__ = [
    "GroupWithPast",
    "Turn",
    "advise",
    "alert",
    "backfill",
    "compute_metrics",
    "distrusted",
    "groups_with_past",
    "is_made",
    "late_for_advice",
    "lookback_of",
    "made_by",
    "measure_chunk",
    "measured_now",
    "on_the_way",
    "propose_candidates",
    "propose_chunk",
    "propose_group",
    "record_candidates",
    "record_metrics",
    "record_validation",
    "repeats",
    "take_scheduled_snapshot",
    "take_snapshot",
    "take_turn",
    "unmeasured",
    "unvalidated",
    "upkeep",
    "watch",
    "watch_groups",
    "withheld_groups",
]
