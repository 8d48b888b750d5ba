"""Past snapshots judged again: port `Backfills`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow as pa
from sqlalchemy import Connection

from evenkeel.engine.adapters.postgres.database import Database
from evenkeel.engine.adapters.postgres.loading import load
from evenkeel.engine.adapters.postgres.patterns import as_regex
from evenkeel.engine.adapters.postgres.running import execute
from evenkeel.engine.ports import AdviceAsOf, BackfillOutcome
from evenkeel.engine.records import BackfillRow, Course, record_of, row_of


class BackfillTables(Database):
    """The port `Backfills`."""

    def backfill_by_rules(
        self, cluster: str, config_version: str, evenkeel_version: str
    ) -> BackfillRow | None:
        """The row of these rules."""
        rows = self._execute(
            "backfill_by_rules",
            cluster=cluster,
            config_version=config_version,
            evenkeel_version=evenkeel_version,
        )
        return record_of(BackfillRow, rows[0]) if rows else None

    def keep_backfill(self, row: BackfillRow) -> BackfillRow:
        """Insert or update the row of these rules."""
        with self._transaction() as connection:
            return _kept(connection, row)

    def store_backfilled(
        self,
        row: BackfillRow,
        moments: Sequence[datetime],
        groups: pa.Table,
        candidates: pa.Table,
    ) -> None:
        """Replace the rows of these moments and groups, and update that of the backfill."""
        with self._long_transaction() as connection:
            number = _kept(connection, row).backfill_id
            execute(
                connection,
                "clear_backfilled",
                backfill_id=number,
                first=min(moments),
                last=max(moments),
                groups_regex=as_regex(row.groups),
            )
            for table, target in (
                (groups, "backfilled_group"),
                (candidates, "backfilled_candidate"),
            ):
                own = pa.repeat(pa.scalar(number, pa.int64()), len(table))
                place = table.schema.get_field_index("backfill_id")
                load(connection, table.set_column(place, "backfill_id", own), target)

    def backfilled_intervals(self, backfill_id: int, taken_at: datetime) -> dict[str, float]:
        """Those of the rows of that moment."""
        rows = self._execute("backfilled_intervals", backfill_id=backfill_id, taken_at=taken_at)
        pairs = ((row["group_id"], row["commit_interval_seconds"]) for row in rows)
        return {group: seconds for group, seconds in pairs if seconds is not None}

    def advised_between(self, cluster: str, since: datetime, until: datetime) -> list[str]:
        """Those that have advice."""
        rows = self._execute("advised_between", cluster=cluster, since=since, until=until)
        return [row["snapshot_id"] for row in rows]

    def advice_as_of(
        self, cluster: str, snapshot_id: str, group_ids: Sequence[str]
    ) -> list[AdviceAsOf]:
        """The newest row of each group up to the snapshot, and the course of the one before it."""
        with self._long_transaction() as connection:
            rows = execute(
                connection,
                "advice_as_of",
                cluster=cluster,
                snapshot_id=snapshot_id,
                group_ids=list(group_ids),
            )
        return [
            AdviceAsOf(
                group_id=row["group_id"],
                judged=row["judged"],
                strategy=row["strategy"] if row["judged"] else None,
                course=None if row["course"] is None else record_of(Course, row["course"]),
            )
            for row in rows
        ]

    def backfill_outcome(self, row: BackfillRow) -> BackfillOutcome:
        """Count the groups."""
        with self._long_transaction() as connection:
            (counted,) = execute(
                connection,
                "backfill_outcome",
                backfill_id=row.backfill_id,
                groups_regex=as_regex(row.groups),
            )
        return BackfillOutcome(**counted)


def _kept(connection: Connection, row: BackfillRow) -> BackfillRow:
    values = row_of(row)
    del values["backfill_id"]
    (kept,) = execute(connection, "keep_backfill", **values)
    return replace(row, backfill_id=kept["backfill_id"])
