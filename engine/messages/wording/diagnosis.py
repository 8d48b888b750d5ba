"""What is the matter with a group, with names and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isnan

from ...model.facts import Fact
from ...model.formats import arriving, duration, moment, offsets, record_rate
from ...model.text import does, several
from .clauses import Clause, count, known, partitions, subjects, whole


def _no_members(fact: Fact) -> str:
    if not fact.partitions:
        return "nobody is there, and nothing is to be consumed"
    if fact.after is None:
        return f"nobody consumes its {partitions(fact)}"
    return f"nobody consumes its {partitions(fact)}; {arriving(fact.after)}"


def _losing(fact: Fact) -> str:
    return f"retention removed {offsets(whole(fact.after))} it had not read, of {partitions(fact)} ({subjects(fact)})"


def _skipped(fact: Fact) -> str:
    return f"its commits jumped over {offsets(whole(fact.after))} of {partitions(fact)} ({subjects(fact)})"


def _silent(fact: Fact) -> str:
    who = f"{subjects(fact)} {'has' if count(fact) == 1 else 'have'} committed nothing"
    long = f"for {duration(known(fact.after))}"
    return f"{who} {long}, {partitions(fact)}; {arriving(known(fact.before))} there"


def _stuck(fact: Fact) -> str:
    stood = "has stood" if count(fact) == 1 else "have stood"
    return f"{subjects(fact)} {stood} still for {duration(known(fact.after))}, though the owner consumes others"


def _slow(fact: Fact) -> str:
    does_so = f"{subjects(fact)} does {record_rate(known(fact.after))}, its peers {record_rate(known(fact.bound))}"
    return f"{does_so}; {arriving(known(fact.before))}"


def _hot(fact: Fact) -> str:
    arrive = f"{arriving(known(fact.after))} in {subjects(fact)}"
    return f"{arrive}, the best member does {record_rate(known(fact.bound))}"


def _too_few(fact: Fact) -> str:
    enough, most = whole(fact.after), whole(fact.bound)
    would = f"{several(whole(fact.before), 'member')}, {enough} would do"
    if enough <= most:
        return would
    return f"{would}, but {does(most, 'partition', 'keeps', 'keep')} no more than {most} busy"


def _group_load(fact: Fact) -> str:
    return f"{arriving(known(fact.after))}, together they do {record_rate(known(fact.bound))}"


def _skewed(fact: Fact) -> str:
    return f"{subjects(fact)} gets {record_rate(known(fact.after))} and does {record_rate(known(fact.bound))}"


def _catching_up(fact: Fact) -> str:
    late = f"{duration(known(fact.before))} behind in {partitions(fact)}"
    return f"{late}, caught up " + (
        "at a time not yet known" if fact.after is None else f"in about {duration(fact.after)}"
    )


def _loss_ahead(fact: Fact) -> str:
    soon = f"in about {duration(known(fact.after))}"
    return f"retention reaches what it has not read of {partitions(fact)} ({subjects(fact)}) {soon}"


def _stopped(fact: Fact) -> str:
    who = several(whole(fact.bound), "member")
    long = f"for {duration(known(fact.after))}, {partitions(fact)}"
    return f"none of its {who} has committed anything {long}{_arriving(fact.before)}"


def _vanished(fact: Fact) -> str:
    had = f"it had {several(whole(fact.before), 'member')} and {partitions(fact)}"
    lag = "" if fact.bound is None else f", {offsets(whole(fact.bound))} to read"
    return f"the group is gone; {had}{lag}{_arriving(fact.after)}"


def _arriving(per_second: float | None) -> str:
    return "" if per_second is None else f"; {arriving(per_second)}"


def _stuck_at(fact: Fact) -> str:
    """Offsets as they are typed: somebody may have to skip one."""
    partition, *owner = fact.subjects
    stands, end = (
        "unknown" if value is None or isnan(value) else str(whole(value))
        for value in (fact.before, fact.after)
    )
    whose = f"owned by {owner[0]}" if owner else "owned by nobody"
    return f"{partition} stands at offset {stands}, its end is {end}, {whose}"


def _at(fact: Fact) -> str:
    return moment(datetime.fromtimestamp(known(fact.after), UTC))


def _ability_unknown(fact: Fact) -> str:
    first, *others = fact.subjects
    rest = f", nor of {subjects(fact, 1)}" if others else ""
    seen = "nothing" if fact.before is None else record_rate(fact.before)
    return (
        f"{arriving(known(fact.after))} at {first} then, which was seen to do {seen} and never busy: what it can do is"
        f" not known{rest}"
    )


def _in_doubt(what: str) -> Clause:
    def clause(fact: Fact) -> str:
        return f"{what} ({partitions(fact)})"

    return clause


CLAUSES: Mapping[str, Clause] = {
    "no_members": _no_members,
    "rebalancing": lambda fact: f"who owns what is in motion ({subjects(fact)})",
    "losing_records": _losing,
    "skipped_records": _skipped,
    "silent_member": _silent,
    "stuck_partition": _stuck,
    "slow_member": _slow,
    "hot_partition": _hot,
    "too_few_members": _too_few,
    "group_load": _group_load,
    "skewed_load": _skewed,
    "catching_up": _catching_up,
    "loss_ahead": _loss_ahead,
    "stopped": _stopped,
    "vanished": _vanished,
    "silent_hosts": lambda fact: f"{'host' if count(fact) == 1 else 'hosts'} {subjects(fact)}",
    "stuck_at": _stuck_at,
    "last_members": lambda fact: f"{subjects(fact)} (seen {_at(fact)})",
    "last_commit": lambda fact: f"last commit seen {_at(fact)}",
    "partitions_unreadable": lambda fact: (
        f"the end or the commit of {partitions(fact)} could not be read ({subjects(fact)})"
    ),
    "unreadable": lambda fact: fact.quote or "",
    "not_judged": lambda fact: f"evenkeel failed to judge it: {fact.quote}",
    "arrivals_unknown": lambda fact: (
        f"how much arrives in {partitions(fact)} is not known: that takes two snapshots"
    ),
    "ability_unknown": _ability_unknown,
    "no_partitions_seen": lambda _: "none of its partitions is seen",
    "no_past": _in_doubt("how far behind it is will be known after the next snapshot"),
    "no_lag": _in_doubt("how much it has to consume is unknown"),
    "no_commit_interval": _in_doubt(
        "no commit has been seen yet, and some groups commit once an hour: configure commit_interval_seconds, or wait"
    ),
    "no_time_lag": _in_doubt("how far behind it is in time is unknown"),
}
