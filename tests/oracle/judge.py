"""Whether two answers to a case are the same, by the rules of the vectors, and the smallest case where they are not."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Case = dict[str, Any]

ORDERED = frozenset({"roundrobin", "sticky", "cooperative-sticky"})
"""Where the order of a member's partitions is specified."""


def difference(case: Mapping[str, Any], theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """
    What differs, in words; empty when nothing does.

    Any error equals any other, a member without an entry one with an empty list.
    """
    if "error" in theirs or "error" in ours:
        if "error" in theirs and "error" in ours:
            return ""
        return f"Kafka: {theirs.get('error', 'an answer')}; ours: {ours.get('error', 'an answer')}"
    if strangers := set(ours["assignment"]) - {m["id"] for m in case["members"]}:
        return f"ours has a member {min(strangers)!r} that the group has not"
    ordered = case["strategy"] in ORDERED
    want, got = _lists(theirs["assignment"], ordered), _lists(ours["assignment"], ordered)
    for member in sorted(want.keys() | got.keys()):
        wanted, given = want.get(member, []), got.get(member, [])
        if sorted(wanted) != sorted(given):
            return f"member {member!r}: {_unlike(wanted, given)}"
        if wanted != given:
            return f"member {member!r} has another order: Kafka {wanted[:6]}, ours {given[:6]}"
    waiting = [Counter(map(tuple, a.get("transferring") or ())) for a in (theirs, ours)]
    if waiting[0] != waiting[1]:
        return f"held back: {_unlike(list(waiting[0].elements()), list(waiting[1].elements()))}"
    return ""


def _lists(assignment: Mapping[str, Any], ordered: bool) -> dict[str, list[tuple[Any, ...]]]:
    pairs = {member: [tuple(p) for p in owned] for member, owned in assignment.items()}
    return {m: owned if ordered else sorted(owned) for m, owned in pairs.items() if owned}


def _unlike(theirs: Sequence[Any], ours: Sequence[Any]) -> str:
    missing = list((Counter(theirs) - Counter(ours)).elements())
    extra = list((Counter(ours) - Counter(theirs)).elements())
    return f"Kafka alone has {sorted(missing)[:4]}, ours alone {sorted(extra)[:4]}"


def smallest(case: Case, differs: Callable[[Case], bool], tries: int = 3_000) -> Case:
    """
    A case that still differs and from which nothing more can be taken without its ceasing to.

    Args:
        case: A case that differs.
        differs: Asks both sides.
        tries: How often *differs* may be asked.
    """
    smaller = True
    while smaller and tries > 0:
        smaller = False
        for candidate in _smaller(case):
            tries -= 1
            if differs(candidate):
                case, smaller = candidate, True
                break
            if tries <= 0:
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """The case without something, boldest first."""
    yield from _with_fewer_members(case)
    for name in case["topics"]:
        yield _without_topic(case, name)
    for name, topic in case["topics"].items():
        for left in {0, len(topic["partitions"]) // 2, len(topic["partitions"]) - 1}:
            if 0 <= left < len(topic["partitions"]):
                yield _cut(case, name, left)
    yield from _without_racks(case)
    for place, member in enumerate(case["members"]):
        yield from _plainer_member(case, place, member)


def _with_fewer_members(case: Case) -> Iterator[Case]:
    """Half of them gone, then a quarter, down to one."""
    count = len(case["members"])
    step = count // 2
    while step:
        for at in range(0, count, step):
            members = case["members"][:at] + case["members"][at + step :]
            yield _typed({**case, "members": members})
        step //= 2


def _without_topic(case: Case, name: str) -> Case:
    less = copy.deepcopy(case)
    del less["topics"][name]
    for member in less["members"]:
        member["topics"] = [t for t in member["topics"] if t != name]
        _keep_owned(member, lambda pair: pair[0] != name)
    return _typed(less)


def _cut(case: Case, name: str, left: int) -> Case:
    """A topic has only its first partitions, and nobody tells of the others."""
    less = copy.deepcopy(case)
    before = len(less["topics"][name]["partitions"])
    for values in (less["topics"][name]["partitions"], less["topics"][name].get("lags", [])):
        del values[left:]
    for member in less["members"]:
        _keep_owned(member, lambda pair: pair[0] != name or not left <= pair[1] < before)
    return less


def _keep_owned(member: dict[str, Any], wanted: Callable[[Any], bool]) -> None:
    for told in (member, member["user_data"] or {}):
        if told.get("owned"):
            told["owned"] = [pair for pair in told["owned"] if wanted(pair)]


def _without_racks(case: Case) -> Iterator[Case]:
    if any(racks for topic in case["topics"].values() for racks in topic["partitions"]):
        less = copy.deepcopy(case)
        for topic in less["topics"].values():
            topic["partitions"] = [[] for _ in topic["partitions"]]
        for member in less["members"]:
            member["rack"] = None
        yield less


def _plainer_member(case: Case, place: int, member: Mapping[str, Any]) -> Iterator[Case]:
    plainer = ({"instance_id": None}, {"rack": None}, {"owned": []}, {"generation": None})
    for change in (*plainer, {"user_data": None}):
        if any(member[name] != value for name, value in change.items()):
            yield _changed(case, place, change)
    for at in range(len(member["owned"])):
        yield _changed(case, place, {"owned": _without(member["owned"], at)})
    told = member["user_data"] or {}
    for at in range(len(told.get("owned") or ())):
        yield _changed(case, place, {"user_data": {**told, "owned": _without(told["owned"], at)}})
    for at in range(len(member["topics"])):
        yield _typed(_changed(case, place, {"topics": _without(member["topics"], at)}))


def _without(values: Sequence[Any], at: int) -> list[Any]:
    return [*values[:at], *values[at + 1 :]]


def _changed(case: Case, place: int, change: Mapping[str, Any]) -> Case:
    members = list(case["members"])
    members[place] = {**members[place], **change}
    return {**case, "members": members}


def _typed(case: Case) -> Case:
    """The case as a coordinator would call it."""
    if "subscription_type" not in case:
        return case
    kinds = {frozenset(member["topics"]) for member in case["members"]}
    return {**case, "subscription_type": "homogeneous" if len(kinds) <= 1 else "heterogeneous"}
