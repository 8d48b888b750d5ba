"""
Follow groups through their rounds until nothing waits to be revoked.

A cooperative strategy withholds what its present owner must give up first. The members then rejoin owning what they
kept and what they were given, and a second round hands out the rest; usually that is all. A strategy that withholds
nothing has settled after one round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ...model.arrays import NONE, Ints, starts_of
from ...model.assignments import Assignment, Lists
from ...model.errors import Infeasible
from ...model.text import does
from ..interface import Answers, GroupSpec, picked, put, rejoining
from ..interface.group import reporting
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SettledMany:
    """
    What many groups have in the end, and what it took.

    Attributes:
        answers: Each group's last; a problem where partitions still wait after it.
        rounds: (G) as in `Settled`.
        waited: (G) as in `Settled`.
    """

    answers: Answers
    rounds: Ints
    waited: Ints


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

    def answers(group: GroupSpec) -> Answers:
        answer = assign(group)
        return Answers(assignment=answer, own={0: answer})

    settled = settle_many(answers, group, most_rounds=most_rounds)
    return Settled(
        assignment=settled.answers.one(),
        rounds=int(settled.rounds[0]),
        waited=int(settled.waited[0]),
    )


def settle_many(
    assign_many: Callable[[GroupSpec], Answers],
    groups: GroupSpec,
    *,
    most_rounds: int = MOST_ROUNDS,
) -> SettledMany:
    """
    The same of many groups at once; those in which nothing waits are asked no more.

    Args:
        assign_many: The strategy, as in `Assignor`.
        groups: The groups as they join the first round.
        most_rounds: How many rounds to follow them, at least 1.
    """
    answers = latest = assign_many(groups)
    waited = waiting = _waiting(groups, answers)
    rounds, numbers, asked = np.ones_like(waiting), np.arange(len(waiting)), groups
    for _ in range(1, most_rounds):
        if not waiting.any():
            break
        on = np.flatnonzero(waiting)
        asked, numbers = picked(_rejoined(asked, latest), on), numbers[on]
        latest = assign_many(asked)
        answers, waiting = put(groups, answers, numbers, latest), _waiting(asked, latest)
        rounds[numbers] += 1
    if waiting.any():
        on = np.flatnonzero(waiting)
        answers = put(
            groups, answers, numbers[on], _waits(picked(asked, on), waiting[on], most_rounds)
        )
    return SettledMany(answers=answers, rounds=rounds, waited=waited)


def _waits(groups: GroupSpec, waiting: Ints, rounds: int) -> Answers:
    """No answer for any of the groups, in which so many partitions still wait."""
    waits = [does(count, "partition", "still waits", "still wait") for count in waiting.tolist()]
    nobody = np.full(groups.partition_count, NONE, np.int32)
    return Answers(
        assignment=Assignment(owner=nobody, order=np.zeros(0, np.int64)),
        problems={
            number: Infeasible(
                f"after {rounds} rounds {wait} to be revoked.",
                fix="Look at a single round, or at a strategy that withholds nothing.",
            )
            for number, wait in enumerate(waits)
        },
    )


def _waiting(groups: GroupSpec, answers: Answers) -> Ints:
    """(G) how many partitions wait to be given up."""
    waiting = np.zeros(groups.group_count, np.int64)
    if answers.assignment.transferring is not None:
        withheld = groups.group_of[answers.assignment.transferring != NONE]
        waiting += np.bincount(withheld, minlength=len(waiting))
    for number, answer in answers.own.items():
        to = answer.transferring
        waiting[number] = 0 if to is None else (to != NONE).sum()
    return waiting


def _rejoined(groups: GroupSpec, answers: Answers) -> GroupSpec:
    """The groups as their members rejoin after a round: owning exactly what they were sent, one generation on."""
    of_member = groups.group_of_member
    newest = np.zeros(groups.group_count, np.int64)
    for reported in (groups.generation, groups.user_data_generation):
        np.maximum.at(newest, of_member, reported.filled(0))
    owner = answers.owners(groups)
    raw = {n: a.raw_assignment for n, a in answers.own.items() if a.raw_assignment is not None}
    for number in raw:
        owner[slice(*groups.partition_start[number : number + 2].tolist())] = NONE
    again = rejoining(groups, owner, 1 + newest[of_member])
    return _sent(again, raw) if raw else again


def _sent(groups: GroupSpec, raw: Mapping[int, Lists]) -> GroupSpec:
    """The groups where members of some, which report nothing, report what lists have instead."""
    member = [np.arange(len(groups.members)).repeat(np.diff(groups.owned_start))]
    topic, partition = [groups.owned_topic], [groups.owned_partition]
    for number, lists in raw.items():
        first, last = groups.member_start[number : number + 2].tolist()
        member.append(np.arange(first, last).repeat(np.diff(lists.start)))
        topic.append((lists.topic + groups.topics_start[number]).astype(np.int32))
        partition.append(lists.partition)
    members, topics, partitions = (np.concatenate(parts) for parts in (member, topic, partition))
    order = np.lexsort((partitions, places(topics_by_name(groups))[topics], members))
    start = starts_of(np.bincount(members, minlength=len(groups.members)))
    return reporting(
        groups,
        {
            "owned_start": start,
            "owned_topic": topics[order],
            "owned_partition": partitions[order],
            "user_data_start": start,
            "user_data_topic": topics[order],
            "user_data_partition": partitions[order],
        },
    )
