"""Some of many groups apart from the others, and their answers put back among those of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ...model.arrays import NONE, Column, Floats, Indices, Ints, ragged_entries
from ...model.assignments import Assignment
from .answers import Answers
from .group import PARTS, Bounds, GroupSpec, reporting

T = TypeVar("T")


def picked(groups: GroupSpec, numbers: Sequence[int] | Ints) -> GroupSpec:
    """
    Some of many groups.

    Args:
        groups: All of them.
        numbers: Which, ascending and at least one.

    >>> from evenkeel.engine.assignors.interface import spec, together
    >>> some = [spec({"a": ["t"]}, {"t": 2}), spec({"a": ["u"]}, {"u": 1}, owned={"a": [("u", 0)]})]
    >>> one = picked(together(some), [1])
    >>> one.members, one.topics, one.owner.tolist(), one.subscription_topic.tolist(), one.owned_topic.tolist()
    (('a',), ('u',), [0], [0], [0])
    """
    if len(numbers) == groups.group_count:
        return groups
    rows = np.asarray(numbers, np.int64)
    # of neighbors a view: that takes less time than a copy
    near = len(rows) == rows[-1] - rows[0] + 1
    chosen = slice(int(rows[0]), int(rows[-1]) + 1) if near else rows
    member_start, members = _entries(groups.member_start, chosen)
    topics_start, topics = _entries(groups.topics_start, chosen)
    bounds = Bounds(members=member_start, topics=topics_start) if len(rows) > 1 else None
    return arranged(groups, members, topics, bounds)


def part_of(groups: GroupSpec, number: int, **own: Any) -> GroupSpec:
    """
    One of many groups; `together` knows the part that was last made of each, and gives the groups back as they were.

    Args:
        groups: All of them.
        number: Which.
        own: Fields that the group has for itself alone; `together` has those of *groups*.
    """
    part = reporting(groups, {}) if groups.group_count == 1 else picked(groups, [number])
    vars(part).update(number=number, **own)
    vars(groups).setdefault(PARTS, {})[number] = part
    return part


def of_part(found: Callable[[GroupSpec], Any], group: GroupSpec) -> Any:
    """What a function of `once` finds of one of many groups (`part_of`): it is asked about all of them at once."""
    kept = vars(group)
    return (
        found(kept["source"])[kept["number"]]
        if {"source", "number"} <= kept.keys()
        else found(group)[0]
    )


def each(groups: GroupSpec) -> Sequence[GroupSpec]:
    """The groups one by one, for who does not look at what members report: as they came."""
    parts: Sequence[GroupSpec] | None = vars(groups).get("parts")
    if groups.group_count == 1:
        return (groups,)
    return parts or [picked(groups, [number]) for number in range(groups.group_count)]


def backlogs(groups: GroupSpec) -> Floats | None:
    """(P) the backlog of each partition of all groups, 0 where its group is told none; None where none is."""
    parts: Sequence[GroupSpec] = vars(groups).get("parts", ())
    told = [part.backlog for part in parts]
    if groups.backlog is not None or all(one is None for one in told):
        return groups.backlog
    pairs = zip(parts, told, strict=True)
    return np.concatenate([np.zeros(p.partition_count) if b is None else b for p, b in pairs])


def arranged(
    group: GroupSpec, members: Ints | slice, topics: Ints | slice, bounds: Bounds | None
) -> GroupSpec:
    """
    A group of these members and topics of another, in this order; what others own there is nobody's.

    Args:
        group: The other, or many.
        members, topics: Which, by their places there.
        bounds: Where each of many begins then.
    """
    made = object.__new__(_Arranged)
    vars(made).update(
        source=group,
        of_members=members,
        of_topics=topics,
        bounds=bounds,
        leaders_only=group.leaders_only,
        pauses=group.pauses,
        config=_named(group.config, members) if group.config else (),
        backlog=None,
    )
    if group.backlog is not None:
        vars(made)["backlog"] = group.backlog[made.of_partitions]
    return made


class _Arranged(GroupSpec):
    """Members and topics of another group: a field is taken from there when it is first asked for."""

    source: GroupSpec
    of_members: Ints | slice
    of_topics: Ints | slice

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(name)
        vars(self)[name] = value = _FIELDS[name](self, name)
        return value

    @cached_property
    def of_partitions(self) -> Ints | slice:
        """Which partitions of the other, by their places there."""
        return _entries(self.source.topic_start, self.of_topics)[1]

    def members_named(self, name: str) -> tuple[Any, ...]:
        """A tuple of members."""
        return _named(getattr(self.source, name), self.of_members)

    def topics_named(self, name: str) -> tuple[Any, ...]:
        """A tuple of topics."""
        return _named(getattr(self.source, name), self.of_topics)

    def per_member(self, name: str) -> Any:
        """An array of members."""
        return getattr(self.source, name)[self.of_members]

    def per_topic(self, name: str) -> Any:
        """An array of topics."""
        return getattr(self.source, name)[self.of_topics]

    def per_partition(self, name: str) -> Any:
        """An array of partitions."""
        return getattr(self.source, name)[self.of_partitions]

    def member_column(self, name: str) -> Column:
        """A column of members."""
        column: Column = getattr(self.source, name)
        return column.take(self.of_members)

    def partition_column(self, name: str) -> Column:
        """A column of partitions."""
        column: Column = getattr(self.source, name)
        return column.take(self.of_partitions)

    def owners(self, name: str) -> Indices:
        """Indices of members."""
        owner = getattr(self.source, name)[self.of_partitions]
        return _renumbered(owner, self.of_members, len(self.source.members))

    def starts(self, name: str) -> Ints:
        """Where each list of a member, of a topic or of a partition begins."""
        return _entries(getattr(self.source, name), self._listed(name))[0]

    def _listed(self, start: str) -> Ints | slice:
        if start == "topic_start":
            return self.of_topics
        return self.of_partitions if start == "replica_start" else self.of_members

    def entries(self, name: str) -> Any:
        """The entries of lists."""
        start = f"{name.rsplit('_', 1)[0]}_start"
        at = _entries(getattr(self.source, start), self._listed(start))[1]
        return getattr(self.source, name)[at]

    def topic_entries(self, name: str) -> Indices:
        """Indices of topics in lists."""
        return _renumbered(self.entries(name), self.of_topics, len(self.source.topics))

    def as_there(self, name: str) -> Any:
        """What holds for every part of the other."""
        return getattr(self.source, name)


_FIELDS: Mapping[str, Callable[[_Arranged, str], Any]] = {
    **dict.fromkeys(("members", "instance_ids", "user_data"), _Arranged.members_named),
    **dict.fromkeys(("topics", "topic_ids"), _Arranged.topics_named),
    **dict.fromkeys(("member_rack", "known_rack", "capacity"), _Arranged.per_member),
    "topic_exists": _Arranged.per_topic,
    **dict.fromkeys(("leader_rack", "rate", "bytes_per_record"), _Arranged.per_partition),
    **dict.fromkeys(("generation", "user_data_generation"), _Arranged.member_column),
    "lag": _Arranged.partition_column,
    "owner": _Arranged.owners,
    **dict.fromkeys(("topic_start", "subscription_start", "replica_start"), _Arranged.starts),
    **dict.fromkeys(("owned_start", "user_data_start"), _Arranged.starts),
    **dict.fromkeys(("replica_rack", "owned_partition", "user_data_partition"), _Arranged.entries),
    **dict.fromkeys(
        ("subscription_topic", "owned_topic", "user_data_topic"), _Arranged.topic_entries
    ),
    "racks": _Arranged.as_there,
}
"""How each field is taken."""


def _entries(start: Ints, rows: Ints | slice) -> tuple[Ints, Ints | slice]:
    """Where each of some lists begins then, and which entries they take; neighboring ones give a view."""
    if not isinstance(rows, slice):
        return ragged_entries(start, rows)
    own = start[rows.start : rows.stop + 1]
    return own - own[0], slice(int(own[0]), int(own[-1]))


def put(groups: GroupSpec, answers: Answers, numbers: Ints, newer: Answers) -> Answers:
    """
    The answers of many groups, those of some of them replaced.

    Args:
        groups: All groups.
        answers: Their answers.
        numbers: Which are replaced, ascending and at least one.
        newer: The answers of these (`picked`).
    """
    if len(numbers) == groups.group_count:
        return newer
    _, partitions = ragged_entries(groups.partition_start, numbers)
    _, members = ragged_entries(groups.member_start, numbers)
    name = np.append(members, NONE).astype(np.int32)
    old, new = answers.assignment, newer.assignment

    def owners(before: Indices | None, after: Indices | None) -> Indices:
        given = np.full(groups.partition_count, NONE, np.int32) if before is None else before.copy()
        given[partitions] = NONE if after is None else name[after]
        return given

    def order() -> Ints:
        """Of those that have one; who has none has its lists sorted."""
        before, after = (
            groups.by_name if old.order is None else old.order,
            np.arange(len(partitions)) if new.order is None else new.order,
        )
        stays = np.ones(groups.partition_count, np.bool_)
        stays[partitions] = False
        both = np.concatenate([before[stays[before]], partitions[after]])
        return both[np.argsort(groups.group_of[both], kind="stable")]

    unordered = old.order is None and new.order is None
    at_once = old.transferring is None and new.transferring is None
    listed = numbers.tolist()
    others = set(range(groups.group_count)).difference(listed)
    return Answers(
        assignment=Assignment(
            owner=owners(old.owner, new.owner),
            order=None if unordered else order(),
            transferring=None if at_once else owners(old.transferring, new.transferring),
        ),
        problems={n: p for n, p in answers.problems.items() if n in others}
        | {listed[n]: p for n, p in newer.problems.items()},
        own={n: a for n, a in answers.own.items() if n in others}
        | {listed[n]: a for n, a in newer.own.items()},
    )


def _renumbered(indices: Indices, chosen: Ints | slice, count: int) -> Indices:
    """Where each of some indices below *count* is among the chosen, NONE for others and for NONE."""
    if isinstance(chosen, slice):
        inside = (indices >= chosen.start) & (indices < chosen.stop)
        return np.where(inside, indices - chosen.start, NONE).astype(np.int32)
    place = np.full(count + 1, NONE, np.int32)
    place[chosen] = np.arange(len(chosen))
    return place[indices]


def _named(values: tuple[T, ...], index: Ints | slice) -> tuple[T, ...]:
    return (
        values[index]
        if isinstance(index, slice)
        else tuple(map(values.__getitem__, index.tolist()))
    )
