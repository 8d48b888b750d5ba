"""Whether a strategy is available to a group, the reasons, and the steps to it."""

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
from ...model.command import command_in_text
from ...model.facts import Fact
from ...model.groups import GroupHeader
from .clauses import Clause, count, filled

_TASK_SETTING = "rack.aware.assignment.strategy"
_ASSIGNOR_SETTING = "task.assignor.class"

_ALREADY = "The group already runs this strategy"
_NOBODY = "no members ({names})"


# Why it is available or not


def _live(fact: Fact) -> str:
    now = "the current assignment"
    return f"{now}, by {fact.subjects[0]}: not emulated" if fact.subjects else now


def _no_user_data(fact: Fact) -> str:
    why = (
        "they sent none"
        if fact.quote is None
        else "the group runs {quote}, which sends none for it"
    )
    return filled(
        f"it needs user data, and that of {{after}} of {{bound}} members ({{names}}) is unknown: {why}; set it in the"
        " configuration",
        fact,
    )


def _some_eager(fact: Fact) -> str:
    lists = "lists" if count(fact) == 1 else "list"
    return filled(
        f"{count(fact)} of {{bound}} members ({{names}}) {lists} an eager strategy with it: all of their partitions are"
        " reassigned in each rebalance",
        fact,
    )


def _other_elected(fact: Fact) -> str:
    runs, elected = fact.subjects if len(fact.subjects) == 2 else (*fact.subjects, "nothing")
    return f"it runs {runs}, but its lists elect {elected}: check them"


_REASONS: Mapping[str, Clause] = {
    "unreadable": "could not be read: {quote}",
    "in_rebalance": "rebalancing ({names})",
    "share_group": "a share group has no assignment to improve: its members share partitions",
    "other_protocol": "protocol type {names}: not a consumer group",
    "no_members": _NOBODY,
    "only_commits": (
        f"{_NOBODY}: it only commits, as consumers do that call assign(), and these use no strategy"
    ),
    "broker_assigns_tasks": (
        "a Streams group (KIP-1071): the broker assigns tasks, partition strategies don't apply"
    ),
    "assigns_tasks": (
        "a Kafka Streams application: it assigns tasks, which partition strategies would split"
    ),
    "unresolved_regex": ("regex: {after} of {bound} members subscribe by an unresolved pattern"),
    "subscription_unknown": "the subscription of {after} of {bound} members is not known",
    "no_existing_topic": "no member subscribes to a topic that exists",
    "partition_rows_missing": "partition rows of {names} are missing",
    "not_measured": "its metrics have not been computed",
    "measuring_failed": "it could not be measured: {quote}",
    "replay_failed": "it could not be replayed: {quote}",
    "failed": "failed: {quote}",
    "led_in_one_order": "in the variant of the group leader {first}: static and dynamic members in one order",
    "led_without_racks": "in the variant of the group leader {first}: without racks",
    "led_by_own_code": "the group leader {first} uses its own code: actual owners may differ",
    "other_release": "brokers are of Kafka {first}, evenkeel emulates {second} to {third}: actual owners may differ",
    "client_throws": (
        "the group leader {first} has a roundrobin that throws if a member doesn't subscribe to the topic, here"
        " {second}"
    ),
    "user_data_unknown": _no_user_data,
    "user_data_unreadable": "it cannot read the user data of {after} of {bound} members ({names}): {quote}",
    "live_assignment": _live,
    "for_comparison": "shown for comparison, never advised",
    "not_for_consumers": "no setting or class makes it available to a consumer group",
    "broker_assigns": ("KIP-848 group: the broker assigns, so client-side strategies don't apply"),
    "leader_assigns": ("classic group: its leader assigns, so server-side strategies don't apply"),
    "no_plan_follower": "needs a stored plan, and no member lists evenkeel-plan",
    "follows_plans": "its members follow plans",
    "not_in_library": "{after} of {bound} members {is|are} of {names}, which has no such strategy",
    "runs_it": "the current strategy",
    "runs_it_as_configured": "the current strategy, as configured",
    "runs_it_while_racks_are_off": (
        "the strategy in effect: {names} is configured, and racks are off"
    ),
    "runs_it_as_seen": "the current strategy, as far as can be seen",
    "not_on_brokers": f"not all brokers list {{names}} in {BROKER_SETTING}",
    "brokers_assignors_unknown": (
        "not known if the brokers have {names}: evenkeel needs DESCRIBE_CONFIGS on the cluster"
    ),
    "members_may_ask": "members can request it",
    "classic_members": "{after} of {bound} still use the classic protocol and can't",
    "listed_beside_eager": "listed with eager strategies, it reassigns all partitions in each rebalance",
    "listed_beside_eager_by": _some_eager,
    "after_two_restarts": "after two rolling restarts that add it",
    "after_restart_adding": "after one rolling restart that adds it",
    "after_restart_alone": "after one rolling restart that lists it as the only entry",
    "after_restart_first": "after one rolling restart that puts it first",
    "shipping_class": "with its class on every member",
    "after_racks_told": "once every member sends client.rack",
    "listed_not_elected": (
        "all {bound} members list it, but {first} is elected ({after} of {bound} votes)"
    ),
    "nobody_lists_it": "no member lists it",
    "not_listed_by": "{count} of {bound} members {does|do} not list it ({names})",
    "lists_unknown": "the lists of {after} of {bound} members are not known",
    "running_not_listed": (
        "it runs {first}, which is missing in the lists of {others}: check them"
    ),
    "running_not_elected": _other_elected,
    "racks_play_no_part": "racks have no effect",
    "no_such_setting": "a KIP-1071 group: the broker assigns tasks, and has no such setting",
    "after_client_rack": (
        "after client.rack is set on {count} of {bound:client} ({names}): a single client without it disables racks for"
        " all (KIP-925)"
    ),
    "after_restart_leaving_sticky": (
        f"after one rolling restart that removes {_ASSIGNOR_SETTING} and sets {_TASK_SETTING}={{names}}"
    ),
    "after_restart_sticky": (
        f"after one rolling restart that sets {_ASSIGNOR_SETTING} to Kafka's StickyTaskAssignor"
    ),
    "after_restart_setting": f"after one rolling restart that sets {_TASK_SETTING}={{names}}",
}


