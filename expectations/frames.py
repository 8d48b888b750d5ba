"""
From tables to frames something can be expected of: helper columns, and which groups a row concerns.

Helper columns say what no single column can: whether a topic is known, whether numbers run without a gap. They are
named after what should be so, and are true where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.model import GroupType
from evenkeel.engine.ports import Manifest
from evenkeel.expectations.columns import (
    among,
    codes,
    flags,
    lengths,
    listed,
    numbers,
    paired,
    times,
    truths,
    without_gap,
)

PAIRED = (("assigned_topics", "assigned_partitions"), ("target_topics", "target_partitions"))
"""Lists of members that stand side by side."""

LISTED = ("subscription", *PAIRED[0], *PAIRED[1])
"""The lists of which something is expected."""

_WIDE = 2**33
"""More than there are 32-bit numbers, twice."""

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
        concerned: (row, group) of some rows, for every group a row concerns; without it, the row's own `group_id`.
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


def snapshot_frames(manifest: Manifest, tables: Mapping[str, pa.Table]) -> dict[str, Frame]:
    """
    The frames of one snapshot, by name.

    Args:
        manifest: Of the step `snapshot`.
        tables: The five snapshot tables.
    """
    groups, members, partitions = tables["groups"], tables["members"], tables["partitions"]
    commits = tables["commits"]
    frames = [
        Frame(name="reading", table=_reading(manifest), concerned=_nobody),
        Frame(name="brokers", table=tables["brokers"], concerned=_nobody),
        Frame(name="groups", table=_groups(groups)),
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
    """What concerns no group."""
    return ()


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
    unpaired = [lengths(members[a]) != lengths(members[b]) for a, b in PAIRED]
    return with_columns(
        members,
        listed=among(members["group_id"], groups["group_id"]),
        in_place=flags(without_gap(members["group_id"], members["position"])),
        paired=flags(~np.logical_or(*unpaired)),
    )


def _partitions(partitions: pa.Table) -> pa.Table:
    explained = pc.or_(partitions["end_offset"].is_valid(), partitions["error"].is_valid())
    in_place = flags(without_gap(partitions["topic"], partitions["partition"]))
    return with_columns(partitions, explained=explained, in_place=in_place)


def _interested(
    rows: Sequence[int], partitions: pa.Table, members: pa.Table, commits: pa.Table
) -> Iterator[tuple[int, str]]:
    """A partition concerns the groups that subscribe to, own or have committed its topic."""
    topics = partitions["topic"].take(pa.array(rows, pa.int64()))
    named = ("subscription", "assigned_topics", "target_topics")
    mentioned = [commits.select(["group_id", "topic"]), *(_mentioned(members, n) for n in named)]
    groups: dict[str, list[str]] = {}
    for table in (_distinct(each.filter(among(each["topic"], topics))) for each in mentioned):
        for group, topic in zip(*(column.to_pylist() for column in table.columns), strict=True):
            groups.setdefault(topic, []).append(group)
    concerned = {topic: sorted(set(own)) for topic, own in groups.items()}
    for row, topic in zip(rows, topics.to_pylist(), strict=True):
        yield from ((row, group) for group in concerned.get(topic, ()))


def _commits(commits: pa.Table, groups: pa.Table, partitions: pa.Table) -> pa.Table:
    topics = partitions["topic"].unique()
    sizes = np.bincount(numbers(pc.index_in(partitions["topic"], value_set=topics)))
    known = pc.index_in(commits["topic"], value_set=topics)
    size = np.append(sizes, 0)[numbers(known, -1)]
    # where there is no topic, the partition is no second finding
    fits = known.is_null().to_numpy() | (numbers(commits["partition"], -1) < size)
    return with_columns(
        commits,
        listed=among(commits["group_id"], groups["group_id"]),
        topic_known=known.is_valid(),
        partition_known=flags(fits),
    )


def _claims(members: pa.Table, groups: pa.Table, partitions: pa.Table) -> pa.Table:
    """One row per partition a member says it owns; lists of unequal length are a finding of their own."""
    row, topics, numbered = paired(members["assigned_topics"], members["assigned_partitions"])
    claims = members.select(["group_id", "member_id"]).take(pa.array(row))
    claims = with_columns(claims, topic=topics, partition=numbered)
    stable = pc.and_(
        pc.equal(groups["state"], "Stable"),
        pc.not_equal(groups["group_type"], GroupType.SHARE.value),
    )
    single = groups["group_id"].filter(pc.fill_null(stable, False))
    exclusive = truths(among(claims["group_id"], single))
    once = times(codes(claims["group_id"], claims["topic"], claims["partition"])) == 1
    return with_columns(
        claims, known=_known(claims, partitions), exclusive=flags(~exclusive | once)
    )


def _known(claims: pa.Table, partitions: pa.Table) -> pa.Array:
    """Whether the partition of each row was read."""
    topics = partitions["topic"].unique()

    def keys(table: pa.Table) -> pa.Array:
        topic = numbers(pc.index_in(table["topic"], value_set=topics), -1)
        # a partition that is null is none that a list could hold
        return pa.array(topic * _WIDE + numbers(table["partition"], _WIDE // 2))

    return pc.is_in(keys(claims), value_set=keys(partitions))


def _subscriptions(members: pa.Table, partitions: pa.Table) -> pa.Table:
    """One row per group and topic it subscribes to."""
    pairs = _distinct(_mentioned(members, "subscription"))
    pairs = pairs.sort_by([("group_id", "ascending"), ("topic", "ascending")])
    return with_columns(pairs, known=among(pairs["topic"], partitions["topic"]))


def _mentioned(members: pa.Table, column: str) -> pa.Table:
    """The group and the topic for each topic in the lists of a column."""
    row = np.repeat(np.arange(len(members)), lengths(members[column]))
    return pa.table(
        {"group_id": members["group_id"].take(pa.array(row)), "topic": listed(members[column])}
    )


def _distinct(pairs: pa.Table) -> pa.Table:
    """Each group and topic once, those without a name left out."""
    return pairs.drop_null().group_by(["group_id", "topic"]).aggregate([])
