"""`evenkeel diff`: what changed for a group between two stored snapshots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenkeel.engine.cli.options import AsJson, ClusterName, epilog
from evenkeel.engine.cli.running import NothingFound, printable
from evenkeel.engine.wording import several

if TYPE_CHECKING:
    from evenkeel.engine.cli.sources import Source
    from evenkeel.engine.cli.views.tables import Table
    from evenkeel.engine.model import Member
    from evenkeel.engine.steps.difference import Difference, Racks

EPILOG = epilog(
    [
        "evenkeel diff orders-app --from cluster.recording",
        "evenkeel diff orders-app --since 12               # as it was 12 snapshots ago, in evenkeel.toml's lake",
        "evenkeel diff orders-app --from lake --cluster prod --json",
    ],
    [0, 1, 2, 4],
    "A member is the same by its instance id, else by client id and host; under another member id it restarted, or "
    "joined anew. Topics are those that the group subscribes to, owns or has committed, as far as the configured "
    "filter reads them. What a snapshot does not know is not compared, and said below: a classic group that rebalances "
    "tells its members only. Owners, racks and replicas: null in JSON is nobody or none. Configuration of brokers and "
    "topics needs the right DESCRIBE_CONFIGS in both.",
)

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


def diff(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group id or pattern.")],
    stored: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE|DIR",
            help="A recording or a lake folder; without it evenkeel.toml's lake.",
        ),
    ] = None,
    cluster: ClusterName = None,
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="ID|N",
            help="What to compare the newest snapshot with: a snapshot id, or how many snapshots ago.",
        ),
    ] = "1",
    as_json: AsJson = False,
) -> None:
    """Show what changed for one group between two stored snapshots."""
    from evenkeel.engine import wiring
    from evenkeel.engine.cli import demo, sources

    settings = demo.settings() if stored is None else wiring.settings()
    lake = wiring.lake(settings) if stored is None else wiring.recorded(stored)
    source = sources.from_lake(settings, lake, cluster, stored or settings.lake)
    earlier = earlier_id(source, since)
    ids = {*sources.group_ids(source, earlier), *sources.group_ids(source, source.newest)}
    for place, name in enumerate(sources.among(source, group, ids)):
        if place and not as_json:
            print()
        _print(source, earlier, name, as_json=as_json)


def _print(source: Source, earlier: str, group: str, *, as_json: bool) -> None:
    from evenkeel.engine.cli.views.tables import emit, show, tell
    from evenkeel.engine.steps.compare import compare
    from evenkeel.engine.steps.reading import taken_at

    found = compare(source.lake, source.settings, earlier, source.newest, group)
    if as_json:
        key = {"group": group, "cluster": source.cluster, "from": earlier, "to": source.newest}
        emit(key | row for row in rows(found))
        return
    moments = [taken_at(source.lake, one) for one in (earlier, source.newest)]
    span = (moments[1] - moments[0]).total_seconds()
    tell([_head(group, source, moments, span)])
    if tables := list(_tables(found)):
        print()
        show(tables)
    if remarks := _remarks(found):
        tell(["", *remarks] if tables else remarks)


def earlier_id(source: Source, since: str) -> str:
    """
    The snapshot that the newest one is compared with.

    Args:
        source: The snapshots.
        since: Its id, or how many snapshots before the newest it is.

    Raises:
        NothingFound: There are not that many snapshots.
        InputError: It is neither a number above 0 nor the id of an earlier snapshot of the cluster.
    """
    from evenkeel.engine.datasets import split_snapshot_id
    from evenkeel.engine.errors import InputError

    if since.isdecimal() and int(since) > 0:
        ids = source.ids(int(since) + 1)
        if len(ids) <= int(since):
            raise NothingFound(
                f"cluster {source.cluster} has {several(len(ids), 'stored snapshot')}, "
                f"none is {int(since):,} before the newest.",
                fix="Take another with `evenkeel snapshot`."
                if len(ids) == 1
                else f"Use --since {len(ids) - 1} at most.",
            )
        return ids[0]
    if since.removeprefix("-").isdecimal():
        raise InputError(f"--since {since} is no snapshot before the newest.", fix="Use 1 or more.")
    cluster, _ = split_snapshot_id(since)
    if cluster != source.cluster or since not in source.lake.snapshots(cluster, until=since):
        raise InputError(
            f"there is no snapshot {since} of cluster {source.cluster} here.",
            fix="`evenkeel replay FILE` lists those of a recording or a lake.",
        )
    if since >= source.newest:
        raise InputError(f"{since} is the newest snapshot.", fix="Name an earlier one.")
    return since


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


def _head(group: str, source: Source, moments: Sequence[Any], span: float) -> str:
    from evenkeel.engine.cli.views.tables import duration

    told = [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in moments]
    where = f"{printable(group)} on {source.cluster}"
    return f"{where}: {told[0]} UTC, and {told[1]} UTC, {duration(span)} later"


def _tables(found: Difference) -> Iterator[Table]:
    from evenkeel.engine.cli.views.tables import Table

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
    from evenkeel.engine.cli.views.tables import Table, text

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
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
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
    from evenkeel.engine.cli.views.tables import NOTHING, text

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
    from evenkeel.engine.cli.views.tables import number, text, to_json

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return text(", ".join(value), absent)
    if isinstance(value, Mapping):
        return text(to_json(value))
    return text(value, absent)


def _remarks(found: Difference) -> list[str]:
    if found.present == (False, True):
        told = ["The group is not in the earlier snapshot."]
    elif found.present == (True, False):
        told = ["The group is not in the later snapshot."]
    elif found.nothing:
        told = ["Nothing changed that could be compared." if found.unknown else "Nothing changed."]
    else:
        told = []
    return told + [f"Not known: {printable(why)}." for why in found.unknown]
