"""Metrics and candidates of many runs, computed once for each sequence of readings: faults do not change arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from evenkeel.engine import pipeline
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import SnapshotNotFound
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots.groups_with_past import lookback_ids
from tests.faults.world import World, dated

Tables = Mapping[str, Table]

STEPS: Mapping[str, Callable[[Lake, Settings, str], Tables]] = {
    "metrics": pipeline.compute_metrics,
    "candidates": partial(pipeline.propose_candidates, ask_next_change=False),
}
"""What makes the rows of a step."""

_MADE: dict[tuple[object, ...], tuple[timedelta, Tables]] = {}


@dataclass(frozen=True)
class Remembered:
    """
    Makes the rows of a step.

    Attributes:
        world: Knows what each snapshot read; of one that a process of its own read it does not.
        trusted: Whether the lake holds what was written into it; else all is read, and computed anew.
    """

    world: World
    trusted: bool

    def __call__(self, step: str, lake: Lake, settings: Settings, snapshot_id: str) -> Tables:
        """The rows, computed or taken from where the same was computed before."""
        make = partial(STEPS[step], lake, settings, snapshot_id)
        readings = self.world.readings
        ids = lookback_ids(lake, settings, snapshot_id)
        if not self.trusted or not readings.keys() >= {*ids}:
            return make()
        late = readings[snapshot_id].late
        key = (
            step,
            *(
                (each.number, each.faults, each.late - late, _has_metrics(lake, one))
                for one, each in ((one, readings[one]) for one in ids)
            ),
        )
        if key not in _MADE:
            _MADE[key] = late, make()
        when, made = _MADE[key]
        return {name: dated(table, snapshot_id, late - when) for name, table in made.items()}


def _has_metrics(lake: Lake, snapshot_id: str) -> bool:
    try:
        lake.manifest("metrics", snapshot_id)
    except SnapshotNotFound:
        return False
    return True
