"""What strategies would make of a group after changes: assignments, moves from today, scores, forecasts, diagnoses."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from ...assignors.interface import GroupSpec
from ...config import Settings
from ...metrics.diagnosis import Diagnosed
from ...model.arrays import NONE
from ...model.assignments import Assignment, Candidate, Deployment, Move
from ...model.facts import Fact
from ..replay import replay_group
from .changed_group import SeenGroup, Supposed
from .plan_followers import Following

Lists = dict[str, list[tuple[str, int]]]
"""Member id -> (topic, partition) pairs, in the order in which a strategy gives them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WhatIfOutcome:
    """
    What a strategy would make of a group, or why there is no telling.

    Attributes:
        candidate: Its answer; the score counts moves from who has a partition today, who leaves included. Without a
            forecast where it is not known whether a member could do what it would get.
        diagnosed: What would be the matter then; None without an answer.
        lists: Who would own what, once it is settled; None without an answer.
        moves: The partitions that change hands from today, by topic and number.
        members, partitions: How many there are.
        idle: How many members own nothing; None without an answer.
    """

    candidate: Candidate
    diagnosed: Diagnosed | None
    lists: Lists | None
    moves: tuple[Move, ...]
    members: int
    partitions: int
    idle: int | None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What the diagnosis follows from."""
        return self.diagnosed.facts if self.diagnosed else ()


def today(settings: Settings, seen: SeenGroup) -> WhatIfOutcome:
    """The group as it is: its assignment, score and forecast, and what is the matter with it."""
    replayed = replay_group(settings, seen.measured_group, ask_next_change=False, live_only=True)
    [candidate] = replayed.candidates
    found = Diagnosed(diagnosis=seen.diagnosis, facts=seen.facts)
    return _outcome(replayed.spec, candidate, found, ())


def outcomes(
    settings: Settings,
    supposed: Supposed,
    only: Collection[str] | None = None,
    following: Following | None = None,
) -> list[WhatIfOutcome]:
    """
    One per strategy, the one that the group runs first; of a group that follows a plan that is its plan.

    Args:
        settings: The configuration.
        supposed: The group after changes.
        only: Names of the strategies that are asked; None: all but the assignment it has.
        following: What the group follows, where it follows plans.
    """
    replayed = replay_group(
        settings,
        supposed.measured_group,
        ask_next_change=False,
        only=only,
        coming=supposed.layout.coming,
        also=() if following is None else (following,),
        priced=False,
    )
    strategies = [one for one in replayed.candidates if one.deployment is not Deployment.LIVE]
    if following is not None:
        # the strategy that made the plan would make another one; what runs is the plan
        strategies = [replace(one, is_running=one.strategy == following.name) for one in strategies]
    strategies.sort(key=lambda one: not one.is_running)
    return [_of(replayed.spec, candidate, supposed) for candidate in strategies]


def _of(spec: GroupSpec, candidate: Candidate, supposed: Supposed) -> WhatIfOutcome:
    assignment, score = candidate.assignment, candidate.score
    if assignment is None or score is None:
        return _outcome(spec, candidate, None, ())
    owners, forecast = supposed.owners(assignment.owner), candidate.forecast
    # nothing is forecast that has to guess what members can do
    if supposed.condition.doubtful(owners).any():
        forecast = None
    # what was somebody's who leaves changes hands as well
    was = supposed.owned_today
    gone = (supposed.layout.renumbered(was) == NONE) & (was != NONE)
    left = int((gone & (assignment.owner != NONE)).sum())
    score = replace(score, moves=score.moves + left, newly_owned=score.newly_owned - left)
    return _outcome(
        spec,
        replace(candidate, score=score, forecast=forecast),
        supposed.condition.diagnosed(owners),
        _moves(spec, assignment, supposed),
    )


def _outcome(
    spec: GroupSpec, candidate: Candidate, diagnosed: Diagnosed | None, moves: tuple[Move, ...]
) -> WhatIfOutcome:
    assignment = candidate.assignment
    return WhatIfOutcome(
        candidate=candidate,
        diagnosed=diagnosed,
        lists=None if assignment is None else spec.lists(assignment),
        moves=moves,
        members=len(spec.members),
        partitions=spec.partition_count,
        idle=None if assignment is None else len(spec.members) - busy(assignment),
    )


def busy(assignment: Assignment) -> int:
    """How many members own something."""
    return len(np.unique(assignment.owner[assignment.owner != NONE]))


def _moves(spec: GroupSpec, assignment: Assignment, supposed: Supposed) -> tuple[Move, ...]:
    before = [*(member.id for member in supposed.seen.group.members), None]
    after = [*spec.members, None]
    was, then = supposed.owned_today, assignment.owner
    same = (supposed.layout.renumbered(was) == then) & ((was == NONE) | (then != NONE))
    changed = spec.by_name[~same[spec.by_name]]
    return tuple(
        Move(
            topic=spec.topics[topic],
            partition=number,
            from_member=before[old],
            to_member=after[new],
        )
        for topic, number, old, new in zip(
            *(column[changed].tolist() for column in (spec.topic_of, spec.number_of, was, then)),
            strict=True,
        )
    )
