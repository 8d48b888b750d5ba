"""What a report shows, as the history has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedGroups:
    """
    Which groups of a cluster a report is about, over which time.

    Attributes:
        cluster: Configured name of the cluster.
        pattern: Shell pattern of their ids.
        group: The one group that it is about, in place of a pattern.
        since: Not what was before; None: however old.
        snapshots: The newest so many at most.
    """

    cluster: str
    pattern: str = "*"
    group: str | None = None
    since: datetime | None = None
    snapshots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """
    Rows of the history, all of one moment; which columns they have is written in `sql/statements/report_<name>.sql`.

    Attributes:
        snapshots: How the snapshots were taken, oldest first.
        groups: How each group of the newest one is.
        lag: How each stood in each of them, as arrays.
        forecasts: What was forecast of them.
        members: Who is in them now.
        strategies: What each strategy would do for them.
        advice: What they are told now.
        moves: What changes hands if they follow it.
        events: What became of their advice.
        incidents: What was wrong with them, and with the pipeline.
        scorecard: How advice kept what it promised.
        failures: Which steps failed.
        withheld: What validation withheld.
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
    scorecard: Rows = ()
    failures: Rows = ()
    withheld: Rows = ()


class ReportHistory(Protocol):
    """What the history has for a report."""

    def report_clusters(self) -> list[str]:
        """The clusters that it knows, by name."""

    def report(self, wanted: ReportedGroups) -> StoredReport:
        """All rows about some groups; without a measured snapshot in that time, nothing of how they are."""
