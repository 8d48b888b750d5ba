"""
Where copies of a store are kept: on the least loaded clients, and apart by tags when tags count.

Promises, the first before the second:

1. No client has two copies of a task, active one included; each stateful task gets as many standbys
   as are configured, or as many as there are other clients.
2. When tags count, each copy goes to a client that differs from all earlier
   holders in every tag that still has unused values; what finds no such client goes anywhere.
3. Among the clients left, the one with the fewest tasks per thread, then the first in order.

Afterwards standbys are levelled like active tasks, but only between clients whose tags agree.

`rack.aware.assignment.tags` names the tags that count (KIP-708); a client without one of them has no value
there. When racks are to count as a tag (KIP-925, section D), no tags are configured and every client has a rack, the
one tag is the rack. Kafka's factory knows that case, but its high-availability assignor never passes
the racks on (3.6 to trunk), so there it is dead code.

Cost: O(standbys x (log clients + different sets of tag values)). Source: KIP-708;
`DefaultStandbyTaskAssignor` and `ClientTagAwareStandbyTaskAssignor` of Kafka 4.3. What it does not
do: it is greedy, so with several tags on an uneven grid a spread that exists may be missed; and it
moves no copy towards its data (`evenkeel.engine.streams.standby_racks` does).
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..assignors.kit.java_order import bucket_order, capacity
from ..model.arrays import NONE, Flags, Indices, Ints, starts_of
from ..model.facts import Fact, note
from .assign_tasks import TaskLoad, balance_tasks
from .java import task_hashes
from .model import Application
from .settings import TaskConfig

RACK = "rack"


@dataclass(frozen=True, kw_only=True)
class Apart:
    """
    The tags that count for standbys.

    Attributes:
        keys: Their names, in order; empty when copies may lie anywhere.
        value: (C, keys) each client's value as a number, NONE without.
        names: For each key, the values' names by number.
    """

    keys: tuple[str, ...]
    value: Indices
    names: tuple[tuple[str, ...], ...]

    @cached_property
    def rows(self) -> list[tuple[int, ...]]:
        """*value* as tuples."""
        return [tuple(row) for row in self.value.tolist()]

    def distinct(self, clients: Collection[int]) -> list[int]:
        """How many different values the clients have, for each key."""
        rows = [self.rows[client] for client in clients]
        return [len({row[k] for row in rows} - {NONE}) for k in range(len(self.keys))]

    def short(self, holders: Ints) -> Flags:
        """
        (N) whether copies lie on fewer values of a key than they could, given how many there are.

        A key that some client has no value for promises nothing, and is passed over.

        Args:
            holders: (N, any) the clients that have each task, NONE in free places.
        """
        copies = (holders != NONE).sum(axis=1)
        short = np.zeros(len(holders), np.bool_)
        for k, names in enumerate(self.names):
            if (self.value[:, k] == NONE).any():
                continue
            values = np.sort(np.append(self.value[:, k], np.int32(NONE))[holders], axis=1)
            new = np.diff(values, axis=1, prepend=np.int32(NONE)) != 0
            short |= new.sum(axis=1) < np.minimum(copies, len(names))
        return short

    def keeps(self, holders: Collection[int], source: int, destination: int) -> bool:
        """Whether a copy may go from *source* to *destination* with no fewer values among *holders*, for any key."""
        if not self.keys or self.rows[source] == self.rows[destination]:
            return True
        after = [client for client in holders if client != source] + [destination]
        before = self.distinct(holders)
        return all(a >= b for a, b in zip(self.distinct(after), before, strict=True))


def kept_apart(app: Application, config: TaskConfig) -> Apart:
    """The tags that count for this application, with the values that its clients have."""
    tags = client_tags(app, config)
    keys = (RACK,) if racks_are_tags(app, config) else tuple(dict.fromkeys(config.tags))
    columns, names = [], []
    for key in keys:
        values = sorted({one[key] for one in tags if key in one})
        number = {value: i for i, value in enumerate(values)}
        columns.append([number[one[key]] if key in one else NONE for one in tags])
        names.append(tuple(values))
    value = np.array(columns, np.int32).reshape(len(columns), len(app.clients)).T
    return Apart(keys=keys, value=value, names=tuple(names))


def client_tags(app: Application, config: TaskConfig) -> Sequence[Mapping[str, str]]:
    """The tags of each client, or its rack as the only one where racks are taken for tags."""
    if racks_are_tags(app, config):
        return [{RACK: app.racks[rack]} for rack in app.client_rack]
    return app.tags


def racks_are_tags(app: Application, config: TaskConfig) -> bool:
    """Whether the rack is the tag that counts."""
    return config.rack_as_tag and not config.tags and bool((app.client_rack != NONE).all())


def findings(app: Application, config: TaskConfig) -> list[Fact]:
    """
    What is to be said of racks and tags: which of the two decides, and where they disagree.

    The disagreement is the warning that KIP-925 promised (section D, option III) and Kafka never gives.
    """
    remarks = []
    if not config.rack_as_tag or not config.num_standby_replicas:
        pass
    elif racks_are_tags(app, config):
        remarks.append(note("racks_taken_for_tag"))
    elif config.tags:
        remarks.append(note("tags_instead_of_racks"))
    else:
        bare = [app.clients[c] for c in np.flatnonzero(app.client_rack == NONE)]
        remarks.append(note("racks_not_taken_for_tag", bare))
    return remarks + _conflict(app, config)


def _conflict(app: Application, config: TaskConfig) -> list[Fact]:
    racked = np.flatnonzero(app.client_rack != NONE)
    if not config.tags or not len(racked):
        return []
    if RACK not in config.tags:
        return [note("rack_not_among_tags", config.tags)]
    differ = [c for c in racked.tolist() if app.tags[c].get(RACK) != app.racks[app.client_rack[c]]]
    return [note("tag_differs_from_rack", [app.clients[c] for c in differ])] if differ else []


class Copies:
    """
    Who holds which stateful task, as it is being worked out.

    Attributes:
        owner: (N) the client each task is active on.
        holders: For each task its standbys, in the order in which they were given; empty where none are kept.
        load: Active stateful tasks and standbys of each client.
    """

    def __init__(self, app: Application, owner: Indices, *, kept: bool = True) -> None:
        self.owner = owner
        self.holders: list[list[int]] = [[] for _ in app.tasks] if kept else []
        active = np.bincount(owner[app.stateful], minlength=len(app.clients))
        self.load = TaskLoad(app.threads, active)

    def everyone(self, task: int) -> list[int]:
        """The clients that have the task, the active one first."""
        return [int(self.owner[task]), *(self.holders[task] if self.holders else ())]

    def by_client(self) -> list[list[int]]:
        """The standbys of each client, ascending."""
        held: list[list[int]] = [[] for _ in self.load.count]
        for task, clients in enumerate(self.holders):
            for client in clients:
                held[client].append(task)
        return held

    def table(self, width: int = 0) -> Ints:
        """(N, most standbys or *width*) the standbys of each task, NONE in free places."""
        if not any(self.holders):
            return np.full((len(self.owner), width), NONE, np.int64)
        count = np.array([len(clients) for clients in self.holders], np.int64)
        table = np.full((len(count), max(width, int(count.max(initial=0)))), NONE, np.int64)
        table[np.arange(table.shape[1]) < count[:, None]] = [c for row in self.holders for c in row]
        return table


def place_standbys(app: Application, config: TaskConfig, owner: Indices, apart: Apart) -> Copies:
    """
    The standbys of all stateful tasks, levelled.

    Args:
        app: The application.
        config: Its settings.
        owner: (N) where stateful tasks are to be active.
        apart: The tags that count.
    """
    copies = Copies(app, owner, kept=config.num_standby_replicas > 0)
    if not config.num_standby_replicas:
        return copies
    queue = _LeastLoaded(copies.load, apart)
    tasks = np.flatnonzero(app.stateful).tolist()
    missing = dict.fromkeys(tasks, config.num_standby_replicas)
    if apart.keys:
        for task in tasks:
            missing[task] -= _spread(task, config.num_standby_replicas, copies, apart, queue)
        # in the order of a `HashMap<TaskId, ...>` that took all of them in task order
        order = bucket_order(task_hashes([app.tasks[t] for t in tasks]), capacity(len(tasks)))
        tasks = [tasks[at] for at in order if missing[tasks[at]]]
    for task in tasks:
        for _ in range(missing[task]):
            client = queue.take(copies.everyone(task))
            if client == NONE:
                break
            copies.holders[task].append(client)
    _level(app, copies, apart, client_tags(app, config))
    return copies


def _spread(task: int, wanted: int, copies: Copies, apart: Apart, queue: _LeastLoaded) -> int:
    """Give a task standbys on clients that differ in every tag not used up; how many it got."""
    last, given = int(copies.owner[task]), 0
    marks: list[set[int]] = [set() for _ in apart.keys]
    while given < wanted:
        for k, value in enumerate(apart.rows[last]):
            if value == NONE:
                continue
            if len(apart.names[k]) <= given + 1:
                marks[k].clear()
            else:
                marks[k].add(value)
        client = queue.take(copies.everyone(task), queue.marked(marks))
        if client == NONE:
            break
        copies.holders[task].append(client)
        last, given = client, given + 1
    return given


class _LeastLoaded:
    """
    The clients by load, in one heap for each different row of tag values.

    A whole row is passed over at once when one of its values is used, so that a task whose data
    centre holds most of the clients does not have to look at each of them.
    """

    def __init__(self, load: TaskLoad, apart: Apart) -> None:
        self.load = load
        rows = dict.fromkeys(apart.rows)
        number = {row: i for i, row in enumerate(rows)}
        self.groups = np.array(list(rows), np.int32).reshape(len(rows), len(apart.keys))
        self._group = [number[row] for row in apart.rows]
        self._heaps: list[list[tuple[float, int]]] = [[] for _ in rows]
        for client, group in enumerate(self._group):
            self._heaps[group].append((load.of(client), client))
        for heap in self._heaps:
            heapq.heapify(heap)
        self._top = np.array([heap[0][0] for heap in self._heaps])
        self._first = np.array([heap[0][1] for heap in self._heaps])

    def marked(self, marks: list[set[int]]) -> Flags:
        """(groups) whether a value of the row is among the *marks*, for any tag."""
        used = np.zeros(len(self.groups), np.bool_)
        for k, values in enumerate(marks):
            for value in values:
                used |= self.groups[:, k] == value
        return used

    def take(self, holding: Collection[int], used: Flags | None = None) -> int:
        """
        Give one more task to the least loaded client that does not hold it, in no *used* group; NONE if there is none.
        """
        aside = []
        chosen = NONE
        while True:
            group = self._least(used)
            if group == NONE:
                break
            client = self._heaps[group][0][1]
            if client not in holding:
                self.load.count[client] += 1
                heapq.heapreplace(self._heaps[group], (self.load.of(client), client))
                chosen = client
                self._look(group)
                break
            aside.append((group, heapq.heappop(self._heaps[group])))
            self._look(group)
        for group, entry in aside:
            heapq.heappush(self._heaps[group], entry)
            self._look(group)
        return chosen

    def _least(self, used: Flags | None) -> int:
        """The group whose first client is the least loaded, of equal ones the first in order."""
        if len(self._top) == 1:
            closed = self._top[0] == np.inf or (used is not None and used[0])
            return NONE if closed else 0
        top = self._top if used is None else np.where(used, np.inf, self._top)
        least = top.min()
        if least == np.inf:
            return NONE
        ties = np.flatnonzero(top == least)
        return int(ties[self._first[ties].argmin()])

    def _look(self, group: int) -> None:
        heap = self._heaps[group]
        self._top[group], self._first[group] = heap[0] if heap else (np.inf, NONE)


def _level(
    app: Application, copies: Copies, apart: Apart, tags: Sequence[Mapping[str, str]]
) -> None:
    """
    Level the standbys; when tags count, only towards clients that have every tag of the source, with its value.

    As in Kafka that is every tag a client has, not only those that are configured to count.
    """
    held = copies.by_client()

    def taken(client: int, task: int) -> bool:
        tasks = held[client]
        place = bisect_left(tasks, task)
        return bool(copies.owner[task] == client) or tasks[place : place + 1] == [task]

    labels = [frozenset(one.items()) for one in tags]
    kinds = list(dict.fromkeys(labels))
    number = {label: i for i, label in enumerate(kinds)}
    kind = np.array([number[label] for label in labels], np.int64)

    def allowed(source: int) -> Flags:
        same: Flags = np.array([labels[source] <= other for other in kinds], np.bool_)[kind]
        return same

    balance_tasks(held, copies.load, allowed if apart.keys else None, taken)
    copies.holders = [[] for _ in app.tasks]
    for client, tasks in enumerate(held):
        for task in tasks:
            copies.holders[task].append(client)


def ragged_rows(table: Ints, which: Flags) -> tuple[Ints, Indices]:
    """Ragged, task -> the marked clients of a table, ascending."""
    if not which.any():
        return np.zeros(len(table) + 1, np.int64), np.zeros(0, np.int32)
    task, place = np.nonzero(which)
    client = table[task, place]
    return starts_of(which.sum(axis=1)), client[np.lexsort((client, task))].astype(np.int32)
