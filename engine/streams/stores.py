"""
Which tasks of a live application have stores, and where the changelogs of these are.

KIP-1071 tells it: the topology names the changelogs of each sub-topology. A classic group does not. Its changelogs are
known by name (`<application id>-<store>-changelog`), and a sub-topology has as many tasks as its changelogs have
partitions; that, the copies and the reported offsets decide, in this order:

1. what configuration says, which is all of a sub-topology's changelogs, or by an empty list that it has none;
2. the only sub-topology of that many tasks;
3. of several the only one that shows stores, by a copy of a task or an offset of its stores;
4. else it stays open, all of them count as stateful, and it is said.

A store whose changelog is its source topic (`topology.optimization`), or that keeps none, cannot be seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from ..model.arrays import Flags, Ints
from ..model.facts import Fact, note
from ..model.groups import GroupSnapshot, MemberTasks, PartitionTable


@dataclass(frozen=True, kw_only=True)
class Stores:
    """
    The stores of an application.

    Attributes:
        topics: Sub-topology -> its changelog topics.
        having: Sub-topologies whose tasks keep state.
        ends: (topic, partition) -> end offset of a changelog, where known.
        held: (topic, partition) -> how many offsets it has from its log start on, where known.
        remarks: What is not known, and what was taken instead.
    """

    topics: Mapping[str, tuple[str, ...]]
    having: frozenset[str]
    ends: Mapping[tuple[str, int], int]
    held: Mapping[tuple[str, int], int]
    remarks: tuple[Fact, ...] = field(default=())

    def stateful(self, task: str) -> bool:
        """Whether a task keeps state."""
        return subtopology_of(task) in self.having

    def changelogs(self, task: str) -> list[tuple[str, int]]:
        """The changelog partitions of a task's stores."""
        number = int(task.rpartition("_")[2])
        return [(topic, number) for topic in self.topics.get(subtopology_of(task), ())]

    def size(self, task: str) -> int:
        """Offsets a client without a copy of a task has to restore at most."""
        return sum(self.ends.get(pair, 0) for pair in self.changelogs(task))

    def to_read(self, task: str) -> float:
        """Records that a client without a copy of a task reads at most; nan unknown."""
        if not self.stateful(task):
            return 0.0
        logs = self.changelogs(task)
        return float(sum(self.held.get(pair, nan) for pair in logs)) if logs else nan


def subtopology_of(task: str) -> str:
    """
    >>> subtopology_of("1_12")
    '1'
    """
    return task.rpartition("_")[0]


def stores_of(
    group: GroupSnapshot,
    tasks: Sequence[str],
    threads: Sequence[MemberTasks],
    configured: Mapping[str, Sequence[str]],
) -> Stores:
    """
    The stores of an application.

    Args:
        group: Its group.
        tasks: Ids of all its tasks.
        threads: What its members tell.
        configured: Sub-topology -> changelog topics, as far as configuration says it.
    """
    if group.topology is not None:
        parts = json.loads(group.topology)["subtopologies"]
        topics = {name: tuple(part["changelog_topics"]) for name, part in parts.items()}
        return Stores(
            topics=topics,
            having=frozenset(name for name, of in topics.items() if of),
            ends=_ends(group.stores),
            held=_held(group.stores),
        )
    return _matched(group, tasks, threads, configured)


def _matched(
    group: GroupSnapshot,
    tasks: Sequence[str],
    threads: Sequence[MemberTasks],
    configured: Mapping[str, Sequence[str]],
) -> Stores:
    """The same where changelogs have to be matched with sub-topologies."""
    size = Counter(map(subtopology_of, tasks))
    stateful_names = {
        subtopology_of(task)
        for thread in threads
        for task in (*thread.standby, *thread.warmup, *(thread.offsets or ()))
    } & size.keys()
    topics: dict[str, list[str]] = {name: list(of) for name, of in configured.items()}
    having = (stateful_names - configured.keys()) | {name for name, of in configured.items() if of}
    undecided: set[str] = set()
    remarks = [
        note("changelogs_without_tasks", [name]) for name in sorted(configured.keys() - size.keys())
    ]
    settled = {topic for of in configured.values() for topic in of}
    for topic, partitions in Counter(group.stores.names if group.stores else ()).items():
        if topic in settled:
            continue
        sized = sorted(name for name, count in size.items() if count == partitions)
        fitting = [name for name in sized if name not in configured]
        likely = [name for name in fitting if name in having] or fitting
        if len(likely) == 1:
            topics.setdefault(likely[0], []).append(topic)
        elif likely:
            undecided |= set(likely)
        having = having | set(likely)
        remarks += _doubt(topic, partitions, likely, sized)
    bare = sorted(n for n in having if n in size and n not in undecided and not topics.get(n))
    if bare:
        remarks.append(note("changelogs_unknown", bare))
    return Stores(
        topics={name: tuple(sorted(of)) for name, of in topics.items()},
        having=frozenset(having),
        ends=_ends(group.stores),
        held=_held(group.stores),
        remarks=tuple(remarks),
    )


def _doubt(
    topic: str, partitions: int, likely: Sequence[str], sized: Sequence[str]
) -> Iterator[Fact]:
    """
    What is to be said of a changelog that is not known to be one sub-topology's.

    Args:
        topic: The changelog.
        partitions: How many it has.
        likely: The sub-topologies it may belong to.
        sized: Those of as many tasks, with those whose changelogs are configured.
    """
    if len(likely) > 1:
        yield note("changelog_undecided", [topic, *likely])
    elif not likely and sized:
        yield note("changelog_left_out", [topic, *sized])
    elif not likely:
        yield note("changelog_fits_nothing", [topic], partitions=partitions)


def _ends(table: PartitionTable | None) -> dict[tuple[str, int], int]:
    return {} if table is None else _by_partition(table, table.end.values, table.end.known)


def _held(table: PartitionTable | None) -> dict[tuple[str, int], int]:
    if table is None:
        return {}
    offsets = np.maximum(table.end.values - table.begin.values, 0)
    return _by_partition(table, offsets, table.end.known & table.begin.known)


def _by_partition(table: PartitionTable, values: Ints, known: Flags) -> dict[tuple[str, int], int]:
    names, numbers = table.names, table.partition.tolist()
    rows = np.flatnonzero(known).tolist()
    return {(names[row], numbers[row]): int(values[row]) for row in rows}
