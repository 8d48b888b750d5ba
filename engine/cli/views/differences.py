"""What `evenkeel diff` shows of two snapshots of a group: rows for machines, tables and remarks for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...messages.wording import member_names, several
from ...model.formats import NOTHING, UNKNOWN, duration, moment, number
from ...model.groups import Member
from ...model.text import printable
from ...snapshots.compare import Changed, Difference
from ..sources import SnapshotSource
from .columns import table
from .tables import Table, text, to_json

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


def headline(group: str, source: SnapshotSource, moments: Sequence[Any], span: float) -> str:
    """The group, and the two moments that are compared, *span* seconds apart."""
    first, second = map(moment, moments)
    where = f"{printable(group)} on {source.cluster}"
    return f"{where}: {first}, and {second}, {duration(span)} later"


def tables(difference: Difference) -> Iterator[Table]:
    """What changed of group and members, which partitions changed owner, and whose replicas moved to other racks."""
    names = _names(difference)
    changes = sorted((one for one in difference.changes if one.what in _WORDS), key=_turn)
    if changes:
        yield table(
            [
                ("What", lambda one: _WORDS[one.what]),
                ("Whose", lambda one: names[one.member.id] if one.member else text(one.topic)),
                ("Before", lambda one: _value(one.what, one.before)),
                ("After", lambda one: _value(one.what, one.after)),
            ],
            changes[:SHOWN],
            title=_title("Changed", len(changes)),
        )
    yield from _ranges(
        "Partitions that changed owner",
        difference.of("owner"),
        lambda member: "(nobody)" if member is None else names[member.id],
    )
    yield from _ranges(
        "Partitions whose replicas are in other racks",
        difference.of("replica_racks"),
        lambda racks: printable(", ".join(rack or UNKNOWN for rack in racks)),
    )


def _title(what: str, count: int) -> str:
    shown = f"; the first {SHOWN} of {count:,} (--json has all)" if count > SHOWN else ""
    return f"{what}{shown}"


def _ranges(what: str, changes: Iterable[Changed], told: Callable[[Any], str]) -> Iterator[Table]:
    """One line per (before, after) and topic, with the partitions as ranges; nothing where none changed."""
    spans: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for one in changes:
        spans[told(one.before), told(one.after), str(one.topic)].append(one.partition or 0)
    if not spans:
        return
    total = sum(map(len, spans.values()))
    yield table(
        [
            ("From", lambda span: span[0][0]),
            ("To", lambda span: span[0][1]),
            ("Topic", lambda span: text(span[0][2])),
            (">Count", lambda span: number(len(span[1]))),
            ("Partitions", lambda span: ranges(span[1])),
        ],
        sorted(spans.items())[:SHOWN],
        title=_title(f"{what}: {several(total, 'partition')}", len(spans)),
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


def _turn(change: Changed) -> int:
    """The group, then who came and went, then those who stayed, then topics."""
    if change.what.startswith("topic_"):
        return 3
    if change.member is None:
        return 0
    return 1 if change.what.startswith("member_") else 2


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
