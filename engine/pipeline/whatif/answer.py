"""All that there is to say of a group after changes, side by side with the group as it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ...assignors import every
from ...config import Settings
from ...followers.plan import Plan
from ...model.assignments import Deployment, Feasibility
from ...model.facts import Fact
from ..member_data import takes_user_data
from .assumptions import assumptions
from .changed_group import SeenGroup, Supposed, suppose
from .changes import Change
from .outcome import WhatIfOutcome, outcomes, today
from .plan_followers import following_of
from .sizes import BUDGET, BUDGET_OF_PLANS, Sizes, sizes_of


@dataclass(frozen=True, kw_only=True, eq=False)
class WhatIfAnswer:
    """
    What would become of a group.

    Attributes:
        supposed: The group after the changes.
        today: The group as it is.
        outcomes: One per strategy, the one that it runs first.
        sizes: How many members a strategy needs, by its name; not of every strategy.
        assumed: What was assumed.
    """

    supposed: Supposed
    today: WhatIfOutcome
    outcomes: tuple[WhatIfOutcome, ...]
    sizes: dict[str, Sizes]
    assumed: tuple[Fact, ...]


def answer(
    settings: Settings,
    seen: SeenGroup,
    changes: tuple[Change, ...],
    named: Collection[str] = (),
    plan: Plan | None = None,
) -> WhatIfAnswer:
    """
    What would become of a group.

    Args:
        settings: The configuration.
        seen: The group as it is, measured and not blocked; it assigns partitions.
        changes: What is different.
        named: Names of the strategies that are asked; none: those that it could run, and those that follow a plan.
        plan: What a group that follows plans follows; None: what its members own now.
    """
    supposed = suppose(seen, changes)
    following = following_of(seen.group, plan)
    found = outcomes(settings, supposed, named or None, following)
    could = (Feasibility.CAN_RUN, Feasibility.COULD_RUN)
    chosen = tuple(
        outcome
        for outcome in found
        if named
        or outcome.candidate.feasibility in could
        or (outcome.candidate.deployment is Deployment.PLAN and outcome.candidate.assignment)
    )
    # a search for the best of all takes too long to be asked about other numbers of members
    quick = (Deployment.SETTING, Deployment.CLASS)
    known = every() if following is None else {**every(), following.name: following}
    strategies = {one.candidate.strategy: known[one.candidate.strategy] for one in chosen}
    return WhatIfAnswer(
        supposed=supposed,
        today=today(settings, seen),
        outcomes=chosen,
        sizes={
            name: sizes_of(
                settings,
                seen,
                changes,
                strategies[name],
                BUDGET_OF_PLANS if strategies[name] is following else BUDGET,
            )
            for name in (
                outcome.candidate.strategy
                for outcome in chosen
                if outcome.candidate.deployment in quick and outcome.candidate.assignment
            )
            if not takes_user_data(strategies[name])
        },
        assumed=assumptions(supposed, changes, chosen, following),
    )
