"""What the classes of Kafka 4.3.1 themselves answered, case by case."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evenkeel.engine.cli.assign_cases import answer
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.examples import examples

VECTORS = Path(__file__).parents[2] / "data" / "vectors"


def _recorded(strategy):
    with gzip.open(VECTORS / f"{strategy}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _answered(case):
    """Our answer; where a group is infeasible, what Kafka would throw is in the error."""
    try:
        return answer(case)
    except Infeasible as problem:
        return {"error": str(problem)}


@pytest.mark.parametrize(
    ("strategy", "ordered"),
    [
        ("range", False),
        ("roundrobin", True),
        ("sticky", True),
        ("cooperative-sticky", True),
        ("uniform", False),
        ("range-server", False),
    ],
)
def test_answers_equal_kafkas(strategy, ordered):
    """Every member gets what Kafka gives it, in Kafka's order where the order is specified."""
    recorded = _recorded(strategy)
    differing = []
    for row in recorded[: 3 * examples()]:  # all with CI's profile
        ours, theirs = _answered(row["case"]), row["expected"]
        if "error" in ours or "error" in theirs:
            thrown = theirs.get("error", "nothing").rpartition(".")[-1]
            if thrown not in ours.get("error", ""):
                differing.append((row["case"]["id"], thrown))
            continue
        for member, partitions in ours["assignment"].items():
            expected = theirs["assignment"].get(member, [])
            if partitions != (expected if ordered else sorted(expected)):
                differing.append((row["case"]["id"], member))
        if sorted(ours.get("transferring", [])) != sorted(theirs.get("transferring", [])):
            differing.append((row["case"]["id"], "transferring"))

    assert (len(recorded), differing) == (150, [])
