"""What `bounce` says of a plan beyond its steps: in short, at once, and for other clients than Java's."""

from __future__ import annotations

from collections.abc import Sequence

from evenkeel.engine.advice.rolling import Stage
from evenkeel.engine.kit.election import REFUSED
from evenkeel.engine.kit.protocol_names import (
    CLIENT_SETTING,
    CLIENT_SIDE,
    cooperative,
    java_class,
    setting,
)

Names = tuple[str, ...]


def how(lists: Sequence[Names], members: int, *, two: bool) -> list[str]:
    """
    The plan in a sentence or two.

    Args:
        lists: What members list after each step, by wire names; the last one is led by the target.
        members: How many there are.
        two: Whether both steps shall be taken.
    """
    if not lists:
        return ["Nothing has to be done: it runs this strategy already."]
    new = lists[-1][0]
    name, known = java_class(new), CLIENT_SIDE.get(new)
    told = [] if known and known.stock else [f"Ship {name} with every member."]
    if len(lists) == 1 and len(lists[0]) == 1:
        return [*told, f"List {name} alone in {CLIENT_SETTING}, one rolling restart."]
    if len(lists) == 1:
        enough = f"; {members // 2 + 1} of {members} members are enough" if members > 2 else ""
        return [*told, f"Put {name} first in {CLIENT_SETTING}, one rolling restart{enough}."]
    first = f"{setting(lists[0])} on every member"
    if not two:
        drops = f"a second with {name} alone drops {lists[0][1]}"
        return [*told, f"One rolling restart with {first}; {drops}."]
    already = " (that elects it already)" if cooperative([new]) is False else ""
    return [*told, f"Two rolling restarts: first {first}{already}, then {name} alone."]


def asides(new: str, present: str, lists: Sequence[Names], *, assumed: bool) -> list[str]:
    """What may spare a step, and what librdkafka and kafka-python cannot do of the plan."""
    known = CLIENT_SIDE.get(new)
    told = []
    if assumed and (new, present) == ("cooperative-sticky", "range"):
        told.append(f"If all list both already, as Java's default does, {new} alone is enough.")
    if known and not known.stock:
        told.append("Only Java clients can load such a class.")
    elif known and not known.librdkafka:
        told.append(f"librdkafka has no {new}.")
    if any(map(_mixed, lists)):
        told.append(
            f"librdkafka and kafka-python refuse a list of {new} and {present}: stop all their members, "
            f"then start all with {new}."
        )
    return told


def in_one_step(new: str, present: str, stages: Sequence[Stage]) -> str | None:
    """
    What the election says of listing the new one alone at once.

    Args:
        stages: Of that one restart; nothing when it is not to be asked.
    """
    refused, members = (stages[-1].refused, stages[-1].last) if stages else (0, 0)
    if not refused:
        return None
    out = f"{refused} of {members} stay" if refused < members else "all stay"
    told = [
        f"With {new} alone at once, the first restarted member is refused ({REFUSED}), because not all others "
        f"list it. In the end {out} out.",
        f"The same meets whoever lists {new} alone before the first restart is through.",
    ]
    if {cooperative([new]), cooperative([present])} == {True, False}:
        told.append(
            "Being refused is the better end: an eager strategy would give away partitions that a cooperative "
            "member goes on reading."
        )
    return " ".join(told)


def notes(lists: Sequence[Names], before: Sequence[Names], static: Sequence[bool]) -> list[str]:
    """What else has to be known before the first restart."""
    used = {name for one in lists for name in one}
    told = []
    everywhere = all((known := CLIENT_SIDE.get(name)) and known.librdkafka for name in used)
    if everywhere and not any(map(_mixed, lists)):
        spelled = ", then ".join(",".join(one) for one in lists)
        told.append(f"librdkafka writes wire names: {spelled}.")
    for name in sorted(used):
        known = CLIENT_SIDE.get(name)
        if known and not known.stock:
            told.append(f"{known.java} is not part of Kafka's client: ship it with every member.")
        elif known is None and "." not in name:
            told.append(f"Only its owner knows the class of {name}.")
    if len(lists) > 1:
        told.append(
            f"Instead, all members can be stopped and then started with {lists[-1][0]} alone: an empty group lets "
            "any list in. Nothing is read in between."
        )
    if any(static):
        told.append(
            f"{sum(static)} of {len(static)} members are static: one that is back within session.timeout.ms brings no "
            "rebalance unless it changes what is elected; one that is stopped leaves only after that time."
        )
    if len(set(before)) > 1:
        told.append("Members list different things; they are restarted in the order shown.")
    return told


def _mixed(listed: Names) -> bool:
    """Whether a list holds both eager and cooperative strategies."""
    return {cooperative([name]) for name in listed} >= {True, False}
