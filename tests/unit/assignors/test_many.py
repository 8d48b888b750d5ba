"""Strategies that take many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import Answer, GroupSpec, rejoining, together
from evenkeel.engine.assignors.promises import sketches
from evenkeel.engine.model.assignments import Assignment
from evenkeel.engine.model.errors import Infeasible

TAKE_MANY = [name for name, each in ASSIGNORS.items() if hasattr(each, "assign_many")]


def some_groups(seed: int, count: int) -> list[GroupSpec]:
    """Groups of all kinds, every other one as it rejoins with what range gave it."""
    groups = [sketch.spec() for sketch in sketches(count, seed=seed)]
    return [
        rejoining(group, ASSIGNORS["range"].assign(group).owner) if number % 2 else group
        for number, group in enumerate(groups)
    ]


def said(answer: Answer) -> Any:
    """All there is to an answer, comparable."""
    if isinstance(answer, Infeasible):
        return str(answer), answer.why
    raw = answer.raw_assignment
    arrays = (answer.owner, answer.order, answer.transferring)
    return (
        *(None if array is None else array.tolist() for array in arrays),
        None if raw is None else (raw.start.tolist(), raw.topic.tolist(), raw.partition.tolist()),
        answer.findings,
        answer.proof,
    )


def one_by_one(strategy: Any, groups: Sequence[GroupSpec]) -> list[Answer]:
    """The answers of a strategy that sees one group after the other."""
    answers: list[Answer] = []
    for group in groups:
        try:
            answers.append(strategy.assign(group))
        except Infeasible as problem:
            answers.append(problem)
    return answers


@pytest.mark.parametrize("name", TAKE_MANY)
def test_many_groups_at_once_have_the_answers_of_each_alone(name: str) -> None:
    """Racks, static members, unequal subscriptions, a wrong past: no group shows in the answer of another."""
    strategy: Any = ASSIGNORS[name]
    for seed in range(10):
        groups = some_groups(seed, 30)
        found = strategy.assign_many(together(groups)).apart(together(groups))
        for group, alone, among in zip(groups, one_by_one(strategy, groups), found, strict=True):
            assert said(among) == said(alone), group
            if isinstance(among, Assignment):
                assert among.owner.dtype == np.int32
