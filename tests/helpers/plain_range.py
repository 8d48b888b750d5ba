"""
Range assignment written down the slow, literal way: topic states and counters, one partition after
another.

A second opinion on `evenkeel.engine.assignors.range`, made from the description of the algorithm and sharing
none of its code.
"""

from __future__ import annotations

from evenkeel.engine.assignors.interface import GroupSpec
from evenkeel.engine.model.arrays import NONE


class TopicState:
    """One topic while it is being assigned."""

    def __init__(self, group: GroupSpec, topic: int, consumers: list[int]) -> None:
        first = int(group.topic_start[topic])
        size = int(group.topic_start[topic + 1]) - first
        self.first = first
        self.consumers = {c: _rack(group, int(group.member_rack[c])) for c in consumers}
        self.free = list(range(size))
        self.owner: dict[int, int] = {}
        self.base, self.extra = divmod(size, len(consumers))
        self.held = dict.fromkeys(consumers, 0)
        racked = {rack for rack in self.consumers.values() if rack}
        self.racks = [_replicas(group, first + p) if racked else set() for p in range(size)]
        self.racked_size = size if racked else 0
        union = set().union(*self.racks)
        self.needs_racks = bool(racked & union) and any(r != union for r in self.racks)

    def room(self, consumer: int) -> int:
        """How many more a consumer may take now."""
        return max(0, self.base + (self.extra > 0) - self.held[consumer])

    def match(self, consumer: int, partition: int) -> bool:
        """Whether a partition is on the consumer's rack; without a rack, every one is."""
        rack = self.consumers[consumer]
        return not rack or rack in self.racks[partition]

    def give(self, consumer: int, partitions: list[int]) -> None:
        """Assign, and use up an extra share once the consumer is above the base."""
        for partition in partitions:
            self.free.remove(partition)
            self.owner[partition] = consumer
        self.held[consumer] += len(partitions)
        if self.held[consumer] > self.base:
            self.extra -= 1

    def ranges(self, *, by_rack: bool) -> None:
        """Let each consumer in turn take the first free partitions it has room for."""
        for consumer in self.consumers:
            fit = [p for p in self.free if not by_rack or self.match(consumer, p)]
            if taken := fit[: self.room(consumer)]:
                self.give(consumer, taken)


def plain_range(group: GroupSpec) -> list[int]:
    """The owner of each partition, NONE for nobody."""
    order = sorted(range(len(group.members)), key=lambda m: _member_key(group, m))
    states = []
    for topic in range(len(group.topics)):
        consumers = [m for m in order if topic in group.subscribed(m).tolist()]
        if consumers and len(group.partitions_of(topic)):
            states.append(TopicState(group, topic, consumers))
    if any(state.needs_racks for state in states):
        _rack_phase(states)
    owner = [NONE] * group.partition_count
    for state in states:
        state.ranges(by_rack=False)
        for partition, consumer in state.owner.items():
            owner[state.first + partition] = consumer
    return owner


def _rack_phase(states: list[TopicState]) -> None:
    alike: dict[tuple[object, ...], list[TopicState]] = {}
    for state in states:
        alike.setdefault((*state.consumers.items(), state.racked_size), []).append(state)
    for together in alike.values():
        if len(together) > 1:
            _co_partitioned(together)
        elif together[0].needs_racks:
            together[0].ranges(by_rack=True)


def _co_partitioned(states: list[TopicState]) -> None:
    for partition in range(states[0].racked_size):
        for consumer in states[0].consumers:
            if all(s.match(consumer, partition) and s.room(consumer) for s in states):
                for state in states:
                    state.give(consumer, [partition])
                break


def _member_key(group: GroupSpec, member: int) -> tuple[bool, bytes]:
    instance = group.instance_ids[member]
    name = group.members[member] if instance is None else instance
    return instance is None, name.encode("utf-16-be")


def _rack(group: GroupSpec, rack: int) -> str | None:
    return None if rack == NONE else group.racks[rack]


def _replicas(group: GroupSpec, partition: int) -> set[str | None]:
    span = slice(int(group.replica_start[partition]), int(group.replica_start[partition + 1]))
    return {_rack(group, r) for r in group.replica_rack[span].tolist()} - {None}
