"""What `bounce` says of a plan beyond its steps, as facts: in short, at once, and for other clients than Java's."""

from __future__ import annotations

from collections.abc import Sequence

from evenkeel.engine.advice.rolling import Stage
from evenkeel.engine.facts import Fact, FactKind, fact, note
from evenkeel.engine.kit.protocol_names import CLIENT_SIDE, cooperative, mixed

Names = tuple[str, ...]


def step(measure: str, names: Sequence[str] = (), **known: float | str | None) -> Fact:
    """Something to do for a strategy, as a fact."""
    return fact(FactKind.HOW, measure, names, **known)


ALREADY_RUNNING = step("already_running")


def by_one_restart(measure: str, static: Sequence[bool], names: Sequence[str] = ()) -> Fact:
    """
    Something that takes one rebalance, which the restart of one member brings, as a fact.

    Args:
        measure: What it is.
        static: Which members have an instance id: one that is back within its session brings no rebalance (KIP-345).
        names: What it is about.
    """
    if not any(static):
        return step(measure, names)
    return step(measure, names, after=sum(static), bound=len(static))


def how(lists: Sequence[Names], members: int, *, two: bool) -> list[Fact]:
    """
    The plan in short.

    Args:
        lists: What members list after each step, by wire names; the last one is led by the target.
        members: How many there are.
        two: Whether both steps shall be taken.
    """
    if not lists:
        return [ALREADY_RUNNING]
    new = lists[-1][0]
    known = CLIENT_SIDE.get(new)
    steps = [] if known and known.stock else [step("ship_class", [new])]
    if len(lists) == 1 and len(lists[0]) == 1:
        return [*steps, step("list_alone", [new])]
    if len(lists) == 1:
        enough = members // 2 + 1 if members > 2 else None
        return [*steps, step("put_first", [new], after=enough, bound=members)]
    return [*steps, step("two_restarts" if two else "one_restart", lists[0])]


def asides(new: str, present: str, lists: Sequence[Names], *, assumed: bool) -> list[Fact]:
    """What may spare a step, and what librdkafka and kafka-python cannot do of the plan."""
    known = CLIENT_SIDE.get(new)
    steps = []
    if assumed and (new, present) == ("cooperative-sticky", "range"):
        steps.append(step("enough_if_listed", [new]))
    if known and not known.stock and known.python is None:
        steps.append(step("java_clients_only"))
    elif known and not known.librdkafka:
        steps.append(step("not_in_librdkafka", [new]))
    if any(map(mixed, lists)):
        steps.append(step("refused_by_other_clients", [new, present]))
    return steps


def in_one_step(new: str, present: str, stages: Sequence[Stage]) -> tuple[Fact, ...]:
    """
    What the election says of listing the new one alone at once.

    Args:
        stages: Of that one restart; nothing when it is not to be asked.
    """
    refused, members = (stages[-1].refused, stages[-1].last) if stages else (0, 0)
    if not refused:
        return ()
    told = [note("refused_at_once", [new], after=refused, bound=members)]
    if {cooperative([new]), cooperative([present])} == {True, False}:
        told.append(note("better_refused"))
    return tuple(told)


def notes(lists: Sequence[Names], before: Sequence[Names], static: Sequence[bool]) -> list[Fact]:
    """What else has to be known before the first restart."""
    used = {name for one in lists for name in one}
    facts = []
    everywhere = all((known := CLIENT_SIDE.get(name)) and known.librdkafka for name in used)
    if everywhere and not any(map(mixed, lists)):
        facts.append(note("wire_names", [",".join(one) for one in lists]))
    for name in sorted(used):
        known = CLIENT_SIDE.get(name)
        if known and not known.stock:
            facts.append(note("not_part_of_kafka", [name]))
        elif known is None and "." not in name:
            facts.append(note("class_unknown", [name]))
    if len(lists) > 1:
        facts.append(note("stop_and_start", [lists[-1][0]]))
    if any(static):
        facts.append(note("static_members", after=sum(static), bound=len(static)))
    if len(set(before)) > 1:
        facts.append(note("lists_differ"))
    return facts
