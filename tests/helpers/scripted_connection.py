"""A conversation whose brokers answer as a test says; nothing is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from evenkeel.engine.adapters.kafka.connection import Unanswered

T = TypeVar("T")


class ScriptedConnection:
    """
    Stands in for `Connection`.

    *answer* gets request and node (None for any) and returns a response or raises `Unanswered`.
    After *patience* pauses no further one is granted.
    """

    name = "prod"

    def __init__(
        self,
        answer: Callable[[Any, int | None], Any],
        nodes: Iterable[int] = (1, 2),
        patience: int = 3,
        versions: dict[str, int] | None = None,
    ) -> None:
        self.answer = answer
        self.brokers = {node: (f"broker-{node}", 9092) for node in nodes}
        self.patience = patience
        self.versions = versions or {}
        self.given_up: dict[int, str] = {}
        self.asked: list[tuple[str, int | None]] = []
        self.on_refresh: Callable[[], None] = lambda: None
        self.offsets_leaders: Callable[[], int] = lambda: 1

    def supports(self, request: Any, version: int = 0) -> bool:
        """As the test says, else everything."""
        return version <= self.versions.get(request.__name__, 99)

    def address(self, node: int) -> str:
        """A broker as text."""
        return f"broker {node}"

    async def ask(self, request: Any, node: int | None = None) -> Any:
        """What the script answers; who leads the offsets topic is not part of it."""
        topics = getattr(request, "topics", None) or ()
        looked_up = isinstance(request, MetadataRequest)
        if looked_up and [topic.name for topic in topics] == ["__consumer_offsets"]:
            return self._offsets_topic()
        self.asked.append((type(request).__name__.removesuffix("Request"), node))
        return self.answer(request, node)

    def _offsets_topic(self) -> MetadataResponse:
        topic = MetadataResponse.MetadataResponseTopic
        row = topic.MetadataResponsePartition(partition_index=0, leader_id=self.offsets_leaders())
        return MetadataResponse(topics=[topic(name="__consumer_offsets", partitions=[row])])

    async def ask_any(self, request: Any) -> Any:
        """What the script answers when any broker may."""
        return await self.ask(request)

    async def on_each(self, keys: Iterable[Any], work: Callable[[Any], Awaitable[None]]) -> None:
        """One after another, in order."""
        for key in sorted(keys):
            await work(key)

    async def pause(self, attempt: int, since: float) -> bool:
        """Granted until the patience is used up."""
        self.patience -= 1
        return self.patience >= 0

    async def refresh(self) -> None:
        """What the cluster has learnt meanwhile."""
        self.on_refresh()

    def give_up(self, node: int, cause: str) -> None:
        """Note it."""
        self.given_up[node] = cause


def unreachable(node: int | None) -> Unanswered:
    """What a broker that is down looks like."""
    return Unanswered(f"broker {node} did not answer: connection refused", passing=True)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never really waits."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    raise AssertionError("it waited for something that is not scripted")
