"""
Notifications about groups after a snapshot, and about a pipeline after a check: incidents that opened, got worse or
were resolved, one by one or, for groups, in a digest.

An incident has one message per channel. evenkeel edits it when the incident gets worse, at a reminder and at its end,
and adds a line to its thread each time. Many incidents at once share a digest. So do the pre-existing ones, the first
time that several are known; those that need more snapshots are notified like any other. A group that a digest doesn't
name follows with the next snapshot. An incident in a digest has no message of its own: it gets one when it becomes
worse, and its end is a line in the digest's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ..config import Rule, Settings
from ..incidents.evaluation import Judgment
from ..incidents.lifecycle import stepped
from ..incidents.policy import deaf_to
from ..incidents.silences import Quiet, Quieting
from ..model.facts import Fact
from ..model.groups import WatchOf
from ..model.logs import logger
from ..model.message import AlertMessage
from ..model.states import Diagnosis, IncidentState
from ..ports import IncidentWatch, Posting
from ..records import CauseSpan, IncidentCourse, IncidentRow, Readers
from .channels import Postings
from .events import EventKind, GroupEvent, amount_of, loses, news_of, rose
from .group_digest import DigestKind, digest_message
from .incident_message import Incident, headline_of, kafka_options, line_of, message_of
from .silence_messages import quiet_clause
from .wording.incidents import summary_of

Changed = Callable[[IncidentCourse], tuple[Fact, ...] | None]
"""Changes of a group since it was last healthy; only computed for notifications, because it is slow."""


log = logger(__name__)


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
    shown = (_shown(settings, judgment, course) for course in (*courses, *kept))
    return ToldRound(
        courses=tuple(courses),
        incidents=tuple(row for row in shown if row is not None),
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
        opening: list[IncidentCourse] = []
        resolved: list[IncidentCourse] = []
        for course in list(self.courses.values()):
            readers = course.readers
            if course.state is IncidentState.RESOLVED:
                resolved += [course] if readers else []
            elif course.state is IncidentState.OPEN:
                rules = self.settings.incidents(self.judgment.cluster, course.name)
                news = news_of(course, self._quiet(course), rules, self.judgment.at)
                if news is None:
                    continue
                if readers is None or readers.in_digest:
                    opening.append(course)
                else:
                    with _by_itself(course):
                        self._changed(course, readers, news)
        for channel, some in _by(self.postings.channel, opening):
            self._opened(channel, some)
        for channel, some in _by(lambda its: its.readers.channel if its.readers else "", resolved):
            self._resolved(channel, some)

    def _opened(self, channel: str, courses: Sequence[IncidentCourse]) -> None:
        """Pre-existing incidents of groups share a digest, once per channel, and so do too many at once."""
        rest = [course for course in courses if course.readers or not course.already_so]
        first = [course for course in courses if course.already_so and not course.readers]
        if len(first) > 1 and channel not in self.begun:
            self._digest(channel, DigestKind.FIRST, first)
        else:
            rest += first
        if self._is_flood(rest):
            for course in self._digest(channel, DigestKind.OPENED, rest):
                # a digest may have an incident that was in another before
                key = f"reported in {self.judgment.snapshot_id}" if course.readers else "opened"
                with _by_itself(course):
                    message = _made(message_of, self._incident(course), EventKind.OPENED)
                    self.postings.page(course, key, message)
            return
        for course in rest:
            with _by_itself(course):
                key, deaf = f"incident {course.key} opened", deaf_to(course)
                message = _made(message_of, self._explained(course), EventKind.OPENED)
                if channel not in deaf:
                    self.postings.post(key, channel, message)
                self._event(EventKind.OPENED, [course], message)
                paged = "reported alone" if course.readers else "opened"
                self.postings.page(course, paged, message, but=deaf)
                self._know(course, key, channel)

    def _is_flood(self, courses: Sequence[IncidentCourse]) -> bool:
        """Whether these are too many for single messages."""
        return self.judgment.of is WatchOf.GROUPS and len(courses) > self.settings.digest_threshold

    def _changed(self, course: IncidentCourse, readers: Readers, news: EventKind) -> None:
        """It got worse, which webhooks receive too, or is a reminder."""
        incident, updates = self._explained(course), readers.updates + 1
        key = f"{news} {updates}"
        message, line = _made(message_of, incident, news), _made(line_of, incident, news)
        is_loud = rose(course, readers) or loses(course)
        self.postings.change(course, readers, key, message)
        self.postings.answer(course, readers, key, line, broadcast=is_loud)
        self._event(news, [course], message)
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
                with _by_itself(course):
                    self._over(course, is_flood)
                    self.courses[course.name] = course

    def _over(self, course: IncidentCourse, in_digest: bool) -> None:
        readers, incident = course.readers, self._incident(course)
        if readers is None:
            return
        over = EventKind.RESOLVED
        message, line = _made(message_of, incident, over), _made(line_of, incident, over)
        if not readers.in_digest:
            self.postings.change(course, readers, "resolved", message)
        if not in_digest:
            is_loud = not readers.in_digest and self._quiet(course) is None
            self.postings.answer(course, readers, "resolved", line, broadcast=is_loud)
            self._event(EventKind.RESOLVED, [course], message)
        self.postings.page(course, "resolved", message)

    def _digest(
        self, channel: str, kind: DigestKind, courses: Sequence[IncidentCourse]
    ) -> list[IncidentCourse]:
        """Notify of many at once; returns those that the digest names."""
        incidents = [_worded(self._incident(course)) for course in courses]
        digest = digest_message(incidents, kind)
        key = f"digest {self.judgment.snapshot_id} {channel} {kind}"
        self.postings.post(key, channel, digest.message, digest.thread)
        named = [course for course in courses if course.group_id in set(digest.named)]
        self._event(EventKind.DIGEST, named, digest.message)
        if kind is not DigestKind.RESOLVED:
            for course in named:
                paged = kind is DigestKind.OPENED
                self._know(course, key, channel, in_digest=True, paged=paged)
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
        before = course.readers.causes if course.readers else ()
        causes = dict.fromkeys((*before, course.cause, *(span.cause for span in course.causes)))
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
                pagers=self.postings.pagers(course) if paged else (),
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
        """With the changes before its beginning."""
        return replace(self._incident(course), changed=self.changed(course))

    def _quiet(self, course: IncidentCourse) -> Quiet | None:
        return self.quiet(course.name, self.judgment.at)


def _begun(before: IncidentWatch) -> frozenset[str]:
    """The channels that had a digest of pre-existing incidents."""
    known = (course.readers for course in before.courses if course.already_so)
    return frozenset(readers.channel for readers in known if readers and readers.in_digest)


def rule_of(settings: Settings, cluster: str, course: IncidentCourse) -> Rule:
    """The rule of the group of an incident; of a pipeline, that of all groups of its cluster."""
    return settings.rule(cluster, "*" if course.group_id is None else course.group_id)


def owner_of(settings: Settings, cluster: str, course: IncidentCourse) -> str | None:
    """The owner of the group of an incident; a pipeline has no owner."""
    return None if course.group_id is None else rule_of(settings, cluster, course).owner


def _shown(settings: Settings, judgment: Judgment, course: IncidentCourse) -> IncidentRow | None:
    """The row of an incident in the history database; a failure of its text doesn't affect the others."""
    cluster, at = judgment.cluster, judgment.at
    try:
        summary = summary_of(course, cluster)
    except Exception:
        log.exception("the text about %s failed", course.name)
        summary = course.cause.value
    owner = owner_of(settings, cluster, course)
    return IncidentRow.of_course(course, cluster=cluster, at=at, owner=owner, summary=summary)


