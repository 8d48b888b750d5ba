"""
The group of an application after a change, as a snapshot would show it: tasks given, an instance gone, new or back.

An instance is a process, and leaves or joins with all its threads. What it runs and keeps lies on its disk, and nothing
else. What is known of tasks (`live.KnownTasks`) and of settings (`pinned`) stays known whoever leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from ..assignors.interface.rejoin import another_id
from ..config import StreamsSettings
from ..model.arrays import NONE
from ..model.groups import GroupSnapshot, Member, MemberTasks
from .compare import PlacementOutcome
from .live import Running
from .model import RUNNING
from .threads import thread_of


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


def given(group: GroupSnapshot, application: Running, placed: PlacementOutcome) -> GroupSnapshot:
    """
    The group once a placement is in force and settled.

    Args:
        group: The group.
        application: The application behind it.
        placed: Who has what in the end.
    """
    app, client_of = application.app, application.client_of
    thread = placed.thread
    if thread is None:
        thread = thread_of(placed.owner, client_of, application.thread)
    active: list[list[str]] = [[] for _ in group.members]
    standby: list[list[str]] = [[] for _ in group.members]
    for task, owner in enumerate(thread.tolist()):
        if owner != NONE:
            active[owner].append(app.tasks[task])
    threads = {
        client: np.flatnonzero(client_of == client).tolist() for client in set(client_of.tolist())
    }
    for task, name in enumerate(app.tasks):
        for client in placed.copies[
            placed.copies_start[task] : placed.copies_start[task + 1]
        ].tolist():
            fewest = min(threads[client], key=lambda one: len(active[one]) + len(standby[one]))
            standby[fewest].append(name)
    reads: list[list[tuple[str, str, int]]] = [[] for _ in group.members]
    task_of = np.repeat(np.arange(len(app.tasks)), np.diff(app.source_start)).tolist()
    for task, partition in zip(task_of, app.source.tolist(), strict=True):
        if thread[task] != NONE:
            reads[thread[task]].append((app.tasks[task], *app.partitions[partition]))
    members = tuple(
        replace(member, tasks=_has(member, active[n], standby[n], reads[n]))
        for n, member in enumerate(group.members)
    )
    return replace(group, members=members)


def without(group: GroupSnapshot, process: str) -> GroupSnapshot:
    """The group without an instance."""
    stay = tuple(member for member in group.members if member.process_id != process)
    return replace(group, members=stay)


def joined(
    group: GroupSnapshot, threads: Sequence[Member], *, name: str = "", back: bool = False
) -> GroupSnapshot:
    """
    The group with one more instance, which has nothing as yet.

    Args:
        group: The group.
        threads: Those of the instance that it is like.
        name: What tells it from others that are like it.
        back: Whether it is that instance again, with what lies on its disk; else it is a new one.
    """
    held = [t for one in threads if one.tasks for t in (*one.tasks.active, *one.tasks.standby)]
    process = threads[0].process_id or ""
    if not back:
        process = str(uuid5(NAMESPACE_OID, f"{process}/{name}"))
    offsets = dict.fromkeys(held, RUNNING) if back else None
    more = tuple(
        replace(
            one,
            id=another_id(f"{one.id}{name}", number=int(back)),
            process_id=process,
            tasks=replace(_has(one, (), ()), offsets=offsets),
        )
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
        replace(own[0], id=another_id(own[0].id, number=n), tasks=_has(own[0], (), ()))
        for n in range(len(own), count)
    ]
    stay = [member for member in group.members if member.process_id != process]
    return replace(group, members=(*stay, first, *others, *more))


def _has(
    member: Member,
    active: Sequence[str],
    standby: Sequence[str],
    reads: Sequence[tuple[str, str, int]] = (),
) -> MemberTasks:
    tags = member.tasks.tags if member.tasks else {}
    return MemberTasks(active=tuple(active), standby=tuple(standby), reads=tuple(reads), tags=tags)
