"""Silences in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ...records import SilenceKind, SilenceRow
from .tables import Memory


class MemorySilences(Memory):
    """The port `Silences`."""

    def silences(self, now: datetime) -> list[SilenceRow]:
        return [
            each
            for each in self.tables.silences
            if each.end_notified_at is None or each.over_at is None or each.over_at > now
        ]

    def add_silence(self, silence: SilenceRow) -> int:
        """Keep it; a window takes the place of itself."""
        rows = self.tables.silences
        key = (silence.cluster, silence.groups, silence.starts_at)
        for place, each in enumerate(rows):
            same = (each.cluster, each.groups, each.starts_at) == key
            if same and each.kind == silence.kind == SilenceKind.MAINTENANCE and not each.ended_at:
                rows[place] = replace(
                    each,
                    ends_at=silence.ends_at,
                    reason=silence.reason,
                    end_notified_at=None,
                )
                return each.silence_id or 0
        rows.append(replace(silence, silence_id=len(rows) + 1, created_at=self._clock()))
        return len(rows)

    def end_silence(self, silence_id: int, now: datetime) -> SilenceRow | None:
        for each in self.tables.silences:
            if each.silence_id == silence_id and (each.over_at is None or each.over_at > now):
                return self._renew(silence_id, ended_at=now)
        return None

    def note_silence(
        self, silence_id: int, channels: Sequence[str], end_notified_at: datetime | None
    ) -> None:
        self._renew(silence_id, channels=tuple(channels), end_notified_at=end_notified_at)

    def newest_groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for cluster in sorted(self.tables.clusters):
            own = [s.snapshot_id for s in self.tables.of_cluster(cluster)]
            measured = [one for one in own if one in self.tables.metrics]
            for newest in measured[-1:]:
                table = self.tables.metrics[newest]["group_metrics"]
                groups[cluster] = sorted(table["group_id"].to_pylist())
        return {cluster: names for cluster, names in groups.items() if names}

    def _renew(self, silence_id: int, **news: Any) -> SilenceRow:
        rows = self.tables.silences
        (place,) = (n for n, each in enumerate(rows) if each.silence_id == silence_id)
        rows[place] = replace(rows[place], **news)
        return rows[place]