@contextmanager
def _by_itself(course: IncidentCourse) -> Iterator[None]:
    """A failing message doesn't affect the other groups; the next snapshot retries it."""
    try:
        yield
    except Exception:
        log.exception("the message about %s failed", course.name)


def _made(
    make: Callable[[Incident, EventKind], AlertMessage],
    incident: Incident,
    kind: EventKind,
) -> AlertMessage:
    """A message; if the text of its facts fails, one without them."""
    try:
        return make(incident, kind)
    except Exception:
        log.exception("the message about %s lacks its facts", incident.course.name)
        return make(_bare(incident), kind)


def _worded(incident: Incident) -> Incident:
    """An incident for a digest, without its facts if their text fails."""
    try:
        headline_of(incident.course)
    except Exception:
        log.exception("the message about %s lacks its facts", incident.course.name)
        return _bare(incident)
    return incident


def _bare(incident: Incident) -> Incident:
    """Only the name of its cause, and its beginning."""
    causes = tuple(replace(span, facts=()) for span in incident.course.causes)
    return replace(incident, course=replace(incident.course, causes=causes), changed=None)


def _by(
    key: Callable[[IncidentCourse], str], courses: Iterable[IncidentCourse]
) -> list[tuple[str, list[IncidentCourse]]]:
    """Incidents by something, in their order."""
    grouped: dict[str, list[IncidentCourse]] = {}
    for course in courses:
        grouped.setdefault(key(course), []).append(course)
    return list(grouped.items())
