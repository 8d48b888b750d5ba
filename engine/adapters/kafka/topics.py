"""
What the brokers say of topics: partitions with replicas, then begin and end offsets.

Offsets are asked of each partition's leader in batches. A partition whose leader moved is asked
again at its new leader; one without a leader, or that cannot be read, keeps its row and says why.
One whose topic is deleted meanwhile loses its row.

Begins are read before commits and ends after them: then neither is a record called lost, nor a
commit beyond the end, for what happened in between.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import MetadataRequest

from ...config import Filter
from ...model.errors import ClusterUnreachable
from ...model.facts import Fact, finding
from .connection import Connection, Unanswered
from .groups import error_text, now_ms, tried
from .listing import OFFSETS_TOPIC

_BATCH = 5_000
"""Partitions per request."""

_EARLIEST, _LATEST = -2, -1
_READ_UNCOMMITTED, _READ_COMMITTED = 0, 1

_PASSING = frozenset({3, 5, 6, 9, 56, 74, 75, 78})
"""Unknown, leaderless, not the leader, no replica, storage, epochs, not yet: ask again."""

REFUSED = 29
"""The error code of a topic that is there and not for this client to see."""

NO_LEADER = "the partition has no leader"
RECREATED = "the topic was deleted and made again while it was read"

_GONE = 3
"""The error code of a topic that a broker does not know."""
_TIMES_GONE = 2
"""How often brokers must say so: one alone may not have heard of a new topic yet."""
_NAMES = 2_000
"""Topics per request by name."""


@dataclass(slots=True)
class Partition:
    """One partition; what could not be read is None, and *error* says why."""

    topic: str
    topic_id: str | None
    number: int
    leader: int | None
    replicas: list[int]
    in_sync: list[int]
    begin: int | None = None
    begin_at: int | None = None
    last_stable: int | None = None
    end: int | None = None
    end_at: int | None = None
    error: str | None = None
    internal: bool = False
    times_gone: int = 0
    recreated: bool = False

    @property
    def gone(self) -> bool:
        """Whether its topic was deleted meanwhile."""
        return self.times_gone >= _TIMES_GONE

    @property
    def askable(self) -> bool:
        """Whether it is worth asking for."""
        return not self.gone and not self.recreated and self.leader is not None


@dataclass(slots=True)
class Node:
    """A broker; *alive* is False for one the cluster knows but does not hear from."""

    id: int
    host: str
    port: int
    rack: str | None
    alive: bool = True


@dataclass(slots=True)
class Topics:
    """The cluster's topics as read: partitions sorted by topic and number."""

    partitions: list[Partition] = field(default_factory=list)
    problems: list[Fact] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Topic -> number of partitions."""
        counts: dict[str, int] = defaultdict(int)
        for partition in self.partitions:
            counts[partition.topic] += 1
        return dict(counts)

    def settle(self, used: set[str]) -> None:
        """
        Drop what is gone, and say what could not be read.

        Args:
            used: Topics that groups use: of Kafka's internal ones only these are kept.
        """
        self.partitions = [
            row
            for row in self.partitions
            if not row.gone and (not row.internal or row.topic in used)
        ]
        self.problems += _summary(self.partitions)


async def describe_cluster(connection: Connection) -> tuple[str | None, list[Node]]:
    """
    Kafka's cluster id and the brokers, those included that are down but still registered.

    Replicas on a broker that is down are in its rack all the same.

    Raises:
        ClusterUnreachable: No broker answers.
    """
    request: Any = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    newer = connection.supports(DescribeClusterRequest)
    if newer:
        fenced = connection.supports(DescribeClusterRequest, 2)
        request = DescribeClusterRequest(include_fenced_brokers=fenced)
    try:
        answer = await connection.ask_any(request)
    except Unanswered as problem:
        raise ClusterUnreachable(
            f"cluster {connection.name!r}: {problem}.",
            fix="Check that the brokers' advertised.listeners can be reached from here.",
        ) from problem
    nodes = [
        Node(
            id=one.broker_id if newer else one.node_id,
            host=one.host,
            port=one.port,
            rack=one.rack or None,
            alive=not (newer and one.is_fenced),
        )
        for one in answer.brokers
    ]
    return answer.cluster_id or None, sorted(nodes, key=lambda node: node.id)


async def read_topics(connection: Connection, admits: Filter, used: set[str]) -> Topics:
    """
    All topics the filter admits, with begin, last stable and end offsets, read in this order.

    Args:
        connection: The conversation.
        admits: Which topics.
        used: As in `Topics.settle`.
    """
    topics = await read_begins(connection, admits)
    await read_ends(connection, topics)
    topics.settle(used)
    return topics


async def read_begins(connection: Connection, admits: Filter) -> Topics:
    """All topics the filter admits, with the begins of their partitions."""
    topics = Topics()
    try:
        answer = await connection.ask_any(
            MetadataRequest(topics=None, allow_auto_topic_creation=False)
        )
    except Unanswered as problem:
        topics.problems.append(finding("topics_unread", quote=str(problem)))
        return topics
    for topic in sorted(answer.topics, key=lambda topic: topic.name):
        if not admits.admits(topic.name):
            continue
        if topic.error_code and not topic.partitions:
            cause = error_text(topic.error_code)
            topics.problems.append(finding("topic_unread", [topic.name], quote=cause))
        topics.partitions += _partitions(topic)
    topics.problems += _lost_groups(answer.topics)

    def begin(row: Partition, offset: int, moment: int) -> None:
        row.begin, row.begin_at = offset, moment

    await _ask_leaders(connection, topics.partitions, begin, _EARLIEST, _READ_UNCOMMITTED)
    return topics


async def read_ends(connection: Connection, topics: Topics) -> None:
    """
    Last stable and end offsets of all partitions with a begin, in place of what was read before.

    The last stable offset comes first, so that it is never above the end. Partitions that lost their leader meanwhile
    are looked up once more.
    """
    begun = [row for row in topics.partitions if row.begin is not None]
    if lost := [row for row in begun if row.leader is None]:
        await _find_leaders(connection, lost)
    for row in topics.partitions:
        row.last_stable = row.end = row.end_at = None
    for row in begun:
        if row.leader is not None and row.begin is not None:
            row.error = None

    def stable(row: Partition, offset: int, moment: int) -> None:
        row.last_stable = offset

    def end(row: Partition, offset: int, moment: int) -> None:
        row.end, row.end_at = offset, moment

    for keep, isolation in ((stable, _READ_COMMITTED), (end, _READ_UNCOMMITTED)):
        await _ask_leaders(connection, topics.partitions, keep, _LATEST, isolation)


async def hidden_topics(connection: Connection, names: Iterable[str]) -> set[str]:
    """
    Which of some topics are there, and not for this client to see.

    Asked for all topics, brokers leave such a one out without a word; asked for it by name, they refuse it. One that is
    gone they do not know.
    """
    told = await _by_name(connection, names)
    return {topic.name for topic in told if topic.error_code == REFUSED}


async def _by_name(connection: Connection, names: Iterable[str]) -> list[Any]:
    """What any broker says of some topics, as far as one answers."""
    wanted = [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(names)]
    topics: list[Any] = []
    for start in range(0, len(wanted), _NAMES):
        batch = wanted[start : start + _NAMES]
        request = MetadataRequest(topics=batch, allow_auto_topic_creation=False)
        try:
            topics += (await connection.ask_any(request)).topics
        except Unanswered:
            break
    return topics


def _lost_groups(topics: Iterable[Any]) -> list[Fact]:
    """No broker lists the groups of an offsets partition that has no leader: say that some lack."""
    lost = [
        one.partition_index
        for topic in topics
        if topic.name == OFFSETS_TOPIC
        for one in topic.partitions
        if one.leader_id < 0
    ]
    if not lost:
        return []
    return [finding("groups_without_leader", [OFFSETS_TOPIC], partitions=len(lost))]


def _partitions(topic: Any) -> list[Partition]:
    """The partitions of a topic in a metadata response; those without a leader say so."""
    topic_id = topic.topic_id if isinstance(topic.topic_id, UUID) and topic.topic_id.int else None
    rows = [
        Partition(
            topic=topic.name,
            topic_id=None if topic_id is None else str(topic_id),
            number=one.partition_index,
            leader=None if one.leader_id < 0 else one.leader_id,
            replicas=list(one.replica_nodes),
            in_sync=list(one.isr_nodes),
            error=NO_LEADER if one.leader_id < 0 else None,
            internal=bool(topic.is_internal),
        )
        for one in topic.partitions
    ]
    return sorted(rows, key=lambda row: row.number)


async def _ask_leaders(
    connection: Connection,
    partitions: Sequence[Partition],
    keep: Any,
    timestamp: int,
    isolation: int,
) -> None:
    """One pass over all partitions that can be read so far; *keep* takes row, offset and moment."""
    again: dict[int, str] = {}

    async def ask_leader(node: int) -> None:
        own = [row for row in left if row.leader == node]
        for start in range(0, len(own), _BATCH):
            batch = own[start : start + _BATCH]
            moment = now_ms()
            try:
                response = await connection.ask(_request(batch, timestamp, isolation), node)
            except Unanswered as problem:
                for row in own[start:]:
                    row.error = str(problem)
                    again.update({id(row): row.error} if problem.passing else {})
                return
            for row, code, offset in _answers(batch, response):
                row.error = _refusal(connection.address(node), code)
                if code in _PASSING:
                    again[id(row)] = str(row.error)
                elif not code and offset >= 0:
                    keep(row, offset, moment)

    attempt, left = 0, [row for row in partitions if row.error is None and row.askable]
    began = time.monotonic()
    while left:
        since = time.monotonic()
        again.clear()
        await connection.on_each({row.leader for row in left if row.leader is not None}, ask_leader)
        left = [row for row in left if id(row) in again]
        if not left or not await connection.pause(attempt, since):
            break
        attempt += 1
        await _find_leaders(connection, left)
        left = [row for row in left if row.askable]
    _give_up(left, again, attempt, began)


def _give_up(
    rows: Iterable[Partition], causes: Mapping[int, str], attempt: int, began: float
) -> None:
    for row in rows:
        row.error = tried(causes[id(row)], attempt, began)


def _refusal(who: str, code: int) -> str | None:
    """A partition's error code as text; of one that may pass, who told it."""
    if not code:
        return None
    return f"{who} answered {error_text(code)}" if code in _PASSING else error_text(code)


