"""A history's snapshots as the lake's five tables, as `take_snapshot` would have left them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import pyarrow as pa

from evenkeel.engine.adapters.recording import Recording, write_recording
from tests.helpers.fluid.life import View
from tests.helpers.fluid.plan import FIRST, RACKS, Group, brokers_of
from tests.helpers.fluid.run import (
    BEGINS_READ,
    COMMITS_READ,
    ENDS_READ,
    History,
    Moment,
    between,
    committed_offsets,
)
from tests.helpers.lake_snapshots import (
    Taken,
    assignment_bytes,
    broker_columns,
    subscription_bytes,
    table_of,
    write_taken,
)

CLUSTER = "fluid"

UNREADABLE = "LEADER_NOT_AVAILABLE (the broker does not answer)"

_DATASETS = ("brokers", "groups", "members", "partitions", "commits")
_Columns = dict[str, Any]


def record(path: str | Path, history: History, cluster: str = CLUSTER) -> int:
    """Write a recording, which `--from FILE` reads; its size in bytes."""
    lake = Recording()
    return write_recording(path, lake, write_taken(lake, snapshots(history, cluster)))


def snapshots(history: History, cluster: str = CLUSTER) -> Iterator[Taken]:
    """All snapshots of a history, the oldest first."""
    tables = _Tables(history)
    listings = tuple(
        {"groups": group.name, "assignors": list(group.lists or (group.strategy,))}
        for group in history.groups
        if not group.modern
    )
    for number, moment in enumerate(history.moments):
        taken_at = FIRST + number * timedelta(seconds=history.every)
        snapshot_id = f"{cluster}-{taken_at:%Y%m%dT%H%M%SZ}-{number:06x}"
        key = {"snapshot_id": snapshot_id, "cluster": cluster}
        columns = tables.at(number, moment, taken_at)
        yield Taken(
            snapshot_id=snapshot_id,
            cluster=cluster,
            started_at=taken_at,
            finished_at=taken_at + timedelta(seconds=2),
            tables={name: table_of(name, columns[name], None, key) for name in _DATASETS},
            problems=tuple(_problems(history.groups, moment)),
            listings=listings,
        )


def _problems(groups: Sequence[Group], moment: Moment) -> Iterator[str]:
    states = zip(groups, moment.unread_ends, moment.unread_commits, strict=True)
    for group, ends, commits in states:
        for topic in group.topics if ends else ():
            yield f"partitions of {group.topic(topic.name)}: {UNREADABLE}"
        if commits:
            yield f"group {group.name}: {UNREADABLE}"


class _Tables:
    """What stays the same over all snapshots is made once."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.sorted = np.array(sorted(range(len(self.names)), key=self.names.__getitem__))
        self.of_group = np.repeat(np.arange(len(history.groups)), np.diff(history.start))
        self._rows_of: dict[tuple[int, int], list[_Columns]] = {}
        self._kept: list[View] = []

    @cached_property
    def names(self) -> list[tuple[str, int]]:
        """(P) full topic name and number."""
        return [(g.topic(t), p) for g in self.history.groups for t, p in g.partitions]

    @cached_property
    def steady(self) -> dict[str, np.ndarray]:
        """The columns of `partitions` that stay."""
        topics = [t for g in self.history.groups for t in g.topics for _ in t.rates]
        placed = [brokers_of(g, p) for g in self.history.groups for p in g.partitions]
        replicas = np.empty(len(placed), object)
        replicas[:] = placed
        return {
            "topic": np.array([name for name, _ in self.names], object),
            "topic_id": np.array(
                [str(uuid5(NAMESPACE_URL, name)) for name, _ in self.names], object
            ),
            "partition": np.array([number for _, number in self.names], np.int32),
            "leader": np.array([each[0] for each in placed], np.int32),
            "replicas": replicas,
            "in_sync": replicas,
            "cleanup_policy": np.array(["compact" if t.compacted else "delete" for t in topics]),
            "retention_ms": np.array([round(t.keeps * 1000) for t in topics], np.int64),
            "retention_bytes": np.array([-1 for _ in topics], np.int64),
            "record_bytes": np.array([t.record_bytes for t in topics]),
        }

    def at(self, number: int, moment: Moment, taken_at: datetime) -> dict[str, _Columns]:
        """The columns of each table at one snapshot."""
        return {
            "brokers": broker_columns(RACKS),
            "groups": _columns(list(self._groups(moment))),
            "members": _columns(list(self._members(moment))),
            "partitions": self._partitions(number, moment, taken_at),
            "commits": self._commits(number, moment, taken_at),
        }

    def _partitions(self, number: int, moment: Moment, taken_at: datetime) -> _Columns:
        history, step = self.history, self.history.step(number)
        rows = self.sorted[history.born[self.sorted] <= step]
        unread = np.array(moment.unread_ends)[self.of_group[rows]]
        begin = np.floor(between(history.begin, step, BEGINS_READ)[rows])
        end = np.floor(between(history.end, step, ENDS_READ)[rows])
        steady = {name: column[rows] for name, column in self.steady.items()}
        log_bytes = np.round((end - begin) * steady.pop("record_bytes"))
        ends = pa.array(end.astype(np.int64), mask=unread)
        stable = np.floor(np.minimum(end, moment.stable[rows])).astype(np.int64)
        return {name: column.tolist() for name, column in steady.items()} | {
            "begin_offset": pa.array(begin.astype(np.int64), mask=unread),
            "end_offset": ends,
            "last_stable_offset": pa.array(stable, mask=unread),
            "begin_at": _moments(taken_at, BEGINS_READ, unread),
            "end_at": _moments(taken_at, ENDS_READ, unread),
            "log_bytes": pa.array(log_bytes.astype(np.int64), mask=unread),
            "error": [UNREADABLE if each else None for each in unread.tolist()],
        }

    def _commits(self, number: int, moment: Moment, taken_at: datetime) -> _Columns:
        gone = np.array([view is None for view in moment.views])
        rows = np.flatnonzero(moment.has_commit & ~gone[self.of_group])
        unread = np.array(moment.unread_commits)[self.of_group[rows]]
        committed = committed_offsets(moment.committed[rows]).astype(np.int64)
        return {
            "group_id": [self.history.groups[g].name for g in self.of_group[rows].tolist()],
            "topic": [self.names[row][0] for row in rows.tolist()],
            "partition": [self.names[row][1] for row in rows.tolist()],
            "committed_offset": pa.array(committed, mask=unread),
            "read_at": _moments(taken_at, COMMITS_READ, unread),
            "error": [UNREADABLE if each else None for each in unread.tolist()],
        }

    def _groups(self, moment: Moment) -> Iterator[_Columns]:
        for number, (group, view) in enumerate(zip(self.history.groups, moment.views, strict=True)):
            if view is not None:
                yield {
                    "group_id": group.name,
                    "group_type": _kind(group),
                    "state": view.state,
                    "protocol_type": "consumer",
                    "assignor": view.assignor,
                    "coordinator": number % len(RACKS),
                    "epoch": view.generation if group.modern else None,
                    "assignment_epoch": view.generation if group.modern else None,
                }

    def _members(self, moment: Moment) -> Iterator[_Columns]:
        for number, view in enumerate(moment.views):
            if view is not None:
                key = (number, id(view))
                if key not in self._rows_of:
                    self._kept.append(view)  # or another could get its id
                    self._rows_of[key] = list(_member_rows(self.history.groups[number], view))
                yield from self._rows_of[key]


