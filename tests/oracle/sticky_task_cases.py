"""Random cases for Kafka's two sticky assignors of tasks, as `evenkeel assign` reads them."""

from __future__ import annotations

import uuid
from random import Random
from typing import Any

Case = dict[str, Any]

PAST = ("nothing", "as dealt", "as dealt", "some of it", "disorder")
"""What an application had before: never ran, all alive, some gone or joined, anything at all."""


def server_case(random: Random) -> Case:
    """A KIP-1071 application: members of several clients, with what they had."""
    tasks = _tasks(random, random.choice([2, 4, 4, 12]), random.choice([3, 9, 9, 40]))
    processes = [_process(random) for _ in range(random.randint(1, random.choice([3, 8, 30])))]
    members = [
        {
            "id": _member(random),
            "process_id": process,
            "previous_active": [],
            "previous_standby": [],
        }
        for process in processes
        for _ in range(random.choice([1, 1, 1, 2, 3, 14]) if random.random() < 0.7 else 1)
    ]
    random.shuffle(members)
    _remember(random, tasks, members)
    if random.random() < 0.5:
        _report(random, tasks, members)
    return {
        "id": f"sticky-tasks-server-{random.getrandbits(32):08x}",
        "strategy": "sticky-tasks-server",
        "tasks": tasks,
        "clients": [],
        "members": members,
        "config": {"num_standby_replicas": random.choice([0, 0, 1, 1, 2, 3])},
    }


def client_case(random: Random) -> Case:
    """A classic application: clients with threads, racks and tags, and what they had; three in ten look at racks."""
    racks = random.random() < 0.3
    names = [f"rack-{r}" for r in range(random.randint(1, 4))]
    most = (4, 9) if racks else (random.choice([2, 4, 4, 12]), random.choice([3, 9, 9, 40]))
    tasks = _tasks(random, *most)
    random.shuffle(tasks)
    without = 0.0 if racks and random.random() < 0.9 else 0.2
    clients = [
        {
            "process_id": _process(random),
            "threads": random.choice([1, 1, 2, 3, 8]),
            "rack": None if random.random() < without else random.choice(names),
            "tags": {"zone": random.choice("ab")} if random.random() < 0.5 else {},
            "previous_active": [],
            "previous_standby": [],
        }
        for _ in range(random.randint(1, random.choice([3, 8] if racks else [3, 8, 30])))
    ]
    _remember(random, tasks, clients)
    costs = {"traffic": random.choice([1, 10, 3, 0]), "non_overlap": random.choice([0, 1, 10])}
    if not racks:
        costs = {name: cost for name, cost in costs.items() if random.random() < 0.4}
    strategy = random.choice(["min_traffic", "balance_subtopology"])
    off = not racks and (len(costs) == 2 or random.random() < 0.5)
    return {
        "id": f"sticky-tasks-{random.getrandbits(32):08x}",
        "strategy": random.choice(["none", "sticky-tasks"]) if off else strategy,
        "assignor": "sticky",
        "costs": costs,
        "topics": _topics(random, tasks, names),
        "tasks": tasks,
        "clients": clients,
        "config": {
            "num_standby_replicas": random.choice([0, 0, 1, 1, 2, 3]),
            "rack_aware_assignment_tags": ["zone"] if random.random() < 0.3 else [],
        },
    }


def _tasks(random: Random, subtopologies: int, partitions: int) -> list[Case]:
    """Tasks of some sub-topologies: without stores, with stores, or with one that keeps no changelog."""
    tasks = []
    for number in range(random.randint(1, subtopologies)):
        kind = random.choice(["stateless", "stateful", "stateful", "kept nowhere", "source"])
        for p in range(random.randint(1, partitions)):
            changelog = {"stateful": f"store-{number}", "source": f"src-{number}"}.get(kind)
            tasks.append(
                {
                    "id": f"{number}_{p}",
                    "partitions": [[f"src-{number}", p]],
                    "changelog_partitions": [[changelog, p]] if changelog else [],
                    "stateful": kind != "stateless",
                }
            )
    return tasks


def _topics(random: Random, tasks: list[Case], racks: list[str]) -> Case:
    """Replicas of all partitions; here and there a broker without rack, or a source whose racks are not known."""
    topics: dict[str, list[list[str | None]]] = {}
    silent = random.choice([None, "src-0"]) if random.random() < 0.2 else None
    for task in sorted(tasks, key=lambda task: int(task["id"].split("_")[1])):
        pairs = {tuple(p): None for p in [*task["partitions"], *task["changelog_partitions"]]}
        for topic, _ in pairs:
            replicas: list[str | None] = [*random.sample(racks, random.randint(1, len(racks)))]
            replicas += [None] if random.random() < 0.1 else []
            if topic == silent:
                replicas = random.choice([[], [None]])
            topics.setdefault(topic, []).append(replicas)
    return {name: {"partitions": partitions} for name, partitions in topics.items()}


def _remember(random: Random, tasks: list[Case], holders: list[Case]) -> None:
    """Give each holder a past."""
    past = random.choice(PAST)
    if past == "nothing":
        return
    copies = random.randint(0, 3)
    dealt = random.sample(holders, random.randint(1, len(holders)))
    for turn, task in enumerate(tasks):
        if past == "some of it" and random.random() < 0.3:
            continue
        if past == "disorder":
            holder = random.choice(dealt)
            for _ in range(random.choice([0, 1, 1, 1, 2])):
                random.choice(dealt)["previous_active"].append(task["id"])
        else:
            holder = dealt[turn % len(dealt)]
            holder["previous_active"].append(task["id"])
        for one in random.sample(holders, min(copies, len(holders))):
            if one is not holder and task["stateful"]:
                one["previous_standby"].append(task["id"])
    for holder in holders:
        for role in ("previous_active", "previous_standby"):
            holder[role] = list(dict.fromkeys(holder[role]))


def _report(random: Random, tasks: list[Case], members: list[Case]) -> None:
    """Members tell how far the stores on their disks are, some as far as each other."""
    stateful = [task["id"] for task in tasks if task["stateful"]]
    for member in members:
        told = random.sample(stateful, random.randint(0, min(len(stateful), 12)))
        own = [task for task in member["previous_standby"] if random.random() < 0.7]
        offsets = {task: random.choice([0, 10, 10, 500, 10_000]) for task in [*told, *own]}
        member["task_offsets"] = offsets


def _process(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def _member(random: Random) -> str:
    return f"{uuid.UUID(int=random.getrandbits(128), version=4)}"
