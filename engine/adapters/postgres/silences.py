"""Of which groups less is said for a while: port `Silences`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from evenkeel.engine.adapters.postgres.database import Database
from evenkeel.engine.adapters.postgres.patterns import as_regex
from evenkeel.engine.records import SilenceRow, record_of


class SilenceTables(Database):
    """The port `Silences`. A pattern is stored as a regular expression, too, which SQL can read."""

    def silences(self, now: datetime) -> list[SilenceRow]:
        """The rows that matter yet, by their numbers."""
        return [record_of(SilenceRow, row) for row in self._execute("silences", now=now)]

    def add_silence(self, silence: SilenceRow) -> int:
        """Insert it; of a window that is there, update it."""
        (row,) = self._execute(
            "add_silence",
            kind=silence.kind.value,
            cluster=silence.cluster,
            groups=silence.groups,
            cluster_regex=as_regex(silence.cluster),
            groups_regex=as_regex(silence.groups),
            starts_at=silence.starts_at,
            ends_at=silence.ends_at,
            reason=silence.reason,
            who=silence.who,
        )
        number: int = row["silence_id"]
        return number

    def end_silence(self, silence_id: int, now: datetime) -> SilenceRow | None:
        """Note its end, unless it is over."""
        rows = self._execute("end_silence", silence_id=silence_id, now=now)
        return record_of(SilenceRow, rows[0]) if rows else None

    def note_silence(
        self, silence_id: int, channels: Sequence[str], end_told_at: datetime | None
    ) -> None:
        """Note both."""
        self._execute(
            "note_silence",
            silence_id=silence_id,
            channels=list(channels),
            end_told_at=end_told_at,
        )

    def newest_groups(self) -> dict[str, list[str]]:
        """Those with metrics."""
        groups: dict[str, list[str]] = {}
        for row in self._execute("newest_groups"):
            groups.setdefault(row["cluster"], []).append(row["group_id"])
        return groups
