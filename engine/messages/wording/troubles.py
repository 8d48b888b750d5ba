"""
Problems of a group in words: of each kind its meaning, with names and numbers, and the action.

`TROUBLES` has an entry per kind, `CLAUSES` the clauses of diagnoses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isnan
from typing import Literal

from ...model.facts import Fact
from ...model.formats import brief, record_rate, roughly, size
from ...model.states import Diagnosis
from ...model.text import and_more, does, plural, several
from .clauses import Clause, count, filled, partitions, subjects, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """
    How one kind of trouble of a group reads.

    Attributes:
        what: The problem, by the fact of its measure, as the reason of a diagnosis.
        impact: The same for the on-call engineer: what is affected, and how. The headline has the number.
        action: The one action, an imperative.
        action_about: The action by the fact of the problem, with names or numbers; None: that adds nothing.
        more: Background of the action, in a sentence or two; by that fact, if there is one.
        headline: The problem in a few words, by that fact; None: by its name and amount.
        amount: A template of the severity, as `CauseSpan.amount` counts it.
        says_it_all: Whether the amount is the whole headline.
        called: Its name, if the stored value doesn't suit.
        growth: The value of the fact that is the growth rate of the lag; None: not known.
    """

    what: Clause
    impact: Clause
    action: str
    action_about: Callable[[Fact], str | None] | None = None
    more: str | Callable[[Fact], str] = ""
    headline: Clause | None = None
    amount: str = "{:roughly} behind"
    says_it_all: bool = False
    called: str | None = None
    growth: Literal["before", "after"] | None = None


def _no_members(fact: Fact) -> str:
    if not fact.partitions:
        return "the group has no members, and no partitions"
    return filled("no member consumes its {partitions}", fact) + _incoming(fact.after)


def _too_few(fact: Fact) -> str:
    would = filled("{before:member}, needs {after}", fact)
    if whole(fact.after) <= _limit(fact):
        return would
    most = whole(fact.bound)
    return f"{would}, but {does(most, 'partition', 'limits', 'limit')} it to {most}"


def _limit(fact: Fact) -> float:
    """How many members can be active; any number in a share group."""
    return inf if fact.bound is None else fact.bound


def _slow(fact: Fact) -> str:
    peers = "" if fact.bound is None else ", its peers {bound:rate}"
    return filled(f"{{names}} processes {{after:rate}}{peers}; {{before:rate}} incoming", fact)


def _slow_for(fact: Fact) -> str:
    peers = "" if fact.bound is None else ", its peers process {bound:rate}"
    return filled("it receives {before:rate}" + peers, fact)


def _catching_up(fact: Fact) -> str:
    late = filled("{before:duration} behind in {partitions}, caught up ", fact)
    soon = "at an unknown time" if fact.after is None else "in about {after:duration}"
    return late + filled(soon, fact)


def _stopped(fact: Fact) -> str:
    done = "acknowledged a record" if fact.quote else "committed"
    clause = f"none of its {{bound:member}} has {done} for {{after:duration}}, {{partitions}}"
    return filled(clause, fact) + _incoming(fact.before)


def _silent(fact: Fact) -> str:
    """All members of a share group are silent, or none."""
    if fact.quote:
        return _stopped(fact)
    clause = "{names} {has|have} not committed for {after:duration}, {partitions}; {before:rate} incoming there"
    return filled(clause, fact)


def _vanished(fact: Fact) -> str:
    had = filled("the group no longer exists; it had {before:member} and {partitions}", fact)
    lag = "" if fact.bound is None else filled(", lag {bound:,}", fact)
    return had + lag + _incoming(fact.after)


def _incoming(per_second: float | None) -> str:
    return "" if per_second is None else f"; {record_rate(per_second)} incoming"


def _deletes(fact: Fact) -> str:
    """How many records went is not known of commits that moved on meanwhile."""
    records = "unread records" if fact.after is None else "{after:unread record}"
    verb = "deletes" if fact.after is None else "deleted"
    return filled(f"retention {verb} {records} of {{partitions}} ({{names}})", fact)


def _data_loss(fact: Fact) -> str:
    if fact.after is None:
        return filled("data loss in {partitions}", fact)
    return filled("data loss, {after:~unread record} deleted", fact)


def _nothing_consumes(fact: Fact) -> str:
    if not fact.partitions:
        return "the group has no members, and no partitions"
    return filled("nothing is consuming its {partitions}", fact)


def _unassigned(fact: Fact) -> str:
    lasts = "" if fact.after is None else " for {after:duration}"
    state = f" (the group is {fact.quote})" if fact.quote else ""
    verb = "has" if fact.partitions == 1 else "have"
    return filled(f"{{partitions}} of {{bound:,}} {verb} no owner{lasts} ({{names}}){state}", fact)


def _deleted(fact: Fact) -> str:
    lag = "" if fact.bound is None else f", lag {brief(fact.bound)}"
    had = filled("the group no longer exists; it had {before:member} and {partitions}", fact) + lag
    return had + filled("; {after:rate} incoming" if fact.after is not None else "", fact)


def _no_commits(fact: Fact) -> str:
    does = "acknowledges records" if fact.quote else "commits"
    return filled(f"none of its {{bound:member}} {does}, {{partitions}} affected", fact)


def _not_advanced(fact: Fact) -> str:
    """The bound is the number of members of a share group."""
    who = "the owner consumes" if fact.bound is None else "its members consume"
    return filled("{names} {has|have} not advanced for {after:duration}", fact) + (
        f", although {who} others"
    )


def _no_advance(fact: Fact) -> str:
    who = "the owner consumes its" if fact.bound is None else "its members consume"
    return filled("{names} {doesn't|don't} advance", fact) + f", although {who} other partitions"


def _some_no_commits(fact: Fact) -> str:
    incoming = "" if fact.before is None else ", {before:rate} incoming there"
    return filled("{names} {has|have} stopped committing on {partitions}" + incoming, fact)


def _when_caught_up(fact: Fact) -> str:
    soon = "catch-up time unknown" if fact.after is None else "caught up in about {after:roughly}"
    number = fact.partitions or 0
    late = does(number, "partition", "exceeds", "exceed")
    return filled(f"{late} the lag SLO, {soon}", fact)


def _topics(fact: Fact) -> str:
    """The topics of some partitions, by name."""
    topics = list(dict.fromkeys(name.rpartition("-")[0] or name for name in fact.subjects))
    few = ", ".join(topics[:2]) + and_more(max(0, len(topics) - 2))
    return f"{plural('topic', len(topics))} {few}"


def _raise_retention(fact: Fact) -> str | None:
    return f"Raise retention of {_topics(fact)} now." if fact.subjects else None


def _restart_its_owner(fact: Fact) -> str | None:
    if not fact.subjects:
        return None
    logs, them = ("log", "it") if count(fact) == 1 else ("logs", "them")
    return filled(f"Check the {logs} of {{who:member}}, then restart {them}.", fact)


def _give_owner(fact: Fact) -> str | None:
    if fact.quote:
        return "Create the missing topics of the application."
    return (
        f"Check that every member may describe {_topics(fact)}, then restart the members."
        if fact.subjects
        else None
    )


def _scale(fact: Fact) -> str:
    now, needed = whole(fact.before), whole(fact.after)
    if needed <= _limit(fact):
        return f"Scale to {needed:,} members."
    most = whole(fact.bound)
    if now >= most:
        return "Add partitions, or make its members faster."
    return f"Scale to {several(most, 'member')}, then add partitions."


def _most_active(fact: Fact) -> str:
    if fact.bound is None:
        return "In a share group several members can read the same partition."
    most = whole(fact.bound)
    limit = f"{several(most, 'partition')}: at most {several(most, 'member')} can be active"
    needed = whole(fact.after)
    return f"{limit}, {needed:,} would be needed." if needed > most else f"{limit}."


def _wait(fact: Fact) -> str | None:
    return None if fact.after is None else "Wait, or add members to catch up faster."


def _report(fact: Fact) -> str | None:
    if fact.measure != "not_evaluated":
        return None
    return "Report it with the log of the task watch_groups."


def _cannot_read(fact: Fact) -> str:
    if fact.measure == "not_evaluated":
        return f'evenkeel failed to evaluate it: "{fact.quote}"'
    return f'it can\'t be read: "{fact.quote}"' if fact.quote else "it can't be read"


def retention(fact: Fact | None) -> str:
    """
    The present retention of a topic, in sentences.

    >>> retention(None)
    'Check retention.ms and retention.bytes, because either deletes.'
    """
    if fact is None:
        return "Check retention.ms and retention.bytes, because either deletes."
    if whole(fact.after) < 0:
        limit = "" if fact.bound is None or fact.bound < 0 else f" ({size(fact.bound)})"
        return filled(
            f"retention.ms of {{first}} is unlimited, so retention.bytes{limit} deletes.", fact
        )
    kept = roughly(whole(fact.after) / 1000)
    return filled(f"retention.ms of {{first}} is {{after}} ({kept})", fact) + _retention_bytes(fact)


def _retention_bytes(fact: Fact) -> str:
    """The bound of the fact is `retention.bytes`."""
    if fact.bound is None:
        return ". If retention.bytes is set, raise it too."
    if fact.bound < 0:
        return "."
    return f", retention.bytes {whole(fact.bound)} ({size(fact.bound)}): raise both."


ASSIGNED_BY_HAND = (
    "No member was seen lately. Consumers that call assign() commit but never join: for those set"
    " incidents = {enabled = false} in a rule of evenkeel.toml."
)
"""For a group that may never have members."""


def _stop_looper(fact: Fact) -> str:
    return filled("Check the logs and the restarts of {first}.", fact)


TROUBLES: Mapping[Diagnosis, Words] = {
    Diagnosis.UNKNOWN: Words(
        called="unreadable",
        what="",
        impact="",
        headline=lambda f: f"unreadable: {f.quote}" if f.quote else f"{partitions(f)} unreadable",
        action="Check its coordinator and the permissions of evenkeel's client.",
        action_about=_report,
        more="Lag and problems of this group are unknown until then.",
    ),
    Diagnosis.NO_MEMBERS: Words(
        called="no active members",
        what=_no_members,
        impact=_nothing_consumes,
        growth="after",
        action="Restart the consumers.",
        more="They resume where the group stopped. Their last log lines show why they left.",
    ),
    Diagnosis.GROUP_DELETED: Words(
        what=_vanished,
        impact=_deleted,
        amount="gone for {:roughly}",
        action="Set its offsets before the consumers start.",
        more=(
            "It was deleted, or its commits expired. Without commits, consumers start according to auto.offset.reset."
        ),
    ),
    Diagnosis.CRASH_LOOP: Words(
        what="{names} joined {after} times within {before:duration}; the group has {bound:member}",
        impact="{names} {joins|join} the group again and again, and each time the group rebalances",
        headline="crash loop of {who:member}, {after} joins in {before:roughly}",
        action="Check the logs and the restarts of the member.",
        action_about=_stop_looper,
        more="It crashes, or exceeds max.poll.interval.ms. Until it is fixed, stop it: the others take over.",
    ),
    Diagnosis.SCALER_FLAPPING: Words(
        what=(
            "{names} came and went: the number of members changed direction {after} times within {before:duration}"
        ),
        impact="an autoscaler adds and removes {who:member} again and again, and each time the group rebalances",
        headline="scaler flapping, {after} reversals in {before:roughly}",
        action="Pause the autoscaler, or raise its stabilization window.",
        more="Scale by the trend of the lag, not by its momentary value.",
    ),
    Diagnosis.REBALANCING: Words(
        what="the group is rebalancing ({names})",
        impact="the group doesn't finish its rebalance ({names}), so consumption pauses",
        amount="rebalancing for {:roughly}",
        says_it_all=True,
        action="Find the members that join and leave.",
        more="Typical causes are crashes, and polls that take longer than max.poll.interval.ms.",
    ),
    Diagnosis.DATA_LOSS: Words(
        what=_deletes,
        impact="retention deletes unread records of {partitions} ({names})",
        headline=_data_loss,
        amount="{:~record} lost",
        action="Raise retention of its topics now.",
        action_about=_raise_retention,
        more="Deleted records can't be recovered from Kafka.",
    ),
    Diagnosis.OFFSETS_SKIPPED: Words(
        what="its commits skipped {after:record} of {partitions} ({names})",
        impact="the committed offset jumped forward on {partitions} ({names}), so these records stay unread",
        headline="offsets skipped, {after:~record} unread",
        amount="{:~record} skipped",
        action="Find out who reset its offsets.",
        more="To read these records, stop the members and reset the offsets.",
    ),
    Diagnosis.DATA_LOSS_IMMINENT: Words(
        what=(
            "retention reaches unread records of {partitions} ({names}) in about {after:duration}"
        ),
        impact="retention is about to delete unread records of {partitions} ({names})",
        headline="data loss in {after:roughly}",
        action="Raise retention of its topics now.",
        action_about=_raise_retention,
        more="Then let the group catch up.",
    ),
    Diagnosis.UNASSIGNED_PARTITIONS: Words(
        what=_unassigned,
        impact="members subscribe to {partitions} ({names}), but none owns {it|them}",
        headline="{who:partition} without an owner",
        action="Check that every member may describe the topic, then restart the members.",
        action_about=_give_owner,
        more="The leader of a classic group assigns only topics that its metadata shows.",
    ),
    Diagnosis.HANGING_TRANSACTION: Words(
        what="a transaction in {names} has been open for {after:duration}, and the group waits for its end",
        impact="a transaction stays open in {names}, so read_committed consumers wait for its end",
        headline="transaction open for {after:roughly} in {who:partition}",
        action="End or abort the transaction.",
        more="Restarting the consumers doesn't help: find the producer of the transaction.",
    ),
    Diagnosis.GROUP_NOT_COMMITTING: Words(
        what=_stopped,
        impact=_no_commits,
        headline=lambda f: filled(
            f"{'nothing acknowledged' if f.quote else 'group not committing'} for {{after:roughly}}",
            f,
        ),
        growth="before",
        action="Check the logs of its members, then restart them.",
        more="Look for a record that fails, or a service that doesn't answer.",
    ),
    Diagnosis.MEMBER_NOT_COMMITTING: Words(
        what=_silent,
        impact=_some_no_commits,
        headline="{who:member} not committing for {after:roughly}",
        action="Check the logs of its members, then restart them.",
        action_about=_restart_its_owner,
        more="Other members take over its partitions.",
    ),
    Diagnosis.STUCK_PARTITION: Words(
        what=_not_advanced,
        impact=_no_advance,
        headline="{who:partition} stuck for {after:roughly}",
        action="Fix or skip the record at which it stopped.",
        more=lambda f: (
            f"{'The owner' if f.bound is None else 'A member'}'s log names the record that can't be processed."
        ),
    ),
    Diagnosis.SLOW_MEMBER: Words(
        what=_slow,
        impact=_slow_for,
        headline="slow member {names}, {after:rate}",
        action="Compare its host with those of its peers.",
        action_about=lambda f: filled("Compare the host of {who:member} with its peers.", f),
        more="Check CPU, memory and network, or move the member to another host.",
    ),
    Diagnosis.HOT_PARTITION: Words(
        what="{names} receives {after:rate}, the fastest member processes {bound:rate}",
        impact="one member consumes {names}, and the fastest processes {bound:rate}",
        headline="hot partition {names}, {after:rate}",
        action="Spread its keys, or add partitions.",
        more="Add a faster member: more members don't help.",
    ),
    Diagnosis.UNDER_PROVISIONED: Words(
        what=_too_few,
        impact="the incoming rate exceeds what its members can process",
        headline="under-provisioned, {before:member}, needs {after:,}",
        action="Add members.",
        action_about=_scale,
        more=_most_active,
    ),
    Diagnosis.SKEWED_LOAD: Words(
        what="{names} receives {after:rate} and can process {bound:rate}",
        impact="{names} receives {after:rate} but can process {bound:rate}, while others have capacity left",
        action="Check which strategy balances the load.",
        more="evenkeel recommends a switch after another strategy was better for long enough.",
    ),
    Diagnosis.CATCHING_UP: Words(
        what=_catching_up,
        impact=_when_caught_up,
        says_it_all=True,
        action="Check whether one member is behind, or all.",
        action_about=_wait,
        more="If all are behind, add members or make them faster.",
    ),
    Diagnosis.STORE_IN_ONE_RACK: Words(
        what="{after} of {bound:store} ({names}) {has|have} all copies in one rack",
        impact="if that rack fails, {names} must be restored from the changelog, and the tasks pause",
        headline="{after} of {bound:state store} in one rack",
        amount="{:state store} in one rack",
        action="Spread the copies over the racks.",
        more="The command shows a setting for that, tested by replay.",
    ),
}
"""An entry per kind of problem that opens incidents."""

IMPACTS: Mapping[str, Clause] = {
    **{kind.measure: words.impact for kind, words in TROUBLES.items() if words.impact},
    "unreadable": _cannot_read,
    "not_evaluated": _cannot_read,
    "partitions_unreadable": "the end or the commit of {partitions} can't be read ({names})",
    "group_load": "{after:rate} incoming, capacity {bound:rate}",
    "own_past": "{names} processed {before:rate} before",
    "same_host": "{names} run on one host, {quote}",
}
"""Impact clauses of alerts, by measure."""


def _stuck_at(fact: Fact) -> str:
    """Offsets without separators, to be copied: the on-call engineer may have to skip one."""
    partition, *owner = fact.subjects
    stands, end = (
        "unknown" if value is None or isnan(value) else str(whole(value))
        for value in (fact.before, fact.after)
    )
    whose = f"owner {owner[0]}" if owner else "no owner"
    if fact.bound is not None:
        whose = filled("shared by {bound:member}", fact)
    return f"{partition} at offset {stands}, end {end}, {whose}"


def _open_transaction(fact: Fact) -> str:
    """Offsets without separators, to be copied: the first is what `kafka-transactions.sh abort` asks for."""
    began, end = whole(fact.before), whole(fact.after)
    return f"{fact.subjects[0]} open from offset {began}, end {end}"


def _some_ask(fact: Fact) -> str:
    verb = "subscribes" if whole(fact.after) == 1 else "subscribe"
    return filled(f"{{after:,}} of {{bound:member}} {verb} to them", fact)


def _ability_unknown(fact: Fact) -> str:
    seen = "0 records/s" if fact.before is None else record_rate(fact.before)
    then = filled("{first} received {after:rate} then, processed ", fact)
    rest = f", as those of {subjects(fact, 1)}" if fact.subjects[1:] else ""
    return f"{then}{seen} and was never busy: its capacity is unknown{rest}"


CLAUSES: Mapping[str, Clause] = {
    **{kind.measure: words.what for kind, words in TROUBLES.items() if words.what},
    "group_load": "{after:rate} incoming, capacity {bound:rate}",
    "own_past": "{names} processed {before:rate} before",
    "same_host": "{names} run on one host, {quote}",
    "retention_ms": retention,
    "unassigned_topics": "no partition of {names} has an owner",
    "subscribed_by_some": _some_ask,
    "silent_hosts": "{host|hosts} {names}",
    "stuck_at": _stuck_at,
    "open_transaction": _open_transaction,
    "last_members": "last seen {names}, {after:minute}",
    "last_commit": lambda f: filled(
        f"last {'acknowledgement' if f.quote else 'commit'} {{after:minute}}", f
    ),
    "partitions_unreadable": "the end or the commit of {partitions} could not be read ({names})",
    "unreadable": lambda fact: fact.quote or "",
    "not_evaluated": "evenkeel failed to evaluate it: {quote}",
    "arrivals_unknown": ("the incoming rate of {partitions} is unknown: it needs two snapshots"),
    "ability_unknown": _ability_unknown,
    "no_partitions_seen": "none of its partitions is visible",
    "no_past": "its time lag is known after the next snapshot ({partitions})",
    "no_lag": "its lag is unknown ({partitions})",
    "no_commit_interval": (
        "no commit seen yet, and some groups commit once an hour: set commit_interval_seconds, or wait ({partitions})"
    ),
    "no_time_lag": "its time lag is unknown ({partitions})",
}
"""Clauses of diagnoses and their evidence, by measure."""
