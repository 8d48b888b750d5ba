"""
Builds the messages about incidents of groups and pipelines: opened, worse, still open, a habit, resolved. What they say
is true in the newest snapshot.

They are for a phone at night: problem, impact, action, beginning, changes before it, owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from ..config import RefusedCluster, Settings
from ..incidents.kinds import LOSSES
from ..incidents.policy import EVERY_CLUSTER
from ..model.command import command, quoted
from ..model.facts import Fact
from ..model.formats import brief, minute, roughly
from ..model.message import AlertMessage, MessageKind, Section, Severity, Subject, severity_of
from ..model.states import CAPACITY, SECONDS_BEHIND, Diagnosis, IncidentKind, TroubleKind
from ..model.text import cut, printable
from ..records import CauseSpan, IncidentCourse
from .events import EventKind, new_losses, rose, seen_now
from .since_told import since, told_since, usually
from .wording import incidents as wording
from .wording import sentence, shortened, words
from .wording.pipelines import PIPELINES, errors, title_of, what_is_wrong

TITLE = 80
"""Characters of a title."""

LEAST_NAME = 24
"""Characters of a name that a title keeps in any case."""

PLACE = 20
"""Characters of a cluster's name in a title."""

NAME = 60
"""Characters of a name in a line."""

LINE = 240
"""Characters of a line."""

HEADLINE = 70
"""Characters of a title after the name."""

TRACE = 110
"""Characters of a trace: a host, an offset, a last member."""

ERRORS = 3
"""Errors of a pipeline's steps that a message quotes."""

BETWEEN = " · "
"""Separator of facts in one line."""

ONLY_MORE = "You hear of it again only if it is more than that."
"""What becomes of a habit."""

LINES = 6
"""Lines of a message about many: with summary and footer, Slack shows eight."""

WHY_BEHIND = CAPACITY | {Diagnosis.CRASH_LOOP, Diagnosis.SCALER_FLAPPING, Diagnosis.REBALANCING}
"""Causes that explain a time lag."""

KINDS: Mapping[EventKind, MessageKind] = {
    EventKind.OPENED: MessageKind.INCIDENT_OPENED,
    EventKind.WORSE: MessageKind.INCIDENT_WORSE,
    EventKind.STILL: MessageKind.INCIDENT_STILL,
    EventKind.HABIT: MessageKind.INCIDENT_STILL,
    EventKind.RESOLVED: MessageKind.INCIDENT_CLOSED,
}
"""The kind of a message, by its event."""

