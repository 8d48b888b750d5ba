"""Members that speak the classic protocol request by request, and a group that never settles."""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from typing import Any

from kafka.admin import KafkaAdminClient, MemberToRemove
from kafka.errors import KafkaError, MemberIdRequiredError, UnknownMemberIdError, for_code
from kafka.protocol.consumer import JoinGroupRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

_SESSION_MS = 20_000
_REJOIN_SECONDS = 2.0


class RawMember:
    """A member in a thread of its own that sends what its subclass's ``_take_part`` says.

    It has a client and so a connection of its own, because a waiting JoinGroup holds its connection
    up. ``protocol`` and ``metadata`` go into its JoinGroup.
    """

    def __init__(
        self, bootstrap: str, group: str, client_id: str, protocol: str, metadata: bytes
    ) -> None:
        self._bootstrap = bootstrap
        self._group = group
        self._client_id = client_id
        self._protocol = protocol
        self._metadata = metadata
        self._member_id = ""
        self._asked_to_end = threading.Event()
        self._thread = threading.Thread(target=self._run, name=client_id, daemon=True)

    def ask_to_end(self) -> None:
        """Let it leave its group and end; returns at once."""
        self._asked_to_end.set()

    def join(self, timeout: float) -> bool:
        """Wait until it has ended; whether it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _take_part(self, client: KafkaAdminClient) -> None:
        """Join and whatever follows; returns when it is asked to end."""
        raise NotImplementedError

    def _run(self) -> None:
        while not self._asked_to_end.is_set():
            # A broker may be down for a while: then everything anew.
            with suppress(KafkaError), closing(self._connect()) as client:
                try:
                    self._take_part(client)
                finally:
                    if self._asked_to_end.is_set():
                        client.remove_group_members(self._group, [MemberToRemove(self._member_id)])
            self._asked_to_end.wait(_REJOIN_SECONDS)

    def _connect(self) -> KafkaAdminClient:
        servers = self._bootstrap.split(",")
        return KafkaAdminClient(bootstrap_servers=servers, client_id=self._client_id)

    async def _send(self, client: KafkaAdminClient, request: Any) -> Any:
        """The coordinator's answer; raises KafkaError where it is an error of the whole group."""
        coordinator = await client._find_coordinator_id(self._group)
        answer = await client._manager.send(request, node_id=coordinator)
        if code := getattr(answer, "error_code", 0):
            if for_code(code) is MemberIdRequiredError:
                self._member_id = answer.member_id
            raise for_code(code)(self._group)
        return answer

    async def _join_group(self, client: KafkaAdminClient) -> Any:
        """The answer to its JoinGroup; under the id it had before, if it is still known."""
        try:
            answer = await self._send(client, self._request())
        except MemberIdRequiredError:
            answer = await self._send(client, self._request())
        except UnknownMemberIdError:
            self._member_id = ""
            raise
        self._member_id = answer.member_id
        return answer

    def _request(self) -> JoinGroupRequest:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol
        return JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=_SESSION_MS,
            rebalance_timeout_ms=_SESSION_MS,
            member_id=self._member_id,
            group_instance_id=None,
            protocol_type="consumer",
            protocols=[protocol(name=self._protocol, metadata=self._metadata)],
            max_version=9,
        )


class RestlessMember(RawMember):
    """Joins its group every other second, each time with other metadata, and never syncs.

    The group is *CompletingRebalance* while its members have an answer to their JoinGroup and
    *PreparingRebalance* while one of them waits for the other; it is never stable. With the metadata
    of before a JoinGroup would be answered without a rebalance, and after the rebalance timeout the
    coordinator would remove both members for a SyncGroup that never came: the group would be empty.
    """

    def __init__(self, bootstrap: str, group: str, topics: tuple[str, ...], number: int) -> None:
        super().__init__(bootstrap, group, f"{group}-{number}", "range", b"")
        self._topics = sorted(topics)
        self.joined = 0
        """How many times it has joined."""
        self._thread.start()

    def _take_part(self, client: KafkaAdminClient) -> None:
        while not self._asked_to_end.is_set():
            self._metadata = self._news()
            client._manager.run(self._join_group, client)
            self.joined += 1
            self._asked_to_end.wait(_REJOIN_SECONDS)

    def _news(self) -> bytes:
        """Metadata that it has not said before."""
        count = self.joined.to_bytes(8)
        topics = self._topics
        return ConsumerProtocolSubscription(version=1, topics=topics, user_data=count).encode()
