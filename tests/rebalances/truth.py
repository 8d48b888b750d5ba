"""
The truth of a scene: what was done, what each member wrote down of its partitions, and what the brokers logged.

Moments are seconds after the first snapshot. Its JSON has the fields of these classes.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parents[1] / "data" / "rebalances"

ENDS = {"kill": "killed", "freeze": "frozen", "stalls": "stalled"}
"""What ends a member's reading without its word, and how the gap is called."""

MADE = ("create_topic", "add_partitions")
"""What makes partitions that nobody reads yet."""

_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \w+ \[.*?\] \S+: (.*)$")
_CLASSIC = re.compile(
    r"Preparing to rebalance group (\S+) in state \S+ with old generation (\d+) \(reason: (.*)\)"
)
_MODERN = re.compile(r"\[GroupId (\S+?)\].*[Bb]umped group epoch to (\d+)")
_MEMBER = re.compile(r"\[GroupId (\S+?)\] ((?:Static m|M)ember .*)")
_TOGETHER = 0.05
"""A coordinator says why it bumps an epoch right before or after it says that it does."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """
    Something that was done.

    Attributes:
        at: When.
        what: As `scenes` calls it.
        member: The client id it was done to, or null.
    """

    at: float
    what: str
    member: str | None


@dataclass(frozen=True, kw_only=True)
class Rebalance:
    """
    A rebalance that the coordinator began.

    Attributes:
        at: When, by the coordinator's clock.
        generation: Generation or group epoch that it leads to.
        reason: The coordinator's words; null where a KIP-848 group's topics changed.
    """

    at: float
    generation: int
    reason: str | None


class Gap(NamedTuple):
    """
    A partition that nobody read for a while; in the JSON a list of these values.

    Attributes:
        topic, partition: Which.
        at: When its owner stopped reading it.
        until: When a member was assigned it. Null: nobody was by the end.
        first: When that member had its first record. Null: none by the end, or until the next gap.
        why: revoked, lost, killed, frozen, stalled, or created for a partition that is new.
        old, new: Client ids of the two members, or null.
        records: Records that arrived meanwhile.
    """

    topic: str
    partition: int
    at: float
    until: float | None
    first: float | None
    why: str
    old: str | None
    new: str | None
    records: int


@dataclass(frozen=True, kw_only=True)
class Group:
    """
    A group of the recording.

    Attributes:
        group: Group id.
        kind: range, cooperative (both classic) or consumer (KIP-848).
        cause: Why it rebalanced. Null: it was left alone.
        static: Whether its members have a `group.instance.id`.
        clients: own, new at each start, or shared by all: whose client id is whose.
        session_seconds: How long a member may be silent.
        poll_seconds: `max.poll.interval.ms` in seconds.
        steps: What was done, in order of time.
        rebalances: What its coordinator began, in order of time.
        gaps: When which partition was not read, in order of time.
    """

    group: str
    kind: str
    cause: str | None
    static: bool
    clients: str
    session_seconds: float
    poll_seconds: float
    steps: Sequence[Step]
    rebalances: Sequence[Rebalance]
    gaps: Sequence[Gap]


@dataclass(frozen=True, kw_only=True)
class Truth:
    """
    All of it.

    Attributes:
        recording: File name of the recording.
        command: What made both files.
        kafka, client: Versions.
        began: First snapshot (UTC).
        groups: Every group of the recording.
    """

    recording: str
    command: str
    kafka: str
    client: str
    began: str
    groups: Sequence[Group]


def gaps(
    lines: Iterable[Mapping[str, Any]],
    steps: Iterable[Mapping[str, Any]],
    ticks: Sequence[int],
    per_tick: int,
    began: int,
) -> list[Gap]:
    """
    When nobody read a partition, as members wrote it down.

    Args:
        lines: What the members of a group wrote.
        steps: What was done to it; a process that is killed or stands still writes nothing.
        ticks: When records were written to each partition, ascending.
        per_tick: How many at once.
        began: The moment that is 0; gaps that ended before are left out.
    """
    owners: dict[tuple[str, int], int] = {}
    open_: dict[tuple[str, int], dict[str, Any]] = {}
    unread: dict[tuple[str, int], dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    told = (step for step in steps if step["what"] in (*ENDS, *MADE))
    for line in sorted([*lines, *told], key=lambda line: line["at"]):
        at, what, pid = line["at"], line["what"], line["pid"]
        keys = [(topic, number) for topic, number in line.get("partitions", ())]
        if what in ENDS:
            keys = [key for key, owner in owners.items() if owner == pid]
        for key in keys:
            if what == "assigned":
                owners[key] = pid
                if key in open_:
                    unread[key] = open_.pop(key)
                    unread[key] |= {"until": at, "new": line["member"], "pid": pid}
            elif what == "first" and unread.get(key, {}).get("pid") == pid:
                unread.pop(key)["first"] = at
            elif what in MADE or (what in ("revoked", "lost", *ENDS) and owners.get(key) == pid):
                gap = {"key": key, "at": at, "why": "created", "old": None}
                if owners.pop(key, None) is not None:
                    gap |= {"why": ENDS.get(what, what), "old": line["member"]}
                open_[key] = gap
                found.append(gap)

    def since(moment: int | None) -> float | None:
        return None if moment is None else round((moment - began) / 1000, 3)

    return [
        Gap(
            topic=gap["key"][0],
            partition=gap["key"][1],
            at=(gap["at"] - began) / 1000,
            until=since(gap.get("until")),
            first=since(gap.get("first")),
            why=gap["why"],
            old=gap["old"],
            new=gap.get("new"),
            records=per_tick
            * (bisect_right(ticks, gap.get("until", ticks[-1])) - bisect_right(ticks, gap["at"])),
        )
        for gap in found
        if gap.get("until", began) >= began
    ]


def rebalances(logged: Iterable[str], began: int) -> dict[str, list[Rebalance]]:
    """What the coordinators began from then on, by group."""
    found: dict[str, list[Rebalance]] = {}
    members: dict[str, list[tuple[float, str]]] = {}
    for line in logged:
        if not (parts := _LINE.match(line)):
            continue
        moment = datetime.strptime(parts[1], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
        at = round(moment.timestamp() - began / 1000, 3)
        if at < 0:
            continue
        if told := _CLASSIC.search(parts[2]):
            one = Rebalance(at=at, generation=int(told[2]) + 1, reason=told[3])
        elif told := _MODERN.search(parts[2]):
            one = Rebalance(at=at, generation=int(told[2]), reason=None)
        else:
            if told := _MEMBER.search(parts[2]):
                members.setdefault(told[1], []).append((at, told[2]))
            continue
        found.setdefault(told[1], []).append(one)
    return {
        group: [
            one if one.reason else replace(one, reason=_nearest(one.at, members.get(group, ())))
            for one in sorted(each, key=lambda one: one.at)
        ]
        for group, each in found.items()
    }


def _nearest(at: float, members: Iterable[tuple[float, str]]) -> str | None:
    """What was said of a member at that moment."""
    near = sorted((abs(moment - at), words) for moment, words in members)
    return near[0][1] if near and near[0][0] <= _TOGETHER else None


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """What the members of a group wrote."""
    for line in path.read_text().splitlines():
        yield json.loads(line)
