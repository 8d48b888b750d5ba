"""What `bounce` says of a plan beyond its steps, as facts: in short, at once, and for other clients than Java's."""

from __future__ import annotations

from collections.abc import Sequence

from evenkeel.engine.advice.rolling import Stage
from evenkeel.engine.facts import Fact, FactKind, fact, note
from evenkeel.engine.kit.protocol_names import CLIENT_SIDE, cooperative

Names = tuple[str, ...]


def step(measure: str, names: Sequence[str] = (), **known: float | str | None) -> Fact:
    """Something to do for a strategy, as a fact."""
    return fact(FactKind.HOW, measure, names, **known)


ALREADY_RUNNING = step("already_running")


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
    told = [] if known and known.stock else [step("ship_class", [new])]
    if len(lists) == 1 and len(lists[0]) == 1:
        return [*told, step("list_alone", [new])]
    if len(lists) == 1:
        enough = members // 2 + 1 if members > 2 else None
        return [*told, step("put_first", [new], after=enough, bound=members)]
    return [*told, step("two_restarts" if two else "one_restart", lists[0])]


def asides(new: str, present: str, lists: Sequence[Names], *, assumed: bool) -> list[Fact]:
    """What may spare a step, and what librdkafka and kafka-python cannot do of the plan."""
    known = CLIENT_SIDE.get(new)
    told = []
    if assumed and (new, present) == ("cooperative-sticky", "range"):
        told.append(step("enough_if_listed", [new]))
    if known and not known.stock:
        told.append(step("java_clients_only"))
    elif known and not known.librdkafka:
        told.append(step("not_in_librdkafka", [new]))
    if any(map(_mixed, lists)):
        told.append(step("refused_by_other_clients", [new, present]))
    return told


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
    told = []
    everywhere = all((known := CLIENT_SIDE.get(name)) and known.librdkafka for name in used)
    if everywhere and not any(map(_mixed, lists)):
        told.append(note("wire_names", [",".join(one) for one in lists]))
    for name in sorted(used):
        known = CLIENT_SIDE.get(name)
        if known and not known.stock:
            told.append(note("not_part_of_kafka", [name]))
        elif known is None and "." not in name:
            told.append(note("class_unknown", [name]))
    if len(lists) > 1:
        told.append(note("stop_and_start", [lists[-1][0]]))
    if any(static):
        told.append(note("static_members", after=sum(static), bound=len(static)))
    if len(set(before)) > 1:
        told.append(note("lists_differ"))
    return told


def _mixed(listed: Names) -> bool:
    """Whether a list holds both eager and cooperative strategies."""
    return {cooperative([name]) for name in listed} >= {True, False}
