"""
KIP-925's `balance_subtopology` for a plain group: little crosses racks, and no member has most of a topic.

Promises, the first before the second:

1. Members own equally many partitions, give or take one, where all subscribe to the same. With
   unequal subscriptions counts are those of an assignment in which nobody has two more than somebody
   who could take one over; what the group has now counts as such where it is one, and is kept.
2. Of a topic with S partitions a member with C gets at most ceil(C * 1.0 / n * S), where n is the
   number of partitions of all topics it subscribes to. Where subscriptions differ and nobody can
   keep to that, all limits are raised by the least number that allows an answer, and it is said.
3. Within counts and limits no assignment costs less: `traffic` for each partition without a replica
   in its owner's rack, `move` for each that its present owner does not keep. It is exact.
4. Among those of equal cost, as few partitions as possible move.
5. What is left open follows from topic names, partition numbers and Kafka's order of members.

All of topic t is in rack a. `min_traffic` would give it to C0 whole; here both have their share:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t", "u"], "C1": ["t", "u"]}, {"t": 2, "u": 2}, racks={"C0": "a", "C1": "b"},
...              replicas={"t": [["a"], ["a"]], "u": [["b"], ["a", "b"]]})
>>> answer = BalanceSubtopology().assign(group)
>>> group.lists(answer)
{'C0': [('t', 0), ('u', 1)], 'C1': [('t', 1), ('u', 0)]}

Cost: that of `evenkeel.engine.assignors.flow.rack_flow.solve` with limits: arrays over the partitions, and a few
maximum flows over about 2 |topics| x |members| arcs. Source: KIP-925, section B.II,
`RackAwareTaskAssignor` of Kafka 4.3 with a partition for a task and a topic for a sub-topology.

What it does not do: it cannot be deployed, Kafka has it for the tasks of Streams applications only.
It looks at no lag. A missing rack makes it infeasible, as it switches Kafka's off.
"""

from __future__ import annotations

from typing import ClassVar

from ..model.assignments import Assignment, Deployment
from .flow.min_cost import DEFAULT_WEIGHTS, Weights, cheapest
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kit.why import Steps, at_fixed_counts


class BalanceSubtopology:
    """KIP-925's `balance_subtopology`."""

    name: ClassVar[str] = "balance_subtopology"
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
        return cheapest(groups, self.weights, balance_topics=True)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Counts are fixed before, then racks decide, then the fewest moves."""
        return at_fixed_counts(group, partition, self.assign(group), group.member_rack)
