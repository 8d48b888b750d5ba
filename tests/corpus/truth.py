"""The truth of a run: what the stage did, never what evenkeel made of it. Its JSON has these fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "data" / "corpus"


@dataclass(frozen=True, kw_only=True)
class Member:
    """
    A member of a group.

    Attributes:
        client_id: Client id. Kafka Streams appends the thread.
        rack: `client.rack`, or null.
        static: Whether the member has a `group.instance.id`.
        records_per_second: Records/s that the member can process. Null: no limit.
        slowed_share: Share of its speed that each other busy member costs it, 0 to 1.
    """

    client_id: str
    rack: str | None = None
    static: bool = False
    records_per_second: float | None = None
    slowed_share: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """
    What is wrong with a group, by design.

    Attributes:
        what: No members, rebalancing, no commits, slow member, hot partition, skewed load, or under-provisioned.
            The last two are mean arrivals over real speeds.
        member: Client id of the cause, or null.
        partition: Partition number of the cause in each topic, or null.
        committed_share: Share of the records read that the cause commits, 0 to 1. Null: all.
        at: Start of the trouble (UTC).
        until: End of the trouble (UTC). Null: the end of the recording. A backlog remains longer.
    """

    what: str
    at: str
    until: str | None = None
    member: str | None = None
    partition: int | None = None
    committed_share: float | None = None


@dataclass(frozen=True, kw_only=True)
class Group:
    """
    A group of the run.

    Attributes:
        group: Group id.
        purpose: What the group is there to show.
        protocol: classic, consumer (KIP-848), streams-classic, streams (KIP-1071), empty, or rebalancing.
        assignor: `partition.assignment.strategy` at the start, or null.
        auto_offset_reset: `auto.offset.reset` of its members, or null.
        commit_seconds: Least seconds between two commits of a member. Null: no commits.
        topics: Topics that the group subscribes to.
        members: Its members.
        troubles: What is wrong with the group. Empty: nothing.
    """

    group: str
    purpose: str
    protocol: str
    assignor: str | None
    auto_offset_reset: str | None
    commit_seconds: float | None
    topics: Sequence[str]
    members: Sequence[Member]
    troubles: Sequence[Trouble]


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """
    What a producer writes from a moment on.

    Attributes:
        at: From when (UTC).
        records_per_second: Records/s that the producer writes to each partition.
    """

    at: str
    records_per_second: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Topic:
    """
    A topic of the run.

    Attributes:
        topic: Topic name.
        arrivals: What the producer writes. Each entry replaces the one before.
    """

    topic: str
    arrivals: Sequence[Arrivals]


@dataclass(frozen=True, kw_only=True)
class Event:
    """
    Something that was done.

    Attributes:
        at: When it began (UTC).
        until: When it ended (UTC). Null: at once, or with the next message.
        on: A broker, a service of the demo, a group id, or a topic.
        what: What was done to it.
    """

    at: str
    until: str | None
    on: str
    what: str


@dataclass(frozen=True, kw_only=True)
class Pair:
    """
    Two groups on one topic.

    Attributes:
        pair: Name of the pair.
        kind: What happens to both.
        goes: The group that switches.
        stays: Its twin.
        strategy: What it switches to. Null: it does not.
        switch_at: Start of the switch, or of the measurement (UTC).
        switch_until: End of the last restart (UTC).
        seconds: Length of the measurement in seconds, from the last snapshot before the switch.
        lag_goes: Lag of the group that switches over these seconds, in record-seconds.
        lag_stays: Lag of its twin over these seconds, in record-seconds.
    """

    pair: str
    kind: str
    goes: str
    stays: str
    strategy: str | None
    switch_at: str
    switch_until: str
    seconds: float
    lag_goes: float
    lag_stays: float


@dataclass(frozen=True, kw_only=True)
class Truth:
    """
    All of it.

    Attributes:
        recording: File name of the recording.
        command: What made both files.
        kafka: Version of the brokers.
        began: First snapshot (UTC).
        ended: Last snapshot (UTC).
        groups: Every group of the recording.
        topics: Every topic that the stage writes to.
        events: What was done, in order of time.
        pairs: Pairs of twins.
    """

    recording: str
    command: str
    kafka: str
    began: str
    ended: str
    groups: Sequence[Group]
    topics: Sequence[Topic]
    events: Sequence[Event] = ()
    pairs: Sequence[Pair] = ()


PARTS: Mapping[str, type] = {
    "": Truth,
    "groups.": Group,
    "groups.members.": Member,
    "groups.troubles.": Trouble,
    "topics.": Topic,
    "topics.arrivals.": Arrivals,
    "events.": Event,
    "pairs.": Pair,
}
"""The class of each object of the JSON, by what is before the names of its fields."""


def moment(at: datetime) -> str:
    """As it is written."""
    return at.isoformat(timespec="milliseconds")


def save(truth: Truth, path: Path) -> None:
    """Write it, a short list in one line."""
    path.write_text(_lines(asdict(truth), "") + "\n")


def load(path: Path) -> dict[str, Any]:
    """As everybody reads it."""
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def _lines(value: Any, indent: str) -> str:
    whole = json.dumps(value, ensure_ascii=False)
    if len(whole) + len(indent) < 120 or not isinstance(value, dict | list | tuple):
        return whole
    more = indent + " "
    if isinstance(value, dict):
        inside = [f"{more}{json.dumps(k)}: {_lines(v, more)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inside) + f"\n{indent}}}"
    return "[\n" + ",\n".join(more + _lines(v, more) for v in value) + f"\n{indent}]"
