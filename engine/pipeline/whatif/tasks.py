"""
What would become of an application of Kafka Streams whose instances, threads, racks, topics or settings were others.

An instance leaves or joins with all its threads; who joins has nothing on its disk. Strategies are asked about the
group as a snapshot would show it then, by `streams.compare`; moves and stores count from today.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...config import StreamsSettings
from ...model.arrays import Flags, Floats
from ...model.errors import EvenkeelError, InputError, no_strategy
from ...model.facts import Fact, note, reason
from ...model.groups import GroupSnapshot, Member, PartitionTable
from ...records.pause_course import PauseSpan
from ...streams.after_change import instances, joined, pinned, with_threads, without
from ...streams.compare import PlacementOutcome, outcome, outcomes, present, presumed
from ...streams.live import KnownTasks, Running, known_tasks, running
from ...streams.restoring import restoring
from ...streams.settings import TaskStrategy
from ...streams.stores import subtopology_of
from .changes import Change, Grows, HasThreads, Joins, Leaves, Stands, racks_lost
from .lost_racks import Left, assumed_of, left_of

Rates = Mapping[tuple[str, int], float]
"""(topic, partition) -> offsets/s that arrive, as far as that is known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskOutcome:
    """
    Where a strategy would put the tasks, or why there is no telling.

    Attributes:
        strategy: It; None for what the application has now.
        is_running: Whether the application runs it.
        application: The application after the changes.
        placed: Where its tasks are in the end; None without an answer.
        refused: Why there is none.
        before: As *has*, of today.
        log_bytes: (topic, partition) of a changelog -> what it takes on its leader's disk, where that is known.
    """

    strategy: TaskStrategy | None
    is_running: bool
    application: Running
    placed: PlacementOutcome | None
    refused: Fact | None = None
    before: Mapping[str, Sequence[str | None]]
    log_bytes: Mapping[tuple[str, int], int]

    @cached_property
    def has(self) -> dict[str, list[str | None]]:
        """Task -> the process that runs it in the end, None for nobody, and those that keep a copy of its stores."""
        return {} if self.placed is None else _has(self.application, self.placed)

    @property
    def moves(self) -> list[tuple[str, str, str]]:
        """(task, from, to) of those that change processes from today."""
        return [
            (task, old, new)
            for task, (new, *_) in self.has.items()
            if new and (old := self.before.get(task, [None])[0]) and old != new
        ]

    @cached_property
    def restoring(self) -> dict[str, list[int]]:
        """Process -> the numbers of the tasks whose stores it has to build anew."""
        app = self.application.app
        found: dict[str, list[int]] = {process: [] for process in app.clients}
        for n in np.flatnonzero(app.stateful).tolist():
            for process in self.has.get(app.tasks[n], ()):
                if process is not None and process not in self.before.get(app.tasks[n], ()):
                    found[process].append(n)
        return found

    @property
    def restored(self) -> list[int]:
        """Offsets of each store that an instance has to build anew."""
        return [int(self._size[n]) for tasks in self.restoring.values() for n in tasks]

    @cached_property
    def _size(self) -> Floats:
        """(N) records of each task's stores; where the log start is not known, all that ever were."""
        return np.fmin(self.application.to_read, self.application.app.log_size)

    @property
    def restore_seconds(self) -> float | None:
        """For how long tasks pause at most until their stores are restored; None unknown."""
        longest = 0.0 if self.placed is None else restoring(self.placed).longest
        return None if np.isnan(longest) else longest

    def to_restore(self, tasks: Sequence[int]) -> tuple[int, int | None]:
        """Offsets of the changelogs of some tasks, and what they take on disks; None where one's size is not known."""
        app, start = self.application.app, self.application.app.changelog_start
        logs = [app.changelog[start[n] : start[n + 1]].tolist() for n in tasks]
        sizes = [self.log_bytes.get(app.partitions[p]) for each in logs for p in each]
        known = [size for size in sizes if size is not None]
        told = all(logs) and len(known) == len(sizes)
        return sum(int(self._size[n]) for n in tasks), sum(known) if told else None

    def loads(self, rates: Rates) -> dict[str, tuple[int, int, float | None]]:
        """Process -> its tasks, its copies, and the offsets/s that arrive at it; None where that is not known."""
        app, start = self.application.app, self.application.app.source_start
        arrives = [
            [rates.get(app.partitions[p]) for p in app.source[start[n] : start[n + 1]].tolist()]
            for n in range(len(app.tasks))
        ]
        found: dict[str, tuple[int, int, float | None]] = {}
        for process in app.clients:
            own = [
                n for n, task in enumerate(app.tasks) if self.has.get(task, [None])[0] == process
            ]
            rate = [each for n in own for each in arrives[n]]
            known = [each for each in rate if each is not None]
            kept = sum(process in copies for _, *copies in self.has.values())
            found[process] = (len(own), kept, sum(known) if len(known) == len(rate) else None)
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskAnswer:
    """
    What would become of an application.

    Attributes:
        group: It, as it is.
        names: Process -> what people call the instance, those that join included.
        today: What it has now.
        outcomes: One per strategy, the one that it runs first.
        rates: What arrives after the changes.
        lost: What is lost with instances and racks, and what goes on from a copy elsewhere.
        assumed: What was assumed.
    """

    group: GroupSnapshot
    names: Mapping[str, str]
    today: TaskOutcome
    outcomes: tuple[TaskOutcome, ...]
    rates: Rates
    lost: tuple[Fact, ...]
    assumed: tuple[Fact, ...]


