"""Members of groups: what the brokers describe, as rows of the dataset `members`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from ...assignors.kafka.protocol_names import CLIENT_SIDE
from ...assignors.kit.java_order import map_order
from ...config import Filter
from ...followers.plan import NAME as PLAN
from ...followers.user_data import followed_of
from ...model.groups import CONFIGURED, can_be_kept, not_kept
from ...model.states import STREAMS_PROTOCOL, GroupType
from ...model.text import cut, shortened
from .decode import (
    BlobError,
    Pairs,
    read_assignment,
    read_streams_client,
    read_streams_tasks,
    read_subscription,
)
from .groups import Group

RackFor = Callable[[str, str, str], str | None]
"""(group, client id, host) -> the rack configured for such a member, if any."""

Row = dict[str, Any]

_OF_PAIRS = ("topics", "partitions")
_TOPIC = re2.compile(r"[a-zA-Z0-9._-]{1,249}")
"""What brokers let a topic be called."""

_MEMBER_TYPES = {0: "classic", 1: "consumer"}


@dataclass(frozen=True)
class MemberReader:
    """
    Turns descriptions into rows.

    Attributes:
        counts: Topic -> number of partitions, to tell what a Streams task reads and what a regex stands for.
        topics: Partitions of topics it does not admit are left out.
        rack_for: Racks of members that do not tell theirs.
    """

    counts: Mapping[str, int]
    topics: Filter
    rack_for: RackFor

    def rows(self, group: Group) -> list[Row]:
        """
        The members of a group, in the broker's order; none while it could not be described.

        A blob that cannot be read, and what no topic has, is noted with the group; raw bytes stay in the row.
        """
        if group.described is None:
            return []
        try:
            return [*self._rows(group)]
        except Exception as problem:  # noqa: BLE001 one group costs the others nothing
            group.errors.append(f"members cannot be decoded: {type(problem).__name__}: {problem}")
            return []

    def _rows(self, group: Group) -> Iterator[Row]:
        make = {
            GroupType.CLASSIC: self._classic,
            GroupType.CONSUMER: self._consumer,
            GroupType.STREAMS: self._streams,
            GroupType.SHARE: self._share,
        }[group.type]
        for position, row in enumerate(make(group)):
            name = row["member_id"]
            if not can_be_kept(name):
                group.errors.append(f"member {cut(name, 60)} is left out: {not_kept(name)}")
                continue
            if why := _impossible(row):
                group.errors.append(f"member {name} cannot be decoded: {why}")
                row = {name: one for name, one in row.items() if name not in _CLAIMS}
            row |= {"group_id": group.id, "position": position}
            row["rack"], row["rack_source"] = self._rack(group, row)
            yield row

    def _rack(self, group: Group, row: Row) -> tuple[str | None, str | None]:
        if row.get("rack"):
            source = "subscription" if group.type == GroupType.CLASSIC else "describe"
            return row["rack"], source
        host = row["client_host"].removeprefix("/")
        rack = self.rack_for(group.id, row["client_id"], host) or None
        return rack, None if rack is None else CONFIGURED

    def _classic(self, group: Group) -> Iterator[Row]:
        for member in group.described.members:
            metadata, assignment = bytes(member.member_metadata), bytes(member.member_assignment)
            row = {
                "member_id": member.member_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "instance_id": member.group_instance_id,
                "kind": "classic",
                "metadata": metadata or None,
                "assignment": assignment or None,
            }
            if group.described.protocol_type == "consumer":
                try:
                    row |= self._decoded(metadata, assignment, group.described.protocol_data)
                except BlobError as problem:
                    group.errors.append(f"member {member.member_id} cannot be decoded: {problem}")
            yield row

    def _decoded(self, metadata: bytes, assignment: bytes, protocol: str) -> Row:
        """Both blobs are empty while the group rebalances; then nothing is known."""
        if not metadata:
            return {}
        subscription = read_subscription(metadata)
        pairs, user_data = read_assignment(assignment) if assignment else (([], []), None)
        row = {
            "subscription": list(subscription.topics),
            "generation": subscription.generation,
            "rack": subscription.rack,
            **self._pairs("assigned", pairs),
        }
        if protocol not in CLIENT_SIDE and protocol != STREAMS_PROTOCOL:
            row["user_data"] = subscription.user_data
        if assignment:
            row["assigned_user_data"] = bool(user_data)
        if protocol == PLAN:
            row["follows"] = followed_of(user_data)
        if protocol == STREAMS_PROTOCOL and subscription.user_data:
            client = read_streams_client(subscription.user_data)
            active, standby = read_streams_tasks(user_data) if user_data else ([], [])
            row |= {
                **self._pairs("assigned", pairs, active),
                "process_id": client.process_id,
                "client_tags": _json(client.client_tags),
                "active_tasks": list(dict.fromkeys(active)),
                "standby_tasks": standby,
                "task_offsets": None if client.task_offsets is None else _json(client.task_offsets),
            }
        return row

    def _consumer(self, group: Group) -> Iterator[Row]:
        matched = self._matched(group)
        for member in group.described.members:
            regex = member.subscribed_topic_regex or None
            topics = _in_turn(member.subscribed_topic_names, matched.get(regex, ()))
            yield {
                "member_id": member.member_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "instance_id": member.instance_id,
                "rack": member.rack_id,
                "kind": _MEMBER_TYPES.get(member.member_type),
                "subscription": topics,
                "subscription_regex": regex,
                "generation": member.member_epoch,
                **self._pairs("assigned", _named(member.assignment)),
                **self._pairs("target", _named(member.target_assignment)),
            }

    def _share(self, group: Group) -> Iterator[Row]:
        """Several members may have the same partition: the broker deals records to them one by one."""
        for member in group.described.members:
            yield {
                "member_id": member.member_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "rack": member.rack_id,
                "kind": GroupType.SHARE.value,
                "subscription": list(member.subscribed_topic_names),
                "generation": member.member_epoch,
                **self._pairs("assigned", _named(member.assignment)),
            }

    def _matched(self, group: Group) -> dict[str | None, set[str]]:
        """
        Regex -> the topics it stands for: those it matches as a whole, and those its members have.

        The broker shows the pattern only and evaluates it as RE2 does; so does this. One that RE2 refuses stands for
        what its members have.
        """
        matched: dict[str | None, set[str]] = {}
        for member in group.described.members:
            regex = member.subscribed_topic_regex
            if not regex:
                continue
            if regex not in matched:
                matched[regex] = self._matching(regex)
            matched[regex] |= {
                *_named(member.assignment)[0],
                *_named(member.target_assignment)[0],
            }
        return matched

    def _matching(self, regex: str) -> set[str]:
        options = re2.Options()
        options.log_errors = False
        try:
            pattern = re2.compile(regex, options)
        except re2.error:
            return set()
        return {topic for topic in self.counts if pattern.fullmatch(topic)}

    def _streams(self, group: Group) -> Iterator[Row]:
        sources = _sources(group.described.topology)
        subscription = sorted({topic for topics in sources.values() for topic in topics})
        for member in group.described.members:
            current, target = member.assignment, member.target_assignment
            tags = {tag.key: tag.value for tag in member.client_tags}
            yield {
                "member_id": member.member_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "instance_id": member.instance_id,
                "rack": member.rack_id,
                "kind": "classic" if member.is_classic else "streams",
                "subscription": subscription,
                "generation": member.member_epoch,
                "process_id": member.process_id,
                "client_tags": _json(tags),
                "active_tasks": _tasks(current.active_tasks),
                "standby_tasks": _tasks(current.standby_tasks),
                "warmup_tasks": _tasks(current.warmup_tasks),
                "task_offsets": _json(_offsets(member.task_offsets)),
                "task_end_offsets": _json(_offsets(member.task_end_offsets)),
                **self._pairs("assigned", *self._read_by(current.active_tasks, sources)),
                **self._pairs("target", self._read_by(target.active_tasks, sources)[0]),
            }

    def _read_by(self, tasks: Any, sources: Mapping[str, Sequence[str]]) -> tuple[Pairs, list[str]]:
        """The partitions some tasks read, of each source topic the one with the task's number; and their tasks."""
        rows = [
            (topic, number, f"{task.subtopology_id}_{number}")
            for task in tasks
            for number in task.partitions
            for topic in sources.get(task.subtopology_id, ())
            if 0 <= number < self.counts.get(topic, 0)
        ]
        return ([t for t, _, _ in rows], [n for _, n, _ in rows]), [task for _, _, task in rows]

    def _pairs(self, what: str, pairs: Pairs, tasks: Sequence[str] | None = None) -> Row:
        """The admitted ones of some partitions, and of the tasks that read them, one for each."""
        topics, numbers = pairs
        kept = range(len(topics))
        if not all(map(self.topics.admits, dict.fromkeys(topics))):
            kept = [i for i in kept if self.topics.admits(topics[i])]  # type: ignore[assignment]
        row: Row = {
            f"{what}_topics": [topics[i] for i in kept],
            f"{what}_partitions": [numbers[i] for i in kept],
        }
        if tasks is not None and len(tasks) == len(topics):
            row[f"{what}_tasks"] = [tasks[i] for i in kept]
        return row