SEVERITIES: Mapping[EventKind, Severity] = {
    EventKind.HABIT: Severity.INFO,
    EventKind.RESOLVED: Severity.RESOLVED,
}
"""The severity of a message that has not that of its incident, by its event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """
    An incident of a group or a pipeline at the moment of a notification.

    Attributes:
        cluster: Configured name of the cluster.
        course: Its history; its `readers` are as of the notification *before* this.
        at: When the reading of the snapshot ended; of a pipeline the moment.
        snapshot_id: The snapshot.
        changed: Changes of the group since the last snapshot in which it was healthy; None: not known.
        rates: What arrives and what members do, where it has changed within the snapshots that are looked back on.
        owner: Owner of the group, as configured.
        mention: Slack mentions, as in `Rule.mention`; None: no mention.
        link: Address of the run.
        kafka: Options by which Kafka's own tools reach the cluster; None: not known.
        quiet: Clause about a silence or an acknowledgement; None: there is none.
        unwatched: Whether it ended because its cluster is no longer configured.
    """

    cluster: str
    course: IncidentCourse
    at: datetime
    snapshot_id: str
    changed: tuple[Fact, ...] | None = None
    rates: tuple[Fact, ...] = ()
    owner: str | None = None
    mention: str | None = None
    link: str | None = None
    kafka: str | None = None
    quiet: str | None = None
    unwatched: bool = False

    @property
    def ended_at(self) -> datetime:
        """When it recovered, which is before it counted as resolved."""
        return self.course.well_since or self.course.closed_at or self.at


def fitted(text: str, limit: int = LINE) -> str:
    """A printable text within a limit: names may contain any character."""
    return shortened(printable(text), limit)


def message_of(incident: Incident, event: EventKind) -> AlertMessage:
    """
    The message of an incident. The title has the problem and one number. Line 2 has the impact, the trend and the
    action. Then follow background, beginning, other causes, changes before it, one command, and the owner. A resolved
    incident has the former problem, the last reported severity, and its period.

    Readers who were notified before see the news since. A pipeline has a link to the failed task.
    """
    course = incident.course
    if course.group_id is None:
        return _of_pipeline(incident, event)
    if event is EventKind.RESOLVED:
        title = f"{_outcome(course)}, {_was(course)} for {length_of(incident)}"
        when = BETWEEN.join([_from_to(incident), *_peaks(course)])
        lines = [("When", when), ("Flapping", _why_only_now(incident))]
        return _of_group(incident, event, title, _now_healthy(incident), sections=_sections(lines))
    if event is EventKind.HABIT:
        return _of_habit(
            incident, [("Since", _since_where(incident, ())), *_beside(course, _worst(course))]
        )
    worst = _worst(course)
    title, facts = headline_of(course), worst.facts if worst else ()
    about, habit = _acted_upon(course, worst), usually(course)
    lines = [("", fitted(wording.more(about)) if about and not habit else "")]
    if course.readers is not None:
        news = told_since(course, worst, event, incident.at, whole=False)
        lines.append((event.capitalize(), fitted(news)))
    lines += [
        ("Usually", habit),
        ("Since", _since_where(incident, facts)),
        *_beside(course, worst),
        ("Changed", _changed(incident)),
    ]
    following = (
        _raising_retention(incident.kafka, about)
        or _finding_producer(incident.kafka, about)
        or next_command(
            incident.cluster,
            course.name,
            about.cause if about else course.cause,
            course.good_snapshot_id,
        )
    )
    sections = (*_sections(lines), Section(heading="Next", code=(following,)))
    summary = _impact(course, worst, title)
    return _of_group(incident, event, title, summary, action=_action(about), sections=sections)


def line_of(incident: Incident, event: EventKind) -> AlertMessage:
    """
    The line for the thread of that message; it mentions people only if the incident is more severe than they know. Of a
    pipeline it is the same message.
    """
    course, readers = incident.course, incident.course.readers
    if course.group_id is None:
        return _of_pipeline(incident, event)
    if event is EventKind.RESOLVED:
        title = f"{_outcome(course)}, {_was(course)} for {length_of(incident)}"
        when = sentence(", ".join([_from_to(incident), *_peaks(course)]))
        return _of_group(incident, event, title, f"{when} {_why_only_now(incident)}".strip())
    worst = _worst(course)
    calls = readers is None or rose(course, readers)
    caller = incident if calls else replace(incident, mention=None)
    title = f"{'still' if event is EventKind.STILL else f'{event}:'} {headline_of(course)}"
    if event is EventKind.HABIT:
        return _of_habit(incident)
    news = fitted(told_since(course, worst, event, incident.at, whole=True))
    return _of_group(caller, event, title, news, action=_action(_acted_upon(course, worst)))


def _of_habit(incident: Incident, lines: Iterable[tuple[str, str]] = ()) -> AlertMessage:
    """What comes by the clock, how much it is, and that it is told no more; it mentions nobody."""
    title = f"habit: {headline_of(incident.course)}"
    summary = f"{sentence(fitted(usually(incident.course)))} {ONLY_MORE}"
    quietly = replace(incident, mention=None)
    return _of_group(quietly, EventKind.HABIT, title, summary, sections=_sections(lines))


def headline_of(course: IncidentCourse) -> str:
    """The problem in a few words, with its number."""
    span = _worst(course)
    return fitted(wording.headline(span) if span else wording.called(course.cause), HEADLINE)


def titled(name: str, place: str | None, text: str) -> str:
    """
    A title within `TITLE`: a long name is cut in the middle, because its ends differ most.

    >>> titled("orders", "eu", "25 min behind")
    'orders (eu): 25 min behind'
    >>> titled("payments.checkout-service.consumer-group", "eu", "offsets skipped, 1.6M records unread")
    'payments.checkout-…ice.consumer-group (eu): offsets skipped, 1.6M records unread'
    """
    where = f" ({fitted(place, PLACE)})" if place is not None else ""
    name = printable(name)
    text = shortened(text, TITLE - len(where) - 2 - min(len(name), LEAST_NAME))
    return f"{cut(name, TITLE - len(where) - 2 - len(text))}{where}: {text}"


T = TypeVar("T")


def in_lines(items: Sequence[T]) -> Sequence[T]:
    """
    Those that get a line of their own in a message about many; one line counts the others.

    >>> len(in_lines(range(6))), len(in_lines(range(7)))
    (6, 5)
    """
    return items if len(items) <= LINES else items[: LINES - 1]


def length_of(incident: Incident) -> str:
    """Its duration."""
    return roughly((incident.ended_at - incident.course.began_at).total_seconds())


def _built(
    incident: Incident,
    event: EventKind,
    title: str,
    summary: str,
    sections: Iterable[Section],
    footer: tuple[str, ...],
    link: str | None,
    action: str | None = None,
) -> AlertMessage:
    """A message about an incident; it mentions people until that is resolved."""
    over, course = event is EventKind.RESOLVED, incident.course
    severity = severity_of(course.cause)
    subject = Subject(
        key=course.key,
        cluster=incident.cluster,
        group_id=course.group_id,
        cause=course.cause.value,
        severity=severity,
        owner=incident.owner,
        began_at=course.began_at,
    )
    cluster = "evenkeel" if subject.cluster == EVERY_CLUSTER else subject.cluster
    name, place = cluster, None
    if subject.group_id is not None:
        name, place = subject.group_id, cluster
    return AlertMessage(
        kind=KINDS[event],
        severity=SEVERITIES.get(event, severity),
        at=incident.at,
        title=titled(name, place, title),
        summary=summary,
        sections=tuple(each for each in sections if each.lines or each.code),
        footer=footer,
        subject=subject,
        mention=None if over else incident.mention,
        link=link,
        action=None if over else action,
        snapshot_id=incident.snapshot_id,
    )


def _sections(lines: Iterable[tuple[str, str]]) -> tuple[Section, ...]:
    """A line under each heading; empty lines are left out."""
    return tuple(Section(heading=heading, lines=(line,)) for heading, line in lines if line)


# Of groups


def _of_group(
    incident: Incident,
    event: EventKind,
    title: str,
    summary: str,
    *,
    action: str | None = None,
    sections: Iterable[Section] = (),
) -> AlertMessage:
    footer = [f"Owner: {fitted(incident.owner, NAME)}"] if incident.owner else []
    if incident.quiet:
        footer.append(sentence(fitted(incident.quiet)))
    link = incident.link
    return _built(incident, event, title, summary, sections, tuple(footer), link, action)


def _impact(course: IncidentCourse, worst: CauseSpan | None, title: str) -> str:
    """Impact and trend, without the numbers of the title."""
    facts = worst.facts if worst else ()
    impact = wording.impact(facts)
    bad = [fact for span in seen_now(course.causes) for fact in span.facts]
    numbers = wording.how_bad(worst, bad, f"{title} {impact}")
    parts = (_sentence(impact, facts), sentence(fitted(numbers)))
    name = (worst or course).cause
    return " ".join(part for part in parts if part) or sentence(wording.called(name))


def _action(about: CauseSpan | None) -> str | None:
    return fitted(wording.action(about)) if about else None


def _now_healthy(incident: Incident) -> str:
    """The present state, and the last reported severity."""
    course, readers = incident.course, incident.course.readers
    if course.well_since:
        now = f"The group has been healthy since {minute(course.well_since)}."
    elif course.unseen_since:
        within = roughly((incident.at - course.unseen_since).total_seconds())
        now = f"The group has been within its lag SLO for {within}, though close to it."
    else:
        now = "The group was not seen healthy; evenkeel no longer waits for it."
    bad = wording.amount(readers.cause, readers.amount) if readers and readers.amount else None
    return f"{now} Last reported: {bad}." if bad else now


def _peaks(course: IncidentCourse) -> list[str]:
    """The largest lag and time behind, unless unknown or equal to the last report."""
    peaks = [f"peak lag {brief(course.peak_lag)}"] if course.peak_lag else []
    readers, seconds = course.readers, course.peak_behind_seconds
    behind = roughly(seconds) if seconds else None
    known = wording.amount(readers.cause, readers.amount) if readers and readers.amount else ""
    if behind and known != f"{behind} behind":
        peaks.append(f"up to {behind} behind")
    return peaks


def _why_only_now(incident: Incident) -> str:
    """Why a flapping incident was resolved only now."""
    course = incident.course
    if course.over_at is None or course.well_since is None:
        return ""
    stayed = roughly((incident.at - course.well_since).total_seconds())
    back = wording.came_back(course.over_at, course.began_at)
    return f"It was {back}; now it has been healthy for {stayed}."


def _was(course: IncidentCourse) -> str:
    """The former main cause, and data loss in addition."""
    known = course.readers.causes if course.readers else ()
    beside = [cause for cause in known if cause in LOSSES and cause is not course.cause]
    return " and ".join(wording.formerly(cause) for cause in (course.cause, *beside))


def _outcome(course: IncidentCourse) -> str:
    """How it ended: closed if the group was not seen healthy again."""
    return "resolved" if course.well_since or course.unseen_since else "closed"


def _worst(course: IncidentCourse) -> CauseSpan | None:
    """The main cause, or the worst remaining one if the newest snapshot doesn't show that."""
    there = seen_now(course.causes)
    named = (span for span in there if span.cause is course.cause)
    return next(named, there[0] if there else None)


