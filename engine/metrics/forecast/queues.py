"""The queues of members over all steps of all futures, those of many groups at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model.arrays import Flags, Floats, Ints, ragged_entries, starts_of
from .futures import STEP_SECONDS, STEPS, Futures
from .load import AssignmentBatch


class Queues:
    """N of the queues of K assignments; under each one at least, that of nobody."""

    def __init__(self, batch: AssignmentBatch, there: Flags) -> None:
        """
        Args:
            batch: The assignments.
            there: (Q) which.
        """
        there[batch.start[1:] - 1] = True
        self.there, self.at = there, np.flatnonzero(there)
        many = np.add.reduceat(there, batch.start[:-1], dtype=np.int64)
        self._start = starts_of(many)
        self._many_of_group = np.add.reduceat(many, batch.first[:-1])

    def total(self, values: Floats) -> Floats:
        """(K, R) the sums of (R, N) values."""
        return np.add.reduceat(values, self._start[:-1], axis=1).T

    def most(self, values: Floats) -> Floats:
        """(K, R) the largest of (R, N) values."""
        return np.maximum.reduceat(values, self._start[:-1], axis=1).T

    def of(self, rows: Ints) -> tuple[Ints, Ints]:
        """Where the queues of each of some assignments begin, and which they are."""
        return ragged_entries(self._start, rows)

    def of_groups(self, values: Floats) -> Floats:
        """(R, N) what (G, R) values are of each one's group."""
        return np.repeat(values.T, self._many_of_group, axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fills:
    """
    How queues fill and empty.

    Attributes:
        queues: The N that may not be empty at the end.
        backlog: (R, N) offsets in them then.
        totals: (T + 1, K, R) offsets of all at the beginning and after each step.
        integrals: (K, R) offset-seconds.
        drained: (K, R) seconds until nothing is left and nothing comes again, infinity beyond the horizon.
    """

    queues: Queues
    backlog: Floats
    totals: Floats
    integrals: Floats
    drained: Floats


def filled(
    batch: AssignmentBatch, waiting: Floats, arrivals: Floats, can: Floats, futures: Futures
) -> Fills:
    """
    The queues of K assignments over all steps of R futures.

    Args:
        batch: The assignments, and how long members stand still on the way there.
        waiting: (Q) offsets at the beginning.
        arrivals: (I, Q) offsets/s in past intervals.
        can: (R, M) offsets/s that are done at most.
        futures: Which intervals come.
    """
    # who has nothing, and never gets more than it can do, has no queue
    most = futures.scale.max(axis=(1, 2))[batch.group].repeat(np.diff(batch.start))
    done = can * STEP_SECONDS
    grows = arrivals.max(axis=0) * STEP_SECONDS * most > done.min(axis=0)[batch.member]
    queues = Queues(batch, grows | (waiting > 0) | (batch.lost > 0))
    due, still = arrivals[:, queues.at] * STEP_SECONDS, batch.lost[queues.at]
    done = done[:, batch.member[queues.at]]
    backlog = np.repeat(waiting[None, queues.at], len(can), axis=0)
    totals = [queues.total(backlog)]
    drained, integrals = np.zeros((2, *totals[0].shape))
    longest = float(batch.lost.max(initial=0.0))
    for step in range(STEPS):
        begins = step * STEP_SECONDS
        if ((still > begins - STEP_SECONDS) & (still <= begins) & (still > 0)).any():
            there = np.zeros_like(queues.there)
            there[queues.at] = (still > begins) | backlog.any(axis=0)
            left = Queues(batch, grows | there)
            stay = left.there[queues.at]
            queues, still = left, still[stay]
            backlog, due, done = (each[:, stay] for each in (backlog, due, done))
        comes = due.take(futures.interval[:, step], axis=0)
        comes *= queues.of_groups(futures.scale[:, :, step])
        if stands := longest > begins:
            now = np.clip(still - begins, 0.0, STEP_SECONDS)
            backlog, area, until = _stood_still(backlog, comes, done, now)
            totals.append(queues.total(backlog))
            integrals += queues.total(area)
            ends = totals[-1] == 0
        else:
            comes -= done
            backlog, before = backlog + comes, backlog
            np.maximum(backlog, 0.0, out=backlog)
            totals.append(queues.total(backlog))
            integrals += (totals[-2] + totals[-1]) / 2 * STEP_SECONDS
            ends = (totals[-1] == 0) & (totals[-2] > 0)
        rows, paths = np.nonzero(ends)
        if len(rows):
            start, at = queues.of(rows)
            each = paths.repeat(np.diff(start)), at
            if stands:
                last = until(*each)
            else:
                last = over(before[each], -comes[each]) * STEP_SECONDS
            last = np.maximum.reduceat(last, start[:-1])
            some = last > 0
            drained[rows[some], paths[some]] = begins + last[some]
    drained[totals[-1] > 0] = np.inf
    return Fills(
        queues=queues,
        backlog=backlog,
        totals=np.array(totals),
        integrals=integrals,
        drained=drained,
    )


def _stood_still(
    backlog: Floats, comes: Floats, done: Floats, still: Floats
) -> tuple[Floats, Floats, Any]:
    """
    A step at whose beginning members stand still.

    Args:
        backlog: (R, N) offsets at its beginning.
        comes: (R, N) offsets that arrive.
        done: (R, N) offsets that are consumed at most if nobody stands still.
        still: (N) seconds in which nothing is.

    Returns:
        (R, N) offsets at its end, offset-seconds within it, and seconds until all that waits is done.
    """
    goes = STEP_SECONDS - still
    comes /= STEP_SECONDS
    waits = comes * still
    waits += backlog
    drains = done / STEP_SECONDS  # infinite where no capacity is known
    drains -= comes
    after, until = worked_off(waits, drains, goes)
    # a member that stands still to the end of the step drains nothing
    idle = goes <= 0
    if idle.any():
        np.copyto(after, waits, where=idle)
    area = np.add(backlog, waits, out=backlog)
    area *= still / 2
    rest = np.add(waits, after, out=drains)
    rest *= np.minimum(until, goes)
    rest /= 2
    area += rest
    return after, area, lambda r, n: np.where(waits[r, n] > 0, until[r, n] + still[n], 0.0)


def worked_off(waits: Floats, drains: Floats, seconds: Floats | float) -> tuple[Floats, Floats]:
    """
    Offsets that are left of those that wait after some seconds, and seconds until nothing is.

    Args:
        waits: Offsets.
        drains: Offsets/s done beyond those that arrive; below 0 more arrive. Infinite: nothing waits.
        seconds: How long it goes on.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        until = waits / drains
        np.copyto(until, np.inf, where=drains <= 0)
        left = drains * seconds
        np.subtract(waits, left, out=left)
        np.copyto(left, 0.0, where=until < seconds)
        return left, until


def over(values: Floats, by: Floats) -> Floats:
    """Values over others; 0 where there is nothing, infinity where that is over nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = values / by
        np.copyto(found, 0.0, where=values <= 0)
        return found
