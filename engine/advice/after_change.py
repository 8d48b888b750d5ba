"""
Who owns what after the members of groups changed: what those who stay report, and what a strategy makes of it.

Every member has a number that holds over all stages of a story, so that owners before and after a change compare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..assignors.interface import Answers, GroupSpec, rejoining
from ..assignors.interface.group import learn, reporting
from ..assignors.interface.rejoin import telling
from ..assignors.kit.settle import settle_many
from ..model.arrays import NONE, Column, Flags, Indices, Ints
from ..model.errors import Infeasible

Assign = Callable[[GroupSpec], Answers]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """
    Groups after a change.

    Attributes:
        group: Their members; what they report and own is not in it yet.
        places: (members) the number of each.
        reports: (members) whether it was there before the change and tells what it owned.
    """

    group: GroupSpec
    places: Ints
    reports: Flags


def after(
    assign: Assign,
    stage: Stage,
    owner: Indices,
    silent: Ints | None = None,
) -> tuple[Indices, Mapping[int, Infeasible]]:
    """
    Let a strategy settle groups after a change.

    Args:
        assign: The strategy.
        stage: The groups.
        owner: (P) who owned what before, by number, NONE for nobody; what somebody had who is gone is free.
        silent: The numbers of members that report nothing although they stay.

    Returns:
        (P) who owns what then, by number, and why the strategy cannot run on a group, by its number; a group without
        members just owns nothing.
    """
    group, places = stage.group, stage.places
    if not len(places):
        return np.full(len(owner), NONE, np.int32), {}
    local = np.full(max(int(places.max(initial=0)), int(owner.max(initial=0))) + 2, NONE, np.int32)
    local[places] = np.arange(len(places), dtype=np.int32)
    owned = local[owner]
    reports = stage.reports
    generation = Column(np.ones(len(places), np.int64), reports)
    back = reporting(
        rejoining(group, owned),
        {"owner": owned, "generation": generation, "user_data_generation": generation},
    )
    if silent is not None and len(silent):
        back = telling(back, ~np.isin(places, silent))
    settled = settle_many(assign, back)
    learn(group, back)
    then: Indices = np.append(places, NONE).astype(np.int32)[settled.answers.owners(back)]
    people = np.diff(group.member_start)
    problems = settled.answers.problems
    return then, {number: why for number, why in problems.items() if people[number]}


def moved(before: Indices, then: Indices) -> Flags:
    """(P) which partitions went from one member to another; what was or becomes unowned did not."""
    gone: Flags = (before != then) & (before != NONE) & (then != NONE)
    return gone
