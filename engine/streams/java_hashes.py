"""
The hashes that Java has for what Kafka Streams keeps in its maps. Source: `TaskId`, `Subtopology` and `ProcessId` of
Kafka 4.3; JDK 17, `Objects.hash` and `UUID.hashCode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from ..assignors.kit.java_order import Hashes, string_hashes, uuid_halves, uuid_hashes
from .model import task_key


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
    return uuid_hashes(uuid_halves([UUID(process) for process in processes]))
