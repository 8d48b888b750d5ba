"""A report from consecutive snapshots: evaluates them as `backtest` does, in memory, without notifications."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from ..advice.protocol_readiness import of_cluster
from ..config import Settings
from ..messages.events import EventKind, GroupEvent
from ..messages.wording import words
from ..metrics.forecast import AHEAD
from ..model.groups import GroupSnapshot
from ..pipeline.backtest import Event, Events, ForecastCheck, Message
from ..pipeline.pipeline import WholeHistory, walk
from ..pipeline.readiness import readiness_rows
from ..ports import ALL, Lake, ReportedGroups, ReportHistory
from ..snapshots.groups_with_past import groups_at
from .forecast_bands import Bands
from .from_history import Besides, fleet_of
from .rows import rack_counts
from .values import FleetReport, ForecastBand, Happening, ProtocolReadiness

NOT_KNOWN = (
    "Failed steps and incidents of the pipeline are only in the history database. Create the report "
    "with --database to see them.",
)
"""Values that only the history database has."""

_MOST_SAID = 400
"""Maximum number of characters of an event."""


class ReadableHistory(WholeHistory, ReportHistory, Protocol):
    """The stored rows, and their report."""


def report(
    lake: Lake,
    history: ReadableHistory,
    settings: Settings,
    cluster: str,
    made_at: datetime,
    origin: str,
    pattern: str = "*",
    limit: int = ALL,
    tell: Callable[[int], object] = lambda passed: None,
) -> FleetReport:
    """
    Evaluate the newest snapshots of a cluster and create the report.

    Args:
        lake: The lake.
        history: An empty history in memory.
        settings: The configuration.
        cluster: Configured name of the cluster.
        made_at: The current time.
        origin: Source of the report, as shown to readers.
        pattern: Shell pattern of group ids.
        limit: Maximum number of snapshots.
        tell: Called after each snapshot with the number of finished ones.
    """
    events, heard = Events(history, settings, cluster), list[Event]()
    newest: str | None = None
    steps = walk(lake, history, settings, cluster, pattern, limit, whole_newest=True)
    for number, ran in enumerate(steps, start=1):
        heard += events.of(ran)
        newest = ran.snapshot_id if ran.seen else newest
        tell(number)
    heard += events.rest()
    newest_groups = groups_at(lake, settings, newest, pattern) if newest else []
    wanted = ReportedGroups(cluster=cluster, pattern=pattern, snapshots=max(1, limit))
    besides = Besides(
        bands=_bands([one for one in heard if isinstance(one, ForecastCheck)]),
        racks={group.group: rack_counts(group) for group in newest_groups},
        told=_told(one for one in heard if isinstance(one, Message | GroupEvent)),
    )
    fleet = fleet_of(history.report(wanted), cluster, made_at, besides)
    return replace(
        fleet,
        origin=origin,
        not_known=NOT_KNOWN,
        failures=None,
        pipeline=None,
        readiness=_readiness(settings, newest_groups),
    )


def _readiness(settings: Settings, groups: Sequence[GroupSnapshot]) -> ProtocolReadiness | None:
    if not groups:
        return None
    return ProtocolReadiness(
        groups=tuple(readiness_rows(settings, groups)),
        brokers=tuple(map(words, of_cluster(groups[0].coordinator))),
    )


def _bands(checks: Sequence[ForecastCheck]) -> Bands:
    by_ahead: dict[float, dict[str, list[ForecastBand]]] = {
        ahead: defaultdict(list) for ahead in AHEAD
    }
    for check in sorted(checks, key=lambda each: each.at):
        band = ForecastBand(
            made_at=check.at,
            due=check.due,
            low=check.low,
            expected=check.expected,
            high=check.high,
            came=check.actual,
        )
        by_ahead[(check.due - check.at).total_seconds()][check.group].append(band)
    return Bands(by_ahead=by_ahead, newest=None)


def _told(events: Iterable[Message | GroupEvent]) -> Mapping[str, Sequence[Happening]]:
    """Notifications of each group; a digest is reduced to the cause of the group."""
    told: dict[str, list[Happening]] = defaultdict(list)
    for event in events:
        severity = event.message.severity.value if isinstance(event, GroupEvent) else "info"
        for number, group in enumerate(event.groups):
            title = event.title
            if isinstance(event, GroupEvent) and event.kind is EventKind.DIGEST:
                title = f"{event.causes[number]}, with others: {title}"
            told[group].append(
                Happening(
                    at=event.at, kind=event.kind.value, title=title[:_MOST_SAID], severity=severity
                )
            )
    return told