_HELD = ("assigned", "target")
_CLAIMS = frozenset(
    ("subscription", "assigned_tasks", *(f"{each}_{of}" for each in _HELD for of in _OF_PAIRS))
)
"""What is not known of a member that claims what cannot be."""


def _impossible(row: Row) -> str | None:
    """
    Why no topic can be what a member reads or has; a number beyond a topic's partitions can be: it had more once.

    >>> _impossible({"assigned_topics": ["orders"], "assigned_partitions": [-1]})
    'it has partition -1 of topic orders; no topic has a negative partition'
    >>> _impossible({"subscription": ["orders", "a b"]})
    "it names topic 'a b'; letters, digits and . _ - make a topic's name, at most 249"
    """
    held = [
        (row.get(f"{each}_topics") or (), row.get(f"{each}_partitions") or ()) for each in _HELD
    ]
    names = dict.fromkeys(
        t for topics in (row.get("subscription") or (), *(t for t, _ in held)) for t in topics
    )
    if wrong := [name for name in names if not _is_topic(name)]:
        shown = shortened(wrong[0], 60)
        return (
            f"it names topic {shown!r}; letters, digits and . _ - make a topic's name, at most 249"
        )
    for topics, numbers in held:
        if numbers and min(numbers) < 0:
            number, topic = min(zip(numbers, topics, strict=True))
            return f"it has partition {number} of topic {topic}; no topic has a negative partition"
    return None


