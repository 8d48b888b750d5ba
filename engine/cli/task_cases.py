"""
Where would the tasks of this Streams application go: a case in, an answer out (`evenkeel assign`).

A case with `tasks` is one of Streams: `topics` (name -> `partitions`, a list of racks per partition),
`tasks` (`id`, `partitions`, `changelog_partitions`, `stateful`, `log_size`), `clients` (`process_id`,
`threads`, `rack`, `tags`, `task_lags`, `previous_active`, `previous_standby`), `strategy`, `costs`,
`config`. The answer has `active` and `standby` by client, `warmup`, `target` and `planned` (where they
go once all copies have caught up), `initial` (before racks), `probing`; `racks` says why racks played no
part. A case with `initial` instead of a past asks the optimizer of active tasks alone.

`"assignor": "sticky"` asks Kafka's public sticky assignor instead of the high-availability one, and the strategy
`sticky-tasks` asks it without racks; clients and tasks are taken in the order in which they are listed, which shows in
it, and `standby_order` lists the tasks in which order standbys are dealt. `sticky-tasks-server`, the broker's, has
`members` (`id`, `process_id`, `previous_active`, `previous_standby`, `task_offsets`) in the order in which the broker
lists them, and answers by member besides. `kafka` in `config` is the release of what runs a sticky assignor, 4.3 if it
is left out.

A field that there is not and a wrong value are errors that name it. Fields are called as `TaskLine`,
`ClientLine` and `TaskConfig` call what becomes of them, and read by the names above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictInt, StrictStr

from ..messages.wording import words
from ..model.arrays import NONE, Indices, Ints, ragged
from ..model.errors import InputError, no_strategy
from ..model.releases import USUAL, Release, release_of
from ..streams.actives import optimize
from ..streams.model import LAG_UNKNOWN, Application, ClientLine, Placement, TaskLine, application
from ..streams.place import place
from ..streams.settings import (
    ANY_LAG,
    DEFAULT_COSTS,
    Overlap,
    RackStrategy,
    StickyTasks,
    TaskConfig,
    costs_of,
)
from ..streams.simulate import converge
from ..streams.sticky_tasks import Arrivals, place_sticky, usual_arrivals
from ..streams.sticky_tasks_server import GivenTasks, Threads, assign_sticky_server
from .assign_cases import CostsCase, Number, Pair, Racks, StrategyName, timed

Offsets = Annotated[StrictInt, Field(ge=0, le=ANY_LAG)]
Lag = Annotated[StrictInt, Field(ge=LAG_UNKNOWN, le=ANY_LAG)]
Positive = Annotated[StrictInt, Field(ge=1, lt=1 << 31)]
Names = list[StrictStr]


def _release(text: Any) -> Release:
    release = release_of(text) if isinstance(text, str) else None
    if release is None:
        raise ValueError('a release is written as "4.4"')
    return release


class TaskCase(BaseModel, extra="forbid"):
    """A task."""

    id: StrictStr
    sources: Annotated[list[Pair], Field(alias="partitions")]
    changelogs: Annotated[list[Pair], Field(alias="changelog_partitions")] = []
    stateful: StrictBool = False
    log_size: Offsets = 0


class PastCase(BaseModel, extra="forbid"):
    """Who had which tasks, by process."""

    process_id: StrictStr
    previous_active: Names = []
    previous_standby: Names = []


class ClientCase(PastCase):
    """A client; `task_lags`: -2 running there, -3 unknown, else offsets behind."""

    threads: Positive = 1
    rack: StrictStr | None = None
    tags: dict[StrictStr, StrictStr] = {}
    lags: Annotated[dict[StrictStr, Lag], Field(alias="task_lags")] = {}


class TaskMemberCase(PastCase):
    """
    A member of a KIP-1071 group: a thread of a client, what it has in the target assignment, and the sum of the
    offsets of each task that it reports.
    """

    id: StrictStr
    offsets: Annotated[dict[StrictStr, Offsets], Field(alias="task_offsets")] = {}


class ConfigCase(BaseModel, extra="forbid"):
    """The application's settings; the last three are ours. `kafka` is the release of what runs the sticky assignor."""

    num_standby_replicas: Number = 0
    acceptable_recovery_lag: Offsets = 10_000
    max_warmup_replicas: Positive = 2
    tags: Annotated[Names, Field(alias="rack_aware_assignment_tags")] = []
    rack_as_tag: StrictBool = False
    overlap: Overlap = Overlap.COMPUTED
    release: Annotated[Release, BeforeValidator(_release), Field(alias="kafka")] = USUAL


