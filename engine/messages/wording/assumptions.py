"""What is assumed of a group that nobody has seen, and how many members it needs."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.formats import arriving, record_rate
from ...model.text import and_more, does, several
from .clauses import Clause, count, known, partitions, subjects, whole


def _asked_for(what: str) -> Clause:
    return lambda fact: f"asked {what}: {', '.join(fact.subjects)}{and_more(fact.more)}"


def _leave(fact: Fact, why: str = "") -> str:
    return f"{subjects(fact)} {'leaves' if count(fact) == 1 else 'leave'}{why}"


def _static(fact: Fact) -> str:
    whose = "is a static member" if count(fact) == 1 else "are static members"
    return f"{subjects(fact)} {whose}: what it had stands still until its session ends"


def _subscribed(fact: Fact) -> str:
    as_many = whole(fact.after), whole(fact.bound)
    others = "all do" if as_many[0] == as_many[1] else f"{as_many[0]} of {as_many[1]} members do"
    return f"who joins subscribes to {subjects(fact)}, as {others}"


def _able(fact: Fact) -> str:
    if fact.after is None:
        return "what who joins can do is not known: say it with --capacity"
    return f"who joins does {record_rate(fact.after)}, the median of its peers"


def _grows(fact: Fact) -> str:
    has = several(whole(fact.after), "partition")
    return (
        f"topic {fact.subjects[0]} has {has}, {fact.partitions} of them new: what arrives is spread evenly over all,"
        " for keys hash anew; what waits stays where it is; the racks of new replicas are unknown"
    )


def _dropped(fact: Fact) -> str:
    unread = does(fact.partitions or 0, "partition", "is", "are")
    return f"nobody subscribes to {subjects(fact)} any more: {unread} read by nobody"


def _stands(fact: Fact) -> str:
    rack = fact.subjects[0]
    return f"{subjects(fact, 1)} {'is' if count(fact) == 2 else 'are'} in rack {rack}"


def _best(fact: Fact) -> str:
    some = (
        "the best member does"
        if fact.before == 1
        else f"the best {whole(fact.before):,} members do"
    )
    return f"{arriving(known(fact.after))}, {some} {record_rate(known(fact.bound))}"


CLAUSES: Mapping[str, Clause] = {
    "runs_not_asked": lambda f: f"what the group runs, {f.subjects[0]}, is not asked here",
    "asked_next_rebalance": _asked_for(
        "for the next rebalance of the group, with what its members own now"
    ),
    "plan_supposed": lambda f: (
        f"the plan that the group follows{f' (by {f.quote})' if f.quote else ''} is taken to be what members own now,"
        f" and {f.subjects[0]}, the default, to be its fallback: --plan FILE says what both are"
    ),
    "plan_given": lambda f: (
        f"the group follows the plan that is given{f' (by {f.quote})' if f.quote else ''}; what it does not say,"
        f" {f.subjects[0]} decides"
    ),
    "plan_unfit": lambda f: (
        f"nobody follows the plan that is given ({f.quote}): {f.subjects[0]} decides alone"
    ),
    "plan_none": lambda f: (
        f"its leader says that no plan is followed now: the fallback decides alone, taken to be {f.subjects[0]}, the"
        " default"
    ),
    "plan_strangers": lambda f: (
        f"the plan does not know {subjects(f)}: what the fallback gives to who is unknown is taken from the plan's"
        " members"
    ),
    "plan_misfit": lambda f: f"the plan does not fit: {f.quote}",
    "asked_afresh": _asked_for("for a fresh assignment, as after a restart of everybody"),
    "members_leave": _leave,
    "last_members_leave": lambda f: _leave(
        f, ": the last by name, as a StatefulSet takes its highest ordinal first"
    ),
    "static_members_leave": _static,
    "members_join": lambda f: (
        f"{subjects(f)} {'joins' if count(f) == 1 else 'join'}, sorted by that name; real ids are drawn when members"
        " join, which may swap who gets what"
    ),
    "members_join_subscribed": _subscribed,
    "members_join_able": _able,
    "members_join_nowhere": lambda f: f"the rack of {subjects(f)} is unknown: say it with --rack",
    "topic_grows": _grows,
    "topics_dropped": _dropped,
    "members_stand": _stands,
    "members_stand_alone": lambda f: f"{_stands(f)}, in which no replica is known",
    "members_can": lambda f: (
        f"{subjects(f)} {'does' if count(f) == 1 else 'do'} {record_rate(known(f.after))}"
        + (" each" if count(f) > 1 else "")
    ),
    "change_at_once": lambda _: (
        "all of that is so from now on: forecasts leave out how long a rebalance or a session lasts"
    ),
    "best_do_too_little": _best,
    "too_large_to_try": lambda f: (
        f"{several(whole(f.after), 'member')} on {partitions(f)} are too many to try"
    ),
    "tried_in_vain": lambda f: (
        f"none up to {several(whole(f.after), 'member')} does, and more take too long to try"
    ),
}
