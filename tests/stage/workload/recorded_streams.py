"""A classic Kafka Streams group without its application: members that say what real ones said.

Where Java has no compiler the application cannot be run from source. Its members' subscriptions and
assignments, as tests/data holds them recorded, are then sent by members that process nothing.
"""

from __future__ import annotations

import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError, RebalanceInProgressError
from kafka.protocol.consumer import HeartbeatRequest, OffsetCommitRequest, SyncGroupRequest
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from evenkeel.engine.adapters.recording import open_recording
from tests.stage.kafka.spreading import await_topics
from tests.stage.workload.groups import GroupPlan
from tests.stage.workload.rebalancing import RawMember

RECORDING = Path(__file__).resolve().parents[2] / "data" / "cluster-recording.evenkeel"

_HEARTBEAT_SECONDS = 3.0
# Half a second on an idle machine.
_LEAVE_SECONDS = 20.0
# Records short of the end that each commit is: a lag that is seen and stays small.
_BEHIND = 5


@dataclass(frozen=True)
class RecordedBlobs:
    """What a member sent and was sent; ``process`` is its application instance's process id."""

    client_id: str
    process: str
    subscription: bytes
    assignment: bytes


def recorded(group: str, prefix: str) -> tuple[list[RecordedBlobs], dict[str, int]]:
    """A recorded group's members, and partitions by full name of the internal topics it has.

    The prefix is put before all names inside the blobs too; without one they are as recorded.
    """
    recording = open_recording(RECORDING)
    newest = recording.snapshot_ids[-1:]
    counts: dict[str, int] = {}
    for row in recording.read("partitions", newest).to_pylist():
        if row["topic"].startswith(f"{group}-"):
            counts[prefix + row["topic"]] = counts.get(prefix + row["topic"], 0) + 1
    members = recording.read("members", newest).to_pylist()
    return [_prefixed(row, prefix) for row in members if row["group_id"] == group], counts


def _prefixed(row: dict[str, Any], prefix: str) -> RecordedBlobs:
    sent = ConsumerProtocolSubscription.decode(row["metadata"])
    got = ConsumerProtocolAssignment.decode(row["assignment"])
    for topic in sent.topics:  # standby tasks name theirs in the user data
        got.user_data = got.user_data.replace(_string(topic), _string(prefix + topic))
    sent.topics = [prefix + topic for topic in sent.topics]
    for pairs in (*sent.owned_partitions, *got.assigned_partitions):
        pairs.topic = prefix + pairs.topic
    return RecordedBlobs(prefix + row["client_id"], row["process_id"], sent.encode(), got.encode())


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


class RecordedMember(RawMember):
    """Stays in its group with recorded blobs and commits a little less than there is to read."""

    def __init__(
        self, bootstrap: str, group: str, own: RecordedBlobs, everyone: list[RecordedBlobs]
    ) -> None:
        super().__init__(bootstrap, group, own.client_id, "stream", own.subscription)
        self.process = own.process
        self.assigned: list[TopicPartition] = []
        """What it was told to read; empty while the group rebalances."""
        self._everyone = everyone
        self._thread.start()

    def _take_part(self, client: KafkaAdminClient) -> None:
        try:
            while not self._asked_to_end.is_set():
                with suppress(RebalanceInProgressError):
                    self._stay(client, client._manager.run(self._join_and_sync, client))
        finally:
            self.assigned = []

    async def _join_and_sync(self, client: KafkaAdminClient) -> int:
        self.assigned = []
        joined = await self._join_group(client)
        sync = SyncGroupRequest(
            group_id=self._group,
            generation_id=joined.generation_id,
            member_id=self._member_id,
            protocol_type="consumer",
            protocol_name="stream",
            assignments=self._shares(joined) if joined.leader == self._member_id else [],
        )
        share = (await self._send(client, sync)).assignment
        owned = ConsumerProtocolAssignment.decode(share).assigned_partitions if share else []
        self.assigned = [TopicPartition(one.topic, p) for one in owned for p in one.partitions]
        return int(joined.generation_id)

    def _shares(self, joined: Any) -> list[Any]:
        """As leader: to every member what its recorded namesake got."""
        # A member id is the client id, a dash and a UUID.
        ids = {one.member_id.rsplit("-", 5)[0]: one.member_id for one in joined.members}
        share = SyncGroupRequest.SyncGroupRequestAssignment
        there = [blobs for blobs in self._everyone if blobs.client_id in ids]
        return [share(member_id=ids[b.client_id], assignment=b.assignment) for b in there]

    def _stay(self, client: KafkaAdminClient, generation: int) -> None:
        who = {"group_id": self._group, "member_id": self._member_id}
        while not self._asked_to_end.is_set():
            beat = HeartbeatRequest(**who, generation_id=generation)
            client._manager.run(self._send, client, beat)
            with suppress(KafkaError):  # a leader that is away; the next one says more
                commit = OffsetCommitRequest(
                    **who,
                    generation_id_or_member_epoch=generation,
                    topics=self._commits(client),
                    max_version=9,  # the last that names topics
                )
                client._manager.run(self._send, client, commit)
            self._asked_to_end.wait(_HEARTBEAT_SECONDS)

    def _commits(self, client: KafkaAdminClient) -> list[Any]:
        ends = client.list_partition_offsets(dict.fromkeys(self.assigned, OffsetSpec.LATEST))
        topic = OffsetCommitRequest.OffsetCommitRequestTopic
        offset = topic.OffsetCommitRequestPartition
        commits = []
        for name, keys in groupby(sorted(ends), lambda key: key.topic):
            offsets = {key.partition: max(0, ends[key].offset - _BEHIND) for key in keys}
            found = [offset(partition_index=p, committed_offset=o) for p, o in offsets.items()]
            commits.append(topic(name=name, partitions=found))
        return commits


class RecordedStreams:
    """A recorded application's members, started; stands in for the StreamsApp that runs it."""

    def __init__(
        self, admin: KafkaAdminClient, bootstrap: str, prefix: str, plan: GroupPlan
    ) -> None:
        everyone, internal = recorded(plan.name, prefix)
        _create(admin, internal)
        group = prefix + plan.name
        self._members = [RecordedMember(bootstrap, group, own, everyone) for own in everyone]

    def running(self, plan: GroupPlan) -> int:
        """How many instances of the application have an assignment for all their members."""
        idle = {member.process for member in self._members if not member.assigned}
        return len({member.process for member in self._members} - idle)

    def stop(self) -> None:
        """Let all members leave their group, and end."""
        for member in self._members:
            member.ask_to_end()
        deadline = time.monotonic() + _LEAVE_SECONDS
        for member in self._members:
            member.join(max(0.0, deadline - time.monotonic()))


def _create(admin: KafkaAdminClient, counts: dict[str, int]) -> None:
    """Create the internal topics that are missing, as the application would."""
    replicas = min(2, len(admin.describe_cluster()["brokers"]))
    for name in counts.keys() - set(admin.list_topics()):
        plan = {"num_partitions": counts[name], "replication_factor": replicas}
        admin.create_topics({name: plan})

    await_topics(admin, [*counts])
