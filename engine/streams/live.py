"""
A live Kafka Streams application, out of what a snapshot tells of its group.

Clients are processes, a member is one of their threads. A task is what the members say they run; its source partitions
are those the snapshot saw it read (KIP-1071: those of its topology). Both protocols tell process, tags and tasks; only
KIP-1071 tells which sub-topologies have stores. Both tell a client's rack: the classic one that of its consumer, the
other one `client.rack` of Kafka Streams alone, not `consumer.client.rack`.

What the wire does not tell is taken, and told each time (`Running.remarks`):

* Which sub-topology a changelog belongs to (classic): the one of its size, of several the one that is known to have
  stores, because copies of its tasks or offsets of their stores are reported. `changelogs` in the configuration
  decides.
* `num.standby.replicas`: what was set for the group on the brokers (KIP-1071), else as many copies as every store has
  now; `rack.aware.assignment.tags`: all tags of the clients; `rack.aware.assignment.strategy`: `compare.presumed`. The
  configuration settles these too.
* A client's rack, where it sends none and a rule says it: what crosses racks is measured by it, Kafka does not see it.
  A broker that assigns tasks looks at no rack, so there the two are one.
* How far copies are: a running task is where it is, a standby of now counts as caught up, unless its broker knows
  better (KIP-1071, from Kafka 4.4 on). What a client without either has on disk is what it reported when it last
  joined.

Source: `SubscriptionInfo` of Kafka 4.3; KIP-441, KIP-708, KIP-925, KIP-1071.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..config import StreamsSettings
from ..metrics.pauses import pause_of
from ..metrics.racks import stray_racks
from ..model.arrays import NONE, Floats, Indices, Ints, ragged
from ..model.errors import Infeasible
from ..model.facts import Fact, note
from ..model.groups import GroupSnapshot, Member, MemberTasks, PartitionTable
from ..model.pauses import RESTORED, RESTORES
from ..model.releases import release_of
from ..model.states import GroupType
from ..records.pause_course import PauseSpan
from .model import LAG_UNKNOWN, RUNNING, Application, ClientLine, TaskLine, application, task_key
from .place import Placing
from .racks import racks_switched_off
from .settings import (
    Overlap,
    RackStrategy,
    StickyTasks,
    TaskConfig,
    TaskStrategy,
    costs_of,
    own_strategy,
    task_strategies,
)
from .sticky_tasks_server import Threads
from .stores import Stores, stores_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Running:
    """
    An application of N tasks and C clients, and who has what now.

    Attributes:
        app: The application; what each client has now is its past.
        kip_1071: Whether the broker assigns its tasks.
        assignor: Its task assignor, as configured.
        config: Its settings; the strategy is the configured one, or Kafka's default.
        configured: The strategy as configured; None when nobody said.
        owner: (N) the client that runs each task now, NONE for nobody.
        thread: (N) the member that does, as an index, NONE for nobody.
        client_of: (M) the client each member is a thread of.
        copies_start, copies: Ragged, task -> clients that keep a copy now, warm-ups included, ascending.
        to_read: (N) records that a client without a copy of a task's stores reads at most; nan unknown.
        remarks: What is not known, and what was taken instead.
        members: Its threads with what each has, as its broker or its leader meets them.
        runs: The strategy it runs, as far as can be seen (`compare.presumed`); None before that.
    """

    app: Application
    kip_1071: bool
    assignor: str
    config: TaskConfig
    configured: RackStrategy | None
    owner: Indices
    thread: Indices
    client_of: Indices
    copies_start: Ints
    copies: Indices
    to_read: Floats
    remarks: tuple[Fact, ...]
    members: Threads
    runs: TaskStrategy | None = None

    @property
    def own(self) -> StickyTasks | None:
        """The sticky assignor it runs; None with the high-availability assignor."""
        return own_strategy(self.assignor, kip_1071=self.kip_1071)

    @property
    def strategies(self) -> tuple[TaskStrategy, ...]:
        """What can place its tasks, in the order of the scoreboard."""
        return task_strategies(self.assignor, kip_1071=self.kip_1071)

    @cached_property
    def placing(self) -> Placing:
        """Where the rack strategies put its tasks."""
        return Placing(self.app, self.config)

    @cached_property
    def placing_told(self) -> Placing:
        """The same with a `client.rack` on every client whose rack is known."""
        return Placing(self.app.told, self.config)

    @cached_property
    def task_of(self) -> dict[tuple[str, int], int]:
        """The task that reads a partition, by topic and number."""
        start, read = self.app.source_start, self.app.source.tolist()
        return {
            self.app.partitions[p]: task
            for task in range(len(self.app.tasks))
            for p in read[start[task] : start[task + 1]]
        }


@dataclass(frozen=True, kw_only=True)
class KnownTasks:
    """
    The tasks of an application, whoever runs them.

    Attributes:
        ids: All of them, in Kafka's order.
        reads: Task -> the partitions it reads, as far as that is known.
        stores: Their stores.
    """

    ids: tuple[str, ...]
    reads: Mapping[str, Collection[tuple[str, int]]]
    stores: Stores


def known_tasks(group: GroupSnapshot, settings: StreamsSettings | None = None) -> KnownTasks:
    """
    What the members of a group tell of its tasks.

    Raises:
        Infeasible, InputError: As for `running`.
    """
    threads = [_tasks_of(member) for member in group.members]
    reads = _reads(group, threads)
    held = {t for each in threads for t in (*each.active, *each.standby, *each.warmup)}
    tasks = sorted({*reads, *held}, key=task_key)
    changelogs = (settings or StreamsSettings()).changelogs or {}
    stores = stores_of(group, tasks, threads, changelogs)
    return KnownTasks(ids=tuple(tasks), reads=reads, stores=stores)


def running(
    group: GroupSnapshot,
    settings: StreamsSettings | None = None,
    known: KnownTasks | None = None,
    restores: Sequence[PauseSpan] = (),
) -> Running:
    """
    The application behind a group that is stable.

    Args:
        group: A group that `places_tasks`.
        settings: What configuration says of it.
        known: What its tasks are, where its members do not tell of all: some run nowhere since one left.
        restores: For how long its threads were seen to restore 1,000,000 records.

    Raises:
        Infeasible: Its threads do not tell their process or their tasks, or their tasks contradict each other.
        InputError: A task id or process id is malformed.
    """
    settings = settings or StreamsSettings()
    threads = [_tasks_of(member) for member in group.members]
    known = known or known_tasks(group, settings)
    tasks, stores = known.ids, known.stores
    if not tasks:
        raise Infeasible(
            f"no member of {group.group} reports its tasks.",
            fix="Take the next snapshot once the application runs; a rebalancing group reports none.",
        )
    clients = list(_clients(group, threads, stores, frozenset(tasks)))
    app = application(
        [
            TaskLine(
                id=task,
                sources=sorted(known.reads.get(task, ())),
                changelogs=stores.changelogs(task),
                stateful=stores.stateful(task),
                log_size=stores.size(task),
            )
            for task in tasks
        ],
        clients,
        {**_replicas(group.partitions), **_replicas(group.stores)},
        {**_leaders(group.partitions), **_leaders(group.stores)}
        if group.follower_fetching is False
        else None,
    )
    return _running(group, settings, threads, _placed(group, app), stores, restores)


def _placed(group: GroupSnapshot, app: Application) -> Application:
    """The application with the racks that no broker has left out of what is known."""
    told = stray_racks((member.rack for member in group.members), group.partitions)
    stray = np.array([*(rack in told for rack in app.racks), False], np.bool_)
    known = app.known_rack
    return replace(app, known_rack=np.where(stray[known], NONE, known).astype(np.int32))


def _running(
    group: GroupSnapshot,
    settings: StreamsSettings,
    threads: Sequence[MemberTasks],
    app: Application,
    stores: Stores,
    restores: Sequence[PauseSpan],
) -> Running:
    place = {task: n for n, task in enumerate(app.tasks)}
    client = {process: n for n, process in enumerate(app.clients)}
    client_of = np.array([client[m.process_id or ""] for m in group.members], np.int32)
    thread = np.full(len(app.tasks), NONE, np.int32)
    copies: list[set[int]] = [set() for _ in app.tasks]
    for member, tasks in enumerate(threads):
        for task in tasks.active:
            if thread[place[task]] != NONE:
                raise Infeasible(
                    f"task {task} of {group.group} is active on two members.",
                    fix="Take the next snapshot; this one was taken while tasks were reassigned.",
                )
            thread[place[task]] = member
        for task in (*tasks.standby, *tasks.warmup):
            copies[place[task]].add(int(client_of[member]))
    owner = np.where(thread == NONE, NONE, client_of[thread]).astype(np.int32)
    start, held = ragged([sorted(each) for each in copies])
    config, remarks = _config(settings, app, [len(each) for each in copies], group)
    at_brokers = group.type is GroupType.STREAMS
    release = release_of(group.kafka_release if at_brokers else settings.kafka)
    if release:
        config = replace(config, release=release)
    per_second = settings.restore_records_per_second
    restore = pause_of(
        restores,
        configured=per_second and RESTORED / per_second,
        peers=None,
        usual=RESTORES.seconds,
    )
    config = replace(config, restore=restore)
    homeless = [app.tasks[n] for n in np.flatnonzero(owner == NONE).tolist()]
    if homeless:
        remarks.append(note("tasks_run_nowhere", homeless))
    remarks += _gaps(app, owner, stores)
    configured = settings.rack_aware_assignment_strategy
    kip_1071 = group.type is GroupType.STREAMS
    off = racks_switched_off(app, configured, kip_1071=kip_1071)
    return Running(
        app=app,
        kip_1071=kip_1071,
        assignor=settings.task_assignor,
        config=config,
        configured=configured,
        owner=owner,
        thread=thread,
        client_of=client_of,
        copies_start=start,
        copies=held,
        to_read=np.array([stores.to_read(task) for task in app.tasks], np.float64),
        remarks=(*_rack_remarks(group, app, off), *stores.remarks, *remarks),
        members=Threads(
            ids=tuple(member.id for member in group.members),
            client_of=client_of,
            active=[[place[task] for task in tasks.active] for tasks in threads],
            standby=[[place[task] for task in tasks.standby] for tasks in threads],
            offsets=[
                {place[task]: sum for task, sum in (each.offsets or {}).items() if task in place}
                for each in threads
            ],
        ),
    )


def _tasks_of(member: Member) -> MemberTasks:
    if member.tasks is None or member.process_id is None:
        raise Infeasible(
            f"member {member.id} does not report its process and tasks.",
            fix="Take the next snapshot; if it stays, its Kafka Streams is too old or its data could not be decoded.",
        )
    return member.tasks


def _reads(group: GroupSnapshot, threads: Sequence[MemberTasks]) -> dict[str, set[tuple[str, int]]]:
    """Task -> the partitions it reads, as far as a member runs it."""
    reads: dict[str, set[tuple[str, int]]] = {}
    for member, tasks in zip(group.members, threads, strict=True):
        if tasks.active and not tasks.reads:
            raise Infeasible(
                f"which partitions the tasks of member {member.id} read is not known.",
                fix="Take a new snapshot; this one is of an older evenkeel.",
            )
        for task, topic, partition in tasks.reads:
            reads.setdefault(task, set()).add((topic, partition))
    return reads


def _clients(
    group: GroupSnapshot,
    threads: Sequence[MemberTasks],
    stores: Stores,
    tasks: frozenset[str],
) -> Iterator[ClientLine]:
    """A client for each process; of what lies on its disk, what belongs to one of *tasks*."""
    by_process: dict[str, list[tuple[Member, MemberTasks]]] = {}
    for member, one in zip(group.members, threads, strict=True):
        by_process.setdefault(member.process_id or "", []).append((member, one))
    names = _names({process: [m for m, _ in those] for process, those in by_process.items()})
    by_broker = group.type is GroupType.STREAMS
    for process, those in by_process.items():
        known = {member.rack for member, _ in those}
        seen = {m.rack if by_broker or m.sends_rack else None for m, _ in those}
        active = [task for _, one in those for task in one.active]
        copies = [task for _, one in those for task in (*one.standby, *one.warmup)]
        on_disk = _on_disk([one for _, one in those], stores, tasks)
        yield ClientLine(
            process_id=process,
            name=names[process],
            threads=len(those),
            rack=seen.pop() if len(seen) == 1 else None,
            known_rack=known.pop() if len(known) == 1 else None,
            tags={name: value for _, one in those for name, value in one.tags.items()},
            lags={
                **on_disk,
                # a broker is told every minute how far copies are, a leader when their thread joined
                **{
                    task: on_disk.get(task, 0) if by_broker else 0
                    for task in filter(stores.stateful, copies)
                },
                **dict.fromkeys(filter(stores.stateful, active), RUNNING),
            },
            previous_active=active,
            previous_standby=copies,
        )


def instance_of(member: Member) -> str:
    """The client id of a member's instance: without the thread."""
    return member.client_id.split("-StreamThread-")[0]


