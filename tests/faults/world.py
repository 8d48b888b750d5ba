"""The cluster that is watched: groups of different fate, and how it answers, or does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

import numpy as np

from evenkeel.engine.config import ClusterSettings, MaintenanceWindow, Rule, Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.errors import ClusterUnreachable
from evenkeel.engine.model.facts import Fact, finding
from evenkeel.engine.model.tables import MOMENT, TEXT, Numbers, Series, Table, column, repeated
from tests.faults.clock import Clock
from tests.helpers.fluid import FIRST, Group, at, simulate, snapshots
from tests.helpers.fluid.plan import (
    Capacity,
    Join,
    Leave,
    Restart,
    Stick,
    Switch,
    Traffic,
    Vanish,
    members,
    topics,
)
from tests.helpers.lake_snapshots import Taken

CLUSTER = "faulty"
ALL = (0, 1)
QUIET = Traffic(wander=0.02)

STORIES = {
    "healthy": (),
    "without-members": (Leave(at=at(3) - 100, members=ALL), Join(at=at(8) - 100, members=ALL)),
    "stuck": (Stick(at=at(3) - 100, partition=("t0", 3), until=at(8) - 100),),
    "silent": (Capacity(at=at(4) - 100, members=(1,), factor=0), Restart(at=at(9) - 100, member=1)),
    "deleted": (Leave(at=at(5) - 100, members=ALL), Vanish(at=at(5) - 60)),
}
"""What happens to groups of two members that share four partitions."""

GROUPS = (
    *(
        Group(
            name=name,
            topics=topics(1, 4, 50),
            members=members(2, 400),
            lists=("range", "roundrobin"),
            traffic=QUIET,
            events=events,
        )
        for name, events in STORIES.items()
    ),
    # range gives all partitions to two of the three, until it is told better
    Group(
        name="skewed",
        topics=topics(3, 2, 120),
        members=members(3, 330),
        lists=("range", "roundrobin"),
        traffic=QUIET,
        events=(Switch(at=at(9) - 100, to="roundrobin"),),
    ),
)
"""One is well, five are ill for a while or for good, and one of these takes up what it is advised."""

SETTINGS = Settings(
    clusters={CLUSTER: ClusterSettings(bootstrap="b:9092", timeout_seconds=60)},
    lookback=3,
    slack_token="xoxb-test",
    slack_channel="#kafka",
    rules=(
        Rule(
            owner="team-a",
            commit_interval_seconds=60,
            incidents={"behind_seconds": 600, "flap_window_seconds": 900},
            policy={"confirm_evidence": 3},
        ),
        Rule(groups="stuck", channel="#team-orders"),
    ),
    maintenance=(
        # where clocks go forward this half hour is not there, where they go back it is there twice
        MaintenanceWindow(
            groups="silent",
            weekly="Sun 02:30",
            **{"for": "30m"},
            timezone="Europe/Berlin",
            reason="patches",
        ),
    ),
)

UNANSWERED = {
    "certificate expired": ClusterUnreachable(
        "cluster 'faulty' at b:9092 has a certificate that expired on 2026-03-01.",
        fix="Renew the broker's certificate.",
    ),
    "nobody answers": ClusterUnreachable(
        "cluster 'faulty': none of b:9092 answers within 60 s (timed out).",
        fix="Check brokers, listener and firewall.",
    ),
}
"""Errors of the real reader."""

OTHER = "kafka-id-of-another"


@cache
def taken(count: int) -> tuple[Taken, ...]:
    """What so many snapshots find."""
    return tuple(snapshots(simulate(GROUPS, snapshots=count), CLUSTER))


@dataclass(frozen=True, slots=True)
class Reading:
    """Which snapshot of the simulation it was, in what ways it was damaged, and by how much its moments are later."""

    number: int
    faults: frozenset[str]
    late: timedelta


@dataclass
class World:
    """
    A cluster at the moment of a clock (port `Cluster`).

    Attributes:
        clock: Says when.
        start: When its first snapshot is due.
        count: Snapshots that there are.
        faults: Ways in which it cannot be read now (`plan.KAFKA`).
        readings: What was read, by the ids of the snapshots.
    """

    clock: Clock
    start: datetime
    count: int
    faults: set[str] = field(default_factory=set)
    readings: dict[str, Reading] = field(default_factory=dict)

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """What a reading finds now, with the moments that the clock of the tasks says."""
        for how, problem in UNANSWERED.items():
            if how in self.faults:
                raise ClusterUnreachable(problem.message, fix=problem.fix)
        number = int((self.clock.true - self.start).total_seconds() // 300)
        found = taken(self.count)[min(number, self.count - 1)]
        seconds = 100 if "slow" in self.faults else 2
        late = self.start - FIRST + self.clock.off
        tables = {name: dated(table, snapshot_id, late) for name, table in found.tables.items()}
        problems = list[Fact]()
        for how, damage in DAMAGE.items():
            if how in self.faults:
                tables, problem = damage(tables)
                problems.append(problem)
        self.readings[snapshot_id] = Reading(number, frozenset(self.faults), late)
        return ClusterSnapshot(
            snapshot_id=snapshot_id,
            cluster=CLUSTER,
            kafka_cluster_id=OTHER if "another cluster answers" in self.faults else "kafka-id",
            started_at=found.started_at + late,
            finished_at=found.started_at + late + timedelta(seconds=seconds),
            tables=tables,
            problems=tuple(problems),
            requests={"ListGroups": 1},
        )

    def close(self) -> None:
        """Nothing is open."""


def dated(table: Table, snapshot_id: str, late: timedelta) -> Table:
    """The rows under another id, and at other moments."""
    more = late // timedelta(milliseconds=1)
    moved = {
        name: Numbers(each.values + more, MOMENT, each.known)
        for name, each in table.columns.items()
        if isinstance(each, Numbers) and each.kind == MOMENT
    }
    return table.replaced(snapshot_id=repeated(snapshot_id, len(table)), **moved)


Tables = dict[str, Table]


def _told(table: Table, name: str, rows: np.ndarray, text: str) -> Series:
    """A column of texts with another one in some rows."""
    texts = table[name].to_pylist()
    return column([text if own else old for own, old in zip(rows, texts, strict=True)], TEXT)


def _untold(table: Table, name: str, rows: np.ndarray) -> Series:
    """A column that is unknown in some rows."""
    kept = [None if own else old for own, old in zip(rows, table[name].to_pylist(), strict=True)]
    return column(kept, table[name].kind)


def _coordinator(tables: Tables) -> tuple[Tables, Fact]:
    """The groups of a coordinator that moves without end are on no broker's list."""
    gone = tables["groups"]["coordinator"].values == 1
    names = tables["groups"].filter(gone)["group_id"].to_pylist()
    left = {
        name: tables[name].filter(~tables[name]["group_id"].is_in(names))
        for name in ("groups", "members", "commits")
    }
    return tables | left, finding("groups_kept_moving")


