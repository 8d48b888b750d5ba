"""
Kafka's CooperativeStickyAssignor: the sticky plan, carried out without anybody stopping.

Promises, the first before the second:

1. Nobody is given a partition that somebody else says it owns and has not given up yet: such a partition has no owner
   in this round. Its owner sees it missing, gives it up and rejoins, and the next round hands it out.
2. Balance and stickiness of the plan, as in `sticky`. They show once all rounds are through
   (`evenkeel.engine.assignors.kit.settle`).

Of four partitions that `a` owns, `b` is to get two, in the second round:

>>> from evenkeel.engine.assignors.interface import rejoining, spec
>>> group = rejoining(spec({"a": ["t"], "b": ["t"]}, {"t": 4}), np.array([0, 0, 0, 0]))
>>> answer = CooperativeSticky().assign(group)
>>> group.lists(answer), answer.transferring.tolist()
({'a': [('t', 0), ('t', 1)], 'b': []}, [-1, -1, 1, 1])
>>> from evenkeel.engine.assignors.kit.settle import settle
>>> settled = settle(CooperativeSticky().assign, group)
>>> group.lists(settled.assignment), settled.rounds
({'a': [('t', 0), ('t', 1)], 'b': [('t', 2), ('t', 3)]}, 2)

Cost: as `sticky`. Source: `CooperativeStickyAssignor` and `AbstractStickyAssignor` of Kafka 4.3 (KIP-429, generations
KAFKA-12984 and KAFKA-13715, racks KIP-881), lists in Kafka's order.

What it does not do: it looks at no lag, and a single round may leave members uneven. What a member owns is what its
Subscription says, of the generation given there; a member too old to give one there gives it in its user data.
Broken input brings out what Kafka's class makes of it, as with `sticky`: an answer with findings, or none where the
class throws. The order of members in the input shows only between ids that share a bucket of a Java HashMap, which is
why independence of it is not promised.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..model.arrays import Column
from ..model.assignments import Assignment, Deployment
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kafka.sticky import explained, sticky_answers
from .kafka.sticky.plan import MemberData
from .kit.why import Steps, owned_of


class CooperativeSticky:
    """Kafka's `cooperative-sticky`."""

    name: ClassVar[str] = "cooperative-sticky"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks", "user_data"})
    deployment: ClassVar[Deployment] = Deployment.SETTING
    source: ClassVar[str] = (
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor 4.3, KIP-429"
    )
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES - {Promise.ORDER_FREE}

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            One round: owners and the order of Kafka's lists as in `sticky`, but for partitions that somebody must give
            up first; these have no owner, and `transferring` says who is to get them.

        Raises:
            Infeasible: Kafka's class throws on this group; the message names the exception.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        return sticky_answers(groups, _told, withheld=True)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Its racks, where they count; who had the partition, and whether it keeps it."""
        return explained(group, partition, self.assign(group), owned_of(group))


def _told(groups: GroupSpec) -> MemberData | None:
    """Where the Subscription gives no generation, the user data may."""
    if not len(groups.owned_topic):
        return None
    own, user_data = groups.generation, groups.user_data_generation
    return MemberData(
        start=groups.owned_start,
        topic=groups.owned_topic,
        partition=groups.owned_partition,
        generation=Column(
            np.where(own.known, own.values, user_data.values), own.known | user_data.known
        ),
    )
