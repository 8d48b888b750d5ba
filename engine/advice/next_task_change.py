"""
What a strategy for tasks moves at an application's next change: `next_change` for Kafka Streams.

The same columns with tasks for partitions and instances for members: an instance leaves or joins with all its threads,
and a task moves when it changes instances. Counted is where tasks end, once all copies have caught up.

* Kafka Streams does not leave its group when it closes. What moves while all restart is what moves where each is away
  for longer than its session: it leaves, and is back under a new member id with what lies on its disk. Static instances
  (KIP-345), and those that are back sooner, move nothing.

Cost: a run of the strategy for each instance that leaves, for the one that joins and for the one that is back; as many
leave as of a group of so many partitions and members (`next_change.BUDGET`).
Source: KIP-441, KIP-345, KIP-1071; `KafkaStreams.close` of Kafka 4.3, which leaves no group.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import NONE, Indices
from ..model.errors import EvenkeelError
from ..model.figures import NextChange
from ..model.groups import GroupSnapshot
from ..streams.after_change import come, gone, instances, settled
from ..streams.compare import PlacementOutcome, outcome
from ..streams.live import Running
from ..streams.settings import TaskStrategy
from .after_change import moved
from .next_change import BUDGET, MOST_RESTARTED, MOST_TRIED


class TaskChanges:
    """The next changes of one application; what its strategies share of them is worked out once."""

    def __init__(self, group: GroupSnapshot, application: Running) -> None:
        """
        Args:
            group: The group.
            application: The application behind it.
        """
        self._tasks = len(application.app.tasks)
        threads = instances(group)
        processes = list(threads)
        self._number = {process: number for number, process in enumerate(processes)}
        self._dynamic = [process for process in processes if not threads[process][0].is_static]
        work = self._tasks + len(processes)
        most = min(max(BUDGET // work, 1), MOST_TRIED, len(processes))
        self.tried = [processes[n * len(processes) // most] for n in range(most)]

    def of(self, placed: PlacementOutcome) -> NextChange | None:
        """
        What a strategy would move once what it gives is in force; None where it has no answer after a change.

        Args:
            placed: Its answer for the application.
        """
        try:
            return self._of(placed)
        except EvenkeelError:
            return None

    def _of(self, placed: PlacementOutcome) -> NextChange:
        assert placed.strategy is not None, "what a group has now is no strategy's"
        strategy, then, owner = placed.strategy, settled(placed), self._runs(placed)
        client = {process: n for n, process in enumerate(then.app.clients)}
        fewer = {process: gone(then, client[process]) for process in self.tried}
        left = {process: _after(those, strategy) for process, those in fewer.items()}
        moves = {process: moved(owner, self._runs(away)) for process, away in left.items()}
        others = [
            int((changed & (owner != self._number[process])).sum())
            for process, changed in moves.items()
        ]
        counts = [int(changed.sum()) for changed in moves.values()]
        came = _after(come(then, then, client[self.tried[0]]), strategy)
        restarts = []
        for process in [one for one in self.tried if one in self._dynamic][:MOST_RESTARTED]:
            away = left[process]
            rest = fewer[process] if away is None else settled(away)
            back = _after(come(rest, then, client[process], back=True), strategy)
            again = moved(self._runs(away), self._runs(back))
            restarts.append(int(moves[process].sum() + again.sum()))
        return NextChange(
            leave_moves_mean=sum(counts) / len(counts),
            leave_moves_of_others_mean=sum(others) / len(others),
            leave_moves_worst=max(counts),
            join_moves=int(moved(owner, self._runs(came)).sum()),
            restart_moves=round(sum(restarts) * len(self._dynamic) / max(len(restarts), 1)),
            members_tried=len(self.tried),
        )

    def _runs(self, placed: PlacementOutcome | None) -> Indices:
        """(N) who runs each task in the end, by a number that an instance keeps; NONE for nobody."""
        if placed is None:
            return np.full(self._tasks, NONE, np.int32)
        clients = placed.application.app.clients
        numbers = [self._number.setdefault(client, len(self._number)) for client in clients]
        runs: Indices = np.array([*numbers, NONE], np.int32)[placed.owner]
        return runs


def _after(application: Running, strategy: TaskStrategy) -> PlacementOutcome | None:
    """What a strategy makes of an application after a change; None where nobody is left."""
    return outcome(application, strategy) if application.app.clients else None
