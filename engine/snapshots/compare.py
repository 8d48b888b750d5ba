"""
What changed for a group between two stored snapshots: facts side by side, no judgment.

What either snapshot does not know is not compared, and said so; it never counts as a change.
"""

from __future__ import annotations

import fnmatch
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..config import Settings
from ..model.arrays import NONE
from ..model.groups import GroupSnapshot, Member
from ..model.states import GroupType
from ..model.text import several
from ..ports import Lake
from . import problems_of
from .groups_with_past import read_batch
from .validation import rejected_as_a_whole, skipped_groups

Racks = tuple[str | None, ...]
"""The racks of a partition's replicas, sorted; None for a broker without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """
    Something that was *before* and is *after*; None is none, but of a rack: unknown.

    Attributes:
        what: `member_joined`, `member_left` or `member_restarted`, by identity (instance id, else client id and host);
            `topic_created`, `topic_gone`, `topic_recreated` (another topic id under the same name),
            `topic_partitions_added`, `topic_subscribed` or `topic_unsubscribed` (by the group as a whole); `owner` and
            `replica_racks` of a partition; anything else is a property of the group, or of *member* or *topic*.
        before, after: Its value: of members their ids, of topics how many partitions they have, of an owner the
            `Member` or None for nobody, of replicas their `Racks`. A member that came back under another id is the same
            owner.
        member: Whose it is; of one that restarted, as it is now.
    """

    what: str
    before: Any = None
    after: Any = None
    member: Member | None = None
    topic: str | None = None
    partition: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """
    Everything that changed between two snapshots of a group.

    Attributes:
        present: Whether the group is in the earlier snapshot and in the later; unless in both, only that is known.
        changes: Of members, of the group and of members that stayed, of topics, owners and replicas, in this order.
        unknown: What could not be compared, and why.
    """

    present: tuple[bool, bool]
    changes: tuple[Changed, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether nothing that could be compared changed."""
        return self.present[0] == self.present[1] and not self.changes

    def of(self, *what: str) -> tuple[Changed, ...]:
        """The changes of some kinds."""
        return tuple(each for each in self.changes if each.what in what)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Side:
    """One of the two snapshots: the group in it, its row of `groups`, and the manifest's facts."""

    word: str
    group: GroupSnapshot
    header: Mapping[str, Any]
    facts: Mapping[str, Any]
    topics: Mapping[str, tuple[str | None, frozenset[int]]]

    @property
    def unread(self) -> bool:
        """Whether the group could not be read, so that even its members are unknown."""
        return self.group.error is not None

    @property
    def silent(self) -> str | None:
        """Why it tells nothing of ownership, subscriptions and strategy; None when it does."""
        if self.unread:
            return (
                f"the group could not be read in the {self.word} snapshot ({self.group.error}); "
                "members, owners, subscriptions, strategy and epochs are not compared"
            )
        if self.group.rebalancing and self.group.type == GroupType.CLASSIC:
            return (
                f"the group was rebalancing in the {self.word} snapshot ({self.group.state}); "
                "owners, subscriptions and strategy are not compared"
            )
        return None


def compare(lake: Lake, settings: Settings, earlier: str, later: str, name: str) -> Difference:
    """
    What changed for one group.

    Args:
        lake: Where both snapshots are.
        settings: The configuration.
        earlier, later: Snapshot ids of one cluster.
        name: The group's id.

    Raises:
        SnapshotNotFound: The lake does not hold one of the snapshots.
    """
    ids = {"earlier": earlier, "later": later}
    found = {word: group_of(lake, settings, one, name) for word, one in ids.items()}
    doubts = tuple(line for word, one in ids.items() for line in _doubts(lake, word, one, name))
    before, after = found["earlier"], found["later"]
    if before is None or after is None:
        return Difference(present=(before is not None, after is not None), unknown=doubts)
    topics = {*before.partitions.topics, *after.partitions.topics}
    sides = _side(lake, "earlier", before, topics), _side(lake, "later", after, topics)
    unknown = [why for side in sides if (why := side.silent) is not None]
    changes = tuple(_changes(*sides, unknown))
    return Difference(present=(True, True), changes=changes, unknown=(*doubts, *unknown))


