"""What is true of a situation, and what may be said of it."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.helpers.fluid.plan import EVERY, FIRST, Group, Partition

MOST = 8
"""Messages that one group may be worth in ten hours, whatever befalls it."""

SNAPSHOTS = 120
LAST = SNAPSHOTS - 1


class Diagnosis(enum.StrEnum):
    """What ails a group; the first that holds."""

    UNKNOWN = "unknown"
    NO_MEMBERS = "no members"
    GONE = "group deleted"
    REBALANCING = "rebalancing"
    DATA_LOSS = "data loss"
    OFFSETS_SKIPPED = "offsets skipped"
    UNASSIGNED = "unassigned partitions"
    HANGING = "hanging transaction"
    NOT_COMMITTING = "member not committing"
    STUCK = "stuck partition"
    SLOW = "slow member"
    HOT = "hot partition"
    UNDER_PROVISIONED = "under-provisioned"
    SKEWED = "skewed load"
    CATCHING_UP = "catching up"
    HEALTHY = "healthy"


class Kind(enum.StrEnum):
    """What kinds of messages there are."""

    SWITCH = "switch"
    WITHDRAWN = "withdrawn"
    ADOPTED = "adopted"
    VERIFIED = "verified"
    MISSED = "missed"
    OPENED = "opened"
    WORSE = "worse"
    STILL = "still"
    HABIT = "habit"
    RESOLVED = "resolved"
    DIGEST = "digest"


ONCE = frozenset({Kind.OPENED, Kind.RESOLVED})
"""What comes once, where it must come."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """
    A diagnosis that must be reached by one snapshot and must then hold until another.

    Attributes:
        by, until: Both included; what is said between two truths is free.
        subjects: Numbers of members, or partitions, that it must name, and no others; empty: whatever it names.
        also: Diagnoses that are as true.
        once: It is enough if one snapshot from `by` to `until` has it: what happened is soon past.
    """

    diagnosis: Diagnosis
    by: int
    until: int = LAST
    subjects: tuple[int | Partition, ...] = ()
    also: frozenset[Diagnosis] = frozenset()
    once: bool = False


@dataclass(frozen=True, kw_only=True)
class Situation:
    """
    A group with its story, what is true of it, and what may be said about it.

    Attributes:
        says: The story in one sentence.
        truths: In the order of time.
        required: Kinds of messages that must come -> the last snapshot at which the first one may. What is opened, or
            resolved, is so once.
        allowed: Kinds that may come as well; no others may.
        begins: The snapshot at which trouble begins; before it nothing may be said.
        cures: Of the strategies that its members list, those that mend it.
        season: Seconds after which what arrives repeats itself; None: it does not.
        known: From this snapshot on nothing may be said: it comes by the clock, and was told often enough.
        not_yet: Diagnoses and kinds of messages that are wrong or missing today; see `not_yet`.
    """

    says: str
    group: Group
    truths: tuple[Truth, ...]
    required: Mapping[Kind, int] = field(default_factory=dict)
    allowed: frozenset[Kind] = frozenset()
    begins: int = 0
    cures: frozenset[str] = frozenset()
    season: float | None = None
    known: int = SNAPSHOTS
    not_yet: frozenset[Diagnosis | Kind] = frozenset()

    @property
    def name(self) -> str:
        """That of its group."""
        return self.group.name

    @property
    def healthy(self) -> bool:
        """Whether nothing may be said about it at all."""
        return not self.required and not self.allowed


def contradictions(situation: Situation, events: Sequence[Mapping[str, Any]]) -> list[str]:
    """
    Where what was said contradicts what is true, one sentence each.

    Args:
        situation: What is true.
        events: What `evenkeel backtest --json` prints, of this group and of others.
    """
    own = [e for e in events if situation.name in (e.get("group"), *(e.get("groups") or ()))]
    diagnoses = [e for e in own if e["event"] == "diagnosis"]
    messages = [e for e in own if e["event"] == "message"]
    return [*_of_diagnoses(situation, diagnoses), *_of_messages(situation, messages)]


def not_yet(situation: Situation, contradiction: str) -> bool:
    """Whether a contradiction is one of those known: a test lets it pass, the score counts it."""
    said = contradiction.removeprefix(f"{situation.name}: ")
    return any(
        f"'{one}'" in said if isinstance(one, Kind) else said.startswith(f"{one} ")
        for one in situation.not_yet
    )


def snapshot_at(moment: str) -> int:
    """The number of the snapshot that was being worked on at a moment, as ISO text."""
    return int((datetime.fromisoformat(moment) - FIRST).total_seconds() // EVERY)


def _of_diagnoses(situation: Situation, changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    said: list[Mapping[str, Any] | None] = [None] * SNAPSHOTS
    for change in changes:
        first = snapshot_at(change["at"])
        said[first:] = [change] * (SNAPSHOTS - first)
    for truth in situation.truths:
        wrong = [
            number
            for number in range(truth.by, truth.until + 1)
            if not _holds(situation.group, truth, said[number])
        ]
        if wrong and (not truth.once or len(wrong) == truth.until - truth.by + 1):
            last = said[wrong[0]]
            told = f"{last['diagnosis']} {last['subjects']}" if last else "nothing"
            yield (
                f"{situation.name}: {truth.diagnosis} {list(truth.subjects)} is true from snapshot {truth.by} to"
                f" {truth.until}; at {wrong[0]} (and {len(wrong) - 1} more) it said {told}."
            )


def _holds(group: Group, truth: Truth, said: Mapping[str, Any] | None) -> bool:
    if said is None:
        return False
    if said["diagnosis"] in truth.also:
        return True
    return said["diagnosis"] == truth.diagnosis and _names(group, truth, said["subjects"])


def _names(group: Group, truth: Truth, said: Sequence[str]) -> bool:
    """Whether just the subjects are named, whichever way partitions are written; a member by client id or whole id."""
    if not truth.subjects:
        return True
    patterns = [_pattern(group, subject) for subject in truth.subjects]
    found = [[p for p in patterns if re.search(p, one)] for one in said]
    return all(found) and {p for ps in found for p in ps} == set(patterns)


def _pattern(group: Group, subject: int | Partition) -> str:
    if isinstance(subject, int):
        return rf"\b{re.escape(group.client(subject))}(?!\d)"
    topic, number = subject
    return rf"\b{re.escape(group.topic(topic))}\D{{1,12}}{number}(?!\d)"


def _of_messages(situation: Situation, messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    first: dict[str, int] = {}
    for message in messages:
        first.setdefault(message["kind"], snapshot_at(message["at"]))
    for kind, by in situation.required.items():
        if first.get(kind, SNAPSHOTS) > by:
            yield f"{situation.name}: no message of kind '{kind}' by snapshot {by}."
    for kind in ONCE & situation.required.keys():
        times = sum(message["kind"] == kind for message in messages)
        if times > 1:
            yield f"{situation.name}: {times} messages of kind '{kind}'."
    if len(messages) > MOST:
        yield f"{situation.name}: {len(messages)} messages, more than {MOST}."
    early = [kind for kind, snapshot in first.items() if snapshot < situation.begins]
    for kind in early:
        yield f"{situation.name}: a message of kind '{kind}' at snapshot {first[kind]}, before anything happened."
    late = [m for m in messages if snapshot_at(m["at"]) >= situation.known]
    yield from (
        f"{situation.name}: a message of kind '{m['kind']}' of what is known at {m['at']}."
        for m in late
    )
    for kind in sorted(first.keys() - situation.required.keys() - situation.allowed):
        yield f"{situation.name}: a message of kind '{kind}' at snapshot {first[kind]}, which may not come."
