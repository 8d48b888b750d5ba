"""What `evenkeel diff` shows of two snapshots of a group: rows for machines, tables and remarks for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenkeel.engine.cli.sources import Source
from evenkeel.engine.cli.views.tables import NOTHING, Table, duration, number, text, to_json
from evenkeel.engine.model import Member
from evenkeel.engine.steps.difference import Difference, Racks
from evenkeel.engine.text import printable
from evenkeel.engine.wording import several

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
}


def rows(difference: Difference) -> Iterator[dict[str, Any]]:
    """Every change as an object of the same keys, and what was not compared."""
    if difference.present[0] != difference.present[1]:
        yield _row("group", before=difference.present[0], after=difference.present[1])
    for member in difference.joined:
        yield _row("member_joined", member, after=member.id)
    for member in difference.left:
        yield _row("member_left", member, before=member.id)
    for old, new in difference.restarted:
        yield _row("member_restarted", new, before=old.id, after=new.id)
    for fact in difference.facts:
        yield _row(fact.name, fact.member, fact.topic, before=fact.before, after=fact.after)
    for topic in difference.topics:
        change = f"topic_{topic.happened.replace(' ', '_')}"
        yield _row(change, topic=topic.topic, before=topic.before, after=topic.after)
    for one in difference.moved:
        owners = [None if m is None else m.id for m in (one.before, one.after)]
        yield _row("owner", None, one.topic, one.partition, *owners)
    for placed in difference.relocated:
        racks = list(placed.before), list(placed.after)
        yield _row("replica_racks", None, placed.topic, placed.partition, *racks)
    for why in difference.unknown:
        yield _row("not_compared") | {"reason": why}


def _row(
    change: str,
    member: Member | None = None,
    topic: str | None = None,
    partition: int | None = None,
    before: Any = None,
    after: Any = None,
) -> dict[str, Any]:
    return {
        "change": change,
        "member": None if member is None else member.id,
        "client_id": None if member is None else member.client_id,
        "host": None if member is None else member.host,
        "instance_id": None if member is None else member.instance_id,
        "topic": topic,
        "partition": partition,
        "before": before,
        "after": after,
        "reason": None,
    }


def headline(group: str, source: Source, moments: Sequence[Any], span: float) -> str:
    """The group, and the two moments that are compared, *span* seconds apart."""
    told = [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in moments]
    where = f"{printable(group)} on {source.cluster}"
    return f"{where}: {told[0]} UTC, and {told[1]} UTC, {duration(span)} later"


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
    for one in difference.moved:
        pair = _name(names, one.before), _name(names, one.after)
        owners[pair][one.topic].append(one.partition)
    racks: _Spans = defaultdict(lambda: defaultdict(list))
    for placed in difference.relocated:
        both = _racks(placed.before), _racks(placed.after)
        racks[both][placed.topic].append(placed.partition)
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
    from evenkeel.engine.wording import member_names

    stayed = {old.id: new.id for old, new in difference.restarted}
    every = [*difference.joined, *difference.left, *(new for _, new in difference.restarted)]
    every += [fact.member for fact in difference.facts if fact.member is not None]
    every += [m for one in difference.moved for m in (one.before, one.after) if m is not None]
    told = {m.id: m for m in every if m.id not in stayed}
    names = {id: printable(name) for id, name in member_names(told.values()).items()}
    return names | {old: names[new] for old, new in stayed.items()}


def _name(names: Mapping[str, str], member: Member | None) -> str:
    return "(nobody)" if member is None else names[member.id]


def _racks(racks: Racks) -> str:
    return printable(", ".join(rack or "?" for rack in racks))


def _changes(difference: Difference, names: Mapping[str, str]) -> Iterator[list[str]]:
    for fact in difference.facts:
        if fact.member is None:
            values = [_value(fact.before), _value(fact.after)]
            yield [_WORDS[fact.name], text(fact.topic), *values]
    for member in difference.joined:
        yield ["Member joined", names[member.id], NOTHING, text(member.id)]
    for member in difference.left:
        yield ["Member left", names[member.id], text(member.id), NOTHING]
    for old, new in difference.restarted:
        yield ["Member restarted", names[new.id], text(old.id), text(new.id)]
    for fact in difference.facts:
        if fact.member is not None:
            unknown = "?" if fact.name == "rack" else NOTHING
            values = [_value(v, unknown) for v in (fact.before, fact.after)]
            yield [_WORDS[fact.name], names[fact.member.id], *values]
    for topic in difference.topics:
        counts = (topic.before, topic.after)
        told = [NOTHING if n is None else several(n, "partition") for n in counts]
        yield [f"Topic {topic.happened}", text(topic.topic), *told]


def _value(value: Any, absent: str = "-") -> str:
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
