"""The port of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedGroups:
    """
    The groups and the period of a report.

    Attributes:
        cluster: Configured name of the cluster.
        pattern: Shell pattern of group ids.
        group: Id of the only group, instead of a pattern.
        since: Start of the period; None for no limit.
        snapshots: Maximum number of snapshots.
    """

    cluster: str
    pattern: str = "*"
    group: str | None = None
    since: datetime | None = None
    snapshots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """
    Rows of a report from one transaction; `sql/statements/report_<name>.sql` describes their columns.

    Attributes:
        snapshots: Snapshots, oldest first.
        groups: Groups of the newest snapshot.
        lag: Metrics of groups by snapshot, as arrays.
        forecasts: Lag forecasts.
        members: Current members.
        strategies: Scores of strategies.
        advice: Current advice.
        moves: Moves of the advice.
        events: State changes of advice.
        incidents: Incidents of groups and of the pipeline.
        rebalances: Rebalances of groups.
        scorecard: Forecast accuracy.
        failures: Failed steps.
        withheld: Groups skipped by validation.
    """

    snapshots: Rows
    groups: Rows = ()
    lag: Rows = ()
    forecasts: Rows = ()
    members: Rows = ()
    strategies: Rows = ()
    advice: Rows = ()
    moves: Rows = ()
    events: Rows = ()
    incidents: Rows = ()
    rebalances: Rows = ()
    scorecard: Rows = ()
    failures: Rows = ()
    withheld: Rows = ()


class ReportHistory(Protocol):
    """Reads the rows of a report, and of metrics."""

    def report_clusters(self) -> list[str]:
        """The known clusters, by name."""

    def report(self, wanted: ReportedGroups) -> StoredReport:
        """All rows of some groups; without a snapshot with metrics in that period, there are no current metrics."""

    def served_groups(self, cluster: str) -> Rows:
        """The numbers of the groups of its newest measured snapshot; the statement `served_groups` has the columns."""