# The steps to it


def look_again(group: GroupHeader) -> str | None:
    """The next step if a group cannot be replayed because it is rebalancing; None otherwise."""
    return "Retry once the group is Stable." if group.rebalancing else None


SESSION_AT_BROKERS = "consumer.session.timeout.ms of the group or of the brokers"
"""The session of a member of a KIP-848 group, which its broker decides."""


def one_restart(
    static: int, members: int, unit: str = "member", session: str = "its session.timeout.ms"
) -> str:
    """
    The restart of one member that brings a rebalance, as an imperative clause.

    A *unit* is what is restarted: a member, or the instance of an application whose threads are its members. *session*
    is the setting that says when a static one is taken for gone.

    >>> one_restart(0, 3), one_restart(1, 3)
    ('restart one member', 'restart one member that has no instance id')
    """
    if not static:
        return f"restart one {unit}"
    if static < members:
        return f"restart one {unit} that has no instance id"
    return (
        f"stop one {unit}, and start it after {session} (all are static: one that returns sooner causes no"
        " rebalance)"
    )


def _restarting_one(fact: Fact) -> str:
    return one_restart(round(fact.after or 0), round(fact.bound or 0))


def _follow_plan(fact: Fact) -> str:
    strategy, *group = fact.subjects
    words = "evenkeel plan --group {} --strategy {}" if group else "evenkeel plan"
    command = command_in_text(words, *group, strategy)
    copy = "copy it to the path where the members read theirs"
    return f"Write the plan with `{command}`, {copy}, then {_restarting_one(fact)}."


def _put_first(fact: Fact) -> str:
    enough = "" if fact.after is None else filled("; {after} of {bound} members suffice", fact)
    first = java_class(fact.subjects[0])
    return f"Put {first} first in {CLIENT_SETTING}: one rolling restart{enough}."


def _one_restart(fact: Fact) -> str:
    drops = f"a second one with only {java_class(fact.subjects[0])} removes {fact.subjects[1]}"
    return f"One rolling restart with {setting(fact.subjects)} on every member; {drops}."


def _two_restarts(fact: Fact) -> str:
    first = f"{setting(fact.subjects)} on every member"
    return f"Two rolling restarts: first {first}, then only {java_class(fact.subjects[0])}."


