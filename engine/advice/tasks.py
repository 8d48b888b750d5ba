"""Whether a Kafka Streams application could run a rack strategy, and how its owner would get it."""

from __future__ import annotations

from evenkeel.engine.advice.bounce_facts import step
from evenkeel.engine.advice.feasibility import Judgement
from evenkeel.engine.facts import Fact, reason
from evenkeel.engine.model import Deployment, Feasibility, GroupSnapshot, GroupType
from evenkeel.engine.streams.compare import PlacementOutcome
from evenkeel.engine.streams.live import Running
from evenkeel.engine.streams.settings import RackStrategy
from evenkeel.engine.streams.switch import EQUAL_COSTS


def task_reach(group: GroupSnapshot) -> Deployment:
    """How a rack strategy is had: a setting of classic groups; a broker that assigns tasks has none of them."""
    return Deployment.YARDSTICK if group.type is GroupType.STREAMS else Deployment.SETTING


def task_feasibility(
    group: GroupSnapshot, running: Running, outcome: PlacementOutcome
) -> Judgement:
    """
    Whether an application could run the strategy of *outcome*.

    The strategy that is configured, or that gives exactly what the group has, can run. Another one could after a
    rolling restart. Where a missing rack switches racks off, it would be `none` under another name, and is infeasible.

    Args:
        group: A group that `places_tasks`.
        running: The application behind it, its strategy presumed.
        outcome: What the strategy gives.
    """
    strategy = outcome.strategy
    assert strategy is not None, "what a group has now needs no judgement"
    off = outcome.racks_off
    equal = (off,) if off is not None and off.measure == EQUAL_COSTS else ()
    if strategy is not RackStrategy.NONE and off is not None and not equal:
        return Judgement(
            feasibility=Feasibility.INFEASIBLE,
            reason=(reason("racks_play_no_part"), off),
            how=(step("configure_racks" if running.kip_1071 else "set_racks"),),
        )
    if group.type is GroupType.STREAMS:
        return Judgement(feasibility=Feasibility.YARDSTICK, reason=(reason("no_such_setting"),))
    if strategy is running.runs:
        why = "runs_it_as_configured" if running.configured else "runs_it_as_seen"
        return Judgement(
            feasibility=Feasibility.CAN_RUN,
            reason=(reason(why), *equal),
            how=(step("next_rebalance_brings_it"),),
        )
    return Judgement(
        feasibility=Feasibility.COULD_RUN,
        reason=(reason("after_restart_setting", [strategy.value]), *equal),
        how=(step("set_task_strategy", [strategy.value]), *_needs(group, strategy)),
    )


def _needs(group: GroupSnapshot, strategy: RackStrategy) -> tuple[Fact, ...]:
    """What the rack strategies ask for besides, and how many do not have it yet."""
    if strategy is RackStrategy.NONE:
        return ()
    silent = sum(m.rack is None or m.rack_source == "configured" for m in group.members)
    return (step("task_strategy_needs", after=silent, bound=len(group.members)),)
