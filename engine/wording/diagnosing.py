"""What is the matter with a group, with names and numbers."""

from __future__ import annotations

from collections.abc import Mapping

from evenkeel.engine.facts import Fact
from evenkeel.engine.text import does, several
from evenkeel.engine.wording.clauses import Clause, count, known, partitions, subjects, whole
from evenkeel.engine.wording.numbers import duration, offsets


def rate(per_second: float) -> str:
    """
    A rate with as many digits as matter.

    >>> rate(0.6), rate(12.34), rate(48123.2)
    ('0.6/s', '12/s', '48,123/s')
    """
    return f"{per_second:,.0f}/s" if per_second >= 10 else f"{per_second:.2g}/s"


def _no_members(fact: Fact) -> str:
    if not fact.partitions:
        return "nobody is there, and nothing is to be consumed"
    if fact.after is None:
        return f"nobody consumes its {partitions(fact)}"
    return f"nobody consumes its {partitions(fact)}; {rate(fact.after)} arrives"


def _losing(fact: Fact) -> str:
    return f"retention removed {offsets(whole(fact.after))} it had not read, of {partitions(fact)} ({subjects(fact)})"


def _skipped(fact: Fact) -> str:
    return f"its commits jumped over {offsets(whole(fact.after))} of {partitions(fact)} ({subjects(fact)})"


def _silent(fact: Fact) -> str:
    who = f"{subjects(fact)} {'has' if count(fact) == 1 else 'have'} committed nothing"
    long = f"for {duration(known(fact.after))}"
    return f"{who} {long}, {partitions(fact)}; {rate(known(fact.before))} arrives there"


def _stuck(fact: Fact) -> str:
    stood = "has stood" if count(fact) == 1 else "have stood"
    return f"{subjects(fact)} {stood} still for {duration(known(fact.after))}, though the owner consumes others"


def _slow(fact: Fact) -> str:
    does_so = (
        f"{subjects(fact)} does {rate(known(fact.after))}, its peers {rate(known(fact.bound))}"
    )
    return f"{does_so}; {rate(known(fact.before))} arrives"


def _hot(fact: Fact) -> str:
    return f"{rate(known(fact.after))} arrives in {subjects(fact)}, the best member does {rate(known(fact.bound))}"


def _too_few(fact: Fact) -> str:
    enough, most = whole(fact.after), whole(fact.bound)
    would = f"{several(whole(fact.before), 'member')}, {enough} would do"
    if enough <= most:
        return would
    return f"{would}, but {does(most, 'partition', 'keeps', 'keep')} no more than {most} busy"


def _group_load(fact: Fact) -> str:
    return f"{rate(known(fact.after))} arrives, together they do {rate(known(fact.bound))}"


def _skewed(fact: Fact) -> str:
    return f"{subjects(fact)} gets {rate(known(fact.after))} and does {rate(known(fact.bound))}"


def _catching_up(fact: Fact) -> str:
    late = f"{duration(known(fact.before))} behind in {partitions(fact)}"
    return f"{late}, caught up " + (
        "at a time not yet known" if fact.after is None else f"in about {duration(fact.after)}"
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
    "unreadable": lambda fact: fact.quote or "",
    "no_partitions_seen": lambda _: "none of its partitions is seen",
    "no_past": _in_doubt("how far behind it is will be known after the next snapshot"),
    "no_lag": _in_doubt("how much it has to consume is unknown"),
    "no_commit_interval": _in_doubt(
        "no commit has been seen yet, and some groups commit once an hour: configure commit_interval_seconds, or wait"
    ),
    "no_time_lag": _in_doubt("how far behind it is in time is unknown"),
}
