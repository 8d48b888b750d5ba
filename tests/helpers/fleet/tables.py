"""A fleet as Arrow tables with the columns of the lake's datasets: what stays is made once, what moves per snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from evenkeel.engine.model.arrays import NONE, Ints
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Lake
from tests.helpers.fleet.groups import BROKERS, EVERY, FIRST, KIP_1071, RACKS, Protocol, State
from tests.helpers.fleet.layout import Fleet, is_modern
from tests.helpers.fleet.moving import Movement, Offsets, moving
from tests.helpers.lake_snapshots import (
    Taken,
    assignment_bytes,
    broker_columns,
    subscription_bytes,
    table_of,
    write_taken,
)

GENERATION = 7
THREADS = 2
"""Members that are one Kafka Streams process."""

_RETENTION_MS = 4 * 3600 * 1000
_REFUSED = "members: GROUP_AUTHORIZATION_FAILED (grant this client DESCRIBE on the group)"
_MOVING = {"classic": "PreparingRebalance", "consumer": "Reconciling"}
_CLAIMS = ("assigned", "target")


class FleetTables:
    """The tables of a fleet's snapshots."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self._rng = np.random.default_rng([fleet.shape.seed, 4])
        racks = [RACKS[node % len(RACKS)] for node in range(BROKERS)]
        self._brokers, self._groups = broker_columns([*racks, None]), self._group_columns()
        self._members, self._partitions = self._member_columns(), self._partition_columns()
        self._commits, self._commit_rows = self._commit_columns()

    def at(
        self, number: int, snapshot_id: str, moment: datetime, offsets: Offsets
    ) -> dict[str, Table]:
        """The five tables of one snapshot, taken at that moment."""
        earlier_half = number < self.fleet.shape.snapshots // 2
        born = ~self.fleet.groups.new_born if earlier_half else np.ones(len(self.fleet.names), bool)
        ids = self._old_ids if earlier_half else self._ids
        read = self._commit_rows
        parts = {
            "brokers": (self._brokers, None),
            "groups": (self._groups, born),
            "members": (self._members | {"member_id": ids}, born[self.fleet.member_group]),
            "partitions": (self._partitions | self._moved(moment, offsets), None),
            "commits": (
                self._commits
                | {
                    "committed_offset": pa.array(offsets.committed[read]),
                    "read_at": self._moments(moment, 600, self.fleet.row_group[read] % BROKERS),
                },
                born[self.fleet.row_group[read]],
            ),
        }
        key = {"snapshot_id": snapshot_id, "cluster": self.fleet.shape.cluster}
        return {name: table_of(name, columns, kept, key) for name, (columns, kept) in parts.items()}

    def unreadable(self) -> list[str]:
        """The groups that nobody may read, and why."""
        found = zip(self.fleet.names, self.fleet.groups.state, strict=True)
        return [name for name, state in found if state is State.UNREADABLE]

    def _moved(self, moment: datetime, offsets: Offsets) -> dict[str, pa.Array]:
        """The columns of `partitions` that move."""
        end = pa.array(offsets.end)
        return {
            "begin_offset": pa.array(offsets.begin),
            "end_offset": end,
            "last_stable_offset": end,
            "begin_at": self._moments(moment, 200, self.fleet.leader),
            "end_at": self._moments(moment, 1000, self.fleet.leader),
            "log_bytes": pa.array(offsets.log_bytes),
        }

    def _moments(self, moment: datetime, after: int, broker: Ints) -> pa.Array:
        """Some milliseconds after that moment, every broker at its own."""
        start = round((moment + timedelta(milliseconds=after)).timestamp() * 1000)
        return pa.array(start + 7 * broker.astype(np.int64), pa.timestamp("ms", tz="UTC"))

    def _group_columns(self) -> dict[str, Any]:
        fleet, groups = self.fleet, self.fleet.groups
        pairs = list(zip(groups.protocol, groups.state, strict=True))
        modern = [is_modern(p) and s is not State.UNREADABLE for p, s in pairs]
        epoch = [GENERATION if m else None for m in modern]
        return {
            "group_id": fleet.names,
            "group_type": [p.type for p, _ in pairs],
            "state": [_state(p.type, s) for p, s in pairs],
            "protocol_type": [_protocol_type(p, s) for p, s in pairs],
            "assignor": [_wire_name(p, s) for p, s in pairs],
            "coordinator": [g % BROKERS for g in range(len(pairs))],
            "epoch": epoch,
            "assignment_epoch": epoch,
            "topology": [
                self._topology(g) if p == KIP_1071 else None for g, (p, _) in enumerate(pairs)
            ],
            "error": [_REFUSED if s is State.UNREADABLE else None for s in groups.state],
        }

    def _topology(self, group: int) -> str:
        source, repartition = (int(self.fleet.link_topic[x]) for x in self.fleet.links_of(group))
        between, tasks = (
            self.fleet.topic_names[repartition],
            int(self.fleet.topic_size[repartition]),
        )
        changelog = between.replace("-repartition", "-changelog")
        parts = {
            "0": ([self.fleet.topic_names[source]], {}, [between], {}),
            "1": ([], {between: tasks}, [], {changelog: tasks}),
        }
        names = ("source_topics", "repartition_source_topics")
        names += ("repartition_sink_topics", "changelog_topics")
        told = {one: dict(zip(names, part, strict=True)) for one, part in parts.items()}
        return json.dumps({"epoch": 0, "subtopologies": told}, sort_keys=True)

    # Members

    @cached_property
    def _position(self) -> Ints:
        fleet = self.fleet
        return np.arange(fleet.members) - fleet.member_start[:-1][fleet.member_group]

    @cached_property
    def _ids(self) -> list[str]:
        return [self._member_id(m, 0) for m in range(self.fleet.members)]

    @cached_property
    def _old_ids(self) -> list[str]:
        """The ids before some groups were restarted."""
        again = self.fleet.groups.restarted[self.fleet.member_group].tolist()
        return [self._member_id(m, 1) if new else self._ids[m] for m, new in enumerate(again)]

    def _member_id(self, member: int, salt: int) -> str:
        return f"{self._clients[member]}-{UUID(int=(member << 8 | salt) * 0x9E3779B97F4A7C15F39C % (1 << 128))}"

    @cached_property
    def _clients(self) -> list[str]:
        names, groups = self.fleet.names, self.fleet.member_group.tolist()
        return [f"{names[g]}-{i}" for g, i in zip(groups, self._position.tolist(), strict=True)]

    def _member_columns(self) -> dict[str, Any]:
        fleet, groups = self.fleet, self.fleet.groups
        of = fleet.member_group.tolist()
        protocol = [groups.protocol[g] for g in of]
        untold = [
            groups.state[g] is State.REBALANCING and p.type == "classic"
            for g, p in zip(of, protocol, strict=True)
        ]
        modern = [is_modern(p) for p in protocol]
        rack = [
            None if r == NONE or u else RACKS[r]
            for r, u in zip(fleet.member_rack.tolist(), untold, strict=True)
        ]
        subscription = self._subscriptions(untold)
        generation = [GENERATION if m else None for m in modern]
        position = self._position.tolist()
        assigned = self._claims(fleet.owner, np.array(untold, np.bool_))
        target = self._claims(fleet.target, ~np.array(modern, np.bool_))
        claims = {
            f"{name}_{part}": column
            for name, pair in zip(_CLAIMS, (assigned, target), strict=True)
            for part, column in zip(("topics", "partitions"), pair, strict=True)
        }
        return {
            "group_id": pa.array(fleet.names).take(pa.array(fleet.member_group)),
            "position": position,
            "client_id": self._clients,
            "client_host": [
                f"/10.{m >> 16 & 255}.{m >> 8 & 255}.{m & 255}" for m in range(len(of))
            ],
            "instance_id": [
                c if g % 10 == 0 else None for c, g in zip(self._clients, of, strict=True)
            ],
            "rack": rack,
            "rack_source": [
                None if r is None else "describe" if m else "subscription"
                for r, m in zip(rack, modern, strict=True)
            ],
            "kind": [p.type for p in protocol],
            "subscription": subscription,
            "generation": generation,
            **claims,
            **self._tasks(),
            **self._blobs(subscription, untold, rack),
        }

    def _subscriptions(self, untold: list[bool]) -> list[list[str] | None]:
        """Per member the topics it subscribes to."""
        fleet = self.fleet
        found: list[list[str] | None] = [None if u else [] for u in untold]
        for link, (group, topic) in enumerate(
            zip(fleet.link_group.tolist(), fleet.link_topic.tolist(), strict=True)
        ):
            some, name = fleet.subscribed[link], fleet.topic_names[topic]
            start, end = fleet.member_start[group : group + 2].tolist()
            for member in range(start, end) if some is None else some.tolist():
                if (listed := found[member]) is not None:
                    listed.append(name)
        return [None if listed is None else sorted(listed) for listed in found]

    def _claims(self, owner: Ints, unknown: np.ndarray) -> tuple[pa.Array, pa.Array]:
        """Per member the topics and numbers of the rows it has, topic by topic; null where *unknown*."""
        fleet = self.fleet
        rows = np.argsort(owner, kind="stable")[int((owner == NONE).sum()) :]
        rows = rows[~unknown[owner[rows]]]
        counts = np.bincount(owner[rows], minlength=fleet.members)
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        partition, mask = fleet.row_partition[rows], pa.array(unknown)
        names = pa.array(fleet.topic_names).take(pa.array(fleet.partition_topic[partition]))
        numbers = pa.array(fleet.partition_number[partition].astype(np.int32))
        return (
            pa.ListArray.from_arrays(offsets, names, mask=mask),
            pa.ListArray.from_arrays(offsets, numbers, mask=mask),
        )

    def _tasks(self) -> dict[str, list[Any]]:
        """What members of Kafka Streams applications tell beside what all tell."""
        fleet, count = self.fleet, self.fleet.members
        names = ("process_id", "client_tags", "assigned_tasks", "active_tasks", "standby_tasks")
        names += ("warmup_tasks", "task_offsets", "task_end_offsets")
        columns: dict[str, list[Any]] = {name: [None] * count for name in names}
        for group in (g for g, p in enumerate(fleet.groups.protocol) if p.streams):
            kip_1071 = fleet.groups.protocol[group] == KIP_1071
            for member, told in self._threads(group, kip_1071):
                for name, value in told.items():
                    columns[name][member] = value
        return columns

    def _threads(self, group: int, kip_1071: bool) -> list[tuple[int, Mapping[str, Any]]]:
        """(member, its columns) of one application: tasks in turn, copies of the stateful ones on the next process."""
        fleet = self.fleet
        start, end = fleet.member_start[group : group + 2].tolist()
        active: dict[int, list[str]] = {m: [] for m in range(start, end)}
        standby: dict[int, list[str]] = {m: [] for m in range(start, end)}
        low, high = np.searchsorted(
            fleet.row_link, [fleet.links_of(group).start, fleet.links_of(group).stop]
        )
        for row in range(int(low), int(high)):
            owner, sub = int(fleet.owner[row]), int(fleet.link_subtopology[fleet.row_link[row]])
            task = f"{sub}_{fleet.partition_number[fleet.row_partition[row]]}"
            active[owner].append(task)
            if sub == 1 and end - start > THREADS:
                standby[start + (owner - start + THREADS) % (end - start)].append(task)
        return [
            (
                member,
                {
                    "process_id": str(UUID(int=(group << 32) + (member - start) // THREADS + 1)),
                    "client_tags": "{}",
                    "assigned_tasks": active[member],
                    "active_tasks": active[member],
                    # a copy is of another process than the task
                    "standby_tasks": standby[member] if (end - start) % THREADS == 0 else [],
                    "warmup_tasks": [] if kip_1071 else None,
                    "task_offsets": "{}",
                    "task_end_offsets": "{}" if kip_1071 else None,
                },
            )
            for member in range(start, end)
        ]

    def _blobs(
        self, subscription: list[list[str] | None], untold: list[bool], rack: list[str | None]
    ) -> dict[str, list[bytes | None]]:
        """The bytes classic members are described with."""
        fleet = self.fleet
        rows = np.argsort(fleet.owner, kind="stable")
        bounds = np.searchsorted(fleet.owner[rows], np.arange(fleet.members + 1)).tolist()
        metadata: list[bytes | None] = [None] * fleet.members
        assignment: list[bytes | None] = [None] * fleet.members
        for member, group in enumerate(fleet.member_group.tolist()):
            topics = subscription[member]
            if untold[member] or topics is None or fleet.groups.protocol[group].type != "classic":
                continue
            own = fleet.row_partition[rows[bounds[member] : bounds[member + 1]]]
            told = topics, GENERATION, rack[member]
            metadata[member], assignment[member] = subscription_bytes(*told), self._given(own)
        return {"metadata": metadata, "assignment": assignment}

    def _given(self, partitions: Ints) -> bytes:
        fleet = self.fleet
        topic, number = fleet.partition_topic[partitions], fleet.partition_number[partitions]
        cuts = np.flatnonzero(np.diff(topic)) + 1
        starts = [0, *cuts.tolist()] if len(topic) else []
        numbers = np.split(number, cuts)
        return assignment_bytes(
            (fleet.topic_names[topic[s]], part) for s, part in zip(starts, numbers, strict=False)
        )

    # Partitions and commits

    def _partition_columns(self) -> dict[str, Any]:
        fleet = self.fleet
        topic, count = pa.array(fleet.partition_topic), fleet.partitions
        behind = self._rng.random(count) < 0.005
        in_sync = np.where(behind, 2, 3)
        replicas = pa.array(fleet.replicas.ravel())
        kept = np.arange(3)[None, :] < in_sync[:, None]
        starts = np.arange(0, 3 * count + 1, 3, dtype=np.int32)
        in_sync_starts = np.concatenate([[0], np.cumsum(in_sync)]).astype(np.int32)
        policy = np.where(fleet.compacted, "compact", "delete")
        retention = np.where(fleet.compacted, -1, _RETENTION_MS)
        return {
            "topic": pa.array(fleet.topic_names).take(topic),
            "topic_id": pa.array(fleet.topic_ids).take(topic),
            "partition": pa.array(fleet.partition_number.astype(np.int32)),
            "leader": pa.array(fleet.leader),
            "replicas": pa.ListArray.from_arrays(pa.array(starts), replicas),
            "in_sync": pa.ListArray.from_arrays(
                pa.array(in_sync_starts), pa.array(fleet.replicas[kept])
            ),
            "cleanup_policy": pa.array(policy).take(topic),
            "retention_ms": pa.array(retention).take(topic),
        }

    def _commit_columns(self) -> tuple[dict[str, Any], Ints]:
        """The columns of `commits` that stay, and which rows have one: those of a topic in the broker's order, none."""
        fleet = self.fleet
        rows = np.flatnonzero(Movement(fleet).commits)
        rows = rows[np.lexsort((self._rng.random(len(rows)), fleet.row_link[rows]))]
        partition = fleet.row_partition[rows]
        columns = {
            "group_id": pa.array(fleet.names).take(pa.array(fleet.row_group[rows])),
            "topic": pa.array(fleet.topic_names).take(pa.array(fleet.partition_topic[partition])),
            "partition": pa.array(fleet.partition_number[partition].astype(np.int32)),
        }
        return columns, rows


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


def _protocol_type(protocol: Protocol, state: State) -> str | None:
    """What members say they are; nothing where a classic group has none."""
    if protocol.type == "streams":
        return "streams"
    silent = protocol.type == "classic" and state in (State.EMPTY, State.UNREADABLE)
    return None if silent else "consumer"


def _wire_name(protocol: Protocol, state: State) -> str | None:
    """What is elected, which a classic group has while it is stable; a broker's assignor it always has."""
    if state is State.UNREADABLE:
        return None
    elected = protocol.type == "consumer" or state in (State.STABLE, State.UNCOMMITTED)
    return protocol.wire if elected else None


def _state(kind: str, state: State) -> str:
    if state is State.REBALANCING:
        return _MOVING[kind]
    return "Empty" if state is State.EMPTY else "Stable"
