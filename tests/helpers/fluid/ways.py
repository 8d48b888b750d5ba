"""
What each way on would have brought a group: the simulation forked where a switch is told, and where none is.

All ways of a group see the same arrivals, and are simulated side by side to the end of the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from evenkeel.engine.model.arrays import NONE, Floats
from tests.helpers.fluid.fork import OBJECTIVE, lateness
from tests.helpers.fluid.plan import EVERY, STEP, Event, Follow, Group, Owners, Swap, Switch, at
from tests.helpers.fluid.run import History, simulate

HOUR = 3600

AHEAD = (HOUR, 2 * HOUR)
"""Seconds over which ways are compared; to the end of the history where that comes first."""

PLAN = "plan"
"""What members are told by a plan, see `planned`."""

CLASSIC = ("range", "roundrobin", "cooperative-sticky")
MODERN = ("range", "uniform")
"""What a group could be restarted with."""

CHUNK = 60
"""Ways simulated side by side."""

WORTH = 0.05
"""A switch pays if it takes away this share of the lag integral of staying, its own price counted."""


@dataclass(frozen=True, kw_only=True)
class Toll:
    """
    What a group suffers from a snapshot on.

    Attributes:
        record_hours: Records behind, summed up over time.
        member_hours: Hours in which a member has a partition later than the objective, summed up over members; as
            snapshots see it. Partitions without owner count as one member.
        overload: Records/s that members get beyond what they can do, at the end.
    """

    record_hours: float
    member_hours: float
    overload: float


@dataclass(frozen=True, kw_only=True)
class Choice:
    """
    A group at a snapshot that could take a way, or stays.

    Attributes:
        to: A strategy, or `PLAN`.
        owners: The plan, where it is one.
        bounces: Rounds of restarts.
    """

    group: Group
    snapshot: int
    to: str
    owners: Owners | None = None
    bounces: int = 1

    @property
    def stays(self) -> Group:
        """The group, and none of the switches that it plans for later."""
        moment = at(self.snapshot)
        later = (Switch, Follow)
        events = [e for e in self.group.events if not (isinstance(e, later) and e.at >= moment)]
        return replace(self.group, events=tuple(events))

    def takes(self, free: bool = False) -> Group:
        """The group that goes this way; *free*: without stopping anybody."""
        to, moment = self.owners or self.to, at(self.snapshot)
        event: Event = Switch(at=moment, to=to, bounces=self.bounces)
        way = replace(
            self.stays, events=(*self.stays.events, Swap(at=moment, to=to) if free else event)
        )
        return way


@dataclass(frozen=True, kw_only=True)
class Way:
    """What a fork brought: the tolls of staying, of the switch, and of one that stops nobody, over each of `AHEAD`."""

    fork: Choice
    stays: tuple[Toll, ...]
    switches: tuple[Toll, ...]
    free: tuple[Toll, ...] | None = None

    def gain(self, ahead: int = 0) -> float:
        """Record-hours that the switch saves, its price counted."""
        return self.stays[ahead].record_hours - self.switches[ahead].record_hours

    def gain_hours(self, ahead: int = 0) -> float:
        """Member-hours likewise."""
        return self.stays[ahead].member_hours - self.switches[ahead].member_hours

    @property
    def price(self) -> float:
        """Record-hours that getting there costs within the first of `AHEAD`."""
        assert self.free is not None, "it was not gone for free"
        return self.switches[0].record_hours - self.free[0].record_hours

    def pays(self, ahead: int = 0) -> bool:
        """
        Whether somebody is late, and it saves enough, not only by handing a backlog on.

        Members that go on to get as much too much fall behind as before, only others than did.
        """
        stays, switches = self.stays[ahead], self.switches[ahead]
        lasts = switches.overload <= stays.overload * (1 - WORTH)
        return stays.member_hours > 0 and lasts and self.gain(ahead) > WORTH * stays.record_hours


def choices(history: History, group: Group, snapshot: int) -> Iterator[Choice]:
    """
    The ways that a group could take at a snapshot, if it is behind or its load is uneven; none if all is well.

    What its members list takes one round of restarts, what they don't two.
    """
    view = history.moments[snapshot].views[history.place(group.name)]
    if view is None or view.state != "Stable" or len(view.members) < 2:
        return
    now = _Now.of(history, group, snapshot)
    silent = any(now.capacity[number] == 0 for number, _ in view.members)
    if silent or not (now.late or now.uneven):  # who is silent is mended by any restart
        return
    for name in MODERN if group.modern else CLASSIC:
        if name != view.assignor:
            listed = group.modern or name in group.lists
            yield Choice(group=group, snapshot=snapshot, to=name, bounces=1 if listed else 2)
    yield Choice(group=group, snapshot=snapshot, to=PLAN, owners=planned(history, group, snapshot))


@dataclass(frozen=True, kw_only=True)
class _Now:
    """What is true of a group at a snapshot, by partition, and by the members that are there."""

    rates: Floats
    backlog: Floats
    capacity: Floats
    owner: np.ndarray
    late: bool

    @classmethod
    def of(cls, history: History, group: Group, snapshot: int) -> _Now:
        rows, moment = history.rows(group.name), history.moments[snapshot]
        now, then = history.step(snapshot), history.step(snapshot - 2)
        end = history.end
        backlog = end[now, rows] - history.position[now, rows]  # not of all groups and times
        view = moment.views[history.place(group.name)]
        rates = (end[now, rows] - end[then, rows]) / (2 * EVERY)
        return cls(
            rates=rates,
            backlog=backlog,
            capacity=moment.capacity[history.members(group.name)],
            owner=np.array(view.owner if view else ()),
            late=bool((backlog > rates * OBJECTIVE).any()),
        )

    @property
    def uneven(self) -> bool:
        """Whether a member gets half as much again as the mean of its share of capacity, and more than half of it."""
        load = np.bincount(
            self.owner[self.owner != NONE],
            self.rates[self.owner != NONE],
            minlength=len(self.capacity),
        )
        can = np.maximum(self.capacity, 1e-9)
        there = self.capacity > 0
        if not there.any():
            return False
        used, mean = (load / can)[there].max(), load.sum() / self.capacity[there].sum()
        return bool(used > 0.5 and used > 1.5 * mean)


def planned(history: History, group: Group, snapshot: int) -> Owners:
    """
    Who is to own what if all is known: the largest partition first, to the member that is then used least.

    By what arrives and a backlog worked off within an hour, over capacity: what `balanced` promises first, by another
    way (longest processing time first; Graham, 1969), which moves more.
    """
    now = _Now.of(history, group, snapshot)
    view = history.moments[snapshot].views[history.place(group.name)]
    present = [number for number, _ in view.members] if view else []
    work, load = now.rates + now.backlog / HOUR, np.zeros(len(group.members))
    can, owners = np.maximum(now.capacity, 1e-3), [NONE] * len(work)
    for row in np.argsort(-work, kind="stable").tolist():
        topic, had = group.partitions[row][0], now.owner[row]
        able = [m for m in present if topic in (group.members[m].topics or (topic,))]
        used = {m: (load[m] + work[row]) / can[m] for m in able}
        owners[row] = min(able, key=lambda m: (used[m], m != had), default=NONE)
        load[owners[row]] += work[row]
    return tuple(owners)


def walked(history: History, forks: Iterable[Choice], seed: int, *, free: bool) -> Iterator[Way]:
    """
    What each fork brings.

    Args:
        history: All groups; one that plans no switch for later stays as it is there.
        forks: In whatever order.
        seed: That of the history.
        free: Whether to go each way without a price as well.
    """
    every, count = sorted(forks, key=lambda one: one.snapshot), len(history.moments)
    for first in range(0, len(every), CHUNK):
        some = every[first : first + CHUNK]
        sides = {
            "stays": [one.stays for one in some if one.stays != one.group],
            "switches": [one.takes() for one in some],
            "free": [one.takes(free=True) for one in some] if free else [],
        }
        last = min(some[-1].snapshot + AHEAD[-1] // EVERY + 1, count)
        ways = [way for own in sides.values() for way in own]
        went = simulate(ways, last, seed, of=count)
        places = iter(range(len(ways)))
        stays = [next(places) if one.stays != one.group else None for one in some]
        switches = [next(places) for _ in some]
        frees = [next(places) if free else None for _ in some]
        for one, stay, switch, unpriced in zip(some, stays, switches, frees, strict=True):
            yield Way(
                fork=one,
                stays=_tolls(history, history.place(one.group.name), one.snapshot)
                if stay is None
                else _tolls(went, stay, one.snapshot),
                switches=_tolls(went, switch, one.snapshot),
                free=None if unpriced is None else _tolls(went, unpriced, one.snapshot),
            )


def _tolls(history: History, place: int, snapshot: int) -> tuple[Toll, ...]:
    """Of the group at a place, over each of `AHEAD`."""
    rows = slice(int(history.start[place]), int(history.start[place + 1]))
    first = history.step(snapshot)
    own = replace(history, end=history.end[:, rows], position=history.position[:, rows])
    behind, late = own.backlog[first:].sum(axis=1), lateness(own) > OBJECTIVE
    tolls = []
    for seconds in AHEAD:
        last = min(seconds // STEP, len(behind) - 1)
        seen = range(snapshot + 1, min(snapshot + seconds // EVERY + 1, len(history.moments)))
        hours = [_late_members(history, place, late, k) for k in seen]
        area = float(np.trapezoid(behind[: last + 1], dx=STEP))
        tolls.append(
            Toll(
                record_hours=area / HOUR,
                member_hours=sum(hours) * EVERY / HOUR,
                overload=_overload(history, place, min(seen.stop, len(history.moments)) - 1),
            )
        )
    return tuple(tolls)


def _overload(history: History, place: int, snapshot: int) -> float:
    """Records/s that members get beyond what they can do, by what came since the snapshot before last."""
    group, view = history.groups[place], history.moments[snapshot].views[place]
    rows, members = history.rows(group.name), history.members(group.name)
    now, then = history.step(snapshot), history.step(snapshot - 2)
    rates = (history.end[now, rows] - history.end[then, rows]) / (2 * EVERY)
    owner = np.array(view.owner if view else [NONE] * len(rates))
    gets = np.bincount(np.where(owner == NONE, len(group.members), owner), rates)
    can = np.append(history.moments[snapshot].capacity[members], 0.0)
    return float(np.maximum(gets - can[: len(gets)], 0.0).sum())


def _late_members(history: History, place: int, late: np.ndarray, snapshot: int) -> int:
    view = history.moments[snapshot].views[place]
    owner = np.array(view.owner if view else [NONE] * late.shape[1])
    return len(set(owner[late[history.step(snapshot)]].tolist()))
