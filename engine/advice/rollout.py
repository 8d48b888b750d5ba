"""
The steps to a strategy: the settings of each client, restart by restart, and the rollback.

`rolling_restarts` knows what members of a classic group list after each restart, and what is elected meanwhile. This
turns it into the settings of each client. librdkafka and kafka-python refuse eager and cooperative strategies in one
list: they stop and start all members. It also has the steps from the classic protocol to KIP-848 and back, and for
plans.

Source: KIP-429 (two rolling restarts from eager to cooperative), KIP-848 (migration of groups), the configuration of
Kafka 4.3, librdkafka 2.12 and kafka-python 3.0.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ..assignors.kafka.protocol_names import (
    BY_RACKS,
    CLIENT_SETTING,
    CLIENT_SIDE,
    RACK_SETTING,
    SERVER_SETTING,
    SERVER_SIDE,
    cooperative,
    java_class,
    mixed,
    wire_name,
)
from ..followers.plan import NAME as PLAN
from ..model.coordinators import InForce
from ..model.facts import Fact, note, reason, step
from ..model.groups import GroupSnapshot
from ..model.releases import USUAL, release_of
from ..model.states import STREAMS_PROTOCOL
from ..streams.settings import StickyTasks
from . import rolling_restarts
from .rolling_restarts import Names, RestartStage, by_one_restart, not_reassigned, rolling

Settings = Mapping[str, str | None]
"""Key -> value as the client writes it; None: the key is taken out."""


class Client(enum.StrEnum):
    """A client library, by how its settings are written."""

    JAVA = "java"
    SPRING = "spring"
    LIBRDKAFKA = "librdkafka"
    KAFKA_PYTHON = "kafka-python"


JVM = (Client.JAVA, Client.SPRING)

CONSUMERS: Mapping[Client, str] = {
    Client.JAVA: "",
    Client.SPRING: "spring.kafka.consumer.properties.",
    Client.LIBRDKAFKA: "",
}
"""Clients that write Kafka's own names of settings, and have the KIP-848 protocol: what they put before a name."""

PROTOCOL_SINCE: Mapping[Client, tuple[int, ...]] = {
    Client.JAVA: (4, 0),
    Client.SPRING: (4, 0),
    Client.LIBRDKAFKA: (2, 12),
}
"""The first version of a client's library (Spring: of kafka-clients) that has the consumer protocol for production."""

STREAMS: Mapping[Client, str] = {Client.JAVA: "", Client.SPRING: "spring.kafka.streams.properties."}
"""The same of Kafka Streams."""

_DEFAULTS = {
    Client.KAFKA_PYTHON: re.compile(r"kafka-python-\d[\w.]*"),
    Client.LIBRDKAFKA: re.compile(r"rdkafka"),
}
"""Client ids that a library gives by itself."""

PLAN_SETTING = "evenkeel.plan"

PLAN_PLACE = "<path, https address or topic:evenkeel-plans>"

RACK_PLACE = "<the rack of this member>"

GROUP_PLACE = 'group="..."'

NOBODY: Mapping[str, Names] = MappingProxyType({})
"""No member has to send its rack."""

TASK_SETTING = "rack.aware.assignment.strategy"

ASSIGNOR_SETTING = "task.assignor.class"

STICKY_ASSIGNOR = "org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"

PYTHON_SETTING = "partition_assignment_strategy"

PROTOCOL = "group.protocol"

CLASSIC_ONLY = (CLIENT_SETTING, "session.timeout.ms", "heartbeat.interval.ms")
"""What a client of the KIP-848 protocol refuses to be given: its broker decides these."""


