"""By rack of the leader: members send where they are, and read from brokers beside them. A custom strategy."""

import numpy as np

from evenkeel.engine.assignors.interface import NONE, Assignment, Deployment, GroupSpec


class LeaderRack:
    """Each partition goes to a subscriber in its leader's rack, of these to who has fewest; without one to anybody."""

    name = "leader-rack"
    works_on = frozenset({"partitions"})
    needs = frozenset({"user_data"})
    deployment = Deployment.CLASS
    source = "docs/how-to/write-a-strategy.md"
    sample_user_data = ({"rack": "rack-a"}, {"rack": "rack-b"}, {"rack": "rack-c"}, {})

    def assign(self, group: GroupSpec) -> Assignment:
        """An owner for each partition; a member that sends no rack is beside nobody."""
        rack = [data.get("rack") for data in group.user_data]
        owned = [0] * len(group.members)
        owner = np.full(group.partition_count, NONE, np.int32)
        for topic in sorted(range(len(group.topics)), key=group.topics.__getitem__):
            members = sorted(group.subscribers[topic].tolist(), key=group.members.__getitem__)
            for partition in group.partitions_of(topic) if members else ():
                leader = group.leader_rack[partition]
                beside = [m for m in members if leader != NONE and rack[m] == group.racks[leader]]
                taker = min(beside or members, key=owned.__getitem__)
                owner[partition] = taker
                owned[taker] += 1
        return Assignment(owner=owner)
