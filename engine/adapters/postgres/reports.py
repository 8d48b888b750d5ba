"""What a report shows: port `ReportHistory`."""

from __future__ import annotations

from typing import Any

from ...ports import ReportedGroups, StoredReport
from .connection import translated
from .database import Database
from .patience import take_time
from .silences import as_regex
from .statements import Rows, execute

OF_NOW = ("groups", "members", "strategies", "advice", "moves", "scorecard")
"""What of a report is about the newest state; the statements are called `report_<kind>`."""

OF_A_PERIOD = ("forecasts", "events", "incidents", "withheld")
"""What of it is about all that was since some moment."""


class PostgresReports(Database):
    """The port `ReportHistory`; a report is one transaction that cannot write and sees one state of the history."""

    def report_clusters(self) -> list[str]:
        return [row["cluster"] for row in self._execute("report_clusters")]

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

            def rows(kind: str, **given: Any) -> Rows:
                return execute(connection, f"report_{kind}", **given)

            snapshots = rows(
                "snapshots", cluster=wanted.cluster, since=wanted.since, limit=wanted.snapshots
            )
            if not snapshots:
                return StoredReport(snapshots=snapshots)
            since = snapshots[0]["started_at"]
            found = {kind: rows(kind, **about, since=since) for kind in OF_A_PERIOD}
            if taken_at := [row["started_at"] for row in snapshots if row["measured"]]:
                found |= {kind: rows(kind, **about) for kind in OF_NOW}
                found["lag"] = rows("lag", **about, taken_at=taken_at)
            failures = rows("failures", cluster=wanted.cluster, since=since)
            return StoredReport(snapshots=snapshots, failures=failures, **found)
