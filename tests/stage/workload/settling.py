"""Whether each group of the workload has reached the state that it is there to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec

from tests.stage.workload.groups import TOPICS_BY_NAME, GroupPlan
from tests.stage.workload.members import Member
from tests.stage.workload.rebalancing import RestlessMember
from tests.stage.workload.recorded_streams import RecordedStreams
from tests.stage.workload.streams_app import INSTANCES, StreamsApp
from tests.stage.workload.topics import Placement

REBALANCING = ("PreparingRebalance", "CompletingRebalance")
# Lag that one sees at a glance beside members that keep up.
_CLEAR_LAG = 50


def states(admin: KafkaAdminClient) -> dict[str, str]:
    """State of every group on the cluster, as the brokers name it."""
    return {group["group_id"]: group["group_state"] for group in admin.list_groups()}


def shape_is_right(
    plan: GroupPlan, state: str | None, members: Sequence[Member | RestlessMember]
) -> bool:
    """Whether the group's state and its members' partitions are as intended (not: its lag)."""
    if plan.kind == "empty":
        return state == "Empty"
    if plan.kind == "rebalancing":
        return state in REBALANCING and all(member.joined > 1 for member in members)
    if state != "Stable":
        return False
    counts = sorted((len(member.owned) for member in members), reverse=True)
    return tuple(counts) == plan.owned and (not plan.crosses or cross_rack_share(members) > 0.2)


def streams_run(plan: GroupPlan, state: str | None, app: StreamsApp | RecordedStreams) -> bool:
    """Whether all instances of a Streams application run and their group is stable."""
    return state == "Stable" and app.running(plan) == INSTANCES


def cross_rack_share(members: Sequence[Member]) -> float:
    """Owned partitions without a replica in their owner's rack over all owned; 0 for none."""
    crossing = [
        member.rack not in _racks_of(member, topic, partition)
        for member in members
        for topic, partition in member.owned
    ]
    return sum(crossing) / len(crossing) if crossing else 0.0


def _racks_of(member: Member, topic: str, partition: int) -> set[str]:
    placement: Placement = member.placement
    letters = TOPICS_BY_NAME[topic.removeprefix(member.prefix)].replicas[partition]
    return {placement.racks[letter] for letter in letters}


def lag_is_right(
    admin: KafkaAdminClient, prefix: str, plan: GroupPlan, members: Sequence[Member]
) -> bool:
    """Whether the slow member or partition is clearly behind and all others are not."""
    lags = _lags(admin, prefix, plan)
    if plan.slow_partition is not None:
        slow = {key for key in lags if key[1] == plan.slow_partition}
    else:
        slow = set().union(*(m.owned for m in members if m.number == plan.slow_member))
    behind = sum(lags[key] for key in slow if key in lags)
    rest = sum(lag for key, lag in lags.items() if key not in slow)
    return behind > _CLEAR_LAG and behind > 3 * rest


def _lags(admin: KafkaAdminClient, prefix: str, plan: GroupPlan) -> Mapping[tuple[str, int], int]:
    """End minus committed offset of every partition of the group's topics that has a commit."""
    group = prefix + plan.name
    asked = {
        TopicPartition(prefix + name, partition): OffsetSpec.LATEST
        for name in plan.topics
        for partition in range(TOPICS_BY_NAME[name].partitions)
    }
    commits = admin.list_group_offsets({group: [*asked]})[group]
    ends = admin.list_partition_offsets(asked)
    return {
        (key.topic, key.partition): ends[key].offset - commit.offset
        for key, commit in commits.items()
        if commit.offset >= 0
    }
