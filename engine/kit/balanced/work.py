"""Budgets of work in elementary steps, never seconds, so that the same input gives the same answer."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kit.balanced.leeway import Leeway


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

    def level(self, leeway: Leeway) -> Work:
        """For exchanges that lower the largest load: a third, and more for large groups."""
        return Work(self.steps * (1_000 + leeway.partitions) // 3_000)

    def search(self) -> Work:
        """For placing partition after partition."""
        return Work(self.steps // 4)

    def branch(self) -> Work:
        """For branch and bound."""
        return Work(self.steps)

    def refund(self) -> Work:
        """For exchanges that lower the price."""
        return Work(self.steps // 4)
