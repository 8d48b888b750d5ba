"""Preview of notifications, for all snapshots of a recording or for the newest snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase

from ..config import Settings
from ..messages.notifications import ToldRound
from ..model.message import AlertMessage
from ..ports import IncidentWatch, Lake, PendingAlert, Posting
from ..records import SilenceRow
from .pipeline import WholeHistory, walk
from .watch_groups import look_at


@dataclass(frozen=True, kw_only=True, eq=False)
class Preview:
    """
    A notification that would be sent.

    Attributes:
        at: Time of its facts.
        cluster: Configured name of the cluster.
        posting: The notification.
        groups: Its groups; empty for the pipeline.
        owners: Their configured owners.
        waits: Whether it is already pending in the outbox.
    """

    at: datetime
    cluster: str
    posting: Posting
    groups: tuple[str, ...]
    owners: tuple[str, ...]
    waits: bool = False

    def is_about(self, pattern: str) -> bool:
        """Whether one of its groups matches a shell pattern; one without groups matches only `*`."""
        return pattern == "*" or any(fnmatchcase(group, pattern) for group in self.groups)


def walked(
    lake: Lake, history: WholeHistory, settings: Settings, cluster: str
) -> Iterator[Preview]:
    """
    Notifications of incidents after each snapshot of a cluster, oldest first.

    Maintenance windows of the configuration apply.

    Args:
        lake: The lake.
        history: An empty history in memory.
        settings: The configuration.
        cluster: Configured name of the cluster.
    """
    for ran in walk(lake, history, settings, cluster, advising=False):
        if ran.watched is not None:
            yield from _of_round(settings, cluster, ran.watched)


def newest(
    lake: Lake,
    settings: Settings,
    watch: IncidentWatch,
    silences: Callable[[datetime], Sequence[SilenceRow]],
) -> list[Preview]:
    """
    Notifications after the newest snapshot of a cluster; empty if it was evaluated already.

    Args:
        lake: The lake.
        settings: The configuration.
        watch: Incident states of the groups of the cluster.
        silences: Silences and acknowledgements at a moment.
    """
    ids = lake.snapshots(watch.cluster, limit=1)
    if not ids or ids[0] == watch.snapshot_id:
        return []
    _, done = look_at(lake, settings, ids[0], watch, silences)
    return list(_of_round(settings, watch.cluster, done))


def pending(settings: Settings, alerts: Sequence[PendingAlert]) -> Iterator[Preview]:
    """
    Pending notifications of the outbox.

    Raises:
        InputError: Another version wrote a message.
    """
    for alert in alerts:
        message = AlertMessage.from_json(alert.message)
        posting = Posting(
            key=alert.key,
            channel=alert.channel,
            message=message,
            answers=alert.answers,
            replaces=alert.replaces,
            broadcast=alert.broadcast,
        )
        groups = _subjects(message)
        yield replace(_preview(settings, alert.cluster, posting, groups), waits=True)


def _of_round(settings: Settings, cluster: str, done: ToldRound) -> Iterator[Preview]:
    of_digest = {event.message: event.groups for event in done.events}
    by_key = {each.key: of_digest.get(each.message, ()) for each in done.postings}
    for posting in done.postings:
        groups = _subjects(posting.message) or by_key[posting.key]
        groups = groups or by_key.get(posting.answers or "", ())
        yield _preview(settings, cluster, posting, groups)


def _subjects(message: AlertMessage) -> tuple[str, ...]:
    if message.subject is not None and message.subject.group_id is not None:
        return (message.subject.group_id,)
    return tuple(one.group_id for one in message.announcements)


def _preview(
    settings: Settings, cluster: str, posting: Posting, groups: tuple[str, ...]
) -> Preview:
    owners = {settings.rule(cluster, group).owner for group in groups}
    return Preview(
        at=posting.message.at,
        cluster=cluster,
        posting=posting,
        groups=groups,
        owners=tuple(sorted(owner for owner in owners if owner)),
    )
