"""
Kafka's broker-side sticky assignor of tasks: what assigns the tasks of every KIP-1071 application.

A broker gives tasks to members, the threads of clients, one by one. It knows of each client its members and what they
have in the target assignment, and of each task its sub-topology, its partition and whether it has a store.

Promises, the first before the second:

1. Every task is active on one member; no client has two copies of a task, the active one included; a task with stores
   has as many standbys as are configured, or as many as there are other clients.
2. A task stays active on the member that has it, as long as that member has fewer tasks than its share: all tasks over
   all members, rounded up, worked out anew for the others each time a member has its share.
3. Else it goes to a member that kept a copy of it, again below its share. From Kafka 4.4 on a member that reports
   offsets of its stores counts, too; copies that are assigned and further along come first.
4. What is left goes one by one to the client with the fewest tasks per thread, there to the member with the fewest.
5. Standbys likewise: to the member that had the task active, to one that kept a copy, to the least loaded client. Their
   share counts all tasks, active and standby.

Keeping goes before evenness, evenness only bounds it. Equals stand in the order of Java's maps and heaps.

One thread in each of two clients, and everything on the first; its share is two, so two tasks move:

>>> from evenkeel.engine.streams.model import ClientLine, TaskLine, application
>>> clients = [f"00000000-0000-0000-0000-00000000000{n}" for n in range(2)]
>>> app = application(
...     [TaskLine(id=f"0_{p}", sources=[("t", p)], stateful=True) for p in range(4)],
...     [ClientLine(process_id=client) for client in clients],
... )
>>> threads = Threads(
...     ids=("m0", "m1"), client_of=np.array([0, 1], np.int32), active=((0, 1, 2, 3), ()), standby=((), ())
... )
>>> given = assign_sticky_server(app, threads, 1)
>>> given.active.tolist(), given.standbys
([0, 0, 1, 1], ((1,), (1,), (0,), (0,)))

Cost: O(tasks x (standbys + log clients)), as arrays and heaps in plain Python: 10,000 tasks on 1,000 members in a fifth
of a second. Source: `org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor` and `ProcessState` of
Kafka 4.2 to 4.4 (reworked in 4.2 by KAFKA-19478 and KAFKA-19661: brokers of 4.1 assign otherwise; KAFKA-20719 in 4.4).

What it does not do: it looks at no rack and no client tag, warms nothing up, and moves a task with its store at once.
Up to 4.3 it looks at no offset, and a member that comes back under another id has no past.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..assignors.kit.java_order import Hashes, bucket_order, bucket_orders, capacity, string_hashes
from ..model.arrays import NONE, Indices, ragged
from ..model.errors import Infeasible
from ..model.releases import OFFSETS_COUNT, USUAL, Release
from .java import Queue
from .model import Application


@dataclass(frozen=True, kw_only=True, eq=False)
class Threads:
    """
    The M members of an application as its broker sees them.

    Attributes:
        ids: Member ids, in the order in which the broker lists them.
        client_of: (M) the client each is a thread of.
        active, standby: (M) the tasks each has in the target assignment, as indices.
        offsets: (M) task -> sum of the restored offsets that each has reported; empty if nobody has.
    """

    ids: tuple[str, ...]
    client_of: Indices
    active: Sequence[Sequence[int]]
    standby: Sequence[Sequence[int]]
    offsets: Sequence[Mapping[int, int]] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenTasks:
    """
    What members get.

    Attributes:
        active: (N) the member each task is active on.
        standbys: (N) the members that keep a copy, in the order in which they were given it.
    """

    active: Indices
    standbys: tuple[tuple[int, ...], ...]


def assign_sticky_server(
    app: Application, threads: Threads, standbys: int, release: Release = USUAL
) -> GivenTasks:
    """
    Give every task to a member, and its copies to others.

    Args:
        app: The application; of its clients only the process ids count, as text.
        threads: Their members. A client without a member gets nothing.
        standbys: `streams.num.standby.replicas` of the group.
        release: Of the brokers.

    Raises:
        Infeasible: There are tasks and no members (Kafka: TaskAssignorException).
    """
    if app.tasks and not threads.ids:
        raise Infeasible(
            f"there are {len(app.tasks)} tasks and no member to run them.",
            fix="Start at least one instance of the application.",
        )
    giving = _Giving(app, threads, standbys, by_offsets=release >= OFFSETS_COUNT)
    giving.give_active()
    if standbys:
        giving.give_standbys()
    return GivenTasks(
        active=np.array(giving.owner, np.int32), standbys=tuple(map(tuple, giving.standbys))
    )


class _Share:
    """How many tasks a member may have, given who has had its share already."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self.of_each = self._share()

    def note(self, count: int) -> None:
        """A member has *count* tasks now; if that is its share, the others share what is left."""
        if count == self.of_each:
            self._members -= 1
            self._tasks -= count
            self.of_each = self._share()

    def _share(self) -> int:
        return math.ceil(self._tasks / self._members) if self._members else 0


