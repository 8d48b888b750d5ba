"""
x
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from engine.assignor import USUAL_PROMISES, GroupSpec, Promise
from engine.kit.balanced.problem import problem_of
from engine.kit.balanced.solve import solve
from engine.model import NONE, Assignment, Reach

WORK = 500_000
"""Elementary steps of search per group."""


class Balanced:
    """evenkeel's own strategy."""

    name: ClassVar[str] = "balanced"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks", "lag"})
    reach: ClassVar[Reach] = Reach.PLAN
    source: ClassVar[str] = (
        "evenkeel; convex flow after Frank and Murota, branch and bound over minimum-cost flows"
    )
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_GROUP}

    def __init__(self, work: int = WORK) -> None:
        """
        Args:
            work: Elementary steps the searches may take; with 0 the answer is quick, and its gap larger.
        """
        self.work = work

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic, and in *proof* what is proven of them.
        """
        problem = problem_of(group)
        places, proof = solve(problem, self.work)
        owner = np.full(group.partition_count, NONE, np.int32)
        owner[problem.partition] = problem.member[places]
        return Assignment(owner=owner, proof=proof.sentence())