class ApplicationCase(BaseModel, extra="forbid"):
    """One line of input."""

    id: StrictStr | StrictInt | None = None
    strategy: StrategyName
    assignor: StrictStr = "high-availability"
    topics: dict[StrictStr, Racks] = {}
    tasks: list[TaskCase]
    clients: list[ClientCase]
    members: list[TaskMemberCase] | None = None
    costs: CostsCase = CostsCase()
    config: ConfigCase = ConfigCase()
    initial: dict[StrictStr, Names] | None = None
    standby_order: Names | None = None

    @property
    def is_sticky(self) -> bool:
        """Whether Kafka's public sticky assignor is asked."""
        return self.assignor == "sticky" or self.strategy == StickyTasks.CLIENT


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
    result: dict[str, Any] = {"id": case.id}
    once, times = {"rounds": 1} if settled else {}, range(repeat or 0)
    calls: Iterable[Callable[[], object]]
    if case.strategy == StickyTasks.SERVER:
        app, threads = _threads_of(case)
        settings = case.config
        ask = partial(
            assign_sticky_server, app, threads, settings.num_standby_replicas, settings.release
        )
        result |= _by_member(app, threads, ask()) | once
        calls = (ask for _ in times)
    elif case.initial is not None:
        app, config = read_tasks(case)
        owner, tasks = _initial(case.initial, app), np.arange(len(app.tasks))
        best = partial(optimize, app, owner, tasks, config.costs, config.strategy)
        result["active"] = app.named(best())
        calls = (best for _ in times)
    else:
        app, config = read_tasks(case)
        sticky = case.is_sticky
        assign = partial(place_sticky, arrivals=_arrivals(case, app)) if sticky else place
        if settled and not sticky:
            end = converge(app, config)
            result |= _placed(app, end.placement) | {"rounds": end.rounds}
        else:
            result |= _placed(app, assign(app, config)) | once
        calls = (partial(assign, replace(app), config) for _ in times)
    return result if repeat is None else result | timed(calls)


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
        names = [*RackStrategy, *StickyTasks]
        raise no_strategy(case.strategy, names, at="strategy: an application has tasks, ") from None
    costs, settings = case.costs, dict(case.config)
    config = TaskConfig(
        **settings | {"tags": tuple(case.config.tags)},
        strategy=strategy,
        costs=costs_of(
            "sticky" if case.is_sticky else case.assignor, costs.traffic, costs.non_overlap
        ),
        costs_told=None not in (costs.traffic, costs.non_overlap),
    )
    return _application(case), config


def _application(case: ApplicationCase, *more: ClientLine) -> Application:
    """The application of a case, with more clients than it lists."""
    tasks = [TaskLine(**dict(task)) for task in case.tasks]
    clients = [ClientLine(**dict(client)) for client in case.clients]
    replicas = {
        (name, number): racks
        for name, topic in case.topics.items()
        for number, racks in enumerate(topic.partitions)
    }
    return application(tasks, [*clients, *more], replicas)


def _indices(names: Sequence[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(names)}


def _arrivals(case: ApplicationCase, app: Application) -> Arrivals:
    """The orders in which the case lists what it has."""
    client_of, task_of = _indices(app.clients), _indices(app.tasks)
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


def _threads_of(case: ApplicationCase) -> tuple[Application, Threads]:
    """The application and its members as indices; clients that are not listed are those of members."""
    members = case.members
    if members is None:
        raise InputError(
            f"members: {case.strategy} gives tasks to members, and the case has none.",
            fix="List each member with its id and its process_id.",
        )
    known = {client.process_id for client in case.clients}
    others = dict.fromkeys(m.process_id for m in members if m.process_id not in known)
    app = _application(case, *(ClientLine(process_id=process) for process in others))
    client_of, task_of = _indices(app.clients), _indices(app.tasks)
    ids = tuple(member.id for member in members)
    if len(set(ids)) < len(ids):
        raise InputError("members: a member is listed twice.", fix="List each once.")
    for member in members:
        for task in (*member.previous_active, *member.previous_standby, *member.offsets):
            if task not in task_of:
                raise InputError(
                    f"members: {member.id} names task {task!r}, which is not among the {len(task_of)} tasks.",
                    fix="List the task, or leave it out of the member.",
                )
    return app, Threads(
        ids=ids,
        client_of=np.array([client_of[member.process_id] for member in members], np.int32),
        active=[[task_of[task] for task in member.previous_active] for member in members],
        standby=[[task_of[task] for task in member.previous_standby] for member in members],
        offsets=[{task_of[t]: offset for t, offset in m.offsets.items()} for m in members],
    )


def _by_member(app: Application, threads: Threads, given: GivenTasks) -> dict[str, Any]:
    """The answer of the broker's sticky assignor: by client as always, and by member."""
    of_client = threads.client_of
    start, copies = ragged([sorted(of_client[list(each)].tolist()) for each in given.standbys])
    members: dict[str, dict[str, list[str]]] = {
        member: {"active": [], "standby": []} for member in threads.ids
    }
    for task, name in enumerate(app.tasks):
        members[threads.ids[given.active[task]]]["active"].append(name)
        for member in given.standbys[task]:
            members[threads.ids[member]]["standby"].append(name)
    return {
        "active": app.named(of_client[given.active]),
        "standby": _copies(app, start, copies),
        "members": members,
    }


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


def _initial(initial: Mapping[str, Sequence[str]], app: Application) -> Indices:
    client_of, task_of = _indices(app.clients), _indices(app.tasks)
    owner = np.full(len(app.tasks), NONE, np.int32)
    for client, tasks in initial.items():
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
