"""A notification as a frozen value, independent of any chat program, with its JSON form for storage."""

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
    """Severity; *resolved* is the end of a notified incident."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    RESOLVED = "resolved"


def severity_of(kind: Diagnosis | IncidentKind) -> Severity:
    """
    The severity of a cause, of a group or of a pipeline.

    >>> severity_of(Diagnosis.GROUP_NOT_COMMITTING), severity_of(Diagnosis.CATCHING_UP)
    (<Severity.CRITICAL: 'critical'>, <Severity.WARNING: 'warning'>)
    """
    return Severity.CRITICAL if kind.is_critical else Severity.WARNING


class MessageKind(enum.StrEnum):
    """Kind of a message, and of its row in the table `alert`."""

    ADVICE = "advice"
    INCIDENT_OPENED = "incident opened"
    INCIDENT_WORSE = "incident worse"
    INCIDENT_STILL = "incident still open"
    INCIDENT_CLOSED = "incident closed"
    DIGEST = "digest"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section with an optional heading: *lines* of text, then *code*."""

    heading: str
    lines: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    The incident of a message, for programs.

    Attributes:
        key: Id of the incident, from its opening to its end.
        cluster: Configured name of the cluster.
        group_id: The group; None for an incident of the whole cluster.
        cause: The cause.
        severity: Its severity, also after its end.
        owner: Owner of the group; None if none is configured.
        began_at: Start of the incident.
    """

    key: str
    cluster: str
    group_id: str | None
    cause: str
    severity: Severity
    owner: str | None
    began_at: datetime


class NewsKind(enum.StrEnum):
    """Kinds of news about advice, most urgent first."""

    SWITCH = "switch"
    MISSED = "missed"
    WITHDRAWN = "withdrawn"
    ADOPTED = "adopted"
    UNCLEAR = "unclear"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """
    News about a group in a message, even if the text omits the group.

    Attributes:
        group_id: The group.
        kind: Kind of the news.
        strategy: The strategy; None if unknown.
        at: Time of the facts.
        diagnosis: Diagnosis of the group at that time; None if unknown.
    """

    group_id: str
    kind: NewsKind
    strategy: str | None
    at: datetime
    diagnosis: Diagnosis | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], at: datetime) -> Announcement:
        """Read it from a stored message."""
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
        at: Time of its facts.
        title: One line with the name of the cluster.
        summary: One or two self-contained sentences: impact and trend.
        action: The next step, an imperative, which follows the summary.
        sections: Details, worst first.
        more: The command that shows omitted details.
        footer: Sources of the facts, one per line.
        announcements: News about each group (advice only).
        subject: Its incident, if it has one.
        mention: Mentions as in `Rule.mention`, separated by blanks; None for nobody.
        link: URL of the run that created it; None if unknown.
        report: URL of the page with its subject, added at delivery.
        runbook: URL of the page about the diagnosis, added at delivery.
        snapshot_id: The snapshot of its facts, for programs only.
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
        """Links by their text: the page of its subject, the page about its diagnosis, then the run."""
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
