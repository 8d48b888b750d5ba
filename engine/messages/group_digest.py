"""
The message about many groups: unhealthy when monitoring started, opened together, worse together, still open, or
resolved together.
"""

from __future__ import annotations

import enum
import html
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..model.message import AlertMessage, MessageKind, Section, Severity, severity_of
from ..model.states import TroubleKind
from .incident_message import (
    BETWEEN,
    NAME,
    Incident,
    fitted,
    headline_of,
    in_lines,
    length_of,
    titled,
)
from .wording import sentence, several
from .wording.incidents import called, formerly

FITTING = 40
"""Groups that get a line of their own in a thread at most."""

WORST = 10
"""Groups that get a line in any case; the others are named if there is room."""

ROOM = 8_000
"""Characters of all lines, as Slack counts them."""

ROOM_WITH_NAMES = 9_000
"""The same with the names of groups without a line: Slack rejects messages of more than about 13,000 characters."""

PART = 2_500
"""Characters of the lines under one heading."""

LOCAL_TIME = 60
"""Additional characters of a moment, for Slack's local time."""

CALLED = 5
"""Mentions of one digest, at most."""


class DigestKind(enum.StrEnum):
    """Reasons for a message about many groups."""

    FIRST = "first"
    OPENED = "opened"
    WORSE = "worse"
    STILL = "still"
    RESOLVED = "resolved"


_TITLES: Mapping[DigestKind, str] = {
    DigestKind.FIRST: "unhealthy when monitoring started",
    DigestKind.OPENED: "unhealthy",
    DigestKind.WORSE: "got worse",
    DigestKind.STILL: "still unhealthy",
    DigestKind.RESOLVED: "resolved",
}


