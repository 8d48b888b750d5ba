"""A group of kafka-python followers without brokers: it rebalances as kafka-python and the coordinator do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from kafka.coordinator.assignors.abstract import RebalanceProtocol
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from evenkeel.engine.followers.kafka_python import PlanAssignor

Pair = tuple[str, int]


class Topics:
    """Metadata of a cluster, as strategies ask for it: topic -> number of partitions."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts

    def topics(self) -> set[str]:
        """All of them."""
        return set(self.counts)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Partition numbers, None without such a topic."""
        count = self.counts.get(topic)
        return None if count is None else set(range(count))


class Member:
    """A consumer: its follower remembers by itself, `owned` is what the consumer really reads."""

    def __init__(
        self, member_id: str, follower: PlanAssignor, topics: Collection[str], static: str | None
    ) -> None:
        self.member_id, self.follower, self.topics = member_id, follower, topics
        self.static = static
        self.owned: set[Pair] = set()

    def joined(self) -> Any:
        """What the leader gets of it."""
        subscription = self.follower.metadata(set(self.topics)).encode()
        return SimpleNamespace(
            member_id=self.member_id,
            group_instance_id=self.static,
            metadata=ConsumerProtocolSubscription.decode(subscription),
        )

    def synced(self, answer: bytes, generation: int) -> bool:
        """Take an assignment; whether it gave something up, so that it joins again."""
        assignment = ConsumerProtocolAssignment.decode(answer)
        got = {(part.topic, part.partition) for part in assignment.partitions()}
        gone, self.owned = self.owned - got, got
        self.follower.on_assignment(assignment, generation)
        cooperative = self.follower.supported_protocols() == [RebalanceProtocol.COOPERATIVE]
        return cooperative and bool(gone)


class Group:
    """Members by name, and the coordinator's generation."""

    def __init__(self, cluster: Topics) -> None:
        self.cluster = cluster
        self.members: dict[str, Member] = {}
        self.generation = 0
        self.answers: dict[str, bytes] = {}
        self._ids = 0

    def add(
        self,
        name: str,
        follower: PlanAssignor,
        topics: Collection[str] = ("t",),
        static: bool = True,
    ) -> Member:
        """A new member; a static one's instance id is its name, another's client id."""
        instance = name if static else None
        member = Member(self.new_id(name), follower, topics, instance)
        self.members[name] = member
        return member

    def new_id(self, prefix: str) -> str:
        """As the coordinator makes one, ascending."""
        self._ids += 1
        return f"{prefix}-{self._ids:08x}-0000-4000-8000-000000000000"

    def lose(self, name: str) -> None:
        """The coordinator has removed the member, which joins anew: kafka-python says nothing of it to the assignor."""
        member = self.members[name]
        member.owned, member.member_id = set(), self.new_id(name)

    def restart(self, name: str, follower: PlanAssignor) -> None:
        """A static member starts anew: it gets what was stored for it, and nobody rebalances (KIP-345)."""
        old = self.members[name]
        stored = self.answers[old.member_id]
        member = self.add(name, follower, old.topics)
        self.answers[member.member_id] = stored
        member.synced(stored, self.generation)

    def rebalance(self) -> bool:
        """One round, led by the first; whether another must follow."""
        self.generation += 1
        members = list(self.members.values())
        joined = [member.joined() for member in members]
        for member in members:
            if member.follower.eager:
                member.owned = set()
        answers = members[0].follower.assign(self.cluster, joined)
        self.answers = {member: answer.encode() for member, answer in answers.items()}
        again = [
            member.synced(self.answers[member.member_id], self.generation) for member in members
        ]
        return any(again)

    def settle(self) -> int:
        """Rebalance until nobody gives anything up; how many rounds that took."""
        rounds = 1
        while self.rebalance():
            rounds += 1
            assert rounds < 5, "it never settles"
        return rounds

    @property
    def owned(self) -> dict[str, list[int]]:
        """Name -> partition numbers of all topics, ascending."""
        return {
            name: sorted(number for _, number in one.owned) for name, one in self.members.items()
        }


def owners(members: Sequence[Member]) -> Mapping[Pair, list[str]]:
    """Partition -> ids of those that read it."""
    found: dict[Pair, list[str]] = {}
    for member in members:
        for pair in member.owned:
            found.setdefault(pair, []).append(member.member_id)
    return found
