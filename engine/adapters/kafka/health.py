"""What `evenkeel doctor` says of a cluster: reached, versions, rights, racks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka.protocol.admin import DescribeClusterRequest, ListGroupsRequest
from kafka.protocol.consumer import OffsetFetchRequest

from ...config import ClusterSettings
from ...model.facts import Fact, finding
from ...model.formats import minute
from ...model.groups import Broker
from .connection import Connection, Unanswered
from .groups import describe_groups, fetch_commits
from .listing import list_groups
from .messages import (
    ConsumerGroupDescribeRequest,
    DescribeShareGroupOffsetsRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from .topics import Node, describe_cluster, read_topics

_DESCRIBE = 8
"""Kafka's number of this operation."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing that was tried: whether it is as it should be, what was seen, the remedy, and the first problem."""

    what: str
    ok: bool
    seen: str
    fix: str | None = None
    problem: Fact | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """A cluster that answers: its id, brokers, version, and one finding for each thing tried."""

    kafka_cluster_id: str | None
    brokers: tuple[Broker, ...]
    version: str
    findings: tuple[HealthCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether a snapshot of it would be complete."""
        return all(finding.ok for finding in self.findings)


async def check(connection: Connection, settings: ClusterSettings) -> Health:
    """
    Try everything a snapshot needs.

    Raises:
        ClusterUnreachable: No broker can be asked for its groups.
    """
    kafka_cluster_id, nodes = await describe_cluster(connection)
    return Health(
        kafka_cluster_id=kafka_cluster_id,
        brokers=tuple(Broker(node_id=n.id, host=n.host, port=n.port, rack=n.rack) for n in nodes),
        version=connection.version,
        findings=(
            _brokers(nodes),
            _racks(nodes),
            _versions(connection),
            await _rights(connection),
            await _groups(connection, settings),
            await _topics(connection, settings),
        ),
    )


def certificates(connection: Connection) -> Iterator[HealthCheck]:
    """Which certificate expires first, where TLS is spoken."""
    first = connection.first_to_end()
    if first is not None:
        fix = "Renew it before that day." if first.ends_soon else None
        seen = f"the first to expire is {first}, on {minute(first.ends)}"
        yield HealthCheck("certificates", not first.ends_soon, seen, fix)


def _brokers(nodes: list[Node]) -> HealthCheck:
    down = [f"{node.id} ({node.host}:{node.port})" for node in nodes if not node.alive]
    if down:
        seen = f"{len(nodes) - len(down)} alive, down: {', '.join(down)}"
        return HealthCheck("brokers", False, seen, "Start them, or unregister those that are gone.")
    return HealthCheck("brokers", True, ", ".join(f"{n.id} ({n.host}:{n.port})" for n in nodes))


def _racks(nodes: list[Node]) -> HealthCheck:
    without = [str(node.id) for node in nodes if node.rack is None]
    if not without:
        return HealthCheck("racks", True, ", ".join(f"{n.id}: {n.rack}" for n in nodes))
    return HealthCheck(
        "racks",
        False,
        f"no broker.rack on {', '.join(without)}",
        "Set broker.rack, or expect no word about racks.",
    )


def _versions(connection: Connection) -> HealthCheck:
    """What the brokers lack of the requests a snapshot would like to send."""
    wanted = {
        "several groups per request (from 3.0)": (OffsetFetchRequest, 8),
        "group types (from 3.7)": (ListGroupsRequest, 5),
        "consumer protocol groups (from 3.7)": (ConsumerGroupDescribeRequest, 0),
        "streams protocol groups (from 4.1)": (StreamsGroupDescribeRequest, 0),
        "share groups (from 4.1)": (ShareGroupDescribeRequest, 1),
        "lag of share groups (from 4.2)": (DescribeShareGroupOffsetsRequest, 1),
    }
    missing = [what for what, (request, v) in wanted.items() if not connection.supports(request, v)]
    seen = f"about {connection.version}"
    if missing:
        # older brokers have no such groups, so nothing is lost on them
        return HealthCheck("versions", True, f"{seen}, without {', '.join(missing)}")
    return HealthCheck("versions", True, seen)


async def _rights(connection: Connection) -> HealthCheck:
    """
    Whether a group that may not be read shows at all.

    Brokers list all groups to whom may DESCRIBE the cluster, to others silently those they may read
    (ListGroups; the operations a client is authorised for are told from 2.8 on, KIP-430).
    """
    if not connection.supports(DescribeClusterRequest):
        return HealthCheck(
            "rights", True, "brokers before 2.8 do not report what is hidden from this client"
        )
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    try:
        answer = await connection.ask_any(request)
    except Unanswered as problem:
        return HealthCheck("rights", False, str(problem), "Check that the brokers can be reached.")
    if _DESCRIBE in answer.authorized_operations:
        return HealthCheck("rights", True, "DESCRIBE on the cluster: no group is hidden")
    return HealthCheck(
        "rights",
        False,
        "no DESCRIBE on the cluster: groups that this client may not read are hidden, not named",
        "Grant this client DESCRIBE on the cluster.",
    )


async def _groups(connection: Connection, settings: ClusterSettings) -> HealthCheck:
    problems: list[Fact] = []
    groups = await list_groups(connection, settings.groups, problems)
    await describe_groups(connection, groups)
    await fetch_commits(connection, groups, settings.topics)
    problems += [
        finding("group_unread", [group.id], quote=error)
        for group in groups.values()
        for error in (*group.errors, *group.commit_errors)
    ]
    if problems:
        seen = f"{len(groups)} seen, {len(problems)} not readable"
        fix = "Grant this client DESCRIBE on the groups."
        return HealthCheck("groups", False, seen, fix, problems[0])
    if not groups:
        fix = "Grant this client DESCRIBE on the groups, or correct the filter `groups`."
        return HealthCheck("groups", False, "none is visible", fix)
    return HealthCheck("groups", True, f"{len(groups)} seen, all readable")


async def _topics(connection: Connection, settings: ClusterSettings) -> HealthCheck:
    topics = await read_topics(connection, settings.topics, set())
    count, partitions = len(topics.counts), len(topics.partitions)
    if topics.problems:
        seen = f"{count} seen with {partitions} partitions"
        fix = "Grant this client DESCRIBE on the topics."
        return HealthCheck("topics", False, seen, fix, topics.problems[0])
    if not count:
        fix = "Grant this client DESCRIBE on the topics, or correct the filter `topics`."
        return HealthCheck("topics", False, "none is visible", fix)
    return HealthCheck("topics", True, f"{count} seen with {partitions} partitions, all readable")
