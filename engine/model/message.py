"""
A message as a frozen value, without markup of any chat program, and its JSON form for storage.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from .errors import InputError
from .moments import check_aware
from .states import Diagnosis, IncidentKind


class Severity(enum.StrEnum):
    """Severity of a message; *resolved* is the end of a reported incident."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    RESOLVED = "resolved"


def severity_of(kind: Diagnosis | IncidentKind) -> Severity:
    """
    The severity of a kind of problem, of a group or of a pipeline.

    >>> severity_of(Diagnosis.GROUP_NOT_COMMITTING), severity_of(Diagnosis.CATCHING_UP)
    (<Severity.CRITICAL: 'critical'>, <Severity.WARNING: 'warning'>)
    """
    return Severity.CRITICAL if kind.is_critical else Severity.WARNING


class MessageKind(enum.StrEnum):
    """Kinds of messages; also the `kind` of its row in the table `alert`."""

    ADVICE = "advice"
    INCIDENT_OPENED = "incident opened"
    INCIDENT_WORSE = "incident worse"
    INCIDENT_STILL = "incident still open"
    INCIDENT_CLOSED = "incident closed"
    DIGEST = "digest"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part under a heading, which may be empty: *lines* of prose, then *code* to copy."""

    heading: str
    lines: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    The incident of a message, for webhooks.

    Attributes:
        key: Its id, the same from its opening to its end.
        cluster: Configured name of the cluster.
        group_id: The group; None for a whole cluster.
        cause: The problem.
        severity: Its severity, or the last one after its end.
        owner: Owner of the group; None if not configured.
        began_at: When it began.
    """

    key: str
    cluster: str
    group_id: str | None
    cause: str
    severity: Severity
    owner: str | None
    began_at: datetime


class NewsKind(enum.StrEnum):
    """Kinds of news of an advice, the most urgent first."""

    SWITCH = "switch"
    MISSED = "missed"
    WITHDRAWN = "withdrawn"
    ADOPTED = "adopted"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """
    The record of a notification about the advice of one group, also of a group that the text left out.

    Attributes:
        group_id: The group.
        kind: Kind of the news.
        strategy: The strategy; None in messages of earlier versions.
        at: The moment of its facts.
        diagnosis: The diagnosis of the group then; None if unknown.
    """

    group_id: str
    kind: NewsKind
    strategy: str | None
    at: datetime
    diagnosis: Diagnosis | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], at: datetime) -> Announcement:
        """Read it back from a message of some moment."""
        diagnosis = stored.get("diagnosis")
        return cls(
            group_id=stored["group_id"],
            kind=NewsKind(stored["kind"]),
            strategy=stored["strategy"],
            at=at,
            diagnosis=diagnosis and Diagnosis(diagnosis),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """
    A message.

    Attributes:
        kind: Its kind.
        severity: Its severity.
        at: The moment of its facts.
        title: One line, names the cluster.
        summary: One or two sentences: impact and trend.
        action: The action, an imperative; it follows the summary everywhere.
        sections: The details, worst first.
        more: The command that shows everything that was left out.
        footer: Sources of the facts, one per line.
        announcements: The groups that it notifies (advice only).
        subject: Its incident, if there is one.
        mention: Slack mentions, as in `Rule.mention`, separated by spaces; None: no mention.
        link: Address of the run; None if unknown.
        report: Address of the page about the group or cluster; the outbox adds it.
        runbook: Address of the page about the diagnosis; the outbox adds it.
        snapshot_id: Its snapshot, for programs; no text shows it.
    """

    kind: MessageKind
    severity: Severity
    at: datetime
    title: str
    summary: str
    sections: tuple[Section, ...] = ()
    more: str | None = None
    footer: tuple[str, ...] = ()
    announcements: tuple[Announcement, ...] = ()
    subject: Subject | None = None
    mention: str | None = None
    link: str | None = None
    report: str | None = None
    runbook: str | None = None
    action: str | None = None
    snapshot_id: str | None = None

    def __post_init__(self) -> None:
        check_aware(self.at, "at")

    @property
    def brief(self) -> bool:
        """Whether its sections are lines to be read in one go: all but advice for several groups in full."""
        in_full = any(section.lines and section.code for section in self.sections)
        return self.kind is not MessageKind.ADVICE or not in_full

    @property
    def spoken(self) -> str:
        """Summary and action as one text."""
        return " ".join(part for part in (self.summary, self.action) if part)

    @property
    def links(self) -> dict[str, str]:
        """Links by name: the page about the group, the page about the diagnosis, the run."""
        known = {"report": self.report, "runbook": self.runbook, "run": self.link}
        return {word: address for word, address in known.items() if address}

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `from_json` reads."""
        content = asdict(self) | {"at": self.at.isoformat()}
        content["told"] = content.pop("announcements")
        for known in content["told"]:
            del known["at"]  # that of the message
        if self.subject is not None:
            content["subject"]["began_at"] = self.subject.began_at.isoformat()
        return content

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> AlertMessage:
        """
        Raises:
            InputError: It is not a stored message.
        """
        try:
            at = datetime.fromisoformat(stored["at"])
            return cls(
                kind=MessageKind(stored["kind"]),
                severity=Severity(stored["severity"]),
                at=at,
                title=stored["title"],
                summary=stored["summary"],
                sections=tuple(
                    Section(heading=s["heading"], lines=tuple(s["lines"]), code=tuple(s["code"]))
                    for s in stored["sections"]
                ),
                more=stored["more"],
                footer=tuple(stored["footer"]),
                announcements=tuple(Announcement.from_json(one, at) for one in stored["told"]),
                subject=_subject(stored.get("subject")),
                mention=stored.get("mention"),
                link=stored.get("link"),
                report=stored.get("report"),
                runbook=stored.get("runbook"),
                action=stored.get("action"),
                snapshot_id=stored.get("snapshot_id"),
            )
        except (KeyError, TypeError, ValueError) as problem:
            raise InputError(
                f"a stored alert cannot be read: {problem!r} in its message.",
                fix="Another version wrote it: set its state to 'superseded' in the table alert.",
            ) from problem


def _subject(stored: Mapping[str, Any] | None) -> Subject | None:
    if stored is None:
        return None
    read = {
        "severity": Severity(stored["severity"]),
        "began_at": datetime.fromisoformat(stored["began_at"]),
    }
    return Subject(**{**stored, **read})
