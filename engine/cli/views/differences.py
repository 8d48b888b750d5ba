"""What `evenkeel diff` prints of two snapshots of a group: objects for machines, a line per change for people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ...messages.wording import member_names, several
from ...model.formats import NOTHING, UNKNOWN, change, duration, minute, number
from ...model.groups import Member
from ...model.text import listed, printable
from ...snapshots.compare import Changed, Difference
from ..sources import SnapshotSource
from .fleet import in_cluster
from .tables import INDENT, screen_width, tell, text, to_json

SHOWN = 60
"""As many lines fit a screen; --json has all changes."""

LISTED = 12
"""As many members that came or went are named."""

_LABELS = {
    "type": "Type",
    "state": "State",
    "strategy": "Strategy",
    "epoch": "Group epoch",
    "assignment_epoch": "Assignment epoch",
    "topology_epoch": "Topology epoch",
    "generation": "Generation (reported by members)",
    "kafka_cluster_id": "Kafka cluster id",
    "configured_assignors": "Assignors (configured)",
    "follower_fetching": "Fetch from followers",
    "member_joined": "Joined",
    "member_left": "Left",
    "member_restarted": "Restarted",
    "subscription": "Subscription",
    "subscription_regex": "Subscription pattern",
    "rack": "Rack",
    "kind": "Member protocol",
    "standby_tasks": "Standby tasks",
    "warmup_tasks": "Warm-up tasks",
    "topic_created": "Topic created",
    "topic_gone": "Topic deleted",
    "topic_recreated": "Topic recreated",
    "topic_partitions_added": "Partitions added",
    "topic_subscribed": "Topic subscribed",
    "topic_unsubscribed": "Topic unsubscribed",
    "cleanup_policy": "Cleanup policy",
    "retention_ms": "Retention (ms)",
    "retention_bytes": "Retention (bytes)",
    "owner": "Reassigned",
    "replica_racks": "Replica racks",
}
"""Kinds of changes by their labels, in their order: the group, its members, topics, partitions."""

_COUNTED = ("member_joined", "member_left", "member_restarted", "owner")
"""Kinds that are counted by themselves, all others together."""


def rows(difference: Difference) -> Iterator[dict[str, Any]]:
    """Every change as an object of the same keys, and what was not compared."""
    was, now = difference.present
    whole = [Changed(what="group", before=was, after=now)] if was != now else []
    yield from (_row(change) for change in (*whole, *difference.changes))
    for why in difference.unknown:
        yield _row(Changed(what="not_compared")) | {"reason": why}


def _row(change: Changed) -> dict[str, Any]:
    member = change.member
    before, after = (v.id if isinstance(v, Member) else v for v in (change.before, change.after))
    who = {"member": "id", "client_id": "client_id", "host": "host", "instance_id": "instance_id"}
    return {
        "change": change.what,
        **{key: getattr(member, attribute, None) for key, attribute in who.items()},
        "topic": change.topic,
        "partition": change.partition,
        "before": before,
        "after": after,
        "reason": None,
    }


def show_difference(
    group: str, source: SnapshotSource, moments: Sequence[datetime], difference: Difference
) -> None:
    """
    Print what changed, a line per change by kind, then how much changed.

    Args:
        group: The group.
        source: The snapshots.
        moments: When the two that are compared were taken.
        difference: What is different.
    """
    width = screen_width()
    first, second = moments
    later = f"{second:%H:%M} UTC" if first.date() == second.date() else minute(second)
    span = duration((second - first).total_seconds())
    lines = list(_lines(difference))
    told = f"{_counts(difference)}; {change(minute(first), later)} ({span})"
    tell([f"{in_cluster(group, source.cluster)}: {told}"], width=width)
    if lines:
        print()
        label = max(len(label) for label, _ in lines)
        indent = max(INDENT - 2, label + 2)
        shown = [f"  {label:<{indent}}{text(what)}" for label, what in lines[:SHOWN]]
        tell(shown, indent, width=width)
    if len(lines) > SHOWN:
        tell([f"  and {len(lines) - SHOWN:,} more (--json has all)"])
    if unknown := [f"Not compared: {printable(why)}." for why in difference.unknown]:
        tell(["", *unknown], width=width)


def _counts(difference: Difference) -> str:
    """How much changed, or that nothing did."""
    if difference.present == (False, True):
        return "not in the earlier snapshot"
    if difference.present == (True, False):
        return "not in the later snapshot"
    if difference.nothing:
        return "no change in what could be compared" if difference.unknown else "no change"
    number = Counter(one.what for one in difference.changes)
    told = [f"{number[w]:,} {_LABELS[w].lower()}" for w in _COUNTED if number[w]]
    if others := sum(number.values()) - sum(number[w] for w in _COUNTED):
        told.append(several(others, "other change" if told else "change"))
    return ", ".join(told)


def _lines(difference: Difference) -> Iterator[tuple[str, str]]:
    """A label and what changed, the names of members that came or went together."""
    names = _names(difference)
    kinds: dict[str, list[Changed]] = {what: [] for what in _LABELS}
    for one in difference.changes:
        kinds[one.what].append(one)
    for what, changes in kinds.items():
        label = _LABELS[what]
        if what.startswith("member_") and changes:
            members = sorted(names[one.member.id] for one in changes if one.member)
            yield label, listed(members, LISTED)
        elif what in ("owner", "replica_racks"):
            told = partial(_owner, names) if what == "owner" else _racks
            yield from ((label, line) for line in _ranges(changes, told))
        else:
            yield from ((label, _line(one, names)) for one in changes)


def _owner(names: Mapping[str, str], member: Member | None) -> str:
    return "no member" if member is None else names[member.id]


def _racks(racks: Sequence[str | None]) -> str:
    return printable(", ".join(rack or UNKNOWN for rack in racks))


def _line(one: Changed, names: Mapping[str, str]) -> str:
    """Of which member or topic, and what it was and is."""
    whose = names[one.member.id] if one.member else one.topic
    before, after = (_value(one.what, value) for value in (one.before, one.after))
    ends = after if one.before is None and one.what.startswith("topic_") else change(before, after)
    return f"{printable(whose)}: {ends}" if whose else ends


def _ranges(changes: Iterable[Changed], told: Callable[[Any], str]) -> Iterator[str]:
    """One line per (before, after), with the partitions of each topic as ranges."""
    spans: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for one in changes:
        spans[told(one.before), told(one.after)][str(one.topic)].append(one.partition or 0)
    for ends, topics in sorted(spans.items()):
        total = sum(map(len, topics.values()))
        where = "; ".join(f"{topic} {ranges(own)}" for topic, own in topics.items())
        yield f"{change(*ends)}: {where} ({several(total, 'partition')})"


def ranges(numbers: Sequence[int]) -> str:
    """
    Ascending numbers with runs drawn together.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0-2, 5, 7-8'
    """
    runs: list[list[int]] = []
    for each in numbers:
        if runs and each == runs[-1][1] + 1:
            runs[-1][1] = each
        else:
            runs.append([each, each])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def _names(difference: Difference) -> dict[str, str]:
    """Readable names by member id; a restarted one has its current name."""
    stayed = {each.before: each.after for each in difference.of("member_restarted")}
    every = (each for one in difference.changes for each in (one.member, one.before, one.after))
    told = {m.id: m for m in every if isinstance(m, Member) and m.id not in stayed}
    names = {id: printable(name) for id, name in member_names(told.values()).items()}
    return names | {old: names[new] for old, new in stayed.items()}


def _value(what: str, value: Any) -> str:
    absent = UNKNOWN if what == "rack" else NOTHING
    if what.startswith("topic_") and value is not None:
        return several(value, "partition")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return text(", ".join(value), absent)
    if isinstance(value, Mapping):
        return text(to_json(value))
    return text(value, absent)
