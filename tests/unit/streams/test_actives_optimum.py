"""The optimiser's total cost against answers of others: Kafka's own, recorded, and a linear program's."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.helpers.transport_lp import least_cost
from tests.oracle.task_cases import random_case
from tests.oracle.tasks import STRATEGIES, faults, ours

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parents[2] / "data" / "vectors" / "streams-optimiser.jsonl.gz"


def linear_optimum(case):
    """The least cost of a case, worked out from its names alone."""
    clients = [(c["process_id"], c["rack"]) for c in case["clients"]]
    held = {(p, t) for p, tasks in case["initial"].items() for t in tasks}
    traffic, move_cost = case["costs"]["traffic"], case["costs"]["non_overlap"]

    def cost(task, process, rack):
        racks = [case["topics"][t]["partitions"][p] for t, p in task["partitions"]]
        crossing = sum(rack not in near for near in racks)
        return traffic * crossing + move_cost * ((process, task["id"]) not in held)

    count = [len(case["initial"][process]) for process, _ in clients]
    matrix = [[cost(task, *client) for client in clients] for task in case["tasks"]]
    if case["strategy"] == "min_traffic":
        return least_cost(matrix, count)
    layer = [int(task["id"].split("_")[0]) for task in case["tasks"]]
    sizes = Counter(layer)
    limit = [
        [math.ceil(n * 1.0 / len(layer) * sizes[sub]) for n in count]
        for sub in range(max(layer) + 1)
    ]
    return least_cost(matrix, count, layer, np.array(limit))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_recorded_answers_of_kafka_cost_the_same(strategy):
    """150 answers of Kafka 4.3.1 per strategy: our cost is theirs, counts and limits are kept."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    asked = [row for row in recorded if row["case"]["strategy"] == strategy]
    found = [f for r in asked for f in faults(r["case"], r["expected"], ours(r["case"]))]

    assert (len(asked), found) == (150, [])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(5))
def test_a_linear_program_finds_nothing_cheaper(strategy, seed):
    """50 random applications per strategy and seed: 500 in all."""
    random = Random(f"{strategy} {seed}")
    cases = [random_case(strategy, random) for _ in range(50)]
    found = [
        fault
        for case in cases
        for fault in faults(case, {"active_cost": linear_optimum(case)}, ours(case))
    ]

    assert found == []
