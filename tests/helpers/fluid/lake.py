"""All situations in one lake, simulated once per process."""

from __future__ import annotations

from functools import cache

from evenkeel.engine.adapters.replay import Recording
from tests.helpers.fluid.run import simulate
from tests.helpers.fluid.situations import SITUATIONS
from tests.helpers.fluid.tables import snapshots
from tests.helpers.lake_snapshots import write_taken


@cache
def situations_lake() -> tuple[Recording, tuple[str, ...]]:
    """All situations side by side, which takes no longer than one, and the ids of the snapshots, oldest first."""
    recording = Recording()
    history = simulate([each.group for each in SITUATIONS.values()])
    return recording, tuple(write_taken(recording, snapshots(history)))
