"""
The outbox: an alert is first a pending row of the table `alert`, then a message, then a sent row.

A crash or an unreachable channel loses no alert, and no alert is sent twice. The key of a row is unique, an attempt
locks the row until it or its process ends, and the notifier finds a message whose row was not marked in time by its
key.

A pending alert is superseded by a newer one about the same message. A posting that replaces a message depends on the
state of that message in the same channel, and of its replacements since:

* *Sent*: the message is edited. Pending lines of its thread stay.
* *Pending, and certainly not delivered* (never attempted, or refused): it is superseded, and its replacement is posted.
  Pending lines of its thread are superseded, too, because the replacement includes them.
* *Pending, and possibly delivered* (an attempt is running, its process died, or the answer was lost): both stay. The
first
  is delivered, which finds it by its key if it exists, and then edited. Its lines stay, too.
* *Superseded, or no longer known*: the replacement is posted as a new message, and its lines are superseded.

Later replacements and answers find the message by any of its keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta

from ..config import Settings
from ..incidents.policy import UNDELIVERED
from ..model.errors import ChannelClosed, EvenkeelError, InputError, NotDelivered, NotifierError
from ..model.logs import logger
from ..model.message import AlertMessage
from ..model.text import listed
from ..ports import Delivered, Notifier, Outbox, PendingAlert, Posting
from ..records import AlertRow, AlertState
from .channels import is_gone, is_named, with_links

log = logger(__name__)

# Adding and superseding


@dataclass(frozen=True, slots=True, kw_only=True)
class Entering:
    """
    A change of the outbox.

    Attributes:
        postings: The added ones, with the first keys of the messages that they refer to.
        superseded: Keys of superseded alerts and postings.
    """

    postings: tuple[Posting, ...]
    superseded: frozenset[str]


def keys_of(postings: Sequence[Posting]) -> list[str]:
    """The keys in some postings."""
    return sorted({key for p in postings for key in (p.key, p.answers, p.replaces) if key})


def entering(postings: Sequence[Posting], known: Sequence[AlertRow]) -> Entering:
    """
    The postings to add, and the alerts that they supersede.

    Args:
        postings: The new ones, in order.
        known: The alerts that these refer to, and all alerts about the same messages.
    """
    first = {alert.key: alert.replaces or alert.key for alert in known}
    fresh = []
    for posting in postings:
        if posting.key not in first:
            answers, replaces = posting.answers, posting.replaces
            posting = replace(
                posting,
                answers=answers and first.get(answers, answers),
                replaces=replaces and first.get(replaces, replaces),
            )
            first[posting.key] = posting.replaces or posting.key
            fresh.append(posting)
    superseded = {key for each in fresh for key in _giving_way(each, fresh, known)}
    return Entering(postings=tuple(fresh), superseded=frozenset(superseded))


def _giving_way(posting: Posting, fresh: Sequence[Posting], known: Sequence[AlertRow]) -> set[str]:
    """Keys that one posting supersedes."""
    if posting.replaces is None:
        return set()
    place = (posting.channel, posting.replaces)
    unseen = [a for a in known if a.state is AlertState.PENDING and not a.may_be_there]
    before = [a for a in known if not a.answers and (a.channel, a.replaces or a.key) == place]
    superseded = {alert.key for alert in before if alert in unseen}
    if all(alert in unseen or alert.state is AlertState.SUPERSEDED for alert in before):
        lines: list[Posting | AlertRow] = [*fresh, *unseen]
        superseded |= {line.key for line in lines if (line.channel, line.answers) == place}
    return superseded


# Delivery

LEASE = timedelta(minutes=5)
"""
After a restart of the database, an attempt without outcome for this long counts as abandoned. Otherwise the database
knows whether the process of an attempt is alive.

It is longer than the time between a notifier's search for a message and its post: two waits of a minute each if Slack
limits the rate, with a request of half a minute before and after each.
"""

PATIENCE_SECONDS = 30
"""After a failure, a channel is tried for this long with its other alerts."""

MOST_CHANNELS = 16
"""Channels that receive messages at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """
    The outcome of a delivery.

    Attributes:
        sent: Delivered now, or found delivered.
        busy: Being delivered by another process.
        waiting: Not tried: they wait for one of the others.
    """

    sent: int = 0
    busy: int = 0
    waiting: int = 0


