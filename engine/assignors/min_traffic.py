"""
KIP-925's `min_traffic` for a plain group: the least that crosses racks, with counts as even as now.

Promises, the first before the second:

1. Members own equally many partitions, give or take one, where all subscribe to the same. With
   unequal subscriptions counts are those of an assignment in which nobody has two more than somebody
   who could take one over; what the group has now counts as such where it is one, and is kept.
2. With these counts no assignment costs less: `traffic` for each partition without a replica in its
   owner's rack, `move` for each that its present owner does not keep. It is exact.
3. Among those of equal cost, as few partitions as possible move.
4. What is left open follows from topic names, partition numbers and Kafka's order of members.

Two members, each with the partitions of the other's rack, and one that is on both:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 4}, racks={"C0": "a", "C1": "b"},
...              replicas={"t": [["b"], ["a", "b"], ["a"], ["b"]]},
...              owned={"C0": [("t", 0), ("t", 1)], "C1": [("t", 2), ("t", 3)]})
>>> answer = MinTraffic().assign(group)
>>> group.lists(answer)
{'C0': [('t', 1), ('t', 2)], 'C1': [('t', 0), ('t', 3)]}
>>> [(fact.kind.value, fact.measure, fact.after) for fact in answer.proof]
[('exact', 'assignment_cost', 2), ('remark', 'cross_rack_partitions', 0), ('remark', 'new_owners', 2)]

Cost: that of `evenkeel.engine.assignors.flow.rack_flow.solve`: arrays over the partitions and a flow network of a few
dozen arcs; more where subscriptions differ. Source: KIP-925, section B.I, `RackAwareTaskAssignor`
of Kafka 4.3 with a partition for a task and a member for a client.

What it does not do: it cannot be deployed, Kafka has it for the tasks of Streams applications only;
it shows how little would have to cross. It looks at no lag, and does not spread a topic over
members (`balance_subtopology` does). A missing rack makes it infeasible, as it switches Kafka's off.
"""

from __future__ import annotations

from typing import ClassVar

from ..model.assignments import Assignment, Deployment
from .flow.min_cost import DEFAULT_WEIGHTS, Weights, cheapest
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kit.why import Steps, at_fixed_counts


class MinTraffic:
    """KIP-925's `min_traffic`."""

    name: ClassVar[str] = "min_traffic"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions", "tasks"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks"})
    deployment: ClassVar[Deployment] = Deployment.BASELINE
    source: ClassVar[str] = "KIP-925, RackAwareTaskAssignor 4.3"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_GROUP}

    def __init__(self, weights: Weights = DEFAULT_WEIGHTS) -> None:
        """
        Args:
            weights: What crossing racks and moving cost.
        """
        self.weights = weights

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic, and the total cost that proves it; a
            group without members owns nothing.

        Raises:
            Infeasible: A rack is missing; the message names where.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        return cheapest(groups, self.weights, balance_topics=False)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Counts are fixed before, then racks decide, then the fewest moves."""
        return at_fixed_counts(group, partition, self.assign(group), group.member_rack)
