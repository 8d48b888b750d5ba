"""What goes to the outbox about incidents: where, under which key, and in place of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evenkeel.engine.alerting.channels import is_gone, pager_of, receivers_of
from evenkeel.engine.config import Settings
from evenkeel.engine.message import AlertMessage, severity_of
from evenkeel.engine.ports import Posting
from evenkeel.engine.records import IncidentCourse, Readers


@dataclass(kw_only=True, eq=False)
class Postings:
    """What is to be told of the groups of a cluster, in this order."""

    cluster: str
    settings: Settings
    queued: list[Posting] = field(default_factory=list)

    def __iter__(self) -> Iterator[Posting]:
        return iter(self.queued)

    def post(self, key: str, channel: str, message: AlertMessage) -> None:
        """A message of its own."""
        self.queued.append(Posting(key=key, channel=channel, message=message))

    def change(
        self, course: IncidentCourse, readers: Readers, key: str, message: AlertMessage
    ) -> None:
        """The message that stands for an incident becomes another."""
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
        """Something is said in the thread of the message that stands for an incident."""
        self.queued.append(
            Posting(
                key=f"incident {course.key} {key} thread",
                channel=readers.channel,
                message=line,
                answers=readers.alert_key,
                broadcast=broadcast,
            )
        )

    def page(self, course: IncidentCourse, key: str, message: AlertMessage) -> None:
        """
        The same for programs that page, each incident by itself: they bundle on their own.

        What they are told later takes the place of the opening, whether they had that or not: it never overtakes it,
        and what waits gives way to it.
        """
        for pager in self.pagers(course):
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
        """Where people read of it."""
        return self._receivers(course)[0]

    def pagers(self, course: IncidentCourse) -> tuple[str, ...]:
        """The webhooks that take an incident now, and those that know of it: they hear of its end, too."""
        _, *pagers = self._receivers(course)
        known = course.readers.pagers if course.readers else ()
        pagers += [pager for pager in known if not is_gone(self.settings, pager)]
        return tuple(dict.fromkeys(pagers))

    def _receivers(self, course: IncidentCourse) -> list[str]:
        severity = severity_of(course.cause)
        return receivers_of(self.settings, self.cluster, course.group_id, severity)


def ends_of(
    incident_id: int, opened: Sequence[str], channels: Sequence[str], message: AlertMessage
) -> list[Posting]:
    """
    What is told of the end of an incident of a pipeline.

    Args:
        incident_id: Number of the incident.
        opened: Where people and pagers were told, or are to be told, that it opened.
        channels: Who hears of such an incident now: people do only where none were told, pagers in any case.
        message: What is said.
    """
    its = f"incident {incident_id}"
    people = [channel for channel in opened if pager_of(channel) is None]
    told = people or [channel for channel in channels if pager_of(channel) is None]
    pagers = dict.fromkeys(channel for channel in (*channels, *opened) if pager_of(channel))
    ends = [end for place in told for end in over(f"{its} opened", f"{its} closed", place, message)]
    return ends + [
        Posting(
            key=f"{its} closed {pager}",
            channel=pager,
            message=message,
            replaces=f"{its} opened {pager}",
        )
        for pager in pagers
    ]


def over(opened: str, closed: str, channel: str, message: AlertMessage) -> tuple[Posting, Posting]:
    """The message of an incident of a pipeline becomes its end, which its thread and channel are told as well."""
    change = Posting(key=closed, channel=channel, message=message, replaces=opened)
    line = Posting(
        key=f"{closed} thread", channel=channel, message=message, answers=opened, broadcast=True
    )
    return change, line