class _Giving:
    """Who has what, as it is being worked out; clients, members and tasks are indices."""

    def __init__(
        self, app: Application, threads: Threads, standbys: int, *, by_offsets: bool
    ) -> None:
        members, tasks = len(threads.ids), len(app.tasks)
        self.wanted, self.by_offsets = standbys, by_offsets
        self.client_of: list[int] = threads.client_of.tolist()
        self.stateful = np.flatnonzero(app.stateful).tolist()
        self.active_share = _Share(tasks, members)
        self.share = _Share(tasks + standbys * len(self.stateful), members)
        self.owner = [NONE] * tasks
        self.standbys: list[list[int]] = [[] for _ in range(tasks)]
        self.count = [0] * members
        self.load = [0.0] * len(app.clients)
        self._total = [0] * len(app.clients)
        self._has: list[set[int]] = [set() for _ in app.clients]
        hashes = string_hashes(threads.ids)
        walked = bucket_order(hashes, capacity(members)).tolist()
        self._had, self._kept = _past(threads, walked, tasks)
        if by_offsets:
            self._kept = _by_offsets(threads, walked, self._kept)
        self._clients, self._members = _walked(app, threads, hashes, walked, late=by_offsets)
        self._least: list[Queue | None] = [None] * len(app.clients)
        named = (task.rpartition("_") for task in app.tasks)
        self._key = [(name, int(number)) for name, _, number in named]

    def give_active(self) -> None:
        """Each task to whom it was active on, who kept a copy, or the least loaded client, in this order."""
        left = sorted(range(len(self.owner)), key=self._across)
        left = [task for task in left if not self._given(task, self._had[task])]
        left = [task for task in left if not self._given(task, self._closest(self._kept[task]))]
        queue = self._by_load()
        for task in sorted(left, key=self._along):
            client = queue.take()
            self._give_least(client, task)
            queue.add(client)

    def _given(self, task: int, member: int) -> bool:
        """Whether the member may have the task; if so it gets it."""
        if member == NONE or self.count[member] >= self.active_share.of_each:
            return False
        self._give(member, task, active=True)
        self._least[self.client_of[member]] = None
        return True

    def give_standbys(self) -> None:
        """Copies to whom the task was active on, who kept one, or the least loaded client, in this order."""
        short = []
        for task in sorted(self.stateful, key=self._across, reverse=True):
            missing = self.wanted
            while missing and self._given_standby(task):
                missing -= 1
            short.append((task, missing))
        queue = self._by_load()
        for task, missing in sorted(short, key=lambda one: self._along(one[0]), reverse=True):
            for _ in range(missing):
                if not self._given_least(queue, task):
                    break

    def _given_standby(self, task: int) -> bool:
        """Whether a member that had the task, in whatever role, may keep a copy of it; if so it gets one."""
        for member in (self._had[task], self._closest(self._kept[task], task)):
            if member == NONE or task in self._has[self.client_of[member]]:
                continue
            if self.count[member] < self.share.of_each:
                self._give(member, task, active=False)
                self._least[self.client_of[member]] = None
                return True
        return False

    def _given_least(self, queue: Queue, task: int) -> bool:
        """Whether a client has no copy of the task yet; if so the least loaded one gets one."""
        passed = []
        while queue:
            client = queue.take()
            passed.append(client)
            if task not in self._has[client]:
                self._give_least(client, task, active=False)
                break
        else:
            client = NONE
        for one in reversed(passed):
            queue.add(one)
        return client != NONE

    def _closest(self, members: Sequence[int], standby: int = NONE) -> int:
        """
        Of members that kept a copy, one whose client has less than the first's and that has less itself.

        NONE for none, and up to Kafka 4.3 when the client of the first has the *standby* already, whoever else kept it.
        """
        if self.by_offsets:
            members = [each for each in members if standby not in self._has[self.client_of[each]]]
        if not members or standby in self._has[self.client_of[members[0]]]:
            return NONE
        best = members[0]
        for member in members[1:]:
            client = self.client_of[member]
            if (
                self.load[client] < self.load[self.client_of[best]]
                and standby not in self._has[client]
                and self.count[member] < self.count[best]
            ):
                best = member
        return best

    def _give_least(self, client: int, task: int, *, active: bool = True) -> None:
        """Give a client one more task, on the member that has the fewest."""
        members = self._members[client]
        if len(members) == 1:
            self._give(members[0], task, active=active)
            return
        queue = self._least[client]
        if queue is None:
            queue = self._least[client] = Queue(self.count, members)
        member = queue.take()
        self._give(member, task, active=active)
        queue.add(member)

    def _give(self, member: int, task: int, *, active: bool) -> None:
        client = self.client_of[member]
        self._has[client].add(task)
        self._total[client] += 1
        self.load[client] = self._total[client] / len(self._members[client])
        self.count[member] += 1
        if active:
            self.owner[task] = member
            self.active_share.note(self.count[member])
        else:
            self.standbys[task].append(member)
        self.share.note(self.count[member])

    def _by_load(self) -> Queue:
        return Queue(self.load, self._clients)

    def _across(self, task: int) -> tuple[int, str]:
        """Partition by partition through the sub-topologies, so that those of one number stay together."""
        name, number = self._key[task]
        return number, name

    def _along(self, task: int) -> tuple[str, int]:
        """Sub-topology by sub-topology, in the order of strings."""
        return self._key[task]


