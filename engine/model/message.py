"""
What is said, as a frozen value: plain facts without a word of any chat program, and its JSON form
for storage.

A message reads like a colleague: what, how bad, since when, what to do, how sure.
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
    """How bad it is; *resolved* is the end of something told before."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    RESOLVED = "resolved"


def severity_of(kind: Diagnosis | IncidentKind) -> Severity:
    """
    How bad a kind of trouble is, of a group or of a pipeline.

    >>> severity_of(Diagnosis.GROUP_NOT_COMMITTING), severity_of(Diagnosis.CATCHING_UP)
    (<Severity.CRITICAL: 'critical'>, <Severity.WARNING: 'warning'>)
    """
    return Severity.CRITICAL if kind.is_critical else Severity.WARNING


class MessageKind(enum.StrEnum):
    """What a message is about; also the `kind` of its row in the table `alert`."""

    ADVICE = "advice"
    INCIDENT_OPENED = "incident opened"
    INCIDENT_WORSE = "incident worse"
    INCIDENT_STILL = "incident still open"
    INCIDENT_CLOSED = "incident closed"
    DIGEST = "digest"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One thing under one heading, which may be empty: *lines* of prose, then *code* to read letter by letter or to
    copy."""

    heading: str
    lines: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    The incident that a message is about, for receivers that are programs.

    Attributes:
        key: Our own id of it, the same from its opening to its end.
        cluster: Configured name of the cluster.
        group_id: The group; None where the whole cluster is concerned.
        cause: What is wrong.
        severity: How bad that is, or was until its end.
        owner: Who owns the group; None where that is not configured.
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
    """What of an advice is told, the most urgent first."""

    SWITCH = "switch"
    MISSED = "missed"
    WITHDRAWN = "withdrawn"
    ADOPTED = "adopted"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """
    What a reader knows of one group afterwards; also of a group that was cut from the text.

    Attributes:
        group_id: The group.
        kind: What it was told.
        strategy: Of which strategy; None in a message from before that was kept of all of them.
        at: When that was true.
        diagnosis: What was the matter with the group then; None where that is not known.
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
        kind: What it is about.
        severity: How bad it is.
        at: When what it says was true; nothing was told of it before that moment.
        title: One line, names the cluster.
        summary: One or two sentences that stand alone: the impact, and whether it grows.
        action: The one thing to do, an imperative; it follows the summary wherever that is shown.
        sections: The details, worst first.
        more: How to ask for everything that was cut.
        footer: Where the facts come from, one per line.
        announcements: What each group has been told with it (advice only).
        subject: The incident it is about, if it is about one.
        mention: Who is called by it, as `Rule.mention` has it, several with a blank between; None: nobody.
        link: Address of the run it comes from; None where that is not known.
        report: Address of the page that shows what it is about; it is added where the message is delivered.
        runbook: Address of the page about its diagnosis; it is added there, too.
        snapshot_id: The snapshot that it rests on; for programs, no text shows it.
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
        """Summary and action, for whom they are one text."""
        return " ".join(part for part in (self.summary, self.action) if part)

    @property
    def links(self) -> dict[str, str]:
        """Where to read more, by the word for that: the page about the group, the one about the diagnosis, the run."""
        known = {"report": self.report, "runbook": self.runbook, "run": self.link}
        return {word: address for word, address in known.items() if address}

    def to_json(self) -> dict[str, Any]:
        """A JSON-able form, from which `from_json` makes an equal value."""
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
            InputError: This is not a stored message.
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
