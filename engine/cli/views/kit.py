"""What `evenkeel apply` prints: the steps to a strategy, what to expect meanwhile, how to see it, and the way back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenkeel.engine.advice.rollout import JVM, Client, Restart, Rollout, Round, Settings, Way
from evenkeel.engine.cli.views.tables import tell, text
from evenkeel.engine.facts import FactKind, of_kind
from evenkeel.engine.kit.protocol_names import CLIENT_SIDE
from evenkeel.engine.model import GroupType
from evenkeel.engine.records import to_json
from evenkeel.engine.steps.rollout import Held, Kit
from evenkeel.engine.text import pasted
from evenkeel.engine.wording import band, duration, percent, sentence, several, words
from evenkeel.engine.wording.deploying import one_restart
from evenkeel.engine.wording.outlook import about

NAMES: Mapping[Client, str] = {
    Client.JAVA: "Java",
    Client.SPRING: "Spring",
    Client.LIBRDKAFKA: "librdkafka",
    Client.KAFKA_PYTHON: "kafka-python",
}

WRITTEN: Mapping[Client, str] = {
    Client.JAVA: "Java, properties",
    Client.SPRING: "Spring, application.properties",
    Client.LIBRDKAFKA: "librdkafka (Python, Go, .NET, Node), properties",
    Client.KAFKA_PYTHON: "kafka-python, arguments of KafkaConsumer",
}

SHOWN_ANYWAY = frozenset(
    {"wire_names", "refused_by_other_clients", "not_part_of_kafka", "not_in_librdkafka"}
)
"""Notes that say what the settings show."""

ARTEFACTS: Mapping[str, str] = {
    "fair": (
        "com.cerner.common.kafka:common-kafka:2.4 on Maven Central, the newest, fails at its first rebalance with any"
        " client from 2.4 on (tried 2.4.1, 2.8.2, 3.9.1, 4.3.1); its assignment can be had by plan:"
        " evenkeel plan {group} --strategy fair"
    ),
    "lag": (
        "github.com/grantneale/kafka-lag-based-assignor is in no public Maven repository: build it against your"
        " kafka-clients and try it first; its assignment can be had by plan: evenkeel plan {group} --strategy lag-aware"
    ),
    "evenkeel-plan": "engine/followers of evenkeel: one Java source file, or a folder for kafka-python",
}
"""Where the class of a strategy is to be had that no client has, and what it was tried with; `{group}` is its id."""


def show_kit(kit: Kit) -> None:
    """The whole of it, in the order in which it is done."""
    tell([text(line) if line else "" for line in _lines(kit)])


def kit_object(kit: Kit) -> dict[str, Any]:
    """The same as one object, for machines; what is not known is null."""
    group = kit.group
    return {
        "group": group.group,
        "cluster": group.cluster,
        "snapshot_id": group.snapshot_id,
        "group_type": group.type.value,
        "strategy": kit.strategy,
        "runs": group.assignor,
        "target": kit.rollout.target,
        "there_already": kit.there,
        "members": len(group.members),
        "clients_by_client_id": {
            "unknown" if client is None else client.value: count
            for client, count in kit.clients.items()
        },
        "ways": [
            {
                "clients": [client.value for client in way.clients],
                "rounds": [
                    _round_object(each, held)
                    for each, held in zip(way.rounds, kit.held[place], strict=True)
                ],
                "back": [_round_object(each, None) for each in way.back],
            }
            for place, way in enumerate(kit.rollout.ways)
        ],
        "without_it": [client.value for client in kit.rollout.cannot],
        "notes": [words(each) for each in kit.rollout.notes],
        "on_brokers": [words(each) for each in kit.rollout.on_brokers],
        "off_brokers": [words(each) for each in kit.rollout.off_brokers],
        "now": to_json(kit.now),
        "then": to_json(kit.then),
    }


def _round_object(this: Round, held: Held | None) -> dict[str, Any]:
    return {
        "restart": this.restart.name.lower(),
        "who": this.restart.value,
        "elected": this.elected,
        "why": words(this.why),
        "lists": list(this.lists),
        "settings": {client.value: dict(given) for client, given in this.settings.items()},
        "eager": this.eager,
        "longest_pause_seconds": held.seconds if held else None,
        "waiting_offsets": held.offsets if held else None,
    }


def _lines(kit: Kit) -> Iterator[str]:
    group, rollout = kit.group, kit.rollout
    runs = group.assignor or (kit.strategy if kit.there else "nothing that is known")
    yield f"{group.group}: {runs} -> {kit.strategy}, {several(len(group.members), 'member')}"
    yield f"Nothing here is done by evenkeel. As of {group.taken_at:%Y-%m-%d %H:%M:%S} UTC."
    yield ""
    clients = list(_clients(kit))
    yield from [*clients, ""] if clients else []
    if kit.there and not any(way.rounds for way in rollout.ways):
        yield _already(kit)
        yield ""
    yield from _on_brokers(rollout)
    for place, way in enumerate(rollout.ways):
        yield from _way(kit, way, kit.held[place])
    if rollout.cannot:
        yield f"{_names(rollout.cannot, 'and')}: no such strategy."
        yield ""
    yield from _expected(kit)
    yield from _back(kit)
    notes = [each for each in rollout.notes if each.measure not in SHOWN_ANYWAY]
    if notes:
        yield "To know"
        yield from (f"  * {sentence(words(each))}" for each in notes)


def _names(clients: Sequence[Client], last: str) -> str:
    """
    >>> _names([Client.JAVA, Client.SPRING, Client.LIBRDKAFKA], "and")
    'Java, Spring and librdkafka'
    """
    names = [NAMES[client] for client in clients]
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _clients(kit: Kit) -> Iterator[str]:
    told = {client: count for client, count in kit.clients.items() if client is not None}
    unknown = kit.clients.get(None, 0)
    if told:
        named = ", ".join(f"{count:,} {NAMES[client]}" for client, count in told.items())
        yield f"Clients, by their client ids: {named}" + (
            f"; {unknown:,} do not say" if unknown else ""
        )
    elif any(client not in JVM for way in kit.rollout.ways for client in way.clients):
        yield "Which library the members use is not on the wire, and their client ids do not say: take yours below."
    target = kit.rollout.target
    known = CLIENT_SIDE.get(target)
    if known is not None and not known.stock:
        where = ARTEFACTS.get(target, "").format(group=pasted(kit.group.group))
        yield f"Ship {known.java} with every member first" + (f": {where}." if where else ".")


def _on_brokers(rollout: Rollout) -> Iterator[str]:
    if rollout.on_brokers:
        why, *steps = rollout.on_brokers
        yield f"On the brokers first: {words(why)}"
        yield from (f"  {number}. {words(each)}" for number, each in enumerate(steps, 1))
        yield ""


def _way(kit: Kit, way: Way, held: Sequence[Held | None]) -> Iterator[str]:
    several_ways = len(kit.rollout.ways) > 1
    if several_ways:
        stops = way.rounds and way.rounds[0].restart is Restart.ALL
        names = _names(way.clients, "or" if stops else "and")
        yield f"If {'any member is' if stops else 'all members are'} of {names}"
    for number, (this, cost) in enumerate(zip(way.rounds, held, strict=True), 1):
        yield f"Step {number}: {_what(kit, this)}"
        yield f"  Why: {sentence(words(this.why))}"
        yield from _settings(this.settings)
        yield f"  Meanwhile: {_meanwhile(this, cost)}"
        yield from _stages(kit, this)
        yield f"  Then: {_check(kit, this)}"
        yield ""


def _unit(kit: Kit) -> str:
    """What is restarted: the threads of an application are its members."""
    return "instance" if kit.group.places_tasks else "member"


def _already(kit: Kit) -> str:
    moves = kit.then.score.moves if kit.then.score is not None else None
    if moves == 0 and not kit.group.places_tasks:
        return "The group runs it already, and has what it gives: there is nothing to do."
    return f"The group runs it already: {_one_restart(kit)}, the rebalance brings the assignment."


def _one_restart(kit: Kit) -> str:
    static = sum(member.is_static for member in kit.group.members)
    return one_restart(static, len(kit.group.members), _unit(kit))


def _what(kit: Kit, this: Round) -> str:
    unit = _unit(kit)
    several_of_them = (
        f"all {unit}s" if kit.group.places_tasks else several(len(kit.group.members), unit)
    )
    if this.restart is Restart.ONE:
        return _one_restart(kit)
    if this.restart is Restart.ALL:
        return (
            f"stop {several_of_them}, wait until the group is Empty, set, start them{_session(kit)}"
        )
    return (
        f"set, and restart {several_of_them} one after the other, the next once the group is Stable"
    )


def _session(kit: Kit) -> str:
    """Why the group is not empty at once, where it is not."""
    if not any(member.is_static for member in kit.group.members):
        return ""
    return " (static members leave it only once their session.timeout.ms is over; back sooner, they are refused)"


def _settings(settings: Mapping[Client, Settings]) -> Iterator[str]:
    for client, given in settings.items():
        yield f"  {WRITTEN[client]}"
        if client is Client.KAFKA_PYTHON:
            yield f"    import {', '.join(_modules(given))}"
        for key, value in given.items():
            yield f"    remove {key}" if value is None else f"    {key}={value}"


def _modules(given: Settings) -> list[str]:
    """The modules of the classes that settings of kafka-python name, in their order."""
    classes = [each.python for each in CLIENT_SIDE.values() if each.python is not None]
    told = " ".join(value or "" for value in given.values())
    modules = {told.index(each): each.rpartition(".")[0] for each in classes if each in told}
    return [modules[place] for place in sorted(modules)]


def _meanwhile(this: Round, cost: Held | None) -> str:
    if this.restart is Restart.ALL:
        return "nothing is read from the first stop until the last start"
    kind = "how members rebalance is not known"
    if this.eager is not None:
        some_or_all = ("only what moves stands still", "everybody gives up all at each rebalance")
        kind = some_or_all[this.eager]
    if cost is None:
        return kind
    waits = (
        "how much waits meanwhile is not known"
        if cost.offsets is None
        else f"about {about(cost.offsets)} records wait and are caught up on"
    )
    return f"{kind}; a partition stands still for up to {duration(cost.seconds)} in all, {waits}"


def _stages(kit: Kit, this: Round) -> Iterator[str]:
    members = len(kit.group.members)
    for stage in this.stages:
        if stage.last < members:
            yield f"  After {stage.last} of {members}: runs {stage.elected or 'nothing'}"


def _check(kit: Kit, this: Round) -> str:
    group = pasted(kit.group.group)
    if kit.group.type is GroupType.STREAMS:
        state = (
            f"`kafka-streams-groups.sh --bootstrap-server ... --describe --state --group {group}`"
        )
        return f"{state} says Stable"
    command = (
        f"`kafka-consumer-groups.sh --bootstrap-server ... --describe --state --group {group}`"
    )
    return f"{command} says Stable, and {this.elected} under ASSIGNMENT-STRATEGY"


def _expected(kit: Kit) -> Iterator[str]:
    then, now = kit.then, kit.now
    yield "To expect in the end"
    score = then.score
    if score is not None:
        yield f"  {several(score.moves, 'partition')} of another owner than now"
        if (
            score.cross_rack_share is not None
            and now.score
            and now.score.cross_rack_share is not None
        ):
            before, after = percent(now.score.cross_rack_share), percent(score.cross_rack_share)
            yield f"  {before} -> {after} of partitions across racks"
    for each in of_kind(then.facts or (), FactKind.COUNTS):
        yield f"  partitions of members: {words(each)}"
    for row, what in ((now, "as it is"), (then, f"with {kit.strategy}")):
        ends = row.forecast.band("lag") if row.forecast is not None else ()
        known = [end for end in ends if end is not None]
        if len(known) == 3:
            yield f"  lag in 1 h {what}: {band(known)} offsets"
    yield f"  Compare: evenkeel advise --group {pasted(kit.group.group)}"
    yield ""


def _back(kit: Kit) -> Iterator[str]:
    for way in (each for each in kit.rollout.ways if each.back):
        yield f"The way back, {_names(way.clients, 'and')}"
        for number, this in enumerate(way.back, 1):
            yield f"  {number}. {_what(kit, this)}: {words(this.why)}"
            yield from (f"  {line}" for line in _settings(this.settings))
        yield ""
    if kit.rollout.off_brokers:
        yield "The way back, on the brokers, after their members"
        back = kit.rollout.off_brokers
        yield from (f"  {number}. {words(each)}" for number, each in enumerate(back, 1))
        yield ""
