"""Whether a group could run a strategy, why or why not, and what its owner has to do for it."""

from __future__ import annotations

from collections.abc import Mapping

from ...assignors.kafka.protocol_names import (
    BROKER_SETTING,
    BY_RACKS,
    CLIENT_SETTING,
    SERVER_SETTING,
    java_class,
    setting,
)
from ...model.facts import Fact
from ...model.groups import GroupHeader
from .clauses import Clause, count, filled

_TASK_SETTING = "rack.aware.assignment.strategy"
_ASSIGNOR_SETTING = "task.assignor.class"

_ALREADY = "It runs this strategy already"
_NOBODY = "no members ({names})"


# Why it can or cannot run


def _live(fact: Fact) -> str:
    told = "what the group has now"
    return f"{told}, by {fact.subjects[0]}: not emulated" if fact.subjects else told


def _no_user_data(fact: Fact) -> str:
    why = (
        "they sent none"
        if fact.quote is None
        else "the group runs {quote}, which sends none for it"
    )
    return filled(
        f"it needs user data, and of {{after}} of {{bound}} members ({{names}}) none is known: {why}; say it of members"
        " in the configuration",
        fact,
    )


def _some_eager(fact: Fact) -> str:
    lists = "lists" if count(fact) == 1 else "list"
    return filled(
        f"{count(fact)} of {{bound}} members ({{names}}) {lists} an eager one beside it: what they own starts afresh at"
        " every rebalance",
        fact,
    )


def _other_elected(fact: Fact) -> str:
    runs, elected = fact.subjects if len(fact.subjects) == 2 else (*fact.subjects, "nothing")
    return f"it runs {runs}, but the lists elect {elected}: check them"


