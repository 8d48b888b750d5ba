"""A fleet's snapshots, and the lake they are written to, as `take_snapshot` leaves it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from evenkeel.engine.ports import Lake
from tests.helpers.fleet.layout import Fleet
from tests.helpers.fleet.moving import moving
from tests.helpers.fleet.shape import EVERY, FIRST
from tests.helpers.fleet.tables import FleetTables


@dataclass(frozen=True, kw_only=True, eq=False)
class Taken:
    """
    One snapshot: when it was taken, its five tables, what could not be read, and what members were said to list.

    It stands for a `ClusterSnapshot`, of which only the stored form is needed here: that older code can read, too.
    """

    snapshot_id: str
    cluster: str
    started_at: datetime
    finished_at: datetime
    tables: Mapping[str, pa.Table]
    problems: tuple[str, ...]
    listings: tuple[Mapping[str, Any], ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """What its manifest says of how it was taken."""
        return {
            "kafka_cluster_id": f"kafka-id-of-{self.cluster}",
            "started_at": self.started_at.isoformat(),
            "finished_at": self.finished_at.isoformat(),
            "problems": list(self.problems),
            "unread": [],
            "noted": [],
            "notes": [],
            "requests": {"ListGroups": 1},
            "bytes_sent": None,
            "bytes_received": None,
            "listings": list(self.listings),
            "unreadable_groups": len(self.problems),
        }


def snapshots(fleet: Fleet) -> Iterator[Taken]:
    """The snapshots of a fleet, the oldest first."""
    tables, shape = FleetTables(fleet), fleet.shape
    cause = "members: GROUP_AUTHORIZATION_FAILED"
    problems = tuple(f"group {name}: {cause}" for name in tables.unreadable())
    for number, offsets in enumerate(moving(fleet)):
        moment = FIRST + number * EVERY
        snapshot_id = f"{shape.cluster}-{moment:%Y%m%dT%H%M%SZ}-{(shape.seed << 8) + number:06x}"
        yield Taken(
            snapshot_id=snapshot_id,
            cluster=shape.cluster,
            started_at=moment,
            finished_at=moment + timedelta(seconds=2),
            tables=tables.at(number, snapshot_id, moment, offsets),
            problems=problems,
        )


def write_fleet(lake: Lake, fleet: Fleet) -> list[str]:
    """Write all snapshots of a fleet; their ids, the oldest first."""
    return write_taken(lake, snapshots(fleet))


def write_taken(lake: Lake, taken: Iterable[Taken]) -> list[str]:
    """Write snapshots one after another; their ids in the same order."""
    ids = []
    for one in taken:
        lake.write("snapshot", one.snapshot_id, one.tables, one.facts)
        ids.append(one.snapshot_id)
    return ids
