"""All that there is to say of a group after changes, beside the group as it is, and what was assumed for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...assignors import by_name, takes_user_data
from ...config import Settings
from ...followers.plan import Plan
from ...model.arrays import NONE
from ...model.assignments import ABLE, Deployment
from ...model.facts import Fact, note
from .changed_group import SeenGroup, Supposed, SupposedLoad, suppose
from .changes import Can, Change, Grows, Joins, Leaves, Stands, usual_subscription
from .day import PastDay, sizes_for_a_day
from .lost_racks import assumed_of
from .outcome import WhatIfOutcome, outcomes, today
from .plan_followers import Following, following_of, of_following
from .sizes import BUDGET, BUDGET_OF_PLANS, Sizes


@dataclass(frozen=True, kw_only=True, eq=False)
class WhatIfAnswer:
    """
    What would become of a group.

    Attributes:
        supposed: The group after the changes.
        today: The group as it is.
        outcomes: One per strategy, the one that it runs first.
        sizes: How many members a strategy needs, by its name; not of every strategy.
        loads: What each member has, and with each of the *outcomes* would have; nothing without an answer.
        lost: What is lost with racks.
        assumed: What was assumed.
    """

    supposed: Supposed
    today: WhatIfOutcome
    outcomes: tuple[WhatIfOutcome, ...]
    sizes: dict[str, Sizes]
    loads: tuple[dict[str, SupposedLoad], ...]
    lost: tuple[Fact, ...]
    assumed: tuple[Fact, ...]


def answer(
    settings: Settings,
    seen: SeenGroup,
    changes: tuple[Change, ...],
    named: Collection[str] = (),
    plan: Plan | None = None,
    day: Callable[[], PastDay] = PastDay,
) -> WhatIfAnswer:
    """
    What would become of a group.

    Args:
        settings: The configuration.
        seen: The group as it is, measured and not blocked; it assigns partitions.
        changes: What is different.
        named: Names of the strategies that are asked; none: those that it could run, and those that follow a plan.
        plan: What a group that follows plans follows; None: what its members own now.
        day: Says what arrived in 24 hours, if that matters; nothing is known without one.
    """
    supposed = suppose(seen, changes)
    following = following_of(seen.group, plan)
    found = outcomes(settings, supposed, named or None, following)
    chosen = tuple(
        outcome
        for outcome in found
        if named
        or outcome.candidate.feasibility in ABLE
        or (outcome.candidate.deployment is Deployment.PLAN and outcome.candidate.assignment)
    )
    # a search for the best of all takes too long to be asked about other numbers of members
    quick = (Deployment.SETTING, Deployment.CLASS)
    names = [one.candidate.strategy for one in chosen]
    strategies = {
        name: following if following and name == following.name else by_name(name) for name in names
    }
    now, left = today(settings, seen), supposed.layout.left
    dead = left.names(left.dead & left.table.assignable)
    return WhatIfAnswer(
        supposed=supposed,
        today=now,
        outcomes=chosen,
        sizes={
            name: sizes_for_a_day(
                settings,
                seen,
                changes,
                strategies[name],
                BUDGET_OF_PLANS if strategies[name] is following else BUDGET,
                day,
            )
            for name in (
                outcome.candidate.strategy
                for outcome in chosen
                if strategies[outcome.candidate.strategy].deployment in quick
                and outcome.candidate.assignment
            )
            if not takes_user_data(strategies[name])
        },
        loads=tuple(
            {} if one.candidate.assignment is None else of.loads(one.candidate.assignment.owner)
            for of, one in [(suppose(seen, ()), now), *((supposed, one) for one in chosen)]
        ),
        lost=(note("partitions_dead", dead),) if dead else (),
        assumed=assumptions(supposed, changes, chosen, following),
    )


def assumptions(
    supposed: Supposed,
    changes: Sequence[Change],
    outcomes: Sequence[WhatIfOutcome],
    following: Following | None = None,
) -> tuple[Fact, ...]:
    """
    What was assumed, as notes.

    Args:
        supposed: The group after changes.
        changes: Those changes.
        outcomes: What strategies make of it.
        following: What the group follows, where it follows plans.
    """
    asked = {outcome.candidate.strategy for outcome in outcomes}
    coming = [change.member for change in changes if isinstance(change, Joins)]
    made = (
        *_of_strategies(supposed, outcomes),
        *(of_following(following, coming) if following and following.name in asked else ()),
        *_of_racks(supposed),
        *_of_leaving(supposed, changes),
        *_of_joining(supposed, changes),
        *_of_topics(supposed, changes),
        *_of_members(supposed, changes),
    )
    return (*made, note("change_at_once")) if changes else tuple(made)


def _of_strategies(supposed: Supposed, outcomes: Sequence[WhatIfOutcome]) -> Iterator[Fact]:
    """Which strategies are told what members own; and that none of them is what the group runs."""
    by_replay = defaultdict[str, list[str]](list)
    for outcome in outcomes:
        for fact in outcome.candidate.replay:
            by_replay[fact.measure].append(outcome.candidate.strategy)
    runs = supposed.group.assignor
    if runs is not None and not any(outcome.candidate.is_running for outcome in outcomes):
        yield note("runs_not_asked", [runs])
    if continuing := by_replay["next_rebalance"]:
        yield note("asked_next_rebalance", continuing)
    if afresh := by_replay["fresh_assignment"]:
        yield note("asked_afresh", afresh)


def _of_racks(supposed: Supposed) -> Iterator[Fact]:
    made, names = supposed.layout, supposed.names
    rackless = [one.id for one in made.members if not one.rack and one.id not in made.coming]
    return assumed_of(made.left, [names[member] for member in rackless])


def _of_leaving(supposed: Supposed, changes: Sequence[Change]) -> Iterator[Fact]:
    leaving = {change.member: change for change in changes if isinstance(change, Leaves)}
    members = [member for member in supposed.seen.group.members if member.id in leaving]
    picked = [supposed.names[m.id] for m in members if leaving[m.id].picked]
    named = [supposed.names[m.id] for m in members if not leaving[m.id].picked]
    static = [supposed.names[m.id] for m in members if m.is_static]
    if named:
        yield note("members_leave", named)
    if picked:
        yield note("last_members_leave", picked)
    if static:
        yield note("static_members_leave", static)


def _of_joining(supposed: Supposed, changes: Sequence[Change]) -> Iterator[Fact]:
    names = [change.member for change in changes if isinstance(change, Joins)]
    if not names:
        return
    members = supposed.seen.group.members
    topics, count = usual_subscription(members)
    yield note("members_join", names)
    yield note("members_join_subscribed", sorted(set(topics)), after=count, bound=len(members))
    peer = supposed.condition.peers_firm
    able = {change.member for change in changes if isinstance(change, Can)}
    if not able.issuperset(names):
        yield note("members_join_able", after=None if np.isnan(peer) else peer)
    placed = {change.member for change in changes if isinstance(change, Stands)}
    nowhere = [name for name in names if name not in placed]
    if nowhere and any(member.rack for member in members):
        yield note("members_join_nowhere", nowhere)


def _of_topics(supposed: Supposed, changes: Sequence[Change]) -> Iterator[Fact]:
    made, before = supposed.layout, supposed.seen.group.partitions
    for change in changes:
        if isinstance(change, Grows) and change.topic in before.topics:
            topic = before.topics.index(change.topic)
            new = int(((made.rows == NONE) & (made.topic == topic)).sum())
            if new:
                yield note("topic_grows", [change.topic], after=change.partitions, partitions=new)
    then = supposed.group.partitions
    dropped = before.subscribed & before.exists
    dropped[made.rows[made.rows != NONE]] &= ~then.subscribed[made.rows != NONE]
    if dropped.any():
        names = sorted({before.topics[topic] for topic in before.topic[dropped].tolist()})
        yield note("topics_dropped", names, partitions=int(dropped.sum()))


def _of_members(supposed: Supposed, changes: Sequence[Change]) -> Iterator[Fact]:
    names, racks = supposed.names, set(supposed.group.partitions.racks)
    stand, can = defaultdict[str, list[str]](list), defaultdict[float, list[str]](list)
    for change in changes:
        if isinstance(change, Stands):
            stand[change.rack].append(names[change.member])
        elif isinstance(change, Can):
            can[change.per_second].append(names[change.member])
    for rack, members in stand.items():
        measure = "members_stand" if rack in racks else "members_stand_alone"
        yield note(measure, [rack, *members])
    for per_second, members in can.items():
        yield note("members_can", members, after=per_second)