def _group(tables: Tables) -> tuple[Tables, Fact]:
    """A group whose coordinator does not describe it: its state is that of the list, its commits are read."""
    error = "members: NOT_COORDINATOR (15)"
    groups, name = tables["groups"], "stuck"
    own = groups["group_id"].equal(name)
    changed = groups.replaced(
        error=_told(groups, "error", own, error), assignor=_untold(groups, "assignor", own)
    )
    members_left = tables["members"].filter(~tables["members"]["group_id"].equal(name))
    return (
        tables | {"groups": changed, "members": members_left},
        finding("group_unread", [name], quote=error),
    )


def _partitions(tables: Tables) -> tuple[Tables, Fact]:
    """Ends of which the leader does not answer."""
    error = "the broker did not answer within 10 s"
    partitions = tables["partitions"]
    own = partitions["leader"].values == 2
    lost = ("begin_offset", "end_offset", "last_stable_offset", "begin_at", "end_at")
    nothing = {name: _untold(partitions, name, own) for name in lost}
    changed = partitions.replaced(**nothing, error=_told(partitions, "error", own, error))
    names = sorted(set(changed.filter(own)["topic"].to_pylist()))
    return (
        tables | {"partitions": changed},
        finding("partitions_unread", names, quote=error, partitions=int(own.sum())),
    )


DAMAGE = {
    "coordinator moves": _coordinator,
    "group cannot be read": _group,
    "partitions cannot be read": _partitions,
}
"""What a reading lacks, and what it says of that."""
