"""One strategy's random groups, Kafka's answers and ours."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from evenkeel.engine.cli.assign_cases import answer
from evenkeel.engine.model.errors import EvenkeelError
from tests.oracle.groups import Case, follow_up, fresh
from tests.oracle.judge import difference, smallest
from tests.oracle.jvm import Jvm


@dataclass(kw_only=True)
class Compared:
    """What came of it; *shown* are differences in words, *features* how many groups were of which kind."""

    same: int = 0
    different: int = 0
    shown: list[str] = field(default_factory=list)
    features: Counter[str] = field(default_factory=Counter)


def compare(
    jvm: Jvm,
    strategy: str,
    groups: int,
    seed: int,
    *,
    shown: int = 3,
    tick: Callable[[], object] = lambda: None,
) -> Compared:
    """
    Ask both sides about so many groups.

    Args:
        jvm: Kafka's side.
        strategy: One that both have.
        groups: How many.
        seed: Of the groups.
        shown: How many differing groups are made small, told and written beside the JVM's log.
        tick: Called after each group.
    """
    compared = Compared()
    random = Random(f"{strategy} {seed}")
    theirs: dict[str, Any] = {"error": "nothing was asked yet"}
    case: Case = {}
    for number in range(groups):
        again = "error" not in theirs and random.random() < 0.6
        case = follow_up(case, theirs, random) if again else fresh(strategy, random)
        case["id"] = f"{strategy}-{seed}-{number:05}"
        theirs = jvm.ask(case)
        compared.features.update(features(case, theirs))
        if difference(case, theirs, ours(case)):
            compared.different += 1
            if len(compared.shown) < shown:
                compared.shown.append(_shown(jvm, case))
        else:
            compared.same += 1
        tick()
    return compared


def ours(case: Mapping[str, Any]) -> dict[str, Any]:
    """Our answer; anything raised but an error of ours is a fault that equals no error of Kafka's."""
    try:
        return answer(case)
    except EvenkeelError as problem:
        return {"id": case["id"], "error": str(problem)}
    except Exception as problem:  # noqa: BLE001 whatever it is, the other groups are asked too
        return {"id": case["id"], "assignment": {f"{type(problem).__name__}: {problem}": []}}


def _shown(jvm: Jvm, case: Case) -> str:
    """Make it small, write it, and say what differs and where it stands."""
    small = smallest(case, lambda less: bool(difference(less, jvm.ask(less), ours(less))))
    theirs, mine = jvm.ask(small), ours(small)
    file = jvm.folder / f"{case['id']}.json"
    file.write_text(json.dumps({"case": small, "kafka": theirs, "ours": mine}, indent=1))
    return f"{case['id']}: {difference(small, theirs, mine)} ({file})"


FEATURES: Mapping[str, Callable[[Case, Mapping[str, Any]], bool]] = {
    "racks": lambda case, _: (
        any(m["rack"] for m in case["members"])
        and any(any(r) for t in case["topics"].values() for r in t["partitions"])
    ),
    "static members": lambda case, _: any(m["instance_id"] for m in case["members"]),
    "unequal subscriptions": lambda case, _: (
        len({frozenset(m["topics"]) for m in case["members"]}) > 1
    ),
    "a past": lambda case, _: bool(_owned(case)),
    "unequal generations": lambda case, _: (
        len({m["generation"] for m in case["members"] if m["owned"] or m["user_data"]}) > 1
    ),
    "a partition owned twice": lambda case, _: max(_owned(case).values(), default=0) > 1,
    "a vanished partition or topic": lambda case, _: any(
        pair[0] not in case["topics"] or pair[1] >= len(case["topics"][pair[0]]["partitions"])
        for pair in _owned(case)
    ),
    "more than 12 topics": lambda case, _: len(case["topics"]) > 12,
    "more than 100 partitions": lambda case, _: (
        sum(len(topic["partitions"]) for topic in case["topics"].values()) > 100
    ),
    "partitions held back": lambda _, theirs: bool(theirs.get("transferring")),
    "an exception of Kafka's": lambda _, theirs: "error" in theirs,
}
"""Kinds of groups, by what makes one."""


def features(case: Case, theirs: Mapping[str, Any]) -> list[str]:
    """Of which kinds a group is."""
    return [name for name, has in FEATURES.items() if has(case, theirs)]


def _owned(case: Case) -> Counter[tuple[str, int]]:
    told = [pair for m in case["members"] for pair in m["owned"]]
    told += [pair for m in case["members"] for pair in (m["user_data"] or {}).get("owned") or ()]
    return Counter((topic, number) for topic, number in told)
