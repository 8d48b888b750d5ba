"""Another client's answers to random groups beside Kafka's, and by what they differ."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import groupby
from random import Random

from tests.oracle.clients.wire import Answer
from tests.oracle.compare import ours
from tests.oracle.groups import Case, Member, follow_up, fresh

Asked = Callable[[Case], Answer]

SAME = "same"


@dataclass(kw_only=True)
class Found:
    """How many cases were of which kind; *first* is one of each with fewest members, then topics."""

    kinds: Counter[str] = field(default_factory=Counter)
    first: dict[str, Case] = field(default_factory=dict)


def cases(strategy: str, count: int, seed: int) -> list[Case]:
    """
    Random groups with members, the later ones often a change of an earlier one that Kafka has answered.

    None has a member beyond the first plane of Unicode: Java sorts it before some that others sort it behind.
    """
    random = Random(f"clients {strategy} {seed}")
    found: list[Case] = []
    before: tuple[Case, Answer] | None = None
    while len(found) < count:
        again = before is not None and "error" not in before[1] and random.random() < 0.6
        case = follow_up(*before, random) if again and before else fresh(strategy, random)
        case["id"] = f"{strategy}-{seed}-{len(found):05}"
        if case["members"] and not any(max(m["id"]) > "\uffff" for m in case["members"]):
            found.append(case)
            before = case, ours(case)
    return found


def compare(ask: Asked, asked: list[Case]) -> Found:
    """Put cases before a client, and before ours, which is Kafka's."""
    found = Found()
    for case in asked:
        kind = kind_of(case, ask)
        found.kinds[kind] += 1
        if kind not in found.first or _size(case) < _size(found.first[kind]):
            found.first[kind] = case
    return found


def kind_of(case: Case, ask: Asked) -> str:
    """By what a client's answer differs from Kafka's: the first reading of the case under which Kafka's is the same."""
    theirs, mine = ask(case), ours(case)
    if "error" in theirs or "error" in mine:
        if "error" in theirs and "error" in mine:
            return SAME
        return "it fails" if "error" in theirs else "Kafka's fails"
    got = owners(theirs)
    for name, reading in READINGS.items():
        if owners(ours(reading(case))) == got:
            return name
    for name, taken_away in ABLATIONS.items():
        plain = taken_away(case)
        if plain != case and owners(ours(plain)) == owners(ask(plain)):
            return name
    counts = [sorted(Counter(m for _, m in own).values()) for own in (owners(mine), got)]
    return "other counts" if counts[0] != counts[1] else "same counts, other owners"


def owners(answer: Answer) -> list[tuple[tuple[str, int], str]]:
    """Who has what, whatever the order; nothing where there is no answer."""
    lists = answer.get("assignment", {})
    return sorted((tuple(pair), member) for member, own in lists.items() for pair in own)


def without_racks(case: Case) -> Case:
    """The group if no member told its rack."""
    return {**case, "members": [{**member, "rack": None} for member in case["members"]]}


def in_one_order(case: Case) -> Case:
    """
    The group as librdkafka sorts it.

    Two static members by instance id, any other two by member id (`rd_kafka_group_member_cmp`).
    """

    def order(one: Member, other: Member) -> int:
        static = one["instance_id"] is not None and other["instance_id"] is not None
        names = [each["instance_id" if static else "id"].encode() for each in (one, other)]
        return (names[0] > names[1]) - (names[0] < names[1])

    ordered = sorted(case["members"], key=cmp_to_key(order))
    places = [{**member, "instance_id": f"{at:05}"} for at, member in enumerate(ordered)]
    return {**case, "members": places}


def once_each(case: Case) -> Case:
    """The group if nobody listed a topic twice."""
    alike = [
        {**member, "topics": list(dict.fromkeys(member["topics"]))} for member in case["members"]
    ]
    return {**case, "members": alike}


def without_lost(case: Case) -> Case:
    """
    The group as kafka-python's `range` and `roundrobin` see it, without racks.

    They split static members from dynamic ones by `itertools.groupby` without sorting first, and keep the last run of
    each: who stands in an earlier one gets nothing. `range` does it per topic.
    """
    less = copy.deepcopy(without_racks(case))
    per_topic = case["strategy"] == "range"
    for topic in {t for m in less["members"] for t in m["topics"]} if per_topic else {None}:
        those = [m for m in less["members"] if topic is None or topic in m["topics"]]
        runs = {k: list(run) for k, run in groupby(those, lambda m: m["instance_id"] is not None)}
        kept = [m["id"] for run in runs.values() for m in run]
        for member in those:
            if member["id"] not in kept:
                member["topics"] = [t for t in member["topics"] if topic is not None and t != topic]
    return less


READINGS: Mapping[str, Callable[[Case], Case]] = {
    SAME: lambda case: case,
    "without racks": without_racks,
    "static and dynamic members in one order": in_one_order,
    "without members it loses": without_lost,
}
"""Ways to read a case, the plainest first."""

ABLATIONS: Mapping[str, Callable[[Case], Case]] = {
    "a topic listed twice": once_each,
    "racks read otherwise": without_racks,
    "an order of its own": in_one_order,
    "racks read otherwise, and an order of its own": lambda case: in_one_order(without_racks(case)),
}
"""What both are asked without, for a case that no reading explains."""


def _size(case: Case) -> tuple[int, int]:
    return len(case["members"]), len(case["topics"])
