"""The daily step: what is too old goes from lake and history, and the lake's finished days become few files."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta

from evenkeel.engine.config import Settings
from evenkeel.engine.ports import Lake, SnapshotHistory

SETTLED = timedelta(hours=3)
"""After so long nobody is at the snapshots of a day that is over, and those that metrics look back on are newer."""


def upkeep(
    lake: Lake, history: SnapshotHistory | None, settings: Settings, now: datetime
) -> dict[str, int]:
    """
    Remove what is older than `keep_days`, then compact the lake.

    Interrupted at any point it loses nothing, and the next run goes on from there.

    Args:
        history: None leaves the history as it is.

    Returns:
        How many snapshots left the lake and the history (`lake`, `history`), and what the compaction did (the fields
        of `Compacted`).

    Raises:
        LakeError: The lake cannot be changed, or a day of it not be compacted; all the rest is done.
        HistoryUnreachable: The history cannot be reached; nothing is done.
    """
    before = now - timedelta(days=settings.keep_days)
    removed = 0 if history is None else len(history.expire(before))
    expired = lake.expire(before)
    return {"lake": expired, "history": removed, **asdict(lake.compact(now - SETTLED))}
