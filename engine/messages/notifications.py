"""
Notifications about groups after a snapshot, and about a pipeline after a check: incidents that opened, got worse or
were resolved, one by one or, for groups, in a digest.

An incident has one message per channel. evenkeel edits it when the incident gets worse, once per shift and at its end,
and adds a line to its thread each time. Many incidents at once share a digest. So do the pre-existing ones, the first
time that several are known; those that need more snapshots are notified like any other. A group that a digest doesn't
name follows with the next snapshot. An incident in a digest has no message of its own: it gets one when it becomes
worse, with many others a digest of those, and it never comes again as opened. What is still open after a shift, and
what is over, are lines in the digest's thread. `messages.events` decides which of these an incident needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..config import Settings
from ..incidents.evaluation import Judgment
from ..incidents.lifecycle import stepped
from ..incidents.measures import behind_of
from ..incidents.policy import deaf_to
from ..incidents.silences import Quiet, Quieting
from ..model.facts import Fact
from ..model.groups import WatchOf
from ..model.message import AlertMessage
from ..model.states import Diagnosis, IncidentState
from ..ports import IncidentWatch, Posting
from ..records import CauseSpan, IncidentCourse, IncidentRow, Readers
from .channels import Postings
from .events import (
    EventKind,
    GroupEvent,
    amount_of,
    growth_of,
    loses,
    marks_of,
    news_of,
    rose,
)
from .fallback import by_itself, made, worded
from .group_digest import DigestKind, digest_message
from .incident_message import Incident, kafka_options, line_of, message_of
from .incident_rows import owner_of, rule_of, shown
from .silence_messages import quiet_clause

Changed = Callable[[IncidentCourse], tuple[Fact, ...] | None]
"""Changes of a group since it was last healthy; only computed for notifications, because it is slow."""


TOGETHER = (EventKind.OPENED, EventKind.RESOLVED)
"""Notifications that many incidents may share."""


def _nothing(*_: object) -> None:
    """No silence, and no known changes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ToldRound:
    """
    The result of one snapshot, or of one check of a pipeline.

    Attributes:
        courses: Of all open and newly resolved incidents.
        incidents: Their rows in the history database.
        postings: The postings to queue.
        events: The notifications about groups.
        gone: What each group had that is not listed any more, from this snapshot on.
    """

    courses: tuple[IncidentCourse, ...]
    incidents: tuple[IncidentRow, ...]
    postings: tuple[Posting, ...]
    events: tuple[GroupEvent, ...]
    gone: Mapping[str, Fact] = field(default_factory=dict)

    def after(self, before: IncidentWatch, judgment: Judgment) -> IncidentWatch:
        """The state after the snapshot."""
        return replace(
            before,
            snapshot_id=judgment.snapshot_id,
            at=judgment.at,
            first_at=before.first_at or judgment.at,
            courses=self.courses,
        )


def round_of(
    before: IncidentWatch,
    judgment: Judgment,
    settings: Settings,
    *,
    quiet: Quieting = _nothing,
    changed: Changed = _nothing,
    link: str | None = None,
) -> ToldRound:
    """
    The new state of the groups of a cluster, or of its pipeline, after one more check, and its notifications.

    Args:
        before: The state before.
        judgment: The result of the check.
        settings: The configuration.
        quiet: The silences.
        changed: Changes of a group since it was last healthy.
        link: Address of the run.
    """
    telling = _Telling(
        judgment=judgment,
        settings=settings,
        quiet=quiet,
        changed=changed,
        link=link,
        courses=stepped(before, judgment, settings),
        begun=_begun(before),
        postings=Postings(cluster=judgment.cluster, settings=settings),
    )
    telling.tell()
    courses = telling.courses.values()
    gone = {name: each.gone for name, each in judgment.odd.items() if each.gone is not None}
    # what has no incident is kept as one that was over at once: nobody has to be told
    unmissed = [name for name in gone if not judgment.odd[name].troubles]
    kept = [
        _left(judgment, name, gone[name])
        for name in unmissed
        if name not in telling.courses and settings.incidents(judgment.cluster, name).enabled
    ]
    rows = (shown(settings, judgment, course) for course in (*courses, *kept))
    return ToldRound(
        courses=tuple(courses),
        incidents=tuple(row for row in rows if row is not None),
        postings=tuple(telling.postings),
        events=tuple(telling.events),
        gone=gone,
    )


def _left(judgment: Judgment, group: str, had: Fact) -> IncidentCourse:
    """That a group that nobody misses is not there any more."""
    cause, at = Diagnosis.GROUP_DELETED, judgment.at
    span = CauseSpan(cause=cause, since=at, last_seen_at=at, snapshots=1, amount=None, facts=(had,))
    return IncidentCourse(
        key=f"{judgment.cluster}/{group}/{judgment.snapshot_id}",
        group_id=group,
        state=IncidentState.RESOLVED,
        cause=cause,
        causes=(span,),
        began_at=at,
        began_snapshot_id=judgment.snapshot_id,
        good_snapshot_id=judgment.earlier,
        opened_at=at,
        closed_at=at,
    )