def _names(members: Mapping[str, Sequence[Member]]) -> dict[str, str]:
    """A name for each process: its threads' client id without the thread, where no other has it; else its own."""
    ids = {process: {instance_of(member) for member in those} for process, those in members.items()}
    shared = Counter(name for each in ids.values() for name in each)
    return {
        process: min(each) if len(each) == 1 and shared[min(each)] == 1 else process
        for process, each in ids.items()
    }


def _on_disk(
    threads: Sequence[MemberTasks], stores: Stores, tasks: frozenset[str]
) -> dict[str, int]:
    """
    Task -> lag of what a process reported on its disk when its threads last told, of tasks there are.

    An offset beyond the end is no copy of that changelog: Kafka expects it to be restored from the start.
    """
    lags: dict[str, int] = {}
    for thread in threads:
        for task, offset in (thread.offsets or {}).items():
            if task not in tasks or not stores.stateful(task):
                continue
            end = (thread.ends or {}).get(task, stores.size(task))
            if offset == RUNNING:
                # what ran there then, and no longer does, had everything up to about now
                lags[task] = 0
            elif offset == LAG_UNKNOWN:
                lags[task] = LAG_UNKNOWN
            else:
                lags[task] = end if offset > end else end - max(offset, 0)
    return lags


def _replicas(table: PartitionTable | None) -> dict[tuple[str, int], list[str | None]]:
    """Partition -> racks of its replicas."""
    if table is None:
        return {}
    start, rack = table.replica_start.tolist(), table.replica_rack.tolist()
    names = [None if r == NONE else table.racks[r] for r in rack]
    keys = zip(table.names, table.partition.tolist(), strict=True)
    return {key: names[start[row] : start[row + 1]] for row, key in enumerate(keys)}


