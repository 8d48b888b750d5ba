"""What arrives at each pair of twins, how fast their members are, and what happens to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import cycle, islice

import numpy as np

from evenkeel.engine.model.arrays import Floats

INTERVAL = 15.0
"""Seconds that an interval of a curve takes here, and from one snapshot to the next."""

RATE = 36.0
"""Records/s that arrive at a topic, in the mean."""

WARM = 150.0
"""Seconds until the first group switches: the slowest member is behind by then."""

SHARES = (0.32, 0.26, 0.12, 0.1, 0.1, 0.1)
"""What each partition gets of that: `range` puts the first two together, all others take them apart."""

SPEEDS = (0.48, 0.44, 0.36, 0.4)
"""Records/s that each member can do, over `RATE`; the last is the one that a scaler adds."""

MEMBERS = 3

MOVED = (0.1, 0.26, 0.12, 0.31, 0.11, 0.1)
"""`SHARES` once a hot key has moved to another partition: then `range` would do, too."""


class Kind(StrEnum):
    """What happens to a pair, as the table calls it."""

    TRACE = "trace"
    MORE = "traffic x 1.4 at the switch"
    LESS = "traffic x 0.5 at the switch"
    HOT_KEY = "a hot key moves after the switch"
    CONTENTION = "each busy member slows the others"
    SCHEDULE = "scaler by schedule"
    SCALER = "scaler by lag"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """
    Two groups on one topic.

    Attributes:
        name: Of the pair; its topic and its groups are named after it.
        kind: What happens.
        strategy: What one of them switches to; None: both stay.
        curve: (I) records/s in one `INTERVAL` after the other.
        factor: What arrivals are multiplied by from the switch on.
        moves_after: Seconds after the switch at which a hot key moves; None: it does not.
        contention: By which share of its speed each other busy member slows a member down.
        scheduled: Seconds after the switch between which either group has another member; None: never.
        scale_at: Lag from which on a group gets another member, until it has half of that; None: never.
    """

    name: str
    kind: Kind
    strategy: str | None
    curve: tuple[float, ...] = ()
    factor: float = 1.0
    moves_after: float | None = None
    contention: float = 0.0
    scheduled: tuple[float, float] | None = None
    scale_at: int | None = None

    def rates(self, second: float, since_switch: float | None) -> tuple[float, ...]:
        """
        Records/s that arrive at each partition.

        Args:
            second: Since the beginning.
            since_switch: Seconds since the switch began; None: it did not.
        """
        level = self.curve[min(int(second / INTERVAL), len(self.curve) - 1)]
        shares = SHARES
        if since_switch is not None:
            level *= self.factor
            if self.moves_after is not None and since_switch >= self.moves_after:
                shares = MOVED
        return tuple(level * share for share in shares)

    def speed(self, member: int, busy: int) -> float:
        """
        Records/s that a member can do.

        Args:
            member: Its number, from 0.
            busy: How many other members of its group have something to do.
        """
        return RATE * SPEEDS[member] * (1 - self.contention * busy)

    def wants_more(self, since_switch: float, lag: int, has_more: bool) -> bool:
        """Whether a group is to have one more member than `MEMBERS` now."""
        if self.scheduled is not None:
            first, last = self.scheduled
            return first <= since_switch < last
        if self.scale_at is not None:
            return lag > (self.scale_at / 2 if has_more else self.scale_at)
        return False


SWITCHING = (
    Pair(name="trace-1", kind=Kind.TRACE, strategy="roundrobin"),
    Pair(name="more", kind=Kind.MORE, strategy="roundrobin", factor=1.4),
    Pair(name="hot-key-1", kind=Kind.HOT_KEY, strategy="roundrobin", moves_after=60),
    Pair(name="contention", kind=Kind.CONTENTION, strategy="roundrobin", contention=0.08),
    Pair(name="schedule", kind=Kind.SCHEDULE, strategy="roundrobin", scheduled=(90, 180)),
    Pair(name="scaler", kind=Kind.SCALER, strategy="roundrobin", scale_at=300),
    Pair(name="trace-2", kind=Kind.TRACE, strategy="cooperative-sticky"),
    Pair(name="less", kind=Kind.LESS, strategy="cooperative-sticky", factor=0.5),
    Pair(name="hot-key-2", kind=Kind.HOT_KEY, strategy="cooperative-sticky", moves_after=120),
    Pair(name="trace-3", kind=Kind.TRACE, strategy="roundrobin"),
)
"""Ten pairs of which one group switches."""

NULLS = (
    Pair(name="null-1", kind=Kind.TRACE, strategy=None),
    Pair(name="null-2", kind=Kind.HOT_KEY, strategy=None, moves_after=60),
)
"""Pairs of which none does."""


def pairs(switching: int, nulls: int, curves: Sequence[Floats], intervals: int) -> list[Pair]:
    """
    So many pairs, each with arrivals of its own.

    Args:
        switching: Pairs of which one group switches.
        nulls: Pairs of which none does.
        curves: (I) what arrives at whom, in turn; any scale.
        intervals: How many of them a run takes.
    """
    listed = [*islice(_named(SWITCHING), switching), *islice(_named(NULLS), nulls)]
    return [
        replace(pair, curve=stretch(curve, number // len(curves), intervals))
        for number, (pair, curve) in enumerate(zip(listed, cycle(curves), strict=False))
    ]


def _named(listed: Sequence[Pair]) -> Sequence[Pair]:
    """The pairs, over and over, the later ones under other names."""
    again = [replace(pair, name=f"{pair.name}-again") for pair in listed]
    return [*listed, *again]


def stretch(curve: Floats, number: int, intervals: int) -> tuple[float, ...]:
    """
    Records/s in so many intervals of a curve, `RATE` in the mean.

    Of the stretches that follow one another it takes those that begin about as they go on: what comes before the
    switch is neither a lull, with nobody behind, nor a rush.
    """
    warm = int(WARM / INTERVAL)
    begins = range(0, len(curve) - intervals + 1, intervals)
    usual = [
        at
        for at in begins
        if 0.95 <= curve[at : at + warm].mean() / max(curve[at : at + intervals].mean(), 1e-9) < 1.3
    ]
    at = usual[number % len(usual)]
    taken = curve[at : at + intervals]
    return tuple((taken * RATE / np.mean(taken)).tolist())
