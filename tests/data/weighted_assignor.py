"""Weighted: a member of weight 2 gets twice as many partitions. The worked example of a custom strategy."""

import numpy as np

from evenkeel.engine.assignors.interface import NONE, Assignment, Deployment, GroupSpec, Infeasible


class Weighted:
    """Each partition goes to the subscriber that has fewest for its weight."""

    name = "weighted"
    works_on = frozenset({"partitions"})
    needs = frozenset({"user_data"})
    deployment = Deployment.CLASS
    source = "docs/how-to/write-a-strategy.md"
    sample_user_data = ({"weight": 1}, {"weight": 2}, {"weight": 0.5}, {})

    def assign(self, group: GroupSpec) -> Assignment:
        """An owner for each partition; a member that sends no weight weighs 1."""
        weight = [data.get("weight", 1) for data in group.user_data]
        if min(weight, default=1) <= 0:
            raise Infeasible(f"weighted needs weights above 0, the least is {min(weight)}.")
        owned = [0] * len(group.members)
        owner = np.full(group.partition_count, NONE, np.int32)
        for topic in sorted(range(len(group.topics)), key=group.topics.__getitem__):
            members = sorted(group.subscribers[topic].tolist(), key=group.members.__getitem__)
            for partition in group.partitions_of(topic) if members else ():
                taker = min(members, key=lambda m: (owned[m] + 1) / weight[m])
                owner[partition] = taker
                owned[taker] += 1
        return Assignment(owner=owner)
