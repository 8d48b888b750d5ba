"""
Frames for validation: tables with computed columns, and the groups that each row concerns.

Computed columns are the values that Great Expectations compares with: the referenced row of another table (null if
there is none), the expected position of a row, the lengths of its lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.adapters.arrow import to_arrow
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Manifest
from evenkeel.expectations.columns import lengths, paired, places, row_in

LISTS = (
    "subscription",
    "assigned_topics",
    "assigned_partitions",
    "target_topics",
    "target_partitions",
)
"""The list columns of members that are validated."""

_WIDE = 2**33
"""Larger than two 32-bit numbers."""

READING = pa.schema(
    {"started_at": pa.timestamp("ms", tz="UTC"), "finished_at": pa.timestamp("ms", tz="UTC")}
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Frame:
    """
    A table to validate.

    Attributes:
        name: Name of the dataset in results.
        table: Its rows.
        concerned: (row, group) pairs, one per group that a row concerns; without it, the row's own `group_id`.
    """

    name: str
    table: pa.Table
    concerned: Callable[[Sequence[int]], Iterable[tuple[int, str]]] | None = None

    def groups(self, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        """(row, group) of some rows, for every group a row concerns."""
        if self.concerned is not None:
            yield from self.concerned(rows)
            return
        names = self.table["group_id"].take(pa.array(rows, pa.int64())).to_pylist()
        yield from ((row, name) for row, name in zip(rows, names, strict=True) if name is not None)


def snapshot_frames(manifest: Manifest, tables: Mapping[str, Table]) -> dict[str, Frame]:
    """
    The frames of one snapshot, by name.

    Args:
        manifest: Of the step `snapshot`.
        tables: The five snapshot tables.
    """
    brokers, groups, members, partitions, commits = (
        to_arrow(tables[name]) for name in ("brokers", "groups", "members", "partitions", "commits")
    )
    frames = [
        Frame(name="reading", table=_reading(manifest), concerned=_nobody),
        Frame(name="brokers", table=brokers, concerned=_nobody),
        Frame(name="groups", table=groups),
        Frame(name="members", table=_members(members, groups)),
        Frame(
            name="partitions",
            table=_partitions(partitions),
            concerned=lambda rows: _interested(rows, partitions, members, commits),
        ),
        Frame(name="commits", table=_commits(commits, groups, partitions)),
        Frame(name="assignments", table=_claims(members, groups, partitions)),
        Frame(name="subscriptions", table=_subscriptions(members, partitions)),
    ]
    return {frame.name: frame for frame in frames}


def with_columns(table: pa.Table, **columns: Any) -> pa.Table:
    """A table with more columns."""
    for name, values in columns.items():
        table = table.append_column(
            name, values if isinstance(values, pa.ChunkedArray) else [values]
        )
    return table


def _nobody(rows: Sequence[int]) -> Iterable[tuple[int, str]]:
    """No group is concerned."""
    return ()


def _reading(manifest: Manifest) -> pa.Table:
    moments = {name: _moment(manifest.facts.get(name)) for name in READING.names}
    return pa.Table.from_pylist([moments], READING)


def _moment(text: Any) -> datetime | None:
    """A moment with a time zone; None if it is invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def _members(members: pa.Table, groups: pa.Table) -> pa.Table:
    return with_columns(
        members,
        group_row=row_in(members["group_id"], groups["group_id"]),
        place=places(members["group_id"], members["position"]),
        **{f"{name}_listed": pa.array(lengths(members[name])) for name in LISTS[1:]},
    )


def _partitions(partitions: pa.Table) -> pa.Table:
    return with_columns(partitions, place=places(partitions["topic"], partitions["partition"]))


def _interested(
    rows: Sequence[int], partitions: pa.Table, members: pa.Table, commits: pa.Table
) -> Iterator[tuple[int, str]]:
    """A partition concerns the groups that subscribe to, own or have committed its topic."""
    topics = partitions["topic"].take(pa.array(rows, pa.int64()))
    named = ("subscription", "assigned_topics", "target_topics")
    mentioned = [commits.select(["group_id", "topic"]), *(_mentioned(members, n) for n in named)]
    groups: dict[str, list[str]] = {}
    for table in (
        _distinct(each.filter(pc.is_in(each["topic"], value_set=topics.combine_chunks())))
        for each in mentioned
    ):
        for group, topic in zip(*(column.to_pylist() for column in table.columns), strict=True):
            groups.setdefault(topic, []).append(group)
    concerned = {topic: sorted(set(own)) for topic, own in groups.items()}
    for row, topic in zip(rows, topics.to_pylist(), strict=True):
        yield from ((row, group) for group in concerned.get(topic, ()))


def _commits(commits: pa.Table, groups: pa.Table, partitions: pa.Table) -> pa.Table:
    return with_columns(
        commits,
        group_row=row_in(commits["group_id"], groups["group_id"]),
        topic_row=row_in(commits["topic"], partitions["topic"]),
        partition_row=_partition_row(commits, partitions),
    )


def _claims(members: pa.Table, groups: pa.Table, partitions: pa.Table) -> pa.Table:
    """One row per partition that a member reports; lists of unequal length fail an expectation of their own."""
    row, topics, numbers = paired(members["assigned_topics"], members["assigned_partitions"])
    claims = members.select(["group_id", "member_id"]).take(pa.array(row))
    claims = with_columns(claims, topic=topics, partition=numbers)
    of_group = row_in(claims["group_id"], groups["group_id"])
    return with_columns(
        claims,
        partition_row=_partition_row(claims, partitions),
        **{name: groups[name].take(of_group) for name in ("state", "group_type")},
    )


def _partition_row(table: pa.Table, partitions: pa.Table) -> pa.ChunkedArray:
    """The row of *partitions* with the topic and partition of each row, null if there is none."""
    topics = partitions["topic"].unique()

    def keys(of: pa.Table) -> pa.ChunkedArray:
        topic = pc.index_in(of["topic"], value_set=topics).cast(pa.int64())
        return pc.add(pc.multiply(topic, _WIDE), of["partition"].cast(pa.int64()))

    return row_in(keys(table), keys(partitions))


def _subscriptions(members: pa.Table, partitions: pa.Table) -> pa.Table:
    """One row per group and topic it subscribes to."""
    pairs = _distinct(_mentioned(members, "subscription"))
    pairs = pairs.sort_by([("group_id", "ascending"), ("topic", "ascending")])
    return with_columns(pairs, topic_row=row_in(pairs["topic"], partitions["topic"]))


def _mentioned(members: pa.Table, column: str) -> pa.Table:
    """The group and the topic for each topic in the lists of a column."""
    row = np.repeat(np.arange(len(members)), lengths(members[column]))
    return pa.table(
        {
            "group_id": members["group_id"].take(pa.array(row)),
            "topic": members[column].combine_chunks().flatten(),
        }
    )


def _distinct(pairs: pa.Table) -> pa.Table:
    """Each group and topic once, without nameless ones."""
    return pairs.drop_null().group_by(["group_id", "topic"]).aggregate([])
