"""
A cluster on loopback that speaks Kafka's protocol by kafka-python's own classes, and misbehaves as a test says.

It has topics with one partition per broker, all with the same offsets, and groups without members.
"""

from __future__ import annotations

import socketserver
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from kafka.protocol.admin import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka.protocol.consumer import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)

BEGIN, COMMITTED, END = 10, 90, 100

KNOWN: dict[type[Any], int] = {
    ApiVersionsRequest: 2,
    MetadataRequest: 8,
    ListGroupsRequest: 4,
    DescribeGroupsRequest: 5,
    FindCoordinatorRequest: 4,
    OffsetFetchRequest: 8,
    ListOffsetsRequest: 5,
}
"""Request -> the newest version that the brokers know."""
_BY_KEY = {request.API_KEY: request for request in KNOWN}

Slowly = Callable[[Callable[[bytes], None], bytes], None]
"""Gets what sends bytes, and an answer as bytes; returns when all is sent that will be."""


def at_once(send: Callable[[bytes], None], answer: bytes) -> None:
    """As a broker does that is well."""
    send(answer)


@dataclass
class WireCluster:
    """
    Its brokers listen while it is used as a context.

    Attributes:
        groups: Group -> the broker that lists it.
        nodes: The brokers' ids.
        code: (broker, what is asked for, group) -> error code of a group's answer, 0 for none.
        pace: (broker, what is asked for) -> how the answer is sent.
        elsewhere: (group) -> where FindCoordinator says it is; else where it is listed.
        asked: How often each broker was asked for each thing, by the request's class name without `Request`.
    """

    groups: dict[str, int]
    nodes: Iterable[int] = (1, 2, 3)
    code: Callable[[int, str, str], int] = lambda node, what, group: 0
    pace: Callable[[int, str], Slowly] = lambda node, what: at_once
    elsewhere: Callable[[str], int | None] = lambda group: None
    topic: str = "orders"
    asked: Counter[tuple[int, str]] = field(default_factory=Counter)
    _servers: dict[int, socketserver.TCPServer] = field(default_factory=dict)

    def __enter__(self) -> Self:
        for node in self.nodes:
            server = _Server(("127.0.0.1", 0), partial(_Conversation, self, node))
            self._servers[node] = server
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.shutdown()
            server.server_close()

    def address(self, node: int) -> str:
        """Where a broker listens."""
        return f"127.0.0.1:{self._port(node)}"

    def _port(self, node: int) -> int:
        server = self._servers.get(node)
        return server.server_address[1] if server else 9092

    def answer(self, node: int, request: Any) -> Any:
        """The response of a broker, as an object."""
        what = type(request).__name__.removesuffix("Request")
        return getattr(self, f"_{what}")(node, request)

    def _ApiVersions(self, node: int, request: Any) -> Any:  # noqa: N802 as the requests are called
        key = ApiVersionsResponse.ApiVersion
        return ApiVersionsResponse(
            error_code=0,
            throttle_time_ms=0,
            api_keys=[
                key(api_key=known.API_KEY, min_version=0, max_version=newest)
                for known, newest in KNOWN.items()
            ],
        )

    def _Metadata(self, node: int, request: Any) -> Any:  # noqa: N802
        broker, topic = (
            MetadataResponse.MetadataResponseBroker,
            MetadataResponse.MetadataResponseTopic,
        )
        partition = topic.MetadataResponsePartition
        named = [self.topic] if request.topics is None else [each.name for each in request.topics]
        return MetadataResponse(
            throttle_time_ms=0,
            cluster_id="wire",
            controller_id=min(self.nodes),
            brokers=[
                broker(node_id=one, host="127.0.0.1", port=self._port(one), rack=f"rack-{one}")
                for one in self.nodes
            ],
            topics=[
                topic(
                    error_code=0,
                    name=name,
                    is_internal=name.startswith("__"),
                    partitions=[
                        partition(
                            error_code=0,
                            partition_index=place,
                            leader_id=leader,
                            leader_epoch=0,
                            replica_nodes=[leader],
                            isr_nodes=[leader],
                            offline_replicas=[],
                        )
                        for place, leader in enumerate(self.nodes)
                    ],
                )
                for name in named
            ],
        )

    def _ListGroups(self, node: int, request: Any) -> Any:  # noqa: N802
        entry = ListGroupsResponse.ListedGroup
        return ListGroupsResponse(
            throttle_time_ms=0,
            error_code=self.code(node, "ListGroups", ""),
            groups=[
                entry(group_id=group, protocol_type="consumer", group_state="Empty")
                for group, at in self.groups.items()
                if at == node
            ],
        )

    def _DescribeGroups(self, node: int, request: Any) -> Any:  # noqa: N802
        entry = DescribeGroupsResponse.DescribedGroup
        return DescribeGroupsResponse(
            throttle_time_ms=0,
            groups=[
                entry(
                    error_code=self.code(node, "DescribeGroups", group),
                    group_id=group,
                    group_state="Empty",
                    protocol_type="consumer",
                    protocol_data="",
                    members=[],
                )
                for group in request.groups
            ],
        )

    def _FindCoordinator(self, node: int, request: Any) -> Any:  # noqa: N802
        entry = FindCoordinatorResponse.Coordinator

        def found(group: str) -> int:
            return self.elsewhere(group) or self.groups[group]

        return FindCoordinatorResponse(
            throttle_time_ms=0,
            coordinators=[
                entry(
                    key=group,
                    node_id=found(group),
                    host="127.0.0.1",
                    port=self._port(found(group)),
                    error_code=self.code(node, "FindCoordinator", group),
                )
                for group in request.coordinator_keys
            ],
        )

    def _OffsetFetch(self, node: int, request: Any) -> Any:  # noqa: N802
        entry = OffsetFetchResponse.OffsetFetchResponseGroup
        topic = entry.OffsetFetchResponseTopics
        partition = topic.OffsetFetchResponsePartitions
        rows = [
            partition(partition_index=place, committed_offset=COMMITTED, error_code=0)
            for place, _ in enumerate(self.nodes)
        ]
        answers = []
        for group in request.groups:
            code = self.code(node, "OffsetFetch", group.group_id)
            topics = [] if code else [topic(name=self.topic, partitions=rows)]
            answers.append(entry(group_id=group.group_id, topics=topics, error_code=code))
        return OffsetFetchResponse(throttle_time_ms=0, groups=answers)

    def _ListOffsets(self, node: int, request: Any) -> Any:  # noqa: N802
        topic = ListOffsetsResponse.ListOffsetsTopicResponse
        partition = topic.ListOffsetsPartitionResponse
        return ListOffsetsResponse(
            throttle_time_ms=0,
            topics=[
                topic(
                    name=one.name,
                    partitions=[
                        partition(
                            partition_index=row.partition_index,
                            error_code=0,
                            timestamp=-1,
                            offset=BEGIN if row.timestamp == -2 else END,
                            leader_epoch=0,
                        )
                        for row in one.partitions
                    ],
                )
                for one in request.topics
            ],
        )


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads, allow_reuse_address, block_on_close = True, True, False