def answer_of_tasks(
    group: GroupSnapshot,
    settings: StreamsSettings | None,
    changes: Sequence[Change],
    told: Mapping[str, Any],
    names: Mapping[str, str],
    rates: Rates,
    named: Collection[str] = (),
    restores: Sequence[PauseSpan] = (),
) -> TaskAnswer:
    """
    What would become of an application.

    Args:
        group: It as it is; it places tasks.
        settings: What configuration says of it.
        changes: What is different; members are processes.
        told: The settings that are different.
        names: Process -> what people call the instance.
        rates: What arrives now.
        named: Names of the strategies that are asked; none: those that it could run.
        restores: As for `running`.

    Raises:
        Infeasible: Its members do not tell their tasks.
        InputError: A change would stop it, or a strategy is none of its.
    """
    live = running(group, settings)
    seen = presumed(live, outcomes(live))
    before = _has(live, present(live))
    then, known, called = _changed(group, known_tasks(group, settings), changes, dict(names))
    supposed = StreamsSettings.model_validate(pinned(settings, seen).model_dump() | dict(told))
    application = running(then, supposed, known, restores)
    runs = (
        application.own or (supposed.rack_aware_assignment_strategy if told else None) or seen.runs
    )
    if unknown := set(named) - {one.value for one in application.strategies}:
        where = f"group {group.group} assigns tasks: "
        raise no_strategy(min(unknown), application.strategies, at=where)
    could = application.strategies if application.own is None else (application.own,)
    chosen = [
        one for one in application.strategies if (one.value in named if named else one in could)
    ]
    sizes = _log_bytes(group)
    found = [_outcome(application, one, one is runs, before, sizes) for one in chosen]
    now = TaskOutcome(
        strategy=None,
        is_running=False,
        application=live,
        placed=present(live),
        before=before,
        log_bytes=sizes,
    )
    racks = racks_lost(changes)
    left = left_of(group.partitions, racks)
    stores = None if group.stores is None else left_of(group.stores, racks)
    return TaskAnswer(
        group=group,
        names=called,
        today=now,
        outcomes=tuple(sorted(found, key=lambda one: not one.is_running)),
        rates={**_spread(rates, changes), **dict.fromkeys(_keys(left.table, left.dead), 0.0)},
        lost=tuple(_lost(now, changes, left, stores)),
        assumed=(
            *seen.remarks,
            *assumed_of(left, _rackless(then, names)),
            *_assumed(application, changes, told, called),
            *(_restored(application) if any(one.restored for one in found) else ()),
        ),
    )