class Restart(enum.StrEnum):
    """Who is restarted."""

    ROLLING = "every member, one after the other"
    ALL = "all stopped, then all started once the group is Empty"
    ONE = "one member"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """
    One change of settings, and the restart that brings it.

    Attributes:
        restart: Who is restarted; the next one once the group is stable again.
        elected: What the group runs afterwards, by its name on the wire; None where none is there (KIP-1071).
        why: What the round is for.
        settings: What each client is given for it; nothing where settings stay.
        lists: What members list then, by wire names; nothing where the broker decides.
        stages: What is elected after how many restarts.
        eager: Whether members give up everything at each rebalance; None unknown.
        only: Which instances of an application are restarted, by name; all without.
        racks: By rack, the members that are told that it is theirs; nothing where they tell it already.
    """

    elected: str | None
    why: Fact
    restart: Restart = Restart.ROLLING
    settings: Mapping[Client, Settings] = field(default_factory=dict)
    lists: Names = ()
    stages: tuple[RestartStage, ...] = ()
    eager: bool | None = False
    only: Names = ()
    racks: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way that all members of some clients can go: the rounds to the strategy, and those back."""

    clients: tuple[Client, ...]
    rounds: tuple[Round, ...]
    back: tuple[Round, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """
    How a group gets a strategy.

    Attributes:
        target: The strategy's name on the wire.
        present: What the group runs now.
        ways: One for each kind of clients; members of several kinds go the last one together.
        cannot: Clients that have no such strategy.
        notes: What else has to be known.
        on_brokers: What is done on brokers before, after why; nothing where they have it.
        off_brokers: What is done there after all ways back.
    """

    target: str
    present: str | None
    ways: tuple[Way, ...]
    cannot: tuple[Client, ...] = ()
    notes: tuple[Fact, ...] = ()
    on_brokers: tuple[Fact, ...] = ()
    off_brokers: tuple[Fact, ...] = ()


def clients_of(group: GroupSnapshot, told: str | None = None) -> Mapping[Client | None, int]:
    """
    How many members are of which library, as configured (*told*) or as far as client ids tell: Kafka does not say it.

    Java's default id names the group, librdkafka's and kafka-python's the library; whatever somebody chose says
    nothing.
    """
    if told is not None:
        one = next((client for client in Client if client == told), None)
        return Counter({one: len(group.roster)})
    return Counter(client_of(group.group, one) for one in group.roster.client_ids)


def client_of(group: str, client_id: str) -> Client | None:
    """
    The library of a member of a group, where its client id tells.

    >>> client_of("orders", "consumer-orders-1"), client_of("orders", "billing")
    (<Client.JAVA: 'java'>, None)
    """
    java = f"consumer-{group}-"
    if client_id.startswith(java) and client_id[len(java) :].isdecimal():
        return Client.JAVA
    return next((c for c, known in _DEFAULTS.items() if known.fullmatch(client_id)), None)


def client_settings(client: Client, lists: Names) -> Settings | None:
    """
    A list of strategies in a client's own words; None where it cannot have that list.

    >>> client_settings(Client.LIBRDKAFKA, ("range", "roundrobin"))
    {'partition.assignment.strategy': 'range,roundrobin'}
    >>> client_settings(Client.LIBRDKAFKA, ("cooperative-sticky", "range")) is None
    True
    """
    if client in JVM:
        given = {CLIENT_SETTING: ",".join(map(java_class, lists))}
        plan = {PLAN_SETTING: PLAN_PLACE} if PLAN in lists else {}
        return _written(given | plan, {client: CONSUMERS[client]})[client]
    known = [one for name in lists if (one := CLIENT_SIDE.get(name)) is not None]
    if mixed(lists) or len(known) < len(lists):
        return None
    if client is Client.LIBRDKAFKA:
        everywhere = all(each.librdkafka for each in known)
        return {CLIENT_SETTING: ",".join(lists)} if everywhere else None
    if not all(each.python for each in known):
        return None
    # a class, or what makes the follower of plans, which has one way to rebalance for all of the list
    eager = ", eager=True" if len(lists) > 1 and cooperative(lists) is not True else ""
    follower = f'(plan="{PLAN_PLACE}", {GROUP_PLACE}{eager})'
    classes = [f"{each.python}{follower if each.wire == PLAN else ''}" for each in known]
    return {PYTHON_SETTING: f"[{', '.join(classes)}]"}


def _written(given: Settings, prefixes: Mapping[Client, str]) -> dict[Client, Settings]:
    """Settings as each of some clients writes their names."""
    return {
        client: {f"{prefix}{key}": value for key, value in given.items()}
        for client, prefix in prefixes.items()
    }


def to_client_side(
    target: str,
    present: str,
    lists: Sequence[Names | None],
    static: Sequence[bool] | None = None,
    clients: Sequence[Client] = tuple(Client),
) -> Rollout:
    """
    The way of a classic group to a strategy that its members list.

    Args:
        target: The strategy, by any of its names.
        present: What the group has elected, by its wire name.
        lists: Each member's list by wire names, None where nobody said, in the order of restarts.
        static: Which members have an instance id; none without it.
        clients: Those that its members may be.

    Raises:
        InputError: Members cannot list such a strategy.
    """
    plan = rolling_restarts.plan(target, present, lists, static)
    before = [(present,) if listed is None or plan.assumed else listed for listed in lists]
    there = [(each.lists, each.why) for each in plan.steps if each.needed]
    was, as_it_was = _listed_before(before, present), reason("as_it_was")
    can = [c for c in clients if client_settings(c, (plan.target,)) is not None]
    roll = [c for c in can if all(client_settings(c, names) is not None for names, _ in there)]
    stop = [c for c in can if c not in roll]
    ways = []
    if roll and there:
        now, back = there[-1][0], [(was, as_it_was)]
        if set(was).isdisjoint(now):
            back.insert(0, ((*was, *now), reason("let_in_meanwhile", [was[0], now[0]])))
        ways.append(
            Way(
                clients=tuple(roll),
                rounds=_rolled(before, there, roll, static),
                back=_rolled([now] * len(before), back, roll, None),
            )
        )
    if stop and there:
        first = _all_at_once((plan.target,), stop, reason("empty_lets_any_in", [plan.target]))
        ways.append(
            Way(clients=tuple(stop), rounds=(first,), back=(_all_at_once(was, stop, as_it_was),))
        )
    return Rollout(
        target=plan.target,
        present=present,
        ways=tuple(ways),
        cannot=tuple(c for c in clients if c not in can),
        notes=(*([plan.assumed] if plan.assumed else ()), *plan.notes),
    )


def _listed_before(lists: Sequence[Names | None], present: str) -> Names:
    """What all members listed; what the group ran, where they listed different things or nobody said."""
    return (lists[0] if len(set(lists)) == 1 else None) or (present,)


def _rolled(
    before: Sequence[Names],
    there: Sequence[tuple[Names, Fact]],
    clients: Sequence[Client],
    static: Sequence[bool] | None,
) -> tuple[Round, ...]:
    rounds, held = [], list(before)
    for lists, why in there:
        stages = rolling(held, lists, static)
        # who gives up everything: those not restarted yet, or those that are
        kinds = {cooperative(names) for names in (*set(held), lists)}
        rounds.append(
            Round(
                elected=stages[-1].elected or lists[0],
                why=why,
                settings=_given(clients, lists),
                lists=lists,
                stages=stages,
                eager=True if False in kinds else None if None in kinds else False,
            )
        )
        held = [lists] * len(held)
    return tuple(rounds)


def _all_at_once(lists: Names, clients: Sequence[Client], why: Fact) -> Round:
    return Round(
        restart=Restart.ALL,
        elected=lists[0],
        why=why,
        settings=_given(clients, lists),
        lists=lists,
        eager=True,
    )


def _given(clients: Sequence[Client], lists: Names) -> dict[Client, Settings]:
    return {c: given for c in clients if (given := client_settings(c, lists)) is not None}


def telling_racks(
    rollout: Rollout,
    racks: Mapping[str, Sequence[str]],
    *,
    eager: bool | None,
    clients: Sequence[Client] = tuple(Client),
) -> Rollout:
    """
    The way to a strategy of which members send their racks: `client.rack` comes with the first restart there is.

    kafka-python sends no rack to its group, whatever it is told.

    Args:
        rollout: The way to the strategy without; none where the group runs it.
        racks: By rack, the members that do not send it.
        eager: Whether members give up everything at a rebalance of what they run now; None unknown.
        clients: Those that the members may be.
    """
    can = {client: CONSUMERS[client] for client in clients if client in CONSUMERS}
    given, undone = (_written({RACK_SETTING: value}, can) for value in (RACK_PLACE, None))
    if not rollout.ways:
        there = Round(elected=rollout.present, why=reason("kafka_sees_sent_racks"), eager=eager)
        undo = replace(there, why=reason("as_it_was"))
        way = Way(clients=tuple(can), rounds=(there,), back=(undo,))
        rollout = replace(rollout, ways=(way,))
    ways = [
        replace(
            way,
            clients=tuple(client for client in way.clients if client in can),
            rounds=_also(way.rounds, given, racks),
            back=_also(way.back, undone, {}),
        )
        for way in rollout.ways
        if not can.keys().isdisjoint(way.clients)
    ]
    return replace(
        rollout,
        ways=tuple(ways),
        cannot=tuple(c for c in clients if c not in can or c in rollout.cannot),
        notes=(*rollout.notes, note("racks_from")),
    )


def _also(
    rounds: Sequence[Round], given: Mapping[Client, Settings], racks: Mapping[str, Sequence[str]]
) -> tuple[Round, ...]:
    """Rounds, the first with some settings before its own."""
    first = rounds[0]
    settings = {c: {**more, **first.settings.get(c, {})} for c, more in given.items()}
    if first.settings:
        settings = {client: own for client, own in settings.items() if client in first.settings}
    others = tuple(
        replace(each, settings={c: own for c, own in each.settings.items() if c in given})
        for each in rounds[1:]
    )
    return replace(first, settings=settings, racks=racks), *others


def to_tasks(
    strategy: str,
    *,
    sticky: bool = False,
    racks: str | None = None,
    needs: Sequence[Fact] = (),
    untold: Mapping[str, Names] = NOBODY,
) -> Rollout:
    """
    The way of a Kafka Streams application of the classic protocol to the sticky assignor of tasks (KIP-924), or to a
    rack strategy of the high-availability one (KIP-925).

    What it has now is not on the wire: the way back is what configuration says of it, else Kafka's default.

    Args:
        strategy: `sticky-tasks`, `none`, `min_traffic` or `balance_subtopology`.
        sticky: Whether it has the sticky assignor now.
        racks: The rack strategy that it has now, as far as somebody said.
        needs: What a rack strategy asks for besides, as `task_needs` says it.
        untold: By rack, the instances that have to send their `client.rack`, as `untold_instances` tells them.
    """
    to_sticky = strategy == StickyTasks.CLIENT
    if to_sticky and sticky:
        return Rollout(target=strategy, present=STREAMS_PROTOCOL, ways=())
    given: dict[str, str | None] = {ASSIGNOR_SETTING: STICKY_ASSIGNOR}
    undone: dict[str, str | None] = {ASSIGNOR_SETTING: None}
    if to_sticky:
        why = step("set_sticky_assignor")
        notes = [note("sticky_assignor_from"), note("sticky_assignor_racks")]
    else:
        why = step("leave_sticky_assignor" if sticky else "set_task_strategy", [strategy])
        notes = [note("task_strategy_unseen", [strategy]), *needs]
        given, undone = (undone, given) if sticky else ({}, {})
        given, undone = given | {TASK_SETTING: strategy}, undone | {TASK_SETTING: racks}
    if to_sticky or sticky:
        notes.append(note("leader_places_tasks"))
    there = Round(
        elected=STREAMS_PROTOCOL,
        why=why,
        settings=_written(given, STREAMS),
        lists=(STREAMS_PROTOCOL,),
    )
    undo = replace(there, settings=_written(undone, STREAMS), why=reason("as_it_was"))
    way = Way(clients=JVM, rounds=(there,), back=(undo,))
    if untold:
        way = _telling(way, untold, is_set=racks == strategy and not sticky)
        notes = [*([note("racks_unknown_yet")] if RACK_PLACE in untold else []), *notes]
    return Rollout(target=strategy, present=STREAMS_PROTOCOL, ways=(way,), notes=tuple(notes))


def _telling(way: Way, untold: Mapping[str, Names], *, is_set: bool) -> Way:
    """
    The way of an application some instances of which send no `client.rack`: it comes with the restart there is, and may
    stay on the way back; where the strategy is set already, they alone restart for it.
    """
    rounds = way.rounds
    if is_set:
        only = tuple(name for names in untold.values() for name in names)
        why = reason("one_without_rack_is_enough")
        rounds = tuple(replace(each, settings={}, why=why, only=only) for each in rounds)
        bare = tuple(replace(each, settings={}, only=only) for each in way.back)
        way = replace(way, back=_also(bare, _written({RACK_SETTING: None}, STREAMS), {}))
    return replace(way, rounds=_also(rounds, _written({RACK_SETTING: RACK_PLACE}, STREAMS), untold))


def to_broker_tasks(group: str, notes: Sequence[Fact] = ()) -> Rollout:
    """
    What there is to do for a KIP-1071 group: its broker has one assignor of tasks, no setting chooses another.

    Args:
        group: Its id.
        notes: What the group sets of its protocol.
    """
    there = Round(restart=Restart.ONE, elected=None, why=step("next_rebalance_brings_it"))
    return Rollout(
        target=StickyTasks.SERVER,
        present=None,
        ways=(Way(clients=JVM, rounds=(there,), back=()),),
        notes=(
            note("broker_has_one_task_assignor"),
            *notes,
            note("streams_group_configs", [group]),
        ),
    )


def to_plan(
    strategy: str,
    rollout: Rollout | None,
    present: str,
    *,
    group: str | None = None,
    static: Sequence[bool] = (),
) -> Rollout:
    """
    The way to a plan: that of the follower, where members do not list it yet, then the plan and one restart.

    Args:
        strategy: By which the plan is made.
        rollout: The way to the follower; None where the group follows plans already.
        present: What the group runs now.
        group: Its id, for commands and settings; they leave it out if it is None.
        static: Which members have an instance id; none without it.
    """
    names = [strategy, *([] if group is None else [group])]
    last = Round(
        restart=Restart.ONE,
        elected=PLAN,
        why=by_one_restart("follow_plan", static, names),
        lists=(PLAN,),
    )
    undo = replace(last, why=by_one_restart("take_plan_away", static))
    if rollout is None:
        clients = tuple(c for c in Client if client_settings(c, (PLAN,)) is not None)
        way = Way(clients=clients, rounds=(last,), back=(undo,))
        return Rollout(target=PLAN, present=present, ways=(way,))
    ways = tuple(
        replace(
            way,
            rounds=(*(_naming(each, group) for each in way.rounds), last),
            back=tuple(_naming(each, group) for each in way.back),
        )
        for way in rollout.ways
    )
    return replace(rollout, ways=ways)


def _naming(this: Round, group: str | None) -> Round:
    """With the group's id where kafka-python's follower is told it."""
    given = this.settings.get(Client.KAFKA_PYTHON, {}).get(PYTHON_SETTING)
    if group is None or given is None:
        return this
    named = {PYTHON_SETTING: given.replace(GROUP_PLACE, f"group={group!r}")}
    return replace(this, settings={**this.settings, Client.KAFKA_PYTHON: named})


def to_server_side(
    target: str,
    present: str | None,
    lists: Sequence[Names | None],
    *,
    classic: bool,
    clients: Sequence[Client] = tuple(Client),
    lacking: Fact | None = None,
    stopping: Sequence[Fact] = (),
    returns_stopped: bool = False,
    notes: Sequence[Fact] = (),
    static: Sequence[bool] = (),
    brokers: str | None = None,
    interval: InForce | None = None,
) -> Rollout:
    """
    The way to a strategy of the broker (KIP-848): another one for a group that has that protocol, or that protocol for
    a classic group, member by member while both kinds are in it.

    Args:
        target: Our name of it: `uniform`, `range-server` or `racks-server`.
        present: What the group runs now, by its wire name.
        lists: As for `to_client_side`; nothing is asked of a group that has the protocol.
        classic: Whether the group, or members of it, have the classic protocol.
        clients: Those that its members may be.
        lacking: Why brokers cannot be asked for it yet, as `brokers_lack` says it.
        stopping: Why brokers convert the group only while it has no members.
        returns_stopped: Whether they convert it back only then.
        notes: What else is to be known of the protocol, or of what the group sets of it.
        static: Which members have an instance id; none without it.
        brokers: The release of the brokers; None unknown.
        interval: How often they assign the group at most; None unknown.
    """
    name = SERVER_SIDE[target]
    can = {client: CONSUMERS[client] for client in clients if client in CONSUMERS}
    before = _listed_before(lists, present or "range")
    there = Round(
        elected=name,
        why=reason("broker_assigns_by", [present] if present else []),
        settings=_written({SERVER_SETTING: name}, can),
    )
    was = present or "uniform"
    undone = _written({SERVER_SETTING: was}, can)
    undo = replace(there, elected=was, settings=undone, why=reason("as_it_was"))
    told = [*notes]
    if classic:
        given = {PROTOCOL: "consumer", SERVER_SETTING: name, **dict.fromkeys(CLASSIC_ONLY)}
        there = replace(
            there,
            restart=Restart.ALL if stopping else Restart.ROLLING,
            why=reason("empty_changes_protocol") if stopping else reason("protocol_changes"),
            settings=_written(given, can),
            # members of the classic protocol go on rebalancing as they do
            eager=cooperative(before) is not True,
        )
        given, listed = {PROTOCOL: "classic", SERVER_SETTING: None}, tuple(map(wire_name, before))
        undo = replace(
            there,
            restart=Restart.ALL if returns_stopped else Restart.ROLLING,
            elected=present or before[0],
            settings={
                client: {**own, **(client_settings(client, listed) or {})}
                for client, own in _written(given, can).items()
            },
            lists=before,
            why=undo.why,
        )
        told = [*stopping, *told, note("protocol_from")]
    told.append(note("broker_must_list", [name]))
    again: tuple[Round, ...] = ()
    if not classic and not_reassigned(static, brokers):
        why = note("static_not_reassigned")
        again = (Round(restart=Restart.ONE, elected=name, why=why),)
    if (release_of(brokers) or USUAL) >= USUAL:
        told.append(
            note("assigned_per_interval")
            if interval is None
            else note("assigned_per_interval", [interval.by], after=interval.seconds)
        )
    # ours is brought to brokers before all else, and on the way back taken from them after it
    ours, restart = lacking if name == BY_RACKS else None, step("restart_brokers")
    return Rollout(
        target=name,
        present=present,
        ways=(
            Way(
                clients=tuple(can),
                rounds=(there, *again),
                back=(undo, *(replace(each, elected=was) for each in again)),
            ),
        )
        if can
        else (),
        cannot=tuple(c for c in clients if c not in can),
        notes=tuple(told),
        on_brokers=(ours, step("jar_to_brokers"), step("list_on_brokers"), restart) if ours else (),
        off_brokers=(step("unlist_on_brokers", [name]), restart) if ours else (),
    )
