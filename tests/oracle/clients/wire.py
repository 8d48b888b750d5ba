"""What members send when they join, and what a leader answers, as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Any

from kafka.coordinator.assignors.sticky.user_data import StickyAssignorUserData
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from tests.oracle.groups import Case

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A member as the leader is told of it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


def joined(case: Case, *, python: bool = False) -> list[Joined]:
    """
    The members of a case, each with what a Java consumer of Kafka 4.3 in its place would send.

    Args:
        case: The group.
        python: Whether `sticky` members tell what they own as those of kafka-python do, behind a version.
    """
    return [
        Joined(
            member_id=member["id"],
            group_instance_id=member["instance_id"],
            metadata=_subscription(member, python),
        )
        for member in case["members"]
    ]


def _subscription(member: Mapping[str, Any], python: bool) -> bytes:
    told, generation = member["user_data"], member["generation"]
    data = None
    if told is not None and "owned" in told:
        since = told["generation"]
        data = StickyAssignorUserData(
            previous_assignment=_by_topic(StickyAssignorUserData.TopicPartition, told["owned"]),
            generation=-1 if since is None else since,
        ).encode(version=int(since is not None))[0 if python else 2 :]
    elif told is not None:
        data = pack(">i", -1 if told["generation"] is None else told["generation"])
    return bytes(
        ConsumerProtocolSubscription(
            topics=member["topics"],
            user_data=data,
            owned_partitions=_by_topic(
                ConsumerProtocolSubscription.TopicPartition, member["owned"]
            ),
            generation_id=-1 if generation is None else generation,
            rack_id=member["rack"],
        ).encode(version=3)
    )


def _by_topic(kind: Any, pairs: Iterable[Sequence[Any]]) -> list[Any]:
    numbers: dict[str, list[int]] = {}
    for topic, number in pairs:
        numbers.setdefault(topic, []).append(number)
    return [kind(topic, some) for topic, some in numbers.items()]


def answered(lists: Mapping[str, bytes | None]) -> Answer:
    """What members are assigned, in the format of cases."""
    return {
        "assignment": {
            member: [
                [each.topic, number]
                for each in (
                    ConsumerProtocolAssignment.decode(told).assigned_partitions if told else ()
                )
                for number in each.partitions
            ]
            for member, told in lists.items()
        }
    }
