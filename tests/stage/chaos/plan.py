"""What is hurt, when and how: drawn from a seed, so that a bad day can be had again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

WEIGHTS: Mapping[tuple[str, str], int] = {
    ("broker", "hangs"): 2,
    ("broker", "is killed"): 2,
    ("postgres", "hangs"): 2,
    ("postgres", "is killed"): 2,
    ("postgres", "is restarted"): 1,
    ("slack", "answers 429"): 1,
    ("slack", "answers 500"): 1,
    ("slack", "keeps it and answers 500"): 2,
    ("slack", "is slow"): 1,
    ("slack", "resets connections"): 1,
    ("slack", "keeps it and resets"): 2,
    ("slack", "keeps it and the sender dies"): 4,
    ("scheduler", "hangs"): 1,
    ("scheduler", "is killed"): 2,
    ("dag-processor", "is killed"): 1,
    ("api-server", "hangs"): 1,
    ("api-server", "is killed"): 1,
    ("task", "is killed"): 3,
    ("spark", "hangs"): 1,
    ("spark", "is killed"): 3,
}
"""How often each happens beside the others."""

GAP_SECONDS = (4.0, 16.0)
LASTS_SECONDS = (5.0, 40.0)
BROKERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """
    Something that is done to a part.

    Attributes:
        at: Seconds from the beginning.
        part: Which.
        how: What is done to it.
        lasts: Seconds until it goes on, is started again, or answers as before.
    """

    at: float
    part: str
    how: str
    lasts: float

    def __str__(self) -> str:
        """A line for people."""
        return f"{self.at:6.0f} s  {self.part} {self.how}, for {self.lasts:.0f} s"


def plan_of(seed: int, seconds: float) -> list[Blow]:
    """
    What is done in so many seconds; all of it is over by then.

    No part is hurt twice at the same time, and one broker at most: more is a cluster that is gone.

    >>> plan_of(7, 60) == plan_of(7, 60), plan_of(7, 60) == plan_of(8, 60)
    (True, False)
    """
    rng = random.Random(seed)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    blows: list[Blow] = []
    at = rng.uniform(*GAP_SECONDS)
    while at + LASTS_SECONDS[0] < seconds:
        ((part, how),) = rng.choices(kinds, weights)
        lasts = min(rng.uniform(*LASTS_SECONDS), seconds - at)
        number = rng.randint(1, BROKERS)
        free = not any(b.part.split()[0] == part and b.at + b.lasts + 1 > at for b in blows)
        if free:
            name = f"{part} {number}" if part == "broker" else part
            blows.append(Blow(at=round(at, 1), part=name, how=how, lasts=round(lasts, 1)))
        at += rng.uniform(*GAP_SECONDS)
    return blows
