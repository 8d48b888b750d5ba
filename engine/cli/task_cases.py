"""
Where would the tasks of this Streams application go: a case in, an answer out (`evenkeel assign`).

A case with `tasks` is one of Streams: `topics` (name -> `partitions`, a list of racks per partition),
`tasks` (`id`, `partitions`, `changelog_partitions`, `stateful`, `log_size`), `clients` (`process_id`,
`threads`, `rack`, `tags`, `task_lags`, `previous_active`, `previous_standby`), `strategy`, `costs`,
`config`. The answer has `active` and `standby` by client, `warmup`, `target` and `planned` (where they
go once all copies have caught up), `initial` (before racks), `probing`; `racks` says why racks played no
part. A case with `initial` instead of a past asks the optimiser of active tasks alone.

`"assignor": "sticky"` asks Kafka's public sticky assignor instead of the high-availability one, and the strategy
`sticky-tasks` asks it without racks; clients and tasks are taken in the order in which they are listed, which shows in
it, and `standby_order` lists the tasks in which order standbys are dealt. `sticky-tasks-server`, the broker's, has
`members` (`id`, `process_id`, `previous_active`, `previous_standby`) in the order in which the broker lists them, and
answers by member besides.

Unknown fields are passed over, wrong values are errors that name the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from ..messages.wording import words
from ..model.arrays import NONE, Indices, Ints, ragged
from ..model.errors import InputError
from ..streams.actives import optimise
from ..streams.model import Application, Placement
from ..streams.place import place
from ..streams.settings import StickyTasks, TaskConfig
from ..streams.simulate import converge
from ..streams.sticky_tasks import place_sticky
from ..streams.sticky_tasks_server import assign_sticky_server
from .task_case import (
    ApplicationCase,
    ClientCase,
    application_of,
    arrivals_of,
    is_sticky,
    read_tasks,
    threads_of,
)

__all__ = ["ApplicationCase", "answer_tasks", "read_tasks"]


def answer_tasks(
    line: Mapping[str, Any], *, repeat: int | None = None, settled: bool = False
) -> dict[str, Any]:
    """
    The answer to one case with tasks.

    Args:
        line: A parsed line.
        repeat: Ask so many times, at least once, and add the median in `milliseconds`.
        settled: Rebalance until nothing warms up any more, and add the `rounds` that takes.

    Raises:
        ValidationError: It is no case.
        InputError: A name, a strategy or an assignor is unknown.
        Infeasible: There are tasks and no clients.
    """
    case = ApplicationCase.model_validate(dict(line))
    if case.strategy == StickyTasks.SERVER:
        return _given(case, repeat, settled)
    app, config = read_tasks(case)
    if case.initial is not None:
        return _optimised(case, app, config, repeat)
    result: dict[str, Any] = {"id": case.id}
    sticky = is_sticky(case)
    assign = partial(place_sticky, arrivals=arrivals_of(case, app)) if sticky else place
    if settled and not sticky:
        end = converge(app, config)
        result |= _placed(app, end.placement)
        result["rounds"] = end.rounds
    else:
        result |= _placed(app, assign(app, config)) | ({"rounds": 1} if settled else {})
    if repeat is not None:
        times = (_time(lambda: assign(replace(app), config)) for _ in range(repeat))
        result["milliseconds"] = round(median(times), 3)
    return result


def _given(case: ApplicationCase, repeat: int | None, settled: bool) -> dict[str, Any]:
    """The answer of the broker's sticky assignor: by client as always, and by member."""
    members = case.members
    if members is None:
        raise InputError(
            f"members: {case.strategy} gives tasks to members, and the case has none.",
            fix="List each member with its id and its process_id.",
        )
    known = {client.process_id for client in case.clients}
    others = dict.fromkeys(m.process_id for m in members if m.process_id not in known)
    clients = [*case.clients, *(ClientCase(process_id=process) for process in others)]
    app = application_of(case.model_copy(update={"clients": clients}))
    threads = threads_of(members, app)
    standbys = case.config.num_standby_replicas
    given = assign_sticky_server(app, threads, standbys)
    of_client = threads.client_of
    start, copies = ragged([sorted(of_client[list(each)].tolist()) for each in given.standbys])
    result: dict[str, Any] = {
        "id": case.id,
        "active": app.named(of_client[given.active]),
        "standby": _copies(app, start, copies),
        "members": {member.id: {"active": [], "standby": []} for member in members},
    }
    for task, name in enumerate(app.tasks):
        result["members"][members[given.active[task]].id]["active"].append(name)
        for member in given.standbys[task]:
            result["members"][members[member].id]["standby"].append(name)
    if settled:
        result["rounds"] = 1
    if repeat is not None:
        times = (_time(lambda: assign_sticky_server(app, threads, standbys)) for _ in range(repeat))
        result["milliseconds"] = round(median(times), 3)
    return result


def _placed(app: Application, placement: Placement) -> dict[str, Any]:
    stateful = np.flatnonzero(app.stateful)
    result: dict[str, Any] = {
        "active": app.named(placement.active),
        "standby": _copies(app, placement.standby_start, placement.standby),
        "probing": placement.probing,
        "target": app.named(placement.target, stateful),
        "planned": _copies(app, placement.planned_start, placement.planned),
        "initial": app.named(placement.initial, stateful),
        "warmup": _copies(app, placement.warmup_start, placement.warmup),
        "racks": placement.racks and words(placement.racks),
    }
    if placement.findings:
        result["findings"] = [words(each) for each in placement.findings]
    return result


def _copies(app: Application, start: Ints, clients: Indices) -> dict[str, list[str]]:
    """Client -> ids of the tasks it has a copy of, in task order; all clients present."""
    found: dict[str, list[str]] = {client: [] for client in app.clients}
    for task, name in enumerate(app.tasks):
        for client in clients[start[task] : start[task + 1]].tolist():
            found[app.clients[client]].append(name)
    return found


def _optimised(
    case: ApplicationCase, app: Application, config: TaskConfig, repeat: int | None
) -> dict[str, Any]:
    """The active optimiser alone, on the assignment given in `initial`."""
    owner = _initial(case, app)
    tasks = np.arange(len(app.tasks))

    def ask() -> Indices:
        return optimise(app, owner, tasks, config.costs, config.strategy)

    result: dict[str, Any] = {"id": case.id, "active": app.named(ask())}
    if repeat is not None:
        result["milliseconds"] = round(median(_time(ask) for _ in range(repeat)), 3)
    return result


def _initial(case: ApplicationCase, app: Application) -> Indices:
    """
    (N) owners as the case gives them.

    Raises:
        InputError: A task has no owner or two, or a name is unknown.
    """
    client_of = {name: i for i, name in enumerate(app.clients)}
    task_of = {name: i for i, name in enumerate(app.tasks)}
    owner = np.full(len(app.tasks), NONE, np.int32)
    for client, tasks in (case.initial or {}).items():
        for task in tasks:
            if client not in client_of or task not in task_of:
                raise InputError(f"initial: there is no client {client!r} or no task {task!r}.")
            if owner[task_of[task]] != NONE:
                raise InputError(f"initial: task {task!r} has two clients.")
            owner[task_of[task]] = client_of[client]
    if (owner == NONE).any():
        bare = app.tasks[int((owner == NONE).argmax())]
        raise InputError(f"initial: task {bare!r} has no client.", fix="Give each task one.")
    return owner


def _time(call: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    began = perf_counter()
    call()
    return (perf_counter() - began) * 1000
