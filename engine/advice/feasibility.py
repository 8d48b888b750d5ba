"""Whether a group could run a strategy, and how its owner would get it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.model import Feasibility, GroupSnapshot, GroupType, Reach

JAVA_CLASS = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
"""Stock client-side strategies, by the name on the wire, and what `partition.assignment.strategy` calls them."""

SERVER_SIDE = {"uniform": "uniform", "range-server": "range"}
"""Stock server-side strategies, and what `group.remote.assignor` calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether a group could run a strategy, why, and what its owner has to do for it."""

    feasibility: Feasibility
    reason: str
    how: str | None = None


def blocked(group: GroupSnapshot) -> str | None:
    """Why no strategy can be replayed on this group at all; None when one can."""
    if group.error is not None:
        return f"could not be read: {group.error}"
    if group.rebalancing:
        return f"rebalancing ({group.state})"
    if group.type is GroupType.SHARE:
        return "a share group: its members share partitions, there is no assignment to compare"
    if group.type is GroupType.STREAMS:
        return "a KIP-1071 Streams group: the broker assigns tasks, it takes no partition strategy"
    if group.protocol_type not in ("consumer", "", None):
        return f"protocol type {group.protocol_type}: not a consumer group"
    if not group.members:
        return f"no members ({group.state})"
    if group.assignor == "stream":
        return "a Kafka Streams application: it assigns tasks, partition strategies would tear them apart"
    return _unknown_subscription(group)


def _unknown_subscription(group: GroupSnapshot) -> str | None:
    regex = sum(m.subscription_regex is not None and not m.subscription for m in group.members)
    if regex:
        return f"regex: {regex} of {len(group.members)} members subscribe by a pattern that is not resolved"
    untold = sum(m.subscription is None for m in group.members)
    if untold:
        return f"the subscription of {untold} of {len(group.members)} members is not known"
    if not bool((group.partitions.subscribed & group.partitions.exists).any()):
        return "no member subscribes to a topic that exists"
    return _missing_rows(group)


def _missing_rows(group: GroupSnapshot) -> str | None:
    """Strategies number the partitions of a topic from 0 without a gap; a snapshot with a gap is damaged."""
    table = group.partitions
    rows = table.subscribed & table.exists
    topic, number = table.topic[rows], table.partition[rows]
    size = np.bincount(topic, minlength=len(table.topics))
    place = np.arange(len(topic)) - (np.cumsum(size) - size)[topic]
    holed = sorted({table.topics[t] for t in topic[number != place].tolist()})
    return f"partition rows of {', '.join(holed[:3])} are missing" if holed else None


def feasibility(
    group: GroupSnapshot, strategy: str, reach: Reach, assignors: tuple[str, ...] | None
) -> Judgement:
    """
    Whether a group that is not `blocked` could run a strategy.

    Which strategies its members list is not on the wire. The elected one can run; another stock setting could run
    after a double bounce that adds it, unless configuration says that all members list it already.

    Args:
        group: The group.
        strategy: Our name of the strategy.
        reach: How a user gets it.
        assignors: What configuration says the members list, most preferred first; None when it says nothing.

    Source: KIP-429 for the double bounce; assignment spec, section 1, for the election.
    """
    if reach is Reach.LIVE:
        return Judgement(feasibility=Feasibility.CAN_RUN, reason="what the group has now")
    if reach is Reach.NEVER:
        return Judgement(
            feasibility=Feasibility.YARDSTICK, reason="shown for comparison, never advised"
        )
    kip_848 = group.type is GroupType.CONSUMER
    if kip_848 != (strategy in SERVER_SIDE):
        return Judgement(feasibility=Feasibility.YARDSTICK, reason=_wrong_side(kip_848))
    if runs(group, strategy):
        return Judgement(
            feasibility=Feasibility.CAN_RUN,
            reason="the strategy it runs",
            how="It runs this strategy already: restart one member, the rebalance brings the assignment.",
        )
    if kip_848:
        setting = f"group.remote.assignor={SERVER_SIDE[strategy]}"
        return Judgement(
            feasibility=Feasibility.COULD_RUN,
            reason="members may ask for it",
            how=f"Set {setting} on every member (the broker must list it in group.consumer.assignors).",
        )
    return _classic(group, strategy, reach, assignors)


def runs(group: GroupSnapshot, strategy: str) -> bool:
    """Whether this is the strategy the group has elected; `range` on the wire of a KIP-848 group is `range-server`."""
    kip_848 = group.type is GroupType.CONSUMER
    return kip_848 == (strategy in SERVER_SIDE) and group.assignor == SERVER_SIDE.get(
        strategy, strategy
    )


def _wrong_side(kip_848: bool) -> str:
    if kip_848:
        return "KIP-848 group: the broker assigns, a client-side strategy cannot be deployed"
    return "classic group: its leader assigns, a server-side strategy cannot be deployed"


def _classic(
    group: GroupSnapshot, strategy: str, reach: Reach, assignors: tuple[str, ...] | None
) -> Judgement:
    name = JAVA_CLASS.get(strategy, strategy)
    if assignors and strategy in assignors:
        return Judgement(
            feasibility=Feasibility.CAN_RUN,
            reason="configured as listed by all members",
            how=f"Put {name} first in partition.assignment.strategy, one rolling restart.",
        )
    needs = "after a double bounce that adds it"
    if reach is not Reach.SETTING:
        needs += " and ships its class with every member"
    present = JAVA_CLASS.get(group.assignor or "", group.assignor or "the present strategy")
    return Judgement(
        feasibility=Feasibility.COULD_RUN,
        reason=needs,
        how=(
            f"Two rolling restarts: first partition.assignment.strategy={name},{present} on every member, "
            f"then {name} alone."
        ),
    )
