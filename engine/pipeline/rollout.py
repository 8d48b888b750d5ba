"""Deployment of a strategy on a group: clients, rounds and delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape

import numpy as np

from ..advice import Feasibilities, runs, unfit
from ..advice.feasibility import brokers_lack, untold_racks
from ..advice.listed_protocols import lists_of
from ..advice.protocol_readiness import on_the_way, own_settings, stopping
from ..advice.rollout import (
    JVM,
    Client,
    Restart,
    Rollout,
    Round,
    clients_of,
    telling_racks,
    to_broker_tasks,
    to_client_side,
    to_plan,
    to_server_side,
    to_tasks,
)
from ..advice.scoring import Moves
from ..advice.switch_cost import instances_of, price
from ..advice.tasks import task_needs, untold_instances
from ..assignors import by_name
from ..assignors.interface import GroupSpec
from ..assignors.kafka.protocol_names import SERVER_SIDE, base_of, cooperative
from ..assignors.live import Live
from ..config import Rule, Settings, StreamsSettings
from ..followers.plan import NAME as PLAN
from ..messages.wording import words
from ..metrics.forecast import AssignmentBatch, ForecastInput, delayed_offsets
from ..model.arrays import Flags, Indices
from ..model.assignments import Deployment, Feasibility
from ..model.command import command_in_text
from ..model.coordinators import ASSIGNMENT_SETTING
from ..model.errors import Infeasible, InputError
from ..model.facts import note, reason, step
from ..model.groups import GroupSnapshot
from ..model.pauses import Pause, Standstill
from ..model.states import GroupType
from ..records import CandidateRow
from ..snapshots.groups_with_past import BatchWithPast, GroupWithPast
from ..streams.live import instance_of, running
from ..streams.settings import RackStrategy, StickyTasks, own_strategy
from .candidate_rows import answer_of
from .propose import propose_group
from .stored_metrics import MeasuredGroup, measured_at_once

BY_PLAN = (Deployment.PLAN, Deployment.BASELINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldUp:
    """
    The delay of a round.

    Attributes:
        seconds: Longest total pause of a partition.
        offsets: Number of offsets that are consumed later for it; None if rates are unknown.
    """

    seconds: float
    offsets: float | None


@dataclass(frozen=True, kw_only=True)
class Runbook:
    """
    The runbook of a strategy, including the rollback.

    Attributes:
        group: The group.
        strategy: Name of the strategy.
        rollout: The ways to deploy it.
        held: Delay of each round of each way, parallel to `rollout.ways`.
        pauses: How long the group pauses in a rebalance, and for a restart, as metrics know it.
        clients: Number of members by client library, from client ids; None if unknown.
        now, then: Candidates of the current assignment and of the strategy.
        there: Whether the group already runs the strategy.
    """

    group: GroupSnapshot
    strategy: str
    rollout: Rollout
    held: tuple[tuple[HeldUp | None, ...], ...]
    pauses: Mapping[str, Pause]
    clients: Mapping[Client | None, int]
    now: CandidateRow
    then: CandidateRow
    there: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCost:
    """
    Cost of the first way to a strategy, over all rounds, as shown by `runbook` and `advise`.

    Attributes:
        rounds: Kind of restart of each round, in order; empty if no restart is needed.
        restarts: Number of restarts of members, or of Kafka Streams instances.
        offsets: Number of delayed offsets; None if unknown.
    """

    rounds: tuple[Restart, ...]
    restarts: int
    offsets: float | None


def cost_of(
    group: GroupSnapshot,
    rollout: Rollout,
    *,
    offsets: float | None = None,
    there: bool = False,
) -> SwitchCost | None:
    """
    Cost of the first way to a strategy; None without a way.

    Args:
        group: The group.
        rollout: The ways.
        offsets: Number of delayed offsets by the candidate's forecast.
        there: Whether the group already runs the strategy, so that one restart applies its assignment.
    """
    if not rollout.ways:
        return SwitchCost(rounds=(Restart.ONE,), restarts=1, offsets=offsets) if there else None
    rounds = rollout.ways[0].rounds
    return SwitchCost(
        rounds=tuple(this.restart for this in rounds),
        restarts=sum(_restarts(group, this) for this in rounds),
        offsets=offsets,
    )


def _restarts(group: GroupSnapshot, this: Round) -> int:
    """How many members, or instances, a round restarts."""
    if this.restart is Restart.ONE:
        return 1
    return len(this.only) or instances_of(group) or len(group.members)


def rollout_of(settings: Settings, group: GroupSnapshot, strategy: str) -> Rollout:
    """
    The ways to deploy a strategy on a group.

    Raises:
        EvenkeelError: As `runbook_of`.
    """
    _check(group, strategy)
    known = clients_of(group, settings.rule(group.cluster, group.group).client)
    return _rollout(settings, group, strategy, known)


def runbook_of(settings: Settings, selection: GroupWithPast, strategy: str) -> Runbook:
    """
    The runbook of a strategy for a group.

    Raises:
        InputError: The strategy is unknown, or members cannot be configured for it.
        Infeasible: The group supports no strategy, or this one has no result for it.
    """
    group = selection.group
    _check(group, strategy)
    past = BatchWithPast.of(group, selection.earlier, selection.withheld)
    _, (measured,) = measured_at_once(settings, past)
    if strategy == Live.name:
        raise InputError(
            "live is the current assignment, it cannot be deployed.", fix="Choose another strategy."
        )
    other = strategy == StickyTasks.CLIENT and not _is_sticky(settings, group)
    supposed = _as_sticky(settings, group) if other else settings
    proposals = propose_group(supposed, measured, ask_next_change=False, named=strategy)
    # of an application there is nothing that what it has would move
    now = next(each.row for each in proposals if each.row.strategy == Live.name)
    then, changed = answer_of(group, proposals, strategy)
    if other:
        why = words(reason("after_restart_sticky"))
        then = replace(then, is_running=False, feasibility=Feasibility.NEEDS_RESTART, reason=why)
    known = clients_of(group, settings.rule(group.cluster, group.group).client)
    rollout = _rollout(settings, group, strategy, known)
    return Runbook(
        group=group,
        strategy=strategy,
        rollout=rollout,
        held=tuple(
            tuple(
                _held(settings, measured, changed, way.rounds, place)
                for place in range(len(way.rounds))
            )
            for way in rollout.ways
        ),
        pauses=measured.measured.pauses if measured.measured else {},
        clients=known,
        now=now,
        then=then,
        there=bool(runs(group, strategy)) or (group.places_tasks and then.is_running is True),
    )


def _rollout(
    settings: Settings,
    group: GroupSnapshot,
    strategy: str,
    known: Mapping[Client | None, int],
) -> Rollout:
    # Spring's ids are those of Java's
    clients = tuple(
        client
        for client in Client
        if {None, client} & known.keys() or (client in JVM and Client.JAVA in known)
    )
    assignors = settings.rule(group.cluster, group.group).assignors
    listed = lists_of(group.roster, assignors)
    lists = [listed[member.id] for member in group.members]
    static = [member.is_static for member in group.members]
    present = group.assignor or "range"
    is_classic = group.type is GroupType.CLASSIC
    base = base_of(strategy)
    if base != strategy:
        without, untold = _rollout(settings, group, base, known), untold_racks(group)
        eager = is_classic and cooperative([present]) is not True
        if runs(group, base):
            without = replace(without, ways=())
        return telling_racks(without, untold, eager=eager, clients=clients) if untold else without
    if strategy == StickyTasks.SERVER:
        return to_broker_tasks(group.group, own_settings(group))
    if group.places_tasks:
        return _to_tasks(settings, group, strategy)
    if strategy in SERVER_SIDE:
        kinds = {member.kind for member in group.members}
        migrating = not is_classic and kinds >= {"classic", "consumer"}
        changes = is_classic or migrating
        return to_server_side(
            strategy,
            None if migrating else group.assignor,
            lists,
            classic=changes,
            clients=clients,
            lacking=None if runs(group, strategy) else brokers_lack(group, strategy),
            stopping=stopping(group) if is_classic else (),
            returns_stopped=group.coordinator is not None and group.coordinator.downgrades is False,
            notes=on_the_way(group) if changes else own_settings(group),
            static=static,
            brokers=group.kafka_release,
            interval=group.in_force(ASSIGNMENT_SETTING),
        )
    if not is_classic:
        raise Infeasible(
            f"group {group.group} cannot be set to {strategy}: {words(reason('broker_assigns'))}.",
            fix=f"Strategies of brokers are {', '.join(SERVER_SIDE)}.",
        )
    deployment = by_name(strategy).deployment
    if deployment in (Deployment.NEVER, Deployment.LIVE):
        raise Infeasible(f"{strategy} is a baseline for comparison only.")
    client = settings.rule(group.cluster, group.group).client
    by_plan = Feasibilities(group, assignors, client).of(strategy, deployment).deployment
    if deployment not in BY_PLAN and by_plan is not Deployment.PLAN:
        return to_client_side(strategy, present, lists, static, clients)
    follower = None if present == PLAN else to_client_side(PLAN, present, lists, static, clients)
    way = to_plan(strategy, follower, present, group=group.group, static=static)
    if deployment in BY_PLAN:
        return way
    # members could list it as well, and leave the follower
    return replace(way, notes=(*way.notes, note("without_plans", [strategy, group.group])))


def _to_tasks(settings: Settings, group: GroupSnapshot, strategy: str) -> Rollout:
    """The way of a Kafka Streams application of the classic protocol."""
    streams, sticky = _streams(settings, group), _is_sticky(settings, group)
    racks = streams.rack_aware_assignment_strategy
    needs = () if strategy == StickyTasks.CLIENT else task_needs(group, RackStrategy(strategy))
    if strategy in (StickyTasks.CLIENT, RackStrategy.NONE):
        return to_tasks(strategy, sticky=sticky, racks=racks, needs=needs)
    untold = untold_instances(running(group, streams).app)
    return to_tasks(strategy, sticky=sticky, racks=racks, needs=needs, untold=untold)


def _check(group: GroupSnapshot, strategy: str) -> None:
    """
    Raises:
        Infeasible: The group takes no strategy, or not this one.
    """
    why = unfit(group)
    if why is None:
        return
    by_broker = group.places_tasks and group.type is GroupType.STREAMS
    takes = {StickyTasks.SERVER} if by_broker else {*RackStrategy, StickyTasks.CLIENT}
    if group.places_tasks and strategy in takes:
        return
    shown = f"evenkeel runbook --group {{}} --strategy {StickyTasks.SERVER}"
    fix = (
        f"`{command_in_text(shown, group.group)}` says what decides there."
        if by_broker
        else f"Choose one of: {', '.join(sorted(takes))}."
    )
    raise Infeasible(
        f"group {group.group} takes no strategy: {words(why)}.",
        fix=fix if group.places_tasks else None,
    )


def _streams(settings: Settings, group: GroupSnapshot) -> StreamsSettings:
    """What is configured of an application."""
    return settings.rule(group.cluster, group.group).streams or StreamsSettings()


def _is_sticky(settings: Settings, group: GroupSnapshot) -> bool:
    """Whether an application is configured to run the sticky assignor of tasks."""
    assignor = _streams(settings, group).task_assignor
    return own_strategy(assignor, kip_1071=False) is StickyTasks.CLIENT


def _as_sticky(settings: Settings, group: GroupSnapshot) -> Settings:
    """The configuration as if the application ran the sticky assignor of tasks."""
    streams = _streams(settings, group).model_copy(update={"task_assignor": "sticky"})
    rule = Rule(groups=escape(group.group), clusters=escape(group.cluster), streams=streams)
    return settings.model_copy(update={"rules": (*settings.rules, rule)})


def _held(
    settings: Settings,
    measured: MeasuredGroup,
    changed: Moves,
    rounds: Sequence[Round],
    place: int,
) -> HeldUp | None:
    """What a round holds up; None where all stop, since nobody knows for how long."""
    this, group = rounds[place], measured.group
    if this.restart is Restart.ALL or measured.measured is None:
        return None
    pauses = measured.measured.paused(settings.policy(group.cluster, group.group))
    spec = changed.group
    then = changed.owner_after if place == len(rounds) - 1 else spec.owner
    way = step("restart_one" if this.restart is Restart.ONE else "list_alone")
    paid = price(
        [way],
        spec.static,
        spec.owner,
        then,
        eager=this.eager is not False,
        pauses=pauses,
        instances=instances_of(group),
    )
    if paid is None:
        return None
    restarts = _restarting(group, spec, this)
    seconds = np.where(restarts[spec.owner], paid.held_up_seconds, 0.0)
    stands = Standstill(
        held_up_seconds=seconds, lost_seconds=np.where(restarts[:-1], paid.lost_seconds, 0.0)
    )
    return HeldUp(seconds=float(seconds.max(initial=0.0)), offsets=_delayed(measured, then, stands))


def _restarting(group: GroupSnapshot, spec: GroupSpec, this: Round) -> Flags:
    """(M + 1) whether a round restarts the instance that a member is of; the last is nobody."""
    names = {m.id: {m.process_id, instance_of(m)} for m in group.members}
    own = [not this.only or not names[name].isdisjoint(this.only) for name in spec.members]
    return np.array([*own, not this.only], np.bool_)


def _delayed(measured: MeasuredGroup, owner: Indices, stands: Standstill) -> float | None:
    """How many offsets are consumed later; of a group without a forecast, which keeps up, what arrives meanwhile."""
    numbers = measured.measured
    if numbers is None:
        return None
    if numbers.load is not None:
        this = ForecastInput(load=numbers.load, owners=[owner], standstills=[stands])
        return float(delayed_offsets(AssignmentBatch([this]))[0])
    arrivals = numbers.production[measured.group.partitions.assignable]
    waits = float((arrivals * stands.held_up_seconds).sum())
    return None if np.isnan(waits) else waits
