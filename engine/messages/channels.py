"""
Routes messages: their channels, their keys and the messages that they replace, and their links.

A channel is a Slack channel, or `webhook:NAME`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from ..config import Settings
from ..incidents.policy import EVERY_CLUSTER
from ..model.message import AlertMessage, MessageKind, Severity, severity_of
from ..model.states import Diagnosis
from ..model.text import report_place, runbook_place
from ..ports import Posting
from ..records import IncidentCourse, Readers

PAGERS = "webhook:"
"""Prefix of webhook channels; a name of the configuration follows."""

LONGEST = 1_000
"""Characters of an address that chats take for one."""


def pager_of(channel: str) -> str | None:
    """
    The name of the webhook of a channel; None for a Slack channel.

    >>> pager_of("webhook:oncall"), pager_of("#kafka")
    ('oncall', None)
    """
    return channel.removeprefix(PAGERS) if channel.startswith(PAGERS) else None


def channel_of(settings: Settings, cluster: str, group: str | None) -> str:
    """The channel of a group, or of a whole cluster (*group* None): that of a rule, or the default channel."""
    return settings.rule(cluster, "*" if group is None else group).channel or settings.slack_channel


def is_named(settings: Settings, channel: str) -> bool:
    """Whether the configuration still has a channel."""
    channels = {settings.slack_channel, *(rule.channel for rule in settings.rules)}
    return channel in channels or pager_of(channel) in settings.webhooks


def is_gone(settings: Settings, channel: str) -> bool:
    """Whether a channel belongs to a webhook that is no longer configured: its pending alerts are dropped."""
    return pager_of(channel) is not None and not is_named(settings, channel)


def receivers_of(
    settings: Settings, cluster: str, group: str | None, severity: Severity
) -> list[str]:
    """
    The channels of an incident: that of its group, then those of the webhooks that match it.

    Args:
        settings: The configuration.
        cluster: Configured name of the cluster.
        group: The group; None for a whole cluster.
        severity: The severity of the incident while it is open; never *resolved*.
    """
    critical = severity is Severity.CRITICAL
    return [
        channel_of(settings, cluster, group),
        *(
            f"{PAGERS}{name}"
            for name, webhook in settings.webhooks.items()
            if webhook.takes(cluster, group, critical=critical)
        ),
    ]


def with_links(message: AlertMessage, cluster: str, settings: Settings) -> AlertMessage:
    """
    A message with links to its pages, as far as the configuration has their addresses.

    The report is that of the group that it is about, else that of its cluster. The runbook is the page about the
    diagnosis, in a digest the list of these pages.

    Args:
        message: The message.
        cluster: Under which cluster it was queued; it may be every one.
        settings: The configuration.
    """
    report, runbook = settings.report_url, settings.runbook_url
    return replace(
        message,
        report=report and _report(message, cluster, f"{report.rstrip('/')}/"),
        runbook=runbook and _runbook(message, f"{runbook.rstrip('/')}/"),
    )


def _runbook(message: AlertMessage, home: str) -> str | None:
    if message.subject is not None:
        of_pipeline = message.subject.group_id is None
        return home + runbook_place(message.subject.cause, of_pipeline=of_pipeline)
    if message.kind is MessageKind.DIGEST:
        return home + runbook_place()
    diagnoses = {told.diagnosis for told in message.announcements}
    diagnosis = diagnoses.pop() if len(diagnoses) == 1 else None
    if diagnosis is None or diagnosis is Diagnosis.HEALTHY:
        return None
    return home + runbook_place(diagnosis)


def _report(message: AlertMessage, cluster: str, home: str) -> str:
    groups = {told.group_id for told in message.announcements}
    group = groups.pop() if len(groups) == 1 else None
    if message.subject is not None:
        group = message.subject.group_id
    of_cluster = None if cluster == EVERY_CLUSTER else cluster
    address = home + report_place(of_cluster, group)
    if len(address) > LONGEST:
        address = home + report_place(of_cluster)
    return address


def posted(
    key: str, channel: str, message: AlertMessage, thread: AlertMessage | None
) -> list[Posting]:
    """A new message, and the first line of its *thread*."""
    postings = [Posting(key=key, channel=channel, message=message)]
    if thread is not None:
        its = f"{key} thread"
        postings.append(Posting(key=its, channel=channel, message=thread, answers=key))
    return postings


@dataclass(kw_only=True, eq=False)
class Postings:
    """The postings of a round about the groups of a cluster or its pipeline, in order."""

    cluster: str
    settings: Settings
    queued: list[Posting] = field(default_factory=list)

    def __iter__(self) -> Iterator[Posting]:
        return iter(self.queued)

    def post(
        self, key: str, channel: str, message: AlertMessage, thread: AlertMessage | None = None
    ) -> None:
        """A new message, and the first line of its *thread*."""
        self.queued += posted(key, channel, message, thread)

    def add(self, key: str, channel: str, message: AlertMessage, answers: str) -> None:
        """A line in the thread of a message."""
        self.queued.append(Posting(key=key, channel=channel, message=message, answers=answers))

    def change(
        self, course: IncidentCourse, readers: Readers, key: str, message: AlertMessage
    ) -> None:
        """Replace the message of an incident."""
        self.queued.append(
            Posting(
                key=f"incident {course.key} {key}",
                channel=readers.channel,
                message=message,
                replaces=readers.alert_key,
            )
        )

    def answer(
        self,
        course: IncidentCourse,
        readers: Readers,
        key: str,
        line: AlertMessage,
        *,
        broadcast: bool,
    ) -> None:
        """Add a line to the thread of an incident's message."""
        self.queued.append(
            Posting(
                key=f"incident {course.key} {key} thread",
                channel=readers.channel,
                message=line,
                answers=readers.alert_key,
                broadcast=broadcast,
            )
        )

    def page(
        self, course: IncidentCourse, key: str, message: AlertMessage, *, but: Collection[str] = ()
    ) -> None:
        """
        Notify webhooks, one incident at a time: they group by themselves.

        Later notifications replace the opening, delivered or not: they never precede it, and supersede pending ones.
        """
        for pager in self.pagers(course):
            if pager in but:
                continue
            first, its = (f"incident {course.key} {each} {pager}" for each in ("opened", key))
            self.queued.append(
                Posting(
                    key=its,
                    channel=pager,
                    message=message,
                    replaces=None if its == first else first,
                )
            )

    def channel(self, course: IncidentCourse) -> str:
        """Its Slack channel."""
        return self._receivers(course)[0]

    def pagers(self, course: IncidentCourse) -> tuple[str, ...]:
        """The webhooks that match an incident now, and those that were notified of it: they receive its end, too."""
        _, *pagers = self._receivers(course)
        known = course.readers.pagers if course.readers else ()
        pagers += [pager for pager in known if not is_gone(self.settings, pager)]
        return tuple(dict.fromkeys(pagers))

    def _receivers(self, course: IncidentCourse) -> list[str]:
        severity = severity_of(course.cause)
        return receivers_of(self.settings, self.cluster, course.group_id, severity)
