"""
What of Java shows in Kafka Streams: the hashes of what it keeps in its maps, and `PriorityQueue`, step for step.

Which of two equal elements of a queue comes first, and what happens to elements whose keys change while they
wait, follows from how the binary heap sifts; Kafka's task assignor depends on both. Elements are
numbers that look their keys up in two arrays when they are compared, the first key before the
second, so a change shows at once, as it does in Java. All are kernels (`evenkeel.engine.assignors.kit.kernels`): the
queue is an array with its length kept beside it, and each call returns the new length.

Four elements of which two are equal:

>>> queue, length, keys = [0] * 4, 0, [7, 5, 5, 6]
>>> for element in (0, 1, 2, 3):
...     length = offer(queue, length, element, keys, [0] * 4)
>>> drain(queue, length, keys, [0] * 4)
[1, 2, 3, 0]

Source: JDK 17, `java.util.PriorityQueue`, `Objects.hash` and `UUID.hashCode`; `TaskId`, `Subtopology` and `ProcessId`
of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..assignors.kit.java_order import Hashes, string_hashes, uuid_hashes
from ..assignors.kit.kernels import kernel
from .model import process_key, task_key


def task_hashes(tasks: Sequence[str]) -> Hashes:
    """
    `TaskId.hashCode` of many task ids.

    Raises:
        InputError: One is no task id.

    >>> task_hashes(["0_31", "1_0"]).tolist()
    [30752, 30752]
    """
    keys = [task_key(task) for task in tasks]
    names = string_hashes([name for name, _, _ in keys])
    number = np.array([(s, p) for _, s, p in keys], np.int64).reshape(-1, 2).astype(np.uint32)
    hashes: Hashes = (np.uint32(31) * (np.uint32(31) + number[:, 0]) + number[:, 1]) * np.uint32(31)
    return hashes + names


def subtopology_hashes(parts: Sequence[tuple[str, int]]) -> Hashes:
    """
    `Subtopology.hashCode` of many pairs of a named topology, usually "", and a number.

    >>> subtopology_hashes([("", 0), ("", 1)]).tolist()
    [961, 992]
    """
    names = string_hashes([name for name, _ in parts])
    numbers = np.array([number for _, number in parts], np.int64).astype(np.uint32)
    hashes: Hashes = np.uint32(31) * (np.uint32(31) + numbers) + names
    return hashes


def process_hashes(processes: Sequence[str]) -> Hashes:
    """
    `ProcessId.hashCode` of many process ids; that of a `UUID` folds it as `Uuid` does.

    >>> process_hashes(["00000001-0000-0002-0000-000400000008"]).tolist()
    [15]
    """
    return uuid_hashes(np.array([*map(process_key, processes)], np.int64).reshape(-1, 2))


@kernel
def offer(queue: Any, length: int, element: int, first: Any, second: Any) -> int:
    """Put *element* in, at the end and then up past every later parent."""
    return _rise(queue, length, element, first, second, length + 1)


@kernel
def poll(queue: Any, length: int, first: Any, second: Any) -> int:
    """Take `queue[0]` out; read it before."""
    return _sink(queue, 0, queue[length - 1], first, second, length - 1)


@kernel
def remove(queue: Any, length: int, element: int, first: Any, second: Any) -> int:
    """Take *element* out, wherever it is; it must be there."""
    place = 0
    while queue[place] != element:
        place += 1
    length -= 1
    if place == length:
        return length
    moved = queue[length]
    _sink(queue, place, moved, first, second, length)
    if queue[place] == moved:
        _rise(queue, place, moved, first, second, length)
    return length


@kernel
def _rise(queue: Any, place: int, element: int, first: Any, second: Any, length: int) -> int:
    while place > 0:
        parent = (place - 1) >> 1
        above = queue[parent]
        if not (
            first[element] < first[above]
            or (first[element] == first[above] and second[element] < second[above])
        ):
            break
        queue[place] = above
        place = parent
    queue[place] = element
    return length


@kernel
def _sink(queue: Any, place: int, element: int, first: Any, second: Any, length: int) -> int:
    while place < length >> 1:
        child = 2 * place + 1
        below, other = queue[child], queue[child + 1] if child + 1 < length else queue[child]
        if first[other] < first[below] or (
            first[other] == first[below] and second[other] < second[below]
        ):
            child += 1
            below = other
        if not (
            first[below] < first[element]
            or (first[below] == first[element] and second[below] < second[element])
        ):
            break
        queue[place] = below
        place = child
    queue[place] = element
    return length


def drain(queue: Any, length: int, first: Any, second: Any) -> list[int]:
    """Everything in the queue, in the order in which it comes out."""
    order = []
    while length:
        order.append(queue[0])
        length = poll(queue, length, first, second)
    return order


class Queue:
    """
    A queue of numbers by one key, which no element changes while it waits.

    >>> queue = Queue([2.0, 1.0, 1.0], range(3))
    >>> [queue.take() for _ in range(3)], bool(queue)
    ([1, 2, 0], False)
    """

    __slots__ = ("_keys", "_length", "_queue")

    def __init__(self, keys: Sequence[float], elements: Iterable[int] = ()) -> None:
        """
        Args:
            keys: The key of each number there may be; read when elements are compared.
            elements: What is put in, in this order.
        """
        self._keys, self._length = keys, 0
        self._queue: list[int] = []
        for element in elements:
            self.add(element)

    def __bool__(self) -> bool:
        """Whether there is an element in it."""
        return self._length > 0

    def add(self, element: int) -> None:
        """Put an element in that is not in it."""
        if self._length == len(self._queue):
            self._queue.append(element)
        self._length = offer(self._queue, self._length, element, self._keys, self._keys)

    def take(self) -> int:
        """Take the first out; there must be one."""
        first = self._queue[0]
        self._length = poll(self._queue, self._length, self._keys, self._keys)
        return first