def _sentence(clause: str, facts: Sequence[Fact]) -> str:
    """A clause about some facts as a sentence; where it begins with a name, that stays as it is."""
    text = fitted(clause)
    names = (fact.subjects[0] for fact in facts if fact.subjects)
    return f"{text}." if any(clause.startswith(name) for name in names) else sentence(text)


def _beside(course: IncidentCourse, worst: CauseSpan | None) -> list[tuple[str, str]]:
    """The other causes, present and former."""
    there = seen_now(course.causes)
    was = [span.cause for span in course.causes if span not in there and span is not worst]
    if worst is not None and worst.cause is not course.cause:
        was = [course.cause, *was]
    before = ", ".join(dict.fromkeys(map(wording.called, was)))
    # news have a line of their own
    elsewhere = (worst, *new_losses(course))
    also = [fitted(wording.headline(span), HEADLINE) for span in there if span not in elsewhere]
    if not also:
        return [("Earlier", before)]
    return [
        ("Also", shortened(BETWEEN.join([*also, *([f"earlier: {before}"] * bool(before))]), LINE))
    ]


def _since_where(incident: Incident, facts: Sequence[Fact]) -> str:
    """Beginning, flapping, and traces."""
    course = incident.course
    parts = [since(course.began_at, incident.at)]
    if course.readers is None and course.over_at is not None:
        parts.append(f"flapping, {wording.came_back(course.over_at, course.began_at)}")
    return BETWEEN.join([*parts, *(fitted(each, TRACE) for each in wording.traces(facts))])