def group_of(lake: Lake, settings: Settings, snapshot_id: str, name: str) -> GroupSnapshot | None:
    """A group as a snapshot saw it; None where that does not have it."""
    return next(iter(read_batch(lake, settings, snapshot_id, [name]).groups), None)


def _doubts(lake: Lake, word: str, snapshot_id: str, name: str) -> Iterator[str]:
    """What validation holds against a snapshot or the group in it."""
    rejected = rejected_as_a_whole(lake, snapshot_id, "snapshot")
    withheld = skipped_groups(lake, snapshot_id).get(name)
    if rejected is not None:
        yield f"validation rejected the {word} snapshot: {rejected}"
    if withheld is not None:
        yield f"validation skipped the group in the {word} snapshot: {withheld}"


def _side(lake: Lake, word: str, group: GroupSnapshot, topics: set[str]) -> _Side:
    header = lake.read("groups", [group.snapshot_id], groups=[group.group]).to_pylist()[0]
    known: dict[str, tuple[str | None, set[int]]] = {}
    columns = ("topic", "topic_id", "partition")
    table = lake.read("partitions", [group.snapshot_id], topics=topics, columns=columns)
    for topic, topic_id, partition in zip(*(table[c].to_pylist() for c in columns), strict=True):
        known.setdefault(topic, (topic_id, set()))[1].add(partition)
    facts = lake.manifest("snapshot", group.snapshot_id).facts
    shown = {topic: (topic_id, frozenset(own)) for topic, (topic_id, own) in known.items()}
    return _Side(word=word, group=group, header=header, facts=facts, topics=shown)


def _changes(before: _Side, after: _Side, unknown: list[str]) -> Iterator[Changed]:
    """Everything that changed; what cannot be compared goes to *unknown*."""
    unread = before.unread or after.unread
    tells_owners = before.silent is None and after.silent is None
    kept, joined, left, restarted = ((), (), (), ()) if unread else _matched(before, after)
    yield from (Changed(what="member_joined", member=one, after=one.id) for one in joined)
    yield from (Changed(what="member_left", member=one, before=one.id) for one in left)
    for old, new in restarted:
        yield Changed(what="member_restarted", member=new, before=old.id, after=new.id)
    yield from _facts(before, after, unknown)
    yield from _configured(before.group, after.group)
    if tells_owners:
        yield from _of_members((*kept, *restarted))
    topics = list(_topics(before, after, unknown))
    topics += _subscriptions(before, after) if tells_owners else ()
    yield from sorted(topics, key=lambda one: (one.topic, one.what))
    if tells_owners:
        yield from _moved(before.group, after.group, (*kept, *restarted))
    yield from _relocated(before.group, after.group, unknown)


Pairs = tuple[tuple[Member, Member], ...]


def _matched(
    before: _Side, after: _Side
) -> tuple[Pairs, tuple[Member, ...], tuple[Member, ...], Pairs]:
    """(kept, joined, left, restarted); of members that share an identity, equal ids belong together first."""
    old = {member.id: member for member in before.group.members}
    new = {member.id: member for member in after.group.members}
    kept = tuple((old[id], new[id]) for id in old if id in new)
    gone, come = defaultdict(list), defaultdict(list)
    for member in old.values():
        if member.id not in new:
            gone[member.identity].append(member)
    for member in new.values():
        if member.id not in old:
            come[member.identity].append(member)
    restarted = [
        pair for key in gone for pair in zip(_by_id(gone[key]), _by_id(come[key]), strict=False)
    ]
    left = [member for key in gone for member in _by_id(gone[key])[len(come[key]) :]]
    joined = [member for key in come for member in _by_id(come[key])[len(gone[key]) :]]
    return kept, tuple(_by_id(joined)), tuple(_by_id(left)), tuple(restarted)


def _by_id(members: Iterable[Member]) -> list[Member]:
    return sorted(members, key=lambda member: member.id)


