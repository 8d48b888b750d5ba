"""What `evenkeel diff` shows of two snapshots of a group: rows for machines, tables and remarks for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenkeel.engine.cli.running import printable
from evenkeel.engine.cli.sources import Source
from evenkeel.engine.cli.views.tables import NOTHING, Table, duration, number, text, to_json
from evenkeel.engine.model import Member
from evenkeel.engine.steps.difference import Difference, Racks
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


def rows(found: Difference) -> Iterator[dict[str, Any]]:
    """Every change as an object of the same keys, and what was not compared."""
    if found.present[0] != found.present[1]:
        yield _row("group", before=found.present[0], after=found.present[1])
    for member in found.joined:
        yield _row("member_joined", member, after=member.id)
    for member in found.left:
        yield _row("member_left", member, before=member.id)
    for old, new in found.restarted:
        yield _row("member_restarted", new, before=old.id, after=new.id)
    for fact in found.facts:
        yield _row(fact.name, fact.member, fact.topic, before=fact.before, after=fact.after)
    for topic in found.topics:
        change = f"topic_{topic.happened.replace(' ', '_')}"
        yield _row(change, topic=topic.topic, before=topic.before, after=topic.after)
    for one in found.moved:
        owners = [None if m is None else m.id for m in (one.before, one.after)]
        yield _row("owner", None, one.topic, one.partition, *owners)
    for placed in found.relocated:
        racks = list(placed.before), list(placed.after)
        yield _row("replica_racks", None, placed.topic, placed.partition, *racks)
    for why in found.unknown:
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


def tables(found: Difference) -> Iterator[Table]:
    """What changed of group and members, which partitions changed owner, and whose replicas moved to other racks."""
    names = _names(found)
    if changes := list(_changes(found, names)):
        yield Table(
            title=_title("Changed", len(changes)),
            headings=["What", "Whose", "Before", "After"],
            rows=changes[:SHOWN],
        )
    owners: _Spans = defaultdict(lambda: defaultdict(list))
    for one in found.moved:
        pair = _name(names, one.before), _name(names, one.after)
        owners[pair][one.topic].append(one.partition)
    racks: _Spans = defaultdict(lambda: defaultdict(list))
    for placed in found.relocated:
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


def _names(found: Difference) -> dict[str, str]:
    """Readable names by member id; one that restarted is called as it is now."""
    from evenkeel.engine.wording import member_names

    stayed = {old.id: new.id for old, new in found.restarted}
    every = [*found.joined, *found.left, *(new for _, new in found.restarted)]
    every += [fact.member for fact in found.facts if fact.member is not None]
    every += [m for one in found.moved for m in (one.before, one.after) if m is not None]
    told = {m.id: m for m in every if m.id not in stayed}
    names = {id: printable(name) for id, name in member_names(told.values()).items()}
    return names | {old: names[new] for old, new in stayed.items()}


def _name(names: Mapping[str, str], member: Member | None) -> str:
    return "(nobody)" if member is None else names[member.id]


def _racks(racks: Racks) -> str:
    return printable(", ".join(rack or "?" for rack in racks))


def _changes(found: Difference, names: Mapping[str, str]) -> Iterator[list[str]]:
    for fact in found.facts:
        if fact.member is None:
            values = [_value(fact.before), _value(fact.after)]
            yield [_WORDS[fact.name], text(fact.topic), *values]
    for member in found.joined:
        yield ["Member joined", names[member.id], NOTHING, text(member.id)]
    for member in found.left:
        yield ["Member left", names[member.id], text(member.id), NOTHING]
    for old, new in found.restarted:
        yield ["Member restarted", names[new.id], text(old.id), text(new.id)]
    for fact in found.facts:
        if fact.member is not None:
            unknown = "?" if fact.name == "rack" else NOTHING
            values = [_value(v, unknown) for v in (fact.before, fact.after)]
            yield [_WORDS[fact.name], names[fact.member.id], *values]
    for topic in found.topics:
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


def remarks(found: Difference) -> list[str]:
    """That nothing changed, or in which snapshot the group is missing; and what is not known."""
    if found.present == (False, True):
        told = ["The group is not in the earlier snapshot."]
    elif found.present == (True, False):
        told = ["The group is not in the later snapshot."]
    elif found.nothing:
        told = ["Nothing changed that could be compared." if found.unknown else "Nothing changed."]
    else:
        told = []
    return told + [f"Not known: {printable(why)}." for why in found.unknown]
