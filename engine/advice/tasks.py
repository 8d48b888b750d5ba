"""Whether a Kafka Streams application could run a strategy for tasks, and how its owner would get it."""

from __future__ import annotations

from ..model.assignments import Deployment, Feasibility
from ..model.facts import Fact, reason, step
from ..model.groups import GroupSnapshot
from ..model.states import GroupType
from ..streams.compare import PlacementOutcome
from ..streams.live import Running
from ..streams.racks import EQUAL_COSTS
from ..streams.settings import RackStrategy, StickyTasks, TaskStrategy
from .feasibility import FeasibilityJudgement


def task_reach(group: GroupSnapshot, strategy: TaskStrategy = RackStrategy.NONE) -> Deployment:
    """
    How a strategy is had: a setting of classic groups; a broker that assigns tasks has its own and no other.

    Args:
        group: A group that `places_tasks`.
        strategy: The strategy.
    """
    by_broker = group.type is GroupType.STREAMS and strategy is not StickyTasks.SERVER
    return Deployment.YARDSTICK if by_broker else Deployment.SETTING


def task_feasibility(
    group: GroupSnapshot, running: Running, outcome: PlacementOutcome
) -> FeasibilityJudgement:
    """
    Whether an application could run the strategy of *outcome*.

    The strategy that is configured, that gives exactly what the group has, or that its broker runs, can run. Another
    one could after a rolling restart, one of the high-availability assignor also where the sticky one is configured.
    Where a missing rack switches racks off, it would be `none` under another name, and is infeasible.

    Args:
        group: A group that `places_tasks`.
        running: The application behind it, its strategy presumed.
        outcome: What the strategy gives.
    """
    strategy = outcome.strategy
    assert strategy is not None, "what a group has now needs no judgement"
    off = outcome.racks_off
    equal = (off,) if off is not None and off.measure == EQUAL_COSTS else ()
    if isinstance(strategy, StickyTasks):
        why = "runs_it" if running.kip_1071 else "runs_it_as_configured"
        return _can_run(why)
    if strategy is not RackStrategy.NONE and off is not None and not equal:
        return FeasibilityJudgement(
            feasibility=Feasibility.INFEASIBLE,
            reason=(reason("racks_play_no_part"), off),
            how=(step("configure_racks" if running.kip_1071 else "set_racks"),),
        )
    if group.type is GroupType.STREAMS:
        return FeasibilityJudgement(
            feasibility=Feasibility.YARDSTICK, reason=(reason("no_such_setting"),)
        )
    if running.own is StickyTasks.CLIENT:
        return FeasibilityJudgement(
            feasibility=Feasibility.COULD_RUN,
            reason=(reason("after_restart_leaving_sticky", [strategy.value]), *equal),
            how=(step("leave_sticky_assignor", [strategy.value]), *task_needs(group, strategy)),
        )
    if strategy is running.runs:
        why = "runs_it_as_configured" if running.configured else "runs_it_as_seen"
        return _can_run(why, *equal)
    return FeasibilityJudgement(
        feasibility=Feasibility.COULD_RUN,
        reason=(reason("after_restart_setting", [strategy.value]), *equal),
        how=(step("set_task_strategy", [strategy.value]), *task_needs(group, strategy)),
    )


def _can_run(why: str, *besides: Fact) -> FeasibilityJudgement:
    return FeasibilityJudgement(
        feasibility=Feasibility.CAN_RUN,
        reason=(reason(why), *besides),
        how=(step("next_rebalance_brings_it"),),
    )


def task_needs(group: GroupSnapshot, strategy: RackStrategy) -> tuple[Fact, ...]:
    """What the rack strategies ask for besides, and how many do not have it yet."""
    if strategy is RackStrategy.NONE:
        return ()
    silent = sum(m.rack is None or m.rack_source == "configured" for m in group.members)
    return (step("task_strategy_needs", after=silent, bound=len(group.members)),)