def _leaders(table: PartitionTable | None) -> dict[tuple[str, int], str | None]:
    """Partition -> rack of its leader."""
    if table is None:
        return {}
    names = [None if r == NONE else table.racks[r] for r in table.leader_rack.tolist()]
    return dict(zip(zip(table.names, table.partition.tolist(), strict=True), names, strict=True))


STANDBYS_SETTING = "streams.num.standby.replicas"
"""The broker assigns a KIP-1071 group by this setting of the group."""


def _config(
    settings: StreamsSettings, app: Application, copies: Sequence[int], group: GroupSnapshot
) -> tuple[TaskConfig, list[Fact]]:
    """The settings of the application, and what had to be guessed of them."""
    remarks: list[Fact] = []
    standbys = settings.num_standby_replicas
    if standbys is None and STANDBYS_SETTING in (own := group.settings or {}):
        standbys = int(own[STANDBYS_SETTING])
    stateful = np.flatnonzero(app.stateful).tolist()
    if standbys is None:
        standbys = min((copies[task] for task in stateful), default=0)
        if stateful:
            remarks.append(note("standbys_taken", after=standbys))
    tags = settings.rack_aware_assignment_tags
    if tags is None:
        tags = tuple(sorted({name for one in app.tags for name in one})) if standbys else ()
        if tags:
            remarks.append(note("tags_taken", tags))
    config = TaskConfig(
        num_standby_replicas=standbys,
        acceptable_recovery_lag=settings.acceptable_recovery_lag,
        max_warmup_replicas=settings.max_warmup_replicas,
        probing_rebalance_interval_seconds=settings.probing_rebalance_interval_ms / 1000,
        tags=tags,
        rack_as_tag=settings.rack_as_tag,
        strategy=settings.rack_aware_assignment_strategy or RackStrategy.NONE,
        costs=costs_of(
            settings.task_assignor,
            settings.rack_aware_assignment_traffic_cost,
            settings.rack_aware_assignment_non_overlap_cost,
        ),
        costs_told=None
        not in (
            settings.rack_aware_assignment_traffic_cost,
            settings.rack_aware_assignment_non_overlap_cost,
        ),
        overlap=Overlap(settings.overlap),
    )
    return config, remarks


