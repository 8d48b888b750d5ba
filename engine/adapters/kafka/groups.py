"""
What the coordinators say of their groups: members and committed offsets.

Requests go in batches to each group's coordinator. One bad group, one lost broker must not cost the
others: errors are kept per group, and a group whose coordinator moved or is still loading is asked
again, as long as the conversation's patience lasts.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any

import kafka.errors as kafka_errors
from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer import OffsetFetchRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from ...config import Filter
from ...model.arrays import NONE
from ...model.states import GroupType
from .connection import Connection, Unanswered
from .messages import (
    ConsumerGroupDescribeRequest,
    DescribeShareGroupOffsetsRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)

_BATCH = 500
"""Groups per request: a response stays small enough to be read while others wait."""

PASSING = frozenset({14, 15, 16})
"""Coordinator loading, not available, not this one any more: ask again."""
_NOT_FOUND = 69
_OF_ANOTHER_KIND = "is not a"
"""Part of what a broker says of a group that it does not find, but finds under another protocol."""
_COMMITS = "committed offsets"
_START_OFFSETS = "start offsets"
"""What is asked for where commits are, and where those of share groups are."""

_HINTS = {
    29: "grant this client DESCRIBE on the topic",
    30: "grant this client DESCRIBE on the group",
    31: "grant this client DESCRIBE on the cluster",
}

_DESCRIBE = {
    GroupType.CLASSIC: DescribeGroupsRequest,
    GroupType.CONSUMER: ConsumerGroupDescribeRequest,
    GroupType.STREAMS: StreamsGroupDescribeRequest,
    GroupType.SHARE: ShareGroupDescribeRequest,
}


@dataclass(slots=True)
class Group:
    """One group: its entry in the lists, its description as received, and what failed."""

    id: str
    type: GroupType
    state: str
    protocol_type: str | None
    coordinator: int
    described: Any = None
    errors: list[str] = field(default_factory=list)
    commit_errors: list[str] = field(default_factory=list)


_INTS: Callable[[], array[int]] = partial(array, "i")
_LONGS: Callable[[], array[int]] = partial(array, "q")


@dataclass(slots=True)
class Names:
    """Texts of rows: each different one once, with its place; the place of each row's, NONE without one."""

    words: dict[str, int] = field(default_factory=dict)
    places: array[int] = field(default_factory=_INTS)

    def add(self, name: str | None, times: int = 1) -> None:
        """Add rows of the same text."""
        place = NONE if name is None else self.words.setdefault(name, len(self.words))
        self.places.extend(repeat(place, times))


@dataclass(slots=True)
class Commits:
    """
    Committed offsets as columns, in arrays: a million must not become a million objects.

    An offset is NONE where the broker said -1 or an error; *read_at* is in milliseconds since the epoch. Of a share
    group *offset* is the start offset, *lag* what the broker says of it (KIP-1226); NONE elsewhere.
    """

    group: Names = field(default_factory=Names)
    topic: Names = field(default_factory=Names)
    partition: array[int] = field(default_factory=_INTS)
    offset: array[int] = field(default_factory=_LONGS)
    lag: array[int] = field(default_factory=_LONGS)
    read_at: array[int] = field(default_factory=_LONGS)
    error: Names = field(default_factory=Names)

    def add(self, group: str, topic: Any, read_at: int) -> None:
        """Add what a broker answers about a topic of a group."""
        self._topic(group, topic.name, len(topic.partitions), read_at)
        for row in topic.partitions:
            self._row(row, row.committed_offset, NONE)

    def add_shared(self, group: str, topic: Any, read_at: int) -> None:
        """The same of a share group."""
        self._topic(group, topic.topic_name, len(topic.partitions), read_at)
        for row in topic.partitions:
            self._row(row, row.start_offset, NONE if row.lag is None else row.lag)

    def _topic(self, group: str, topic: str, rows: int, read_at: int) -> None:
        self.group.add(group, rows)
        self.topic.add(topic, rows)
        self.read_at.extend(repeat(read_at, rows))

    def _row(self, row: Any, offset: int, lag: int) -> None:
        code = row.error_code
        self.partition.append(row.partition_index)
        self.offset.append(NONE if code or offset < 0 else offset)
        self.lag.append(NONE if code or lag < 0 else lag)
        self.error.add(error_text(code) if code else None)


