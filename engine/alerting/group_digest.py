"""The message about many groups at once: so already at the first look, opened together, over together or one by one."""

from __future__ import annotations

import enum
import html
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenkeel.engine.alerting.digested import Digested
from evenkeel.engine.alerting.group_incident import GroupIncident, fitted, headline_of, length_of
from evenkeel.engine.message import AlertMessage, MessageKind, Section, Severity, severity_of
from evenkeel.engine.model import Diagnosis
from evenkeel.engine.text import and_more
from evenkeel.engine.wording import listed, moment, sentence, several

FITTING = 40
"""Groups that get a line of their own in a digest at most."""

WORST = 10
"""As many get one however many groups there are; of the others there is room for the names."""

ROOM = 8_000
"""Characters of all its lines, as a chat counts them."""

ROOM_WITH_NAMES = 9_000
"""The same with the names of those that get no line: Slack refuses a message of much more than 13,000 in all."""

PART = 2_500
"""Characters of the lines under one heading."""

NAMES = 1_000
"""Characters of the names of groups that are well again."""

CALLED = 5
"""As many are called by one digest."""


class DigestKind(enum.StrEnum):
    """Why many groups are told at once."""

    FIRST = "first"
    OPENED = "opened"
    RESOLVED = "resolved"


_TITLES: Mapping[DigestKind, str] = {
    DigestKind.FIRST: "in trouble already at the first look",
    DigestKind.OPENED: "in trouble at once",
    DigestKind.RESOLVED: "well again at once",
}


