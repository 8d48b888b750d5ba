"""Whether a Kafka Streams application could run a strategy for tasks, and how its owner would get it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..assignors.interface import GroupSpec
from ..model.arrays import NONE
from ..model.assignments import Deployment, Feasibility
from ..model.facts import Fact, reason, step
from ..model.groups import GroupSnapshot
from ..model.states import GroupType
from ..streams.compare import PlacementOutcome
from ..streams.live import Running
from ..streams.model import Application
from ..streams.racks import CLIENTS_WITHOUT_RACK, EQUAL_COSTS, racks_switched_off
from ..streams.settings import RackStrategy, StickyTasks, TaskStrategy
from .feasibility import FeasibilityJudgment
from .lost_racks import leaders_only, strays
from .rollout import RACK_PLACE


def task_reach(group: GroupSnapshot, strategy: TaskStrategy = RackStrategy.NONE) -> Deployment:
    """
    How a strategy is had: a setting of classic groups; a broker that assigns tasks has its own and no other.

    Args:
        group: A group that `places_tasks`.
        strategy: The strategy.
    """
    by_broker = group.type is GroupType.STREAMS and strategy is not StickyTasks.SERVER
    return Deployment.BASELINE if by_broker else Deployment.SETTING


def task_feasibility(
    group: GroupSnapshot, running: Running, outcome: PlacementOutcome
) -> FeasibilityJudgment:
    """
    Whether an application could run the strategy of *outcome*.

    The strategy that is configured, that gives exactly what the group has, or that its broker runs, can run. Another
    one could after a rolling restart, one of the high-availability assignor also where the sticky one is configured.
    Where clients without `client.rack` switch racks off, it could once they send it, which is the first step; where
    their racks are not known, or brokers have none, it would be `none` under another name, and is infeasible.

    Args:
        group: A group that `places_tasks`.
        running: The application behind it, its strategy presumed.
        outcome: What the strategy gives.
    """
    strategy = outcome.strategy
    assert strategy is not None, "the current assignment needs no judgment"
    off = outcome.racks_off
    equal = (off,) if off is not None and off.measure == EQUAL_COSTS else ()
    if isinstance(strategy, StickyTasks):
        why = "runs_it" if running.kip_1071 else "runs_it_as_configured"
        return _can_run(why)
    if strategy is not RackStrategy.NONE and off is not None and not equal:
        cure = step("configure_racks" if running.kip_1071 else "set_racks")
        by_clients = off.measure == CLIENTS_WITHOUT_RACK and not running.kip_1071
        return FeasibilityJudgment(
            feasibility=Feasibility.NOT_APPLICABLE,
            reason=(reason("racks_play_no_part"), off),
            how=_way(group, running, outcome)[1] if by_clients else (cure,),
        )
    if group.type is GroupType.STREAMS:
        return FeasibilityJudgment(
            feasibility=Feasibility.NOT_DEPLOYABLE, reason=(reason("no_such_setting"),)
        )
    if strategy is running.runs and running.own is None:
        in_effect = running.configured not in (None, strategy)
        why = "runs_it_as_configured" if running.configured else "runs_it_as_seen"
        named = [running.configured] if in_effect and running.configured else []
        return _can_run("runs_it_while_racks_are_off" if in_effect else why, *equal, names=named)
    after, how = _way(group, running, outcome)
    return FeasibilityJudgment(
        feasibility=Feasibility.NEEDS_RESTART, reason=(*after, *equal), how=how
    )


def _way(
    group: GroupSnapshot, running: Running, outcome: PlacementOutcome
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """After what an application could run a strategy, and what to do for it: `client.rack` first, then the setting."""
    strategy, how = outcome.strategy, client_racks(running, outcome)
    assert isinstance(strategy, RackStrategy), "there is no way to the others"
    after: tuple[Fact, ...] = ()
    if how and outcome.untold is not None:
        lacking = replace(outcome.untold, measure="after_client_rack")
        after = (replace(lacking, bound=len(running.app.clients)),)
    if running.own is not StickyTasks.CLIENT and strategy is running.configured:
        return after, how
    leaves = running.own is StickyTasks.CLIENT
    restart = "after_restart_leaving_sticky" if leaves else "after_restart_setting"
    setting = "leave_sticky_assignor" if leaves else "set_task_strategy"
    needs = task_needs(group, strategy)
    after = (*after, reason(restart, [strategy.value]))
    return after, (*how, step(setting, [strategy.value]), *needs)


def client_racks(running: Running, outcome: PlacementOutcome) -> tuple[Fact, ...]:
    """
    The steps that give a `client.rack` to each client that sends none, one for each rack; none where none waits for it.

    The first subject is the rack, or `RACK_PLACE` where it is not known, the others are the clients in it.
    """
    if outcome.untold is None or running.kip_1071:
        return ()
    every = len(running.app.clients)
    return tuple(
        step("client_rack_on", [rack, *names], after=len(names), bound=every)
        for rack, names in untold_instances(running.app).items()
    )


def untold_instances(app: Application) -> dict[str, tuple[str, ...]]:
    """By rack, or `RACK_PLACE` where it is not known, the names of the clients that send no `client.rack`."""
    untold: dict[str, tuple[str, ...]] = {}
    for client in np.flatnonzero(app.client_rack == NONE).tolist():
        rack = int(app.known_rack[client])
        name = RACK_PLACE if rack == NONE else app.racks[rack]
        untold[name] = (*untold.get(name, ()), app.names[client])
    return dict(sorted(untold.items()))


def racks_found(group: GroupSnapshot, spec: GroupSpec, running: Running | None) -> tuple[Fact, ...]:
    """
    What is wrong with the racks of an application.

    Args:
        group: Its group.
        spec: Its present assignment.
        running: The application; None where it does not tell its tasks.
    """
    off = None
    if running is not None:
        off = racks_switched_off(running.app, running.configured, kip_1071=running.kip_1071)
    found = (off, *strays(group), leaders_only(group, spec))
    return tuple(each for each in found if each)


def _can_run(why: str, *besides: Fact, names: Sequence[str] = ()) -> FeasibilityJudgment:
    return FeasibilityJudgment(
        feasibility=Feasibility.AVAILABLE,
        reason=(reason(why, names), *besides),
        how=(step("next_rebalance_brings_it"),),
    )


def task_needs(group: GroupSnapshot, strategy: RackStrategy) -> tuple[Fact, ...]:
    """What the rack strategies ask for besides, and how many do not have it yet."""
    if strategy is RackStrategy.NONE:
        return ()
    silent = sum(not m.sends_rack for m in group.members)
    return (step("task_strategy_needs", after=silent, bound=len(group.members)),)