def _facts(before: _Side, after: _Side, unknown: list[str]) -> Iterator[Changed]:
    old, new = before.group, after.group
    pairs: list[tuple[str, Any, Any]] = []
    for name, was, now in (
        ("type", old.type.value, new.type.value),
        ("state", old.state, new.state),
    ):
        if "unknown" not in (was.lower(), now.lower()):
            pairs.append((name, was, now))
    if before.silent is None and after.silent is None:
        pairs.append(("strategy", old.assignor, new.assignor))
    if not (before.unread or after.unread):
        for name in ("epoch", "assignment_epoch"):
            pairs.append((name, before.header[name], after.header[name]))
        pairs.append(("topology_epoch", _topology_epoch(old), _topology_epoch(new)))
    heard = _generation(old), _generation(new)
    if None not in heard:
        pairs.append(("generation", *heard))
    ids = before.facts.get("kafka_cluster_id"), after.facts.get("kafka_cluster_id")
    if None not in ids:
        pairs.append(("kafka_cluster_id", *ids))
    lists = [_listed(side) for side in (before, after)]
    if all(known for known, _ in lists):
        pairs.append(("configured_assignors", lists[0][1], lists[1][1]))
    elif any(known for known, _ in lists):
        word = next(
            s.word for s, (known, _) in zip((before, after), lists, strict=True) if not known
        )
        unknown.append(
            f"the {word} snapshot did not keep which strategies members were said to list"
        )
    yield from (Changed(what=n, before=a, after=b) for n, a, b in pairs if a != b)


def _topology_epoch(group: GroupSnapshot) -> int | None:
    if group.topology is None:
        return None
    epoch: int | None = json.loads(group.topology).get("epoch")
    return epoch


def _generation(group: GroupSnapshot) -> int | None:
    """The newest generation that members of a classic group tell of; most strategies let them tell none."""
    if group.type != GroupType.CLASSIC:
        return None
    return max((m.generation for m in group.members if m.generation is not None), default=None)


def _listed(side: _Side) -> tuple[bool, Any]:
    """Whether the snapshot kept what members are configured to list, and what that was for this group."""
    if "listings" not in side.facts:
        return False, None
    fits = [
        one["assignors"]
        for one in side.facts["listings"]
        if fnmatch.fnmatchcase(side.group.group, one["groups"])
    ]
    return True, fits[-1] if fits else None


def _configured(before: GroupSnapshot, after: GroupSnapshot) -> Iterator[Changed]:
    """What brokers and topics are configured to, where both snapshots may know (DESCRIBE_CONFIGS)."""
    reads = before.follower_fetching, after.follower_fetching
    if None not in reads and reads[0] != reads[1]:
        yield Changed(what="follower_fetching", before=reads[0], after=reads[1])
    was, now = (
        dict(
            zip(
                p.topics,
                zip(p.cleanup_policies, p.retention_ms, p.retention_bytes, strict=True),
                strict=True,
            )
        )
        for p in (before.partitions, after.partitions)
    )
    for topic in sorted(was.keys() & now.keys()):
        for name, old, new in zip(
            ("cleanup_policy", "retention_ms", "retention_bytes"),
            was[topic],
            now[topic],
            strict=True,
        ):
            if old is not None and new is not None and old != new:
                yield Changed(what=name, before=old, after=new, topic=topic)


def _of_members(pairs: Pairs) -> Iterator[Changed]:
    for old, new in pairs:
        if old.subscription is not None and new.subscription is not None:
            topics = sorted(set(old.subscription)), sorted(set(new.subscription))
            if topics[0] != topics[1]:
                yield Changed(what="subscription", before=topics[0], after=topics[1], member=new)
        if old.tasks is not None and new.tasks is not None:
            for name in ("standby", "warmup"):
                copies = [sorted(getattr(m.tasks, name)) for m in (old, new)]
                if copies[0] != copies[1]:
                    yield Changed(
                        what=f"{name}_tasks", before=copies[0], after=copies[1], member=new
                    )
        for name in ("subscription_regex", "rack", "kind"):
            values = getattr(old, name), getattr(new, name)
            if values[0] != values[1]:
                yield Changed(what=name, before=values[0], after=values[1], member=new)


def _topics(before: _Side, after: _Side, unknown: list[str]) -> Iterator[Changed]:
    """What happened to topics on the cluster, as far as both snapshots could read them."""
    sides = (before, after)
    for side in sides:
        if (why := _unread(side, None)) is not None:
            unknown.append(f"the topics could not be read in the {side.word} snapshot: {why}")
            return
    for topic in sorted({*before.topics, *after.topics}):
        blind = [(s, why) for s in sides if (why := _unread(s, topic)) is not None]
        if blind:
            side, why = blind[0]
            unknown.append(f"topic {topic} could not be read in the {side.word} snapshot: {why}")
            continue
        was, now = before.topics.get(topic), after.topics.get(topic)
        counts = len(was[1]) if was else None, len(now[1]) if now else None
        happened = _happened(was, now)
        if happened is not None:
            yield Changed(what=f"topic_{happened}", topic=topic, before=counts[0], after=counts[1])


