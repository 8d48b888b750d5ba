"""Blobs of classic groups: every version, whatever follows, and bytes that are none."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from evenkeel.engine.adapters.kafka.decode import (
    BlobError,
    read_assignment,
    read_streams_client,
    read_streams_tasks,
    read_subscription,
)

PROCESS = bytes.fromhex("6ab37bf0e3ca4fc8895d9e342fbe8fec")
PROCESS_TEXT = "6ab37bf0-e3ca-4fc8-895d-9e342fbe8fec"

# A thread of a real application of Kafka 4.3: two active tasks, two standby tasks of one topic.
STREAMS_SUBSCRIPTION = bytes.fromhex(
    "0000000b0000000b6ab37bf0e3ca4fc8895d9e342fbe8fec0000000000000000020000000000000001000000"
    "047a6f6e65000000067261636b2d62"
)
STREAMS_ASSIGNMENT = bytes.fromhex(
    "0000000b0000000b000000020000000000000003000000000000000100000004000000000000000200000001"
    "000000030000000000000001002273747265616d732d636c61737369632d636f756e74732d72657061727469"
    "74696f6e0000000300000001000000010000000000000001002273747265616d732d636c61737369632d636f"
    "756e74732d7265706172746974696f6e00000001000000000000000000000000000000007fffffffffffffff"
)

topic_names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
topics = st.lists(topic_names, max_size=4)
owned = st.lists(
    st.tuples(topic_names, st.lists(st.integers(0, 2**31 - 1), max_size=4)), max_size=3
)
user_data = st.none() | st.binary(max_size=20)


def subscription_blob(version: int, **values: Any) -> bytes:
    """What kafka-python writes, as an implementation that is not ours."""
    claims = values.pop("owned", [])
    entry = ConsumerProtocolSubscription.TopicPartition
    partitions = [entry(topic=t, partitions=p) for t, p in claims]
    whole = ConsumerProtocolSubscription(version=version, owned_partitions=partitions, **values)
    return whole.encode()


def flat(claims: list[tuple[str, list[int]]]) -> tuple[list[str], list[int]]:
    """Topic and number of each partition."""
    pairs = [(t, p) for t, numbers in claims for p in numbers]
    return [t for t, _ in pairs], [p for _, p in pairs]


@given(
    version=st.integers(0, 3),
    topics=topics,
    data=user_data,
    claims=owned,
    generation=st.integers(-1, 2**31 - 1),
    rack=st.none() | st.text(max_size=10),
    tail=st.binary(max_size=8),
)
def test_a_subscription_is_read_in_every_version(
    version: int,
    topics: list[str],
    data: bytes | None,
    claims: list[tuple[str, list[int]]],
    generation: int,
    rack: str | None,
    tail: bytes,
) -> None:
    """Each version yields the fields it has, what is absent is None, appended bytes are ignored."""
    blob = subscription_blob(
        version,
        topics=topics,
        user_data=data,
        owned=claims,
        generation_id=generation,
        rack_id=rack,
    )
    read = read_subscription(blob + tail)
    assert read.topics == tuple(topics)
    assert read.user_data == data
    assert read.owned == (flat(claims) if version >= 1 else ([], []))
    assert read.generation == (generation if version >= 2 and generation >= 0 else None)
    assert read.rack == ((rack or None) if version >= 3 else None)


@given(version=st.integers(4, 32_767), rack=st.text(min_size=1, max_size=5))
def test_a_later_version_is_read_as_the_highest_known(version: int, rack: str) -> None:
    """Fields are only ever appended, so version 4 and up are read as version 3."""
    blob = subscription_blob(3, topics=["t"], user_data=None, generation_id=7, rack_id=rack)
    read = read_subscription(struct.pack(">h", version) + blob[2:] + b"later fields")
    assert (read.topics, read.generation, read.rack) == (("t",), 7, rack)


@given(version=st.integers(0, 3), claims=owned, data=user_data, tail=st.binary(max_size=8))
def test_an_assignment_is_read_in_every_version(
    version: int, claims: list[tuple[str, list[int]]], data: bytes | None, tail: bytes
) -> None:
    """Partitions come in the order they were sent, user data as bytes."""
    entry = ConsumerProtocolAssignment.TopicPartition
    partitions = [entry(topic=t, partitions=p) for t, p in claims]
    whole = ConsumerProtocolAssignment(
        version=version, assigned_partitions=partitions, user_data=data
    )
    assert read_assignment(whole.encode() + tail) == (flat(claims), data)


@given(st.binary(max_size=60))
def test_any_bytes_give_a_value_or_a_blob_error(blob: bytes) -> None:
    """Whatever a client writes, nothing but BlobError comes out."""
    for read in (read_subscription, read_assignment, read_streams_client, read_streams_tasks):
        try:
            read(blob)
        except BlobError:
            continue


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_cut_subscription_is_an_error(cut: int) -> None:
    """Every prefix of a blob is noticed, none is read as something shorter."""
    blob = subscription_blob(
        3, topics=["orders"], user_data=b"x", owned=[("orders", [1])], generation_id=1, rack_id="a"
    )
    with pytest.raises(BlobError):
        read_subscription(blob[: max(0, len(blob) - cut)])


def test_a_huge_count_is_an_error_at_once() -> None:
    """A count beyond the bytes that are there is damage, not work."""
    with pytest.raises(BlobError, match="2147483647 items"):
        read_subscription(struct.pack(">hi", 0, 2**31 - 1))


def test_a_streams_thread_tells_process_and_tags() -> None:
    """Version 11, as Kafka 4.3 writes it."""
    client = read_streams_client(STREAMS_SUBSCRIPTION)
    assert client.process_id == PROCESS_TEXT
    assert client.client_tags == {"zone": "rack-b"}


@pytest.mark.parametrize("version", range(1, 11))
def test_an_earlier_streams_thread_tells_its_process_without_tags(version: int) -> None:
    """The process id stands at the same place in all versions, after the supported one from 3."""
    supported = struct.pack(">i", 11) if version >= 3 else b""
    blob = struct.pack(">i", version) + supported + PROCESS + b"\0" * 12
    client = read_streams_client(blob)
    assert (client.process_id, client.client_tags) == (PROCESS_TEXT, {})


def flat_sums(*told: tuple[int, int, int, bytes | None]) -> bytes:
    """Offset sums as versions 10 and 11 write them: sub-topology, partition, sum, name of a topology."""
    return struct.pack(">i", len(told)) + b"".join(
        struct.pack(">iiq", sub, partition, offset)
        + (struct.pack(">h", -1) if name is None else struct.pack(">h", len(name)) + name)
        for sub, partition, offset, name in told
    )


def grouped_sums(told: dict[int, list[tuple[int, int]]]) -> bytes:
    """Offset sums as versions 7 to 9 write them: partitions and sums by sub-topology."""
    return struct.pack(">i", len(told)) + b"".join(
        struct.pack(">ii", sub, len(pairs)) + b"".join(struct.pack(">iq", *pair) for pair in pairs)
        for sub, pairs in told.items()
    )


def streams_blob(version: int, sums: bytes, endpoint: bytes | None = None) -> bytes:
    """User data of a thread up to its offset sums."""
    host = struct.pack(">i", -1)
    if endpoint is not None:
        host = struct.pack(">i", len(endpoint)) + endpoint
    return struct.pack(">ii", version, 11) + PROCESS + host + sums


def test_a_streams_thread_tells_offsets_endpoint_and_tags() -> None:
    """Version 11 with an endpoint, offset sums (one of a named topology) and two tags."""
    sums = flat_sums((0, 1, -2, None), (1, 2, 99, b"name"), (1, 3, -3, None))
    tags = b"".join(struct.pack(">i", len(t)) + t for t in (b"a", b"1", b"b", b"2"))
    blob = streams_blob(11, sums, b"host:1") + struct.pack(">bi", 5, 0)
    client = read_streams_client(blob + struct.pack(">i", 2) + tags)
    assert client.client_tags == {"a": "1", "b": "2"}
    assert client.task_offsets == {"0_1": -2, "1_2": 99, "1_3": -3}


def test_version_10_lists_offsets_flat_and_has_no_tags() -> None:
    """As version 11, and then it ends."""
    client = read_streams_client(streams_blob(10, flat_sums((2, 12, 1 << 40, None))))
    assert (client.task_offsets, client.client_tags) == ({"2_12": 1 << 40}, {})


@pytest.mark.parametrize("version", [7, 8, 9])
@pytest.mark.parametrize("endpoint", [None, b"", b"host:1"])
def test_versions_7_to_9_group_offsets_by_subtopology(version: int, endpoint: bytes | None) -> None:
    """Whatever follows is passed over."""
    sums = grouped_sums({0: [(3, -2), (4, 0)], 2: [], 1: [(3, 7)]})
    client = read_streams_client(streams_blob(version, sums, endpoint) + b"\5\0\0\0\0")
    assert client.task_offsets == {"0_3": -2, "0_4": 0, "1_3": 7}


@pytest.mark.parametrize("version", range(1, 7))
def test_before_version_7_offsets_are_not_told(version: int) -> None:
    """Not told is not the same as nothing on disk."""
    supported = struct.pack(">i", 11) if version >= 3 else b""
    blob = struct.pack(">i", version) + supported + PROCESS + b"\0" * 12
    assert read_streams_client(blob).task_offsets is None
    assert read_streams_client(streams_blob(7, grouped_sums({}))).task_offsets == {}


def test_a_real_thread_without_copies_reports_none() -> None:
    """It told its offsets, and there were none."""
    assert read_streams_client(STREAMS_SUBSCRIPTION).task_offsets == {}


@pytest.mark.parametrize("version", [7, 10, 11])
def test_cut_offset_sums_are_an_error(version: int) -> None:
    """None of them is read as fewer tasks."""
    sums = grouped_sums({0: [(3, 5)]}) if version == 7 else flat_sums((0, 3, 5, None))
    blob = streams_blob(version, sums)
    for cut in range(1, len(sums) + 1):
        with pytest.raises(BlobError):
            read_streams_client(blob[:-cut])


def test_tasks_of_a_streams_assignment() -> None:
    """Active tasks in the order of the partitions, standby tasks without their topics."""
    assert read_streams_tasks(STREAMS_ASSIGNMENT) == (["0_3", "1_4"], ["1_3", "1_1"])


def test_tasks_of_an_earlier_streams_assignment() -> None:
    """Before version 10 a task has no topology name, before 3 there is no supported version."""
    task = struct.pack(">ii", 1, 2)
    blob = struct.pack(">ii", 2, 1) + task + struct.pack(">i", 0)
    assert read_streams_tasks(blob) == (["1_2"], [])


@pytest.mark.parametrize("blob", ["0000fffffffe", "000000000001000174fffffffe"])
def test_a_negative_count_is_damage(blob: str) -> None:
    """Of topics, or of partitions; -1 alone says that there is none."""
    with pytest.raises(BlobError, match="-2 items in 0 bytes"):
        read_assignment(bytes.fromhex(blob))
    assert read_assignment(bytes.fromhex("0000ffffffffffffffff")) == (([], []), None)


def test_a_negative_task_is_damage() -> None:
    """No subtopology and no partition has a negative number."""
    with pytest.raises(BlobError, match="task 0_-1"):
        read_streams_tasks(bytes.fromhex("00000001000000010000 0000ffffffff00000000"))
