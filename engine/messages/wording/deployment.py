"""Whether a group could run a strategy, why or why not, and what its owner has to do for it."""

from __future__ import annotations

from collections.abc import Mapping

from ...assignors.kafka.protocol_names import (
    BROKER_SETTING,
    BY_RACKS,
    CLIENT_SETTING,
    SERVER_SETTING,
    cooperative,
    java_class,
    setting,
)
from ...model.facts import Fact
from ...model.groups import GroupHeader
from .clauses import Clause, count, subjects, whole

_TASK_SETTING = "rack.aware.assignment.strategy"
_ASSIGNOR_SETTING = "task.assignor.class"

_ALREADY = "It runs this strategy already"


def _of(fact: Fact) -> str:
    """How many of how many."""
    return f"{whole(fact.after)} of {whole(fact.bound)}"


def _members(fact: Fact) -> str:
    return f"{_of(fact)} members"


def _class(fact: Fact) -> str:
    return java_class(fact.subjects[0])


# Why it can or cannot run


def _live(fact: Fact) -> str:
    told = "what the group has now"
    return f"{told}, by {fact.subjects[0]}: not emulated" if fact.subjects else told


def _no_members(fact: Fact) -> str:
    return f"no members ({subjects(fact)})"


def _only_commits(fact: Fact) -> str:
    only = "it only commits, as consumers that call assign() do; those take no strategy"
    return f"{_no_members(fact)}: {only}"


def _some_eager(fact: Fact) -> str:
    number = count(fact)
    return (
        f"{number} of {whole(fact.bound)} members ({subjects(fact)}) {'lists' if number == 1 else 'list'} an eager one"
        " beside it: what they own starts afresh at every rebalance"
    )


def _some_without(fact: Fact) -> str:
    number = count(fact)
    verb = "does" if number == 1 else "do"
    return f"{number} of {whole(fact.bound)} members {verb} not list it ({subjects(fact)})"


def _not_elected(fact: Fact) -> str:
    votes = f"{whole(fact.after)} of {whole(fact.bound)} votes"
    return f"all {whole(fact.bound)} members list it, but {fact.subjects[0]} is elected ({votes})"


def _left_out(fact: Fact) -> str:
    return (
        f"it runs {fact.subjects[0]}, which the lists of {subjects(fact, 1)} leave out: check them"
    )


def _other_elected(fact: Fact) -> str:
    runs, elected = fact.subjects if len(fact.subjects) == 2 else (*fact.subjects, "nothing")
    return f"it runs {runs}, but the lists elect {elected}: check them"


