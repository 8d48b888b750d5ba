"""What a switch would have done: the same group, the same arrivals, from one snapshot on with another assignment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from evenkeel.engine.model.arrays import NONE, Floats
from evenkeel.engine.model.assignments import Move
from tests.helpers.fluid.plan import EVERY, STEP, Group, Owners, Switch, at
from tests.helpers.fluid.run import History, simulate

OBJECTIVE = 60
"""Seconds of records that a group may be behind (the objective's default)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """
    What became of a group from a snapshot on.

    Attributes:
        history: All of it, from which snapshots can be taken.
        behind: (seconds / STEP + 1) records that arrived and were not read, from that snapshot on.
        late: (the same) seconds since the oldest unread record of any partition arrived; 0 where all is read.
    """

    history: History
    behind: Floats
    late: Floats

    def integral(self, seconds: float) -> float:
        """Lag summed up over time, in offset-seconds."""
        return float(np.trapezoid(self.behind[: round(seconds / STEP) + 1], dx=STEP))

    def lag(self, seconds: float) -> float:
        """Records behind so many seconds later."""
        return float(self.behind[round(seconds / STEP)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Fork:
    """The two ways on, with and without the switch."""

    stays: Outcome
    switches: Outcome

    def gain(self, seconds: float) -> float:
        """Fall of the lag integral, the pauses of the switch counted against it, in offset-seconds."""
        return self.stays.integral(seconds) - self.switches.integral(seconds)


def fork(
    group: Group,
    snapshot: int,
    to: str | Owners,
    *,
    seconds: float = 4 * 3600,
    bounces: int = 1,
    down: float = 10,
    gap: float = 30,
    seed: int = 7,
) -> Fork:
    """
    Go on from a snapshot with and without a switch; what else is planned to happen happens in both.

    Args:
        group: A group; a switch that it plans for later is left out.
        snapshot: After which the switch begins.
        to, bounces, down, gap: As in `Switch`.
        seconds: How long to go on.
        seed: That of the simulation; arrivals follow from it alone.
    """
    moment = at(snapshot)
    events = tuple(e for e in group.events if not (isinstance(e, Switch) and e.at >= moment))
    switch = Switch(at=moment, to=to, bounces=bounces, down=down, gap=gap)
    last = snapshot + int(np.ceil(seconds / EVERY)) + 1
    ways = (events, (*events, switch))
    stays, switches = (
        outcome(simulate([replace(group, events=way)], last, seed), snapshot) for way in ways
    )
    return Fork(stays=stays, switches=switches)


def moved(history: History, group: str, snapshot: int, moves: Iterable[Move]) -> Owners:
    """Who owns what after the moves of an advice, for `fork`, by the members there were at a snapshot."""
    place = history.place(group)
    plan, view = history.groups[place], history.moments[snapshot].views[place]
    if view is None:
        raise ValueError(f"group {group} is gone at snapshot {snapshot}.")
    numbers = {member_id: number for number, member_id in view.members}
    rows = {(plan.topic(t), p): row for row, (t, p) in enumerate(plan.partitions)}
    owners = list(view.owner)
    for move in moves:
        to = move.to_member
        owners[rows[move.topic, move.partition]] = NONE if to is None else numbers[to]
    return tuple(owners)


def outcome(history: History, snapshot: int) -> Outcome:
    """What became of a group that was simulated alone, from a snapshot on."""
    first = history.step(snapshot)
    return Outcome(
        history=history,
        behind=history.backlog[first:].sum(axis=1),
        late=lateness(history)[first:].max(axis=1),
    )


def lateness(history: History) -> Floats:
    """(S + 1, P) seconds since the oldest unread record of each partition arrived; 0 where all is read."""
    late = np.zeros_like(history.end)
    boundary = np.arange(len(history.end)) * STEP
    for column in range(history.end.shape[1]):
        end, position = history.end[:, column], history.position[:, column]
        # of a stretch in which nothing arrived the end counts: the next record came after it
        known = np.append(end[1:] > end[:-1], True)
        arrived = np.interp(position, end[known], boundary[known])
        late[:, column] = np.where(end - position > 0.5, np.maximum(boundary - arrived, 0), 0)
    return late
