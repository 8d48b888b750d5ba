"""
What waits in the outbox and gives way to something newer about the same message.

A posting that replaces a message finds it, by what became of it in the same channel, and of what replaced it since:

* *Sent*: it is changed. Lines in its thread that wait stay: they tell how it went.
* *Waiting, and certainly not there* (never attempted, or refused): it is superseded, and what replaces it is posted in
  its place. Lines that answer it are superseded, too: the message tells all of it.
* *Waiting, and it may be there* (an attempt is under way, its process died, or no answer came): both stay. It is
  delivered first, which finds it by its key if it is there, and then changed; so do its lines stay.
* *Superseded, or not known any more*: nobody has it. What replaces it is posted anew, and its lines are superseded.

Whatever replaces or answers the message later finds it where it stands by then, by any of its keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..ports import Posting
from ..records import AlertRow, AlertState


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
    before = [a for a in known if a.channel == posting.channel and first_key(a) == posting.replaces]
    superseded = {a.key for a in before if _waits_unseen(a)}
    if not any(a.state is AlertState.SENT or _may_be_seen(a) for a in before):
        lines: list[Posting | AlertRow] = [*fresh, *filter(_waits_unseen, known)]
        place = (posting.channel, posting.replaces)
        superseded |= {line.key for line in lines if (line.channel, line.answers) == place}
    return superseded


def first_key(alert: AlertRow) -> str | None:
    """The key under which the message was first posted that an alert is, or replaces; None: it answers one."""
    return None if alert.answers else alert.replaces or alert.key


def _waits_unseen(alert: AlertRow) -> bool:
    return alert.state is AlertState.PENDING and not alert.may_be_there


def _may_be_seen(alert: AlertRow) -> bool:
    return alert.state is AlertState.PENDING and alert.may_be_there
