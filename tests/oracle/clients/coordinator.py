"""
Assignors that only a consumer can call, of librdkafka and franz-go: one that joins a group is told to lead it.

All that the consumer ever meets is a broker of a few lines on the loopback interface. It answers JoinGroup with the
members of a case and Metadata with its topics and racks, takes the assignment out of SyncGroup, and answers that the
group rebalances, which brings the next case.
"""

from __future__ import annotations

import contextlib
import socketserver
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self

from kafka.protocol.consumer import group
from kafka.protocol.metadata import api_versions, find_coordinator, metadata

from tests.oracle.clients.wire import Answer, answered, joined
from tests.oracle.groups import Case
from tests.stage.process import checkout_home

OWN_TOPIC = "evenkeel-test-oracle"
PATIENCE_SECONDS = 20.0
REBALANCE_IN_PROGRESS, UNSUPPORTED_VERSION, UNKNOWN_TOPIC = 27, 35, 3
NEWEST = {1: 4, 2: 2, 3: 8, 8: 6, 9: 5, 10: 2, 11: 5, 12: 3, 13: 3, 14: 3, 18: 2}
"""API key -> the newest version that has no tagged fields yet."""


def librdkafka() -> list[str]:
    """The command of a consumer of librdkafka."""
    return [sys.executable, "-m", "tests.oracle.clients.librdkafka"]


def franz_go() -> list[str]:
    """The command of a consumer of franz-go, which is built first; needs Go."""
    program = checkout_home() / "oracle" / "franz-go"
    program.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_name("go")
    subprocess.run(["go", "build", "-o", program, "."], cwd=source, check=True)
    return [str(program)]


