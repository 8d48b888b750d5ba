"""
What would have become of a group with another assignment: carried from snapshot to snapshot beside its advice.

Two of them are followed. The assignment before a switch, from the last snapshot that shows it: what the switch costs is
in what came since. And for an hour at a time the best deployable strategy, whether or not the group was told: what it
would have saved is the regret.

Each snapshot replays one interval (`metrics.counterfactual`), so what is carried is a few numbers per member. A group
whose members or partitions are others for the moment is passed over; what arrived meanwhile counts with the next
interval. It is given up after an hour, and where an end offset fell.
"""

from __future__ import annotations

import zlib
from base64 import b85decode, b85encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from ..metrics.counterfactual import hottest, late, learned, sums, through, widened, with_nobody
from ..model.arrays import NONE, Flags, Floats, Indices
from ..model.assignments import AdviceState
from ..records.lifecycle import Counterfactual, Course, Regret, ReplayedQueues

PERIOD_SECONDS = 3600.0
"""Over so long the best strategy is followed; then another begins."""

MORE = 0.1
"""A member that is known to keep up with so much may be given more by this share."""

GIVEN_UP_SECONDS = 3600.0
"""Who has other members or partitions for longer is another group."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Present:
    """
    What a snapshot shows of a group, as replays need it; arrays follow its partitions that count, or its members.

    Attributes:
        partitions: Fingerprint of the partitions.
        members: (M) identities, in an order that stays while the assignment does.
        ids: Fingerprint of their ids, which change when they restart.
        assignment: Fingerprint of who owns what; None where nobody owns anything.
        owner: (n) a member, or NONE.
        stuck: (n) partitions that nobody gets on with.
        ends: (n) end offsets.
        rates: (n) offsets/s that arrive.
        backlog: (n) offsets beyond those that wait for the next commit.
        capacity: (3, M) as of `metrics.counterfactual.capacity_ends`.
        as_peers: (M) whose is only taken to be that of their peers.
        lag: Offsets, as it is shown.
        arrives: Offsets/s in all.
        age: Seconds since the last commit, on average.
        delay_seconds: How late its latest partition is; None unknown.
    """

    partitions: str
    members: tuple[str, ...]
    ids: str
    assignment: str | None
    owner: Indices
    stuck: Flags
    ends: Floats
    rates: Floats
    backlog: Floats
    capacity: Floats
    as_peers: Flags
    lag: float
    arrives: float
    age: float
    delay_seconds: float | None

    def waits(self, age: float) -> float:
        """Offsets beyond those that wait for the next commit, if the last one is so many seconds ago."""
        return 0.0 if self.delay_seconds == 0 else max(self.lag - age * self.arrives, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class BestWay:
    """
    The deployable strategy with the best forecast.

    Attributes:
        strategy: Its name.
        owner: (n) who would have each partition.
        price: Offset-seconds that getting there costs.
    """

    strategy: str
    owner: Indices
    price: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Stayed:
    """
    What another assignment would have brought; (3) low, expected, high.

    What is expected is nan, unknown, where a member would have been given more than it is known to do.

    Attributes:
        lag: (3) offsets, as a snapshot would show them.
        delay_seconds: (3) how late.
        saved: (3) offset-seconds since the replay began by which it would have been more than came.
    """

    lag: Floats
    delay_seconds: Floats
    saved: Floats


def begun(
    present: Present,
    owner: Indices,
    at: datetime,
    *,
    strategy: str | None = None,
    state: AdviceState | None = None,
    price: float = 0.0,
) -> Counterfactual:
    """
    Follow an assignment from a snapshot on.

    Args:
        present: What the snapshot shows.
        owner: (n) who would have each partition.
        at: When it was taken.
        strategy: Whose assignment it is; None: the group's own.
        state: How far the group's advice is.
        price: Offset-seconds that getting there costs.
    """
    low, expected, high = map(_numbers, present.capacity)
    return Counterfactual(
        strategy=strategy,
        state=state,
        since=at,
        at=at,
        partitions=present.partitions,
        members=present.members,
        ids=present.ids,
        assignment=present.assignment,
        low=low,
        expected=expected,
        high=high,
        age=present.age,
        waits=present.waits(present.age),
        price=price,
        other=_queues(present, owner, present.age),
        own=_queues(present, present.owner, present.age),
    )


def gone_on(
    way: Counterfactual | None, present: Present | None, at: datetime
) -> Counterfactual | None:
    """
    A replay after one more snapshot; None where it cannot go on.

    Args:
        way: As the snapshot before left it.
        present: What this one shows; None where that is nothing.
        at: When it was taken.
    """
    if way is None:
        return None
    seconds = (at - way.at).total_seconds()
    if present is None or not _fits(way, present) or seconds <= 0:
        return way if seconds <= GIVEN_UP_SECONDS else None
    before = np.array([way.low, way.expected, way.high])
    capacity = learned(before, present.capacity, present.as_peers)
    # who stands still now would have, too
    can = with_nobody(np.where(present.capacity[0] == 0, 0.0, capacity))
    waits = present.waits(way.age)
    came = (way.waits + waits) / 2 * seconds
    other, own = (_through(each, present, can, seconds, came) for each in (way.other, way.own))
    if other is None or own is None:
        return None
    low, expected, high = map(_numbers, capacity)
    return replace(
        way,
        at=at,
        low=low,
        expected=expected,
        high=high,
        waits=waits,
        other=other,
        own=own,
    )


def replayed(course: Course, present: Present | None, at: datetime) -> Course:
    """A course whose replays of the assignment before a switch, one that may come or one that came, have gone on."""
    proposal, uptakes = course.proposal, course.uptakes
    if proposal is not None and proposal.stays is not None:
        proposal = replace(proposal, stays=gone_on(proposal.stays, present, at))
    if uptakes and uptakes[-1].stays is not None:
        last = uptakes[-1]
        uptakes = (*uptakes[:-1], replace(last, stays=gone_on(last.stays, present, at)))
    return replace(course, proposal=proposal, uptakes=uptakes)


def before_switch(
    way: Counterfactual | None, present: Present | None, at: datetime
) -> Counterfactual | None:
    """
    The replay of an assignment from the last snapshot on that shows it, and nobody on the way to another.

    Args:
        way: The replay so far; members that restarted since its beginning may have begun to switch.
        present: What a snapshot shows that has the same assignment; None where that is nothing.
        at: When it was taken.
    """
    lately = way is not None and (at - way.since).total_seconds() <= GIVEN_UP_SECONDS
    if present is None or (way is not None and lately and way.ids != present.ids):
        return way
    return begun(present, present.owner, at)


def with_own(way: Counterfactual | None, present: Present | None) -> Counterfactual | None:
    """The same, its error measured from now on: the group has an assignment of its own since this snapshot."""
    if way is None or present is None or not _fits(way, present):
        return way
    return replace(way, own=_queues(present, present.owner, way.age))


def stayed(way: Counterfactual | None, present: Present | None, at: datetime) -> Stayed | None:
    """What the other assignment would have brought by a snapshot; None where that is not known."""
    if way is None or present is None or way.at != at:
        return None
    lag, late_seconds = _behind(way, way.other, present)
    own_lag, own_late = _behind(way, way.own, present)
    delay = present.delay_seconds
    lag[1], late_seconds[1] = _where_known(way, lag[1]), _where_known(way, late_seconds[1])
    return Stayed(
        lag=widened(lag, float(own_lag[1]), way.waits) + way.age * present.arrives,
        delay_seconds=late_seconds
        if delay is None
        else widened(late_seconds, float(own_late[1]), delay),
        saved=_saved(way),
    )


def regret(way: Counterfactual) -> Regret:
    """What the best strategy would have saved since its replay began, its price taken off."""
    # what getting there costs is known to no more than twice of it
    low, expected, high = map(number, -_saved(way)[::-1] - way.price * np.array([2, 1, 0]))
    assert low is not None
    assert high is not None
    assert way.strategy is not None, "the group's own"
    return Regret(
        since=way.since,
        until=way.at,
        strategy=way.strategy,
        state=way.state,
        came=way.other.came,
        saved_low=low,
        saved=expected,
        saved_high=high,
    )


def is_over(way: Counterfactual, at: datetime, before: datetime) -> bool:
    """
    Whether the time of a replay of the best strategy is over.

    Args:
        way: The replay.
        at: When a snapshot was taken.
        before: When the one before it was.
    """
    return (at - way.since).total_seconds() >= PERIOD_SECONDS - (at - before).total_seconds() / 2


def followed(
    course: Course, present: Present | None, best: BestWay | None, at: datetime
) -> tuple[Counterfactual | None, Regret | None]:
    """
    The replay of the best deployable strategy after one more snapshot, and what it would have saved, if that is over.

    A period ends after an hour, and where the group's own assignment became another.

    Args:
        course: As the snapshot before left it, but for its state.
        present: What this one shows; None where that is nothing.
        best: What would begin now; None where no strategy is forecast to help.
        at: When it was taken.
    """
    way = gone_on(course.best, present, at)
    ended = course.best if way is None else None
    if way is not None and present is not None and way.at == at:
        if way.assignment != present.assignment:
            ended, way = course.best, None
        elif is_over(way, at, course.at):
            ended, way = way, None
    if way is None and best is not None and present is not None:
        way = begun(
            present,
            best.owner,
            at,
            strategy=best.strategy,
            state=course.state,
            price=best.price,
        )
    return way, regret(ended) if ended is not None and ended.at > ended.since else None


def _fits(way: Counterfactual, present: Present) -> bool:
    return (present.partitions, present.members) == (way.partitions, way.members)


def _saved(way: Counterfactual) -> Floats:
    would = widened(np.array(way.other.offset_seconds), way.own.offset_seconds[1], way.own.came)
    would[1] = _where_known(way, would[1])
    return would - way.other.came


def number(value: float) -> float | None:
    """A number, None where it is nan."""
    return None if np.isnan(value) else float(value)


def _where_known(way: Counterfactual, value: float) -> float:
    """What is expected of the other assignment, nan where a member would do more than it is known to."""
    known, arrived = np.array(way.high), np.array(way.other.arrived)[:-1]
    more = arrived > known * max(way.other.seconds, 1.0) * (1 + MORE)
    return np.nan if bool((np.isinf(way.expected) & more).any()) else float(value)


def _queues(present: Present, owner: Indices, age: float) -> ReplayedQueues:
    members, total = len(present.members), float(present.backlog.sum())
    owner = np.where(present.stuck, NONE, owner).astype(np.int32)
    backlog = present.backlog * (present.waits(age) / total) if total else present.backlog
    waits = _numbers(sums(backlog, owner, members))
    return ReplayedQueues(
        owners=_packed(owner),
        ends=_numbers(sums(present.ends, owner, members)),
        arrived=(0.0,) * (members + 1),
        low=waits,
        expected=waits,
        high=waits,
        offset_seconds=(0.0, 0.0, 0.0),
        came=0.0,
        seconds=0.0,
    )


def _through(
    queues: ReplayedQueues, present: Present, can: Floats, seconds: float, came: float
) -> ReplayedQueues | None:
    """Queues after one more interval; None where an end offset fell."""
    ends = sums(present.ends, _unpacked(queues.owners), len(present.members))
    arrived = ends - np.array(queues.ends)
    if bool((arrived < 0).any()):
        return None
    waits = np.array([queues.low, queues.expected, queues.high])
    waits, area = through(waits, arrived, can, seconds)
    low, expected, high = map(_numbers, waits)
    return replace(
        queues,
        ends=_numbers(ends),
        arrived=_numbers(np.array(queues.arrived) + arrived),
        low=low,
        expected=expected,
        high=high,
        offset_seconds=_numbers(np.array(queues.offset_seconds) + area.sum(axis=1)),
        came=queues.came + came,
        seconds=queues.seconds + seconds,
    )


def _behind(way: Counterfactual, queues: ReplayedQueues, present: Present) -> tuple[Floats, Floats]:
    """(3) offsets that wait, and (3) how late the latest partition is."""
    waits = np.array([queues.low, queues.expected, queues.high])
    uneven = hottest(present.rates, _unpacked(queues.owners), np.array(way.expected))
    seconds = late(waits, np.array(queues.arrived), max(queues.seconds, 1.0), uneven)
    return waits.sum(axis=1), seconds


def _numbers(values: Floats | Sequence[float]) -> tuple[float, ...]:
    return tuple(np.asarray(values, np.float64).tolist())


def _packed(owner: Indices) -> str:
    return b85encode(zlib.compress(np.asarray(owner, "<i4").tobytes())).decode()


def _unpacked(owners: str) -> Indices:
    numbers: Indices = np.frombuffer(zlib.decompress(b85decode(owners)), "<i4").astype(np.int32)
    return numbers
