"""
The cross-rack share as tolls: whole numbers a flow can add up.

The share is a fraction, crossing over known, and both may depend on who owns what. The least fraction c / k is found as
Dinkelbach (1967) does: with the toll k x crossing - c x known for the best c / k so far, an assignment is better
exactly when its tolls add up to less than 0. Nothing crossing is a share of 0, also where nothing is known.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.model import Ints


def share(leeway: Leeway, owner: Ints) -> Fraction:
    """Partitions known to cross racks over those of which it is known; 0 where none is."""
    pattern, site = leeway.pattern, leeway.site[owner]
    crossing = int(leeway.crosses[pattern, site].sum())
    return Fraction(crossing, max(int(leeway.known[pattern, site].sum()), 1))


def steady(leeway: Leeway) -> bool:
    """Whether the number of partitions of which it is known is the same in all assignments."""
    return bool((leeway.known == leeway.known[:, :1]).all())


def tolls(leeway: Leeway, best: Fraction) -> Ints:
    """(patterns, sites) tolls that add up to less than 0 exactly in assignments of a smaller share than *best*."""
    crosses, known = leeway.crosses.astype(np.int64), leeway.known.astype(np.int64)
    return of_a_toll(leeway) * (best.denominator * crosses - best.numerator * known)


def of_a_toll(leeway: Leeway) -> int:
    """What one unit of toll weighs against moves: more than all of them, and a few to spare."""
    return leeway.partitions + 5