def _past(threads: Threads, walked: Iterable[int], tasks: int) -> tuple[list[int], list[list[int]]]:
    """For each task the member it was active on, NONE for none, the last of several; and those that kept a copy."""
    had = [NONE] * tasks
    kept: list[list[int]] = [[] for _ in range(tasks)]
    for member in walked:
        for task in threads.active[member]:
            had[task] = member
        for task in threads.standby[member]:
            kept[task].append(member)
    return had, kept


def _by_offsets(
    threads: Threads, walked: Iterable[int], kept: Sequence[Sequence[int]]
) -> list[list[int]]:
    """For each task those that kept a copy, then those that only report offsets of it, who is further along first."""
    told = threads.offsets or [{}] * len(threads.ids)
    found = [list(members) for members in kept]
    for member in walked:
        for task in told[member]:
            if member not in kept[task]:
                found[task].append(member)
    for task, members in enumerate(found):
        copies = set(kept[task])
        members.sort(key=lambda m: (m not in copies, -told[m].get(task, 0)))
    return found


def _walked(
    app: Application, threads: Threads, hashes: Hashes, walked: Sequence[int], *, late: bool
) -> tuple[list[int], list[list[int]]]:
    """
    The clients that have members, and the members of every client, each in the order of its Java map; that of clients
    is filled by `computeIfAbsent` from 4.4 on, which puts entries before others of their bucket and grows it *late*.
    """
    members: list[list[int]] = [[] for _ in app.clients]
    arrived: dict[int, None] = {}
    for member in walked:
        client = int(threads.client_of[member])
        arrived.setdefault(client)
        members[client].append(member)
    clients = list(reversed(arrived)) if late else list(arrived)
    names = string_hashes([app.clients[client] for client in clients])
    order = bucket_order(names, capacity(len(clients) - late, initial=len(threads.ids)))
    start, grouped = ragged(members)
    ordered = grouped[bucket_orders(hashes[grouped], start)].tolist()
    return [clients[i] for i in order], [ordered[a:b] for a, b in pairwise(start.tolist())]


__all__ = ["GivenTasks", "Threads", "assign_sticky_server"]
