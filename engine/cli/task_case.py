"""
The fields of a case of Kafka Streams (`evenkeel.engine.cli.task_cases`), and what is read of them.

Unknown fields are passed over, wrong values are errors that name the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr

from ..model.arrays import NONE
from ..model.errors import InputError
from ..streams.model import LAG_UNKNOWN, Application, ClientLine, TaskLine, application
from ..streams.settings import (
    ANY_LAG,
    DEFAULT_COSTS,
    Overlap,
    RackStrategy,
    StickyTasks,
    TaskConfig,
    costs_of,
)
from ..streams.sticky_tasks import Arrivals, usual_arrivals
from ..streams.sticky_tasks_server import Threads

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


class TaskMemberCase(BaseModel):
    """A member of a KIP-1071 group: a thread of a client, and what it has in the target assignment."""

    id: StrictStr
    process_id: StrictStr
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
    members: list[TaskMemberCase] | None = None
    costs: TaskCostsCase = TaskCostsCase()
    config: ConfigCase = ConfigCase()
    initial: dict[StrictStr, Names] | None = None
    standby_order: Names | None = None


def read_tasks(case: ApplicationCase) -> tuple[Application, TaskConfig]:
    """
    The application and its settings.

    Raises:
        InputError: A name, a strategy or an assignor is unknown.
    """
    if case.assignor not in DEFAULT_COSTS:
        raise InputError(
            f"assignor: {case.assignor!r} is not emulated.",
            fix=f"Ask for {' or '.join(DEFAULT_COSTS)}.",
        )
    try:
        racked = case.strategy != StickyTasks.CLIENT
        strategy = RackStrategy(case.strategy) if racked else RackStrategy.NONE
    except ValueError:
        raise InputError(
            f"strategy: there is no task strategy {case.strategy!r}.",
            fix=f"Name one of {', '.join([*RackStrategy, *StickyTasks])}.",
        ) from None
    given = case.config
    config = TaskConfig(
        num_standby_replicas=given.num_standby_replicas,
        acceptable_recovery_lag=given.acceptable_recovery_lag,
        max_warmup_replicas=given.max_warmup_replicas,
        tags=tuple(given.rack_aware_assignment_tags),
        rack_as_tag=given.rack_as_tag,
        strategy=strategy,
        costs=costs_of(
            "sticky" if is_sticky(case) else case.assignor,
            case.costs.traffic,
            case.costs.non_overlap,
        ),
        costs_told=None not in (case.costs.traffic, case.costs.non_overlap),
        overlap=given.overlap,
    )
    return application_of(case), config


def is_sticky(case: ApplicationCase) -> bool:
    """Whether Kafka's public sticky assignor is asked."""
    return case.assignor == "sticky" or case.strategy == StickyTasks.CLIENT


def arrivals_of(case: ApplicationCase, app: Application) -> Arrivals:
    """
    The orders in which the case lists what it has.

    Raises:
        InputError: `standby_order` does not list the tasks with changelogs.
    """
    client_of = {name: i for i, name in enumerate(app.clients)}
    task_of = {name: i for i, name in enumerate(app.tasks)}
    usual = usual_arrivals(app)
    copied = usual.copied
    if case.standby_order is not None:
        copied = [task_of.get(task, NONE) for task in case.standby_order]
        if sorted(copied) != sorted(usual.copied):
            raise InputError(
                "standby_order: it does not list each task with changelogs once.",
                fix="Leave it out, or list them in the order in which standbys are to be dealt.",
            )
    return Arrivals(
        clients=[client_of[client.process_id] for client in case.clients],
        tasks=[task_of[task.id] for task in case.tasks],
        copied=copied,
    )


def threads_of(members: Sequence[TaskMemberCase], app: Application) -> Threads:
    """
    Members as indices.

    Raises:
        InputError: A member is listed twice, or names a task there is none of.
    """
    client_of = {name: i for i, name in enumerate(app.clients)}
    task_of = {name: i for i, name in enumerate(app.tasks)}
    ids = tuple(member.id for member in members)
    if len(set(ids)) < len(ids):
        raise InputError("members: a member is listed twice.", fix="List each once.")
    for member in members:
        for task in (*member.previous_active, *member.previous_standby):
            if task not in task_of:
                raise InputError(
                    f"members: {member.id} names task {task!r}, which is not among the {len(task_of)} tasks.",
                    fix="List the task, or leave it out of the member.",
                )
    return Threads(
        ids=ids,
        client_of=np.array([client_of[member.process_id] for member in members], np.int32),
        active=[[task_of[task] for task in member.previous_active] for member in members],
        standby=[[task_of[task] for task in member.previous_standby] for member in members],
    )


def application_of(case: ApplicationCase) -> Application:
    """
    The application of a case.

    Raises:
        InputError: A name is malformed, unknown or given twice.
    """
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
