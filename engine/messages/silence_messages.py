"""
Messages about silences: their beginning and scope, their end and what is still open, a weekly reminder of stale ones,
and acknowledgements. Pure functions; each message has a key and is sent once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from ..config import Settings
from ..incidents.silences import as_row
from ..model.formats import minute, roughly
from ..model.message import AlertMessage, MessageKind, Section, Severity
from ..model.states import IncidentState
from ..ports import Posting
from ..records import IncidentCourse, SilenceKind, SilenceRow
from .channels import channel_of
from .incident_message import BETWEEN, LINES, NAME, fitted, in_lines, titled
from .wording import listed, moment, sentence, several
from .wording.incidents import called

STALE = timedelta(days=7)
"""A longer silence is in the weekly reminder."""

NEW = timedelta(days=1)
"""A silence without groups is reported at its beginning, and not again within this time."""

NAMED = 10
"""Groups named in one line."""

Group = tuple[str, str]
"""A cluster's name and the id of one of its groups."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """
    The groups and incidents of silences at a moment.

    Attributes:
        settings: The configuration.
        now: The moment.
        groups: The groups of each cluster, as its newest snapshot has them.
        courses: The courses of incidents of each cluster.
    """

    settings: Settings
    now: datetime
    groups: Mapping[str, Sequence[str]]
    courses: Mapping[str, Sequence[IncidentCourse]]

    def clusters(self, pattern: str) -> list[str]:
        """The clusters of a pattern, by name."""
        known = sorted({*self.settings.clusters, *self.groups, *self.courses})
        return [cluster for cluster in known if fnmatchcase(cluster, pattern)]

    def covered(self, silence: SilenceRow) -> dict[str, list[Group]]:
        """The groups of a silence by channel, deleted ones with an open incident included."""
        by_channel: dict[str, list[Group]] = {}
        for cluster in self.clusters(silence.cluster):
            missed = {course.name for course in self._open(cluster)}
            for group in sorted(missed.union(self.groups.get(cluster, ()))):
                if silence.covers(cluster, group):
                    channel = channel_of(self.settings, cluster, group)
                    by_channel.setdefault(channel, []).append((cluster, group))
        return by_channel

    def channels(self, silence: SilenceRow) -> dict[str, list[Group]]:
        """The channels of a silence: those of its groups, or the default channel without groups."""
        return self.covered(silence) or {self.settings.slack_channel: []}

    def open_of(self, groups: Iterable[Group]) -> list[IncidentCourse]:
        """The incidents of some groups that are open."""
        own = set(groups)
        return [
            course
            for cluster in self.courses
            for course in self._open(cluster)
            if (cluster, course.name) in own
        ]

    def said_of(self, groups: Sequence[Group]) -> str:
        """The scope of a silence in words."""
        if not groups:
            return "It covers no group of the newest snapshots."
        covers, courses = f"It covers {several(len(groups), 'group')} here", self.open_of(groups)
        if not courses:
            return f"{covers}."
        return f"{covers}, {several(len(courses), 'incident')} open: {_incidents(courses)}."

    def acknowledged(self, ack: SilenceRow) -> list[tuple[str, IncidentCourse]]:
        """The open incidents of an ack, each with its cluster."""
        return [
            (cluster, course)
            for cluster in self.courses
            for course in self._open(cluster)
            if ack.covers(cluster, course.name)
            and course.opened_at is not None
            and course.opened_at <= ack.starts_at
        ]

    def _open(self, cluster: str) -> list[IncidentCourse]:
        courses = self.courses.get(cluster, ())
        return [course for course in courses if course.state is IncidentState.OPEN]


def quiet_postings(silence: SilenceRow, scene: Scene) -> list[Posting]:
    """
    The messages about the beginning or the end of a silence or maintenance at a moment.

    Acknowledgements are part of the messages about their incidents (`acknowledging`).
    """
    if silence.holds(scene.now):
        return _begins(silence, scene)
    return _ends(silence, scene) if silence.starts_at <= scene.now else []


_VERBS: Mapping[SilenceKind, str] = {
    SilenceKind.SILENCE: "silenced",
    SilenceKind.ACK: "acknowledged",
    SilenceKind.MAINTENANCE: "in maintenance",
}

_ENDS: Mapping[SilenceKind, str] = {
    SilenceKind.SILENCE: "silence ended",
    SilenceKind.ACK: "acknowledgement ended",
    SilenceKind.MAINTENANCE: "maintenance ended",
}


def _begins(silence: SilenceRow, scene: Scene) -> list[Posting]:
    until, span = "", ""
    if silence.ends_at:
        until = f"Until {minute(silence.ends_at)}. "
        span = f" for {roughly((silence.ends_at - silence.starts_at).total_seconds())}"
    title = f"{_VERBS[silence.kind]}{span}"
    number = silence.silence_id
    ended = f"evenkeel silence --end {number}" if number is not None else None
    return [
        Posting(
            key=f"silence {silence.silence_id} begins {channel}",
            channel=channel,
            message=_message(
                scene.now,
                _titled(silence, title),
                f"{until}{_why(silence)} {scene.said_of(groups)}",
                ended if silence.kind is SilenceKind.SILENCE else None,
            ),
        )
        for channel, groups in scene.channels(silence).items()
        if channel not in silence.channels
    ]


def _ends(silence: SilenceRow, scene: Scene) -> list[Posting]:
    """For the channels that were notified of its beginning."""
    by_channel = scene.covered(silence)
    # the end of a window may be put off once it has passed
    over = moment(silence.over_at) if silence.over_at else ""
    return [
        Posting(
            key=f"silence {silence.silence_id} ends {over} {channel}",
            channel=channel,
            message=_message(
                scene.now,
                _titled(silence, _ENDS[silence.kind]),
                f"Still open: {_incidents(its)}." if its else "Its groups have no open incidents.",
                "evenkeel query open_incidents" if its else None,
            ),
        )
        for channel in silence.channels
        for its in [scene.open_of(by_channel.get(channel, ()))]
    ]


def _titled(silence: SilenceRow, text: str) -> str:
    return titled(silence.groups, _where(silence), text)


def _name(silence: SilenceRow) -> str:
    return f"{fitted(silence.groups, NAME)} ({fitted(_where(silence), NAME)})"


def _where(silence: SilenceRow) -> str:
    return "all clusters" if silence.cluster == "*" else silence.cluster


def _why(silence: SilenceRow) -> str:
    return sentence(f"By {silence.who}: {fitted(silence.reason)}")


def _incidents(courses: Sequence[IncidentCourse]) -> str:
    ordered = sorted(courses, key=lambda course: (course.cause.precedence, course.name))
    return listed([f"{fitted(c.name, NAME)} ({called(c.cause)})" for c in ordered], NAMED)


def stale_postings(silences: Sequence[SilenceRow], scene: Scene) -> list[Posting]:
    """Long silences, and silences without groups: one message a week and channel."""
    lines: dict[str, list[str]] = {}
    numbers: dict[str, int | None] = {}
    for each in silences:
        if each.holds(scene.now) and (why := _why_stale(each, scene)):
            line = BETWEEN.join((f"{each.kind} {each.silence_id}", _name(each), why, _why(each)))
            for channel in scene.channels(each):
                numbers.setdefault(channel, each.silence_id)
                lines.setdefault(channel, []).append(line)
    for window in scene.settings.maintenance:
        as_silence = as_row(window, (scene.now, None))
        if not window.is_over(scene.now) and _covers_nothing(as_silence, scene):
            reason = sentence(fitted(window.reason))
            line = BETWEEN.join(("maintenance", _name(as_silence), "matches no group", reason))
            lines.setdefault(scene.settings.slack_channel, []).append(line)
    year, week, _ = scene.now.isocalendar()
    return [
        Posting(
            key=f"stale silences {year}-W{week:02} {channel}",
            channel=channel,
            message=replace(
                _message(
                    scene.now,
                    f"{several(len(its), 'silence')} to review",
                    "They are older than 7 days or match no group. This reminder comes weekly.",
                ),
                action="End those that are no longer needed.",
                sections=(
                    *(Section(heading="", lines=(line,)) for line in _shown(its)),
                    Section(heading="Next", code=(_to_end(numbers.get(channel), its),)),
                ),
            ),
        )
        for channel, its in lines.items()
    ]


def _why_stale(silence: SilenceRow, scene: Scene) -> str | None:
    if silence.kind is SilenceKind.MAINTENANCE:
        return None
    if scene.now - silence.starts_at > STALE:
        return f"since {minute(silence.starts_at)}"
    is_new = scene.now - silence.starts_at <= NEW
    if silence.kind is SilenceKind.SILENCE and not is_new and _covers_nothing(silence, scene):
        return "matches no group"
    return None


def _covers_nothing(silence: SilenceRow, scene: Scene) -> bool:
    """Whether a silence certainly has no groups: all of its clusters have a snapshot."""
    unread = [each for each in scene.clusters(silence.cluster) if each not in scene.groups]
    return not scene.covered(silence) and not unread


def _shown(lines: Sequence[str]) -> list[str]:
    shown = in_lines(lines)
    left = len(lines) - len(shown)
    return [*shown, f"and {left:,} more"] if left else list(shown)


def _to_end(number: int | None, lines: Sequence[str]) -> str:
    if number is None or len(lines) > LINES:
        return "evenkeel query silences"
    return f"evenkeel silence --end {number}"


def _message(now: datetime, title: str, summary: str, command: str | None = None) -> AlertMessage:
    return AlertMessage(
        kind=MessageKind.QUIET,
        severity=Severity.INFO,
        at=now,
        title=title,
        summary=summary,
        sections=(Section(heading="Next", code=(command,)),) if command else (),
    )


def acknowledging(
    ack: SilenceRow,
    course: IncidentCourse,
    standing: tuple[str, AlertMessage] | None,
    now: datetime,
) -> Posting | None:
    """
    Add an acknowledgement to the message of an incident, or remove it.

    An incident in a digest has no message of its own: the acknowledgement is a line in the thread.

    Args:
        ack: The ack, whose scope includes the incident.
        course: The incident.
        standing: Key and content of its message, as of the last check of the group; None: not known.
        now: The moment.

    Returns:
        None if the message needs no change, or if there is none.
    """
    readers, is_over = course.readers, not ack.holds(now)
    clause = sentence(quiet_clause(ack.kind, ack.who, ack.ends_at, ack.reason))
    if readers is None or standing is None:
        return None
    key, message = standing
    if not readers.in_digest and message.at >= ack.starts_at:
        return None  # it was written with the ack
    if readers.in_digest:
        what = _ENDS[ack.kind] if is_over else _VERBS[ack.kind]
        title = titled(course.name, None, what)
        return Posting(
            key=f"ack {ack.silence_id} {'over ' if is_over else ''}of {course.key}",
            channel=readers.channel,
            message=_message(now, title, clause),
            answers=readers.alert_key,
        )
    if not is_over:
        message = replace(message, footer=(*message.footer, clause))
    return Posting(
        key=f"ack {ack.silence_id} {'over ' if is_over else ''}on {key}",
        channel=readers.channel,
        message=message,
        replaces=readers.alert_key,
    )


def quiet_clause(kind: SilenceKind, who: str, until: datetime | None, reason: str) -> str:
    """
    The clause about a silence or an acknowledgement.

    >>> quiet_clause(SilenceKind.ACK, "ana", None, "restarting the pods")
    'acknowledged by ana: restarting the pods'
    """
    end = f" until {minute(until)}" if until else ""
    return f"{_VERBS[kind]} by {who}{end}: {fitted(reason)}"
