"""Kafka's optimiser of active tasks in a JVM: it answers as recorded, and at our cost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle.jvm import NO_COMPILER
from tests.oracle.tasks import STRATEGIES, TaskJvm, compare
from tests.stage.process import find_java, has_compiler

pytestmark = [pytest.mark.nightly, pytest.mark.slow]

RECORDED = Path(__file__).parents[1] / "data" / "vectors" / "streams-optimiser.jsonl.gz"


@pytest.fixture(scope="module")
def jvm() -> Iterator[TaskJvm]:
    """Kafka's optimiser."""
    if not has_compiler(find_java()[0]):
        pytest.skip(NO_COMPILER)
    with TaskJvm() as running:
        yield running


def test_it_answers_as_recorded(jvm: TaskJvm) -> None:
    """The harness puts cases to it as whoever recorded the vectors did."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines][::10]
    differing = []
    for row in recorded:
        told, expected = jvm.ask(row["case"]), row["expected"]
        same = {p: tasks for p, tasks in told["active"].items() if tasks} == {
            p: sorted(tasks, key=_key) for p, tasks in expected["active"].items() if tasks
        }
        if not same or told["active_cost"] != expected["active_cost"]:
            differing.append(row["case"]["id"])

    assert (len(recorded), differing) == (30, [])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_random_applications_cost_the_same(jvm: TaskJvm, strategy: str) -> None:
    """500 of each strategy: total cost, counts and limits."""
    assert compare(jvm, strategy, 500, seed=2026) == []


def _key(task: str) -> tuple[int, int]:
    subtopology, partition = task.split("_")
    return int(subtopology), int(partition)
