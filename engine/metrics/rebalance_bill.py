"""
What rebalances cost: for how long partitions paused, how many records that delayed, and the same with other settings.

Members hear of a rebalance at their next heartbeat. So, for a heartbeat interval *h*, on average:

| partition | eager | cooperative | consumer protocol |
| --- | --- | --- | --- |
| whose member left (`released`) | h / 2 | h / 2 | h / 2 |
| that a living member hands over (`handed`) | as the next | h | h / 2 |
| any other, at each rebalance (`stayed`) | 0 | 0 | 0 |

Eager members give up everything, and have it again once the last of them has heard: at once, since their heartbeats run
in step, having begun together after the rebalance before. If they are late because they poll late, a pause that was
measured or configured says so; under other protocols it replaces the other two.

A static member that restarts pauses its own partitions for as long as it is away (KIP-345). If that is unknown, it is
the usual time, or half of the interval between snapshots, within which it returned, if that is less. The partitions of
a member that fails pause until its session, or its time between two polls, expires. A snapshot finds that, on average,
in the middle.

>>> import numpy as np
>>> nobody = np.zeros(2, bool)
>>> one = Paused(released=np.array([True, False]), handed=nobody, restarted=nobody, failed_seconds=np.zeros(2))
>>> for basis in (PauseBasis.USUAL, PauseBasis.OBSERVED):
...     pause = Pause(seconds=4.0, basis=basis, observed=0)
...     eager = rebalance_pause(Protocol.EAGER, 3.0, pause)
...     cooperative = rebalance_pause(Protocol.COOPERATIVE, 3.0, pause)
...     print(one.seconds(eager, rebalances=2), one.seconds(cooperative, rebalances=2))
[1.5 0. ] [1.5 0. ]
[9.5 8. ] [4. 0.]

Source: KIP-345, KIP-429, KIP-848; held against what members logged in `tests/unit/metrics/test_rebalances_recorded.py`.

What it does not do: see the time that a member needs until it polls and so gives up its partitions, unless members were
behind (`rebalances`). Until a member has fetched its first record another half second or so goes by.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..model.arrays import Flags, Floats
from ..model.pauses import Pause
from ..model.states import PauseBasis, Remedy
from .rebalance_causes import Caused
from .rebalances import HEARTBEAT

CONSUMER_HEARTBEAT = 5.0
"""Seconds between two heartbeats under the consumer protocol, by default: `group.consumer.heartbeat.interval.ms`."""


class Protocol(enum.Enum):
    """How the members of a group give up partitions."""

    EAGER = enum.auto()
    COOPERATIVE = enum.auto()
    CONSUMER = enum.auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalancePause:
    """
    For how long one rebalance pauses a partition, in seconds.

    Attributes:
        released: If its member left.
        handed: If a living member hands it over.
        stayed: If it stays where it is.
    """

    released: float
    handed: float
    stayed: float


def rebalance_pause(protocol: Protocol, heartbeat: float, pause: Pause) -> RebalancePause:
    """
    How one rebalance pauses partitions.

    Args:
        protocol: How members give up partitions.
        heartbeat: Seconds between two heartbeats of a member.
        pause: What was measured or configured; the usual one says nothing.
    """

    def known(expected: float) -> float:
        if pause.basis is PauseBasis.USUAL:
            return expected
        return min(expected, pause.seconds) if pause.basis is PauseBasis.AT_MOST else pause.seconds

    half = heartbeat / 2
    if protocol is Protocol.EAGER:
        return RebalancePause(released=half, handed=known(0.0), stayed=known(0.0))
    handed = heartbeat if protocol is Protocol.COOPERATIVE else half
    return RebalancePause(released=known(half), handed=known(handed), stayed=0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Paused:
    """
    What pauses the partitions of a group in one interval.

    Attributes:
        released: (n) partitions whose member left, or restarted as a dynamic one.
        handed: (n) partitions that a living member gave to another.
        restarted: (n) partitions whose member restarted and was waited for, as a static one is.
        failed_seconds: (n) for how long nobody consumed a partition before its member was removed; 0 elsewhere.
        had: (n) partitions with an owner; None for all.
    """

    released: Flags
    handed: Flags
    restarted: Flags
    failed_seconds: Floats
    had: Flags | None = None

    def seconds(
        self, pause: RebalancePause, *, rebalances: int, restart_seconds: float = 0.0
    ) -> Floats:
        """(n) for how long each partition paused in some rebalances, and while its member restarted."""
        moves = np.where(self.released, pause.released, 0.0)
        moves += np.where(self.handed, max(0.0, pause.handed - pause.stayed), 0.0)
        whole = rebalances * pause.stayed + moves + self.failed_seconds
        whole += np.where(self.restarted, restart_seconds, 0.0)
        seconds: Floats = whole if self.had is None else np.where(self.had, whole, 0.0)
        return seconds

    def waited_for(self, away: Flags) -> Paused:
        """The same if the members of some partitions had been waited for."""
        return replace(self, released=self.released & ~away, handed=self.handed & ~away)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """
    What rebalances cost.

    Attributes:
        seconds: Partition-seconds without consumption.
        records: Records that arrived meanwhile; None unknown.
    """

    seconds: float
    records: float | None


@dataclass(frozen=True, kw_only=True)
class Bill:
    """
    The cost of the rebalances of a group in one interval.

    Attributes:
        cost: As it was.
        pause_seconds: For how long a rebalance pauses partitions whose member left.
        with_remedy: The same with another setting, where it applies.
    """

    cost: Cost
    pause_seconds: float
    with_remedy: Mapping[Remedy, Cost]


def bill(
    caused: Caused,
    rates: Floats,
    protocol: Protocol,
    *,
    heartbeat: float,
    rebalance: Pause,
    restart: Pause,
) -> Bill:
    """
    The cost of some rebalances.

    Args:
        caused: The rebalances.
        rates: (n) incoming records/s of the group's partitions; nan unknown.
        protocol: How the group's members give up partitions.
        heartbeat: Seconds between heartbeats of a member of the consumer protocol.
        rebalance, restart: For how long a rebalance pauses partitions, and a member restarts.
    """
    static = caused.of_restarted & caused.static
    paused = Paused(
        released=caused.released,
        handed=caused.handed,
        restarted=static,
        failed_seconds=caused.failed_seconds,
        had=caused.was,
    )
    away = restart.seconds
    if restart.basis in (PauseBasis.USUAL, PauseBasis.AT_MOST):
        away = min(away, caused.seconds / 2)

    def lasts(protocol: Protocol) -> RebalancePause:
        every = heartbeat if protocol is Protocol.CONSUMER else HEARTBEAT
        return rebalance_pause(protocol, every, rebalance)

    def cost(paused: Paused, pause: RebalancePause, rebalances: int = caused.number) -> Cost:
        seconds = paused.seconds(pause, rebalances=rebalances, restart_seconds=away)
        known = not np.isnan(rates[seconds > 0]).any()
        records = float((seconds * np.where(seconds > 0, rates, 0.0)).sum()) if known else None
        return Cost(seconds=float(seconds.sum()), records=records)

    usual, kept = lasts(protocol), dict[Remedy, Cost]()
    if caused.restarted and not caused.static:
        back = replace(paused.waited_for(caused.of_restarted), restarted=caused.of_restarted)
        joins = max(0, caused.number - 2 * len(caused.restarted))
        kept[Remedy.STATIC_MEMBERSHIP] = cost(back, usual, joins)
    if protocol is Protocol.EAGER:
        kept[Remedy.COOPERATIVE] = cost(paused, lasts(Protocol.COOPERATIVE))
    if protocol is not Protocol.CONSUMER:
        kept[Remedy.CONSUMER_PROTOCOL] = cost(paused, lasts(Protocol.CONSUMER))
    if caused.stuck_seconds and caused.restarted:
        # they keep what they have, and nobody else pauses
        rest = max(0, caused.number - 2 * len(caused.stuck_seconds))
        longer = paused.waited_for(caused.failed_seconds > 0)
        remedy = (
            Remedy.LONGER_SESSION_ON_BROKERS
            if protocol is Protocol.CONSUMER
            else Remedy.LONGER_SESSION_TIMEOUT
        )
        kept[remedy] = cost(longer, usual, rest)
    return Bill(cost=cost(paused, usual), pause_seconds=usual.released, with_remedy=kept)