def _changed(incident: Incident) -> str:
    """Changes before it, and those of its rates; unknown differs from no change."""
    clauses = [words(fact) for fact in (*incident.rates, *(incident.changed or ()))]
    if incident.changed is None:
        clauses.append("others unknown" if clauses else "unknown")
        clauses[-1] += ", no snapshot is left in which it was healthy"
    return fitted(BETWEEN.join(dict.fromkeys(clauses)) or "nothing that a snapshot shows")


def _acted_upon(course: IncidentCourse, worst: CauseSpan | None) -> CauseSpan | None:
    """The cause to act on: the reason for a time lag if that is known, otherwise the worst cause."""
    if worst is None or worst.cause is not Diagnosis.CATCHING_UP:
        return worst
    return next((each for each in course.causes if each.cause in WHY_BEHIND), worst)


def kafka_options(settings: Settings, cluster: str) -> str | None:
    """Options by which Kafka's own tools reach a cluster; None where its address is not known."""
    found = settings.clusters.get(cluster)
    if found is None or isinstance(found, RefusedCluster):
        return None
    options = f"--bootstrap-server {quoted(found.bootstrap)}"
    protocol = found.properties.get("security.protocol", "plaintext")
    is_plain = protocol.lower() == "plaintext"
    return options if is_plain else f"{options} --command-config client.properties"


