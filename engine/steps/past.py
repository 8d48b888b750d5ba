"""What changes of a group's members, as snapshots recorded them, would have moved under other strategies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evenkeel.engine.advice.past_changes import PastChanges, memberships, replayed
from evenkeel.engine.assignors import every
from evenkeel.engine.conformance.asking import NoAnswer
from evenkeel.engine.errors import Infeasible
from evenkeel.engine.model import Deployment, GroupSnapshot
from evenkeel.engine.steps.member_data import takes_user_data
from evenkeel.engine.steps.propose import assign_of


def past_changes(
    snapshots: Sequence[GroupSnapshot], strategies: Iterable[str]
) -> dict[str, PastChanges]:
    """
    By strategy; a strategy that cannot be replayed without lags or user data is left out.

    Args:
        snapshots: Of one group, oldest first.
        strategies: By our names.

    Returns:
        Nothing where no snapshot saw a change of members.
    """
    past = memberships(snapshots) if _changed(snapshots) else []
    known, by_strategy = every(), dict[str, PastChanges]()
    for strategy in (known[name] for name in strategies if past):
        if strategy.deployment is Deployment.LIVE or takes_user_data(strategy):
            continue
        try:
            changes = replayed(assign_of(strategy), past)
        except (Infeasible, NoAnswer):
            continue
        if changes.changed:
            by_strategy[strategy.name] = changes
    return by_strategy


def _changed(snapshots: Sequence[GroupSnapshot]) -> bool:
    """Whether two of them differ in their members; seldom, so nothing else is looked at before."""
    ids = {frozenset(member.id for member in each.members) for each in snapshots}
    return len(ids) > 1
