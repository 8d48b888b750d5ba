"""
Who owns what after a group's members changed: what those who stay report, and what a strategy makes of it.

Every member has a number that holds over all stages of a story, so that owners before and after a change compare.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from ..assignors.interface import GroupSpec, fresh, rejoining
from ..assignors.interface.group import learn, reporting
from ..assignors.kit.settle import settle
from ..model.arrays import NONE, Column, Flags, Indices, Ints
from ..model.assignments import Assignment

Assign = Callable[[GroupSpec], Assignment]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """
    A group after a change.

    Attributes:
        group: Its members; what they report and own is not in it yet.
        places: (members) the number of each, ascending.
        reports: (members) whether it was there before the change and tells what it owned.
    """

    group: GroupSpec
    places: Ints
    reports: Flags


def after(
    assign: Assign, stage: Stage, owner: Indices, silent: Collection[int] = frozenset()
) -> Indices:
    """
    Let a strategy settle a group after a change.

    Args:
        assign: The strategy.
        stage: The group.
        owner: (P) who owned what before, by number, NONE for nobody; what somebody had who is gone is free.
        silent: The numbers of members that report nothing although they stay.

    Returns:
        (P) who owns what then, by number.

    Raises:
        Infeasible: The strategy cannot run on this group.
    """
    if not len(stage.places):
        return np.full(len(owner), NONE, np.int32)
    local = np.full(max(int(stage.places[-1]), int(owner.max(initial=0))) + 2, NONE, np.int32)
    local[stage.places] = np.arange(len(stage.places), dtype=np.int32)
    owned = local[owner]
    generation = Column(np.ones(len(stage.places), np.int64), stage.reports)
    back = reporting(
        rejoining(stage.group, owned),
        {"owner": owned, "generation": generation, "user_data_generation": generation},
    )
    if silent:
        here = zip(stage.places.tolist(), stage.group.members, strict=True)
        back = fresh(back, {name for number, name in here if number in silent})
    answer = settle(assign, back).assignment.owner
    learn(stage.group, back)
    then: Indices = np.append(stage.places, NONE).astype(np.int32)[answer]
    return then


def moved(before: Indices, then: Indices) -> Flags:
    """(P) which partitions went from one member to another; what was or becomes unowned did not."""
    gone: Flags = (before != then) & (before != NONE) & (then != NONE)
    return gone
