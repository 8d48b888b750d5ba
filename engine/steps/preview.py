"""What would be told of groups, and where: of the snapshots of a recording one after the other, or of the newest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase

from evenkeel.engine.alerting.rounds import Round
from evenkeel.engine.config import Settings
from evenkeel.engine.incidents.judged import Judgement
from evenkeel.engine.message import AlertMessage
from evenkeel.engine.ports import ALL, GroupWatch, Lake, PendingAlert, Posting
from evenkeel.engine.records import SilenceRow
from evenkeel.engine.steps.learning import LearningLake
from evenkeel.engine.steps.watch_groups import look_at


@dataclass(frozen=True, kw_only=True, eq=False)
class Preview:
    """
    A message that would be sent.

    Attributes:
        at: When what it says was true.
        cluster: Configured name of the cluster.
        posting: What would be said, and where.
        groups: The groups that it is about; none where it is about the pipeline.
        owners: Who owns them, where that is configured.
        waits: Whether it waits in the outbox already.
    """

    at: datetime
    cluster: str
    posting: Posting
    groups: tuple[str, ...]
    owners: tuple[str, ...]
    waits: bool = False

    def is_about(self, pattern: str) -> bool:
        """Whether one of its groups matches a shell pattern; what is about none matches `*` only."""
        return pattern == "*" or any(fnmatchcase(group, pattern) for group in self.groups)


def walked(lake: Lake, settings: Settings, cluster: str) -> Iterator[Preview]:
    """
    What would have been told after each snapshot of a cluster, oldest first, had nothing been known before the first.

    Maintenance windows of the configuration count as they would have; how often groups commit is learned where the
    lake has no metrics.

    Args:
        lake: Where the snapshots are.
        settings: The configuration.
        cluster: Its configured name.
    """
    watch, learning = GroupWatch(cluster=cluster), LearningLake(lake, settings)
    for snapshot_id in lake.snapshots(cluster, limit=ALL)[::-1]:
        judgement, done = look_at(learning, settings, snapshot_id, watch, lambda _: ())
        yield from _of_round(settings, judgement, done)
        watch = done.after(watch, judgement)
        learning.learn(snapshot_id)


def newest(
    lake: Lake,
    settings: Settings,
    watch: GroupWatch,
    silences: Callable[[datetime], Sequence[SilenceRow]],
) -> list[Preview]:
    """
    What would be told after the newest snapshot of a cluster; nothing if that was looked at already.

    Args:
        lake: Where the snapshots are.
        settings: The configuration.
        watch: What is remembered of the cluster's groups.
        silences: What people have silenced and acknowledged at a moment.
    """
    ids = lake.snapshots(watch.cluster, limit=1)
    if not ids or ids[0] == watch.snapshot_id:
        return []
    judgement, done = look_at(lake, settings, ids[0], watch, silences)
    return list(_of_round(settings, judgement, done))


def pending(settings: Settings, alerts: Sequence[PendingAlert]) -> Iterator[Preview]:
    """
    What waits in the outbox.

    Raises:
        InputError: A message was written by another version.
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


def _of_round(settings: Settings, judgement: Judgement, done: Round) -> Iterator[Preview]:
    of_digest = {event.message: event.groups for event in done.events}
    for posting in done.postings:
        groups = _subjects(posting.message) or of_digest.get(posting.message, ())
        yield _preview(settings, judgement.cluster, posting, groups)


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
