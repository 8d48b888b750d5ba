"""Situations in one lake, simulated once per process."""

from __future__ import annotations

from functools import cache

from evenkeel.engine.adapters.recording import Recording
from tests.helpers.fluid.run import simulate
from tests.helpers.fluid.situations import SITUATIONS
from tests.helpers.fluid.tables import snapshots
from tests.helpers.lake_snapshots import write_taken


@cache
def situations_lake(
    names: tuple[str, ...] = tuple(SITUATIONS), count: int = 120
) -> tuple[Recording, tuple[str, ...]]:
    """Situations side by side, unless told otherwise all, and the ids of their snapshots, oldest first."""
    recording = Recording()
    history = simulate([SITUATIONS[name].group for name in names], count)
    return recording, tuple(write_taken(recording, snapshots(history)))
