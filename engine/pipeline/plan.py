"""The plan of a group: the assignment of a strategy, for members that follow plans."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from ..advice import unfit
from ..assignors import every
from ..assignors.kafka.protocol_names import BY_RACKS, SERVER_SETTING, strategy_of
from ..config import Settings
from ..followers.plan import FALLBACKS, Plan, PlannedMember, PlannedTopic, by_topic
from ..messages.wording import words
from ..model.arrays import NONE
from ..model.assignments import Assignment
from ..model.errors import Infeasible, InputError, no_strategy
from ..model.groups import GroupSnapshot
from ..model.states import GroupType
from ..snapshots.groups_with_past import BatchWithPast, GroupWithPast
from .candidate_rows import answer_of
from .propose import propose_group
from .stored_metrics import measured_at_once

SHORTEST = timedelta(minutes=1)
"""A plan that is over sooner has not reached its group by then."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """
    A plan, and what has to be known of it.

    Attributes:
        plan: The plan.
        moves: Partitions that change hands.
        newly_owned: Partitions that nobody owns now.
        shared: Identities that several members have; which of them gets what does not matter to a follower.
        dynamic: Members without instance id: known by client id and host.
    """

    plan: Plan
    moves: int
    newly_owned: int
    shared: tuple[str, ...]
    dynamic: int


def plan_group(
    settings: Settings,
    selection: GroupWithPast,
    strategy: str,
    *,
    lasts: timedelta,
    fallback: str | None = None,
    now: datetime | None = None,
) -> Planned:
    """
    The plan of a group.

    Args:
        settings: The configuration.
        selection: The group and its past.
        strategy: What the scoreboard calls it; `live` is what the group has now.
        lasts: How long it shall be followed.
        fallback: What decides of what does not fit; None: what the group runs, where every client has it.
        now: When it is made, aware.

    Raises:
        InputError: The fallback is none, or the plan would be over at once.
        Infeasible: The group cannot follow a plan, or the strategy has no answer for it.
    """
    group = selection.group
    _check(group, lasts, fallback)
    past = BatchWithPast.of(group, selection.earlier, selection.withheld)
    _, (measured,) = measured_at_once(settings, past, every=False)
    proposals = propose_group(settings, measured, ask_next_change=False)
    _, changed = answer_of(group, proposals, strategy)
    made = (now or datetime.now(UTC)).astimezone(UTC)
    spec = changed.group
    own = spec.lists(Assignment(owner=changed.owner_after))
    # what the group runs, where every client has it
    runs = strategy_of(group.type, group.assignor or "")
    usual = runs if runs in FALLBACKS else FALLBACKS[0]
    plan = Plan(
        group=group.group,
        members=tuple(
            PlannedMember(
                partitions=by_topic(own[member.id]),
                instance_id=member.instance_id,
                client_id=member.client_id,
                host=member.host.lstrip("/"),
                member_id=member.id,
            )
            for member in group.members
        ),
        made_at=made,
        valid_until=made + lasts,
        fallback=fallback or usual,
        strategy=strategy,
        cluster=group.cluster,
        snapshot_id=group.snapshot_id,
        topics={
            name: PlannedTopic(id=spec.topic_ids[topic], partitions=int(count))
            for topic, (name, count) in enumerate(
                zip(spec.topics, np.diff(spec.topic_start).tolist(), strict=True)
            )
            if spec.topic_exists[topic]
        },
    )
    taken = spec.owner[changed.partition] != NONE
    names = Counter(member.identity for member in group.members)
    return Planned(
        plan=plan,
        moves=int(taken.sum()),
        newly_owned=int((~taken).sum()),
        shared=tuple(sorted(name for name, members in names.items() if members > 1)),
        dynamic=sum(not member.is_static for member in group.members),
    )


def _check(group: GroupSnapshot, lasts: timedelta, fallback: str | None) -> None:
    if fallback is not None and fallback not in every():
        raise no_strategy(fallback, FALLBACKS, at="--fallback: ")
    if fallback is not None and fallback not in FALLBACKS:
        raise InputError(
            f"{fallback!r} cannot be a fallback: not every client has it.",
            fix=f"Choose one of: {', '.join(FALLBACKS)}.",
        )
    if lasts < SHORTEST:
        raise InputError(
            f"a plan for {lasts.total_seconds():g} s ends before its group can follow it.",
            fix="Set at least one minute.",
        )
    why = unfit(group)
    if why is not None:
        raise Infeasible(
            f"group {group.group} cannot follow a plan: {words(why)}.",
            fix="Plans are for groups of consumers of the classic protocol, whose leader follows one.",
        )
    if group.type is GroupType.CONSUMER:
        raise Infeasible(
            f"group {group.group} cannot follow a plan: its broker assigns by {group.assignor or 'something else'}.",
            fix=f"Plans are for groups of the classic protocol. {SERVER_SETTING}={BY_RACKS} on every member keeps "
            "partitions in their racks, where brokers list io.evenkeel.EvenkeelServerAssignor.",
        )
