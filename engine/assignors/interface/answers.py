"""What a strategy has for each of many groups, in the same arrays and apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Indices, Ints, starts_of
from ...model.assignments import Assignment
from ...model.errors import Infeasible
from .group import GroupSpec

Answer = Assignment | Infeasible
"""What a strategy has for a group: an assignment, or why there is none."""


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

        >>> from evenkeel.engine.assignors.interface import spec, together
        >>> many = together([spec({"a": ["t"]}, {"t": 2}), spec({"b": ["u"]}, {"u": 1})])
        >>> answers = Answers(assignment=Assignment(owner=np.array([0, -1, 1])))
        >>> [each.owner.tolist() for each in answers.apart(many)]
        [[0, -1], [0]]
        """
        parts: list[Answer] = [*_apart(groups, self.assignment)]
        others: dict[int, Answer] = {**self.own, **self.problems}
        for number, answer in others.items():
            parts[number] = answer
        return parts


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
    start, order = groups.partition_start, assignment.order
    shift = np.repeat(groups.member_start[:-1].astype(np.int32), np.diff(start))
    found: dict[str, tuple[npt.NDArray[Any], Ints]] = {}
    for name in ("owner", "transferring"):
        given: Indices | None = getattr(assignment, name)
        if given is not None:
            found[name] = np.maximum(given - shift, NONE), start  # NONE stays
    if order is not None:
        cuts = start
        if len(order) < groups.partition_count:
            cuts = starts_of(np.bincount(groups.group_of[order], minlength=groups.group_count))
        found["order"] = order - np.repeat(start[:-1], np.diff(cuts)), cuts
    # a third of what it takes to construct them
    parts = [object.__new__(Assignment) for _ in range(groups.group_count)]
    fields = list(map(vars, parts))
    for name, (values, cuts) in found.items():
        for own, first, last in zip(fields, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            own[name] = values[first:last]
    return parts
