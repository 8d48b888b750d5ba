"""
Many groups as one: their members, topics and partitions behind each other in the same arrays, and their answers apart.

A strategy that works in whole arrays takes as many calls for a thousand small groups as for one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Column, Indices, Ints, starts_of
from ...model.assignments import Assignment
from ...model.errors import Infeasible
from .group import Bounds, GroupSpec

Answer = Assignment | Infeasible
"""What a strategy has for a group: an assignment, or why there is none."""


def together(groups: Sequence[GroupSpec]) -> GroupSpec:
    """
    Some groups as one, at least one of them; what only custom strategies look at is left out.

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
    members = starts_of([len(group.members) for group in groups])
    topics = starts_of([len(group.topics) for group in groups])
    racks = tuple(sorted({rack for group in groups for rack in group.racks}))
    places = [_places(group.racks, racks) for group in groups]
    same_racks = all(place is None for place in places)

    def parts(name: str) -> list[Any]:
        return list(map(attrgetter(name), groups))

    def joined(name: str) -> npt.NDArray[Any]:
        return np.concatenate(parts(name))

    def shifted(name: str, start: Ints) -> npt.NDArray[Any]:
        """Indices of each group, moved to where its entries begin; NONE stays."""
        each = parts(name)
        return _moved(np.concatenate(each), np.repeat(start[:-1], list(map(len, each))))

    def renamed(name: str) -> Indices:
        if same_racks:
            return joined(name)
        each = zip(parts(name), places, strict=True)
        return np.concatenate([one if place is None else place[one] for one, place in each])

    def starts(name: str) -> Ints:
        """Ragged lists behind each other: what lies between two groups is no list."""
        each = parts(name)
        ends = starts_of(list(map(len, each)))[1:-1] - 1
        return starts_of(np.delete(np.diff(np.concatenate(each)), ends))

    def columns(name: str) -> Column:
        return Column(joined(f"{name}.values"), joined(f"{name}.known"))

    def names(name: str) -> tuple[Any, ...]:
        return tuple(chain.from_iterable(parts(name)))

    backlogs = [group.backlog for group in groups if group.backlog is not None]
    return GroupSpec(
        members=names("members"),
        instance_ids=names("instance_ids"),
        racks=racks,
        member_rack=renamed("member_rack"),
        known_rack=renamed("known_rack"),
        topics=names("topics"),
        topic_ids=names("topic_ids"),
        topic_exists=joined("topic_exists"),
        topic_start=starts("topic_start"),
        subscription_start=starts("subscription_start"),
        subscription_topic=shifted("subscription_topic", topics),
        replica_start=starts("replica_start"),
        replica_rack=renamed("replica_rack"),
        leader_rack=renamed("leader_rack"),
        owner=shifted("owner", members),
        owned_start=starts("owned_start"),
        owned_topic=shifted("owned_topic", topics),
        owned_partition=joined("owned_partition"),
        generation=columns("generation"),
        user_data_start=starts("user_data_start"),
        user_data_topic=shifted("user_data_topic", topics),
        user_data_partition=joined("user_data_partition"),
        user_data_generation=columns("user_data_generation"),
        user_data=(None,) * int(members[-1]),
        lag=columns("lag"),
        rate=joined("rate"),
        bytes_per_record=joined("bytes_per_record"),
        capacity=joined("capacity"),
        backlog=np.concatenate(backlogs) if len(backlogs) == len(groups) else None,
        bounds=Bounds(members=members, topics=topics),
    )


def _places(racks: Sequence[str], names: Sequence[str]) -> Indices | None:
    """Where each rack of a group is among *names*, and NONE for NONE; None where they are the same."""
    if tuple(racks) == tuple(names):
        return None
    place = {name: number for number, name in enumerate(names)}
    return np.array([*(place[rack] for rack in racks), NONE], np.int32)


def _moved(indices: npt.NDArray[Any], by: Ints) -> npt.NDArray[Any]:
    return np.where(indices == NONE, indices, indices + by.astype(indices.dtype))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """
    What a strategy has for each of many groups.

    Attributes:
        assignment: Of all of them at once, without findings, proof and raw lists; an order goes group after group.
            A group that has no answer, or one of its own, has no owners in it.
        problems: Why a group has no answer, by its number.
        own: The answer of a group that needs more than arrays to say it, by its number: its members count from 0.
    """

    assignment: Assignment
    problems: Mapping[int, Infeasible] = field(default_factory=dict)
    own: Mapping[int, Assignment] = field(default_factory=dict)

    def one(self) -> Assignment:
        """
        The answer of the only group.

        Raises:
            Infeasible: It has none.
        """
        if self.problems:
            raise self.problems[0]
        return self.own.get(0, self.assignment)

    def owners(self, groups: GroupSpec) -> Indices:
        """(P) who owns each partition of all groups, NONE for nobody; a group without an answer has no owners."""
        if not self.own:
            return self.assignment.owner
        owner = self.assignment.owner.copy()
        for number, answer in self.own.items():
            span = slice(*groups.partition_start[number : number + 2].tolist())
            shift = int(groups.member_start[number])
            owner[span] = np.where(answer.owner == NONE, NONE, answer.owner + shift)
        return owner

    def apart(self, groups: GroupSpec) -> list[Answer]:
        """
        The answer of each group, its members counted from 0.

        >>> from evenkeel.engine.assignors.interface import spec
        >>> many = together([spec({"a": ["t"]}, {"t": 2}), spec({"b": ["u"]}, {"u": 1})])
        >>> answers = Answers(assignment=Assignment(owner=np.array([0, -1, 1])))
        >>> [each.owner.tolist() for each in answers.apart(many)]
        [[0, -1], [0]]
        """
        parts = _apart(groups, self.assignment)
        return [
            self.problems.get(number) or self.own.get(number, part)
            for number, part in enumerate(parts)
        ]


def answering(assign: Callable[[GroupSpec], Assignment]) -> Callable[[GroupSpec], Answers]:
    """A strategy that sees one group, asked as one that takes many."""

    def answers(groups: GroupSpec) -> Answers:
        nobody = Assignment(owner=np.full(groups.partition_count, NONE, np.int32))
        try:
            return Answers(assignment=nobody, own={0: assign(groups)})
        except Infeasible as problem:
            return Answers(assignment=nobody, problems={0: problem})

    return answers


def _apart(groups: GroupSpec, assignment: Assignment) -> list[Assignment]:
    if groups.group_count == 1:
        return [assignment]
    spans = [slice(a, b) for a, b in pairwise(groups.partition_start.tolist())]
    shift = groups.member_start[groups.group_of]

    def owners(given: Indices) -> list[Indices]:
        local = np.where(given == NONE, NONE, given - shift).astype(np.int32)
        return [local[span] for span in spans]

    nothing: list[None] = [None] * len(spans)
    orders: Sequence[Ints | None] = nothing
    if assignment.order is not None:
        of_group = groups.group_of[assignment.order]
        local = assignment.order - groups.partition_start[of_group]
        cuts = starts_of(np.bincount(of_group, minlength=len(spans)))
        orders = [local[a:b] for a, b in pairwise(cuts.tolist())]
    given = assignment.transferring
    transferring = nothing if given is None else owners(given)
    return [
        Assignment(owner=owner, order=order, transferring=waits)
        for owner, order, waits in zip(owners(assignment.owner), orders, transferring, strict=True)
    ]
