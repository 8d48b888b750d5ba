"""
Kafka's server-side UniformAssignor, the default of KIP-848 groups: equal counts, kept stable.

Promises, the first before the second, where all members subscribe to the same topics:

1. Members own equally many partitions in total, give or take one.
2. A member keeps what it has, in the order its coordinator walks it, up to its quota. The one more that some own stays
   with those who have it, else goes to the last members in the order of Java's map.

Where subscriptions differ:

1. A member keeps what it still subscribes to; each free partition goes to the subscriber that owns the fewest, topics
   with most partitions per subscriber first.
2. Then topic by topic partitions move from the subscribers that own most to those that own fewest, until they are at
   most one apart or the former have none of this topic left to give; at most 16 times through all topics.

Three members, then a fourth; nothing else moves than what it gets:

>>> from evenkeel.engine.assignors.interface import spec
>>> topics = {"t0": 4, "t1": 4}
>>> before = spec({m: ["t0", "t1"] for m in ("C0", "C1", "C2")}, topics)
>>> owned = before.lists(Uniform().assign(before))
>>> after = spec({m: ["t0", "t1"] for m in ("C0", "C1", "C2", "C3")}, topics, owned=owned)
>>> for member, partitions in after.lists(Uniform().assign(after)).items():
...     print(member, owned.get(member), "->", partitions)
C0 [('t0', 0), ('t0', 1)] -> [('t0', 0), ('t0', 1)]
C1 [('t0', 2), ('t0', 3), ('t1', 0)] -> [('t0', 2), ('t0', 3)]
C2 [('t1', 1), ('t1', 2), ('t1', 3)] -> [('t1', 1), ('t1', 2)]
C3 None -> [('t1', 0), ('t1', 3)]

Cost: O(partitions + subscriptions) in arrays for equal subscriptions; for different ones the same per sweep, array by
array for each topic, and a plain loop over the partitions that balancing moves. Source: `UniformAssignor` of Kafka 4.3
(KIP-848; extras as since 4.0.1, KAFKA-18688; different subscriptions as since 4.0, KAFKA-17710).

What it does not do: it looks at no rack (since 3.8) and no lag, and where subscriptions differ it sees one topic at a
time: of three members with 9, 10 and 11 the first and the last stay two apart when they share no topic.

What a member owns is walked as listed; a snapshot of a live group has it as its coordinator lists it.
Ties are broken by the topics' ids. A topic without a known id gets a stand-in made of its name, so that the answer is
always the same, but the real one may differ where ids decide. Two members whose targets name the same partition can
both keep it, and one that is gone can be kept, as in Kafka; such answers list it as a finding. Where Kafka's class
throws, the group is `Infeasible`.
"""

from __future__ import annotations

from typing import ClassVar

from ..model.assignments import Assignment, Deployment
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kafka.uniform import uniform
from .kit.why import Steps, kept_or_given, owned_of


class Uniform:
    """Kafka's `uniform`."""

    name: ClassVar[str] = "uniform"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset()
    deployment: ClassVar[Deployment] = Deployment.SETTING
    source: ClassVar[str] = (
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor 4.3, KIP-848"
    )
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES - {Promise.ORDER_FREE} | {
        Promise.EVEN_GROUP
    }

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic; a group without members owns nothing.

        Raises:
            Infeasible: Kafka's class throws: what members own contradicts the topics, or each other.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        return uniform(groups)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Who had the partition, and whether it keeps it."""
        return kept_or_given(group, partition, self.assign(group), owned_of(group))
