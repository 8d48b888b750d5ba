"""What a report shows: port `ReportHistory`."""

from __future__ import annotations

from typing import Any

from ...ports import ReportedGroups, StoredReport
from .connection import translated
from .database import Database
from .silences import as_regex
from .statements import Rows, execute
from .timeouts import take_time

OF_NOW = (
    *("report_groups", "report_members", "report_strategies"),
    *("report_advice", "report_moves", "report_scorecard"),
)
"""Statements about the newest state, each called by what of a report it gives."""

OF_A_PERIOD = (
    *("report_forecasts", "report_events", "report_incidents", "report_rebalances"),
    "report_withheld",
)
"""Statements about what was since some moment."""


class PostgresReports(Database):
    """The port `ReportHistory`; a report is one transaction that cannot write and sees one state of the history."""

    def report_clusters(self) -> list[str]:
        return [row["cluster"] for row in self._execute("report_clusters")]

    def served_groups(self, cluster: str) -> Rows:
        return self._execute("served_groups", cluster=cluster)

    def report(self, wanted: ReportedGroups) -> StoredReport:
        with translated(self._engine.url), self._engine.connect() as plain:
            take_time(plain)
            connection = plain.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            every = wanted.group is not None or wanted.pattern == "*"
            about = {
                "cluster": wanted.cluster,
                "group": wanted.group,
                "groups_regex": None if every else as_regex(wanted.pattern),
            }

            def rows(*names: str, **given: Any) -> dict[str, Rows]:
                return {
                    name.removeprefix("report_"): execute(connection, name, **given)
                    for name in names
                }

            period = {"since": wanted.since, "limit": wanted.snapshots}
            found = rows("report_snapshots", cluster=wanted.cluster, **period)
            snapshots = found["snapshots"]
            if not snapshots:
                return StoredReport(snapshots=snapshots)
            since = snapshots[0]["started_at"]
            found |= rows(*OF_A_PERIOD, **about, since=since)
            if taken_at := [row["started_at"] for row in snapshots if row["measured"]]:
                found |= rows(*OF_NOW, **about)
                found |= rows("report_lag", **about, taken_at=taken_at)
            return StoredReport(
                **found | rows("report_failures", cluster=wanted.cluster, since=since)
            )
