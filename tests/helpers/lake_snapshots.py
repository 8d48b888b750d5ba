"""Snapshots of simulated clusters as `take_snapshot` leaves them in the lake, with the bytes that members send."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from evenkeel.engine.adapters.arrow import arrow_schema, from_arrow
from evenkeel.engine.model.arrays import Ints
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots import SNAPSHOT

VERSION = 3
"""Of `ConsumerProtocolSubscription` and `ConsumerProtocolAssignment`."""


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
    tables: Mapping[str, Table]
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


def write_taken(lake: Lake, taken: Iterable[Taken]) -> list[str]:
    """Write snapshots one after another; their ids in the same order."""
    ids = []
    for one in taken:
        lake.write("snapshot", one.snapshot_id, one.tables, one.facts)
        ids.append(one.snapshot_id)
    return ids


def table_of(
    dataset: str, columns: Mapping[str, Any], kept: np.ndarray | None, key: Mapping[str, str]
) -> Table:
    """The columns of a dataset, null where there is none of that name, of the rows that are kept."""
    schema, length = arrow_schema(SNAPSHOT[dataset]), len(next(iter(columns.values())))

    def column(name: str, kind: pa.DataType) -> pa.Array:
        if name in key:
            return pa.repeat(pa.scalar(key[name]), length)
        values = columns.get(name)
        if values is None:
            return pa.nulls(length, kind)
        return values if isinstance(values, pa.Array) else pa.array(values, kind)

    arrays = [column(field.name, field.type).cast(field.type) for field in schema]
    table = pa.Table.from_arrays(arrays, schema=schema)
    made = from_arrow(table)
    return made if kept is None else made.filter(kept)


def broker_columns(racks: Sequence[str | None]) -> dict[str, Any]:
    """Brokers from 0 on, in these racks."""
    nodes = range(len(racks))
    return {
        "node_id": list(nodes),
        "host": [f"broker-{node}.example" for node in nodes],
        "port": [9092 for _ in nodes],
        "rack": list(racks),
        "follower_fetching": [True for _ in nodes],
    }


def subscription_bytes(topics: Sequence[str], generation: int | None, rack: str | None) -> bytes:
    """The metadata a member joins with."""
    body = struct.pack(">hi", VERSION, len(topics)) + b"".join(map(_text, topics))
    body += struct.pack(">iii", -1, 0, -1 if generation is None else generation)
    return body + (struct.pack(">h", -1) if rack is None else _text(rack))


def assignment_bytes(owned: Iterable[tuple[str, Ints]]) -> bytes:
    """What a member was given: partition numbers by topic."""
    parts = [
        _text(topic) + struct.pack(">i", len(numbers)) + numbers.astype(np.dtype(">i4")).tobytes()
        for topic, numbers in owned
    ]
    return struct.pack(">hi", VERSION, len(parts)) + b"".join(parts) + struct.pack(">i", -1)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()
