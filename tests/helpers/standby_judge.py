"""
The judge of standby placements: the five constraints of KIP-925, section C. It knows no algorithm.

1. No standby beside its active task, nor beside another copy of it; each stateful task has as many
   as configured, or as many as there are other clients.
2. Standbys away from their active task, and
3. away from each other: over all holders of a task, active included, the values of every tag that
   counts are as many as the smaller of the values there are and the copies.
4. No two standbys could be swapped to lower the cost of changelogs across racks by more than the
   swap itself costs, with 1 to 3 no worse than before. Judged where racks may play a part.
5. The same question has the same answer.

What is judged is the plan, where copies go once all have caught up; what runs elsewhere meanwhile
is held to 1 alone. 2 and 3 hold for a tag that every client has; with several tags on an uneven
grid KIP-708 does not promise them, and a breach says so of a placement, not of a mistake.

Source: KIP-925, section C; KIP-708.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np

from evenkeel.engine.model.arrays import NONE, Indices, Ints
from evenkeel.engine.streams.model import Application, Placement
from evenkeel.engine.streams.racks import racks_off
from evenkeel.engine.streams.settings import TaskConfig
from evenkeel.engine.streams.standbys import Apart, kept_apart

Place = Callable[[Application, TaskConfig], Placement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A constraint that is not kept, by its number in the KIP, and how, in words."""

    constraint: int
    what: str


def verify(app: Application, config: TaskConfig, ask: Place) -> list[Breach]:
    """
    What a strategy breaks on one application; an empty list is a pass.

    Args:
        app: The application.
        config: Its settings.
        ask: The strategy; asked twice.
    """
    placement, again = ask(app, config), ask(replace(app), config)
    broken = breaches(app, config, placement)
    for part in fields(placement):
        if not np.array_equal(getattr(placement, part.name), getattr(again, part.name)):
            broken.append(Breach(constraint=5, what=f"{part.name} differs when asked again"))
    return broken


def breaches(app: Application, config: TaskConfig, placement: Placement) -> list[Breach]:
    """What one placement breaks of constraints 1 to 4."""
    plan = _rows(placement.planned_start, placement.planned)
    apart = kept_apart(app, config)
    broken = [
        *_beside(app, placement.active, _rows(placement.standby_start, placement.standby)),
        *_beside(app, placement.target, plan),
        *_missing(app, config, plan),
        *_together(app, apart, placement.target, plan),
    ]
    if racks_off(app, config) is None:
        broken += _swaps(app, config, apart, placement.target, plan)
    return broken


def _rows(start: Ints, values: Indices) -> list[list[int]]:
    flat = values.tolist()
    return [flat[a:b] for a, b in pairwise(start.tolist())]


def _beside(app: Application, owner: Indices, copies: list[list[int]]) -> Iterator[Breach]:
    """Copies of a task that share a client."""
    for task, clients in enumerate(copies):
        if owner[task] in clients or len(set(clients)) < len(clients):
            yield Breach(constraint=1, what=f"task {app.tasks[task]} is twice on one client")


def _missing(app: Application, config: TaskConfig, plan: list[list[int]]) -> Iterator[Breach]:
    """Tasks that have not as many standbys as they should."""
    most = min(config.num_standby_replicas, len(app.clients) - 1)
    for task, clients in enumerate(plan):
        wanted = most if app.stateful[task] else 0
        if len(clients) != wanted:
            what = f"task {app.tasks[task]} has {len(clients)} standbys instead of {wanted}"
            yield Breach(constraint=1, what=what)


def _together(
    app: Application, apart: Apart, owner: Indices, plan: list[list[int]]
) -> Iterator[Breach]:
    """Tasks whose holders have fewer values of a tag than they could."""
    for k, key in enumerate(apart.keys):
        values = apart.value[:, k].tolist()
        if NONE in values:
            continue
        for task, clients in enumerate(plan):
            own, others = values[owner[task]], [values[c] for c in clients]
            have = len({own, *others})
            possible = min(len(set(values)), 1 + len(clients))
            if clients and have < possible:
                what = f"task {app.tasks[task]} is on {have} values of {key} instead of {possible}"
                yield Breach(constraint=2 if own in others else 3, what=what)


def _swaps(
    app: Application, config: TaskConfig, apart: Apart, owner: Indices, plan: list[list[int]]
) -> Iterator[Breach]:
    """Pairs of standbys that should change places."""
    task = np.array([t for t, clients in enumerate(plan) for _ in clients], np.int64)
    client = np.array([c for clients in plan for c in clients], np.int64)
    rack = app.client_rack[client]
    far = _far(app)
    saves = far[task, rack][:, None] - far[task]
    for first in range(len(task)):
        both = saves[first, rack] + saves[:, rack[first]]
        pays = config.costs.traffic * both > 2 * config.costs.non_overlap
        for other in np.flatnonzero(pays[first + 1 :]) + first + 1:
            here, there = int(client[first]), int(client[other])
            moves = ((int(task[first]), here, there), (int(task[other]), there, here))
            if all(_may_move(apart, owner, plan, *move) for move in moves):
                names = [f"{app.tasks[t]} on {app.clients[c]}" for t, c, _ in moves]
                what = (
                    f"swapping {names[0]} and {names[1]} saves {both[other]} changelog partitions"
                )
                yield Breach(constraint=4, what=what)


def _may_move(
    apart: Apart, owner: Indices, plan: list[list[int]], task: int, source: int, goal: int
) -> bool:
    """Whether a standby may go there with constraints 1 to 3 no worse than before."""
    before = [int(owner[task]), *plan[task]]
    if goal in before:
        return False
    after = [goal if c == source else c for c in before]
    columns = [apart.value[:, k].tolist() for k in range(len(apart.keys))]
    return all(
        len({values[c] for c in after} - {NONE}) >= len({values[c] for c in before} - {NONE})
        for values in columns
    )


def _far(app: Application) -> Ints:
    """(N, racks) changelog partitions of each task without a replica in the rack, counted one by one."""
    far = np.zeros((len(app.tasks), len(app.racks)), np.int64)
    changelogs = _rows(app.changelog_start, app.changelog)
    replicas = _rows(app.replica_start, app.replica_rack)
    for task, partitions in enumerate(changelogs):
        for partition in partitions:
            far[task] += 1
            for rack in set(replicas[partition]) - {NONE}:
                far[task, rack] -= 1
    return far
