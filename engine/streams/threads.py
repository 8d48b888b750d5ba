"""
The tasks of a client over its threads: who has one keeps it, the rest go to the thread with the fewest.

Promises, the first before the second:

1. A thread has as many tasks as the client's other threads, give or take one.
2. Within that, as few tasks as possible change threads; of those a thread has too many of, the last in order go.
3. What is left goes one by one, in order, to the thread with the fewest, the first of equal ones.

>>> thread_of(np.array([0, 0, 0, 1]), np.array([0, 0, 1]), np.array([0, 0, 0, 2])).tolist()
[0, 0, 1, 2]

Cost: linear in tasks. Source: like `StreamsPartitionAssignor.assignTasksToThreads` of Kafka 4.3, which keeps tasks with
their threads as well, but deals stateful and stateless tasks in rounds of their own: its threads may differ from these.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import NONE, Indices


def thread_of(owner: Indices, client_of: Indices, before: Indices) -> Indices:
    """
    (N) the member that runs each task.

    Args:
        owner: (N) the client of each task, NONE for nobody.
        client_of: (M) the client each member is a thread of; every owner has a thread.
        before: (N) the member that runs each task now, NONE for nobody.
    """
    result, ran = [NONE] * len(owner), before.tolist()
    threads_of = by_client(client_of)
    for client, tasks in by_client(owner).items():
        threads = threads_of[client]
        least, more = divmod(len(tasks), len(threads))
        has: dict[int, list[int]] = {thread: [] for thread in threads}
        loose = []
        for task in tasks:
            thread = ran[task]
            if thread in has and len(has[thread]) < least + bool(more):
                has[thread].append(task)
            else:
                loose.append(task)
        # who has one more than the rest may, when too many do: the fullest first keep it
        full = [thread for thread in threads if len(has[thread]) > least]
        for thread in full[more:]:
            loose.append(has[thread].pop())
        for task in sorted(loose):
            fewest = min(threads, key=lambda thread: len(has[thread]))
            has[fewest].append(task)
        for thread, own in has.items():
            for task in own:
                result[task] = thread
    return np.array(result, np.int32)


def by_client(client_of: Indices) -> dict[int, list[int]]:
    """Client -> those that are its, ascending; NONE is nobody."""
    found: dict[int, list[int]] = {}
    for one, client in enumerate(client_of.tolist()):
        if client != NONE:
            found.setdefault(client, []).append(one)
    return found
