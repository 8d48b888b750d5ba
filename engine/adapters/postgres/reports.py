"""What a report shows: port `ReportHistory`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from ...ports import ReportedGroups, StoredReport
from .connection import translated
from .database import Database
from .patience import take_time
from .patterns import as_regex
from .statements import Rows, execute

OF_NOW = {
    "groups": "report_groups",
    "members": "report_members",
    "strategies": "report_strategies",
    "advice": "report_advice",
    "moves": "report_moves",
    "scorecard": "report_scorecard",
}
"""Statements about the newest state, by what of a report they are."""

OF_A_PERIOD = {
    "forecasts": "report_forecasts",
    "events": "report_events",
    "incidents": "report_incidents",
    "withheld": "report_withheld",
}
"""Statements about what was since some moment."""


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
            return _report(connection, wanted)


def _report(connection: Connection, wanted: ReportedGroups) -> StoredReport:
    snapshots = execute(
        connection,
        "report_snapshots",
        cluster=wanted.cluster,
        since=wanted.since,
        limit=wanted.snapshots,
    )
    if not snapshots:
        return StoredReport(snapshots=snapshots)
    about, since = _about(wanted), snapshots[0]["started_at"]
    rows: dict[str, Rows] = {
        kind: execute(connection, name, **about, since=since) for kind, name in OF_A_PERIOD.items()
    }
    taken_at = [row["started_at"] for row in snapshots if row["measured"]]
    if taken_at:
        rows |= {kind: execute(connection, name, **about) for kind, name in OF_NOW.items()}
        rows["lag"] = execute(connection, "report_lag", **about, taken_at=taken_at)
    failures = execute(connection, "report_failures", cluster=wanted.cluster, since=since)
    return StoredReport(snapshots=snapshots, failures=failures, **rows)


def _about(wanted: ReportedGroups) -> dict[str, Any]:
    """The parameters that say which groups are meant."""
    every = wanted.group is not None or wanted.pattern == "*"
    return {
        "cluster": wanted.cluster,
        "group": wanted.group,
        "groups_regex": None if every else as_regex(wanted.pattern),
    }
