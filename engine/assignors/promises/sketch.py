"""
A group in names: small enough to be read, to be printed as a case for `evenkeel assign`, and to be cut down.

>>> topic = TopicSketch(name="t", partitions=(PartitionSketch(),))
>>> sketch = Sketch(topics=(topic,), members=(MemberSketch(id="a", topics=("t",)),))
>>> sketch.spec().members, sketch.size
(('a',), 4)
>>> sketch.case("range", "smallest")["members"]
[{'id': 'a', 'topics': ['t']}]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...model.arrays import NONE, Column
from ..interface import GroupSpec, build_spec

Pair = tuple[str, int]
"""A topic and a partition number; it may be one that does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSketch:
    """The racks of a partition's replicas (None: a broker without one; none at all: unknown), its lag and rate."""

    racks: tuple[str | None, ...] = ()
    lag: int | None = None
    rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSketch:
    """A topic that exists, its partitions, and its id as UUID text where that is known."""

    name: str
    partitions: tuple[PartitionSketch, ...]
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSketch:
    """A member; *sent* is its user data, else with *in_user_data* a sticky strategy's, which says what it owns."""

    id: str
    topics: tuple[str, ...]
    instance_id: str | None = None
    rack: str | None = None
    owned: tuple[Pair, ...] = ()
    generation: int | None = None
    in_user_data: bool = False
    sent: Mapping[str, Any] | None = None
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def user_data(self) -> dict[str, Any] | None:
        """What it carries for the strategy alone."""
        if self.sent is not None:
            return dict(self.sent)
        if not self.in_user_data:
            return None
        return {"owned": [list(pair) for pair in self.owned], "generation": self.generation}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A group: its topics, and its members in the order in which the broker lists them."""

    topics: tuple[TopicSketch, ...]
    members: tuple[MemberSketch, ...]

    @property
    def size(self) -> int:
        """How much there is to read."""
        members = sum(1 + len(m.topics) + len(m.owned) for m in self.members)
        return members + sum(1 + len(t.partitions) for t in self.topics)

    def spec(self) -> GroupSpec:
        """The group as strategies see it."""
        named = [t for m in self.members for t in m.topics]
        named += [t for m in self.members for t, _ in m.owned]
        names = list(dict.fromkeys([*(t.name for t in self.topics), *named]))
        missing = [None] * (len(names) - len(self.topics))
        partitions = [p for t in self.topics for p in t.partitions]
        built = build_spec(
            members=[m.id for m in self.members],
            instance_ids=[m.instance_id for m in self.members],
            member_racks=[m.rack for m in self.members],
            subscriptions=[m.topics for m in self.members],
            topics=names,
            topic_ids=[*(t.id for t in self.topics), *missing],
            partition_counts=[*(len(t.partitions) for t in self.topics), *missing],
            replica_racks=[p.racks for p in partitions],
            leader_racks=[_leader(p) for p in partitions],
            owner=[self._owner((t.name, n)) for t in self.topics for n in range(len(t.partitions))],
            owned=[m.owned for m in self.members],
            generation=[m.generation for m in self.members],
            user_data=[m.user_data if m.sent is None else None for m in self.members],
            lag=Column.of(p.lag for p in partitions),
            rate=[p.rate for p in partitions],
            config=[dict(m.config) for m in self.members],
        )
        return replace(built, user_data=tuple(m.user_data for m in self.members))

    def _owner(self, pair: Pair) -> int:
        """Of those that say they own a partition the one of the newest generation; NONE where that does not decide."""
        age = {
            place: NONE if member.generation is None else member.generation
            for place, member in enumerate(self.members)
            if pair in member.owned
        }
        newest = [place for place in age if age[place] == max(age.values())]
        return newest[0] if len(newest) == 1 else NONE

    def case(self, strategy: str, name: str) -> dict[str, Any]:
        """
        The case that `evenkeel assign` reads; what is not there is left out.

        Args:
            strategy: Who is to answer it.
            name: Its id.
        """
        return {
            "id": name,
            "strategy": strategy,
            "topics": {topic.name: _topic_case(topic) for topic in self.topics},
            "members": [_member_case(member) for member in self.members],
        }


def _leader(partition: PartitionSketch) -> str | None:
    return partition.racks[0] if partition.racks else None


def _topic_case(topic: TopicSketch) -> dict[str, Any]:
    case: dict[str, Any] = {"partitions": [list(p.racks) for p in topic.partitions]}
    if topic.id is not None:
        case["id"] = topic.id
    columns: dict[str, list[Any]] = {
        "lags": [p.lag for p in topic.partitions],
        "rates": [p.rate for p in topic.partitions],
        "leaders": [_leader(p) for p in topic.partitions],
    }
    return case | {k: v for k, v in columns.items() if any(one is not None for one in v)}


def _member_case(member: MemberSketch) -> dict[str, Any]:
    optional = {
        "instance_id": member.instance_id,
        "rack": member.rack,
        "owned": [list(pair) for pair in member.owned] or None,
        "generation": member.generation,
        "user_data": member.user_data,
        "config": dict(member.config) or None,
    }
    given = {key: value for key, value in optional.items() if value is not None}
    return {"id": member.id, "topics": list(member.topics), **given}
