"""Live members of a share group (KIP-932), and where their group begins."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from confluent_kafka import ShareConsumer
from kafka.admin import ConfigResource, KafkaAdminClient

from tests.stage.workload.groups import GroupPlan
from tests.stage.workload.members import FETCH_WAIT_MS, QUIET

# What a member holds must be done before its lock ends, which is 30 s by default.
HELD = 5


def begin_at_the_first(admin: KafkaAdminClient, group: str) -> None:
    """Let a share group that has not begun yet begin at the log start: by default it would at the end."""
    settings = {"share.auto.offset.reset": "earliest"}
    admin.alter_configs([ConfigResource("GROUP", group, settings)])


@dataclass
class ShareMember:
    """One member of a share group, in a thread of its own; it acknowledges each record when it has worked on it."""

    bootstrap: str
    prefix: str
    plan: GroupPlan
    number: int
    done: int = 0
    """Records that it has acknowledged."""
    _asked_to_end: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self.client_id, daemon=True)
        self._thread.start()

    @property
    def client_id(self) -> str:
        """The client id."""
        return f"{self.prefix}{self.plan.name}-{self.number}"

    def ask_to_end(self) -> None:
        """Let it leave its group and end; returns at once."""
        self._asked_to_end.set()

    def join(self, timeout: float) -> bool:
        """Wait until it has ended; whether it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        settings = {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.prefix + self.plan.name,
            "client.id": self.client_id,
            "share.acknowledgement.mode": "explicit",
            "max.poll.records": HELD,
            "fetch.wait.max.ms": FETCH_WAIT_MS,
            "reconnect.backoff.max.ms": 2_000,
            **QUIET,
        }
        consumer = ShareConsumer(settings)
        consumer.subscribe([self.prefix + topic for topic in self.plan.topics])
        while not self._asked_to_end.is_set():
            for message in consumer.poll(timeout=1.0):
                if message.error() is None:
                    self._work_on(consumer, message)
        consumer.close()

    def _work_on(self, consumer: ShareConsumer, message: object) -> None:
        if self.plan.speed is not None:
            self._asked_to_end.wait(1 / self.plan.speed)
        consumer.acknowledge(message)
        self.done += 1