@dataclass(kw_only=True, eq=False)
class _Telling:
    """Notifies of incidents, and records that in their courses."""

    judgment: Judgment
    settings: Settings
    quiet: Quieting
    changed: Changed
    link: str | None
    courses: dict[str, IncidentCourse]
    begun: frozenset[str]
    postings: Postings
    events: list[GroupEvent] = field(default_factory=list)

    def tell(self) -> None:
        """All notifications, channel by channel."""
        due: dict[EventKind, list[IncidentCourse]] = defaultdict(list)
        for course in list(self.courses.values()):
            news, readers = self._news(course), course.readers
            if news is None:
                self._draw_line(course)
            elif news in TOGETHER or (readers is not None and readers.in_digest):
                due[news].append(course)
            else:
                with by_itself(course):
                    self._changed(course, readers, news)
        for channel, some in _by(self.postings.channel, due[EventKind.OPENED]):
            self._opened(channel, some)
        for channel, some in _by(self.postings.channel, due[EventKind.WORSE]):
            self._told(channel, some, EventKind.WORSE)
        for (channel, key), some in _by(_place, due[EventKind.STILL]):
            self._digest(channel, DigestKind.STILL, some, key)
        for channel, some in _by(_channel, due[EventKind.RESOLVED]):
            self._resolved(channel, some)

    def _news(self, course: IncidentCourse) -> EventKind | None:
        if course.state is IncidentState.RESOLVED:
            return EventKind.RESOLVED if course.readers else None
        if course.state is not IncidentState.OPEN:
            return None
        rules = self.settings.incidents(self.judgment.cluster, course.name)
        return news_of(course, self._quiet(course), rules, self.judgment.at)

    def _draw_line(self, course: IncidentCourse) -> None:
        """What opened with its first snapshot shows with the next one how fast it falls behind."""
        readers = course.readers
        if readers is not None and readers.growth is None:
            grows = replace(readers, growth=growth_of(course, self.judgment.at))
            self.courses[course.name] = replace(course, readers=grows)

    def _opened(self, channel: str, courses: Sequence[IncidentCourse]) -> None:
        """Pre-existing incidents of groups share a digest, once per channel, and so do too many at once."""
        rest = [course for course in courses if not course.already_so]
        first = [course for course in courses if course.already_so]
        if len(first) > 1 and channel not in self.begun:
            self._digest(channel, DigestKind.FIRST, first)
        else:
            rest += first
        self._told(channel, rest, EventKind.OPENED)

    def _told(self, channel: str, courses: Sequence[IncidentCourse], news: EventKind) -> None:
        """Those that opened, or that are worse than a digest said, each in a message of its own or in a digest."""
        opened = news is EventKind.OPENED
        if self._is_flood(courses):
            kind = DigestKind.OPENED if opened else DigestKind.WORSE
            for course in self._digest(channel, kind, courses):
                key = "opened" if opened else f"reported in {self.judgment.snapshot_id}"
                with by_itself(course):
                    self.postings.page(course, key, made(message_of, self._incident(course), news))
            return
        for course in courses:
            with by_itself(course):
                key, deaf = f"incident {course.key} opened", deaf_to(course)
                message = made(message_of, self._explained(course), news)
                if channel not in deaf:
                    self.postings.post(key, channel, message)
                self._event(news, [course], message)
                self.postings.page(
                    course, "opened" if opened else "reported alone", message, but=deaf
                )
                self._know(course, key, channel)

    def _is_flood(self, courses: Sequence[IncidentCourse]) -> bool:
        """Whether these are too many for single messages."""
        return self.judgment.of is WatchOf.GROUPS and len(courses) > self.settings.digest_threshold

    def _changed(self, course: IncidentCourse, readers: Readers | None, news: EventKind) -> None:
        """It got worse, which webhooks receive too, is still there, or is a habit."""
        incident = self._explained(course)
        message = made(message_of, incident, news)
        self._event(news, [course], message)
        if news is EventKind.HABIT:
            self.courses[course.name] = course = replace(course, habit_told=True)
        if readers is None:
            # nobody waits for the end of a habit
            self.postings.post(
                f"incident {course.key} {news}", self.postings.channel(course), message
            )
            return
        line, updates = made(line_of, incident, news), readers.updates + 1
        key = f"{news} {updates}"
        is_loud = rose(course, readers) or loses(course)
        self.postings.change(course, readers, key, message)
        self.postings.answer(course, readers, key, line, broadcast=is_loud)
        if news is EventKind.WORSE:
            self.postings.page(course, key, message)
        self._know(course, readers.alert_key, readers.channel, updates=updates)

    def _resolved(self, channel: str, courses: Sequence[IncidentCourse]) -> None:
        """Those that a digest does not name stay open: they are over with the next snapshot."""
        is_flood = self._is_flood(courses)
        named = self._digest(channel, DigestKind.RESOLVED, courses) if is_flood else courses
        names = {course.name for course in named}
        for course in courses:
            self.courses[course.name] = replace(course, state=IncidentState.OPEN, closed_at=None)
            if course.name in names:
                with by_itself(course):
                    self._over(course, is_flood)
                    self.courses[course.name] = course

    def _over(self, course: IncidentCourse, in_digest: bool) -> None:
        readers, incident = course.readers, self._incident(course)
        if readers is None:
            return
        over = EventKind.RESOLVED
        message, line = made(message_of, incident, over), made(line_of, incident, over)
        if not readers.in_digest:
            self.postings.change(course, readers, "resolved", message)
        if not in_digest:
            is_loud = not readers.in_digest and self._quiet(course) is None
            self.postings.answer(course, readers, "resolved", line, broadcast=is_loud)
            self._event(EventKind.RESOLVED, [course], message)
        self.postings.page(course, "resolved", message)

    def _digest(
        self,
        channel: str,
        kind: DigestKind,
        courses: Sequence[IncidentCourse],
        answers: str | None = None,
    ) -> list[IncidentCourse]:
        """Notify of many at once, or in the thread of the digest that it *answers*; returns those that it names."""
        incidents = [worded(self._incident(course)) for course in courses]
        digest = digest_message(incidents, kind)
        key = f"digest {self.judgment.snapshot_id} {answers or channel} {kind}"
        if answers is None:
            self.postings.post(key, channel, digest.message, digest.thread)
        else:
            self.postings.add(key, channel, digest.message, answers)
        named = [course for course in courses if course.group_id in set(digest.named)]
        self._event(EventKind.DIGEST, named, digest.message)
        if kind is not DigestKind.RESOLVED:
            for course in named:
                paged = kind in (DigestKind.OPENED, DigestKind.WORSE)
                self._know(course, answers or key, channel, in_digest=True, paged=paged)
        return named

    def _know(
        self,
        course: IncidentCourse,
        alert_key: str,
        channel: str,
        *,
        updates: int = 0,
        in_digest: bool = False,
        paged: bool = True,
    ) -> None:
        """Record the notification of an incident."""
        known = course.readers
        causes = dict.fromkeys(
            (
                *(known.causes if known else ()),
                course.cause,
                *(span.cause for span in course.causes),
            )
        )
        marks = marks_of(course) | set(known.marks if known else ())
        self.courses[course.name] = replace(
            course,
            readers=Readers(
                alert_key=alert_key,
                channel=channel,
                cause=course.cause,
                amount=amount_of(course),
                at=self.judgment.at,
                causes=tuple(causes),
                updates=updates,
                in_digest=in_digest,
                behind_seconds=behind_of(course.causes),
                growth=growth_of(course, self.judgment.at),
                marks=tuple(sorted(marks)),
                pagers=self.postings.pagers(course) if paged else (known.pagers if known else ()),
            ),
        )

    def _event(
        self, kind: EventKind, courses: Sequence[IncidentCourse], message: AlertMessage
    ) -> None:
        groups = tuple(course.group_id for course in courses if course.group_id is not None)
        if not groups:
            return
        self.events.append(
            GroupEvent(
                kind=kind,
                at=self.judgment.at,
                cluster=self.judgment.cluster,
                groups=groups,
                causes=tuple(Diagnosis(course.cause) for course in courses),
                message=message,
            )
        )

    def _incident(self, course: IncidentCourse) -> Incident:
        judgment, quiet = self.judgment, self._quiet(course)
        rule = rule_of(self.settings, judgment.cluster, course)
        return Incident(
            cluster=judgment.cluster,
            course=course,
            at=judgment.at,
            snapshot_id=judgment.snapshot_id,
            owner=owner_of(self.settings, judgment.cluster, course),
            mention=rule.mention,
            link=self.link,
            kafka=kafka_options(self.settings, judgment.cluster),
            quiet=quiet_clause(quiet.kind, quiet.who, quiet.until, quiet.reason) if quiet else None,
        )

    def _explained(self, course: IncidentCourse) -> Incident:
        """With the changes before its beginning, and those of its rates."""
        judged = self.judgment.odd.get(course.name)
        return replace(
            self._incident(course),
            changed=self.changed(course),
            rates=judged.changed if judged else (),
        )

    def _quiet(self, course: IncidentCourse) -> Quiet | None:
        return self.quiet(course.name, self.judgment.at)


def _begun(before: IncidentWatch) -> frozenset[str]:
    """The channels that had a digest of pre-existing incidents."""
    known = (course.readers for course in before.courses if course.already_so)
    return frozenset(readers.channel for readers in known if readers and readers.in_digest)


Key = TypeVar("Key")


def _by(
    key: Callable[[IncidentCourse], Key], courses: Iterable[IncidentCourse]
) -> list[tuple[Key, list[IncidentCourse]]]:
    """Incidents by something, in their order."""
    grouped: dict[Key, list[IncidentCourse]] = {}
    for course in courses:
        grouped.setdefault(key(course), []).append(course)
    return list(grouped.items())


def _channel(course: IncidentCourse) -> str:
    """The channel in which an incident was notified."""
    return course.readers.channel if course.readers else ""


def _place(course: IncidentCourse) -> tuple[str, str]:
    """The channel and the message in which an incident was notified."""
    return _channel(course), course.readers.alert_key if course.readers else ""
