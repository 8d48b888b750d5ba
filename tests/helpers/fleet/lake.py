"""A fleet's snapshots, and the lake they are written to, as `take_snapshot` leaves it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from evenkeel.engine.datasets import ClusterSnapshot, Unread, facts_of
from evenkeel.engine.ports import Lake
from tests.helpers.fleet.layout import Fleet
from tests.helpers.fleet.moving import moving
from tests.helpers.fleet.shape import EVERY, FIRST
from tests.helpers.fleet.tables import FleetTables


def snapshots(fleet: Fleet) -> Iterator[ClusterSnapshot]:
    """The snapshots of a fleet, the oldest first."""
    tables, shape = FleetTables(fleet), fleet.shape
    unread = tuple(
        Unread(what="group", name=name, cause="members: GROUP_AUTHORIZATION_FAILED")
        for name in tables.unreadable()
    )
    for number, offsets in enumerate(moving(fleet)):
        moment = FIRST + number * EVERY
        snapshot_id = f"{shape.cluster}-{moment:%Y%m%dT%H%M%SZ}-{(shape.seed << 8) + number:06x}"
        yield ClusterSnapshot(
            snapshot_id=snapshot_id,
            cluster=shape.cluster,
            kafka_cluster_id=f"kafka-id-of-{shape.cluster}",
            started_at=moment,
            finished_at=moment + timedelta(seconds=2),
            tables=tables.at(number, snapshot_id, moment, offsets),
            problems=tuple(each.line for each in unread),
            unread=unread,
            requests={"ListGroups": 1},
        )


def write_fleet(lake: Lake, fleet: Fleet) -> list[str]:
    """Write all snapshots of a fleet; their ids, the oldest first."""
    ids = []
    for snapshot in snapshots(fleet):
        facts = {"listings": [], "unreadable_groups": len(snapshot.unread)}
        lake.write("snapshot", snapshot.snapshot_id, snapshot.tables, facts_of(snapshot) | facts)
        ids.append(snapshot.snapshot_id)
    return ids
