"""
What the group has now: the row that all other strategies are compared with.

Promises nothing but to repeat the current owners: partitions may be without owner, or with one that
no longer subscribes, because that is what the cluster says.

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 3}, owned={"C1": [("t", 0), ("t", 2)]})
>>> group.lists(Live().assign(group))
{'C0': [], 'C1': [('t', 0), ('t', 2)]}

Cost: O(partitions). Source: the group's own description.

What it does not do: it assigns nothing; a group that is rebalancing or empty owns little or
nothing.
"""

from __future__ import annotations

from typing import ClassVar

from ..model.arrays import NONE
from ..model.assignments import Assignment, Deployment
from ..model.facts import reason
from .interface import Answers, GroupSpec, Promise
from .kit.why import Steps


class Live:
    """The current owners."""

    name: ClassVar[str] = "live"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions", "tasks"})
    needs: ClassVar[frozenset[str]] = frozenset()
    deployment: ClassVar[Deployment] = Deployment.LIVE
    source: ClassVar[str] = "the group's own description"
    promises: ClassVar[frozenset[Promise]] = frozenset(
        {Promise.REPEATABLE, Promise.UNTOUCHED, Promise.ORDER_FREE}
    )

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            A copy of the group's current owners.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        return Answers(assignment=Assignment(owner=groups.owner.copy()))

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """That the cluster says so."""
        owner = int(group.owner[partition])
        return (reason("why_has_it", [group.members[owner]]),) if owner != NONE else ()
