"""A group as queues in canonical order, the best assignment that is found for it, and what is proven of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...metrics.forecast import HORIZON_SECONDS
from ...model.arrays import NONE, Floats, Indices, Ints
from ...model.facts import Fact, FactKind
from ..interface import GroupSpec
from ..kit.kernels import Tally, at_work
from ..kit.members import Seats, seats
from .queues import Held, Queues, searched, tried

COMPLETE = 5_000
"""With no more assignments than this, all are tried."""

_FEW = 20
"""Partitions up to which some work goes into trying all assignments."""

_NOTHING = 1e-9
"""A share of a lag integral that is not worth a move, and that sums of its parts may be off."""

_SLIGHT = 1e-5
"""A step of the search saves more than this share of the lag integral."""

_FOREVER = 1e15
"""Seconds to look ahead where no capacity is known."""

_ASKED = Tally()
"""What this process has asked of the loops; only their form depends on it, never an answer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Backlogged:
    """
    A group with a backlog: M members in Kafka's order, N partitions somebody subscribes to by topic name and number.

    Attributes:
        member: (M) index in the group.
        partition: (N) index in the group.
        queues: Both as queues, what a change of the assignment holds up among the backlog.
        backlog: (N) offsets where nothing changes.
        complete: Whether everybody may keep what it has, and each partition has an owner.
        remarks: What was not known.
    """

    member: Indices
    partition: Ints
    queues: Queues
    backlog: Floats
    complete: bool
    remarks: tuple[Fact, ...]

    @property
    def in_proportion(self) -> bool:
        """Whether no capacity is known: lag integrals are proportions then, not offset-seconds."""
        return self.queues.horizon == _FOREVER


def backlogged(group: GroupSpec, backlog: Floats, its_seats: Seats | None = None) -> Backlogged:
    """
    Args:
        group: The group.
        backlog: (P) offsets.
        its_seats: Its members and partitions in canonical order, where they are at hand.
    """
    order, partition, topic_class, may, owner, holder = its_seats or seats(group)[0]
    capacity, rate, waits = group.capacity[order], group.rate[partition], backlog[partition]
    rates, remarks = ~np.isnan(rate), list[Fact]()
    if np.isnan(capacity).all():
        capacity, rate, horizon = np.ones(len(order)), np.zeros(len(partition)), _FOREVER
        remarks.append(Fact(kind=FactKind.REMARK, measure="no_capacity_known"))
    else:
        capacity = np.where(np.isnan(capacity), np.median(capacity[~np.isnan(capacity)]), capacity)
        unknown, horizon = int((~rates).sum()), HORIZON_SECONDS
        rate = np.where(rates, rate, rate[rates].mean() if rates.any() else 0.0)
        measure = "unknown_rates" if rates.any() else "no_arrivals_known"
        if unknown:
            remarks.append(Fact(kind=FactKind.REMARK, measure=measure, partitions=unknown))
    seconds, more = _standstill(group)
    gone = (owner != NONE) & (holder == NONE)  # changes hands whatever is done
    return Backlogged(
        member=order,
        partition=partition,
        queues=Queues(
            lag=waits + rate * (seconds[partition] + more * gone),
            extra=rate * more * (holder != NONE),
            rate=rate,
            capacity=capacity,
            topic_class=topic_class,
            may=may.ravel(),
            holder=holder,
            horizon=horizon,
        ),
        backlog=waits,
        complete=bool((holder != NONE).all())
        and len(partition) == int((group.owner != NONE).sum()),
        remarks=tuple(remarks),
    )


def _standstill(group: GroupSpec) -> tuple[Floats, float]:
    """(P) seconds that each partition stands still while one member restarts, and how many more if it is reassigned."""
    now, times = group.owner, 1 / max(len(group.members), 1)
    seconds = group.pauses.held_up_seconds(group.static, now, now, rolls=1, times=times)
    return seconds, 0.0 if group.pauses.eager else group.pauses.rebalance_seconds


def integrals(queues: Queues, owner: Ints, lag: Floats) -> Floats:
    """
    (M + 1) the lag integral of each member, the last of what nobody owns.

    Args:
        queues: `Queues`.
        owner: (n) who owns each partition, NONE for nobody.
        lag: (n) offsets.
    """
    members = len(queues.capacity)
    place = owner % (members + 1)
    lag = lag + queues.extra * (owner != queues.holder)
    backlog = np.bincount(place, lag, members + 1).astype(np.float64)
    spare: Floats = np.append(queues.capacity, 0.0) - np.bincount(place, queues.rate, members + 1)
    return _integral(backlog, spare, queues.horizon)


def _integral(backlog: Floats, spare: Floats, horizon: float) -> Floats:
    drains = backlog < spare * horizon
    until = np.divide(backlog, spare, out=np.full(len(backlog), horizon), where=drains)
    until = np.where((backlog <= 0) & (spare >= 0), 0.0, until)
    found: Floats = until * (backlog - spare * until / 2)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drained:
    """
    What came of it.

    Attributes:
        owner: (n) who owns it.
        integral, staying: Of the answer and of what there is now, offset-seconds or in proportion.
        floor: What no assignment is below.
        proven: Whether nothing is better, and nothing as good takes fewer moves.
    """

    owner: Ints
    integral: float
    staying: float
    floor: float
    proven: bool


