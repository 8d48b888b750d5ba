"""Brokers and racks: partition p of every topic is led by broker p % 3, broker n is in rack n."""

from __future__ import annotations

from tests.helpers.fluid.plan import Group, Partition

RACKS = ("rack-a", "rack-b", "rack-c")


def brokers_of(group: Group, partition: Partition) -> list[int]:
    """The brokers with a copy, the leader first."""
    name, number = partition
    copies = next(topic.replicas for topic in group.topics if topic.name == name)
    return [(number + copy) % len(RACKS) for copy in range(copies)]


def racks_of(group: Group, partition: Partition) -> list[str]:
    """The racks with a copy, the leader's first."""
    return [RACKS[broker] for broker in brokers_of(group, partition)]
