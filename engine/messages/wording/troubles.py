"""
What may be wrong with a group, in words: of each kind what it is, with names and numbers, and what to do about it.

`TROUBLES` has a line per kind; `CLAUSES` all that is said of what is the matter with a group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan

from ...model.facts import Fact
from ...model.formats import arriving, record_rate
from ...model.states import Diagnosis
from ...model.text import does, several
from .clauses import Clause, filled, partitions, subjects, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """
    How one kind of trouble of a group reads.

    Attributes:
        what: What is wrong, by the fact of its measure.
        to_do: What to do next, in a sentence or two.
        to_do_about: The same by the fact that says what is wrong, with names or numbers: a template where it has
            subjects, or a function, None where that has nothing to say.
        headline: What is wrong in a few words, by that fact; None: by its name, and how bad it is.
        amount: A template of how bad it is, as `CauseSpan.amount` counts it.
        says_it_all: Whether that alone says what is wrong.
        called: Its name, where its value will not do.
        says_too: The measure of how bad it is that *what* speaks of, so that it is not said again.
    """

    what: Clause
    to_do: str
    to_do_about: str | Callable[[Fact], str | None] | None = None
    headline: Clause | None = None
    amount: str = "{:duration} behind"
    says_it_all: bool = False
    called: str | None = None
    says_too: str | None = None


def _no_members(fact: Fact) -> str:
    if not fact.partitions:
        return "nobody is there, and nothing is to be consumed"
    return filled("nobody consumes its {partitions}", fact) + _arriving(fact.after)


def _too_few(fact: Fact) -> str:
    most = whole(fact.bound)
    would = filled("{before:member}, {after} would do", fact)
    if whole(fact.after) <= most:
        return would
    return f"{would}, but {does(most, 'partition', 'keeps', 'keep')} no more than {most} busy"


def _catching_up(fact: Fact) -> str:
    late = filled("{before:duration} behind in {partitions}, caught up ", fact)
    soon = "at a time not yet known" if fact.after is None else "in about {after:duration}"
    return late + filled(soon, fact)


def _stopped(fact: Fact) -> str:
    clause = "none of its {bound:member} has committed anything for {after:duration}, {partitions}"
    return filled(clause, fact) + _arriving(fact.before)


def _vanished(fact: Fact) -> str:
    had = filled("the group is gone; it had {before:member} and {partitions}", fact)
    lag = "" if fact.bound is None else filled(", {bound:offset} to read", fact)
    return had + lag + _arriving(fact.after)


def _arriving(per_second: float | None) -> str:
    return "" if per_second is None else f"; {arriving(per_second)}"


def _unread(state: str) -> Clause:
    """That nobody reads what arrives."""
    return lambda fact: (
        state if fact.after is None else f"{state}, {record_rate(fact.after)} unread"
    )


def _more_members(fact: Fact) -> str:
    needed, most = whole(fact.after), whole(fact.bound)
    more = min(needed, most) - whole(fact.before)
    start = [f"Start {several(more, 'more member')}."] if more > 0 else []
    if needed > most:
        start.append(
            f"Its {several(most, 'partition')} keep no more busy: add partitions, or make members faster."
        )
    return " ".join(start)


def _by_itself(fact: Fact) -> str | None:
    if fact.after is None:
        return None
    return "It catches up by itself; more members, or faster ones, make that sooner."


def _not_judged(fact: Fact) -> str | None:
    if fact.measure != "not_evaluated":
        return None
    return "Report it with the log of the task watch_groups: nothing else is told of this group meanwhile."


ARRIVALS = "production_per_second"

TROUBLES: Mapping[Diagnosis, Words] = {
    Diagnosis.UNKNOWN: Words(
        called="unreadable",
        what="",
        headline=lambda f: f"unreadable: {f.quote}" if f.quote else f"{partitions(f)} unreadable",
        to_do="Its lag is unknown until it can be read. Check its coordinator, and the rights of evenkeel's client.",
        to_do_about=_not_judged,
    ),
    Diagnosis.NO_MEMBERS: Words(
        what=_no_members,
        says_too=ARRIVALS,
        headline=_unread("no members"),
        to_do="Start its members again; their last log lines say why they left. They go on where they committed.",
    ),
    Diagnosis.GROUP_DELETED: Words(
        what=_vanished,
        says_too=ARRIVALS,
        headline=_unread("vanished"),
        amount="gone for {:duration}",
        to_do=(
            "Somebody deleted it, or its commits expired. Set its offsets before its members start again: without"
            " commits they begin where auto.offset.reset says."
        ),
    ),
    Diagnosis.REBALANCING: Words(
        what="who owns what is in motion ({names})",
        amount="rebalancing for {:duration}",
        says_it_all=True,
        to_do="Look for members that come and go: crashes, or polls that take longer than max.poll.interval.ms.",
    ),
    Diagnosis.DATA_LOSS: Words(
        what="retention removed {after:offset} it had not read, of {partitions} ({names})",
        says_too="lost_records",
        amount="{:record} lost",
        says_it_all=True,
        to_do="Raise retention.ms of these topics now, then let it catch up. What is lost is not in Kafka any more.",
    ),
    Diagnosis.OFFSETS_SKIPPED: Words(
        what="its commits jumped over {after:offset} of {partitions} ({names})",
        amount="{:record} skipped",
        says_it_all=True,
        to_do="Ask who set its offsets. To read what was skipped, stop its members and set the offsets back.",
    ),
    Diagnosis.DATA_LOSS_IMMINENT: Words(
        what=(
            "retention reaches what it has not read of {partitions} ({names}) in about {after:duration}"
        ),
        says_too="time_to_loss_seconds",
        headline="records lost in {after:duration}",
        to_do="Raise retention.ms of these topics now, then let it catch up.",
    ),
    Diagnosis.GROUP_NOT_COMMITTING: Words(
        what=_stopped,
        says_too=ARRIVALS,
        to_do=(
            "Look in the logs of its members for a record they fail on or a service they wait for, then restart them."
        ),
    ),
    Diagnosis.MEMBER_NOT_COMMITTING: Words(
        what=(
            "{names} {has|have} committed nothing for {after:duration}, {partitions}; {before:arriving} there"
        ),
        headline="{who:member} not committing for {after:duration}",
        to_do="Look in its log for what it waits for, then restart it: others take over its partitions.",
        to_do_about=(
            "Look in the log of {who:member} for what it waits for, then restart it: others take over its partitions."
        ),
    ),
    Diagnosis.STUCK_PARTITION: Words(
        what="{names} {has|have} stood still for {after:duration}, though the owner consumes others",
        headline="{who:partition} stuck for {after:duration}",
        to_do="Look in its owner's log for a record that cannot be processed, and correct or skip that record.",
    ),
    Diagnosis.SLOW_MEMBER: Words(
        what="{names} does {after:rate}, its peers {bound:rate}; {before:arriving}",
        headline="{names} slow, {after:rate}",
        to_do="Compare its host with those of its peers, or move it elsewhere.",
        to_do_about=(
            "Compare the host of {who:member} with those of its peers (processor, memory, network), or move it"
            " elsewhere."
        ),
    ),
    Diagnosis.HOT_PARTITION: Words(
        what="{after:arriving} in {names}, the best member does {bound:rate}",
        headline="{names} hot, {after:rate}",
        to_do="Spread its keys, add partitions, or make its consumer faster.",
        to_do_about=(
            "More members do not help {who:partition}: spread its keys, add partitions, or make its consumer faster."
        ),
    ),
    Diagnosis.UNDER_PROVISIONED: Words(
        what=_too_few,
        headline="{before:member}, {after:,} needed",
        to_do="Start more members.",
        to_do_about=_more_members,
    ),
    Diagnosis.SKEWED_LOAD: Words(
        what="{names} gets {after:rate} and does {bound:rate}",
        to_do="Its load is uneven. See which assignment would help; evenkeel says so once that has paid for a while.",
    ),
    Diagnosis.CATCHING_UP: Words(
        what=_catching_up,
        says_too="delay_seconds",
        says_it_all=True,
        to_do="Look whether one member or partition lags, or all: then more members, or faster ones, help.",
        to_do_about=_by_itself,
    ),
    Diagnosis.STORE_IN_ONE_RACK: Words(
        what="{after} of {bound:store} ({names}) {has|have} all copies in one rack",
        headline="{after:store} would be lost with one rack",
        amount="{:store} in one rack",
        to_do=(
            "Without a copy left a store is restored from its changelog, and its task stands still meanwhile. Below its"
            " tables, this names the setting that brings the copies apart; it has been replayed."
        ),
    ),
}
"""One line per kind of trouble that somebody is told."""


def _stuck_at(fact: Fact) -> str:
    """Offsets as they are typed: somebody may have to skip one."""
    partition, *owner = fact.subjects
    stands, end = (
        "unknown" if value is None or isnan(value) else str(whole(value))
        for value in (fact.before, fact.after)
    )
    whose = f"owned by {owner[0]}" if owner else "owned by nobody"
    return f"{partition} stands at offset {stands}, its end is {end}, {whose}"


def _ability_unknown(fact: Fact) -> str:
    seen = "nothing" if fact.before is None else record_rate(fact.before)
    then = filled("{after:arriving} at {first} then, which was seen to do ", fact)
    rest = f", nor of {subjects(fact, 1)}" if fact.subjects[1:] else ""
    return f"{then}{seen} and never busy: what it can do is not known{rest}"


CLAUSES: Mapping[str, Clause] = {
    **{kind.measure: words.what for kind, words in TROUBLES.items() if words.what},
    "group_load": "{after:arriving}, together they do {bound:rate}",
    "silent_hosts": "{host|hosts} {names}",
    "stuck_at": _stuck_at,
    "last_members": "{names} (seen {after:moment})",
    "last_commit": "last commit seen {after:moment}",
    "partitions_unreadable": "the end or the commit of {partitions} could not be read ({names})",
    "unreadable": lambda fact: fact.quote or "",
    "not_evaluated": "evenkeel failed to judge it: {quote}",
    "arrivals_unknown": ("how much arrives in {partitions} is not known: that takes two snapshots"),
    "ability_unknown": _ability_unknown,
    "no_partitions_seen": "none of its partitions is seen",
    "no_past": "how far behind it is will be known after the next snapshot ({partitions})",
    "no_lag": "how much it has to consume is unknown ({partitions})",
    "no_commit_interval": (
        "no commit has been seen yet, and some groups commit once an hour: configure commit_interval_seconds, or wait"
        " ({partitions})"
    ),
    "no_time_lag": "how far behind it is in time is unknown ({partitions})",
}
"""What is said of a diagnosis and its grounds, by measure."""
