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

from evenkeel.engine.model.arrays import NONE, Ints
from evenkeel.engine.model.tables import INT64, MOMENT, Numbers, Table, Texts
from evenkeel.engine.ports import Manifest
from evenkeel.expectations.columns import distinct, paired, places, referred, row_in

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

READING = {"started_at": MOMENT, "finished_at": MOMENT}


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
    table: Table
    concerned: Callable[[Sequence[int]], Iterable[tuple[int, str]]] | None = None

    def groups(self, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        """(row, group) of some rows, for every group a row concerns."""
        if self.concerned is not None:
            yield from self.concerned(rows)
            return
        names = self.table.select(["group_id"]).take(rows)["group_id"].to_pylist()
        yield from ((row, name) for row, name in zip(rows, names, strict=True) if name is not None)


def snapshot_frames(manifest: Manifest, tables: Mapping[str, Table]) -> dict[str, Frame]:
    """
    The frames of one snapshot, by name.

    Args:
        manifest: Of the step `snapshot`.
        tables: The five snapshot tables.
    """
    brokers, groups, members, partitions, commits = (
        tables[name] for name in ("brokers", "groups", "members", "partitions", "commits")
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


def _nobody(rows: Sequence[int]) -> Iterable[tuple[int, str]]:
    """No group is concerned."""
    return ()


def _reading(manifest: Manifest) -> Table:
    moments = {name: _moment(manifest.facts.get(name)) for name in READING}
    return Table.from_rows([moments], READING)


def _moment(text: Any) -> datetime | None:
    """A moment with a time zone; None if it is invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def _members(members: Table, groups: Table) -> Table:
    return members.replaced(
        group_row=row_in(members["group_id"], groups["group_id"]),
        place=places(members["group_id"], members["position"]),
        **{f"{name}_listed": Numbers(members[name].lengths, INT64) for name in LISTS[1:]},
    )


def _partitions(partitions: Table) -> Table:
    return partitions.replaced(place=places(partitions["topic"], partitions["partition"]))


def _interested(
    rows: Sequence[int], partitions: Table, members: Table, commits: Table
) -> Iterator[tuple[int, str]]:
    """A partition concerns the groups that subscribe to, own or have committed its topic."""
    topics = partitions.select(["topic"]).take(rows)["topic"].to_pylist()
    named = ("subscription", "assigned_topics", "target_topics")
    mentioned = [commits.select(["group_id", "topic"]), *(_mentioned(members, n) for n in named)]
    wanted, groups = {*topics}, dict[str, set[str]]()
    for each in mentioned:
        for pair in distinct(each.filter(each["topic"].is_in(wanted))).to_pylist():
            groups.setdefault(pair["topic"], set()).add(pair["group_id"])
    concerned = {topic: sorted(own) for topic, own in groups.items()}
    for row, topic in zip(rows, topics, strict=True):
        yield from ((row, group) for group in concerned.get(topic, ()))


def _commits(commits: Table, groups: Table, partitions: Table) -> Table:
    return commits.replaced(
        group_row=row_in(commits["group_id"], groups["group_id"]),
        topic_row=row_in(commits["topic"], partitions["topic"]),
        partition_row=_partition_row(commits, partitions),
    )


def _claims(members: Table, groups: Table, partitions: Table) -> Table:
    """One row per partition that a member reports; lists of unequal length fail an expectation of their own."""
    row, topics, numbers = paired(members["assigned_topics"], members["assigned_partitions"])
    claims = members.select(["group_id", "member_id"]).take(row)
    claims = claims.replaced(topic=topics, partition=numbers)
    of_group = row_in(claims["group_id"], groups["group_id"]).values
    return claims.replaced(
        partition_row=_partition_row(claims, partitions),
        **{
            name: Texts(np.append(groups[name].places, NONE)[of_group], groups[name].words)
            for name in ("state", "group_type")
        },
    )


def _partition_row(table: Table, partitions: Table) -> Numbers:
    """The row of *partitions* with the topic and partition of each row, unknown if there is none."""
    words = partitions["topic"].words

    def keys(of: Table) -> pa.Array:
        topic, number = of["topic"].index_in(words), of["partition"]
        known = (topic != NONE) & number.known
        return pa.array(topic * _WIDE + number.values, mask=~known)

    rows = pc.index_in(keys(table), value_set=keys(partitions), skip_nulls=True)
    found: Ints = pc.fill_null(rows, NONE).to_numpy()
    return referred(found)


def _subscriptions(members: Table, partitions: Table) -> Table:
    """One row per group and topic it subscribes to."""
    pairs = distinct(_mentioned(members, "subscription")).sorted_by("group_id", "topic")
    return pairs.replaced(topic_row=row_in(pairs["topic"], partitions["topic"]))


def _mentioned(members: Table, column: str) -> Table:
    """The group and the topic for each topic in the lists of a column."""
    lists = members[column]
    return Table({"group_id": members["group_id"].take(lists.rows), "topic": lists.entries})
