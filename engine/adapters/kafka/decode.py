"""
What members of classic groups carry: consumer protocol blobs, and Kafka Streams data inside them.

All of it is big-endian without tags: int16 version first (int32 in Streams data), string = int16
length, bytes = int32 length with -1 for null, array = int32 count. Fields are only ever appended,
so a version higher than known is read as the highest known one.

Source: Kafka's ConsumerProtocolSubscription, ConsumerProtocolAssignment and, for Streams,
SubscriptionInfoData, all of 4.3.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
Pairs = tuple[list[str], list[int]]
"""Partitions as parallel lists of topic and number."""

NULL = -1
"""The size of what is not there."""

_INT8, _INT16, _INT32, _INT64 = (struct.Struct(f">{code}") for code in "bhiq")


class BlobError(ValueError):
    """The bytes are not what they should be."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """
    What a member said when it last joined; *owned* is what it had before that.

    *rack* and *generation* are None where the version has none, or the member left them empty.
    """

    topics: tuple[str, ...]
    user_data: bytes | None
    owned: Pairs
    generation: int | None
    rack: str | None


@dataclass(frozen=True, slots=True)
class StreamsClient:
    """
    What a Kafka Streams thread says of its process.

    *task_offsets* are its stores' offset sums by task when it last joined: -2 for one that it runs, -3 unknown; None
    where its version does not tell them (before 7).
    """

    process_id: str
    client_tags: dict[str, str]
    task_offsets: dict[str, int] | None


class _Reader:
    """A position in bytes that never runs past their end."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def take(self, size: int) -> bytes:
        start, end = self.position, self.position + size
        if size < 0 or end > len(self.data):
            raise BlobError(f"{size} bytes at {start} of {len(self.data)}")
        self.position = end
        return self.data[start:end]

    def _number(self, kind: struct.Struct) -> int:
        value: int = kind.unpack(self.take(kind.size))[0]
        return value

    def int8(self) -> int:
        return self._number(_INT8)

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def int64(self) -> int:
        return self._number(_INT64)

    def text(self) -> str:
        try:
            return self.take(self.int16()).decode()
        except UnicodeDecodeError as problem:
            raise BlobError("a text is not UTF-8") from problem

    def nullable_text(self) -> str | None:
        if self.int16() < 0:
            return None
        self.position -= 2
        return self.text()

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size < 0 else self.take(size)

    def array(self, item: Callable[[], T]) -> list[T]:
        # every item takes at least a byte: a count beyond that is damage, not a reason to loop
        return [item() for _ in range(self.count())]

    def numbers(self) -> tuple[int, ...]:
        count = self.count()
        return struct.unpack(f">{count}i", self.take(4 * count))

    def count(self) -> int:
        """How many items of at least a byte follow; -1 is null, and so none."""
        count, left = self.int32(), len(self.data) - self.position
        if count < NULL or count > left:
            raise BlobError(f"{count} items in {left} bytes")
        return max(count, 0)

    def task(self) -> str:
        subtopology, partition = self.int32(), self.int32()
        if subtopology < 0 or partition < 0:
            raise BlobError(f"task {subtopology}_{partition}")
        return f"{subtopology}_{partition}"

    def partitions(self) -> Pairs:
        topics: list[str] = []
        numbers: list[int] = []
        for topic, own in self.array(lambda: (self.text(), self.numbers())):
            topics += [topic] * len(own)
            numbers += own
        return topics, numbers


def read_subscription(blob: bytes) -> Subscription:
    """
    A member's metadata of protocol type `consumer`.

    Raises:
        BlobError: It is cut off or not of that kind.
    """
    reader = _Reader(blob)
    version = _version(reader.int16())
    topics = tuple(reader.array(reader.text))
    user_data = reader.nullable_bytes()
    owned = reader.partitions() if version >= 1 else ([], [])
    generation = reader.int32() if version >= 2 else -1
    rack = reader.nullable_text() if version >= 3 else None
    return Subscription(
        topics=topics,
        user_data=user_data,
        owned=owned,
        generation=None if generation < 0 else generation,
        rack=rack or None,
    )


def read_assignment(blob: bytes) -> tuple[Pairs, bytes | None]:
    """
    A member's assignment of protocol type `consumer`, in the order it was sent, and its user data.

    Raises:
        BlobError: It is cut off or not of that kind.
    """
    reader = _Reader(blob)
    _version(reader.int16())
    return reader.partitions(), reader.nullable_bytes()


def read_streams_client(user_data: bytes) -> StreamsClient:
    """
    The user data of a classic Kafka Streams member (protocol `stream`).

    Raises:
        BlobError: It is cut off or not of that kind.
    """
    reader = _Reader(user_data)
    version = _version(reader.int32())
    if version >= 3:
        reader.int32()  # the latest version this member supports
    process_id = str(uuid.UUID(bytes=reader.take(16)))
    tags: dict[str, str] = {}
    offsets: dict[str, int] | None = None
    if version >= 7:
        reader.nullable_bytes()  # user endpoint
        one = _offset_sum if version >= 10 else _offset_sums
        offsets = {task: sum for tasks in reader.array(lambda: one(reader)) for task, sum in tasks}
    if version >= 11:
        reader.int8(), reader.int32()  # a byte that makes it unique, an error code
        pairs = reader.array(lambda: (_tag(reader), _tag(reader)))
        tags = dict(pairs)
    return StreamsClient(process_id, tags, offsets)


def read_streams_tasks(user_data: bytes) -> tuple[list[str], list[str]]:
    """
    Active and standby tasks, each `subtopology_partition`, in the user data of an assignment.

    Source: AssignmentInfo of Kafka Streams, up to version 11.

    Raises:
        BlobError: It is cut off or not of that kind.
    """
    reader = _Reader(user_data)
    version = _version(reader.int32())
    if version >= 3:
        reader.int32()  # the version all members support

    def task() -> str:
        name = reader.task()
        if version >= 10:
            reader.take(2 * reader.int32())  # name of its topology, UTF-16
        return name

    def standby() -> str:
        name = task()
        reader.array(lambda: (reader.text(), reader.int32()))
        return name

    return reader.array(task), reader.array(standby)


def _version(version: int) -> int:
    if version < 0:
        raise BlobError(f"version {version}")
    return version


def _offset_sum(reader: _Reader) -> list[tuple[str, int]]:
    """One task of a version that lists them flat; the name of its topology is passed over."""
    task, offset = reader.task(), reader.int64()
    reader.nullable_text()
    return [(task, offset)]


def _offset_sums(reader: _Reader) -> list[tuple[str, int]]:
    """The tasks of one subtopology, of a version that groups them."""
    subtopology = reader.int32()
    return reader.array(lambda: (f"{subtopology}_{reader.int32()}", reader.int64()))


def _tag(reader: _Reader) -> str:
    return (reader.nullable_bytes() or b"").decode(errors="replace")