def deliver(
    outbox: Outbox,
    notifier: Notifier,
    settings: Settings,
    *,
    cluster: str | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> DeliveryReport:
    """
    Deliver every pending alert, in each channel oldest first, each tried once.

    Channels don't wait for each other. In a channel, an alert waits for those about the same message. After a failure
    and `PATIENCE_SECONDS`, the rest of the channel waits for the next call. An alert for a channel that is no longer
    configured goes to the default channel, unless it is about a message in another channel. One for a webhook that is
    no longer configured is superseded.

    Args:
        cluster: The cluster whose failures raise an error; those of others are only logged. None: all.
        clock: A monotonic clock.

    Raises:
        NotifierError: An alert could not be delivered. Failed and untried alerts stay pending.
        HistoryUnreachable: The history does not answer.
    """
    channels: dict[str, list[PendingAlert]] = {}
    for alert in outbox.pending_alerts():
        channels.setdefault(alert.channel, []).append(alert)
    for channel in [name for name in channels if is_gone(settings, name)]:
        keys = [alert.key for alert in channels.pop(channel)]
        log.warning("%s is no longer configured: dropped %s.", channel, listed(keys))
        outbox.drop_alerts(keys)
    if not channels:
        return DeliveryReport()
    rounds = [_Round(outbox, notifier, settings, clock) for _ in channels]
    with ThreadPoolExecutor(min(len(channels), MOST_CHANNELS)) as pool:
        list(pool.map(_Round.deliver, rounds, channels.values()))
    sent = sum(each.sent for each in rounds)
    tried = sent + sum(len(each.problems) for each in rounds)
    own = [each for each in rounds if cluster is None or cluster in each.unserved]
    if problems := [problem for each in own for problem in each.problems]:
        raise _undelivered(problems, tried) from problems[0]
    if others := [problem for each in rounds for problem in each.problems]:
        log.warning("other clusters: %s", _undelivered(others, tried))
    return DeliveryReport(
        sent=sent,
        busy=sum(each.busy for each in rounds),
        waiting=sum(each.waiting for each in rounds),
    )


class _Round:
    """One delivery of the pending alerts of a channel; *unserved*: the clusters of undelivered ones."""

    def __init__(
        self, outbox: Outbox, notifier: Notifier, settings: Settings, clock: Callable[[], float]
    ) -> None:
        self.sent, self.busy, self.waiting = 0, 0, 0
        self.problems: list[Exception] = []
        self.unserved: set[str] = set()
        self._outbox, self._notifier, self._settings = outbox, notifier, settings
        self._clock = clock
        self._standing: dict[str, Delivered] = {}
        self._held: set[str] = set()

    def deliver(self, alerts: Sequence[PendingAlert]) -> None:
        """Each alert in order, unless it waits for an undelivered one."""
        until = self._clock() + PATIENCE_SECONDS
        for alert in alerts:
            named = {key for key in (alert.key, alert.answers, alert.replaces) if key}
            is_dead = bool(self.problems) and self._clock() > until
            if is_dead or named & self._held:
                self.waiting += 1
                self.unserved.add(alert.cluster)
            else:
                with self._outbox.attempt_alert(alert, LEASE) as is_ours:
                    if is_ours and self._try(alert):
                        continue
                    self.busy += not is_ours
            self._held |= named

    def _try(self, alert: PendingAlert) -> bool:
        """Whether a claimed alert was delivered."""
        try:
            delivered = self._send(alert)
        # A fault in one message must not delay the others: it is stored, and raised at the end.
        except Exception as problem:  # noqa: BLE001
            self.problems.append(problem)
            self.unserved.add(alert.cluster)
            error = str(problem) if isinstance(problem, EvenkeelError) else repr(problem)
            refused = isinstance(problem, NotDelivered | InputError)
            self._outbox.mark_alert_failed(alert, error, refused=refused)
            return False
        self._outbox.mark_alert_sent(alert, delivered)
        self.sent += 1
        if not alert.answers:
            self._standing |= {key: delivered for key in (alert.key, alert.replaces) if key}
        return True

    def _send(self, alert: PendingAlert) -> Delivered:
        message = with_links(AlertMessage.from_json(alert.message), alert.cluster, self._settings)
        about = alert.replaces or alert.answers or ""
        standing = self._standing.get(about, alert.standing)
        if is_named(self._settings, alert.channel):
            return self._say(message, alert, alert.channel, standing)
        if standing:
            try:
                return self._say(message, alert, standing.channel, standing)
            except ChannelClosed as problem:
                log.warning("%s goes to the default channel: %s", alert.key, problem)
        return self._notifier.send(message, channel=self._settings.slack_channel, key=alert.key)

    def _say(
        self,
        message: AlertMessage,
        alert: PendingAlert,
        channel: str,
        standing: Delivered | None,
    ) -> Delivered:
        """Edit the existing message, answer in its thread, or post a new one."""
        if alert.replaces and standing:
            return self._notifier.update(
                message, channel=channel, key=alert.key, delivered=standing
            )
        return self._notifier.send(
            message,
            channel=channel,
            key=alert.key,
            thread=standing.timestamp if standing else None,
            broadcast=alert.broadcast,
        )


def _undelivered(problems: Sequence[Exception], tried: int) -> NotifierError:
    said = {p.message if isinstance(p, EvenkeelError) else repr(p): p for p in problems}
    fixes = [p.fix for p in said.values() if isinstance(p, EvenkeelError) and p.fix]
    return NotifierError(
        f"{len(problems)} of {tried} {UNDELIVERED} {' '.join(said)}",
        fix=" ".join(dict.fromkeys(fixes)) or None,
    )