def _raising_retention(kafka: str | None, about: CauseSpan | None) -> str | None:
    """The command that doubles what a topic that loses records keeps; None where one of its parts is unknown."""
    kept = wording.kept_of(about) if about and about.cause in wording.LOSING else None
    if kafka is None or kept is None:
        return None
    limits = (("retention.ms", kept.after), ("retention.bytes", kept.bound))
    raised = [f"{key}={round(2 * limit)}" for key, limit in limits if limit and limit > 0]
    if not raised:
        return None
    what = f"--alter --entity-type topics --entity-name {{}} --add-config {','.join(raised)}"
    return f"kafka-configs.sh {kafka} {command(what, kept.subjects[0])}"


def _finding_producer(kafka: str | None, about: CauseSpan | None) -> str | None:
    """The command that tells the producer of an open transaction; None where one of its parts is unknown."""
    there = [fact for fact in about.facts if fact.measure == "open_transaction"] if about else []
    if kafka is None or not there:
        return None
    topic, _, partition = there[0].subjects[0].rpartition("-")
    what = "describe-producers --topic {} --partition {}"
    return f"kafka-transactions.sh {kafka} {command(what, topic, partition)}"


def next_command(cluster: str, group: str, cause: TroubleKind, good_snapshot_id: str | None) -> str:
    """
    The next command to run.

    Args:
        cluster: Configured name of the cluster.
        group: The group.
        cause: Its problem.
        good_snapshot_id: The last snapshot in which it was healthy; None if unknown.

    >>> next_command("eu", "orders", Diagnosis.NO_MEMBERS, None)
    'evenkeel lag --cluster eu --group orders'
    >>> next_command("eu", "it's $HOME", Diagnosis.CATCHING_UP, None)
    'evenkeel advise --from lake --cluster eu --group \\'it\\'"\\'"\\'s $HOME\\''
    """
    if cause is Diagnosis.UNKNOWN:
        return command("evenkeel doctor --cluster {}", cluster)
    if cause in (Diagnosis.GROUP_DELETED, Diagnosis.OFFSETS_SKIPPED):
        # the newest snapshot has no such group, or no longer shows the jump
        asked = "evenkeel query lag_history --param cluster={} --param group={}"
        return command(asked, cluster, group)
    if cause is Diagnosis.REBALANCING and good_snapshot_id is not None:
        compared = "evenkeel diff --cluster {} --since {} --group {}"
        return command(compared, cluster, good_snapshot_id, group)
    if cause is Diagnosis.STORE_IN_ONE_RACK:
        return command("evenkeel tasks --from lake --cluster {} --group {}", cluster, group)
    # with the capacity of members, and forecasts of other assignments
    verb = "advise --from lake" if cause in SECONDS_BEHIND else "lag"
    return command(f"evenkeel {verb} --cluster {{}} --group {{}}", cluster, group)


def _from_to(incident: Incident) -> str:
    return f"{minute(incident.course.began_at)} to {minute(incident.ended_at)}"


# Of pipelines


def _of_pipeline(incident: Incident, event: EventKind) -> AlertMessage:
    course, now = incident.course, incident.at
    kind, known = IncidentKind(course.cause), wording.known_of(course)
    its, last_errors = PIPELINES[kind], errors(known)
    if event is EventKind.RESOLVED:
        lasted = roughly((now - course.began_at).total_seconds())
        title, summary = f"resolved, {its.called} for {lasted}", its.afterwards
        if incident.unwatched:
            title, summary = "no longer watched", "The cluster is no longer configured."
        when = f"{minute(course.began_at)} to {minute(now)}"
        lines = [("When", when), ("Last error", " ".join(last_errors[-1:]))]
        return _built(incident, event, title, summary, _sections(lines), (), None)
    first, *what = what_is_wrong(kind, incident.cluster, known, now)
    lines = [
        ("", its.more),
        ("Facts", BETWEEN.join(what)),
        ("Error", BETWEEN.join(last_errors[:ERRORS])),
    ]
    sections = (*_sections(lines), Section(heading="Next", code=(its.command,)))
    noticed = (
        f"Detected {minute(course.opened_at or now)}. The next message comes when it is resolved."
    )
    # the page of the task that failed last, if its host is known
    links = (step.get("link") or "" for step in known.get("steps") or [known])
    link = next((link for link in links if link.startswith(("http://", "https://"))), None)
    title, summary = title_of(kind, incident.cluster, known, now), f"{first} {its.effect}"
    return _built(incident, event, title, summary, sections, (noticed,), link, its.action)