def _happened(
    was: tuple[str | None, frozenset[int]] | None, now: tuple[str | None, frozenset[int]] | None
) -> str | None:
    if was is None or now is None:
        return "created" if was is None else "gone"
    if None not in (was[0], now[0]) and was[0] != now[0]:
        return "recreated"
    if was[1] == now[1]:
        return None
    # Kafka takes no partition away from a topic: without ids, fewer are another topic
    return "partitions_added" if was[1] < now[1] else "recreated"


def _unread(side: _Side, topic: str | None) -> str | None:
    """Why a topic, or without one all of them, could not be read; None when they were."""
    if topic is not None and topic in side.topics:
        return None
    told = ("topics_unread", ()) if topic is None else ("topic_unread", (topic,))
    found = problems_of(side.facts)
    return next((p.quote for p in found if (p.measure, p.subjects) == told), None)


def _subscriptions(before: _Side, after: _Side) -> Iterator[Changed]:
    """Topics that the group as a whole began or ceased to subscribe to, while it has members."""
    topics = [
        side.group.topics
        for side in (before, after)
        if all(member.subscription is not None for member in side.group.members)
    ]
    if len(topics) < 2 or not (before.group.members and after.group.members):
        return
    for topic in sorted(topics[0] ^ topics[1]):
        counts = [len(s.topics[topic][1]) if topic in s.topics else None for s in (before, after)]
        happened = "unsubscribed" if topic in topics[0] else "subscribed"
        yield Changed(what=f"topic_{happened}", topic=topic, before=counts[0], after=counts[1])


def _moved(before: GroupSnapshot, after: GroupSnapshot, pairs: Pairs) -> Iterator[Changed]:
    """Partitions in order; one that a snapshot does not have belonged to nobody in it."""
    same = {old.id: new.id for old, new in pairs}
    was, now = _owners(before), _owners(after)
    for topic, partition in sorted(was.keys() | now.keys()):
        old, new = was.get((topic, partition)), now.get((topic, partition))
        if old is None and new is None:
            continue
        if old is None or new is None or same.get(old.id) != new.id:
            yield Changed(what="owner", topic=topic, partition=partition, before=old, after=new)


def _owners(group: GroupSnapshot) -> dict[tuple[str, int], Member | None]:
    table = group.partitions
    owners = [group.members[o] if o != NONE else None for o in table.owner.tolist()]
    return dict(zip(_keys(group), owners, strict=True))


def _keys(group: GroupSnapshot) -> Iterator[tuple[str, int]]:
    return zip(group.partitions.names, group.partitions.partition.tolist(), strict=True)


def _relocated(
    before: GroupSnapshot, after: GroupSnapshot, unknown: list[str]
) -> Iterator[Changed]:
    was, now = _racks(before), _racks(after)
    left_out = 0
    for key in sorted(was.keys() & now.keys()):
        if was[key] and now[key] and was[key] != now[key]:
            yield Changed(
                what="replica_racks",
                topic=key[0],
                partition=key[1],
                before=was[key],
                after=now[key],
            )
        left_out += bool(was[key]) != bool(now[key])
    if left_out:
        unknown.append(
            f"in one of the snapshots the replicas of {several(left_out, 'partition')} are unknown; "
            "their racks are not compared"
        )


def _racks(group: GroupSnapshot) -> dict[tuple[str, int], Racks]:
    """The replicas' racks of each partition that exists; empty where the replicas are unknown."""
    table, names = group.partitions, (*group.partitions.racks, None)
    start, racks = table.replica_start.tolist(), table.replica_rack.tolist()
    rows: Sequence[tuple[tuple[str, int], bool]] = list(
        zip(_keys(group), table.exists.tolist(), strict=True)
    )
    return {
        key: tuple(
            sorted((names[r] for r in racks[start[i] : start[i + 1]]), key=lambda n: n or "")
        )
        for i, (key, exists) in enumerate(rows)
        if exists
    }
