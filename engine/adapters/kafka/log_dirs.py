"""
How many bytes each partition's log takes on its leader's disk: what a record weighs when it is read.

Brokers send batches as they keep them, compressed, so bytes on disk are bytes on the wire. It takes the right DESCRIBE
on the cluster, which a reader need not have: without it sizes are unknown, and that is said once. Each leader is asked
for the partitions it leads, in batches.

Source: KIP-113 (DescribeLogDirs).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import DescribeLogDirsRequest

from ...model.facts import Fact, note
from .connection import Connection, Unanswered
from .groups import error_text
from .topics import Partition

_BATCH = 5_000
"""Partitions per request."""

_CLUSTER_REFUSED = 31
_NOT_ALLOWED = ""
"""Where the missing right is the cause, nobody has to be quoted."""


@dataclass(slots=True)
class LogSizes:
    """Bytes by (topic, partition), as far as they may be known; *unknown* has a fact per cause."""

    bytes: dict[tuple[str, int], int] = field(default_factory=dict)
    unknown: list[Fact] = field(default_factory=list)


async def read_log_sizes(connection: Connection, partitions: Iterable[Partition]) -> LogSizes:
    """
    Args:
        connection: The conversation.
        partitions: Those whose sizes are wanted; one without a leader has none.
    """
    sizes, failed = LogSizes(), Counter[str]()
    if not connection.supports(DescribeLogDirsRequest, 1):
        sizes.unknown.append(note("log_sizes_not_served"))
        return sizes
    led: dict[int, list[Partition]] = defaultdict(list)
    for row in partitions:
        if row.leader is not None:
            led[row.leader].append(row)

    async def ask_leader(node: int) -> None:
        for start in range(0, len(led[node]), _BATCH):
            batch = led[node][start : start + _BATCH]
            try:
                response = await connection.ask(_request(batch), node)
            except Unanswered as problem:
                failed[str(problem)] += 1
                return
            if (cause := _refused(response)) is not None:
                failed[cause] += 1
                return
            for one in response.results:
                if one.error_code:
                    failed[error_text(one.error_code)] += 1
                sizes.bytes |= {
                    (topic.name, log.partition_index): log.partition_size
                    for topic in one.topics
                    for log in topic.partitions
                    if not log.is_future_key  # still being moved into this directory
                }

    await connection.on_each(sorted(led), ask_leader)
    sizes.unknown += [
        note("log_sizes_unread", quote=cause, after=count)
        if cause
        else note("log_sizes_refused", after=count)
        for cause, count in sorted(failed.items())
    ]
    return sizes


def _request(batch: Sequence[Partition]) -> DescribeLogDirsRequest:
    by_topic: dict[str, list[int]] = defaultdict(list)
    for row in batch:
        by_topic[row.topic].append(row.number)
    topic = DescribeLogDirsRequest.DescribableLogDirTopic
    return DescribeLogDirsRequest(
        topics=[topic(topic=name, partitions=numbers) for name, numbers in by_topic.items()]
    )


def _refused(response: Any) -> str | None:
    """Why a broker tells nothing; before 2.8 one that may not leaves the answer empty without a word."""
    code = response.error_code
    if code == _CLUSTER_REFUSED or not (code or response.results):
        return _NOT_ALLOWED
    return error_text(code) if code else None
