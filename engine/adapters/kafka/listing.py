"""
Which groups there are: every broker lists those it coordinates.

A group whose coordinator moves while brokers are asked one after another can be listed by neither
of the two. So the leaders of Kafka's offsets topic, where groups live, are looked at before and
after; if they changed, or a broker did not answer, all are asked again until two rounds agree.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.metadata import MetadataRequest

from ...config import Filter
from ...model.errors import ClusterUnreachable
from ...model.facts import Fact, finding
from ...model.groups import can_be_kept, not_kept
from ...model.states import GroupType
from ...model.text import cut
from .connection import Connection, Unanswered
from .groups import PASSING, Group, error_text, refresh_quietly, tried

OFFSETS_TOPIC = "__consumer_offsets"

SHOWN = 60
"""Characters of a name that is too long to be kept."""

_UNREACHABLE = "Check that the brokers' advertised.listeners can be reached from here."


@dataclass(slots=True)
class _Round:
    """What all brokers answered once; *passing*: why it may be worth asking again."""

    groups: dict[str, Group] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    silent: set[int] = field(default_factory=set)
    passing: bool = False


async def list_groups(
    connection: Connection, admits: Filter, problems: list[Fact]
) -> dict[str, Group]:
    """
    The groups of all brokers that the filter admits, by id, sorted; one of an id that cannot be kept is a problem.

    A broker that does not answer is asked again until the cluster no longer counts it among its
    own and others have taken over its groups, or the patience of the conversation ends.

    Raises:
        ClusterUnreachable: No broker can be asked.
    """
    groups: dict[str, Group] = {}
    before: _Round | None = None
    attempt, calm, began = 0, True, time.monotonic()
    while True:
        since = time.monotonic()
        now = await _ask_all(connection, admits)
        groups |= now.groups
        agreed = before is not None and before.groups.keys() == now.groups.keys()
        if not now.passing and (calm or agreed):
            break
        before, calm = None if now.passing else now, False
        if not await connection.pause(attempt, since):
            break
        attempt += 1
        await refresh_quietly(connection)
    if now.passing:
        now.failed = {node: tried(cause, attempt, began) for node, cause in now.failed.items()}
    _conclude(connection, now, problems)
    for name in sorted(groups):
        if not can_be_kept(name):
            problems.append(finding("group_unread", [cut(name, SHOWN)], quote=not_kept(name)))
            del groups[name]
    return dict(sorted(groups.items()))


async def _ask_all(connection: Connection, admits: Filter) -> _Round:
    result = _Round()

    async def ask(node: int) -> None:
        try:
            response = await connection.ask(ListGroupsRequest(min_version=0), node)
        except Unanswered as problem:
            result.failed[node] = str(problem)
            result.silent.add(node)
            result.passing |= problem.passing
            return
        if response.error_code:
            result.failed[node] = (
                f"{connection.address(node)} answered {error_text(response.error_code)}"
            )
            result.passing |= response.error_code in PASSING
        for entry in response.groups:
            if admits.admits(entry.group_id):
                result.groups[entry.group_id] = _listed(entry, node)

    leaders = await _offsets_leaders(connection)
    await connection.on_each(connection.brokers, ask)
    result.passing |= leaders != await _offsets_leaders(connection)
    return result


async def _offsets_leaders(connection: Connection) -> dict[int, int]:
    """Partition -> leader of the topic where groups live; nothing if we may not see it."""
    topic = MetadataRequest.MetadataRequestTopic(name=OFFSETS_TOPIC)
    try:
        answer = await connection.ask_any(
            MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
        )
    except Unanswered:
        return {}
    return {row.partition_index: row.leader_id for one in answer.topics for row in one.partitions}


def _conclude(connection: Connection, last: _Round, problems: list[Fact]) -> None:
    """Note what stayed away."""
    if last.failed.keys() >= connection.brokers.keys():
        raise ClusterUnreachable(
            f"cluster {connection.name!r}: no broker can be asked for its groups "
            f"({'; '.join(last.failed.values())}).",
            fix=_UNREACHABLE if last.silent else "Wait until a broker answers without an error.",
        )
    for node, cause in last.failed.items():
        problems.append(finding("coordinator_unread", quote=cause))
        if node in last.silent:
            connection.give_up(node, cause)
    if last.passing and not last.failed:
        problems.append(finding("groups_kept_moving"))


def _listed(entry: Any, node: int) -> Group:
    """Brokers before 3.7 tell no type: all they have is classic."""
    told = (entry.group_type or "classic").lower()
    known = told in GroupType.__members__.values()
    return Group(
        id=entry.group_id,
        type=GroupType(told) if known else GroupType.UNKNOWN,
        state=entry.group_state or "Unknown",
        protocol_type=entry.protocol_type or None,
        coordinator=node,
    )
