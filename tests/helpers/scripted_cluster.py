"""
A cluster that answers as a file says, under its real time: for tests of what is scheduled, without any broker.

One group, `orders-app`, reads a topic that gets ten records a second; without members its commits stand still.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.errors import ClusterUnreachable
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.tables import Table
from evenkeel.engine.snapshots import SNAPSHOT
from tests.helpers.snapshots import FIRST, group, make_snapshot, topic

PLACE = "EVENKEEL_TEST_CLUSTER"
"""The environment variable that names the file."""

GROUP = "orders-app"
RECORDS_PER_SECOND = 10
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Script:
    """How the cluster is: whether it answers, how many members the group has, and what those committed last."""

    answers: bool = True
    members: int = 2
    committed: int = 0

    def write(self, place: Path) -> None:
        """From now on it is so."""
        partly = place.with_suffix(".part")
        partly.write_text(json.dumps(asdict(self)))
        partly.replace(place)


class ScriptedCluster:
    """The port `Cluster`."""

    def __init__(self, name: str, place: Path) -> None:
        self.name, self.place = name, place

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """What the file says, as of now."""
        script, now = Script(**json.loads(self.place.read_text())), utc_now()
        if not script.answers:
            raise ClusterUnreachable("no broker answered.", fix="Start one.")
        end = int((now - BEGINNING).total_seconds()) * RECORDS_PER_SECOND
        if script.members:
            script = replace(script, committed=end)
            script.write(self.place)
        made = make_snapshot(
            cluster=self.name,
            topics=[topic("orders", 1, end=end)],
            groups=[group(GROUP, members=script.members, committed={"orders": [script.committed]})],
        )
        return _taken(made, snapshot_id, now)

    def close(self) -> None:
        """Nothing is open."""


def connect(settings: Settings, name: str) -> ScriptedCluster:
    """In place of `wiring.cluster`."""
    return ScriptedCluster(name, Path(os.environ[PLACE]))


def _taken(made: ClusterSnapshot, snapshot_id: str, now: datetime) -> ClusterSnapshot:
    """The same snapshot, taken now under another id."""
    news = {made.snapshot_id: snapshot_id, FIRST: now}
    tables = {
        name: Table.from_rows(
            [
                {
                    key: news.get(value, value) if _plain(value) else value
                    for key, value in row.items()
                }
                for row in table.to_pylist()
            ],
            SNAPSHOT[name],
        )
        for name, table in made.tables.items()
    }
    done = now + timedelta(milliseconds=1)
    return replace(made, snapshot_id=snapshot_id, started_at=now, finished_at=done, tables=tables)


def _plain(value: object) -> bool:
    return isinstance(value, str | datetime)


def newest(lake: FileLake, cluster: str) -> str:
    """The newest snapshot that was taken of it."""
    (found,) = lake.snapshots(cluster, limit=1)
    return found
