"""
The outbox: what is to be told is first a pending row of the table `alert`, then a message, then a
sent row.

So a crash or a chat that is down loses nothing, and nothing is told twice: a row's key is unique,
an attempt keeps all others away until it ends or its process does, and the notifier finds by its
key a message whose row was not marked in time.

What waits gives way to something newer about the same message. A posting that replaces a message finds it, by what
became of it in the same channel, and of what replaced it since:

* *Sent*: it is changed. Lines in its thread that wait stay: they tell how it went.
* *Waiting, and certainly not there* (never attempted, or refused): it is superseded, and what replaces it is posted in
  its place. Lines that answer it are superseded, too: the message tells all of it.
* *Waiting, and it may be there* (an attempt is under way, its process died, or no answer came): both stay. It is
  delivered first, which finds it by its key if it is there, and then changed; so do its lines stay.
* *Superseded, or not known any more*: nobody has it. What replaces it is posted anew, and its lines are superseded.

Whatever replaces or answers the message later finds it where it stands by then, by any of its keys.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta

from ..config import Settings
from ..incidents.policy import UNDELIVERED
from ..model.errors import ChannelClosed, EvenkeelError, InputError, NotDelivered, NotifierError
from ..model.message import AlertMessage
from ..model.text import listed
from ..ports import Delivered, Notifier, Outbox, PendingAlert, Posting
from ..records import AlertRow, AlertState
from .channels import is_gone, is_named, with_links

log = logging.getLogger(__name__)

# What is added, and what gives way to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Entering:
    """
    What becomes of the outbox.

    Attributes:
        postings: What is added, with the keys of other messages as those were first posted.
        superseded: Keys of alerts, and of these postings, that nobody needs any more.
    """

    postings: tuple[Posting, ...]
    superseded: frozenset[str]


def keys_of(postings: Sequence[Posting]) -> list[str]:
    """The keys that some postings name."""
    return sorted({key for p in postings for key in (p.key, p.answers, p.replaces) if key})


def entering(postings: Sequence[Posting], known: Sequence[AlertRow]) -> Entering:
    """
    What is added to the outbox and what gives way to it.

    Args:
        postings: What is to be told, in this order.
        known: The alerts that these name, those that they are about, and all that is about the same messages.
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
    """Keys of what gives way to one posting."""
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
An attempt that was under way when the history itself was started anew, and neither succeeded nor failed for this long,
is of a process that is gone. Of any other the history knows at once whether its process lives.

Longer than a notifier may be between looking for a message and posting it: a chat that asks to wait is waited for twice
a minute long, with a request of half a minute before and after each.
"""

PATIENCE_SECONDS = 30
"""So long a channel in which something failed is tried on with what else waits for it."""

MOST_CHANNELS = 16
"""To so many channels messages go at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """
    What became of the pending alerts.

    Attributes:
        sent: Delivered now, or found to have been delivered before.
        busy: Being delivered by another process at this moment.
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

    Channels do not wait for each other. In a channel an alert waits for those about the same message, and once one
    has failed and `PATIENCE_SECONDS` are over the rest of it waits for the next call; otherwise what fails holds
    nothing up. An alert for a channel that the configuration no longer names goes to the default channel, unless it
    is about a message that stands elsewhere; one for a webhook that it no longer names is superseded.

    Args:
        cluster: Whose alerts have to arrive: that those of others do not is only logged. None: all of them.
        clock: Seconds that go on.

    Raises:
        NotifierError: Something could not be delivered. What failed, or was not tried, stays
            pending.
        HistoryUnreachable: The history does not answer.
    """
    channels: dict[str, list[PendingAlert]] = {}
    for alert in outbox.pending_alerts():
        channels.setdefault(alert.channel, []).append(alert)
    for channel in [name for name in channels if is_gone(settings, name)]:
        keys = [alert.key for alert in channels.pop(channel)]
        log.warning("%s is not configured any more: nobody is told %s.", channel, listed(keys))
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
        log.warning("of other clusters: %s", _undelivered(others, tried))
    return DeliveryReport(
        sent=sent,
        busy=sum(each.busy for each in rounds),
        waiting=sum(each.waiting for each in rounds),
    )


class _Round:
    """One delivery of what waits for a channel; *unserved*: the clusters of what did not arrive."""

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
        """Each alert in its turn, unless it waits for one that did not arrive."""
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
        """Whether an alert that is claimed arrived."""
        try:
            delivered = self._send(alert)
        # A fault in one message must not keep the others back: it is stored, and raised at the end.
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
        """In place of the message that stands there, in its thread, or by itself."""
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
