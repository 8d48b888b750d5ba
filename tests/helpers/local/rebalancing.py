"""A group that never finishes rebalancing: raw JoinGroup requests that no SyncGroup follows."""

from __future__ import annotations

import threading
from contextlib import closing, suppress

from kafka.admin import KafkaAdminClient, MemberToRemove
from kafka.errors import KafkaError, MemberIdRequiredError, for_code
from kafka.protocol.consumer import JoinGroupRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

_SESSION_MS = 20_000
_REJOIN_SECONDS = 2.0


class RestlessMember:
    """Joins its group every other second and never syncs.

    The group is *CompletingRebalance* while its members have an answer to their JoinGroup and
    *PreparingRebalance* while one of them waits for the other; it is never stable. A member has a
    client and so a connection of its own, because a waiting JoinGroup holds its connection up.
    """

    def __init__(self, bootstrap: str, group: str, topics: tuple[str, ...], number: int) -> None:
        self._bootstrap = bootstrap
        self._group = group
        self._topics = sorted(topics)
        self._client_id = f"{group}-{number}"
        self._member_id = ""
        self.joined = 0
        """How many times it has joined."""
        self._asked_to_end = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self._client_id, daemon=True)
        self._thread.start()

    def ask_to_end(self) -> None:
        """Let it leave its group and end; returns at once."""
        self._asked_to_end.set()

    def join(self, timeout: float) -> bool:
        """Wait until it has ended; whether it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._asked_to_end.is_set():
            # A broker may be down for a while: then everything anew.
            with suppress(KafkaError), closing(self._connect()) as client:
                self._keep_joining(client)
            self._asked_to_end.wait(_REJOIN_SECONDS)

    def _connect(self) -> KafkaAdminClient:
        servers = self._bootstrap.split(",")
        return KafkaAdminClient(bootstrap_servers=servers, client_id=self._client_id)

    def _keep_joining(self, client: KafkaAdminClient) -> None:
        try:
            while not self._asked_to_end.is_set():
                client._manager.run(self._join_once, client)
                self._asked_to_end.wait(_REJOIN_SECONDS)
        finally:
            with suppress(KafkaError):
                client.remove_group_members(self._group, [MemberToRemove(self._member_id)])

    async def _join_once(self, client: KafkaAdminClient) -> None:
        coordinator = await client._find_coordinator_id(self._group)
        answer = await client._manager.send(self._request(), node_id=coordinator)
        error = for_code(answer.error_code)
        if error is MemberIdRequiredError:
            self._member_id = answer.member_id
            answer = await client._manager.send(self._request(), node_id=coordinator)
            error = for_code(answer.error_code)
        if answer.error_code:
            self._member_id = ""
            raise error(self._group)
        self._member_id = answer.member_id
        self.joined += 1

    def _request(self) -> JoinGroupRequest:
        subscription = ConsumerProtocolSubscription(version=1, topics=self._topics, user_data=b"")
        protocol = JoinGroupRequest.JoinGroupRequestProtocol
        return JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=_SESSION_MS,
            rebalance_timeout_ms=_SESSION_MS,
            member_id=self._member_id,
            group_instance_id=None,
            protocol_type="consumer",
            protocols=[protocol(name="range", metadata=subscription.encode())],
            max_version=9,
        )
