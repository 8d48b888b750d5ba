"""Real kafka-python consumers, each in a thread, and who of them reads which partition."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from kafka import KafkaConsumer
from kafka.consumer.subscription_state import ConsumerRebalanceListener

from tests.helpers.kafka_stage import Stage
from tests.stage.process import LocalClusterError, wait_until

SECONDS = 120
"""For a group to settle, on a busy machine; it takes a second or two on an idle one."""


def subscribe(
    consumer: KafkaConsumer, topic: str, listener: ConsumerRebalanceListener | None = None
) -> None:
    """
    Subscribe to a topic by a pattern, for then kafka-python (3.0) knows the partitions before it joins.

    A leader that does not joins again, and is lost if a poll ends before that has (`need_rejoin` forgets it meanwhile).
    """
    consumer.subscribe(pattern=f"^{re.escape(topic)}$", listener=listener)


class Consumers:
    """The consumers of one group on one topic, by name; what they read is noted as their listeners are told."""

    def __init__(self, stage: Stage, group: str, topic: str) -> None:
        self.stage, self.group, self.topic = stage, stage.prefix + group, topic
        self.running: dict[str, Running] = {}
        self.readers: dict[int, list[str]] = {}
        self.twice: list[str] = []
        self.taken: list[tuple[str, int]] = []
        self._lock = threading.Lock()

    @classmethod
    @contextmanager
    def of(cls, stage: Stage, group: str, topic: str) -> Iterator[Consumers]:
        """All of them are closed at the end."""
        found = cls(stage, group, topic)
        try:
            yield found
        finally:
            with ExitStack() as ending:
                for one in found.running.values():
                    ending.callback(one.end)

    def start(
        self, name: str, strategies: Sequence[Any], *, static: bool = True, **more: Any
    ) -> None:
        """One more member; a static one's instance id is its name, another's client id."""
        own = {"group_instance_id": name} if static else {"client_id": name}
        settings = {
            "bootstrap_servers": self.stage.bootstrap.split(","),
            "group_id": self.group,
            "partition_assignment_strategy": list(strategies),
            "heartbeat_interval_ms": 200,
            "session_timeout_ms": 30_000,
            "enable_auto_commit": False,
        }
        self.running[name] = Running(self, name, settings | own | more)

    def stop(self, name: str) -> None:
        """One member less: a static one leaves only its place."""
        self.running.pop(name).end()

    def read(self, name: str, numbers: set[int]) -> None:
        """It reads these, from now on."""
        with self._lock:
            for number in sorted(numbers):
                others = self.readers.setdefault(number, [])
                self.twice += [f"{number}: {name} beside {other}" for other in others]
                others.append(name)

    def give_up(self, name: str, numbers: set[int]) -> None:
        """It reads these no more."""
        with self._lock:
            for number in sorted(numbers):
                self.readers[number].remove(name)
                self.taken.append((name, number))

    @property
    def owned(self) -> dict[str, list[int]]:
        """Name -> partition numbers, ascending."""
        with self._lock:
            return {
                name: sorted(number for number, by in self.readers.items() if name in by)
                for name in self.running
            }

    def settle(self, as_wanted: Callable[[Mapping[str, list[int]]], bool], what: str) -> None:
        """Wait until they own what they shall."""

        def settled() -> bool:
            broken = [repr(one.error) for one in self.running.values() if one.error]
            if broken:
                raise LocalClusterError(f"consumers failed: {broken}")
            return as_wanted(self.owned)

        try:
            wait_until(settled, SECONDS, what)
        except LocalClusterError as problem:
            raise LocalClusterError(f"{problem}; they own {self.owned}") from problem

    def settle_on(self, **wanted: list[int]) -> None:
        """Wait until each owns exactly these."""
        self.settle(lambda owned: owned == wanted, f"{self.group} to own {wanted}")


class Running(ConsumerRebalanceListener):  # type: ignore[misc]
    """A consumer in a thread of its own, from its making to its end."""

    def __init__(self, consumers: Consumers, name: str, settings: dict[str, Any]) -> None:
        self.consumers, self.name, self.settings = consumers, name, settings
        self.error: BaseException | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Close it."""
        self._ending.set()
        self._thread.join(SECONDS)

    def on_partitions_assigned(self, assigned: Any) -> None:
        """It reads more."""
        self.consumers.read(self.name, {part.partition for part in assigned})

    def on_partitions_revoked(self, revoked: Any) -> None:
        """It reads less."""
        self.consumers.give_up(self.name, {part.partition for part in revoked})

    def on_partitions_lost(self, lost: Any) -> None:
        """It reads less."""
        self.on_partitions_revoked(lost)

    def _run(self) -> None:
        try:
            consumer = KafkaConsumer(**self.settings)
            try:
                subscribe(consumer, self.consumers.topic, self)
                while not self._ending.is_set():
                    consumer.poll(timeout_ms=50)
            finally:
                consumer.close()
        except BaseException as problem:
            self.error = problem
            raise
