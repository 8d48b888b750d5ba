"""What changes of a group's members, as snapshots recorded them, would have moved under other strategies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..advice import Feasibilities, FeasibilityJudgment
from ..advice.past_changes import PastChanges, memberships, replayed
from ..assignors import by_name, every, takes_user_data
from ..assignors.promises.ask import NoAnswer
from ..config import Rule
from ..model.assignments import ABLE, Deployment, Feasibility
from ..model.batch import GroupBatch
from ..model.errors import Infeasible
from ..model.groups import GroupSnapshot
from ..records import MembershipChange, StrategyMoves
from .member_data import answers_of


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
    # members change seldom, so nothing else is looked at before
    ids = {frozenset(member.id for member in each.members) for each in snapshots}
    past = memberships(snapshots) if len(ids) > 1 else []
    by_strategy = dict[str, PastChanges]()
    for strategy in (by_name(name) for name in strategies if past):
        if strategy.deployment is Deployment.LIVE or takes_user_data(strategy):
            continue
        try:
            changes = replayed(answers_of(strategy), past)
        except (Infeasible, NoAnswer):
            continue
        if changes.changed:
            by_strategy[strategy.name] = changes
    return by_strategy


UNCHANGED = MembershipChange(
    members_joined=0, members_left=0, members_restarted=0, partitions_moved=0
)


def membership_change(
    batch: GroupBatch, number: int, earlier: Sequence[GroupBatch], rule: Rule
) -> MembershipChange | None:
    """
    What became of the members of a group since the snapshot before in which it was at rest, and what it moved.

    Args:
        batch: A snapshot's groups.
        number: The number of the group in it.
        earlier: The snapshots before, newest first.
        rule: What the configuration knows of the group.

    Returns:
        None where it is not at rest, places tasks, or no earlier snapshot found it at rest.
    """
    if not _at_rest(batch, number):
        return None
    name = batch.headers[number].group
    for before in earlier:
        place = before.place.get(name)
        if place is None or not _at_rest(before, place):
            continue
        if _members(batch, number) == _members(before, place):
            return UNCHANGED
        return _change_of(before.groups[place], batch.groups[number], rule)
    return None


def _at_rest(batch: GroupBatch, number: int) -> bool:
    header, own = batch.headers[number], batch.members_of(number)
    return header.error is None and not header.rebalancing and own.start < own.stop


def _members(batch: GroupBatch, number: int) -> list[str]:
    return sorted(batch.members.ids[batch.members_of(number)])


def _change_of(before: GroupSnapshot, then: GroupSnapshot, rule: Rule) -> MembershipChange | None:
    feasibilities = Feasibilities(then, rule.assignors, rule.client)
    by_strategy = past_changes(
        (before, then),
        [
            each.name
            for each in every().values()
            if by_setting(feasibilities.of(each.name, each.deployment), each.deployment)
        ],
    )
    if not by_strategy:
        return None
    happened = next(iter(by_strategy.values()))
    return MembershipChange(
        members_joined=happened.joins,
        members_left=happened.leaves,
        members_restarted=happened.restarts,
        partitions_moved=happened.moved,
        would_have_moved=tuple(
            StrategyMoves(strategy=name, moves=each.would_move)
            for name, each in by_strategy.items()
        ),
    )


def by_setting(judgment: FeasibilityJudgment, deployment: Deployment) -> bool:
    """Whether a group runs a strategy by itself, not by a plan, or a setting could make it run."""
    if deployment is Deployment.SETTING:
        return judgment.feasibility in ABLE
    by_plan = judgment.deployment is Deployment.PLAN
    return judgment.feasibility is Feasibility.AVAILABLE and not by_plan