async def describe_groups(connection: Connection, groups: Mapping[str, Group]) -> None:
    """Fill in *described*; a group that vanished meanwhile is Dead."""

    def keep(response: Any, batch: list[Group]) -> Iterator[tuple[Group, int, str | None]]:
        for answer in response.groups:
            group = groups[answer.group_id]
            if answer.error_code == _NOT_FOUND:
                if _OF_ANOTHER_KIND in (answer.error_message or ""):
                    group.errors.append("members: the group changed its protocol while it was read")
                else:
                    group.state = "Dead"
                continue
            if not answer.error_code:
                group.described, group.state = answer, answer.group_state or group.state
            yield group, answer.error_code, answer.error_message

    for kind, request in _DESCRIBE.items():

        def ask(batch: list[Group], request: Any = request, kind: GroupType = kind) -> Any:
            ids = [group.id for group in batch]
            return request(groups=ids) if kind == GroupType.CLASSIC else request(group_ids=ids)

        wanted = [group for group in groups.values() if group.type == kind]
        await _of_coordinators(connection, wanted, ask, keep, "members")


async def fetch_commits(
    connection: Connection, groups: Mapping[str, Group], topics: Filter
) -> Commits:
    """
    The committed offsets of all groups, of share groups the start offsets, of the topics the filter admits.

    Asked for once more, errors of the first time are forgotten.
    """
    commits = Commits()
    for group in groups.values():
        group.commit_errors.clear()
    batched = connection.supports(OffsetFetchRequest, 8)

    def ask(batch: list[Group]) -> Any:
        if not batched:
            return OffsetFetchRequest(
                group_id=batch[0].id, topics=None, min_version=2, max_version=7
            )
        entry = OffsetFetchRequest.OffsetFetchRequestGroup
        entries = [entry(group_id=group.id, topics=None) for group in batch]
        return OffsetFetchRequest(groups=entries, min_version=8, max_version=8)

    def keep(response: Any, batch: list[Group]) -> Iterator[tuple[Group, int, str | None]]:
        for answer in response.groups if batched else [response]:
            group = groups[answer.group_id] if batched else batch[0]
            if answer.error_code == _NOT_FOUND:
                continue
            if not answer.error_code:
                for topic in answer.topics:
                    if topics.admits(topic.name):
                        at = asked_at[group.coordinator]
                        commits.add(group.id, topic, at)
            yield group, answer.error_code, None

    asked_at: dict[int, int] = {}
    wanted = [group for group in groups.values() if group.type != GroupType.SHARE]
    size = _BATCH if batched else 1
    await _of_coordinators(connection, wanted, ask, keep, _COMMITS, size, asked_at)
    await _fetch_start_offsets(connection, groups, topics, commits)
    return commits


async def _fetch_start_offsets(
    connection: Connection, groups: Mapping[str, Group], topics: Filter, commits: Commits
) -> None:
    """Add the start offsets of share groups, of the topics the filter admits."""

    def ask(batch: list[Group]) -> Any:
        entry = DescribeShareGroupOffsetsRequest.ShareGroup
        entries = [entry(group_id=group.id, topics=None) for group in batch]
        return DescribeShareGroupOffsetsRequest(groups=entries)

    def keep(response: Any, batch: list[Group]) -> Iterator[tuple[Group, int, str | None]]:
        for answer in response.groups:
            group = groups[answer.group_id]
            if answer.error_code == _NOT_FOUND:
                continue
            for topic in answer.topics if not answer.error_code else ():
                if topics.admits(topic.topic_name):
                    at = asked_at[group.coordinator]
                    commits.add_shared(group.id, topic, at)
            yield group, answer.error_code, answer.error_message

    asked_at: dict[int, int] = {}
    wanted = [group for group in groups.values() if group.type == GroupType.SHARE]
    await _of_coordinators(connection, wanted, ask, keep, _START_OFFSETS, _BATCH, asked_at)


