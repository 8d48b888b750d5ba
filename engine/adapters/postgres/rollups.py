"""Hours and days of every group: port `RollupHistory`."""

from __future__ import annotations

from datetime import datetime

from ...ports import ClusterDay
from .database import Database
from .statements import execute

PACKED_AT_ONCE = 7
"""Days that are packed in a turn: usually one is due, after an upgrade all are."""


class RollupTables(Database):
    """The port `RollupHistory`."""

    def days_to_roll_up(self, before: datetime) -> list[ClusterDay]:
        with self._long_transaction() as connection:
            rows = execute(connection, "days_to_roll_up", before=before)
        return [ClusterDay(**row) for row in rows]

    def roll_up(self, day: ClusterDay, *, kept: datetime, before: datetime) -> int:
        given = {"cluster": day.cluster, "day": day.day, "kept": kept, "before": before}
        with self._long_transaction() as connection:
            return len(execute(connection, "roll_up", **given))

    def pack_samples(self, before: datetime) -> None:
        """A few days in a turn, each on its own, the newest first; one that somebody is at stays for the next."""
        with self._transaction() as connection:
            days = execute(connection, "finished_sample_days", before=before)
        for day in [row["day"] for row in days if not row["packed"]][: -PACKED_AT_ONCE - 1 : -1]:
            with self._long_transaction() as connection:
                execute(connection, "pack_sample_day", day=day)

    def expire_rollups(self, *, hours: datetime, days: datetime) -> None:
        with self._long_transaction() as connection:
            execute(connection, "expire_rollups", hours=hours, days=days)
