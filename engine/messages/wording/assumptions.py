"""What is assumed of a group that nobody has seen, and how many members it needs."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.text import and_more
from .clauses import Clause, count, filled, whole


def _asked(what: str) -> Clause:
    return lambda fact: f"asked {what}: {', '.join(fact.subjects)}{and_more(fact.more)}"


def _subscribed(fact: Fact) -> str:
    others = "all do" if whole(fact.after) == whole(fact.bound) else "{after} of {bound} members do"
    return filled(f"who joins subscribes to {{names}}, as {others}", fact)


def _able(fact: Fact) -> str:
    if fact.after is None:
        return "what who joins can do is not known: say it with --capacity"
    return filled("who joins does {after:rate}, the median of its peers", fact)


def _best(fact: Fact) -> str:
    best = "member does" if fact.before == 1 else "{before:,} members do"
    return filled(f"{{after:arriving}}, the best {best} {{bound:rate}}", fact)


def _stand(fact: Fact) -> str:
    return filled(f"{{others}} {'is' if count(fact) == 2 else 'are'} in rack {{first}}", fact)


_LEAVE = "{names} {leaves|leave}"


def _by(fact: Fact) -> str:
    """Whom a plan is by, where that is known."""
    return " (by {quote})" if fact.quote else ""


CLAUSES: Mapping[str, Clause] = {
    "runs_not_asked": "what the group runs, {first}, is not asked here",
    "asked_next_rebalance": _asked(
        "for the next rebalance of the group, with what its members own now"
    ),
    "plan_supposed": lambda f: filled(
        f"the plan that the group follows{_by(f)} is taken to be what members own now, and {{first}}, the default, to"
        " be its fallback: --plan FILE says what both are",
        f,
    ),
    "plan_given": lambda f: filled(
        f"the group follows the plan that is given{_by(f)}; what it does not say, {{first}} decides",
        f,
    ),
    "plan_unfit": "nobody follows the plan that is given ({quote}): {first} decides alone",
    "plan_none": (
        "its leader says that no plan is followed now: the fallback decides alone, taken to be {first}, the default"
    ),
    "plan_strangers": (
        "the plan does not know {names}: what the fallback gives to who is unknown is taken from the plan's members"
    ),
    "plan_misfit": "the plan does not fit: {quote}",
    "asked_afresh": _asked("for a fresh assignment, as after a restart of everybody"),
    "members_leave": _LEAVE,
    "last_members_leave": (
        f"{_LEAVE}: the last by name, as a StatefulSet takes its highest ordinal first"
    ),
    "static_members_leave": (
        "{names} {is a static member|are static members}: what it had stands still until its session ends"
    ),
    "rack_lost": (
        "{rack|racks} {every} {is|are} lost with {its|their} brokers: another replica in sync takes over the"
        " lead of {partitions}; whether producers may write with fewer replicas (min.insync.replicas) is left out"
    ),
    "leaders_open": (
        "from which rack {partitions} would be led is not known: several replicas in sync may take over"
    ),
    "replicas_open": "where the replicas of {partitions} are is not known: they are taken to be left",
    "rackless_stay": "the rack of {names} is not known: {it|they} {is|are} taken to stay",
    "partitions_dead": (
        "{names} {has|have} no replica in sync left: nobody reads or writes there, so nothing arrives, and what waits"
        " stays"
    ),
    "stores_lost": (
        "no instance that stays has a copy of the stores of {names}: they are built anew from their changelogs,"
        " {after:,} offsets for one copy of each"
    ),
    "stores_go_on": "the stores of {names} go on from a copy on an instance that stays",
    "changelogs_dead": (
        "{names} {has|have} no replica in sync left: until the rack is back stores are neither written to {it|them} nor"
        " built from {it|them}"
    ),
    "members_join": (
        "{names} {joins|join}, sorted by that name; real ids are drawn when members join, which may swap who gets what"
    ),
    "instances_join": (
        "{names} {joins|join}, with as many threads and the tags of the first instance, and nothing on disk; a real"
        " process id, which is drawn, may swap who gets what"
    ),
    "tasks_grow": (
        "there are {after:task}, a task for each partition of a topic that grows: what arrives is spread evenly over"
        " it; the racks of new replicas are unknown; Kafka Streams stops where a repartition topic behind it takes its"
        " number of partitions from it"
    ),
    "settings_supposed": "{every} {is|are} set everywhere",
    "tasks_caught_up": (
        "tasks are where they end, once every store is restored: how long that takes is left out, as is what waits"
        " meanwhile"
    ),
    "members_join_subscribed": _subscribed,
    "members_join_able": _able,
    "members_join_nowhere": "the rack of {names} is unknown: say it with --rack",
    "topic_grows": lambda f: filled(
        f"topic {{first}} has {{after:partition}}, {f.partitions} of them new: what arrives is spread evenly over all,"
        " for keys hash anew; what waits stays where it is; the racks of new replicas are unknown",
        f,
    ),
    "topics_dropped": lambda f: filled(
        f"nobody subscribes to {{names}} any more: {{partitions}} {'is' if f.partitions == 1 else 'are'} read by"
        " nobody",
        f,
    ),
    "members_stand": _stand,
    "members_stand_alone": lambda f: f"{_stand(f)}, in which no replica is known",
    "members_can": lambda f: filled(
        "{names} {does|do} {after:rate}" + (" each" if count(f) > 1 else ""), f
    ),
    "change_at_once": (
        "all of that is so from now on: forecasts leave out how long a rebalance or a session lasts"
    ),
    "best_do_too_little": _best,
    "too_large_to_try": "{after:member} on {partitions} are too many to try",
    "tried_in_vain": "none up to {after:member} does, and more take too long to try",
}