def _request(batch: Iterable[Partition], timestamp: int, isolation: int) -> ListOffsetsRequest:
    topic, partition = (
        ListOffsetsRequest.ListOffsetsTopic,
        ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition,
    )
    by_topic: dict[str, list[Any]] = defaultdict(list)
    for row in batch:
        by_topic[row.topic].append(partition(partition_index=row.number, timestamp=timestamp))
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        topics=[topic(name=name, partitions=rows) for name, rows in by_topic.items()],
        min_version=1,
        max_version=9,
    )


def _answers(batch: Iterable[Partition], response: Any) -> Iterable[tuple[Partition, int, int]]:
    """Each partition that was answered with its error code and offset."""
    rows = {(row.topic, row.number): row for row in batch}
    for topic in response.topics:
        for one in topic.partitions:
            row = rows.get((topic.name, one.partition_index))
            if row is not None:
                yield row, one.error_code, one.offset


async def _find_leaders(connection: Connection, rows: Sequence[Partition]) -> None:
    """Look up who leads these partitions now, and whether they are still there; else the leaders known so far stay."""
    by_topic: dict[str, dict[int, Partition]] = defaultdict(dict)
    for row in rows:
        by_topic[row.topic][row.number] = row
    with suppress(Unanswered):
        await connection.refresh()
    for topic in await _by_name(connection, by_topic):
        known = by_topic[topic.name]
        if topic.error_code == _GONE:
            for row in known.values():
                row.times_gone += 1
        fresh = {row.number: row for row in _partitions(topic)}
        ids = {row.topic_id for row in fresh.values()} - {None}
        for number, row in known.items():
            now = fresh.get(number)
            if ids and row.topic_id is not None and row.topic_id not in ids:
                row.begin, row.error, row.recreated = None, RECREATED, True
            elif now is not None:  # else it is too new for the broker that was asked
                row.times_gone = 0
                row.leader, row.in_sync, row.error = now.leader, now.in_sync, now.error


def _summary(partitions: Iterable[Partition]) -> list[Fact]:
    """One fact per cause of what could not be read."""
    failed: dict[str, list[str]] = defaultdict(list)
    for row in partitions:
        if row.error is not None:
            failed[row.error].append(f"{row.topic}-{row.number}")
    return [
        finding("partitions_unread", names, quote=error, partitions=len(names))
        for error, names in failed.items()
    ]