def _member_rows(group: Group, view: View) -> Iterator[_Columns]:
    """One row per member, with the bytes that a classic member is described with."""
    source = "describe" if group.modern else "subscription"
    for position, (number, member_id) in enumerate(view.members):
        member = group.members[number]
        listed = sorted(group.topic(t) for t in member.topics or [t.name for t in group.topics])
        owned = [
            p for p, owner in zip(group.partitions, view.owner, strict=True) if owner == number
        ]
        owned = sorted((group.topic(topic), partition) for topic, partition in owned)
        row = {
            "group_id": group.name,
            "position": position,
            "member_id": member_id,
            "client_id": group.client(number),
            "client_host": f"/10.0.0.{(number if member.host is None else member.host) + 1}",
            "instance_id": group.client(number) if member.static else None,
            "kind": _kind(group),
        }
        if view.described:
            row |= {
                "rack": member.rack,
                "rack_source": source if member.rack else None,
                "subscription": listed,
                "assigned_topics": [topic for topic, _ in owned],
                "assigned_partitions": [partition for _, partition in owned],
            }
            if group.modern:
                row |= {
                    f"target_{part}": row[f"assigned_{part}"] for part in ("topics", "partitions")
                }
                row |= {"generation": view.generation}
            else:
                by_topic = {t: np.array([p for u, p in owned if u == t]) for t in listed}
                given = [(t, p) for t, p in by_topic.items() if len(p)]
                row |= {
                    "follows": view.follows,
                    "metadata": subscription_bytes(listed, view.generation, member.rack),
                    "assignment": assignment_bytes(given),
                }
        yield row


def _kind(group: Group) -> str:
    return "consumer" if group.modern else "classic"


def _columns(rows: Sequence[_Columns]) -> _Columns:
    """Rows as columns; None where a row says nothing."""
    names: Iterable[str] = dict.fromkeys(name for row in rows for name in row) or ["group_id"]
    return {name: [row.get(name) for row in rows] for name in names}


def _moments(taken_at: datetime, after: float, unread: np.ndarray) -> pa.Array:
    moment = round((taken_at.timestamp() + after) * 1000)
    return pa.array(np.full(len(unread), moment), pa.timestamp("ms", tz="UTC"), mask=unread)
