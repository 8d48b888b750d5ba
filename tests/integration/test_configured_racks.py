"""What is said of racks that members do not send is what Kafka does: Java's consumers, on brokers in three racks."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.config import ClusterSettings, Filter, Rule, Settings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.snapshots import groups_of, new_snapshot_id
from tests.helpers.kafka_stage import Stage
from tests.helpers.measuring import proposed
from tests.oracle.follower import FollowerGroupJvm
from tests.stage.kafka.brokers import RACKS
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

PLACES = [2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1]
"""The broker of each partition: of what `range` gives a member without racks, one in four is near."""

CLIENTS = {f"c{node}": rack for node, rack in RACKS.items()}
RANGE = "org.apache.kafka.clients.consumer.RangeAssignor"


class Group:
    """Three members that run `range`, as evenkeel sees them, which knows their racks."""

    def __init__(self, jvm: FollowerGroupJvm, stage: Stage, topic: str) -> None:
        self.jvm, self.stage, self.topic = jvm, stage, topic
        cluster = ClusterSettings(
            bootstrap=stage.bootstrap,
            groups=Filter(allow=(f"{stage.prefix}*",)),
            topics=Filter(allow=(topic,)),
        )
        rule = Rule(racks=CLIENTS)
        self.settings = Settings(clusters={"test": cluster}, rules=(rule,))

    def start(self, **more: str) -> None:
        """All join; *more*: settings by name with `_` for the dots, `{}` stands for the member's rack."""
        for client, rack in CLIENTS.items():
            settings = {
                "bootstrap.servers": self.stage.bootstrap,
                "group.id": f"{self.stage.prefix}g",
                "client.id": client,
                "partition.assignment.strategy": RANGE,
                "heartbeat.interval.ms": "300",
                **{key.replace("_", "."): value.format(rack) for key, value in more.items()},
            }
            self.jvm.start(client, settings, [self.topic])

    def at_rest(self, after: GroupSnapshot | None = None) -> GroupSnapshot:
        """The group, once its members own all there is; *after*: once all have joined again since then."""
        was = max(_generations(after)) if after else -2
        found: list[GroupSnapshot] = []

        def so() -> bool:
            with closing(wiring.cluster(self.settings, "test")) as reader:
                taken = reader.take_snapshot(new_snapshot_id("test", utc_now()))
            found[:] = groups_of(taken.tables, taken.started_at)
            whole = bool(found) and {*_owners(found[0]).values()} == {*CLIENTS}
            return whole and min(_generations(found[0])) > was

        wait_until(so, 200, "the group to be at rest", interval=0.5)
        self.jvm.owned()  # nobody failed
        return found[0]

    def rows(self, group: GroupSnapshot) -> dict[str, dict[str, Any]]:
        """What is said of it, by strategy."""
        return {row["strategy"]: row for row in proposed(self.settings, group)}


def _generations(group: GroupSnapshot) -> list[int]:
    """The generation that each member had when it joined last; -1 when it was new."""
    return [-1 if member.generation is None else member.generation for member in group.members]


def _owners(group: GroupSnapshot) -> dict[int, str | None]:
    """The client id of each partition's owner."""
    owner = group.partitions.owner.tolist()
    return {p: group.members[m].client_id if m != NONE else None for p, m in enumerate(owner)}


def _said(row: dict[str, Any], group: GroupSnapshot) -> dict[int, str | None]:
    """Who would own what, as a row says it."""
    clients = {member.id: member.client_id for member in group.members}
    moved = {one["partition"]: clients[one["to_member"]] for one in row["moved"]}
    return _owners(group) | moved


def test_what_range_does_without_client_rack_and_with_it_is_what_was_said(
    stage: Stage, members_jvm: FollowerGroupJvm
) -> None:
    """Nothing moves at its next rebalance, whatever racks are configured; nine do once `client.rack` is set."""
    topic = stage.topic("events", [1] * len(PLACES), on=PLACES)
    live = Group(members_jvm, stage, topic)
    live.start()
    try:
        before = live.at_rest()
        rows = live.rows(before)
        members_jvm.rebalance("c1")
        again = live.at_rest(before)
        members_jvm.stop(*CLIENTS)
        live.start(client_rack="{}")
        after = live.at_rest()
    finally:
        members_jvm.stop(*CLIENTS)

    plain, racked = rows["range"], rows["range+client.rack"]
    assert (plain["is_running"], plain["moves"], plain["cross_rack_share"]) == (True, 0, 0.75)
    assert _owners(again) == _said(plain, before)
    assert (racked["is_running"], racked["moves"], racked["cross_rack_share"]) == (False, 9, 0)
    assert _owners(after) == _said(racked, before)
    then = live.rows(after)
    assert (then["range"]["moves"], then["range"]["cross_rack_share"]) == (0, 0)
    assert "range+client.rack" not in then
