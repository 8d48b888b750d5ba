"""What of many snapshots in a row a report shows of each group: how it stood, what was forecast, what was told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from evenkeel.engine.alerting.events import EventKind, GroupEvent
from evenkeel.engine.records import AdviceCheck
from evenkeel.engine.report import (
    ForecastBand,
    GroupReport,
    Happening,
    PromiseKept,
    SnapshotHealth,
    Standing,
    Withheld,
)
from evenkeel.engine.steps.backtest import AHEAD, DiagnosisChange, Event, ForecastCheck, Passed
from evenkeel.engine.steps.report_kept import promises_kept
from evenkeel.engine.steps.report_rows import gone_group
from evenkeel.engine.steps.telling import Advised, Message

_STANDING = ("group_id", "total_lag", "delay_seconds", "time_lag_seconds")
_MOST_SAID = 400
"""Characters of a happening's text: the message had more, and said it elsewhere."""


@dataclass(kw_only=True)
class Followed:
    """What of the snapshots so far is shown, group by group."""

    taken_at: list[datetime] = field(default_factory=list)
    health: list[SnapshotHealth] = field(default_factory=list)
    standings: dict[str, dict[int, Standing]] = field(default_factory=lambda: defaultdict(dict))
    changes: dict[str, DiagnosisChange] = field(default_factory=dict)
    first: dict[str, datetime] = field(default_factory=dict)
    checks: list[ForecastCheck] = field(default_factory=list)
    happenings: dict[str, list[Happening]] = field(default_factory=lambda: defaultdict(list))
    open: dict[str, str] = field(default_factory=dict)
    promises: list[tuple[str, AdviceCheck]] = field(default_factory=list)
    mutes: dict[tuple[str, str], datetime] = field(default_factory=dict)
    withheld: dict[tuple[str, str], list[datetime]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def take(self, passed: Passed) -> None:
        """The next snapshot, or the end."""
        if passed.looked is not None and passed.advised is not None:
            self._advised(passed.advised)
            for named in passed.looked.groups.withheld.items():
                self.withheld[named].append(passed.looked.at)
            rows = passed.advised.tables["group_metrics"].select(_STANDING).to_pylist()
            for row in rows:
                name = row["group_id"]
                self.standings[name][len(self.taken_at)] = standing(row)
                self.first.setdefault(name, passed.looked.at)
            self.taken_at.append(passed.looked.at)
        for event in passed.events:
            self._event(event)

    def _advised(self, advised: Advised) -> None:
        self.mutes = {}
        for name, row in advised.advice.items():
            self.promises += [(name, check) for check in row.checks]
            for mute in row.course.mutes if row.course else ():
                self.mutes[name, mute.strategy] = mute.until

    def _event(self, event: Event) -> None:
        if isinstance(event, DiagnosisChange):
            self.changes[event.group] = event
        elif isinstance(event, ForecastCheck):
            self.checks.append(event)
        else:
            for number, group in enumerate(event.groups):
                self.happenings[group].append(_happening(event, number))
            if isinstance(event, GroupEvent):
                self._incident(event)

    def _incident(self, event: GroupEvent) -> None:
        for group, cause in zip(event.groups, event.causes, strict=True):
            if event.kind is EventKind.RESOLVED:
                self.open.pop(group, None)
            else:
                self.open[group] = cause.value

    def of_group(self, name: str) -> dict[str, Any]:
        """What is known of a group of the newest snapshot from all of them."""
        change = self.changes.get(name)
        return {
            "diagnosed_at": change and change.at,
            "at_least": change is not None and change.at == self.first.get(name),
            **self._over_time(name),
        }

    def _over_time(self, name: str) -> dict[str, Any]:
        own = self.standings.get(name, {})
        return {
            "standings": tuple(own.get(number) for number in range(len(self.taken_at))),
            "forecasts": self.forecasts.get(name, ()),
            "happenings": tuple(self.happenings.get(name, ())),
        }

    @property
    def scorecard(self) -> tuple[PromiseKept, ...]:
        """How advice kept what it promised."""
        return promises_kept(self.promises, self.mutes)

    @property
    def distrusted(self) -> tuple[Withheld, ...]:
        """What validation withheld, the newest first."""
        rows = [
            Withheld(
                group_id=group, stage="snapshot", reason=reason, snapshots=len(at), last_at=at[-1]
            )
            for (group, reason), at in sorted(self.withheld.items())
        ]
        return tuple(sorted(rows, key=lambda row: row.last_at, reverse=True))

    @cached_property
    def forecasts(self) -> Mapping[str, tuple[ForecastBand, ...]]:
        """Those of the nearer horizon by group, in the order of time; behind the newest the one that looks further."""
        return _bands(self.checks)

    def gone(self, name: str) -> GroupReport:
        """A group that the newest snapshot does not have."""
        last = self.taken_at[max(self.standings[name])]
        return gone_group(name, last, self.open.get(name), self._over_time(name))


def standing(row: Mapping[str, Any]) -> Standing:
    """The few numbers of a row of `group_metrics` that are followed over time."""
    return Standing(
        lag=row["total_lag"],
        delay_seconds=row["delay_seconds"],
        time_lag_seconds=row["time_lag_seconds"],
    )


def _bands(checks: Sequence[ForecastCheck]) -> dict[str, tuple[ForecastBand, ...]]:
    soon = AHEAD[0]
    near: dict[str, list[ForecastBand]] = defaultdict(list)
    far: dict[str, ForecastBand] = {}
    for check in sorted(checks, key=lambda each: each.at):
        band = ForecastBand(
            made_at=check.at,
            due=check.due,
            low=check.low,
            expected=check.expected,
            high=check.high,
            came=check.realised,
        )
        if (check.due - check.at).total_seconds() == soon:
            near[check.group].append(band)
        else:
            far[check.group] = band
    return {
        group: (*own, *([far[group]] if group in far and far[group].due > own[-1].due else ()))
        for group, own in near.items()
    }


def _happening(event: Message | GroupEvent, number: int) -> Happening:
    """What of an event is about the group of that number; what names many says what is wrong with this one."""
    title, severity = event.title, "info"
    if isinstance(event, GroupEvent):
        severity = event.message.severity.value
        if event.kind is EventKind.DIGEST:
            title = f"{event.causes[number]}, with others: {title}"
    return Happening(
        at=event.at, kind=event.kind.value, title=title[:_MOST_SAID], severity=severity
    )
