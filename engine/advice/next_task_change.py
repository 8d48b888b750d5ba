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

from dataclasses import dataclass

import numpy as np

from ..config import StreamsSettings
from ..model.arrays import NONE, Indices
from ..model.errors import EvenkeelError
from ..model.figures import NextChange
from ..model.groups import GroupSnapshot
from ..streams.after_change import given, instances, joined, pinned, without
from ..streams.compare import PlacementOutcome, outcome
from ..streams.live import Running, known_tasks, running
from .after_change import moved
from .next_change import BUDGET, MOST_RESTARTED, MOST_TRIED


@dataclass(frozen=True, kw_only=True, eq=False)
class _Stage:
    """A group after a change, and where a strategy puts its tasks; nowhere once nobody is left."""

    group: GroupSnapshot
    application: Running
    placed: PlacementOutcome

    @property
    def in_force(self) -> GroupSnapshot:
        """The group once it is so."""
        return given(self.group, self.application, self.placed)


class TaskChanges:
    """The next changes of one application; what its strategies share of them is worked out once."""

    def __init__(
        self, group: GroupSnapshot, settings: StreamsSettings | None, application: Running
    ) -> None:
        """
        Args:
            group: The group.
            settings: What configuration says of it.
            application: The application behind it.

        Raises:
            Infeasible, InputError: As for `live.running`.
        """
        self._group, self._application = group, application
        self._settings = pinned(settings, application)
        self._known = known_tasks(group, settings)
        processes = list(instances(group))
        self._number = {process: number for number, process in enumerate(processes)}
        work = len(application.app.tasks) + len(processes)
        most = min(max(BUDGET // work, 1), MOST_TRIED, len(processes))
        self.tried = [processes[n * len(processes) // most] for n in range(most)]

    def of(self, placed: PlacementOutcome) -> NextChange | None:
        """
        What a strategy would move once what it gives is in force; None where it has no answer after a change.

        Args:
            placed: Its answer for the application.
        """
        try:
            return self._of(_Stage(group=self._group, application=self._application, placed=placed))
        except EvenkeelError:
            return None

    def _of(self, start: _Stage) -> NextChange:
        then, owner = start.in_force, self._runs(start)
        threads = instances(then)
        left = {process: self._after(without(then, process), start) for process in self.tried}
        gone = {process: moved(owner, self._runs(stage)) for process, stage in left.items()}
        others = [
            int((moves & (owner != self._number[process])).sum()) for process, moves in gone.items()
        ]
        counts = [int(moves.sum()) for moves in gone.values()]
        came = self._after(joined(then, threads[self.tried[0]]), start)
        restarts, dynamic = [], [p for p, each in threads.items() if not each[0].is_static]
        for process in [one for one in self.tried if one in dynamic][:MOST_RESTARTED]:
            away = left[process]
            rest = without(then, process) if away is None else away.in_force
            back = self._after(joined(rest, threads[process], back=True), start)
            again = moved(self._runs(away), self._runs(back))
            restarts.append(int(gone[process].sum() + again.sum()))
        return NextChange(
            leave_moves_mean=sum(counts) / len(counts),
            leave_moves_of_others_mean=sum(others) / len(others),
            leave_moves_worst=max(counts),
            join_moves=int(moved(owner, self._runs(came)).sum()),
            restart_moves=round(sum(restarts) * len(dynamic) / max(len(restarts), 1)),
            members_tried=len(self.tried),
        )

    def _after(self, group: GroupSnapshot, start: _Stage) -> _Stage | None:
        """The group once the strategy has placed its tasks; None where nobody is left."""
        if not group.members:
            return None
        assert start.placed.strategy is not None, "what a group has now is no strategy's"
        application = running(group, self._settings, self._known)
        placed = outcome(application, start.placed.strategy)
        return _Stage(group=group, application=application, placed=placed)

    def _runs(self, stage: _Stage | None) -> Indices:
        """(N) who runs each task in the end, by a number that an instance keeps; NONE for nobody."""
        if stage is None:
            return np.full(len(self._known.ids), NONE, np.int32)
        clients = stage.application.app.clients
        numbers = [self._number.setdefault(client, len(self._number)) for client in clients]
        runs: Indices = np.array([*numbers, NONE], np.int32)[stage.placed.owner]
        return runs
