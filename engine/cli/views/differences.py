"""What `evenkeel diff` shows of two snapshots of a group: rows for machines, tables and remarks for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...messages.wording import member_names, moment, several
from ...model.groups import Member
from ...model.text import printable
from ...snapshots.compare import Changed, Difference, Racks
from ..sources import SnapshotSource
from .tables import NOTHING, UNKNOWN, Table, duration, number, text, to_json

SHOWN = 60
"""As many changes fit a screen; --json has all."""

_WORDS = {
    "type": "Group type",
    "state": "State",
    "strategy": "Strategy",
    "epoch": "Group epoch",
    "assignment_epoch": "Assignment epoch",
    "topology_epoch": "Topology epoch",
    "generation": "Generation (as members tell)",
    "kafka_cluster_id": "Kafka's cluster id",
    "configured_assignors": "Strategies listed (configured)",
    "subscription": "Subscription",
    "subscription_regex": "Subscription pattern",
    "rack": "Rack",
    "kind": "Protocol of the member",
    "standby_tasks": "Standby tasks",
    "warmup_tasks": "Warm-up tasks",
    "follower_fetching": "Reads from followers",
    "cleanup_policy": "Cleanup policy",
    "retention_ms": "Retention (ms)",
    "member_joined": "Member joined",
    "member_left": "Member left",
    "member_restarted": "Member restarted",
    "topic_created": "Topic created",
    "topic_gone": "Topic gone",
    "topic_recreated": "Topic recreated",
    "topic_partitions_added": "Topic partitions added",
    "topic_subscribed": "Topic subscribed",
    "topic_unsubscribed": "Topic unsubscribed",
}


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
    return {
        "change": change.what,
        "member": None if member is None else member.id,
        "client_id": None if member is None else member.client_id,
        "host": None if member is None else member.host,
        "instance_id": None if member is None else member.instance_id,
        "topic": change.topic,
        "partition": change.partition,
        "before": before,
        "after": after,
        "reason": None,
    }


def headline(group: str, source: SnapshotSource, moments: Sequence[Any], span: float) -> str:
    """The group, and the two moments that are compared, *span* seconds apart."""
    first, second = map(moment, moments)
    where = f"{printable(group)} on {source.cluster}"
    return f"{where}: {first}, and {second}, {duration(span)} later"


def tables(difference: Difference) -> Iterator[Table]:
    """What changed of group and members, which partitions changed owner, and whose replicas moved to other racks."""
    names = _names(difference)
    if changes := list(_changes(difference, names)):
        yield Table(
            title=_title("Changed", len(changes)),
            headings=["What", "Whose", "Before", "After"],
            rows=changes[:SHOWN],
        )
    owners: _Spans = defaultdict(lambda: defaultdict(list))
    racks: _Spans = defaultdict(lambda: defaultdict(list))
    for change in difference.of("owner", "replica_racks"):
        both = change.before, change.after
        if change.what == "owner":
            spans, (before, after) = owners, (_name(names, each) for each in both)
        else:
            spans, (before, after) = racks, map(_racks, both)
        spans[before, after][str(change.topic)].append(change.partition or 0)
    if owners:
        yield _ranges("Partitions that changed owner", owners)
    if racks:
        yield _ranges("Partitions whose replicas are in other racks", racks)


_Spans = dict[tuple[str, str], dict[str, list[int]]]
"""(before, after) -> topic -> partitions."""


def _title(what: str, count: int) -> str:
    shown = f"; the first {SHOWN} of {count:,} (--json has all)" if count > SHOWN else ""
    return f"{what}{shown}"


def _ranges(what: str, spans: _Spans) -> Table:
    """One line per (before, after) and topic, with the partitions as ranges."""
    lines = [
        [before, after, text(topic), f"{len(own):,}", ranges(own)]
        for (before, after), topics in sorted(spans.items())
        for topic, own in sorted(topics.items())
    ]
    total = sum(len(own) for topics in spans.values() for own in topics.values())
    return Table(
        title=_title(f"{what}: {several(total, 'partition')}", len(lines)),
        headings=["From", "To", "Topic", ">Count", "Partitions"],
        rows=lines[:SHOWN],
    )


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
    """Readable names by member id; one that restarted is called as it is now."""
    stayed = {each.before: each.after for each in difference.of("member_restarted")}
    every = (each for one in difference.changes for each in (one.member, one.before, one.after))
    told = {m.id: m for m in every if isinstance(m, Member) and m.id not in stayed}
    names = {id: printable(name) for id, name in member_names(told.values()).items()}
    return names | {old: names[new] for old, new in stayed.items()}


def _name(names: Mapping[str, str], member: Member | None) -> str:
    return "(nobody)" if member is None else names[member.id]


def _racks(racks: Racks) -> str:
    return printable(", ".join(rack or "?" for rack in racks))


def _changes(difference: Difference, names: Mapping[str, str]) -> Iterator[list[str]]:
    """The group, then who came and went, then those who stayed, then topics."""
    told = [each for each in difference.changes if each.what in _WORDS]
    for change in sorted(told, key=_turn):
        whose = text(change.topic) if change.member is None else names[change.member.id]
        values = [_value(change.what, value) for value in (change.before, change.after)]
        yield [_WORDS[change.what], whose, *values]


def _turn(change: Changed) -> int:
    kinds = change.what.startswith("topic_"), change.member is not None
    return 3 if kinds[0] else 0 if not kinds[1] else 1 if change.what.startswith("member_") else 2


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


def remarks(difference: Difference) -> list[str]:
    """That nothing changed, or in which snapshot the group is missing; and what is not known."""
    if difference.present == (False, True):
        lines = ["The group is not in the earlier snapshot."]
    elif difference.present == (True, False):
        lines = ["The group is not in the later snapshot."]
    elif difference.nothing:
        lines = [
            "Nothing changed that could be compared." if difference.unknown else "Nothing changed."
        ]
    else:
        lines = []
    return lines + [f"Not known: {printable(why)}." for why in difference.unknown]
