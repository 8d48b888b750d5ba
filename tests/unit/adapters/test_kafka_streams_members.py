"""Threads of Kafka Streams as rows: tasks with what they read, offsets and ends, of both protocols."""

from __future__ import annotations

import json
import struct
from uuid import UUID

from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from evenkeel.engine.config import Filter
from tests.unit.adapters.test_kafka_members import (
    Streams,
    assignment,
    classic,
    metadata,
    reader,
    streams_group,
)

PROCESS = UUID("6ab37bf0-e3ca-4fc8-895d-9e342fbe8fec")


def thread(version: int = 11, **offsets: int) -> bytes:
    """What a Streams thread says: its process and the offsets of tasks named like `t0_1`."""
    told = [(*map(int, name[1:].split("_")), sum) for name, sum in offsets.items()]
    flat = struct.pack(">i", len(told)) + b"".join(struct.pack(">iiqh", *t, -1) for t in told)
    head = struct.pack(">ii", version, 11) + PROCESS.bytes + struct.pack(">i", -1)
    tags = struct.pack(">bii", 0, 0, 1) + b"".join(
        struct.pack(">i", len(t)) + t for t in (b"zone", b"x")
    )
    return head + flat + tags


def placed(active: list[tuple[int, int]], standby: list[tuple[int, int]] = []) -> bytes:  # noqa: B006
    """What the leader sends a thread: one active task per partition, and standby tasks."""
    tasks = b"".join(struct.pack(">iii", *task, 0) for task in active)
    copies = b"".join(struct.pack(">iiii", *task, 0, 0) for task in standby)
    counts = [struct.pack(">i", len(tasks)) for tasks in (active, standby)]
    return struct.pack(">ii", 11, 11) + counts[0] + tasks + counts[1] + copies


def streams_assignment(user_data: bytes, **partitions: list[int]) -> bytes:
    """Partitions, and the tasks that read them."""
    entry = ConsumerProtocolAssignment.TopicPartition
    rows = [entry(topic=t, partitions=p) for t, p in partitions.items()]
    whole = ConsumerProtocolAssignment(version=1, assigned_partitions=rows, user_data=user_data)
    return whole.encode()


def test_a_classic_streams_thread_tells_process_tasks_and_offsets() -> None:
    """Each partition has the task that reads it; a task of two topics is listed once."""
    sent = placed([(0, 1), (1, 3), (0, 1)], [(1, 0)])
    owns = streams_assignment(sent, orders=[1, 3], pay=[1])
    one = classic([(metadata(user_data=thread(t1_3=-2, t1_0=40)), owns)], protocol="stream")
    (row,) = reader().rows(one)
    assert one.errors == []
    assert (row["process_id"], json.loads(row["client_tags"])) == (str(PROCESS), {"zone": "x"})
    assert list(
        zip(row["assigned_tasks"], row["assigned_topics"], row["assigned_partitions"], strict=True)
    ) == [("0_1", "orders", 1), ("1_3", "orders", 3), ("0_1", "pay", 1)]
    assert (row["active_tasks"], row["standby_tasks"]) == (["0_1", "1_3"], ["1_0"])
    assert json.loads(row["task_offsets"]) == {"1_3": -2, "1_0": 40}


def test_tasks_of_topics_left_out_go_with_their_partitions() -> None:
    """The task is known still; what it reads there is not."""
    sent = placed([(0, 0), (1, 1)])
    owns = streams_assignment(sent, audit=[0], orders=[1])
    one = classic([(metadata(user_data=thread()), owns)], protocol="stream")
    (row,) = reader(topics=Filter(deny=("audit",))).rows(one)
    assert (row["assigned_topics"], row["assigned_tasks"]) == (["orders"], ["1_1"])
    assert row["active_tasks"] == ["0_0", "1_1"]


def test_as_many_tasks_as_partitions_or_none_is_believed() -> None:
    """Lists of unequal length cannot be matched; the partitions stay."""
    owns = streams_assignment(placed([(0, 0)]), orders=[0, 1])
    (row,) = reader().rows(classic([(metadata(user_data=thread()), owns)], protocol="stream"))
    assert row.get("assigned_tasks") is None
    assert row["assigned_partitions"] == [0, 1]


def test_a_thread_that_was_given_nothing_has_no_tasks() -> None:
    """Known to be none, unlike with a version that does not tell offsets."""
    old = struct.pack(">ii", 6, 11) + PROCESS.bytes
    rows = reader().rows(
        classic(
            [(metadata(user_data=thread()), assignment()), (metadata(user_data=old), b"")],
            protocol="stream",
        )
    )
    assert [row["active_tasks"] for row in rows] == [[], []]
    assert [row["assigned_tasks"] for row in rows] == [[], []]
    assert [row["task_offsets"] for row in rows] == ["{}", None]


def test_user_data_of_other_assignors_is_not_taken_for_tasks() -> None:
    """A sticky member has user data as well."""
    (row,) = reader().rows(classic([(metadata(user_data=thread()), assignment(orders=[0]))]))
    assert row.get("process_id") is None
    assert row.get("assigned_tasks") is None


def test_a_streams_protocol_member_has_a_task_for_each_partition() -> None:
    """Through the topology; a partition its topic does not have is read by nobody."""
    (row,) = reader().rows(streams_group())
    assert row["assigned_tasks"] == ["0_1", "0_1", "0_3", "1_0"]
    assert "target_tasks" not in row


def test_a_streams_protocol_member_tells_offsets_and_ends() -> None:
    """By task; a member that tells none has none, which is known."""
    group = streams_group()
    (silent,) = reader().rows(group)
    told = Streams.Member.TaskOffset
    (member,) = group.described.members
    member.task_offsets = [told(subtopology_id="1", partition=2, offset=40)]
    member.task_end_offsets = [told(subtopology_id="1", partition=2, offset=50)]
    (row,) = reader().rows(group)
    assert (json.loads(row["task_offsets"]), json.loads(row["task_end_offsets"])) == (
        {"1_2": 40},
        {"1_2": 50},
    )
    assert (silent["task_offsets"], silent["task_end_offsets"]) == ("{}", "{}")
