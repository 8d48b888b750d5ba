"""
An application after a change: tasks given, an instance gone, new or back.

An instance is a process, and leaves or joins with all its threads. What it runs and keeps lies on its disk, and nothing
else. What is known of tasks (`live.KnownTasks`) and of settings (`pinned`) stays known whoever leaves.

`without`, `joined` and `with_threads` change the group, as a snapshot would show it then; `settled`, `gone` and `come`
change the application behind it, where nothing but who is there and has what is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from ..assignors.interface.rejoin import another_id
from ..config import StreamsSettings
from ..model.arrays import NONE, Ints, starts_of
from ..model.groups import GroupSnapshot, Member, MemberTasks
from .compare import PlacementOutcome
from .live import Running
from .model import RUNNING, holding, process_key
from .sticky_tasks_server import Threads
from .threads import by_client


def instances(group: GroupSnapshot) -> dict[str, list[Member]]:
    """The threads of each instance by its process id, in the order in which the broker lists them."""
    found: dict[str, list[Member]] = {}
    for member in group.members:
        found.setdefault(member.process_id or "", []).append(member)
    return found


def pinned(settings: StreamsSettings | None, application: Running) -> StreamsSettings:
    """The settings of an application with what was taken for those that nobody told, so that it stays so."""
    config, told = application.config, settings or StreamsSettings()
    return told.model_copy(
        update={
            "num_standby_replicas": config.num_standby_replicas,
            "rack_aware_assignment_tags": config.tags,
            "task_assignor": application.assignor,
        }
    )


def without(group: GroupSnapshot, process: str) -> GroupSnapshot:
    """The group without an instance."""
    stay = tuple(member for member in group.members if member.process_id != process)
    return replace(group, members=stay)


def joined(group: GroupSnapshot, threads: Sequence[Member], name: str) -> GroupSnapshot:
    """
    The group with one more instance, which has nothing as yet.

    Args:
        group: The group.
        threads: Those of the instance that it is like.
        name: What tells it from others that are like it.
    """
    process = _another_process(threads[0].process_id or "", name)
    more = tuple(
        replace(one, id=another_id(f"{one.id}{name}"), process_id=process, tasks=_idle(one))
        for one in threads
    )
    return replace(group, members=(*group.members, *more))


def with_threads(group: GroupSnapshot, process: str, count: int) -> GroupSnapshot:
    """The group once an instance has so many threads, at least one: what those had that are gone is on its disk."""
    own = instances(group)[process]
    gone = [t for one in own[count:] if one.tasks for t in (*one.tasks.active, *one.tasks.standby)]
    first, *others = own[:count]
    if gone and first.tasks is not None:
        on_disk = {**(first.tasks.offsets or {}), **dict.fromkeys(gone, RUNNING)}
        first = replace(first, tasks=replace(first.tasks, offsets=on_disk))
    more = [
        replace(own[0], id=another_id(own[0].id, number=n), tasks=_idle(own[0]))
        for n in range(len(own), count)
    ]
    stay = [member for member in group.members if member.process_id != process]
    return replace(group, members=(*stay, first, *others, *more))


def _idle(member: Member) -> MemberTasks:
    return MemberTasks(
        active=(), standby=(), reads=(), tags=member.tasks.tags if member.tasks else {}
    )


def _another_process(process: str, name: str = "") -> str:
    return str(uuid5(NAMESPACE_OID, f"{process}/{name}"))


def settled(placed: PlacementOutcome) -> Running:
    """The application once a placement is in force and everything is restored; no remark is worked out anew."""
    running, threads = placed.application, placed.threads
    active: list[list[int]] = [[] for _ in running.client_of]
    standby: list[list[int]] = [[] for _ in running.client_of]
    for task, thread in enumerate(threads.tolist()):
        if thread != NONE:
            active[thread].append(task)
    of_client = by_client(running.client_of)
    copied = np.repeat(np.arange(len(threads)), np.diff(placed.copies_start)).tolist()
    for task, client in zip(copied, placed.copies.tolist(), strict=True):
        fewest = min(of_client[client], key=lambda one: len(active[one]) + len(standby[one]))
        standby[fewest].append(task)
    return replace(
        running,
        app=holding(running.app, placed.owner, placed.copies_start, placed.copies),
        owner=placed.owner,
        thread=threads,
        copies_start=placed.copies_start,
        copies=placed.copies,
        members=replace(
            running.members, active=active, standby=standby, offsets=[{} for _ in active]
        ),
    )


def gone(running: Running, client: int) -> Running:
    """The application without a client and its threads; what only it had runs nowhere."""
    return _of_clients(running, np.delete(np.arange(len(running.app.clients)), client))


def come(running: Running, like: Running, client: int, *, back: bool = False) -> Running:
    """
    The application with one more client, which runs nothing as yet.

    Args:
        running: The application.
        like: The same application at another time.
        client: The client of *like* that it has the threads, the rack and the tags of.
        back: Whether it is that one again, with what it had then on its disk; else it is a new one with nothing.
    """
    app, other, held = running.app, like.app, np.zeros(0, np.int32)
    process = other.clients[client] if back else _another_process(other.clients[client])
    if back:
        on_disk = slice(*other.lag_start[client : client + 2].tolist())
        held = other.lag_task[on_disk]
    threads = np.flatnonzero(like.client_of == client).tolist()
    ids = [another_id(like.members.ids[thread], number=int(back)) for thread in threads]
    # its first thread reports what lies on the disk; how far that is counts among such reports only
    told: list[dict[int, int]] = [dict.fromkeys(held.tolist(), 0), *({} for _ in threads[1:])]
    members = running.members
    more = replace(
        running,
        app=replace(
            app,
            clients=(*app.clients, process),
            names=(*app.names, other.names[client]),
            threads=np.append(app.threads, other.threads[client]),
            client_rack=np.append(app.client_rack, other.client_rack[client]),
            known_rack=np.append(app.known_rack, other.known_rack[client]),
            tags=(*app.tags, other.tags[client]),
            lag_start=np.append(app.lag_start, len(app.lag) + len(held)),
            lag_task=np.append(app.lag_task, held),
            lag=np.append(app.lag, np.zeros(len(held), np.int64)),
            active_start=np.append(app.active_start, len(app.active_task)),
            standby_start=np.append(app.standby_start, len(app.standby_task)),
        ),
        client_of=np.append(running.client_of, np.full(len(threads), len(app.clients), np.int32)),
        members=replace(
            members,
            ids=(*members.ids, *ids),
            active=[*members.active, *([] for _ in threads)],
            standby=[*members.standby, *([] for _ in threads)],
            offsets=[*(members.offsets or ({} for _ in members.ids)), *told],
        ),
    )
    keys = [process_key(one) for one in more.app.clients]
    return _of_clients(more, np.array(sorted(range(len(keys)), key=keys.__getitem__)))


def _of_clients(running: Running, clients: Ints) -> Running:
    """The application of some of its clients, in another order."""
    number = np.full(len(running.app.clients) + 1, NONE, np.int32)
    number[clients] = np.arange(len(clients))
    client_of = number[running.client_of]
    threads = np.flatnonzero(client_of != NONE)
    thread_number = np.full(len(client_of) + 1, NONE, np.int32)
    thread_number[threads] = np.arange(len(threads))
    copies, task = number[running.copies], np.arange(len(running.owner))
    copied = np.repeat(task, np.diff(running.copies_start))[copies != NONE]
    members, kept = running.members, threads.tolist()
    return replace(
        running,
        app=running.app.of_clients(clients),
        owner=number[running.owner],
        thread=thread_number[running.thread],
        client_of=client_of[threads],
        copies_start=starts_of(np.bincount(copied, minlength=len(task))),
        copies=copies[copies != NONE],
        members=Threads(
            ids=tuple(members.ids[thread] for thread in kept),
            client_of=client_of[threads],
            active=[members.active[thread] for thread in kept],
            standby=[members.standby[thread] for thread in kept],
            offsets=[members.offsets[thread] for thread in kept] if members.offsets else (),
        ),
    )
