"""Live members and the producer of the workload: threads over confluent-kafka, idle most of the time."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.stage.workload.groups import RACK_LETTERS, TOPICS, GroupPlan, TopicPlan
from tests.stage.workload.topics import Placement, record

# Few, large answers: thirty members that are woken by every record would cost a core.
FETCH_WAIT_MS = 2_000
# Brokers come and go in tests; librdkafka would tell it on standard error for each member.
QUIET = {"log_level": 1, "error_cb": lambda error: None}


@dataclass
class _Progress:
    """One partition of a member: where it began, how far it has read and worked, what it has committed."""

    began: int
    read: int
    done: int
    committed: int


@dataclass
class Member:
    """One member of a group, in a thread of its own; ``number`` counts from 1."""

    bootstrap: str
    prefix: str
    plan: GroupPlan
    number: int
    placement: Placement
    may_commit: threading.Event
    """Set once the group has settled: members that come and go would commit what is to lag."""
    owned: set[tuple[str, int]] = field(default_factory=set)
    """Topic and partition of what it owns now."""
    _asked_to_end: threading.Event = field(default_factory=threading.Event)
    _progress: dict[tuple[str, int], _Progress] = field(default_factory=dict)
    _allowed: float = 0.0
    _worked: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self.client_id, daemon=True)
        self._thread.start()

    @property
    def client_id(self) -> str:
        """The client id. Member ids begin with it, so that members sort by their number."""
        return f"{self.prefix}{self.plan.name}-{self.number}"

    @property
    def rack(self) -> str | None:
        """The rack it names, if the group's members do."""
        letter = RACK_LETTERS[(self.number - 1) % len(RACK_LETTERS)]
        return self.placement.racks[letter] if self.plan.racks else None

    def ask_to_end(self) -> None:
        """Let it commit, leave its group and end; returns at once."""
        self._asked_to_end.set()

    def join(self, timeout: float) -> bool:
        """Wait until it has ended; whether it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _settings(self) -> dict[str, object]:
        settings: dict[str, object] = {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.prefix + self.plan.name,
            "client.id": self.client_id,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": FETCH_WAIT_MS,
            "fetch.min.bytes": 100_000,
            "reconnect.backoff.max.ms": 2_000,
            **QUIET,
        }
        if self.rack:
            settings["client.rack"] = self.rack
        if self.plan.static:
            settings["group.instance.id"] = self.client_id
        if self.plan.kind == "consumer":
            return settings | {"group.protocol": "consumer"}
        return settings | {
            "partition.assignment.strategy": self.plan.assignor,
            "session.timeout.ms": 20_000,
            "heartbeat.interval.ms": 1_500,
        }

    def _run(self) -> None:
        consumer = Consumer(self._settings())
        topics = [self.prefix + topic for topic in self.plan.topics]
        consumer.subscribe(topics, on_assign=self._gain, on_revoke=self._lose, on_lost=self._lose)
        due = time.monotonic() + self.plan.commit_seconds
        while not self._asked_to_end.is_set():
            for message in consumer.consume(num_messages=500, timeout=1.0):
                if message.error() is None:
                    self._note(message.topic(), message.partition(), message.offset())
            self._work()
            if self.may_commit.is_set() and time.monotonic() >= due:
                self._commit(consumer)
                due = time.monotonic() + self.plan.commit_seconds
        self._close(consumer)

    def _close(self, consumer: Consumer) -> None:
        consumer.close()

    def speed(self) -> float | None:
        """Records a second that it does now; None: all that there are."""
        return self.plan.speed

    def _work(self) -> None:
        """Do what was read, as much of it as the member's speed allows; partitions take turns."""
        speed = self.speed()
        if speed is None:
            for known in self._progress.values():
                known.done = known.read
            return
        now = time.monotonic()
        self._allowed += (now - self._worked) * speed
        self._worked = now
        while waiting := [known for known in self._progress.values() if known.done < known.read]:
            if self._allowed < 1:
                return
            random.choice(waiting).done += 1
            self._allowed -= 1
        self._allowed = 0.0

    def _gain(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            key = (partition.topic, partition.partition)
            self._progress.pop(key, None)
            self.owned.add(key)

    def _lose(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            self.owned.discard((partition.topic, partition.partition))
            self._progress.pop((partition.topic, partition.partition), None)

    def _note(self, topic: str, partition: int, offset: int) -> None:
        known = self._progress.setdefault(
            (topic, partition), _Progress(offset, offset, offset, offset)
        )
        known.read = offset + 1

    def _share(self, partition: int) -> float:
        slow = self.number == self.plan.slow_member or partition == self.plan.slow_partition
        return self.plan.slow_share if slow else 1.0

    def _commit(self, consumer: Consumer, *, asynchronous: bool = True) -> None:
        if not self.plan.commits:
            return
        offsets = []
        for (topic, partition), known in self._progress.items():
            target = known.began + int((known.done - known.began) * self._share(partition))
            if target > known.committed:
                known.committed = target
                offsets.append(TopicPartition(topic, partition, target))
        if offsets:
            try:
                consumer.commit(offsets=offsets, asynchronous=asynchronous)
            except KafkaException:  # between two generations; the next one commits more
                return


class SteadyProducer:
    """Writes the topics' records at their rates, in a thread of its own."""

    def __init__(
        self, producer: Producer, prefix: str, topics: Sequence[TopicPlan] = TOPICS
    ) -> None:
        self._producer = producer
        self._prefix = prefix
        self._topics = topics
        self._asked_to_end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="producer", daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """End it; what was written last may not be stored."""
        self._asked_to_end.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        due: dict[tuple[str, int], float] = {}
        last = time.monotonic()
        while not self._asked_to_end.wait(1.0):
            now = time.monotonic()
            # After a pause of the machine the missed records are not made up for.
            passed = min(now - last, 5.0)
            last = now
            for topic in self._topics:
                for partition, rate in enumerate(self._rates(topic)):
                    waiting = due.get((topic.name, partition), 0.0) + rate * passed
                    due[topic.name, partition] = waiting - int(waiting)
                    self._write(topic, partition, int(waiting))
            self._producer.poll(0)

    def _rates(self, topic: TopicPlan) -> Sequence[float]:
        """Records per second of each partition, now."""
        return topic.rates

    def _write(self, topic: TopicPlan, partition: int, count: int) -> None:
        for number in range(count):
            try:
                value = record(topic, number)
                self._producer.produce(self._prefix + topic.name, value, partition=partition)
            except BufferError:  # no broker takes anything just now
                return


def make_producer(bootstrap: str, prefix: str) -> Producer:
    """A producer that gathers what is written for half a second."""
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": f"{prefix}workload",
            "linger.ms": 500,
            "message.timeout.ms": 60_000,
            **QUIET,
        }
    )
