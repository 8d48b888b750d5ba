"""What every candidate of a group is held against, and what one way of looking at it says for or against it."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import Policy
from ..model.facts import Fact
from ..model.figures import Forecast, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAndCandidate:
    """
    What every candidate of a group is held against.

    Attributes:
        score: That of the live assignment.
        forecast: What becomes of the group if it stays; None where that is not known.
        counts: How many partitions its members have; nothing where that is as even as can be.
        partitions: How many partitions the group has.
        lag: Their lag now, in offsets; None unknown.
        arrives_per_second: Offsets/s produced to them; None unknown.
        lag_speaks: Whether the assignment has a part in how far behind the group is; else less lag is no gain.
        policy: What counts as a gain, a loss, and too many moves.
    """

    score: Score
    forecast: Forecast | None
    counts: tuple[Fact, ...]
    partitions: int
    lag: int | None
    arrives_per_second: float | None
    lag_speaks: bool
    policy: Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """
    What a way of looking at a candidate says for or against it.

    Attributes:
        gain: What gets better by enough, and behind it what else is to be said of that.
        loss: What forbids the switch.
        won: How much the gain is worth, in the unit of whoever argues; 0 without one.
        costs: What was taken off of that for the price, in the same unit.
    """

    gain: tuple[Fact, ...] = ()
    loss: tuple[Fact, ...] = ()
    won: float = 0.0
    costs: float = 0.0