def by_instances(group: GroupSnapshot) -> GroupSnapshot:
    """An application with its instances for members, by process id, so that changes can name them."""
    members = tuple(
        replace(
            threads[0],
            id=process,
            client_id=threads[0].client_id.split("-StreamThread-")[0],
            instance_id=None,
            rack=threads[0].rack if len({one.rack for one in threads}) == 1 else None,
        )
        for process, threads in instances(group).items()
    )
    return replace(group, members=members)


def arriving(group: GroupSnapshot, production: Floats) -> Rates:
    """What arrives in the partitions of a group: (n) offsets/s, nan where that is not known."""
    table = group.partitions
    known = ~np.isnan(production)
    return dict(zip(_keys(table, known), production[known].tolist(), strict=True))


def _keys(table: PartitionTable, rows: Flags) -> list[tuple[str, int]]:
    """(topic, partition) of some rows."""
    return [(table.names[n], int(table.partition[n])) for n in np.flatnonzero(rows).tolist()]


def _log_bytes(group: GroupSnapshot) -> dict[tuple[str, int], int]:
    if (table := group.stores) is None:
        return {}
    held = table.log_bytes
    return dict(zip(_keys(table, held.known), held.values[held.known].tolist(), strict=True))


def _lost(
    now: TaskOutcome, changes: Sequence[Change], left: Left, stores: Left | None
) -> Iterator[Fact]:
    """What nobody can read, stores of which whoever leaves had all copies, and those that have one elsewhere."""
    gone = {change.member for change in changes if isinstance(change, Leaves)}
    app = now.application.app
    ended, kept = list[int](), list[int]()
    for n in np.flatnonzero(app.stateful).tolist():
        owner, *copies = now.before[app.tasks[n]]
        if owner in gone:
            (ended if gone.issuperset(filter(None, copies)) else kept).append(n)
    if dead := left.names(left.dead & left.table.assignable):
        yield note("partitions_dead", dead)
    if ended:
        yield note("stores_lost", [app.tasks[n] for n in ended], after=now.to_restore(ended)[0])
    if kept:
        yield note("stores_go_on", [app.tasks[n] for n in kept])
    if stores is not None and stores.dead.any():
        yield note("changelogs_dead", stores.names(stores.dead))


def _rackless(group: GroupSnapshot, names: Mapping[str, str]) -> list[str]:
    """Those of the instances that are there now and stay of which no one rack is known."""
    racks = {process: {one.rack for one in each} for process, each in instances(group).items()}
    return [
        names[process]
        for process, known in racks.items()
        if process in names and (len(known) > 1 or None in known)
    ]


def _has(application: Running, placed: PlacementOutcome) -> dict[str, list[str | None]]:
    app, start, copies = application.app, placed.copies_start, placed.copies
    clients = [*app.clients, None]
    return {
        task: [clients[c] for c in (owner, *copies[start[n] : start[n + 1]].tolist())]
        for n, (task, owner) in enumerate(zip(app.tasks, placed.owner.tolist(), strict=True))
    }


def _outcome(
    application: Running,
    strategy: TaskStrategy,
    is_running: bool,
    before: Mapping[str, Sequence[str | None]],
    log_bytes: Mapping[tuple[str, int], int],
) -> TaskOutcome:
    placed, refused = None, None
    try:
        placed = outcome(application, strategy)
    except EvenkeelError as problem:
        refused = reason("refused", quote=str(problem))
    return TaskOutcome(
        strategy=strategy,
        is_running=is_running,
        application=application,
        placed=placed,
        refused=refused,
        before=before,
        log_bytes=log_bytes,
    )


