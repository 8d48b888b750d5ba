"""What `evenkeel apply` prints: the steps to a strategy, what to expect meanwhile, how to see it, and the way back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...advice.rollout import JVM, Client, Round, Settings
from ...assignors.kafka.protocol_names import CLIENT_SIDE
from ...messages.wording import band, duration, percent, sentence, several, words
from ...messages.wording.deployment import one_restart
from ...messages.wording.manual import rendered
from ...messages.wording.outlook import about
from ...model.facts import FactKind, of_kind
from ...model.states import GroupType
from ...pipeline.rollout import HeldUp, Kit
from ...records import to_json
from .tables import tell

NAMES: Mapping[Client, str] = {
    Client.JAVA: "Java",
    Client.SPRING: "Spring",
    Client.LIBRDKAFKA: "librdkafka",
    Client.KAFKA_PYTHON: "kafka-python",
}

SHOWN_ANYWAY = frozenset(
    {"wire_names", "refused_by_other_clients", "not_part_of_kafka", "not_in_librdkafka"}
)
"""Notes that say what the settings show."""


def show_kit(kit: Kit) -> None:
    """The whole of it, in the order in which it is done."""
    filters = {
        "about": about,
        "duration": duration,
        "modules": _modules,
        "sentence": sentence,
        "together": _together,
        "words": words,
    }
    tell(rendered("kit.txt", _values(kit), filters))


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


def _round_object(this: Round, held: HeldUp | None) -> dict[str, Any]:
    return {
        "restart": this.restart.name.lower(),
        "who": this.restart.value,
        "elected": this.elected,
        "why": words(this.why),
        "lists": list(this.lists),
        "settings": {client.value: dict(given) for client, given in this.settings.items()},
        "eager": this.eager,
        "only": list(this.only),
        "racks": {rack: list(own) for rack, own in this.racks.items()},
        "longest_pause_seconds": held.seconds if held else None,
        "waiting_offsets": held.offsets if held else None,
    }


def _values(kit: Kit) -> dict[str, Any]:
    """What the template of the kit is told."""
    group, rollout = kit.group, kit.rollout
    known = CLIENT_SIDE.get(rollout.target)
    static = sum(member.is_static for member in group.members)
    told = [f"{n:,} {NAMES[client]}" for client, n in kit.clients.items() if client is not None]
    others = any(client not in JVM for way in rollout.ways for client in way.clients)
    # the threads of an application are its members
    unit = "instance" if group.places_tasks else "member"
    return {
        "kit": kit,
        "group": group,
        "rollout": rollout,
        "members": len(group.members),
        "runs": group.assignor or (kit.strategy if kit.there else "nothing that is known"),
        "told": told,
        "untold": kit.clients.get(None, 0),
        "any_library": not told and others,
        "shipped": known if known is not None and not known.stock else None,
        "there": kit.there and not any(way.rounds for way in rollout.ways),
        "nothing_moves": not group.places_tasks and kit.then.score and kit.then.score.moves == 0,
        "static": static,
        "one": one_restart(static, len(group.members), unit),
        "them": f"all {unit}s" if group.places_tasks else several(len(group.members), unit),
        "by_broker": group.type is GroupType.STREAMS,
        "expected": list(_expected(kit)),
        "notes": [each for each in rollout.notes if each.measure not in SHOWN_ANYWAY],
    }


def _together(clients: Sequence[Client], last: str) -> str:
    """
    >>> _together([Client.JAVA, Client.SPRING, Client.LIBRDKAFKA], "and")
    'Java, Spring and librdkafka'
    """
    names = [NAMES[client] for client in clients]
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _modules(given: Settings) -> list[str]:
    """The modules of the classes that settings of kafka-python name, in their order."""
    classes = [each.python for each in CLIENT_SIDE.values() if each.python is not None]
    told = " ".join(value or "" for value in given.values())
    modules = {told.index(each): each.rpartition(".")[0] for each in classes if each in told}
    return [modules[place] for place in sorted(modules)]


def _expected(kit: Kit) -> Iterator[str]:
    then, now = kit.then, kit.now
    score = then.score
    if score is not None:
        yield f"{several(score.moves, 'partition')} of another owner than now"
        if (
            score.cross_rack_share is not None
            and now.score
            and now.score.cross_rack_share is not None
        ):
            before, after = percent(now.score.cross_rack_share), percent(score.cross_rack_share)
            yield f"{before} -> {after} of partitions across racks"
    elif kit.then.reason:
        yield f"not known: {kit.then.reason}"
    for each in of_kind(then.facts or (), FactKind.COUNTS):
        yield f"partitions of members: {words(each)}"
    for row, what in ((now, "as it is"), (then, f"with {kit.strategy}")):
        ends = row.forecast.band("lag") if row.forecast is not None else ()
        known = [end for end in ends if end is not None]
        if len(known) == 3:
            yield f"lag in 1 h {what}: {band(known)} offsets"