def _tell_racks(fact: Fact) -> str:
    verb = "does" if fact.after == 1 else "do"
    only = "It uses racks only of members that set client.rack; {after} of {bound} "
    return filled(f"{only}{verb} not.", fact)


def _needs(fact: Fact) -> str:
    untold = filled(": {after} of {bound} members send none", fact) if fact.after else None
    needed = "Every instance needs Kafka Streams 3.6 or newer, and client.rack"
    return f"{needed}{untold or ', which all send'}."


def _asking_anew(fact: Fact) -> str:
    one = one_restart(round(fact.after or 0), round(fact.bound or 0), session=SESSION_AT_BROKERS)
    return f"Then {one}: brokers before Kafka 4.4 don't reassign when static members return."


def _bring_to_brokers(fact: Fact) -> str:
    assignor, group = fact.subjects
    if assignor != BY_RACKS:
        return f"Add {assignor} to {BROKER_SETTING} of every broker first."
    command = command_in_text("evenkeel runbook --group {} --strategy racks-server", group)
    return f"Add evenkeel's assignor to the brokers first: `{command}` shows the steps."


def _needs_plan_follower(fact: Fact) -> str:
    words = " ".join(
        ["evenkeel elect", *("--group {}" for _ in fact.subjects), "--to evenkeel-plan"]
    )
    command = command_in_text(words, *fact.subjects)
    return f"Its members have to follow a stored plan: `{command}` shows the steps."


_HOW: Mapping[str, Clause] = {
    "already_running": f"{_ALREADY}: no step is needed.",
    "restart_one": lambda f: (
        f"{_ALREADY}: {_restarting_one(f)}, the rebalance applies the assignment."
    ),
    "next_rebalance_brings_it": f"{_ALREADY}: the next rebalance applies the assignment.",
    "needs_plan_follower": _needs_plan_follower,
    "follow_plan": _follow_plan,
    "take_plan_away": lambda f: (
        f"Delete the plan, or let it expire, then {_restarting_one(f)}: its fallback assigns from then on."
    ),
    "ship_class": lambda f: f"Add {java_class(f.subjects[0])} to the classpath of every member.",
    "list_alone": lambda f: (
        f"Set {CLIENT_SETTING} to {java_class(f.subjects[0])} as the only entry: one rolling restart."
    ),
    "put_first": _put_first,
    "one_restart": _one_restart,
    "two_restarts": _two_restarts,
    "enough_if_listed": (
        "If all members already list both, as Java's default does, the step to {names} alone is enough."
    ),
    "java_clients_only": "Only Java clients can load it.",
    "not_in_librdkafka": "librdkafka has no {names}.",
    "refused_by_other_clients": (
        "librdkafka and kafka-python reject a list of {first} and {second}: stop all their members, then start all with"
        " {first}."
    ),
    "ask_broker": (
        f"Set {SERVER_SETTING}={{names}} on every member (the broker must list it in group.consumer.assignors)."
    ),
    "ask_anew": _asking_anew,
    "bring_to_brokers": _bring_to_brokers,
    "tell_racks": _tell_racks,
    "set_client_rack": (
        "Set client.rack, to the rack of each ({names}), on {after} of {bound:member}: Kafka doesn't see configured"
        " racks. `evenkeel runbook` lists the rack of each."
    ),
    "set_racks": "Set client.rack on every instance and broker.rack on every broker.",
    "configure_racks": (
        "Set client.rack of Kafka Streams, or configure racks by client id or host; set broker.rack on every broker."
    ),
    "client_rack_on": (
        "Set client.rack={first} on {after} of {bound:instance} ({others}), with the next restart."
    ),
    "set_task_strategy": (f"Set {_TASK_SETTING}={{names}} on every instance: one rolling restart."),
    "leave_sticky_assignor": (
        f"Remove {_ASSIGNOR_SETTING}, so that Kafka's high-availability assignor places tasks, and set"
        f" {_TASK_SETTING}={{names}} on every instance: one rolling restart."
    ),
    "task_strategy_needs": _needs,
}


CLAUSES: Mapping[str, Clause] = {**_REASONS, **_HOW}
"""Each measure in words; `runbook` has the steps restart by restart."""
