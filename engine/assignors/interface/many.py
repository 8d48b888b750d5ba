"""
Many groups as one: their members, topics and partitions behind each other in the same arrays.

A strategy that works in whole arrays takes as many calls for a thousand small groups as for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, pairwise
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Column, Indices, Ints, starts_of
from .group import PARTS, Bounds, GroupSpec, reporting
from .parts import picked


def together(groups: Sequence[GroupSpec]) -> GroupSpec:
    """
    Some groups as one, at least one of them; what only custom strategies look at is left out. Backlogs that not all of
    them tell, and pauses, are those of the parts (`parts.each`).

    >>> from evenkeel.engine.assignors.interface import spec
    >>> some = [spec({"a": ["t"]}, {"t": 2}), spec({"a": ["u"]}, {"u": 1}, owned={"a": [("u", 0)]})]
    >>> many = together(some)
    >>> many.members, many.topics, many.topic_start.tolist(), many.owner.tolist()
    (('a', 'a'), ('t', 'u'), [0, 2, 3], [-1, -1, 1])
    >>> many.member_start.tolist(), many.partition_start.tolist(), many.subscription_topic.tolist()
    ([0, 1, 2], [0, 2, 3], [0, 1])
    """
    if len(groups) == 1:
        return groups[0]
    backlogs = [group.backlog for group in groups if group.backlog is not None]
    backlog = np.concatenate(backlogs) if len(backlogs) == len(groups) else None
    if (there := _whole_of(groups)) is not None:
        made = reporting(there, {})
    else:
        made = object.__new__(_Together)
        vars(made)["bounds"] = Bounds(
            members=starts_of([len(group.members) for group in groups]),
            topics=starts_of([len(group.topics) for group in groups]),
        )
    vars(made).update(parts=tuple(groups), backlog=backlog)
    return made


def _whole_of(groups: Sequence[GroupSpec]) -> GroupSpec | None:
    """What some groups are parts of (`part_of`), in their order there and nothing changed since; None otherwise."""
    source: GroupSpec | None = vars(groups[0]).get("source")
    if source is None:
        return None
    numbers = [vars(group).get("number", NONE) for group in groups]
    made = vars(source).get(PARTS, {})
    same = all(made.get(n) is group for n, group in zip(numbers, groups, strict=True))
    return picked(source, numbers) if same and all(a < b for a, b in pairwise(numbers)) else None


class _Together(GroupSpec):
    """Some groups as one: a field is put together when it is first asked for, since most strategies look at few."""

    parts: tuple[GroupSpec, ...]
    bounds: Bounds

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(name)
        vars(self)[name] = value = _FIELDS[name](self, name)
        return value

    def each(self, name: str) -> list[Any]:
        """A field of each group."""
        return list(map(attrgetter(name), self.parts))

    def joined(self, name: str) -> npt.NDArray[Any]:
        """Arrays behind each other."""
        return _behind(self.each(name))

    def moved(self, name: str, start: Ints) -> npt.NDArray[Any]:
        """Indices of each group, moved to where its entries begin; NONE stays."""
        each = self.each(name)
        indices = _behind(each)
        by = np.repeat(start[:-1].astype(indices.dtype), list(map(len, each)))
        moved: npt.NDArray[Any] = indices + by
        nothing = indices == NONE
        if nothing.any():
            moved[nothing] = NONE
        return moved

    def of_members(self, name: str) -> npt.NDArray[Any]:
        """Indices of members."""
        return self.moved(name, self.bounds.members)

    def of_topics(self, name: str) -> npt.NDArray[Any]:
        """Indices of topics."""
        return self.moved(name, self.bounds.topics)

    def of_racks(self, name: str) -> npt.NDArray[Any]:
        """Indices of racks."""
        if self.rack_places is None:
            return self.joined(name)
        pairs = zip(self.each(name), self.rack_places, strict=True)
        return np.concatenate([place[one] for one, place in pairs])

    @cached_property
    def rack_places(self) -> list[Indices] | None:
        """Where each rack of a group is among all, and NONE for NONE; None where all have the same."""
        place = {name: number for number, name in enumerate(self.racks)}
        each = self.each("racks")
        if set(each) == {self.racks}:
            return None
        return [np.array([*map(place.get, racks), NONE], np.int32) for racks in each]

    def all_racks(self, _: str) -> tuple[str, ...]:
        """Each once, by name."""
        return tuple(sorted(set(chain.from_iterable(self.each("racks")))))

    def starts(self, name: str) -> Ints:
        """Ragged lists behind each other: what lies between two groups is no list."""
        of = {"topic_start": "topics_start", "replica_start": "partition_start"}
        cuts: Ints = getattr(self, of.get(name, "member_start"))[1:-1]
        sizes = np.diff(self.joined(name))
        inside = np.ones(len(sizes), np.bool_)  # np.delete takes four times as long
        inside[cuts + np.arange(len(cuts))] = False
        return starts_of(sizes[inside])

    def column(self, name: str) -> Column:
        """Columns behind each other."""
        return Column(self.joined(f"{name}.values"), self.joined(f"{name}.known"))

    def names(self, name: str) -> tuple[Any, ...]:
        """Tuples behind each other."""
        return tuple(chain.from_iterable(self.each(name)))

    def nothing(self, _: str) -> tuple[None, ...]:
        """None of each member."""
        return (None,) * len(self.members)


_FIELDS: dict[str, Callable[[_Together, str], Any]] = {
    **dict.fromkeys(("members", "instance_ids", "topics", "topic_ids"), _Together.names),
    "racks": _Together.all_racks,
    **dict.fromkeys(
        ("member_rack", "known_rack", "replica_rack", "leader_rack"), _Together.of_racks
    ),
    **dict.fromkeys(("topic_exists", "owned_partition", "user_data_partition"), _Together.joined),
    **dict.fromkeys(("rate", "bytes_per_record", "capacity"), _Together.joined),
    **dict.fromkeys(("topic_start", "subscription_start", "replica_start"), _Together.starts),
    **dict.fromkeys(("owned_start", "user_data_start"), _Together.starts),
    **dict.fromkeys(("subscription_topic", "owned_topic", "user_data_topic"), _Together.of_topics),
    "owner": _Together.of_members,
    **dict.fromkeys(("generation", "user_data_generation", "lag"), _Together.column),
    "user_data": _Together.nothing,
}
"""How each field is put together."""


def _behind(arrays: Sequence[Any]) -> npt.NDArray[Any]:
    """Arrays behind each other; where all are of one type in half the time of `np.concatenate`."""
    if len({one.dtype for one in arrays}) == 1:
        with suppress(TypeError):  # one is not in one piece
            return np.frombuffer(bytearray().join(arrays), arrays[0].dtype)
    return np.concatenate(arrays)