def digest_message(
    incidents: Sequence[GroupIncident], kind: DigestKind
) -> tuple[AlertMessage, tuple[str, ...]]:
    """
    Many incidents of a cluster and channel at once, the most severe first: a line for each, or for the worst only and
    of the others the names, by cause.

    Args:
        incidents: Those of one cluster, at one moment; at least one.
        kind: Why they are told together.

    Returns:
        The message, and the ids of the groups that it names; of all others nobody has been told.
    """
    ordered = sorted(
        incidents, key=lambda each: (each.course.cause.precedence, each.course.group_id)
    )
    line = _line_of_end if kind is DigestKind.RESOLVED else _line
    named, others = _split(ordered, line)
    first, over = ordered[0], kind is DigestKind.RESOLVED
    sections = [part for heading, some in _headed(named, over) for part in _parts(heading, some)]
    sections += _by_cause(others)
    if left := len(ordered) - len(named) - len(others):
        more = "They are told with the next snapshot."
        sections.append(Section(heading=f"and {several(left, 'more group')}", lines=(more,)))
    message = AlertMessage(
        kind=MessageKind.DIGEST,
        severity=Severity.RESOLVED if over else severity_of(first.course.cause),
        at=first.at,
        title=f"{first.cluster}: {several(len(ordered), 'group')} {_TITLES[kind]}",
        summary=_summary(ordered, over),
        sections=tuple(sections),
        more=None if over else "All that is open: evenkeel query open_incidents",
        footer=(f"Snapshot {first.snapshot_id}",),
        mention=_called([*named, *others]) if kind is DigestKind.OPENED else None,
        link=first.link,
    )
    return message, tuple(each.course.group_id for each, _ in (*named, *others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The look at a cluster that a message comes from: cluster, moment, snapshot, address of the run."""

    cluster: str
    at: datetime
    snapshot_id: str
    link: str | None


def changed_digest(digest: Digested, incidents: Sequence[GroupIncident], now: Now) -> AlertMessage:
    """
    What takes the place of a digest once groups of it are well again: how many are, which, and how the others are.

    Args:
        digest: What has become of it.
        incidents: Those that still go by it, as they are now.
        now: The look that shows it so.
    """
    ordered = sorted(
        incidents, key=lambda each: (each.course.cause.precedence, each.course.group_id)
    )
    lines = list(_fitting(ordered, _line))
    sections = [part for heading, some in _headed(lines, False) for part in _parts(heading, some)]
    if unnamed := len(ordered) - len(lines):
        more = "evenkeel query open_incidents has them."
        sections.append(Section(heading=f"and {several(unnamed, 'more group')}", lines=(more,)))
    is_over = not ordered
    count = len(digest.well)
    of = (
        f"all {several(count, 'group')}"
        if count == digest.among
        else f"{count:,} of {digest.among:,} groups"
    )
    return AlertMessage(
        kind=MessageKind.DIGEST,
        severity=Severity.RESOLVED if is_over else severity_of(ordered[0].course.cause),
        at=now.at,
        title=f"{now.cluster}: {of} well again",
        summary=_since_then(digest),
        sections=(*sections, Section(heading="Well again", lines=(_names(digest.well),))),
        more=None if is_over else "All that is open: evenkeel query open_incidents",
        footer=(f"Snapshot {now.snapshot_id}",),
        link=now.link,
    )


def _since_then(digest: Digested) -> str:
    """When it was told, how many are not well, and since when the last of the others is."""
    apart = digest.among - len(digest.well) - len(digest.left)
    clauses = [f"together in trouble at {moment(digest.at)}"]
    if digest.left:
        clauses.append(f"{len(digest.left):,} still {'is' if len(digest.left) == 1 else 'are'}")
    if apart:
        have = "has a message of its own" if apart == 1 else "have messages of their own"
        clauses.append(
            f"{apart:,} {have}, or {'is' if apart == 1 else 'are'} not waited for any more"
        )
    if digest.since:
        clauses.append(f"the last got well at {moment(digest.since)}")
    return sentence("; ".join(clauses))


def _names(names: Sequence[str]) -> str:
    """The first names, as many as a few lines hold, and how many more there are."""
    room, first = NAMES, []
    for name in names:
        first.append(fitted(name, 60))
        room -= _size(first[-1])
        if room < 0 and len(first) > 1:
            first.pop()
            break
    return listed(first, len(first)) + and_more(len(names) - len(first))


Named = tuple[GroupIncident, str]
"""An incident and its line."""


def _line(incident: GroupIncident) -> str:
    owner = f"; {fitted(incident.owner, 40)}" if incident.owner else ""
    name = fitted(incident.course.group_id, 80)
    return f"{name}: {headline_of(incident.course)} (began {length_of(incident)} ago){owner}"


def _line_of_end(incident: GroupIncident) -> str:
    return (
        f"{fitted(incident.course.group_id, 80)}: {incident.course.cause} for {length_of(incident)}"
    )


def _fitting(
    incidents: Iterable[GroupIncident], line: Callable[[GroupIncident], str]
) -> Iterator[Named]:
    """The first ones that one message holds; one at least."""
    room = ROOM
    for place, incident in enumerate(incidents):
        text = line(incident)
        room -= _size(text)
        if place and room < 0:
            return
        yield incident, text


def _split(
    incidents: Sequence[GroupIncident], line: Callable[[GroupIncident], str]
) -> tuple[list[Named], list[Named]]:
    """The worst with their lines, as many as leave room for the names of all others, and those names."""
    lines = list(_fitting(incidents[:FITTING], line))
    if len(lines) == len(incidents):
        return lines, []
    names = [(each, _name(each)) for each in incidents]
    spare = ROOM_WITH_NAMES - sum(_size(name) for _, name in names)
    in_lines: list[Named] = []
    for (each, text), (_, name) in zip(lines, names, strict=False):
        spare -= _size(text) - _size(name)
        if len(in_lines) >= WORST and spare < 0:
            break
        in_lines.append((each, text))
    room = ROOM_WITH_NAMES - sum(_size(text) for _, text in in_lines)
    others: list[Named] = []
    for each, name in names[len(in_lines) :]:
        room -= _size(name)
        if room < 0:
            break
        others.append((each, name))
    return in_lines, others


def _name(incident: GroupIncident) -> str:
    return fitted(incident.course.group_id, 80)


def _by_cause(others: Iterable[Named]) -> Iterator[Section]:
    """Names only, those of one cause together: as many in a line as a part of the message holds."""
    by: dict[Diagnosis, list[str]] = {}
    for each, name in others:
        by.setdefault(each.course.cause, []).append(name)
    for cause, names in by.items():
        heading = f"{sentence(cause.value)[:-1]}, {len(names):,} more"
        for part in _cut(names):
            yield Section(heading=heading, lines=(", ".join(part),))
            heading = f"{sentence(cause.value)[:-1]}, further"


def _cut(names: Sequence[str]) -> Iterator[list[str]]:
    """Names in as few parts as hold them."""
    part: list[str] = []
    room = PART
    for name in names:
        room -= _size(name)
        if part and room < 0:
            yield part
            part, room = [], PART - _size(name)
        part.append(name)
    yield part


def _size(line: str) -> int:
    """Characters that a line takes at most, or a name with its comma: escaped as markup, then as JSON."""
    return len(json.dumps(html.escape(line, quote=False)))


def _headed(named: Sequence[Named], over: bool) -> Iterator[tuple[str, list[str]]]:
    if over:
        yield "What it was", [line for _, line in named]
        return
    for severity in (Severity.CRITICAL, Severity.WARNING):
        lines = [line for each, line in named if severity_of(each.course.cause) is severity]
        if lines:
            yield severity.value.capitalize(), lines


def _parts(heading: str, lines: Sequence[str]) -> Iterator[Section]:
    """The lines under as few headings as hold them."""
    part: list[str] = []
    room = PART
    for line in lines:
        room -= _size(line)
        if part and room < 0:
            yield Section(heading=heading, lines=tuple(part))
            part, room, heading = [], PART - _size(line), f"{heading.split(',')[0]}, further"
        part.append(line)
    yield Section(heading=heading, lines=tuple(part))


def _summary(incidents: Sequence[GroupIncident], over: bool) -> str:
    if over:
        return "What was open about them is over."
    number = Counter(severity_of(each.course.cause) for each in incidents)
    counted = [f"{number[each]:,} {each}" for each in Severity if number[each]]
    return f"{', '.join(counted[::-1])}; the most severe first."


def _called(named: Sequence[Named]) -> str | None:
    """Who is called: each once."""
    who = dict.fromkeys(each.mention for each, _ in named if each.mention)
    return " ".join(list(who)[:CALLED]) or None