def _gaps(app: Application, owner: Indices, stores: Stores) -> Iterator[Fact]:
    silent = (np.diff(app.source_start) == 0) & (owner != NONE)
    if silent.any():
        yield note("tasks_read_unknown", [app.tasks[n] for n in np.flatnonzero(silent).tolist()])
    used = [app.partitions[p] for p in np.unique(app.changelog).tolist()]
    endless = [f"{topic}-{number}" for topic, number in used if (topic, number) not in stores.ends]
    if endless:
        yield note("changelog_ends_unknown", endless, partitions=len(endless))


def _rack_remarks(group: GroupSnapshot, app: Application, off: Fact | None) -> Iterator[Fact]:
    """Clients whose rack is not known, or known to us alone; *off* says already who sends none."""
    racks: dict[str, set[str | None]] = {}
    for member in group.members:
        racks.setdefault(member.process_id or "", set()).add(member.rack)
    found = [racks[process] for process in app.clients]
    several = [name for name, each in zip(app.names, found, strict=True) if len(each) > 1]
    if several:
        yield note("clients_in_several_racks", several)
    by_broker = group.type is GroupType.STREAMS
    silent = [name for name, each in zip(app.names, found, strict=True) if each == {None}]
    if silent and off is None:
        yield note("protocol_tells_no_rack" if by_broker else "clients_tell_no_rack", silent)
    unseen = (app.client_rack == NONE) & (app.known_rack != NONE)
    if unseen.any():
        yield note("racks_known_by_rule", [app.names[c] for c in np.flatnonzero(unseen).tolist()])


__all__ = ["KnownTasks", "Running", "instance_of", "known_tasks", "running"]
