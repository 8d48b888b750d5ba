"""For which groups and pipelines nobody is woken at a moment, and why: silences, acknowledgements, maintenance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from ..config import MaintenanceWindow
from ..model.states import IncidentKind
from ..records import IncidentCourse, SilenceKind, SilenceRow

PLANNER = "the configuration"
"""Who wants a maintenance window."""

OF_THE_CLUSTER = frozenset(
    {IncidentKind.UNREACHABLE, IncidentKind.STALE, IncidentKind.PARTIAL, IncidentKind.REJECTED}
)
"""What planned work on the brokers brings about."""

Quieting = Callable[[str, datetime], "Quiet | None"]
"""Why nobody is woken at a moment for a group, by its id, or for what is wrong with a pipeline; None: for no reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """
    Why nobody is woken for a group.

    Attributes:
        kind: Of a *silence* or *maintenance* nothing is told of the group: neither what opens nor what gets worse; what
            is open when it ends is told then, and the end of what was told before puts that right without a sound. Of
            an *ack* only what is over, and what gets more severe.
        reason: Why, in somebody's words.
        until: When that ends; None: with the incident.
        who: Who wanted it so.
    """

    kind: SilenceKind
    reason: str
    until: datetime | None
    who: str


def quieting_pipeline(
    silences: Sequence[SilenceRow], windows: Sequence[MaintenanceWindow], cluster: str
) -> Quieting:
    """
    The same of the pipeline of a cluster: while all groups of that are silenced or in maintenance (their pattern is
    `*`), nobody is woken because the cluster itself cannot be read either.
    """

    def quiet(kind: str, at: datetime) -> Quiet | None:
        if kind not in OF_THE_CLUSTER:
            return None
        holding = _holding(silences, windows, at)
        return _strongest([each for each in holding if each.groups == "*"], cluster, "", None)

    return quiet


def _holding(
    silences: Iterable[SilenceRow], windows: Iterable[MaintenanceWindow], at: datetime
) -> list[SilenceRow]:
    own = [each for each in silences if each.kind is not SilenceKind.MAINTENANCE]
    return [each for each in (*own, *planned(windows, at)) if each.holds(at)]


def _strongest(
    holding: Sequence[SilenceRow], cluster: str, group: str, opened_at: datetime | None
) -> Quiet | None:
    # an ack means what was open when it was made, and nothing that comes later
    own = [
        each
        for each in holding
        if each.covers(cluster, group)
        and (each.kind is not SilenceKind.ACK or (opened_at and opened_at <= each.starts_at))
    ]
    if not own:
        return None
    forever = datetime.max.replace(tzinfo=UTC)
    first = max(own, key=lambda its: (its.kind is not SilenceKind.ACK, its.ends_at or forever))
    return Quiet(kind=first.kind, reason=first.reason, until=first.ends_at, who=first.who)


def planned(windows: Iterable[MaintenanceWindow], at: datetime) -> list[SilenceRow]:
    """The maintenance windows that a moment lies in, as silences that nobody has stored yet."""
    spans = ((window, window.span_at(at)) for window in windows)
    return [as_row(window, span) for window, span in spans if span is not None]


def as_row(window: MaintenanceWindow, span: tuple[datetime, datetime | None]) -> SilenceRow:
    """A maintenance window from when to when, as a silence."""
    return SilenceRow(
        kind=SilenceKind.MAINTENANCE,
        cluster=window.clusters,
        groups=window.groups,
        starts_at=span[0],
        ends_at=span[1],
        reason=window.reason,
        who=PLANNER,
    )


def quieting(
    silences: Sequence[SilenceRow],
    windows: Sequence[MaintenanceWindow],
    cluster: str,
    courses: Iterable[IncidentCourse],
) -> Quieting:
    """
    Why nobody is woken for a group of a cluster, by its id and the moment: what holds longest, an ack where there is
    nothing else; None: for no reason.

    Args:
        silences: What people said; planned rows among them count only as the windows say.
        windows: What is planned.
        cluster: Configured name of the cluster.
        courses: What was remembered of its groups before the snapshot that is looked at: acks mean what was open then.
    """
    opened = {course.name: course.opened_at for course in courses if course.closed_at is None}

    @cache  # all groups are asked about at one moment
    def holding(at: datetime) -> list[SilenceRow]:
        return _holding(silences, windows, at)

    def quiet(group: str, at: datetime) -> Quiet | None:
        return _strongest(holding(at), cluster, group, opened.get(group))

    return quiet
