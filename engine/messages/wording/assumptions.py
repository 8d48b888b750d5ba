"""What evenkeel assumes of a group that doesn't exist yet, and how many members it needs."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact
from ...model.text import and_more
from .clauses import Clause, count, filled, whole


def _asked(what: str) -> Clause:
    return lambda fact: f"replayed {what}: {', '.join(fact.subjects)}{and_more(fact.more)}"


def _subscribed(fact: Fact) -> str:
    others = (
        "all others do"
        if whole(fact.after) == whole(fact.bound)
        else "{after} of {bound} members do"
    )
    return filled(f"new members subscribe to {{names}}, as {others}", fact)


def _able(fact: Fact) -> str:
    if fact.after is None:
        return "the capacity of new members is not known: set it with --capacity"
    return filled("new members can process {after:rate}, the median of their peers", fact)


def _best(fact: Fact) -> str:
    best = "member processes" if fact.before == 1 else "{before:,} members process"
    return filled(f"{{after:rate}} incoming, the best {best} {{bound:rate}}", fact)


def _stand(fact: Fact) -> str:
    return filled(f"{{others}} {'is' if count(fact) == 2 else 'are'} in rack {{first}}", fact)


_LEAVE = "{names} {leaves|leave}"


def _by(fact: Fact) -> str:
    """By which strategy a plan was computed, where that is known."""
    return " (by {quote})" if fact.quote else ""


CLAUSES: Mapping[str, Clause] = {
    "runs_not_asked": "the strategy of the group, {first}, is not replayed here",
    "asked_next_rebalance": _asked(
        "for the next rebalance of the group, with its present assignment"
    ),
    "plan_supposed": lambda f: filled(
        f"the plan of the group{_by(f)} is assumed to be its present assignment, with the fallback {{first}} (the"
        " default): --plan FILE sets both",
        f,
    ),
    "plan_given": lambda f: filled(
        f"the group follows the given plan{_by(f)}; {{first}} assigns the partitions that it leaves out",
        f,
    ),
    "plan_unfit": "no member follows the given plan ({quote}): {first} assigns all partitions",
    "plan_none": (
        "its leader reports that no plan is followed now: the fallback, assumed to be {first} (the default), assigns"
    ),
    "plan_strangers": (
        "the plan doesn't know {names}: partitions that the fallback gives to unknown members are taken from the others"
    ),
    "plan_misfit": "the plan doesn't fit: {quote}",
    "asked_afresh": _asked("for a fresh assignment, as after a restart of all members"),
    "members_leave": _LEAVE,
    "last_members_leave": (
        f"{_LEAVE}: the last by name, as a StatefulSet takes its highest ordinal first"
    ),
    "static_members_leave": (
        "{names} {is a static member|are static members}: {its|their} partitions pause until the session ends"
    ),
    "rack_lost": (
        "{rack|racks} {every} {is|are} lost with {its|their} brokers: another in-sync replica leads"
        " {partitions}; min.insync.replicas isn't checked"
    ),
    "leaders_open": (
        "the rack of the new leader of {partitions} is not known: several in-sync replicas may take over"
    ),
    "replicas_open": "the replicas of {partitions} are not known: they are assumed to survive",
    "rackless_stay": "the rack of {names} is not known: {it|they} {is|are} assumed to stay",
    "partitions_dead": (
        "{names} {has|have} no in-sync replica left: no client can read or write there, and the lag stays as it is now"
    ),
    "stores_lost": (
        "no remaining instance has a copy of the stores of {names}: they are restored from their changelogs, {after:,}"
        " offsets for one copy of each"
    ),
    "stores_go_on": "the stores of {names} continue from a copy on a remaining instance",
    "changelogs_dead": (
        "{names} {has|have} no in-sync replica left: until the rack is back, stores can't be written to {it|them} or"
        " restored from {it|them}"
    ),
    "members_join": (
        "{names} {joins|join}, sorted by that name; real member ids are random and may swap assignments"
    ),
    "instances_join": (
        "{names} {joins|join}, with the threads and tags of the first instance, and an empty disk; a real process id is"
        " random and may swap assignments"
    ),
    "tasks_grow": (
        "there are {after:task}, one per partition of the larger topic, with incoming records spread evenly; the racks"
        " of new replicas are unknown; Kafka Streams stops if a repartition topic behind it takes its number of"
        " partitions from it"
    ),
    "settings_supposed": "{every} {is|are} set on all members",
    "tasks_caught_up": (
        "tasks are shown after every store is restored; the lag that builds up meanwhile is left out"
    ),
    "members_join_subscribed": _subscribed,
    "members_join_able": _able,
    "members_join_nowhere": "the rack of {names} is unknown: set it with --rack",
    "topic_grows": lambda f: filled(
        f"topic {{first}} has {{after:partition}}, {f.partitions} of them new: incoming records are spread evenly over"
        " all, because keys hash to other partitions; the lag stays in its partitions; the racks of new replicas are"
        " unknown",
        f,
    ),
    "topics_dropped": lambda f: filled(
        f"no member subscribes to {{names}} any more: {{partitions}} {'is' if f.partitions == 1 else 'are'} not read",
        f,
    ),
    "members_stand": _stand,
    "members_stand_alone": lambda f: f"{_stand(f)}, which has no known replica",
    "members_can": lambda f: filled(
        "{names} {processes|process} {after:rate}" + (" each" if count(f) > 1 else ""), f
    ),
    "change_at_once": (
        "all changes apply at once: forecasts leave out the time of a rebalance or a session"
    ),
    "best_do_too_little": _best,
    "day_unknown": (
        "fewer than {bound:member} must keep up with the peak of 24 h, and snapshots cover {after:roughly}"
    ),
    "day_peak": "{after:rate} incoming at the peak (p99) of 24 h",
    "too_large_to_try": "{after:member} on {partitions} are too many to replay",
    "tried_in_vain": "no number up to {after:member} suffices, and more take too long to replay",
}
