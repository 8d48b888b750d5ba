"""What `evenkeel runbook` prints: the steps to a strategy, what to expect, how to check it, and the rollback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...advice.rollout import JVM, Client, Round, Settings
from ...assignors.kafka.protocol_names import CLIENT_SIDE, base_of
from ...messages.wording import duration, percent, sentence, several, words
from ...messages.wording.deployment import SESSION_AT_BROKERS, one_restart
from ...messages.wording.forecasts import about, pauses
from ...messages.wording.runbook import rendered
from ...model.coordinators import SESSION_SETTING
from ...model.facts import FactKind, of_kind
from ...model.formats import brief
from ...model.releases import TRUE_TO, written
from ...model.states import GroupType
from ...pipeline.rollout import HeldUp, Runbook
from ...records import to_json
from .strategy_names import ours, words_of_strategies
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
"""Notes that repeat what the settings show."""


def show_runbook(runbook: Runbook) -> None:
    """Print all of it, in the order of the steps."""
    filters = {
        "about": about,
        "duration": duration,
        "modules": _modules,
        "sentence": sentence,
        "together": _together,
        "ours": ours,
        "words": words_of_strategies,
    }
    tell(rendered("runbook.txt", _values(runbook), filters))


def runbook_object(runbook: Runbook) -> dict[str, Any]:
    """The same as one object, for machines; null is unknown."""
    group, known = runbook.group, TRUE_TO.get(base_of(runbook.strategy))
    return {
        "group": group.group,
        "cluster": group.cluster,
        "snapshot_id": group.snapshot_id,
        "group_type": group.type.value,
        "strategy": runbook.strategy,
        "runs": group.assignor,
        "target": runbook.rollout.target,
        "true_to": [written(known.since), written(known.until)] if known is not None else None,
        "there_already": runbook.there,
        "members": len(group.members),
        "clients_by_client_id": {
            "unknown" if client is None else client.value: count
            for client, count in runbook.clients.items()
        },
        "ways": [
            {
                "clients": [client.value for client in way.clients],
                "rounds": [
                    _round_object(each, held)
                    for each, held in zip(way.rounds, runbook.held[place], strict=True)
                ],
                "back": [_round_object(each, None) for each in way.back],
            }
            for place, way in enumerate(runbook.rollout.ways)
        ],
        "without_it": [client.value for client in runbook.rollout.cannot],
        "notes": [words(each) for each in runbook.rollout.notes],
        "on_brokers": [words(each) for each in runbook.rollout.on_brokers],
        "off_brokers": [words(each) for each in runbook.rollout.off_brokers],
        "now": to_json(runbook.now),
        "then": to_json(runbook.then),
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


def _values(runbook: Runbook) -> dict[str, Any]:
    """The values of the template."""
    group, rollout = runbook.group, runbook.rollout
    known = CLIENT_SIDE.get(rollout.target)
    static = sum(member.is_static for member in group.members)
    told = [f"{n:,} {NAMES[client]}" for client, n in runbook.clients.items() if client is not None]
    others = any(client not in JVM for way in rollout.ways for client in way.clients)
    # the threads of an application are its members
    unit = "instance" if group.places_tasks else "member"
    by_broker = group.type is GroupType.CONSUMER
    kept = group.in_force(SESSION_SETTING)
    said = SESSION_AT_BROKERS if kept is None else f"{duration(kept.seconds)}, {kept.by}"
    session = {"session": said} if by_broker else {}
    return {
        "runbook": runbook,
        "group": group,
        "rollout": rollout,
        "members": len(group.members),
        "runs": ours(group.assignor or "") or (runbook.strategy if runbook.there else "unknown"),
        "known_clients": told,
        "unknown_clients": runbook.clients.get(None, 0),
        "any_library": not told and others,
        "shipped": known if known is not None and not known.stock else None,
        "there": runbook.there and not any(way.rounds for way in rollout.ways),
        "nothing_moves": not group.places_tasks
        and runbook.then.score
        and runbook.then.score.moves == 0,
        "static": static,
        "one": one_restart(static, len(group.members), unit, **session),
        "them": f"all {unit}s" if group.places_tasks else several(len(group.members), unit),
        "by_broker": group.type is GroupType.STREAMS,
        "expected": list(_expected(runbook)),
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


def _expected(runbook: Runbook) -> Iterator[str]:
    then, now = runbook.then, runbook.now
    pause = pauses(runbook.pauses)
    if pause is not None and any(way.rounds for way in runbook.rollout.ways):
        yield pause
    score = then.score
    if (true_to := TRUE_TO.get(base_of(runbook.strategy))) is not None:
        yield f"as {runbook.strategy} of Kafka {written(true_to.since)} to {written(true_to.until)} assigns"
    if score is not None:
        yield f"{several(score.moves, 'partition')} reassigned"
        if (
            score.cross_rack_share is not None
            and now.score
            and now.score.cross_rack_share is not None
        ):
            before, after = percent(now.score.cross_rack_share), percent(score.cross_rack_share)
            yield f"cross-rack share of partitions {before} -> {after}"
    elif runbook.then.reason:
        yield f"unknown: {runbook.then.reason}"
    for each in of_kind(then.facts or (), FactKind.COUNTS):
        yield f"partitions of members: {words(each)}"
    for row, what in ((now, "with the current assignment"), (then, f"with {runbook.strategy}")):
        ends = row.forecast.band("lag") if row.forecast is not None else ()
        known = [end for end in ends if end is not None]
        if len(known) == 3:
            low, expected, high = map(brief, known)
            yield f"lag in 1 h {what}: {expected} (p10-p90: {low}-{high})"
