"""What a workspace was asked to do, call by call, and what people see in it in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.stage.slack_workspace import Fault, Json, Workspace

LATER = 4_000_000_000.0
"""When messages are posted, by the clock of the workspace: after the facts of any test."""

WRITES = ("chat.postMessage", "chat.update")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that changed something: the key of the message, and of that whose thread it went into."""

    method: str
    key: str
    thread: str | None = None
    broadcast: bool = False

    def about(self, incident: str) -> str:
        """The call in words, without the key of the incident."""
        within = f" in the thread of {_short(self.thread, incident)}" if self.thread else ""
        shown = ", broadcast" if self.broadcast else ""
        return f"{self.method} {_short(self.key, incident)}{within}{shown}"


def _short(key: str, incident: str) -> str:
    return key.removeprefix(f"incident {incident} ")


@dataclass
class RecordedWorkspace(Workspace):
    """
    A workspace that remembers what was done in it.

    *first* says what meets the first call that says something, *down* what meets every call while it is set.
    """

    writes: list[Call] = field(default_factory=list)
    first: Callable[[], Fault | None] = lambda: None
    down: Fault | None = None
    met: set[tuple[Any, ...]] = field(default_factory=set)
    posted_as: dict[str, str] = field(default_factory=dict)

    def fault(self, method: str, arguments: Json) -> Fault | None:
        """What was planned; else what meets everything that is said once."""
        planned = super().fault(method, arguments) or self.down
        what = arguments.get("text"), arguments.get("thread_ts")
        if planned or method not in WRITES or what in self.met:
            return planned
        self.met.add(what)
        return self.first()

    def call(self, method: str, token: str, arguments: Json) -> Json:
        """Answer, and remember what was changed."""
        answer = super().call(method, token, arguments)
        if method in WRITES:
            key = self.posted_as.setdefault(answer["ts"], key_of(arguments))
            thread = self.posted_as.get(str(arguments.get("thread_ts")))
            broadcast = str(arguments.get("reply_broadcast")).lower() in ("true", "1")
            self.writes.append(Call(method, key, thread, broadcast))
        return answer

    def seen(self) -> set[tuple[str, ...]]:
        """Every message as people see it in the end: key, thread, text, blocks, whether it is shown in the channel."""
        return set(self._seen())

    def _seen(self) -> Iterator[tuple[str, ...]]:
        for message in self.messages:
            thread = self.posted_as.get(str(message.get("thread_ts")), "")
            shown = str(message.get("blocks")), str(message.get("broadcast", False))
            yield key_of(message), thread, message["text"], *shown


def key_of(content: Json) -> str:
    """Our own id of a message."""
    return str((content.get("metadata") or {}).get("event_payload", {}).get("key"))
