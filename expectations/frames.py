"""
From tables to frames something can be expected of: helper columns, and which groups a row concerns.

Helper columns say what no single column can: whether a topic is known, whether numbers run without a gap. They are
named after what should be so, and are true where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.model import GroupType
from evenkeel.engine.ports import Manifest

CLAIM = pa.schema(
    {
        "group_id": pa.string(),
        "member_id": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "known": pa.bool_(),
        "exclusive": pa.bool_(),
    }
)
SUBSCRIPTION = pa.schema({"group_id": pa.string(), "topic": pa.string(), "known": pa.bool_()})
READING = pa.schema(
    {"started_at": pa.timestamp("ms", tz="UTC"), "finished_at": pa.timestamp("ms", tz="UTC")}
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Frame:
    """
    A table to expect something of.

    Attributes:
        name: Of the dataset, as the results show it.
        table: Its rows.
        concerned: The groups each row concerns; without it, the row's own `group_id`.
    """

    name: str
    table: pa.Table
    concerned: Sequence[Iterable[str]] | None = None

    def groups(self, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        """(row, group) of some rows, for every group a row concerns."""
        if self.concerned is not None:
            yield from ((row, group) for row in rows for group in self.concerned[row])
            return
        names = self.table["group_id"].take(pa.array(rows, pa.int64())).to_pylist()
        yield from ((row, name) for row, name in zip(rows, names, strict=True) if name is not None)


def snapshot_frames(manifest: Manifest, tables: Mapping[str, pa.Table]) -> dict[str, Frame]:
    """
    The frames of one snapshot, by name.

    Args:
        manifest: Of the step `snapshot`.
        tables: The five snapshot tables.
    """
    groups, members = tables["groups"], tables["members"]
    sizes = Counter(tables["partitions"]["topic"].to_pylist())
    frames = [
        Frame(name="reading", table=_reading(manifest), concerned=[()]),
        Frame(name="brokers", table=tables["brokers"], concerned=[()] * len(tables["brokers"])),
        Frame(name="groups", table=_groups(groups)),
        Frame(name="members", table=_members(members, groups)),
        _partition_frame(tables["partitions"], members, tables["commits"]),
        Frame(name="commits", table=_commits(tables["commits"], groups, sizes)),
        Frame(name="assignments", table=_claims(members, groups, tables["partitions"])),
        Frame(name="subscriptions", table=_subscriptions(members, sizes)),
    ]
    return {frame.name: frame for frame in frames}


def with_columns(table: pa.Table, **columns: Any) -> pa.Table:
    """A table with more columns."""
    for name, values in columns.items():
        table = table.append_column(
            name, values if isinstance(values, pa.ChunkedArray) else [values]
        )
    return table


def flags(values: Iterable[bool]) -> pa.Array:
    """Truths as a column."""
    return pa.array(list(values), pa.bool_())


def _reading(manifest: Manifest) -> pa.Table:
    moments = {name: _moment(manifest.facts.get(name)) for name in READING.names}
    return pa.Table.from_pylist([moments], READING)


def _moment(text: Any) -> datetime | None:
    """An aware moment; None for what is none."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def _groups(groups: pa.Table) -> pa.Table:
    told = pc.or_(groups["state"].is_valid(), groups["error"].is_valid())
    return with_columns(groups, told=told)


def _members(members: pa.Table, groups: pa.Table) -> pa.Table:
    lengths = {
        name: pc.fill_null(pc.list_value_length(members[name]), 0).to_pylist()
        for name in ("assigned_topics", "assigned_partitions", "target_topics", "target_partitions")
    }
    return with_columns(
        members,
        listed=_listed(members, groups),
        in_place=flags(
            _without_gap(members["group_id"].to_pylist(), members["position"].to_pylist())
        ),
        paired=flags(a == b and c == d for a, b, c, d in zip(*lengths.values(), strict=True)),
    )


