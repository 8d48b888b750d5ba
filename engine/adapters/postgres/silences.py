"""Of which groups less is said for a while: port `Silences`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, text, update
from sqlalchemy.dialects.postgresql import insert

from ...records import SilenceRow, record_of, row_of
from ...records.tables import SILENCE
from .database import Database
from .patterns import as_regex


class SilenceTables(Database):
    """The port `Silences`. A pattern is stored as a regular expression, too, which SQL can read."""

    def silences(self, now: datetime) -> list[SilenceRow]:
        return [record_of(SilenceRow, row) for row in self._execute("silences", now=now)]

    def add_silence(self, silence: SilenceRow) -> int:
        given = row_of(silence)
        names = ("kind", "cluster", "groups", "starts_at", "ends_at", "reason", "who")
        values = {name: given[name] for name in names} | {
            "cluster_regex": as_regex(silence.cluster),
            "groups_regex": as_regex(silence.groups),
        }
        new = insert(SILENCE)
        clause = new.on_conflict_do_update(
            index_elements=("cluster", "groups", "starts_at"),
            index_where=text("kind = 'maintenance' AND ended_at IS NULL"),
            set_={
                "ends_at": new.excluded.ends_at,
                "reason": new.excluded.reason,
                "end_told_at": None,
            },
        )
        (row,) = self._write(clause.returning(SILENCE.c.silence_id), values)
        number: int = row["silence_id"]
        return number

    def end_silence(self, silence_id: int, now: datetime) -> SilenceRow | None:
        until = func.coalesce(func.least(SILENCE.c.ends_at, SILENCE.c.ended_at), text("'infinity'"))
        held = update(SILENCE).where(SILENCE.c.silence_id == silence_id, until > now)
        rows = self._write(held.values(ended_at=now).returning(SILENCE))
        return record_of(SilenceRow, rows[0]) if rows else None

    def note_silence(
        self, silence_id: int, channels: Sequence[str], end_told_at: datetime | None
    ) -> None:
        one = update(SILENCE).where(SILENCE.c.silence_id == silence_id)
        self._write(one, {"channels": list(channels), "end_told_at": end_told_at})

    def newest_groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for row in self._execute("newest_groups"):
            groups.setdefault(row["cluster"], []).append(row["group_id"])
        return groups