def _changed(
    group: GroupSnapshot, known: KnownTasks, changes: Sequence[Change], names: dict[str, str]
) -> tuple[GroupSnapshot, KnownTasks, dict[str, str]]:
    """The group after changes made in their order, its tasks, and what its instances are called."""
    process_of: dict[str, str] = {}
    like = next(iter(instances(group).values()))
    for change in changes:
        match change:
            case Leaves():
                group = without(group, change.member)
            case Joins():
                group = joined(group, _bare(like), change.member)
                process = group.members[-1].process_id or ""
                process_of[change.member], names[process] = process, change.member
            case Stands():
                process = process_of.get(change.member, change.member)
                group = replace(
                    group,
                    members=tuple(
                        replace(one, rack=change.rack, rack_source="subscription")
                        if one.process_id == process
                        else one
                        for one in group.members
                    ),
                )
            case HasThreads():
                process = process_of.get(change.member, change.member)
                group = with_threads(group, process, change.threads)
            case Grows():
                known = _grown(group, known, change)
    if racks := racks_lost(changes):
        stores = group.stores and left_of(group.stores, racks).table
        partitions = left_of(group.partitions, racks).table
        group = replace(group, partitions=partitions, stores=stores)
    return group, known, names


def _bare(threads: Sequence[Member]) -> list[Member]:
    return [replace(one, rack=None, rack_source=None, instance_id=None) for one in threads]


def _grown(group: GroupSnapshot, known: KnownTasks, change: Grows) -> KnownTasks:
    """
    The tasks once a topic has more partitions: each sub-topology that reads it has one for each.

    Raises:
        InputError: One of them keeps stores: Kafka Streams stops, as their changelogs have fewer partitions.
    """
    parts = {subtopology_of(t) for t, read in known.reads.items() if change.topic in dict(read)}
    if kept := sorted(part for part in parts if part in known.stores.having):
        raise InputError(
            f"--partitions {change.topic}={change.partitions}: sub-topology {kept[0]} of {group.group} keeps stores of"
            " what it reads there, and Kafka Streams stops where their changelogs have another number of partitions.",
            fix="Leave it out: to get more partitions, an application is reset (kafka-streams-application-reset).",
        )
    reads = {task: set(read) for task, read in known.reads.items()}
    for part in parts:
        for number in range(change.partitions):
            reads.setdefault(f"{part}_{number}", set()).add((change.topic, number))
    return replace(
        known, ids=tuple({**dict.fromkeys(known.ids), **dict.fromkeys(reads)}), reads=reads
    )


def _spread(rates: Rates, changes: Sequence[Change]) -> Rates:
    """What arrives: of a topic that grows the same in each of its partitions, for keys hash anew."""
    spread = dict(rates)
    for change in changes:
        if isinstance(change, Grows):
            total = sum(rate for (topic, _), rate in rates.items() if topic == change.topic)
            share = total / change.partitions
            spread |= {(change.topic, number): share for number in range(change.partitions)}
    return spread


def _restored(application: Running) -> Iterator[Fact]:
    config = application.config
    yield note(
        "restore_rate", bound=config.restore_records_per_second, quote=config.restore.basis.value
    )


def _assumed(
    application: Running,
    changes: Sequence[Change],
    told: Mapping[str, Any],
    names: Mapping[str, str],
) -> Iterator[Fact]:
    leave = [change for change in changes if isinstance(change, Leaves)]
    for measure, picked in (("members_leave", False), ("last_members_leave", True)):
        if gone := [names[change.member] for change in leave if change.picked is picked]:
            yield note(measure, gone)
    if join := [change.member for change in changes if isinstance(change, Joins)]:
        yield note("instances_join", join)
        placed = {change.member for change in changes if isinstance(change, Stands)}
        if nowhere := [name for name in join if name not in placed]:
            yield note("members_join_nowhere", nowhere)
    if any(isinstance(change, Grows) for change in changes):
        yield note("tasks_grow", after=len(application.app.tasks))
    if told:
        yield note("settings_supposed", [f"{name}={value}" for name, value in told.items()])
    if changes or told:
        yield note("tasks_caught_up")
