"""The daily step."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.steps import upkeep
from tests.helpers.memory import MemoryHistory
from tests.helpers.snapshots import EVERY, FIRST, make_snapshot, store, topic


def test_what_is_old_goes_and_what_is_over_is_compacted(tmp_path: Path) -> None:
    """From both places; a day is left alone until three hours after its end, when nobody is at it any more."""
    lake, history = FileLake(tmp_path / "lake"), MemoryHistory()
    settings = Settings(keep_days=2)
    per_day = timedelta(days=1) // EVERY
    for number in (0, 3 * per_day, 3 * per_day + 1):
        store(lake, taken := make_snapshot(topics=[topic("t")], number=number))
        history.store_snapshot(lake.manifest("snapshot", taken.snapshot_id), settings.version)
    midnight = (FIRST + timedelta(days=4)).replace(hour=0)

    did = upkeep(lake, history, settings, midnight + timedelta(hours=2))
    assert did == {"lake": 1, "history": 1, "days": 0, "files": 0, "into": 0, "swept": 0}
    did = upkeep(lake, history, settings, midnight + timedelta(hours=3))
    assert did == {"lake": 0, "history": 0, "days": 1, "files": 10, "into": 2, "swept": 0}
    did = upkeep(lake, None, settings, midnight + timedelta(days=9))
    assert (did["lake"], did["history"]) == (2, 0)
    assert not list(tmp_path.rglob("*.parquet"))
