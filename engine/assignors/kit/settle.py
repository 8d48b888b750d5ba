"""
Follow a group through its rounds until nothing waits to be revoked.

A cooperative strategy withholds what its present owner must give up first. The members then rejoin owning what they
kept and what they were given, and a second round hands out the rest; usually that is all. A strategy that withholds
nothing has settled after one round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...model.arrays import NONE, Ints
from ...model.assignments import Assignment
from ...model.errors import Infeasible
from ...model.text import does
from ..interface import Answers, GroupSpec, picked, rejoining
from .members import topics_by_name
from .orders import places

MOST_ROUNDS = 10
"""Kafka's cooperative-sticky is done after two as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """
    What a group has in the end, and what it took.

    Attributes:
        assignment: The last round's answer; nothing in it is transferring.
        rounds: Number of rebalances, at least 1.
        waited: Number of partitions nobody owned after the first round because they had to be given up first.
    """

    assignment: Assignment
    rounds: int
    waited: int


def settle(
    assign: Callable[[GroupSpec], Assignment], group: GroupSpec, *, most_rounds: int = MOST_ROUNDS
) -> Settled:
    """
    Ask a strategy again and again, as its members would rejoin, until nothing is transferring.

    Args:
        assign: The strategy.
        group: The group as it joins the first round.
        most_rounds: How many rounds to follow it, at least 1.

    Raises:
        Infeasible: The strategy cannot run on this group, or partitions still wait after the last round.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2})
    >>> first = Assignment(owner=np.array([0, NONE]), transferring=np.array([NONE, 1]))
    >>> after = lambda group: first if len(group.owned_topic) == 0 else Assignment(owner=np.array([0, 1]))
    >>> settled = settle(after, group)
    >>> settled.assignment.owner.tolist(), settled.rounds, settled.waited
    ([0, 1], 2, 1)
    """
    waited = waiting = 0
    for round_number in range(1, most_rounds + 1):
        answer = assign(group)
        withheld = answer.transferring
        waiting = 0 if withheld is None else int((withheld != NONE).sum())
        if round_number == 1:
            waited = waiting
        if not waiting:
            return Settled(assignment=answer, rounds=round_number, waited=waited)
        group = _rejoined(group, answer)
    wait = does(waiting, "partition", "still waits", "still wait")
    raise Infeasible(
        f"after {most_rounds} rounds {wait} to be revoked.",
        fix="Look at a single round, or at a strategy that withholds nothing.",
    )


def _rejoined(group: GroupSpec, answer: Assignment) -> GroupSpec:
    """The group as its members rejoin after a round: owning exactly what they were sent, one generation on."""
    newest = (group.generation.max(), group.user_data_generation.max())
    generation = 1 + max([0, *(g for g in newest if g is not None)])
    again = rejoining(group, answer.owner, generation)
    if answer.raw_assignment is None:
        return again
    lists = answer.raw_assignment
    member = np.repeat(np.arange(len(group.members)), np.diff(lists.start))
    order = np.lexsort((lists.partition, places(topics_by_name(group))[lists.topic], member))
    topic, partition = lists.topic[order], lists.partition[order]
    return replace(
        again,
        owned_start=lists.start,
        owned_topic=topic,
        owned_partition=partition,
        user_data_start=lists.start,
        user_data_topic=topic,
        user_data_partition=partition,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SettledMany:
    """
    What many groups have in the end, and what it took.

    Attributes:
        answers: Of the last round of each; nothing in them is transferring.
        rounds: (G) number of rebalances, at least 1.
        waited: (G) number of partitions nobody owned after the first round because they had to be given up first.
    """

    answers: Answers
    rounds: Ints
    waited: Ints


def settle_many(
    assign: Callable[[GroupSpec], Answers], groups: GroupSpec, *, most_rounds: int = MOST_ROUNDS
) -> SettledMany:
    """As `settle`, for many groups; one that cannot be settled is a problem of the answers."""
    first = assign(groups)
    rounds, waited = np.ones(groups.group_count, np.int64), np.zeros(groups.group_count, np.int64)
    own, problems = dict(first.own), dict(first.problems)
    waits = set[int]()
    if first.assignment.transferring is not None:
        waiting = first.assignment.transferring != NONE
        waits = set(groups.group_of[waiting].tolist())
    waits |= {
        number
        for number, answer in own.items()
        if answer.transferring is not None and bool((answer.transferring != NONE).any())
    }
    for number in waits:
        one = picked(groups, np.array([number]))
        try:
            settled = settle(lambda group: assign(group).one(), one, most_rounds=most_rounds)
        except Infeasible as problem:
            problems[number] = problem
            own.pop(number, None)
            continue
        own[number] = settled.assignment
        rounds[number], waited[number] = settled.rounds, settled.waited
    answers = Answers(
        assignment=replace(first.assignment, transferring=None), own=own, problems=problems
    )
    return SettledMany(answers=answers, rounds=rounds, waited=waited)
