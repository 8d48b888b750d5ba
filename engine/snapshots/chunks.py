"""How the groups of a snapshot are cut into chunks, so that memory grows with a chunk and not with the fleet."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..model.arrays import NONE, parts_within
from ..model.errors import EvenkeelError
from ..model.groups import can_be_kept
from ..model.tables import Table, Texts
from ..ports import Lake
from .arrays import distinct
from .walk_lake import WalkedLake

T = TypeVar("T")

CHUNK = 50_000
"""
Partitions and members that a chunk has at most, unless a single group has more: with 12 earlier snapshots some 100 MB
in arrays.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """
    Some groups that are worked on together.

    Attributes:
        number: Its place among the chunks, which are cut in listing order.
        groups: Their ids, in listing order.
        work: Estimated partitions and members.
    """

    number: int
    groups: tuple[str, ...]
    work: int


def chunks_of(lake: Lake, snapshot_id: str, pattern: str = "*", size: int = CHUNK) -> list[Chunk]:
    """
    The groups whose id matches a shell pattern, in chunks.

    Args:
        size: Work of a chunk (`work_of`).

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    return cut(work_of(lake, snapshot_id, pattern), size)


def cut(work: Mapping[str, int], size: int) -> list[Chunk]:
    """
    Consecutive groups together, as long as their work fits; a group that is larger by itself is a chunk of its own.

    Args:
        work: Of each group, in listing order.
        size: Most work of a chunk.

    >>> [(chunk.groups, chunk.work) for chunk in cut({"a": 1, "giant": 9, "b": 2, "c": 2}, 4)]
    [(('a',), 1), (('giant',), 9), (('b', 'c'), 4)]
    """
    names, sizes = [*work], [*work.values()]
    return [
        Chunk(number=number, groups=tuple(names[part]), work=sum(sizes[part]))
        for number, part in enumerate(parts_within(sizes, size))
    ]


def work_of(lake: Lake, snapshot_id: str, pattern: str = "*") -> dict[str, int]:
    """
    Estimate how much work each group is; the unit is one partition or one member.

    Returns:
        By the ids of the groups that match a shell pattern and that can be kept, in listing order.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    # a walk asks for the same in every step
    known = lake.work if isinstance(lake, WalkedLake) else {}
    if (snapshot_id, pattern) not in known:
        known[snapshot_id, pattern] = _work_of(lake, snapshot_id, pattern)
    return known[snapshot_id, pattern]


def _work_of(lake: Lake, snapshot_id: str, pattern: str) -> dict[str, int]:
    names = lake.read("groups", [snapshot_id], columns=["group_id"])["group_id"].to_pylist()
    members = lake.read("members", [snapshot_id], columns=["group_id", "subscription"])
    topics = lake.read("partitions", [snapshot_id], columns=["topic"])["topic"]
    committed = lake.read("commits", [snapshot_id], columns=["group_id"])["group_id"]
    commits, consumers = _counts(committed), _counts(members["group_id"])
    subscribed = _subscribed(members, _counts(topics))
    return {
        name: 1 + max(commits.get(name, 0), subscribed.get(name, 0)) + consumers.get(name, 0)
        for name in names
        if fnmatch.fnmatchcase(name, pattern) and can_be_kept(name)
    }


def _counts(column: Texts) -> dict[str, int]:
    counts = np.bincount(column.places[column.known], minlength=len(column.words))
    return dict(zip(column.words, counts.tolist(), strict=True))


def _subscribed(members: Table, sizes: Mapping[str, int]) -> dict[str, int]:
    """Partitions of the topics that each group's members subscribe to."""
    groups, lists = members["group_id"], members["subscription"]
    group, topics = groups.places[lists.rows].astype(np.int64), lists.entries
    named = (group != NONE) & topics.known
    pairs = distinct((group << 32 | topics.places)[named])
    size = np.array([sizes.get(topic, 0) for topic in topics.words], np.int64)
    counts = np.zeros(len(groups.words), np.int64)
    np.add.at(counts, pairs >> 32, size[pairs & 0xFFFFFFFF])
    return dict(zip(groups.words, counts.tolist(), strict=True))


def in_halves(
    names: Sequence[str],
    work: Callable[[Sequence[str]], T],
    alone: Callable[[str, Exception], T],
) -> list[T]:
    """
    What is made of some groups together; where that fails, of each half, so that one group costs the others nothing.

    >>> in_halves("abc", lambda names: 1 / ("b" not in names) and names, lambda name, problem: "?")
    ['a', '?', 'c']

    Args:
        names: The groups.
        work: Makes something of some of them.
        alone: What there is of the one group on which that fails; it is called while the problem is handled.

    Raises:
        EvenkeelError: The lake or the configuration is to blame, and no single group.
    """
    try:
        return [work(names)]
    except EvenkeelError:
        raise
    except Exception as problem:  # noqa: BLE001
        if len(names) == 1:
            return [alone(names[0], problem)]
    half = len(names) // 2
    return [each for some in (names[:half], names[half:]) for each in in_halves(some, work, alone)]
