"""kafka-python's assignors, called as the leader of a group calls them."""

from __future__ import annotations

import logging
from typing import Any

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from tests.oracle.clients.wire import Answer, answered, joined
from tests.oracle.groups import Case

CLASSES: dict[str, Any] = {
    each.name: each
    for each in (
        RangePartitionAssignor,
        RoundRobinPartitionAssignor,
        StickyPartitionAssignor,
        CooperativeStickyAssignor,
    )
}


class _Cluster:
    """What assignors ask of `ClusterMetadata`."""

    def __init__(self, case: Case) -> None:
        self._sizes = {name: len(topic["partitions"]) for name, topic in case["topics"].items()}

    def topics(self) -> set[str]:
        return set(self._sizes)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        size = self._sizes.get(topic)
        return None if size is None else set(range(size))


class _Member:
    def __init__(self, member_id: str, group_instance_id: str | None, metadata: bytes) -> None:
        self.member_id, self.group_instance_id = member_id, group_instance_id
        self.metadata = ConsumerProtocolSubscription.decode(metadata)


def ask(case: Case, *, python: bool = True) -> Answer:
    """Its answer to a case, or what it raised; *python*: whether the members are its own, or Java's."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    members = [
        _Member(each.member_id, each.group_instance_id, each.metadata)
        for each in joined(case, python=python)
    ]
    try:
        lists = CLASSES[case["strategy"]]().assign(_Cluster(case), members)
    except Exception as problem:  # noqa: BLE001 whatever it raises, its group is not assigned
        return {"error": f"{type(problem).__name__}: {problem}"}
    return answered({m: told.encode(version=0) for m, told in lists.items()})
