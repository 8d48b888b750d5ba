"""
The pipeline, one function per step; ports come in as arguments.

Only the snapshot id travels between steps. Each reads by that id, writes its own dataset to the lake, then merges it
into the history in one transaction that replaces what an earlier try left. `take_snapshot` cannot be repeated;
everything after it can.
"""

from ..snapshots.groups_with_past import groups_with_past, lookback_of
from ..snapshots.validation import record_validation, skipped_groups
from .advise import advise
from .alert import alert, watch
from .backfill import backfill
from .compute_steps import Compute, compute, in_this_process, size_of
from .maintain import maintain
from .measure import compute_metrics, measure_chunk, record_metrics
from .next_snapshot import (
    Turn,
    is_made,
    made_by,
    measured_now,
    on_the_way,
    take_turn,
    unmeasured,
    unvalidated,
)
from .propose import propose_candidates, propose_chunk, record_candidates
from .snapshot import late_for_advice, repeats, take_scheduled_snapshot, take_snapshot
from .watch_groups import watch_groups

__all__ = [
    "Compute",
    "Turn",
    "advise",
    "alert",
    "backfill",
    "compute",
    "compute_metrics",
    "groups_with_past",
    "in_this_process",
    "is_made",
    "late_for_advice",
    "lookback_of",
    "made_by",
    "maintain",
    "measure_chunk",
    "measured_now",
    "on_the_way",
    "propose_candidates",
    "propose_chunk",
    "record_candidates",
    "record_metrics",
    "record_validation",
    "repeats",
    "size_of",
    "skipped_groups",
    "take_scheduled_snapshot",
    "take_snapshot",
    "take_turn",
    "unmeasured",
    "unvalidated",
    "watch",
    "watch_groups",
]