_REASONS: Mapping[str, Clause] = {
    "unreadable": lambda f: f"could not be read: {f.quote}",
    "in_rebalance": lambda f: f"rebalancing ({subjects(f)})",
    "share_group": lambda _: (
        "a share group: its members share partitions, there is no assignment to compare"
    ),
    "other_protocol": lambda f: f"protocol type {subjects(f)}: not a consumer group",
    "no_members": _no_members,
    "only_commits": _only_commits,
    "broker_assigns_tasks": lambda _: (
        "a KIP-1071 Streams group: the broker assigns tasks, it takes no partition strategy"
    ),
    "assigns_tasks": lambda _: (
        "a Kafka Streams application: it assigns tasks, partition strategies would tear them apart"
    ),
    "unresolved_regex": lambda f: (
        f"regex: {_members(f)} subscribe by a pattern that is not resolved"
    ),
    "subscription_unknown": lambda f: f"the subscription of {_members(f)} is not known",
    "no_existing_topic": lambda _: "no member subscribes to a topic that exists",
    "partition_rows_missing": lambda f: f"partition rows of {subjects(f)} are missing",
    "not_measured": lambda _: "its metrics have not been computed",
    "measuring_failed": lambda f: f"it could not be measured: {f.quote}",
    "replay_failed": lambda f: f"it could not be replayed: {f.quote}",
    "failed": lambda f: f"failed: {f.quote}",
    "live_assignment": _live,
    "for_comparison": lambda _: "shown for comparison, never advised",
    "not_for_consumers": lambda _: "no setting or class brings it to a consumer group",
    "broker_assigns": lambda _: (
        "KIP-848 group: the broker assigns, a client-side strategy cannot be deployed"
    ),
    "leader_assigns": lambda _: (
        "classic group: its leader assigns, a server-side strategy cannot be deployed"
    ),
    "no_plan_follower": lambda _: "a stored plan, and no member lists evenkeel-plan",
    "follows_plans": lambda _: "its members follow plans",
    "runs_it": lambda _: "the strategy it runs",
    "runs_it_as_configured": lambda _: "the strategy it runs, as configured",
    "runs_it_as_seen": lambda _: "the strategy it runs, as far as can be seen",
    "not_on_brokers": lambda f: f"not every broker lists {subjects(f)} in {BROKER_SETTING}",
    "brokers_assignors_unknown": lambda f: (
        f"whether brokers have {subjects(f)} is not known: it takes DESCRIBE_CONFIGS on the cluster"
    ),
    "members_may_ask": lambda _: "members may ask for it",
    "classic_members": lambda f: f"{_of(f)} still use the classic protocol and cannot",
    "listed_beside_eager": lambda _: (
        "listed beside eager ones, it starts afresh at every rebalance"
    ),
    "listed_beside_eager_by": _some_eager,
    "after_double_bounce": lambda _: "after a double bounce that adds it",
    "after_restart_adding": lambda _: "after one rolling restart that adds it",
    "after_restart_alone": lambda _: "after one rolling restart that lists it alone",
    "after_restart_first": lambda _: "after one rolling restart that puts it first",
    "shipping_class": lambda _: "and ships its class with every member",
    "listed_not_elected": _not_elected,
    "nobody_lists_it": lambda _: "no member lists it",
    "not_listed_by": _some_without,
    "lists_unknown": lambda f: f"what {_members(f)} list is not known",
    "running_not_listed": _left_out,
    "running_not_elected": _other_elected,
    "racks_play_no_part": lambda _: "racks play no part",
    "no_such_setting": lambda _: (
        "a KIP-1071 group: the broker assigns tasks, it has no such setting"
    ),
    "after_restart_leaving_sticky": lambda f: (
        f"after one rolling restart that takes {_ASSIGNOR_SETTING} out and sets {_TASK_SETTING}={subjects(f)}"
    ),
    "after_restart_sticky": lambda _: (
        f"after one rolling restart that sets {_ASSIGNOR_SETTING} to Kafka's StickyTaskAssignor"
    ),
    "after_restart_setting": lambda f: (
        f"after one rolling restart that sets {_TASK_SETTING}={subjects(f)}"
    ),
}


# What to do for it


def look_again(group: GroupHeader) -> str | None:
    """What to do where a group cannot be replayed for what it does at the moment; None where it is not for that."""
    return "Ask again once it is Stable." if group.rebalancing else None


def one_restart(static: int, members: int, unit: str = "member") -> str:
    """
    The restart of one member that brings a rebalance, as an imperative clause.

    A *unit* is what is restarted: a member, or the instance of an application whose threads are its members.

    >>> one_restart(0, 3), one_restart(1, 3)
    ('restart one member', 'restart one member that has no instance id')
    """
    if not static:
        return f"restart one {unit}"
    if static < members:
        return f"restart one {unit} that has no instance id"
    return (
        f"stop one {unit}, and start it once its session.timeout.ms is over (all are static: one that is back sooner"
        " brings no rebalance)"
    )


def _restarting_one(fact: Fact) -> str:
    return one_restart(round(fact.after or 0), round(fact.bound or 0))


def _restart_one(fact: Fact) -> str:
    return f"{_ALREADY}: {_restarting_one(fact)}, the rebalance brings the assignment."


def _follow_plan(fact: Fact) -> str:
    strategy, group = fact.subjects if len(fact.subjects) == 2 else (*fact.subjects, "GROUP")
    write = f"`evenkeel plan {group} --strategy {strategy}` writes the plan"
    return f"{write}: put it where its members read theirs, then {_restarting_one(fact)}."


