"""Kafka's own classes in a JVM: they answer as recorded, and as evenkeel does."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from tests.oracle.compare import compare
from tests.oracle.judge import difference
from tests.oracle.jvm import STRATEGIES, Jvm

pytestmark = [pytest.mark.nightly, pytest.mark.slow]

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
RECORDED = [s for s in STRATEGIES if (VECTORS / f"{s}.jsonl.gz").exists()]


@pytest.fixture(scope="module")
def jvm(compiler: None) -> Iterator[Jvm]:
    """Kafka's classes."""
    with Jvm() as running:
        yield running


@pytest.mark.parametrize("strategy", RECORDED)
def test_the_classes_answer_as_recorded(jvm: Jvm, strategy: str) -> None:
    """The harness puts cases to them as whoever recorded the vectors did."""
    with gzip.open(VECTORS / f"{strategy}.jsonl.gz", "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    differing = [
        found
        for row in recorded
        if (found := difference(row["case"], row["expected"], jvm.ask(row["case"])))
    ]

    assert (len(recorded), differing) == (150, [])


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s in ASSIGNORS])
def test_random_groups_get_kafkas_answers(jvm: Jvm, strategy: str) -> None:
    """A small dose of `make oracle`, of a seed of its own."""
    compared = compare(jvm, strategy, 100, seed=2026)

    assert (compared.same, compared.shown) == (100, [])


def test_what_is_held_back_is_told(jvm: Jvm) -> None:
    """One of two members owns all: half of it must be given up before the other gets it."""
    case = {
        "id": 1,
        "strategy": "cooperative-sticky",
        "topics": {"t": {"partitions": [[], [], [], []]}},
        "members": [
            {"id": "a", "topics": ["t"], "owned": [["t", n] for n in range(4)], "generation": 1},
            {"id": "b", "topics": ["t"]},
        ],
    }

    assert jvm.ask(case) == {
        "id": 1,
        "assignment": {"a": [["t", 0], ["t", 1]], "b": []},
        "transferring": [["t", 2, "b"], ["t", 3, "b"]],
    }


def test_what_a_class_throws_is_its_answer(jvm: Jvm) -> None:
    """The exception's class and message stand in place of an assignment, and the next case is answered."""
    empty = {"id": 1, "strategy": "sticky", "topics": {"t": {"partitions": [[]]}}, "members": []}

    assert jvm.ask(empty) == {"id": 1, "error": "java.lang.ArithmeticException: / by zero"}
    assert jvm.ask({**empty, "id": 2, "strategy": "range"}) == {"id": 2, "assignment": {}}