def solve(group: Backlogged, steps: int) -> Drained:
    """
    Args:
        group: The group.
        steps: Elementary steps the search may take, of a group of 1,000 partitions.
    """
    queues, staying = (
        group.queues,
        float(integrals(group.queues, group.queues.holder, group.backlog).sum()),
    )
    work = steps * (1_000 + 3 * len(queues.lag)) // 3_000
    order = np.lexsort((-queues.rate, -queues.lag))
    alone, floor = _alone(queues), floor_of(queues)
    answers = [queues.holder] if group.complete else []
    worth = [staying] if group.complete else []
    for owners in (queues.holder, np.full(len(order), NONE)):
        answers.append(_searched(queues, order, owners, work))
        worth.append(float(integrals(queues, answers[-1], queues.lag).sum()))
    # nothing that is better by rounding alone is worth a move
    chosen = next(i for i, one in enumerate(worth) if one <= min(worth) * (1 + _NOTHING))
    owner, least = answers[chosen], worth[chosen]
    if group.complete and least >= staying:
        owner, least = queues.holder, staying
    proven = least <= floor and bool((owner == queues.holder).all())
    choices = queues.may.reshape(-1, len(queues.capacity)).sum(axis=1)[queues.topic_class]
    # of large groups there are more ways than a float counts
    ways = 2.0 ** min(float(np.log2(choices).sum()), 1_000.0)
    if not proven and (ways <= COMPLETE or len(order) <= _FEW):
        left = 1 << 40 if ways <= COMPLETE else steps // 25
        owner, least, proven = _all_tried(
            queues, order, alone, owner, least, left, int(min(ways, left))
        )
    return Drained(
        owner=owner, integral=least, staying=staying, floor=min(floor, least), proven=proven
    )


def filled(group: Backlogged) -> Ints:
    """(n) who owns it where nothing moves, and what nobody has goes where it costs least."""
    order = np.lexsort((-group.queues.rate, -group.queues.lag))
    return _searched(group.queues, order, group.queues.holder, -1)


def floor_of(queues: Queues) -> float:
    """What no change of the assignment has a smaller lag integral than."""
    return max(_pooled(queues), float(_alone(queues).sum()))


def _alone(queues: Queues) -> Floats:
    """(n) the lag integral of each partition had it the best of its subscribers for itself: what it adds at least."""
    may = queues.may.reshape(-1, len(queues.capacity))
    best = np.where(may, queues.capacity, -np.inf).max(axis=1)[queues.topic_class]
    return _integral(queues.lag, best - queues.rate, queues.horizon)


def _pooled(queues: Queues) -> float:
    """The lag integral if all members were one, and nothing changed hands."""
    used = queues.capacity[queues.may.reshape(-1, len(queues.capacity)).any(axis=0)]
    left = used.sum() - queues.rate.sum()
    return float(_integral(queues.lag.sum(keepdims=True), np.array([left]), queues.horizon)[0])


def _searched(queues: Queues, order: Ints, owners: Ints, work: int) -> Ints:
    """(n) what comes of *owners* (n; NONE for nobody), dealt out and improved."""
    held, rules = Held.nothing(queues), queues
    missing, size = int((owners == NONE).sum()), len(order) + len(queues.capacity)
    run: Any = at_work(searched, missing * len(queues.capacity) // 2 + size * 9, _ASKED)
    if run is searched:
        rules, held = _lists(queues), _lists(held)
        order, owners = order.tolist(), owners.tolist()
    left = run(rules, held, order, owners, _SLIGHT, work)
    _ASKED.add(2 * max(work - left, 0))
    return np.array(held.owner, np.int64)


def _lists(arrays: Any) -> Any:
    """For the interpreter, which walks lists faster than arrays."""
    return type(arrays)(*(v.tolist() if isinstance(v, np.ndarray) else v for v in arrays))


def _all_tried(
    queues: Queues, order: Ints, alone: Floats, owner: Ints, least: float, left: int, steps: int
) -> tuple[Ints, float, bool]:
    """A better one, if there is any: proven unless the work runs out. About *steps* of it will be taken."""
    rest = np.append(np.cumsum(alone[order][::-1])[::-1], 0.0)
    moves = int(((queues.holder != NONE) & (queues.holder != owner)).sum())
    run: Any = at_work(tried, steps, _ASKED)
    rules: Any = queues
    arrays: Any = (order, rest, owner.copy())
    if run is tried:
        rules, arrays = _lists(queues), tuple(each.tolist() for each in arrays)
    best, left = run(rules, arrays[0], arrays[1], least, moves, arrays[2], left)
    return np.array(arrays[2], np.int64), best, left >= 0


def proof(group: Backlogged, answer: Drained) -> tuple[Fact, ...]:
    """That the lag integral and the moves are the least, or the floor of the first; then what was not known."""
    exact = answer.proven or answer.integral <= answer.floor * (1 + _NOTHING)
    kind = FactKind.EXACT if exact else FactKind.WITHIN
    claims = [
        Fact(
            kind=kind,
            measure="lag_integral",
            before=answer.staying,
            after=answer.integral,
            bound=answer.floor,
            unit="offset-seconds",
        ),
        Fact(kind=FactKind.EXACT if answer.proven else FactKind.NOT_PROVEN, measure="moves"),
    ]
    if group.in_proportion:
        kind = FactKind.EXACT if exact else FactKind.NOT_PROVEN
        claims[0] = Fact(kind=kind, measure="lag_integral")
    return (*claims, *group.remarks)
