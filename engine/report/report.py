"""
What a report shows of many snapshots in a row: the walk of `backtest`, then the report of the history that it left.

The plain form: the steps' own functions, nothing stored, nobody told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from ..config import Settings
from ..messages.events import EventKind, GroupEvent
from ..pipeline.backtest import AHEAD, Event, Events, ForecastCheck, Message
from ..pipeline.pipeline import WholeHistory, walk
from ..ports import ALL, Lake, ReportedGroups, ReportHistory
from ..snapshots.groups_with_past import groups_at
from .forecast_bands import Bands
from .from_history import Besides, fleet_of
from .rows import rack_counts
from .values import FleetReport, ForecastBand, Happening

NOT_KNOWN = (
    "Which steps of the pipeline failed, and what was wrong with it, only the history in Postgres knows (--database).",
)
"""What the history has and a lake has not."""

_MOST_SAID = 400
"""Characters of a happening's text: the message had more, and said it elsewhere."""


class ReadableHistory(WholeHistory, ReportHistory, Protocol):
    """What the steps leave, and what a report shows of it."""


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
    Go through the newest snapshots of a cluster once, and say all that there is to show.

    Args:
        lake: Where they are.
        history: An empty one in memory.
        settings: The configuration.
        cluster: Its configured name.
        made_at: What the time is.
        origin: What the report is made from, as a reader is told.
        pattern: Shell pattern of group ids.
        limit: At most so many snapshots.
        tell: Hears after each how many have been gone through.
    """
    events, heard = Events(history, settings, cluster), list[Event]()
    newest: str | None = None
    steps = walk(lake, history, settings, cluster, pattern, limit, whole_newest=True)
    for number, ran in enumerate(steps, start=1):
        heard += events.of(ran)
        newest = ran.snapshot_id if ran.seen else newest
        tell(number)
    heard += events.rest()
    wanted = ReportedGroups(cluster=cluster, pattern=pattern, snapshots=max(1, limit))
    besides = Besides(
        bands=_bands([one for one in heard if isinstance(one, ForecastCheck)]),
        racks={
            group.group: rack_counts(group)
            for group in (groups_at(lake, settings, newest, pattern) if newest else ())
        },
        told=_told(one for one in heard if isinstance(one, Message | GroupEvent)),
    )
    fleet = fleet_of(history.report(wanted), cluster, made_at, besides)
    return replace(fleet, origin=origin, not_known=NOT_KNOWN, failures=None, pipeline=None)


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
            came=check.realised,
        )
        by_ahead[(check.due - check.at).total_seconds()][check.group].append(band)
    return Bands(by_ahead=by_ahead, newest=None)


def _told(events: Iterable[Message | GroupEvent]) -> Mapping[str, Sequence[Happening]]:
    """What was told of each group; what names many says what is wrong with this one."""
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