def _put_first(fact: Fact) -> str:
    enough = f"; {_members(fact)} are enough" if fact.after is not None else ""
    return f"Put {_class(fact)} first in {CLIENT_SETTING}, one rolling restart{enough}."


def _one_restart(fact: Fact) -> str:
    drops = f"a second with {_class(fact)} alone drops {fact.subjects[1]}"
    return f"One rolling restart with {setting(fact.subjects)} on every member; {drops}."


def _two_restarts(fact: Fact) -> str:
    already = " (that elects it already)" if cooperative(fact.subjects[:1]) is False else ""
    first = f"{setting(fact.subjects)} on every member{already}"
    return f"Two rolling restarts: first {first}, then {_class(fact)} alone."


def _refusing(fact: Fact) -> str:
    new, present = fact.subjects
    return (
        f"librdkafka and kafka-python refuse a list of {new} and {present}: stop all their members, then start all with"
        f" {new}."
    )


def _tell_racks(fact: Fact) -> str:
    verb = "does" if fact.after == 1 else "do"
    return f"It looks at the racks only of members that set client.rack; {_of(fact)} {verb} not."


def _needs(fact: Fact) -> str:
    told = f": {_members(fact)} do not tell theirs" if fact.after else ", which all tell"
    return f"Every instance needs Kafka Streams 3.6 or newer, and client.rack{told}."


def _bring_to_brokers(fact: Fact) -> str:
    if fact.subjects[0] != BY_RACKS:
        return f"Add {subjects(fact)} to {BROKER_SETTING} of every broker first."
    return "Bring evenkeel's assignor to the brokers first: `evenkeel apply GROUP --strategy racks-server` says how."


_HOW: Mapping[str, Clause] = {
    "already_running": lambda _: f"Nothing has to be done: {_ALREADY[0].lower()}{_ALREADY[1:]}.",
    "restart_one": _restart_one,
    "next_rebalance_brings_it": lambda _: f"{_ALREADY}: the next rebalance brings the assignment.",
    "needs_plan_follower": lambda _: (
        "It needs members that follow a stored plan: `evenkeel elect GROUP --to evenkeel-plan` says how they get there."
    ),
    "follow_plan": _follow_plan,
    "take_plan_away": lambda f: (
        f"Take the plan away, or let it expire, then {_restarting_one(f)}: its fallback decides from then on."
    ),
    "ship_class": lambda f: f"Ship {_class(f)} with every member.",
    "list_alone": lambda f: f"List {_class(f)} alone in {CLIENT_SETTING}, one rolling restart.",
    "put_first": _put_first,
    "one_restart": _one_restart,
    "two_restarts": _two_restarts,
    "enough_if_listed": lambda f: (
        f"If all list both already, as Java's default does, {subjects(f)} alone is enough."
    ),
    "java_clients_only": lambda _: "Only Java clients can load such a class.",
    "not_in_librdkafka": lambda f: f"librdkafka has no {subjects(f)}.",
    "refused_by_other_clients": _refusing,
    "ask_broker": lambda f: (
        f"Set {SERVER_SETTING}={subjects(f)} on every member (the broker must list it in group.consumer.assignors)."
    ),
    "bring_to_brokers": _bring_to_brokers,
    "tell_racks": _tell_racks,
    "set_racks": lambda _: "Set client.rack on every instance and broker.rack on every broker.",
    "configure_racks": lambda _: (
        "Configure racks by client id or host, and set broker.rack on every broker."
    ),
    "set_task_strategy": lambda f: (
        f"Set {_TASK_SETTING}={subjects(f)} on every instance, one rolling restart."
    ),
    "leave_sticky_assignor": lambda f: (
        f"Take {_ASSIGNOR_SETTING} out, so that Kafka's high-availability assignor places tasks, and set"
        f" {_TASK_SETTING}={subjects(f)} on every instance, one rolling restart."
    ),
    "task_strategy_needs": _needs,
}


CLAUSES: Mapping[str, Clause] = {**_REASONS, **_HOW}
"""Each measure in words; of a way restart by restart the `manual` tells more."""
