"""The daily step: what is older than the configured number of days goes, from the lake and from the history."""

from __future__ import annotations

from datetime import datetime, timedelta

from evenkeel.engine.config import Settings
from evenkeel.engine.ports import Lake, SnapshotHistory


def upkeep(
    lake: Lake, history: SnapshotHistory, settings: Settings, now: datetime
) -> dict[str, int]:
    """
    Remove what is older than `keep_days`.

    Returns:
        How many snapshots left the lake and the history.
    """
    before = now - timedelta(days=settings.keep_days)
    removed = history.expire(before)
    return {"lake": lake.expire(before), "history": len(removed)}