@lru_cache(maxsize=65_536)
def _is_topic(name: str) -> bool:
    return _TOPIC.fullmatch(name) is not None


def _in_turn(named: Sequence[str], matched: Collection[str]) -> list[str]:
    """
    The topics of a KIP-848 member as its coordinator walks them: assignors see that where ids of topics collide.

    Those it names are listed so; those its pattern matches come in the order of a `HashSet`, and before the others
    where they are more (`UnionSet` of Kafka 4.3).

    >>> _in_turn(["orders-many", "orders-few"], ()), _in_turn(["t"], {"orders", "t1", "t0"})
    (['orders-many', 'orders-few'], ['orders', 't0', 't1', 't'])
    """
    names = sorted(matched)
    walked = [names[i] for i in map_order(names, int(len(names) / 0.75) + 1)]
    both = (named, walked) if len(named) > len(walked) else (walked, named)
    return list(dict.fromkeys(topic for topics in both for topic in topics))


def used_topics(groups: Mapping[str, Group]) -> set[str]:
    """
    Topics that members name, to tell which of Kafka's internal ones are needed.

    Blobs of classic members are looked into only where such a name can be in them.
    """
    used: set[str] = set()
    for group in groups.values():
        if group.described is None:
            continue
        if group.type == GroupType.CONSUMER:
            for member in group.described.members:
                used |= {*member.subscribed_topic_names, *_named(member.target_assignment)[0]}
        elif group.type == GroupType.SHARE:
            used |= {t for m in group.described.members for t in m.subscribed_topic_names}
        elif group.type == GroupType.STREAMS:
            used |= {t for topics in _sources(group.described.topology).values() for t in topics}
        elif group.type == GroupType.CLASSIC and group.described.protocol_type == "consumer":
            blobs = (bytes(member.member_metadata) for member in group.described.members)
            for blob in filter(lambda blob: b"__" in blob, blobs):
                with suppress(BlobError):
                    used |= {*read_subscription(blob).topics}
    return used


def topology_json(group: Group) -> str | None:
    """The topology of a KIP-1071 group: subtopology id -> its topics by role."""
    topology = getattr(group.described, "topology", None)
    if topology is None:
        return None
    subtopologies = {
        one.subtopology_id: {
            "source_topics": sorted(one.source_topics),
            "repartition_source_topics": _partition_counts(one.repartition_source_topics),
            "repartition_sink_topics": sorted(one.repartition_sink_topics),
            "changelog_topics": _partition_counts(one.state_changelog_topics),
        }
        for one in topology.subtopologies or ()
    }
    return _json({"epoch": topology.epoch, "subtopologies": subtopologies})


def _partition_counts(topics: Any) -> dict[str, int]:
    """Internal topics with their number of partitions (0: as many as needed)."""
    return {topic.name: topic.partitions for topic in topics}


def _sources(topology: Any) -> dict[str, list[str]]:
    """Subtopology -> the topics whose partitions its tasks read."""
    if topology is None:
        return {}
    return {
        one.subtopology_id: [*one.source_topics, *(t.name for t in one.repartition_source_topics)]
        for one in topology.subtopologies or ()
    }


def _named(assignment: Any) -> Pairs:
    """A KIP-848 assignment; topics deleted meanwhile have no name and are left out."""
    topics: list[str] = []
    numbers: list[int] = []
    for topic in assignment.topic_partitions:
        if topic.topic_name:
            topics += [topic.topic_name] * len(topic.partitions)
            numbers += topic.partitions
    return topics, numbers


def _offsets(offsets: Any) -> dict[str, int]:
    """Task -> offset, as members of the streams protocol report them."""
    return {f"{one.subtopology_id}_{one.partition}": one.offset for one in offsets or ()}


def _tasks(tasks: Any) -> list[str]:
    return [f"{task.subtopology_id}_{number}" for task in tasks for number in task.partitions]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
