"""Budgets of work in elementary steps, never seconds, so that the same input gives the same answer."""

from __future__ import annotations

from dataclasses import dataclass

from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.kit.compiled import Tally

ASKED = Tally()
"""What this process has asked of the kernels here; only their form depends on it, never an answer."""

_FEW = 100
"""Partitions up to which branch and bound often comes to an end."""


class Work:
    """
    What a search may still do: pairs looked at, arcs solved, nodes times members.

    >>> work = Work(5)
    >>> work.spend(3), work.spend(3), work.spend(1)
    (True, False, False)
    """

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> bool:
        """Take so many steps off; False, for good, once they are not there."""
        self.left -= steps if self.left >= steps else self.left + 1
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class Effort:
    """
    How much work each search gets.

    Attributes:
        steps: Elementary steps for a small group, some eight million a second.
        complete: The group is so small that searches go on to the end.
    """

    steps: int
    complete: bool = False

    def level(self, leeway: Leeway, times: int = 1) -> Work:
        """For exchanges that lower the largest load, *times* over."""
        return Work(times * self.steps * (1_000 + 3 * leeway.partitions) // 3_000)

    def search(self) -> Work:
        """For placing partition after partition."""
        return Work(self.steps // 4)

    def branch(self, leeway: Leeway, cap: int) -> Work:
        """For branch and bound, which has more to say of few partitions, or where one weighs half the cap."""
        apt = leeway.partitions <= _FEW or 2 * int(leeway.lag.max()) > cap
        return Work(self.steps * (1_000 + leeway.partitions) // (1_000 if apt else 3_000))

    def dive(self, leeway: Leeway) -> Work:
        """For branch and bound towards a first assignment under the cap."""
        return Work(self.steps * (1_000 + leeway.partitions) // 3_000)

    def refund(self) -> Work:
        """For exchanges that lower the price."""
        return Work(self.steps // 4)
