"""
What would this strategy do with this group: JSON lines in, JSON lines out.

`evenkeel.engine.cli.group_case` has the fields of a case; one with `tasks` is of Kafka Streams
(`evenkeel.engine.cli.task_cases`). The answer to each line is one object: `id` and `assignment`, or
`id` and `error`. Unknown fields are passed over, wrong values are errors that name the field.

>>> topics = {"t": {"partitions": [[], []]}}
>>> members = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["t"]}]
>>> answer({"id": 7, "strategy": "range", "topics": topics, "members": members})
{'id': 7, 'assignment': {'C0': [['t', 0]], 'C1': [['t', 1]]}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Any

from pydantic import ValidationError

from ..assignors import by_name
from ..assignors.flow.min_cost import Weights
from ..assignors.interface import Assignor, GroupSpec
from ..assignors.kit.settle import settle
from ..messages.wording import proof, words
from ..model.arrays import NONE, Indices
from ..model.errors import EvenkeelError, InputError
from .group_case import CostsCase, explain, group_of, id_of, parse_case, read_case

__all__ = ["answer", "answer_lines", "read_case"]


def answer(
    case: Mapping[str, Any], *, repeat: int | None = None, settled: bool = False
) -> dict[str, Any]:
    """
    The answer to one case: its `id` and the `assignment`, every member present.

    Beside it, where there is any: `transferring` ([topic, partition, new owner] that must be given up first),
    `findings` (what is wrong with the assignment) and `proof` (what is proven of it).

    Args:
        case: A parsed line.
        repeat: Ask so many times, at least once, and add the median in `milliseconds`.
        settled: Follow the group until nothing waits to be given up, and add the `rounds` that takes.

    Raises:
        InputError: It is no case, or there is no such strategy.
        Infeasible: The strategy cannot run on this group.
    """
    if "tasks" in case:
        return _answer_tasks(case, repeat, settled)
    read = parse_case(case)
    group, assignor = group_of(read), _weighing(by_name(read.strategy), read.costs)
    end = settle(assignor.assign, group) if settled else None
    answered = end.assignment if end else assignor.assign(group)
    assignment = {m: [[t, p] for t, p in pairs] for m, pairs in group.lists(answered).items()}
    result: dict[str, Any] = {"id": case.get("id"), "assignment": assignment}
    if answered.transferring is not None:
        result["transferring"] = _transferring(group, answered.transferring)
    if answered.findings:
        result["findings"] = [words(flaw) for flaw in answered.findings]
    if answered.proof:
        result["proof"] = proof(answered.proof)
    if end is not None:
        result["rounds"] = end.rounds
    if repeat is not None:
        result["milliseconds"] = round(median(_times(assignor, group, repeat)), 3)
    return result


def _weighing(assignor: Assignor, costs: CostsCase | None) -> Assignor:
    """
    The strategy with the costs of a case.

    Raises:
        InputError: It weighs no costs.
    """
    if costs is None:
        return assignor
    usual = getattr(assignor, "weights", None)
    if not isinstance(usual, Weights):
        raise InputError(
            f"costs: {assignor.name} weighs none.",
            fix="Leave them out, or ask min_traffic or balance_subtopology.",
        )
    given = {"traffic": costs.traffic, "move": costs.non_overlap}
    weights = replace(usual, **{name: cost for name, cost in given.items() if cost is not None})
    return type(assignor)(weights=weights)  # type: ignore[call-arg]  # what has weights takes them


def _answer_tasks(case: Mapping[str, Any], repeat: int | None, settled: bool) -> dict[str, Any]:
    """The answer to a case of Kafka Streams (`evenkeel.engine.cli.task_cases`)."""
    from .task_cases import answer_tasks

    try:
        return answer_tasks(case, repeat=repeat, settled=settled)
    except ValidationError as problem:
        raise InputError(explain(problem)) from None


def _transferring(group: GroupSpec, to: Indices) -> list[list[Any]]:
    """What must be given up first: [topic, partition, member it is to go to], by (topic, partition)."""
    waiting = group.by_name[to[group.by_name] != NONE]
    topics, numbers = group.topic_of[waiting].tolist(), group.number_of[waiting].tolist()
    rows = zip(topics, numbers, to[waiting].tolist(), strict=True)
    return [[group.topics[topic], number, group.members[member]] for topic, number, member in rows]


def answer_lines(
    lines: Iterable[str | bytes], repeat: int | None = None, settled: bool = False
) -> Iterator[str]:
    """
    One JSON line for each line of input, in order; whatever is wrong with a line is its answer.

    Args:
        lines: Text, or bytes as they come in.
        repeat: As for `answer`.
        settled: As for `answer`.
    """
    for line in lines:
        name = None
        try:
            case = _parse(line)
            name = id_of(case)
            result = answer(case, repeat=repeat, settled=settled)
        except EvenkeelError as problem:
            result = {"id": name, "error": str(problem)}
        except Exception as problem:  # noqa: BLE001 a custom strategy can raise anything
            result = {"id": name, "error": f"{type(problem).__name__}: {problem}"}
        yield json.dumps(result)


def _parse(line: str | bytes) -> dict[str, Any]:
    if not line.strip():
        raise InputError("the line is empty, not a case.")
    try:
        case = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"the line is not JSON: {problem}.") from problem
    if not isinstance(case, dict):
        raise InputError(f"the line is a JSON {type(case).__name__}, not an object.")
    return case


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _times(assignor: Assignor, group: GroupSpec, repeat: int) -> Iterator[float]:
    """Milliseconds of each call, on a group that has worked nothing out before."""
    for _ in range(repeat):
        fresh = replace(group)
        began = perf_counter()
        assignor.assign(fresh)
        yield (perf_counter() - began) * 1000