_REASONS: Mapping[str, Clause] = {
    "unreadable": "could not be read: {quote}",
    "in_rebalance": "rebalancing ({names})",
    "share_group": "a share group: its members share partitions, there is no assignment to compare",
    "other_protocol": "protocol type {names}: not a consumer group",
    "no_members": _NOBODY,
    "only_commits": (
        f"{_NOBODY}: it only commits, as consumers that call assign() do; those take no strategy"
    ),
    "broker_assigns_tasks": (
        "a KIP-1071 Streams group: the broker assigns tasks, it takes no partition strategy"
    ),
    "assigns_tasks": (
        "a Kafka Streams application: it assigns tasks, partition strategies would tear them apart"
    ),
    "unresolved_regex": (
        "regex: {after} of {bound} members subscribe by a pattern that is not resolved"
    ),
    "subscription_unknown": "the subscription of {after} of {bound} members is not known",
    "no_existing_topic": "no member subscribes to a topic that exists",
    "partition_rows_missing": "partition rows of {names} are missing",
    "not_measured": "its metrics have not been computed",
    "measuring_failed": "it could not be measured: {quote}",
    "replay_failed": "it could not be replayed: {quote}",
    "failed": "failed: {quote}",
    "led_in_one_order": "as {first}, which leads, has it: static and dynamic members in one order",
    "led_without_racks": "as {first}, which leads, has it: without racks",
    "led_by_own_code": "{first} leads by code of its own: partitions may go to others than shown",
    "client_throws": (
        "{first} leads: its roundrobin throws where it comes to a member that does not subscribe to the topic, here"
        " {second}"
    ),
    "user_data_unknown": _no_user_data,
    "user_data_unreadable": "it cannot read what {after} of {bound} members sent ({names}): {quote}",
    "live_assignment": _live,
    "for_comparison": "shown for comparison, never advised",
    "not_for_consumers": "no setting or class brings it to a consumer group",
    "broker_assigns": (
        "KIP-848 group: the broker assigns, a client-side strategy cannot be deployed"
    ),
    "leader_assigns": (
        "classic group: its leader assigns, a server-side strategy cannot be deployed"
    ),
    "no_plan_follower": "a stored plan, and no member lists evenkeel-plan",
    "follows_plans": "its members follow plans",
    "not_in_library": "{after} of {bound} members {is|are} of {names}, which has no such strategy",
    "runs_it": "the strategy it runs",
    "runs_it_as_configured": "the strategy it runs, as configured",
    "runs_it_while_racks_are_off": (
        "the strategy in effect: {names} is configured, and racks are off"
    ),
    "runs_it_as_seen": "the strategy it runs, as far as can be seen",
    "not_on_brokers": f"not every broker lists {{names}} in {BROKER_SETTING}",
    "brokers_assignors_unknown": (
        "whether brokers have {names} is not known: it takes DESCRIBE_CONFIGS on the cluster"
    ),
    "members_may_ask": "members may ask for it",
    "classic_members": "{after} of {bound} still use the classic protocol and cannot",
    "listed_beside_eager": "listed beside eager ones, it starts afresh at every rebalance",
    "listed_beside_eager_by": _some_eager,
    "after_two_restarts": "after two rolling restarts that add it",
    "after_restart_adding": "after one rolling restart that adds it",
    "after_restart_alone": "after one rolling restart that lists it alone",
    "after_restart_first": "after one rolling restart that puts it first",
    "shipping_class": "and ships its class with every member",
    "after_racks_told": "once every member sends client.rack",
    "listed_not_elected": (
        "all {bound} members list it, but {first} is elected ({after} of {bound} votes)"
    ),
    "nobody_lists_it": "no member lists it",
    "not_listed_by": "{count} of {bound} members {does|do} not list it ({names})",
    "lists_unknown": "what {after} of {bound} members list is not known",
    "running_not_listed": ("it runs {first}, which the lists of {others} leave out: check them"),
    "running_not_elected": _other_elected,
    "racks_play_no_part": "racks play no part",
    "no_such_setting": "a KIP-1071 group: the broker assigns tasks, it has no such setting",
    "after_client_rack": (
        "after client.rack is set on {count} of {bound:client} ({names}): one without switches racks off for all"
        " (KIP-925)"
    ),
    "after_restart_leaving_sticky": (
        f"after one rolling restart that takes {_ASSIGNOR_SETTING} out and sets {_TASK_SETTING}={{names}}"
    ),
    "after_restart_sticky": (
        f"after one rolling restart that sets {_ASSIGNOR_SETTING} to Kafka's StickyTaskAssignor"
    ),
    "after_restart_setting": f"after one rolling restart that sets {_TASK_SETTING}={{names}}",
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


def _follow_plan(fact: Fact) -> str:
    strategy, group = fact.subjects if len(fact.subjects) == 2 else (*fact.subjects, "GROUP")
    write = f"`evenkeel plan {group} --strategy {strategy}` writes the plan"
    return f"{write}: put it where its members read theirs, then {_restarting_one(fact)}."


def _put_first(fact: Fact) -> str:
    enough = "" if fact.after is None else filled("; {after} of {bound} members are enough", fact)
    first = java_class(fact.subjects[0])
    return f"Put {first} first in {CLIENT_SETTING}, one rolling restart{enough}."


def _one_restart(fact: Fact) -> str:
    drops = f"a second with {java_class(fact.subjects[0])} alone drops {fact.subjects[1]}"
    return f"One rolling restart with {setting(fact.subjects)} on every member; {drops}."


def _two_restarts(fact: Fact) -> str:
    first = f"{setting(fact.subjects)} on every member"
    return f"Two rolling restarts: first {first}, then {java_class(fact.subjects[0])} alone."


def _tell_racks(fact: Fact) -> str:
    verb = "does" if fact.after == 1 else "do"
    only = "It looks at the racks only of members that set client.rack; {after} of {bound} "
    return filled(f"{only}{verb} not.", fact)


def _needs(fact: Fact) -> str:
    untold = filled(": {after} of {bound} members do not tell theirs", fact) if fact.after else None
    needed = "Every instance needs Kafka Streams 3.6 or newer, and client.rack"
    return f"{needed}{untold or ', which all tell'}."


def _bring_to_brokers(fact: Fact) -> str:
    if fact.subjects[0] != BY_RACKS:
        return filled(f"Add {{names}} to {BROKER_SETTING} of every broker first.", fact)
    return "Bring evenkeel's assignor to the brokers first: `evenkeel runbook GROUP --strategy racks-server` says how."


_HOW: Mapping[str, Clause] = {
    "already_running": f"Nothing has to be done: i{_ALREADY[1:]}.",
    "restart_one": lambda f: (
        f"{_ALREADY}: {_restarting_one(f)}, the rebalance brings the assignment."
    ),
    "next_rebalance_brings_it": f"{_ALREADY}: the next rebalance brings the assignment.",
    "needs_plan_follower": (
        "It needs members that follow a stored plan: `evenkeel elect GROUP --to evenkeel-plan` says how they get there."
    ),
    "follow_plan": _follow_plan,
    "take_plan_away": lambda f: (
        f"Take the plan away, or let it expire, then {_restarting_one(f)}: its fallback decides from then on."
    ),
    "ship_class": lambda f: f"Ship {java_class(f.subjects[0])} with every member.",
    "list_alone": lambda f: (
        f"List {java_class(f.subjects[0])} alone in {CLIENT_SETTING}, one rolling restart."
    ),
    "put_first": _put_first,
    "one_restart": _one_restart,
    "two_restarts": _two_restarts,
    "enough_if_listed": (
        "If all list both already, as Java's default does, {names} alone is enough."
    ),
    "java_clients_only": "Only Java clients can load such a class.",
    "not_in_librdkafka": "librdkafka has no {names}.",
    "refused_by_other_clients": (
        "librdkafka and kafka-python refuse a list of {first} and {second}: stop all their members, then start all with"
        " {first}."
    ),
    "ask_broker": (
        f"Set {SERVER_SETTING}={{names}} on every member (the broker must list it in group.consumer.assignors)."
    ),
    "bring_to_brokers": _bring_to_brokers,
    "tell_racks": _tell_racks,
    "set_client_rack": (
        "Set client.rack, to the rack of each ({names}), on {after} of {bound:member}: configured racks are not seen by"
        " Kafka, `evenkeel runbook` says whose is which."
    ),
    "set_racks": "Set client.rack on every instance and broker.rack on every broker.",
    "configure_racks": (
        "Set client.rack of Kafka Streams, or configure racks by client id or host; set broker.rack on every broker."
    ),
    "client_rack_on": (
        "Set client.rack={first} on {after} of {bound:instance} ({others}), with the next restart."
    ),
    "set_task_strategy": (f"Set {_TASK_SETTING}={{names}} on every instance, one rolling restart."),
    "leave_sticky_assignor": (
        f"Take {_ASSIGNOR_SETTING} out, so that Kafka's high-availability assignor places tasks, and set"
        f" {_TASK_SETTING}={{names}} on every instance, one rolling restart."
    ),
    "task_strategy_needs": _needs,
}


CLAUSES: Mapping[str, Clause] = {**_REASONS, **_HOW}
"""Each measure in words; of a way restart by restart the `manual` tells more."""