Named = tuple[Incident, str]
"""An incident and its line."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupDigest:
    """
    Many incidents at once.

    Attributes:
        message: The message: a line for each of the worst, and the number of others.
        thread: The others, for its thread; None if there are none.
        named: The ids of the groups in both; the others follow with the next snapshot.
    """

    message: AlertMessage
    thread: AlertMessage | None
    named: tuple[str, ...]


def digest_message(incidents: Sequence[Incident], kind: DigestKind) -> GroupDigest:
    """
    Many incidents of a cluster and channel at once, the most severe first.

    Args:
        incidents: Those of one cluster, at one moment; at least one.
        kind: The reason for a shared message.
    """
    ordered = sorted(incidents, key=lambda each: (each.course.cause.precedence, each.course.name))
    line = _line_of_end if kind is DigestKind.RESOLVED else _line
    shown = in_lines(ordered)
    rest = ordered[len(shown) :]
    named, others = _split(rest, line)
    first, over = ordered[0], kind is DigestKind.RESOLVED
    lines = [line(each) for each in shown]
    if rest:
        lines.append(f"and {len(rest):,} more{'' if over else f': {_counted(rest)}'}")
    known = [*shown, *(each for each, _ in (*named, *others))]
    # each once
    who = list(dict.fromkeys(each.mention for each in known if each.mention))
    mention = " ".join(who[:CALLED]) or None
    message = AlertMessage(
        kind=MessageKind.DIGEST,
        severity=Severity.RESOLVED if over else severity_of(first.course.cause),
        at=first.at,
        title=titled(first.cluster, None, f"{several(len(ordered), 'group')} {_TITLES[kind]}"),
        summary=_summary(ordered, over),
        action=None if over else f"Start with {fitted(first.course.name, NAME)}.",
        sections=tuple(Section(heading="", lines=(each,)) for each in lines),
        more=None if over else "All open incidents: evenkeel query open_incidents",
        snapshot_id=first.snapshot_id,
        mention=mention if kind in (DigestKind.OPENED, DigestKind.WORSE) else None,
        link=first.link,
    )
    thread = _thread(message, rest, named, others, kind) if rest else None
    return GroupDigest(
        message=message, thread=thread, named=tuple(each.course.name for each in known)
    )


def _thread(
    message: AlertMessage,
    rest: Sequence[Incident],
    named: Sequence[Named],
    others: Sequence[Named],
    kind: DigestKind,
) -> AlertMessage:
    """The groups without a line in the message: a line for each, or names by cause if these are too many."""
    over = kind is DigestKind.RESOLVED
    sections = [part for heading, lines in _headed(named, over) for part in _parts(heading, lines)]
    by: dict[TroubleKind, list[str]] = {}
    for each, name in others:
        by.setdefault(each.course.cause, []).append(name)
    for cause, names in by.items():
        heading = f"{sentence(called(cause))[:-1]}, {len(names):,} more"
        sections += _parts(heading, names, joined=", ")
    if left := len(rest) - len(named) - len(others):
        more = "They follow with the next snapshot."
        sections.append(Section(heading=f"and {several(left, 'more group')}", lines=(more,)))
    text = f"{several(len(rest), 'more group')} {_TITLES[kind]}"
    return replace(
        message,
        severity=Severity.RESOLVED if over else severity_of(rest[0].course.cause),
        title=titled(rest[0].cluster, None, text),
        summary=_summary(rest, over),
        action=None,
        sections=tuple(sections),
        more=None,
        mention=None,
    )


def _line(incident: Incident) -> str:
    parts = [headline_of(incident.course), f"open {length_of(incident)}"]
    parts += [fitted(incident.owner, 40)] if incident.owner else []
    return f"{fitted(incident.course.name, 80)}: {BETWEEN.join(parts)}"


def _line_of_end(incident: Incident) -> str:
    return f"{fitted(incident.course.name, 80)}: {formerly(incident.course.cause)} for {length_of(incident)}"


def _split(
    incidents: Sequence[Incident], line: Callable[[Incident], str]
) -> tuple[list[Named], list[Named]]:
    """The worst with their lines, as many as leave room for the names of all others, and those names."""
    lines = _fitting([(each, line(each)) for each in incidents[:FITTING]], ROOM, least=1)
    if len(lines) == len(incidents):
        return lines, []
    names = [(each, fitted(each.course.name, 80)) for each in incidents]
    spare = ROOM_WITH_NAMES - sum(_size(name) for _, name in names)
    in_lines: list[Named] = []
    for (each, text), (_, name) in zip(lines, names, strict=False):
        spare -= _size(text) - _size(name)
        if len(in_lines) >= WORST and spare < 0:
            break
        in_lines.append((each, text))
    room = ROOM_WITH_NAMES - sum(_size(text) for _, text in in_lines)
    return in_lines, _fitting(names[len(in_lines) :], room)


def _fitting(named: Sequence[Named], room: int, least: int = 0) -> list[Named]:
    """The first ones that fit."""
    fitting: list[Named] = []
    for each in named:
        room -= _size(each[1])
        if len(fitting) >= least and room < 0:
            break
        fitting.append(each)
    return fitting


def _size(line: str) -> int:
    """The largest size of a line, or of a name with its comma: escaped as markup, then as JSON."""
    in_local_time = LOCAL_TIME * line.count(" UTC")
    return len(json.dumps(html.escape(line, quote=False))) + in_local_time


def _headed(named: Sequence[Named], over: bool) -> Iterator[tuple[str, list[str]]]:
    if over:
        yield "Resolved", [line for _, line in named]
        return
    for severity in (Severity.CRITICAL, Severity.WARNING):
        lines = [line for each, line in named if severity_of(each.course.cause) is severity]
        if lines:
            yield severity.value.capitalize(), lines


def _parts(heading: str, lines: Sequence[str], joined: str | None = None) -> Iterator[Section]:
    """Lines under as few headings as possible; *joined* names are one line per heading."""
    parts: list[list[str]] = [[]]
    room = PART
    for line in lines:
        room -= _size(line)
        if parts[-1] and room < 0:
            parts.append([])
            room = PART - _size(line)
        parts[-1].append(line)
    for part in parts:
        its = part if joined is None else [joined.join(part)]
        yield Section(heading=heading, lines=tuple(its))
        heading = f"{heading.split(',')[0]}, further"


def _summary(incidents: Sequence[Incident], over: bool) -> str:
    if over:
        return "All of their incidents are resolved."
    return f"{_counted(incidents)}, most severe first."


def _counted(incidents: Sequence[Incident]) -> str:
    number = Counter(severity_of(each.course.cause) for each in incidents)
    counted = [f"{number[each]:,} {each}" for each in Severity if number[each]]
    return ", ".join(counted[::-1])
