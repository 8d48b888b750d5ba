"""
Kafka's optimiser of active tasks (`java/TaskOracle.java`), asked the same as ours.

`python -m tests.oracle.tasks` puts random applications before both and compares total cost, counts
and limits; with `--time` it prints how long each takes on one size. Exit status 1 when anything differs.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from evenkeel.engine.streams.actives import optimise, total_cost
from tests.oracle.jvm import Jvm
from tests.oracle.task_cases import Case, grid_case, random_case, read
from tests.stage.process import LocalClusterError

STRATEGIES = ("min_traffic", "balance_subtopology")


class TaskJvm(Jvm):
    """Kafka's optimiser, asked one case at a time; to be used in a `with` statement."""

    main: ClassVar[str] = "TaskOracle"


def ours(case: Case) -> dict[str, Any]:
    """Our answer to a case: the assignment in names, and what it costs."""
    asked = read(case)
    every = np.arange(len(asked.app.tasks))
    better = optimise(asked.app, asked.owner, every, asked.costs, asked.strategy)
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


def compare(jvm: TaskJvm, strategy: str, cases: int, seed: int) -> list[str]:
    """Ask both sides; what differs, in words."""
    random = Random(f"{strategy} {seed}")
    found = []
    for _ in range(cases):
        case = random_case(strategy, random)
        found += [f"{case['id']}: {f}" for f in faults(case, jvm.ask(case), ours(case))]
    return found


def our_milliseconds(case: Case, repeat: int) -> float:
    """The median of warm calls, as the JVM is timed: from objects in memory to objects in memory."""
    asked = read(case)
    every = np.arange(len(asked.app.tasks))
    times = []
    for _ in range(repeat + 1):
        began = perf_counter()
        optimise(asked.app, asked.owner, every, asked.costs, asked.strategy)
        times.append((perf_counter() - began) * 1000)
    return median(times[1:])


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or time; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.tasks", description=__doc__)
    parser.add_argument("--cases", type=int, default=500, help="per strategy (default 500)")
    parser.add_argument("--seed", type=int, default=1, help="other seeds, other cases (default 1)")
    parser.add_argument(
        "--time", type=int, nargs=4, metavar=("CLIENTS", "TASKS", "RACKS", "SUBTOPOLOGIES")
    )
    options = parser.parse_args(arguments)
    try:
        with TaskJvm() as jvm:
            if options.time:
                return _time(jvm, options.time)
            return _compare(jvm, options.cases, options.seed)
    except LocalClusterError as problem:
        print(problem, file=sys.stderr)
        return 2


def _compare(jvm: TaskJvm, cases: int, seed: int) -> int:
    different = 0
    for strategy in STRATEGIES:
        found = compare(jvm, strategy, cases, seed)
        different += len(found)
        print(f"{strategy}: {len(found)} faults in {cases} cases", *found[:5], sep="\n  ")
    return int(bool(different))


def _time(jvm: TaskJvm, size: Sequence[int]) -> int:
    for strategy in STRATEGIES:
        case = grid_case(*size, strategy)
        mine, cost = our_milliseconds(case, 20), ours(case)["active_cost"]
        theirs = jvm.ask({**case, "repeat": 1}, timeout=1800)
        print(
            json.dumps(
                {
                    "case": case["id"],
                    "our_ms": round(mine, 2),
                    "jvm_ms": round(theirs["milliseconds"], 1),
                    "times_faster": round(theirs["milliseconds"] / mine),
                    "our_cost": cost,
                    "jvm_cost": theirs["active_cost"],
                }
            ),
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