class Leader:
    """A consumer of another library than Java's that leads the groups of cases; to be used in a `with` statement."""

    def __init__(self, command: Sequence[str], strategy: str) -> None:
        """
        Start it.

        Args:
            command: That of the consumer.
            strategy: What the group runs, by its name in `partition.assignment.strategy`.
        """
        self.strategy = strategy
        self.case: Case = {"topics": {}, "members": []}
        self._asked = 0
        self._cases: SimpleQueue[Case] = SimpleQueue()
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        leader = self

        class Connection(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(ConnectionError):
                    self._serve()

            def _serve(self) -> None:
                while len(size := self.rfile.read(4)) == 4:
                    answer = leader._answer(self.rfile.read(struct.unpack(">i", size)[0]))
                    if answer is not None:
                        self.wfile.write(struct.pack(">i", len(answer)) + answer)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads, allow_reuse_address = True, True

        self._server = Server(("127.0.0.1", 0), Connection)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.port = self._server.server_address[1]
        self._command = [*command, f"127.0.0.1:{self.port}", strategy]
        self._process = subprocess.Popen(self._command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._server.shutdown()
        self._server.server_close()

    def ask(self, case: Case) -> Answer:
        """What it assigns as the leader of this group, which has members."""
        self._asked += 1
        mark = f"{self._asked:06}."
        self._cases.put(_marked(case, mark))
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            try:
                told = self._answers.get(timeout=0.1)["assignment"]
            except Empty:
                if self._process.poll() is None:
                    continue
                status = self._process.returncode
                self._process = subprocess.Popen(self._command)
                return {"error": f"the consumer ended with status {status}"}
            bare = {m: [[t.removeprefix(mark), p] for t, p in own] for m, own in told.items()}
            return {"assignment": bare}
        return {"error": "no answer"}

    def _answer(self, request: bytes) -> bytes | None:
        key, version, number = struct.unpack(">hhi", request[:8])
        size = struct.unpack(">h", request[8:10])[0]
        body = memoryview(request)[10 + max(size, 0) :]
        head = struct.pack(">i", number)
        if key == 18:
            return head + _versions(min(version, 2), version > 2)
        found = getattr(self, f"_of_{key}", None)
        if found is None:
            return None
        return head + found(version, body).encode(version=version)

    def _of_3(self, version: int, body: memoryview) -> Any:
        response = metadata.MetadataResponse
        asked = metadata.MetadataRequest.decode(body, version=version).topics
        names = [OWN_TOPIC] if asked is None else [each.name for each in asked]
        racks = sorted(
            {r for t in self.case["topics"].values() for p in t["partitions"] for r in p if r}
        )
        nodes = {None: 0} | {rack: 1 + place for place, rack in enumerate(racks)}
        topics = []
        for name in names:
            known = (
                [[]] if name == OWN_TOPIC else self.case["topics"].get(name, {}).get("partitions")
            )
            topics.append(
                response.MetadataResponseTopic(
                    error_code=UNKNOWN_TOPIC if known is None else 0,
                    name=name,
                    is_internal=False,
                    partitions=[
                        response.MetadataResponseTopic.MetadataResponsePartition(
                            error_code=0,
                            partition_index=place,
                            leader_id=0,
                            leader_epoch=0,
                            replica_nodes=[nodes[r or None] for r in replicas],
                            isr_nodes=[nodes[r or None] for r in replicas],
                            offline_replicas=[],
                        )
                        for place, replicas in enumerate(known or ())
                    ],
                )
            )
        return response(
            throttle_time_ms=0,
            brokers=[
                response.MetadataResponseBroker(
                    node_id=node, host="127.0.0.1", port=self.port, rack=rack
                )
                for rack, node in nodes.items()
            ],
            cluster_id="oracle",
            controller_id=0,
            topics=topics,
        )

    def _of_10(self, version: int, body: memoryview) -> Any:
        return find_coordinator.FindCoordinatorResponse(
            throttle_time_ms=0,
            error_code=0,
            error_message=None,
            node_id=0,
            host="127.0.0.1",
            port=self.port,
        )

    def _of_11(self, version: int, body: memoryview) -> Any:
        self.case = self._cases.get()
        response = group.JoinGroupResponse
        members = joined(self.case)
        return response(
            throttle_time_ms=0,
            error_code=0,
            generation_id=1,
            protocol_name=self.strategy,
            leader=members[0].member_id,
            member_id=members[0].member_id,
            members=[
                response.JoinGroupResponseMember(
                    member_id=m.member_id,
                    group_instance_id=m.group_instance_id,
                    metadata=m.metadata,
                )
                for m in members
            ],
        )

    def _of_14(self, version: int, body: memoryview) -> Any:
        asked = group.SyncGroupRequest.decode(body, version=version)
        self._answers.put(answered({m.member_id: bytes(m.assignment) for m in asked.assignments}))
        return group.SyncGroupResponse(
            throttle_time_ms=0, error_code=REBALANCE_IN_PROGRESS, assignment=b""
        )

    def _of_12(self, version: int, body: memoryview) -> Any:
        return group.HeartbeatResponse(throttle_time_ms=0, error_code=0)


def _versions(version: int, newer: bool) -> bytes:
    response = api_versions.ApiVersionsResponse
    return bytes(
        response(
            error_code=UNSUPPORTED_VERSION if newer else 0,
            api_keys=[
                response.ApiVersion(api_key=k, min_version=0, max_version=v)
                for k, v in NEWEST.items()
            ],
            throttle_time_ms=0,
        ).encode(version=0 if newer else version)
    )


def _marked(case: Case, mark: str) -> Case:
    """The case with topics that the consumer has never heard of: franz-go remembers how many partitions one had."""

    def of(pairs: Sequence[Any]) -> list[Any]:
        return [[mark + topic, number] for topic, number in pairs]

    members = []
    for member in case["members"]:
        data = member["user_data"]
        if data and "owned" in data:
            data = {**data, "owned": of(data["owned"])}
        topics = [mark + topic for topic in member["topics"]]
        members.append(
            {**member, "topics": topics, "owned": of(member["owned"]), "user_data": data}
        )
    return {**case, "topics": {mark + t: v for t, v in case["topics"].items()}, "members": members}