async def _of_coordinators(
    connection: Connection,
    groups: list[Group],
    ask: Callable[[list[Group]], Any],
    keep: Callable[[Any, list[Group]], Iterable[tuple[Group, int, str | None]]],
    what: str,
    size: int = _BATCH,
    asked_at: dict[int, int] | None = None,
) -> None:
    """
    Ask each coordinator about its groups in batches; ask again what may pass; note what does not.

    *keep* takes a response in and yields each group with error code and message. *asked_at* is
    told, per coordinator, when (ms) the response *keep* gets was asked for.
    """
    again: dict[str, str] = {}

    async def ask_one(node: int) -> None:
        own = [group for group in left if group.coordinator == node]
        for start in range(0, len(own), size):
            batch = own[start : start + size]
            moment = now_ms()
            try:
                response = await connection.ask(ask(batch), node)
            except Unanswered as problem:
                if problem.passing:
                    again.update({group.id: str(problem) for group in own[start:]})
                else:
                    _note(own[start:], what, str(problem))
                return
            if asked_at is not None:
                asked_at[node] = moment
            passing = _failed(keep(response, batch), what)
            del response  # its many small objects are not kept while the next is waited for
            who = connection.address(node)
            again.update({group: f"{who} answered {error}" for group, error in passing.items()})

    attempt, left, began = 0, groups, time.monotonic()
    while left:
        since = time.monotonic()
        again.clear()
        await connection.on_each({group.coordinator for group in left}, ask_one)
        left = [group for group in left if group.id in again]
        if not left or not await connection.pause(attempt, since):
            break
        attempt += 1
        await _find_coordinators(connection, left)
    for group in left:
        _note([group], what, tried(again[group.id], attempt, began))


async def find_again(connection: Connection, groups: Mapping[str, Group]) -> None:
    """Look up where the groups are whose commits could not be read."""
    lost = [group for group in groups.values() if group.commit_errors]
    if lost:
        await _find_coordinators(connection, lost)


def _failed(answers: Iterable[tuple[Group, int, str | None]], what: str) -> dict[str, str]:
    """Note lasting errors with their groups; group id -> error of those that may pass."""
    again = {}
    for group, code, message in answers:
        if code in PASSING:
            again[group.id] = error_text(code, message)
        elif code:
            _note([group], what, error_text(code, message))
    return again


def _note(groups: list[Group], what: str, error: str) -> None:
    for group in groups:
        errors = group.commit_errors if what in (_COMMITS, _START_OFFSETS) else group.errors
        errors.append(f"{what}: {error}")


async def _find_coordinators(connection: Connection, groups: list[Group]) -> None:
    """Look up where these groups are now, before 3.0 one by one; what cannot be told stays as it was."""
    await refresh_quietly(connection)
    batched = connection.supports(FindCoordinatorRequest, 4)
    size = _BATCH if batched else 1
    for start in range(0, len(groups), size):
        batch = groups[start : start + size]
        try:
            response = await connection.ask_any(_whereabouts([one.id for one in batch], batched))
        except Unanswered:
            return
        answers = response.coordinators if batched else [response]
        told = {answer.key if batched else batch[0].id: answer for answer in answers}
        for group in batch:
            if group.id in told and not told[group.id].error_code:
                group.coordinator = told[group.id].node_id


def _whereabouts(ids: list[str], batched: bool) -> FindCoordinatorRequest:
    if batched:
        return FindCoordinatorRequest(key_type=0, coordinator_keys=ids, min_version=4)
    return FindCoordinatorRequest(key_type=0, key=ids[0], min_version=1, max_version=3)


async def refresh_quietly(connection: Connection) -> None:
    """Learn which brokers are alive, if any broker tells."""
    try:
        await connection.refresh()
    except Unanswered:
        return  # what is known of the brokers stays; the next request tells more


def error_text(code: int, message: str | None = None) -> str:
    """A broker's error code as its name, with the broker's own words, or what to do about it."""
    known = kafka_errors.kafka_errors.get(code)
    name = known.message if known else f"error code {code}"
    words = _HINTS.get(code) or (message or "").rstrip(".")
    return f"{name} ({words})" if words else name


def tried(cause: str, attempt: int, began: float) -> str:
    """
    What did not pass, with how often and for how long it was asked for.

    Args:
        cause: The last answer, or that there was none.
        attempt: 0 for the first.
        began: `time.monotonic()` at the first.
    """
    if not attempt:
        return f"{cause} (no time left for another try)"
    return f"{cause} ({attempt + 1} tries in {time.monotonic() - began:.0f} s)"


def now_ms() -> int:
    """The present moment in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
