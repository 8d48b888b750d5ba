"""
What a group gets where a consumer of another library than Java's leads it, and so assigns by its library's own code.

`python -m tests.oracle.clients` puts these beside Kafka's; the table is in docs/explanation/fidelity.md. What is
told apart here is what a replay can know: librdkafka has static and dynamic members in one order, franz-go sees no
racks, kafka-python leaves out members, or fails. What is not replayed is said: sticky strategies are code of their own
in all three.

Source: confluent-kafka 2.16 (its librdkafka), kafka-python 3.0.12 and franz-go 1.22.3, with default settings.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.arrays import NONE
from ...model.errors import Infeasible
from ...model.facts import Fact, finding, reason
from ..interface import GroupSpec
from ..kit.members import member_order, partition_order, topics_by_name
from .protocol_names import base_of

JAVA, LIBRDKAFKA, KAFKA_PYTHON, FRANZ_GO = "java", "librdkafka", "kafka-python", "franz-go"

_BY_ORDER = frozenset({"range", "roundrobin"})
_STICKY = frozenset({"sticky", "cooperative-sticky"})


def as_led_by(
    library: str | None, strategy: str, group: GroupSpec
) -> tuple[GroupSpec, tuple[Fact, ...]]:
    """
    The group as the library's own strategy sees it, and what is to be said of the answer.

    Args:
        library: Of the leader; None unknown, which is taken for Java.
        strategy: Our name of it.
        group: As Kafka's own class would see it.

    Raises:
        Infeasible: kafka-python's `roundrobin` throws on this group.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> mixed = spec({"a": ["t"], "b": ["t"]}, {"t": 3}, instance_ids={"b": "host"})
    >>> seen, said = as_led_by("librdkafka", "range", mixed)
    >>> [mixed.members[m] for m in member_order(mixed)], [seen.members[m] for m in member_order(seen)]
    (['b', 'a'], ['a', 'b'])
    >>> [each.measure for each in said]
    ['led_in_one_order']
    """
    base = base_of(strategy)
    if library in (None, JAVA) or base not in _BY_ORDER | _STICKY:
        return group, ()
    name = str(library)
    if base in _STICKY:
        return group, (reason("led_by_own_code", [name]),)
    mixed = len(set(group.static.tolist())) > 1
    racked = group.member_rack != NONE
    if name == FRANZ_GO and base == "range" and racked.any():
        blind = replace(group, member_rack=np.full_like(group.member_rack, NONE))
        return blind, (reason("led_without_racks", [name]),)
    if name == LIBRDKAFKA:
        racks = base == "range" and racked.any()
        said = [reason("led_by_own_code", [name])] if racks else []
        if mixed:
            said.append(reason("led_in_one_order", [name]))
        return _in_one_order(group) if mixed else group, tuple(said)
    if name == KAFKA_PYTHON and base == "roundrobin":
        _refuse_skips(group)
    if name == KAFKA_PYTHON and mixed:
        return group, (finding("members_left_out", [name, base]),)
    return group, ()


def _in_one_order(group: GroupSpec) -> GroupSpec:
    """
    The group with instance ids that put its members into the order of their ids.

    librdkafka compares two static members by instance id; brokers begin a static member's id with it.
    """
    order = sorted(range(len(group.members)), key=lambda member: group.members[member].encode())
    places = dict(zip(order, range(len(order)), strict=True))
    return replace(group, instance_ids=tuple(f"{places[m]:09}" for m in range(len(order))))


def _refuse_skips(group: GroupSpec) -> None:
    """
    Raises:
        Infeasible: A member whose turn it is does not subscribe: `RoundRobinPartitionAssignor` has a pair of ids there
            and takes it for a member id.
    """
    order = member_order(group).tolist()
    subscribers = [set(each.tolist()) for each in group.subscribers]
    turn = 0
    for partition in partition_order(group, topics_by_name(group)).tolist():
        those = subscribers[group.topic_of[partition]]
        if not those:
            continue
        if (member := order[turn % len(order)]) not in those:
            raise Infeasible(why=reason("client_throws", [KAFKA_PYTHON, group.members[member]]))
        turn += 1
