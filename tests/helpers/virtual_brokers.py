"""
Brokers that answer in virtual time, in place of kafka-python's connections: a snapshot of an hour takes no time.

`WireCluster` has their answers. One request after another is answered on each connection, as brokers do.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Generator
from math import inf
from types import SimpleNamespace
from typing import Any

import kafka.errors as kafka_errors
from kafka.future import Future

from tests.helpers.wire_cluster import KNOWN, WireCluster


class VirtualBrokers:
    """
    Stands in for `_Manager` and its `NetworkSelector`, whose coroutines it runs, and for the module `time`.

    Attributes:
        now: The virtual moment, in seconds.
    """

    def __init__(self, cluster: WireCluster, takes: Callable[[int, str], float]) -> None:
        """
        Args:
            cluster: Its brokers and their answers; it need not listen.
            takes: (broker, what it is asked for) -> seconds until it answers; inf: never.
        """
        self.now = 1000.0
        self.traffic, self.failures = SimpleNamespace(sent=0, received=0), {}
        nodes = [SimpleNamespace(node_id=n, host=f"b{n}", port=9092) for n in cluster.nodes]
        self.cluster = SimpleNamespace(brokers=lambda: nodes, refresh_metadata=self._refresh)
        versions = {request.API_KEY: (0, newest) for request, newest in KNOWN.items()}
        self.broker_version_data = SimpleNamespace(api_versions=versions, broker_version_str="4.3")
        self._answers, self._takes = cluster, takes
        self._busy_until: dict[int, float] = {}
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._number = itertools.count()

    def monotonic(self) -> float:
        """The clock."""
        return self.now

    def time_ns(self) -> int:
        """The clock, since the epoch."""
        return round(self.now * 1e9)

    def least_loaded_node(self) -> int:
        """The first that is not at work."""
        return min(self._answers.nodes, key=lambda node: self._busy_until.get(node, 0) > self.now)

    def send(self, request: Any, node: int, request_timeout_ms: int) -> Future:
        """An answer in the broker's time, or the failure at the time limit, which closes the connection."""
        answer, what = Future(), type(request).__name__.removesuffix("Request")
        begins = max(self.now, self._busy_until.get(node, 0))
        ready, limit = begins + self._takes(node, what), self.now + request_timeout_ms / 1000
        self._busy_until[node] = ready
        if ready <= limit:
            value = self._answers.answer(node, request)
            self._at(ready, lambda: answer.success(value))
        else:
            self._at(limit, lambda: self._time_out(node, answer))
        return answer

    def _time_out(self, node: int, answer: Future) -> None:
        self._busy_until.pop(node, None)
        answer.failure(kafka_errors.RequestTimedOutError("late"))

    async def _refresh(self, node: int) -> None:
        await self.sleep(self._takes(node, "Metadata"))

    async def sleep(self, seconds: float) -> None:
        """Until then."""
        rested = Future()
        self._at(self.now + seconds, lambda: rested.success(None))
        await rested

    async def wait_for(self, future: Future, timeout_ms: float) -> Any:
        """As the library's."""
        either = Future()

        def end(finish: Callable[[Any], object], value: Any) -> None:
            if not either.is_done:
                finish(value)

        future.add_callback(lambda value: end(either.success, value))
        future.add_errback(lambda problem: end(either.failure, problem))
        late = kafka_errors.KafkaTimeoutError("late")
        self._at(self.now + timeout_ms / 1000, lambda: end(either.failure, late))
        return await either

    def call_soon(self, work: Callable[..., Any], *arguments: Any) -> Future:
        """Start a coroutine."""
        done = Future()
        steps = work(*arguments).__await__()
        self._at(self.now, lambda: self._step(steps, done))
        return done

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Let time pass until a coroutine has ended."""
        done = self.call_soon(work, *arguments)
        while not done.is_done:
            self.now, _, happens = heapq.heappop(self._due)
            happens()
        if done.exception is not None:
            raise done.exception
        return done.value

    def close(self) -> None:
        """Nothing is open."""

    def _at(self, moment: float, happens: Callable[[], object]) -> None:
        if moment < inf:
            heapq.heappush(self._due, (moment, next(self._number), happens))

    def _step(self, steps: Generator[Future, None, Any], done: Future) -> None:
        """Go on to where the coroutine waits."""
        try:
            waits_for = next(steps)
        except StopIteration as end:
            done.success(end.value)
        except Exception as problem:  # noqa: BLE001 - it is raised where it is awaited
            done.failure(problem)
        else:
            waits_for.add_both(lambda _: self._at(self.now, lambda: self._step(steps, done)))
