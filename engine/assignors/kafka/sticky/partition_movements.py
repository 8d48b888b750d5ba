"""
Which partitions a general plan has moved, and which one to move back instead of the one at hand.

Between two members a topic's partitions shall not cross: before one moves from a to b, Kafka looks for one of the same
topic that has moved from b to a, and sends that one back. Of several it takes the first of a Java HashSet, the one
place where the hash of a partition reaches the answer. Source: `PartitionMovements` of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Hashable

from ...interface import GroupSpec
from ...kit.java_order import JavaSet, string_hashes, topic_partition_hashes


class PartitionMovements:
    """The movements of one plan."""

    def __init__(self, group: GroupSpec) -> None:
        self._topic = group.topic_of
        topic_hashes = string_hashes(group.topics)[group.topic_of]
        self._hashes = topic_partition_hashes(topic_hashes, group.number_of)
        self._moved: dict[int, tuple[int, int]] = {}
        self._routes: dict[tuple[int, int, int], JavaSet] = {}

    def actual_partition_to_move(self, partition: int, source: int, target: int) -> int:
        """The partition to move, when this one is to go from *source* to *target*."""
        first, _ = self._moved.get(partition, (source, target))
        back = self._routes.get((int(self._topic[partition]), target, first))
        return back.first() if back else partition

    def record(self, partition: int, source: int, target: int) -> None:
        """A partition moves: of several moves the first source and the last target are kept, of a return nothing."""
        topic = int(self._topic[partition])
        if partition in self._moved:
            source, before = self._moved.pop(partition)
            route = self._routes[topic, source, before]
            route.remove(partition)
            if not route:
                del self._routes[topic, source, before]
            if source == target:
                return
        self._moved[partition] = source, target
        route = self._routes.setdefault((topic, source, target), JavaSet())
        route.add(partition, int(self._hashes[partition]))

    def state(self) -> Hashable:
        """All there is to say of the movements so far."""
        routes = ((route, known.state()) for route, known in self._routes.items())
        return frozenset(self._moved.items()), frozenset(routes)
