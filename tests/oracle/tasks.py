"""Kafka's classes for tasks of Kafka Streams, asked the same as ours: the rack optimizer, and both sticky assignors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, ClassVar

import numpy as np

from evenkeel.engine.cli.assign_cases import answer
from evenkeel.engine.streams.actives import optimize, total_cost
from tests.oracle.jvm import Jvm
from tests.oracle.sticky_task_cases import client_case, server_case
from tests.oracle.task_cases import Case, random_case, read

STRATEGIES = ("min_traffic", "balance_subtopology")
"""Of the optimizer."""

STICKY: Mapping[str, Callable[[Random], Case]] = {
    "sticky-tasks": client_case,
    "sticky-tasks-server": server_case,
}
"""The sticky assignors, the public one and the broker's, and what each is asked about."""


class TaskJvm(Jvm):
    """Kafka's optimizer of active tasks (`java/TaskOracle.java`)."""

    main: ClassVar[str] = "TaskOracle"


class StickyTaskJvm(Jvm):
    """Both of Kafka's sticky assignors of tasks (`java/StickyTaskOracle.java`)."""

    main: ClassVar[str] = "StickyTaskOracle"


def ours(case: Case) -> dict[str, Any]:
    """Our answer to a case: the assignment in names, and what it costs."""
    asked = read(case)
    every = np.arange(len(asked.app.tasks))
    better = optimize(asked.app, asked.owner, every, asked.costs, asked.strategy)
    cost = total_cost(asked.app, better, every, asked.costs, asked.owner)
    return {"active": asked.app.named(better), "active_cost": cost}


def faults(case: Case, theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with our answer: a task lost, a count or a limit broken, another cost than Kafka's."""
    if "error" in theirs:
        yield f"Kafka: {theirs['error']}"
        return
    wanted = Counter(task["id"] for task in case["tasks"])
    if Counter(task for tasks in mine["active"].values() for task in tasks) != wanted:
        yield "tasks are lost or doubled"
    sizes = Counter(task.split("_")[0] for task in wanted)
    for client, held in case["initial"].items():
        got = mine["active"][client]
        if len(got) != len(held):
            yield f"client {client} has {len(got)} tasks instead of {len(held)}"
        for sub, number in Counter(task.split("_")[0] for task in got).items():
            most = math.ceil(len(held) * 1.0 / len(wanted) * sizes[sub])
            if case["strategy"] == "balance_subtopology" and number > most:
                yield f"client {client} has {number} tasks of sub-topology {sub}, at most {most}"
    if mine["active_cost"] != theirs["active_cost"]:
        yield f"cost {mine['active_cost']} instead of {theirs['active_cost']}"


def differs(case: Case, theirs: Mapping[str, Any]) -> str | None:
    """How our answer to a case differs from Kafka's; None when it is the same."""
    if "error" in theirs:
        return f"Kafka: {theirs['error']}"
    if "standby_order" in theirs:
        case = case | {"standby_order": theirs["standby_order"]}
    mine = answer(case)
    for part in ("members", "active", "standby"):
        if part in theirs and theirs[part] is not None:
            ours, kafkas = _sorted(mine[part]), _sorted(theirs[part])
            if ours != kafkas:
                odd = sorted(name for name in kafkas if kafkas[name] != ours.get(name))
                return f"{part} of {odd[0]}: {ours.get(odd[0])} instead of {kafkas[odd[0]]}"
    return None


def _sorted(given: Any) -> Any:
    """The same with every list of tasks in order."""
    if isinstance(given, dict):
        return {name: _sorted(part) for name, part in given.items()}
    return sorted(given)


def jvm_of(strategy: str) -> type[Jvm]:
    """Who is asked about applications of a strategy."""
    return StickyTaskJvm if strategy in STICKY else TaskJvm


def compare(jvm: Jvm, strategy: str, cases: int, seed: int) -> list[str]:
    """Ask both sides about random applications; what differs, in words."""
    random = Random(f"{strategy} {seed}")
    found = []
    for _ in range(cases):
        case = STICKY[strategy](random) if strategy in STICKY else random_case(strategy, random)
        if strategy in STICKY:
            case["config"]["kafka"] = jvm.kafka
        theirs = jvm.ask(case)
        if strategy in STICKY:
            wrong = [told] if (told := differs(case, theirs)) else []
        else:
            wrong = list(faults(case, theirs, ours(case)))
        found += [f"{case['id']}: {each}" for each in wrong]
    return found
