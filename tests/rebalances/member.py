"""
One member of a group as a process of its own: `member.py SETTINGS`, with the settings as JSON; it needs no other file.

It writes a line of JSON for everything that happens to it, with the wall clock in milliseconds, so that what was
written survives `kill -9`. SIGTERM: it leaves and ends. SIGUSR1: its handler hangs for `stall_seconds`, and it does not
poll. SIGUSR2: it subscribes to the topics of `then`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, TopicPartition

POLL_SECONDS = 0.5


class Member:
    """
    A consumer that notes what it has.

    Args:
        config: Settings of librdkafka.
        topics: What it subscribes to.
        then: What it subscribes to when it is told to.
        stall_seconds: How long its handler hangs when it is told to.
        log: Where it writes to.
    """

    def __init__(
        self,
        *,
        config: dict[str, Any],
        topics: list[str],
        then: list[str],
        stall_seconds: float,
        log: str,
    ) -> None:
        self.config, self.topics, self.then = config, topics, then
        self.stall_seconds = stall_seconds
        self._file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._told: list[int] = []
        self._awaited: set[tuple[str, int]] = set()

    def run(self) -> None:
        """Until it is told to end."""
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, lambda told, _: self._told.append(told))
        consumer = Consumer(self.config)
        self._subscribe(consumer, self.topics)
        while signal.SIGTERM not in self._told:
            for message in consumer.consume(num_messages=100, timeout=POLL_SECONDS):
                key = (message.topic(), message.partition())
                if message.error():
                    self._note("error", error=str(message.error()))
                elif key in self._awaited:
                    self._awaited.discard(key)
                    self._note("first", [key], offset=message.offset())
            if signal.SIGUSR1 in self._told:
                self._told.remove(signal.SIGUSR1)
                self._note("stalls")
                time.sleep(self.stall_seconds)
                self._note("polls again")
            if signal.SIGUSR2 in self._told:
                self._told.remove(signal.SIGUSR2)
                self._subscribe(consumer, self.then)
        self._note("closes")
        consumer.close()
        self._note("closed")

    def _subscribe(self, consumer: Consumer, topics: list[str]) -> None:
        self._note("subscribes", topics=topics)
        consumer.subscribe(
            topics, on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )

    def _assigned(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self._awaited |= set(keys(partitions))
        self._note("assigned", keys(partitions))

    def _revoked(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self._awaited -= set(keys(partitions))
        self._note("revoked", keys(partitions))

    def _lost(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self._awaited -= set(keys(partitions))
        self._note("lost", keys(partitions))

    def _note(self, what: str, partitions: Sequence[tuple[str, int]] = (), **more: Any) -> None:
        client = {"member": self.config["client.id"], "pid": os.getpid()}
        line = {"at": time.time_ns() // 1_000_000, "what": what, **client}
        line |= {"partitions": partitions, **more}
        os.write(self._file, json.dumps(line).encode() + b"\n")


def keys(partitions: Sequence[TopicPartition]) -> list[tuple[str, int]]:
    """Topic and number of each."""
    return [(each.topic, each.partition) for each in partitions]


if __name__ == "__main__":
    Member(**json.loads(sys.argv[1])).run()
