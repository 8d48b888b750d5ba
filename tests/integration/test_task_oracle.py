"""Kafka's classes for tasks in a JVM: the optimizer answers as recorded, and all as ours do."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.oracle.tasks import STICKY, STRATEGIES, TaskJvm, compare, jvm_of

pytestmark = [pytest.mark.nightly, pytest.mark.slow, pytest.mark.usefixtures("compiler")]

RECORDED = Path(__file__).parents[1] / "data" / "vectors" / "streams-optimizer.jsonl.gz"


def test_it_answers_as_recorded() -> None:
    """The harness puts cases to it as whoever recorded the vectors did."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines][::10]
    with TaskJvm() as jvm:
        answers = [jvm.ask(row["case"]) for row in recorded]
    differing = []
    for row, told in zip(recorded, answers, strict=True):
        expected = row["expected"]
        same = {p: tasks for p, tasks in told["active"].items() if tasks} == {
            p: sorted(tasks, key=_key) for p, tasks in expected["active"].items() if tasks
        }
        if not same or told["active_cost"] != expected["active_cost"]:
            differing.append(row["case"]["id"])

    assert (len(recorded), differing) == (30, [])


@pytest.mark.parametrize("strategy", [*STRATEGIES, *STICKY])
def test_random_applications_get_the_same(strategy: str) -> None:
    """500 of each: of the optimizer total cost, counts and limits, of the sticky ones the very output."""
    with jvm_of(strategy)() as jvm:
        assert compare(jvm, strategy, 500, seed=2026) == []


def _key(task: str) -> tuple[int, int]:
    subtopology, partition = task.split("_")
    return int(subtopology), int(partition)
