"""Random cases for the optimizer of active tasks, in the format of its vectors, and how to read one."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from evenkeel.engine.model.arrays import NONE, Indices
from evenkeel.engine.streams.model import Application, ClientLine, TaskLine, application
from evenkeel.engine.streams.settings import Costs, RackStrategy

Case = dict[str, Any]

COSTS = ((10, 1), (10, 1), (1, 10), (1, 0), (3, 7), (0, 1), (1, 1))
"""Those of the assignors, and others."""


def random_case(strategy: str, random: Random) -> Case:
    """A small application with an initial assignment: dealt in turn, in disorder, or uneven."""
    racks = [f"rack-{r}" for r in range(random.randint(1, 5))]
    clients = [_client(random, racks) for _ in range(random.randint(1, 9))]
    topics: dict[str, Any] = {}
    tasks = []
    for number in range(random.randint(1, 5)):
        size = random.randint(1, 9)
        sources = [f"src-{number}-{s}" for s in range(random.randint(1, 3))]
        for topic in sources:
            replicas = random.randint(1, min(3, len(racks)))
            topics[topic] = {"partitions": [random.sample(racks, replicas) for _ in range(size)]}
        tasks += [
            {"id": f"{number}_{p}", "partitions": [[topic, p] for topic in sources]}
            for p in range(size)
        ]
    traffic, non_overlap = random.choice(COSTS)
    return {
        "id": f"{strategy}-{random.getrandbits(32):08x}",
        "strategy": strategy,
        "costs": {"traffic": traffic, "non_overlap": non_overlap},
        "topics": topics,
        "tasks": tasks,
        "clients": clients,
        "initial": _initial(random, [t["id"] for t in tasks], [c["process_id"] for c in clients]),
    }


def grid_case(clients: int, tasks: int, racks: int, subtopologies: int, strategy: str) -> Case:
    """
    An application of a given size: each partition on two racks, tasks dealt in turn.

    Clients are in Kafka's order already, one per rack in turn.
    """
    random = Random(f"{clients} {tasks} {racks} {subtopologies}")
    names = [f"rack-{r}" for r in range(racks)]
    each = tasks // subtopologies
    ids = [str(uuid.UUID(int=c + 1)) for c in range(clients)]
    initial: dict[str, list[str]] = {process: [] for process in ids}
    for turn in range(each * subtopologies):
        initial[ids[turn % clients]].append(f"{turn // each}_{turn % each}")
    return {
        "id": f"{strategy}-{clients}x{each * subtopologies}",
        "strategy": strategy,
        "costs": {"traffic": 10, "non_overlap": 1},
        "topics": {
            f"src-{s}": {"partitions": [random.sample(names, min(2, racks)) for _ in range(each)]}
            for s in range(subtopologies)
        },
        "tasks": [
            {"id": f"{s}_{p}", "partitions": [[f"src-{s}", p]]}
            for s in range(subtopologies)
            for p in range(each)
        ],
        "clients": [{"process_id": p, "rack": names[c % racks]} for c, p in enumerate(ids)],
        "initial": initial,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A case as our optimizer takes it."""

    app: Application
    owner: Indices
    costs: Costs
    strategy: RackStrategy


def read(case: Case) -> Asked:
    """Names to integers."""
    app = application(
        [TaskLine(id=t["id"], sources=[(n, p) for n, p in t["partitions"]]) for t in case["tasks"]],
        [ClientLine(process_id=c["process_id"], rack=c["rack"]) for c in case["clients"]],
        {
            (name, number): racks
            for name, topic in case["topics"].items()
            for number, racks in enumerate(topic["partitions"])
        },
    )
    task = {name: place for place, name in enumerate(app.tasks)}
    owner = np.full(len(app.tasks), NONE, np.int32)
    for client, process in enumerate(app.clients):
        owner[[task[t] for t in case["initial"].get(process, ())]] = client
    return Asked(
        app=app,
        owner=owner,
        costs=Costs(**case["costs"]),
        strategy=RackStrategy(case["strategy"]),
    )


def _client(random: Random, racks: list[str]) -> dict[str, Any]:
    return {"process_id": str(uuid.UUID(int=random.getrandbits(128))), "rack": random.choice(racks)}


def _initial(random: Random, tasks: list[str], clients: list[str]) -> dict[str, list[str]]:
    initial: dict[str, list[str]] = {process: [] for process in clients}
    kind = random.choice(["in turn", "disorder", "uneven"])
    order = tasks if kind == "in turn" else random.sample(tasks, len(tasks))
    some = random.sample(clients, random.randint(1, len(clients)))
    for turn, task in enumerate(order):
        client = random.choice(some) if kind == "uneven" else clients[turn % len(clients)]
        initial[client].append(task)
    return initial