class _Conversation(socketserver.StreamRequestHandler):
    def __init__(self, cluster: WireCluster, node: int, *arguments: Any) -> None:
        self.cluster, self.node = cluster, node
        super().__init__(*arguments)

    def handle(self) -> None:
        with suppress(ConnectionError):
            while len(size := self.rfile.read(4)) == 4:
                self._reply(self.rfile.read(struct.unpack(">i", size)[0]))

    def _reply(self, asked: bytes) -> None:
        key, version = struct.unpack(">hh", asked[:4])
        kind = _BY_KEY.get(key)
        if kind is None:  # what a client tries that got no answer
            raise ConnectionAbortedError
        if version > KNOWN[kind]:  # only of ApiVersions: whoever asks goes by what this one says
            self._send(asked, ApiVersionsResponse(error_code=35, api_keys=[]), 0, "ApiVersions")
            return
        request = kind.decode(asked, version=version, header=True)
        what = kind.__name__.removesuffix("Request")
        self.cluster.asked[self.node, what] += 1
        self._send(asked, self.cluster.answer(self.node, request), version, what)

    def _send(self, asked: bytes, answer: Any, version: int, what: str) -> None:
        answer.API_VERSION = version
        answer.with_header(correlation_id=struct.unpack(">i", asked[4:8])[0])
        pace = self.cluster.pace(self.node, what)
        pace(self.request.sendall, answer.encode(header=True, framed=True))
