"""Strategies that take many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.balanced import search
from evenkeel.engine.assignors.balanced.criteria import answered_all
from evenkeel.engine.assignors.interface import (
    Answer,
    GroupSpec,
    part_of,
    picked,
    rejoining,
    together,
)
from evenkeel.engine.assignors.interface.rejoin import telling
from evenkeel.engine.assignors.kit.kernels import ENDLESS, held_to
from evenkeel.engine.assignors.kit.settle import settle, settle_many
from evenkeel.engine.assignors.promises import sketches
from evenkeel.engine.model.assignments import Assignment
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.model.pauses import Pauses

COOPERATIVE: Any = ASSIGNORS["cooperative-sticky"]
TAKE_MANY = [name for name, each in ASSIGNORS.items() if hasattr(each, "assign_many")]


def some_groups(seed: int, count: int) -> list[GroupSpec]:
    """Groups of all kinds, every other one with what range gave it, every third told its backlog and its pauses."""
    groups = [sketch.spec() for sketch in sketches(count, seed=seed)]
    for number, group in enumerate(groups):
        if number % 2:
            owner = ASSIGNORS["range"].assign(group).owner
            groups[number] = rejoining(replace(group, owner=owner), owner)
        if number % 3 == 0:
            backlog = np.arange(group.partition_count) % (1 + number % 4) * 1000.0
            pauses = Pauses(eager=number % 2 > 0, restart_seconds=number)
            groups[number] = replace(groups[number], backlog=backlog, pauses=pauses)
    return groups


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
    for seed in range(3):
        groups = some_groups(seed, 30)
        found = strategy.assign_many(together(groups)).apart(together(groups))
        for group, alone, among in zip(groups, one_by_one(strategy, groups), found, strict=True):
            assert said(among) == said(alone), group
            if isinstance(among, Assignment):
                assert among.owner.dtype == np.int32


def settled_alone(group: GroupSpec, most_rounds: int) -> Any:
    """How cooperative-sticky settles a group by itself."""
    try:
        found = settle(COOPERATIVE.assign, group, most_rounds=most_rounds)
    except Infeasible as problem:
        return said(problem)
    return said(found.assignment), found.rounds, found.waited


@pytest.mark.parametrize("most_rounds", [1, 2, 10])
def test_many_groups_settle_as_each_alone(most_rounds: int) -> None:
    """Broken pasts, no answer, done before others or never: each group ends as by itself."""
    for seed in range(2):
        groups = some_groups(seed, 30)
        many = together(groups)
        settled = settle_many(COOPERATIVE.assign_many, many, most_rounds=most_rounds)
        ends = zip(
            settled.answers.apart(many),
            settled.rounds.tolist(),
            settled.waited.tolist(),
            strict=True,
        )
        for group, (answer, rounds, waited) in zip(groups, ends, strict=True):
            told = said(answer)
            found = told if isinstance(answer, Infeasible) else (told, rounds, waited)
            assert found == settled_alone(group, most_rounds), group


def test_some_groups_of_many_are_what_they_were() -> None:
    """Every field of a group picked out of many is as in the group itself, but for racks, and what `each` has."""
    groups = some_groups(3, 12)
    for number in (0, 5, 11):
        one, again = groups[number], picked(together(groups), [number])
        for each in fields(GroupSpec):
            if each.name in {"racks", "member_rack", "known_rack", "leader_rack", "replica_rack"}:
                continue
            before, after = getattr(one, each.name), getattr(again, each.name)
            same = (
                np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
                if isinstance(before, np.ndarray)
                else before == after
            )
            assert same or each.name in {"user_data", "config", "backlog", "pauses"}, each.name


def test_parts_put_together_are_what_they_were_taken_from() -> None:
    """Backlogs that all groups tell are those of the parts; a part that was changed is not taken for the old one."""
    backlogs = [np.arange(group.partition_count) * 1.0 for group in some_groups(5, 8)]
    groups = [replace(g, backlog=b) for g, b in zip(some_groups(5, 8), backlogs, strict=True)]
    whole = together(groups)
    parts = [part_of(whole, number, backlog=backlogs[number]) for number in (1, 2, 5)]
    again, picks = together(parts), picked(whole, [1, 2, 5])
    assert again.members == picks.members
    for name in ("owner", "topic_start", "subscription_topic", "replica_rack", "backlog"):
        np.testing.assert_array_equal(getattr(again, name), getattr(picks, name))
    silent = [telling(part, np.zeros(len(part.members), np.bool_)) for part in parts]
    assert len(together(silent).owned_topic) == 0 < len(again.owned_topic)


def test_balanced_goes_on_with_the_group_at_which_it_was_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When compiled code would pay by now, the groups before are not answered again, and none is answered otherwise."""
    many, balanced = together(some_groups(7, 30)), ASSIGNORS["balanced"]
    begun = list[int]()

    def run(*given: Any) -> tuple[int, int]:
        begun.append(given[4])
        found: tuple[int, int] = answered_all(*given)
        return found

    with held_to(compiled=False):
        expected = balanced.assign_many(many).apart(many)
        patience = chain([5_000, 5_000], repeat(ENDLESS))
        monkeypatch.setattr(search, "steps_until_compiled", lambda *_: next(patience))
        monkeypatch.setattr(search, "at_work", lambda *_: run)
        monkeypatch.setattr(search, "answered_all", run)
        found = balanced.assign_many(many).apart(many)
    assert 0 < begun[1] < begun[2]
    assert [said(one) for one in found] == [said(one) for one in expected]
