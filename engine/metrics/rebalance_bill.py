"""
What rebalances cost: for how long partitions paused, how many records that delayed, and the same with other settings.

A rebalance pauses all partitions under an eager protocol, and those that are reassigned under a cooperative one or
where the broker reconciles (KIP-848). A static member that restarts pauses its own for as long as it is away (KIP-345).
The partitions of a member that fails pause until its session, or its time between two polls, expires.

>>> import numpy as np
>>> nobody = np.zeros(2, bool)
>>> one = Paused(rebalances=2, eager=True, moved=np.array([True, False]), restarted=nobody, failed_seconds=np.zeros(2))
>>> one.seconds(Pauses()).tolist(), one.cooperative().seconds(Pauses()).tolist()
([10.0, 10.0], [5.0, 0.0])

Source: KIP-345, KIP-429, KIP-848.

What it does not do: see the pauses themselves, unless members were behind (`rebalances`): the pause of a rebalance is
measured, configured, or the usual one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..model.arrays import Flags, Floats
from ..model.pauses import Pauses
from ..model.states import Remedy
from .rebalance_causes import Caused


@dataclass(frozen=True, kw_only=True, eq=False)
class Paused:
    """
    What pauses the partitions of a group in one interval.

    Attributes:
        rebalances: Number of rebalances.
        eager: Whether members revoke everything at each.
        moved: (n) partitions with another owner afterwards.
        restarted: (n) partitions whose owner restarted.
        failed_seconds: (n) for how long nobody consumed a partition before its owner was removed; 0 elsewhere.
        away: Whether restarted members were waited for, as static ones are.
        had: (n) partitions with an owner; None for all.
    """

    rebalances: int
    eager: bool
    moved: Flags
    restarted: Flags
    failed_seconds: Floats
    away: bool = False
    had: Flags | None = None

    def seconds(self, pauses: Pauses) -> Floats:
        """(n) for how long each partition pauses."""
        rebalance = pauses.rebalance_seconds
        if self.away:
            own = np.where(self.restarted, pauses.restart_seconds, 0.0)
        else:
            # others take them over, and the member gets them back
            own = np.where(self.restarted, 2 * rebalance, 0.0)
        if self.eager:
            whole = np.full(len(self.moved), self.rebalances * rebalance)
            if self.away:
                whole += own
        else:
            whole = np.maximum(own, np.where(self.moved, rebalance, 0.0)) * bool(
                self.rebalances or self.away
            )
        whole = whole + self.failed_seconds
        seconds: Floats = whole if self.had is None else np.where(self.had, whole, 0.0)
        return seconds

    def cooperative(self) -> Paused:
        """The same if members kept what is not reassigned."""
        return replace(self, eager=False)

    def static(self, joins: int) -> Paused:
        """The same if restarted members had an instance id, and only so many rebalances were left."""
        moved = self.moved & ~self.restarted
        return replace(self, rebalances=joins, moved=moved, away=True)


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
        moved: Number of partitions with another owner; None while the group is still rebalancing.
        with_remedy: The same with another setting, where it applies.
    """

    cost: Cost
    moved: int | None
    with_remedy: Mapping[Remedy, Cost]


def bill(caused: Caused, rates: Floats, pauses: Pauses, *, consumer_protocol: bool) -> Bill:
    """
    The cost of some rebalances.

    Args:
        caused: The rebalances.
        rates: (n) incoming records/s of the group's partitions; nan unknown.
        pauses: For how long a rebalance pauses partitions, and a restart; *eager* is whether members revoke everything.
        consumer_protocol: Whether the group uses the consumer protocol (KIP-848) already.
    """
    paused = Paused(
        rebalances=caused.number,
        eager=pauses.eager,
        moved=caused.moved,
        restarted=caused.of_restarted,
        failed_seconds=caused.of_gone,
        away=caused.static,
        had=caused.was,
    )
    kept = dict[Remedy, Paused]()
    if caused.restarted and not caused.static:
        joins = max(0, caused.number - 2 * len(caused.restarted))
        kept[Remedy.STATIC_MEMBERSHIP] = paused.static(joins)
    if pauses.eager:
        kept[Remedy.COOPERATIVE] = paused.cooperative()
    if not consumer_protocol:
        kept[Remedy.CONSUMER_PROTOCOL] = paused.cooperative()
    if caused.stuck_seconds and caused.restarted:
        # waited for, they keep what they have, and nobody else pauses
        rest = max(0, caused.number - 2 * len(caused.stuck_seconds))
        away = caused.of_gone > 0
        kept[Remedy.LONGER_SESSION_TIMEOUT] = replace(
            paused, rebalances=rest, moved=paused.moved & ~away, restarted=paused.restarted & ~away
        )
    return Bill(
        cost=_cost(paused.seconds(pauses), rates),
        moved=None if caused.moving else int(caused.moved.sum()),
        with_remedy={name: _cost(each.seconds(pauses), rates) for name, each in kept.items()},
    )


def _cost(seconds: Floats, rates: Floats) -> Cost:
    paused = seconds > 0
    known = not np.isnan(rates[paused]).any()
    records = float((seconds * np.where(paused, rates, 0.0)).sum()) if known else None
    return Cost(seconds=float(seconds.sum()), records=records)
