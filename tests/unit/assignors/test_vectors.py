"""What the classes of Kafka 4.3.1 themselves answered, case by case."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from engine.cli.assign import answer

VECTORS = Path(__file__).parents[2] / "data" / "vectors"


def _recorded(strategy):
    with gzip.open(VECTORS / f"{strategy}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(("strategy", "ordered"), [("range", False), ("roundrobin", True)])
def test_answers_equal_kafkas(strategy, ordered):
    """Every member gets what Kafka gives it, in Kafka's order where the order is specified."""
    recorded = _recorded(strategy)
    differing = []
    for row in recorded:
        ours, theirs = answer(row["case"])["assignment"], row["expected"]["assignment"]
        for member, partitions in ours.items():
            expected = theirs.get(member, [])
            if partitions != (expected if ordered else sorted(expected)):
                differing.append((row["case"]["id"], member))

    assert (len(recorded), differing) == (150, [])
