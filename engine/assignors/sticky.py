"""
Kafka's StickyAssignor: balanced first, and then as few moves as balance allows.

Promises, the first before the second:

1. Balance. When all members subscribe to the same topics, they own equally many partitions, give or take one. When
   they do not, partitions move until nobody could take one over from somebody with at least two more.
2. Stickiness. Members keep what they owned, as told in their user data, as far as 1 allows and nobody tells the same
   of a newer generation. Where racks make a difference they keep only what has a replica on their rack (KIP-881).
3. What is free goes to members on its racks where these make a difference, as far as 1 allows.

One partition moves when C2 joins, none between the others:

>>> from evenkeel.engine.assignors.interface import rejoining, spec
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 5})
>>> group.lists(Sticky().assign(group))
{'C0': [('t', 0), ('t', 2), ('t', 4)], 'C1': [('t', 1), ('t', 3)]}
>>> members = {"C0": ["t"], "C1": ["t"], "C2": ["t"]}
>>> group = rejoining(spec(members, {"t": 5}), Sticky().assign(group).owner)
>>> group.lists(Sticky().assign(group))
{'C0': [('t', 0), ('t', 2)], 'C1': [('t', 1), ('t', 3)], 'C2': [('t', 4)]}

Cost: with equal subscriptions O(partitions) in whole arrays, and a step per partition where racks matter; else
O(subscriptions + partitions) for handing out and a few array operations per move. Source: `StickyAssignor` and
`AbstractStickyAssignor` of Kafka 4.3 (KIP-54, generations KIP-341, racks KIP-881), lists in Kafka's order.

What it does not do: it looks at no lag, and instance ids do not matter to it. Everybody gives up everything before the
rebalance; `cooperative-sticky` does without that. Broken input brings out what Kafka's class makes of it: a
partition that has vanished is kept, another given to two members, or a member gets a topic it does not subscribe to.
Such answers carry findings; where the class throws, there is no answer. The order of members in the input shows only
between ids that share a bucket of a Java HashMap, which is why independence of it is not promised.
"""

from __future__ import annotations

from typing import ClassVar

from ..model.assignments import Assignment, Deployment
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kafka.sticky import explained, sticky_answers
from .kafka.sticky.plan import MemberData
from .kit.why import Steps


class Sticky:
    """Kafka's `sticky`."""

    name: ClassVar[str] = "sticky"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks", "user_data"})
    deployment: ClassVar[Deployment] = Deployment.SETTING
    source: ClassVar[str] = "org.apache.kafka.clients.consumer.StickyAssignor 4.3, KIP-54"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES - {Promise.ORDER_FREE} | {
        Promise.EVEN_GROUP
    }

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic, in the order of Kafka's lists; what Kafka's class would
            send and what is wrong with it, where owners cannot say it.

        Raises:
            Infeasible: Kafka's class throws on this group; the message names the exception.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        return sticky_answers(groups, _told)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Its racks, where they count; who had the partition, and whether it keeps it."""
        claims = group.user_data_start, group.user_data_topic, group.user_data_partition
        return explained(group, partition, self.assign(group), claims)


def _told(groups: GroupSpec) -> MemberData | None:
    """An eager member owns nothing any more when it joins, so the past stands in its user data."""
    if not len(groups.user_data_topic):
        return None
    return MemberData(
        start=groups.user_data_start,
        topic=groups.user_data_topic,
        partition=groups.user_data_partition,
        generation=groups.user_data_generation,
    )