def _partition_frame(partitions: pa.Table, members: pa.Table, commits: pa.Table) -> Frame:
    """A row concerns the groups that subscribe to, own or have committed its topic."""
    topics = partitions["topic"].to_pylist()
    explained = pc.or_(partitions["end_offset"].is_valid(), partitions["error"].is_valid())
    in_place = flags(_without_gap(topics, partitions["partition"].to_pylist()))
    groups: dict[str, set[str]] = {}
    for group, topic in _interests(members, commits):
        groups.setdefault(topic, set()).add(group)
    return Frame(
        name="partitions",
        table=with_columns(partitions, explained=explained, in_place=in_place),
        concerned=[sorted(groups.get(topic, ())) for topic in topics],
    )


def _commits(commits: pa.Table, groups: pa.Table, sizes: Mapping[str, int]) -> pa.Table:
    topics, partitions = commits["topic"].to_pylist(), commits["partition"].to_pylist()
    return with_columns(
        commits,
        listed=_listed(commits, groups),
        topic_known=flags(topic in sizes for topic in topics),
        # where there is no topic, the partition is no second finding
        partition_known=flags(
            topic not in sizes or partition is None or partition < sizes[topic]
            for topic, partition in zip(topics, partitions, strict=True)
        ),
    )


def _claims(members: pa.Table, groups: pa.Table, partitions: pa.Table) -> pa.Table:
    """One row per partition a member says it owns."""
    known = set(
        zip(partitions["topic"].to_pylist(), partitions["partition"].to_pylist(), strict=True)
    )
    exclusive = {
        row["group_id"]
        for row in groups.select(["group_id", "group_type", "state"]).to_pylist()
        if row["state"] == "Stable" and row["group_type"] != GroupType.SHARE.value
    }
    rows = [
        (row["group_id"], row["member_id"], topic, partition, (topic, partition) in known)
        for row in members.select(
            ["group_id", "member_id", "assigned_topics", "assigned_partitions"]
        ).to_pylist()
        # lists of unequal length are a finding of their own
        for topic, partition in zip(
            row["assigned_topics"] or (), row["assigned_partitions"] or (), strict=False
        )
    ]
    times = Counter((group, topic, partition) for group, _, topic, partition, _ in rows)
    once = [g not in exclusive or times[g, t, p] == 1 for g, _, t, p, _ in rows]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * (len(CLAIM) - 1)
    return pa.Table.from_pydict(dict(zip(CLAIM.names, [*columns, once], strict=True)), CLAIM)


def _subscriptions(members: pa.Table, sizes: Mapping[str, int]) -> pa.Table:
    """One row per group and topic it subscribes to."""
    pairs = sorted(set(_listed_topics(members, "subscription")))
    rows = [{"group_id": g, "topic": t, "known": t in sizes} for g, t in pairs]
    return pa.Table.from_pylist(rows, SUBSCRIPTION)


def _interests(members: pa.Table, commits: pa.Table) -> set[tuple[str, str]]:
    """(group, topic): what each group subscribes to, owns or has committed."""
    committed = zip(commits["group_id"].to_pylist(), commits["topic"].to_pylist(), strict=True)
    owned = (
        p for name in ("assigned_topics", "target_topics") for p in _listed_topics(members, name)
    )
    pairs = {*committed, *owned, *_listed_topics(members, "subscription")}
    return {(group, topic) for group, topic in pairs if group is not None and topic is not None}


def _listed_topics(members: pa.Table, column: str) -> Iterator[tuple[str, str]]:
    parent = pc.list_parent_indices(members[column])
    groups = members["group_id"].take(parent).to_pylist()
    pairs = zip(groups, pc.list_flatten(members[column]).to_pylist(), strict=True)
    return ((group, topic) for group, topic in pairs if group is not None and topic is not None)


def _listed(table: pa.Table, groups: pa.Table) -> pa.ChunkedArray:
    """Whether each row's group is among the groups."""
    return pc.is_in(table["group_id"], value_set=groups["group_id"].combine_chunks())


def _without_gap(names: Sequence[Any], numbers: Sequence[int | None]) -> list[bool]:
    """Per row, whether the numbers under its name are 0, 1, 2 ... in any order."""
    found: dict[Any, list[int]] = {}
    for name, number in zip(names, numbers, strict=True):
        found.setdefault(name, []).append(-1 if number is None else number)
    whole = {name: sorted(have) == list(range(len(have))) for name, have in found.items()}
    return [whole[name] for name in names]
