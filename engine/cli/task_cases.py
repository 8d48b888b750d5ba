"""
Where would the tasks of this Streams application go: a case in, an answer out (`evenkeel assign`).

A case with `tasks` is one of Streams: `topics` (name -> `partitions`, a list of racks per partition),
`tasks` (`id`, `partitions`, `changelog_partitions`, `stateful`, `log_size`), `clients` (`process_id`,
`threads`, `rack`, `tags`, `task_lags`, `previous_active`, `previous_standby`), `strategy`, `costs`,
`config`. The answer has `active` and `standby` by client, `warmup`, `target` and `planned` (where they
go once all copies have caught up), `initial` (before racks), `probing`; `racks` says why racks played no
part. A case with `initial` instead of a past asks the optimiser of active tasks alone.

Unknown fields are passed over, wrong values are errors that name the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr

from evenkeel.engine.errors import InputError
from evenkeel.engine.model import NONE, Indices, Ints
from evenkeel.engine.streams.actives import optimise
from evenkeel.engine.streams.model import (
    LAG_UNKNOWN,
    Application,
    ClientLine,
    Placement,
    TaskLine,
    application,
)
from evenkeel.engine.streams.place import place
from evenkeel.engine.streams.settings import ANY_LAG, Overlap, RackStrategy, TaskConfig, costs_of
from evenkeel.engine.streams.simulate import converge
from evenkeel.engine.wording import words

Number = Annotated[StrictInt, Field(ge=0, lt=1 << 31)]
Offsets = Annotated[StrictInt, Field(ge=0, le=ANY_LAG)]
Lag = Annotated[StrictInt, Field(ge=LAG_UNKNOWN, le=ANY_LAG)]
Pair = tuple[StrictStr, Number]
Names = list[StrictStr]


class TaskTopicCase(BaseModel):
    """A topic: the racks of each partition's replicas, None for a broker without one, none for unknown."""

    partitions: list[list[StrictStr | None]]


class TaskCase(BaseModel):
    """A task."""

    id: StrictStr
    partitions: list[Pair]
    changelog_partitions: list[Pair] = []
    stateful: StrictBool = False
    log_size: Offsets = 0


class ClientCase(BaseModel):
    """A client; `task_lags`: -2 running there, -3 unknown, else offsets behind."""

    process_id: StrictStr
    threads: Annotated[StrictInt, Field(ge=1, lt=1 << 31)] = 1
    rack: StrictStr | None = None
    tags: dict[StrictStr, StrictStr] = {}
    task_lags: dict[StrictStr, Lag] = {}
    previous_active: Names = []
    previous_standby: Names = []


class TaskCostsCase(BaseModel):
    """Costs of stateful tasks; what is left out costs as the assignor has it."""

    traffic: Number | None = None
    non_overlap: Number | None = None


class ConfigCase(BaseModel):
    """The application's settings; the last two are ours."""

    num_standby_replicas: Number = 0
    acceptable_recovery_lag: Offsets = 10_000
    max_warmup_replicas: Annotated[StrictInt, Field(ge=1, lt=1 << 31)] = 2
    rack_aware_assignment_tags: Names = []
    rack_as_tag: StrictBool = False
    overlap: Overlap = Overlap.COMPUTED


class ApplicationCase(BaseModel):
    """One line of input."""

    id: StrictStr | StrictInt | None = None
    strategy: Annotated[StrictStr, Field(max_length=200)]
    assignor: StrictStr = "high-availability"
    topics: dict[StrictStr, TaskTopicCase] = {}
    tasks: list[TaskCase]
    clients: list[ClientCase]
    costs: TaskCostsCase = TaskCostsCase()
    config: ConfigCase = ConfigCase()
    initial: dict[StrictStr, Names] | None = None


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
    app, config = read_tasks(case)
    if case.initial is not None:
        return _optimised(case, app, config, repeat)
    result: dict[str, Any] = {"id": case.id}
    if settled:
        end = converge(app, config)
        result |= _placed(app, end.placement)
        result["rounds"] = end.rounds
    else:
        result |= _placed(app, place(app, config))
    if repeat is not None:
        times = (_time(lambda: place(replace(app), config)) for _ in range(repeat))
        result["milliseconds"] = round(median(times), 3)
    return result


def read_tasks(case: ApplicationCase) -> tuple[Application, TaskConfig]:
    """
    The application and its settings.

    Raises:
        InputError: A name, a strategy or an assignor is unknown.
    """
    if case.assignor != "high-availability":
        raise InputError(
            f"assignor: {case.assignor!r} is not emulated.", fix="Ask for high-availability."
        )
    try:
        strategy = RackStrategy(case.strategy)
    except ValueError:
        raise InputError(
            f"strategy: there is no task strategy {case.strategy!r}.",
            fix=f"Name one of {', '.join(RackStrategy)}.",
        ) from None
    given = case.config
    config = TaskConfig(
        num_standby_replicas=given.num_standby_replicas,
        acceptable_recovery_lag=given.acceptable_recovery_lag,
        max_warmup_replicas=given.max_warmup_replicas,
        tags=tuple(given.rack_aware_assignment_tags),
        rack_as_tag=given.rack_as_tag,
        strategy=strategy,
        costs=costs_of(case.assignor, case.costs.traffic, case.costs.non_overlap),
        overlap=given.overlap,
    )
    return _application(case), config


def _application(case: ApplicationCase) -> Application:
    tasks = [
        TaskLine(
            id=t.id,
            sources=t.partitions,
            changelogs=t.changelog_partitions,
            stateful=t.stateful,
            log_size=t.log_size,
        )
        for t in case.tasks
    ]
    clients = [
        ClientLine(
            process_id=c.process_id,
            threads=c.threads,
            rack=c.rack,
            tags=c.tags,
            lags=c.task_lags,
            previous_active=c.previous_active,
            previous_standby=c.previous_standby,
        )
        for c in case.clients
    ]
    replicas = {
        (name, number): racks
        for name, topic in case.topics.items()
        for number, racks in enumerate(topic.partitions)
    }
    return application(tasks, clients, replicas)


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
