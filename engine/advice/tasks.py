"""Whether a Kafka Streams application could run a rack strategy, and how its owner would get it."""

from __future__ import annotations

from evenkeel.engine.advice.feasibility import RUNS, Judgement
from evenkeel.engine.model import Deployment, Feasibility, GroupSnapshot, GroupType
from evenkeel.engine.streams.compare import PlacementOutcome
from evenkeel.engine.streams.live import Running
from evenkeel.engine.streams.settings import RackStrategy
from evenkeel.engine.streams.switch import EQUAL_COSTS

SETTING = "rack.aware.assignment.strategy"


def task_reach(group: GroupSnapshot) -> Deployment:
    """How a rack strategy is had: a setting of classic groups; a broker that assigns tasks has none of them."""
    return Deployment.YARDSTICK if group.type is GroupType.STREAMS else Deployment.SETTING


def task_feasibility(group: GroupSnapshot, running: Running, found: PlacementOutcome) -> Judgement:
    """
    Whether an application could run the strategy of *found*.

    The strategy that is configured, or that gives exactly what the group has, can run. Another one could after a
    rolling restart. Where a missing rack switches racks off, it would be `none` under another name, and is infeasible.

    Args:
        group: A group that `places_tasks`.
        running: The application behind it, its strategy presumed.
        found: What the strategy gives.
    """
    strategy = found.strategy
    assert strategy is not None, "what a group has now needs no judgement"
    off = found.racks_off
    if strategy is not RackStrategy.NONE and off is not None and off != EQUAL_COSTS:
        return Judgement(
            feasibility=Feasibility.INFEASIBLE,
            reason=f"racks play no part: {off}",
            how=set_racks(kip_1071=running.kip_1071),
        )
    if group.type is GroupType.STREAMS:
        return Judgement(
            feasibility=Feasibility.YARDSTICK,
            reason="a KIP-1071 group: the broker assigns tasks, it has no such setting",
        )
    gain = f"; {off}" if off == EQUAL_COSTS else ""
    if strategy is running.runs:
        why = "as configured" if running.configured else "as far as can be seen"
        return Judgement(
            feasibility=Feasibility.CAN_RUN,
            reason=f"{RUNS}, {why}{gain}",
            how="It runs this strategy already: the next rebalance brings the assignment.",
        )
    return Judgement(
        feasibility=Feasibility.COULD_RUN,
        reason=f"after one rolling restart that sets {SETTING}={strategy}{gain}",
        how=f"Set {SETTING}={strategy} on every instance, one rolling restart.{_needs(group, strategy)}",
    )


def set_racks(*, kip_1071: bool) -> str:
    """How all racks get known; members of the streams protocol cannot tell theirs as yet."""
    if kip_1071:
        return "Configure racks by client id or host, and set broker.rack on every broker."
    return "Set client.rack on every instance and broker.rack on every broker."


def _needs(group: GroupSnapshot, strategy: RackStrategy) -> str:
    """What the rack strategies ask for besides, and who does not have it yet."""
    if strategy is RackStrategy.NONE:
        return ""
    told = " Every instance needs Kafka Streams 3.6 or newer, and client.rack"
    silent = sum(m.rack is None or m.rack_source == "configured" for m in group.members)
    if silent:
        return f"{told}: {silent} of {len(group.members)} members do not tell theirs."
    return f"{told}, which all tell."
