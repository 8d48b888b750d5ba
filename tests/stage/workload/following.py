"""Members that follow a plan: threads over kafka-python with evenkeel's follower in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kafka import KafkaConsumer

from evenkeel.engine.followers.kafka_python import PlanAssignor
from tests.stage.workload.members import FETCH_WAIT_MS, Member

# kafka-python wants to be asked in seconds, not milliseconds: docs/how-to/follow-a-plan.md
_POLL_MS = 1_000


def plan_of(directory: Path, group: str) -> Path:
    """Where the members of a group look for their plan."""
    return directory / "plans" / f"{group}.json"


@dataclass
class FollowingMember(Member):
    """A member that does what the plan says; while there is none, the group's assignor decides."""

    at: Path = field(kw_only=True)
    """The plan."""

    def _run(self) -> None:
        group = self.prefix + self.plan.name
        follower = PlanAssignor(
            plan=self.at, group=group, fallback=self.plan.assignor, rack=self.rack
        )
        consumer = KafkaConsumer(
            *(self.prefix + topic for topic in self.plan.topics),
            bootstrap_servers=self.bootstrap.split(","),
            group_id=group,
            client_id=self.client_id,
            auto_offset_reset="earliest",
            auto_commit_interval_ms=int(1000 * self.plan.commit_seconds),
            fetch_max_wait_ms=FETCH_WAIT_MS,
            fetch_min_bytes=100_000,
            session_timeout_ms=20_000,
            heartbeat_interval_ms=1_500,
            partition_assignment_strategy=[follower],
        )
        while not self._asked_to_end.is_set():
            consumer.poll(_POLL_MS)
            self.owned = {(one.topic, one.partition) for one in consumer.assignment()}
        consumer.close()
