"""
What metrics must be like: every number possible, and those of a group the sums of its members' and partitions'.

A group with an impossible number is shown as unknown and gets no advice; the others go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import great_expectations as gx
import great_expectations.expectations as gxe
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.columns import columns_of
from evenkeel.engine.model import REBALANCING
from evenkeel.engine.records import GroupMetrics, MemberMetrics, PartitionMetrics
from evenkeel.expectations.frames import Frame, flags, with_columns
from evenkeel.expectations.ranges import UNSOUND, ranges, unsound
from evenkeel.expectations.suite import expect, holds, whole

COVERAGE = pa.schema({"group_id": pa.string(), "rows": pa.int64()})
NUMBERS = [s.name for s in columns_of(GroupMetrics) if s.kind in (int, float)]
TOTALS = ("partitions", "unknown_lag_partitions", "total_lag", "largest_partition_lag")
PARTS = (
    ("idle_members", "members"),
    ("unowned_partitions", "partitions"),
    ("unknown_lag_partitions", "partitions"),
    ("racks_left_out", "partitions"),
    ("largest_partition_lag", "total_lag"),
    ("largest_member_lag", "total_lag"),
    ("lag_floor", "total_lag"),
)
"""What is a part of what."""

Row = Mapping[str, Any]


@dataclass(kw_only=True)
class Sums:
    """What some partitions or members come to."""

    rows: int = 0
    unknown: int = 0
    lag: int = 0
    largest: int | None = None
    idle: int = 0
    judgeable: bool = True

    @property
    def total(self) -> int | None:
        """Their lag; None when one is unknown or there are none."""
        return None if self.unknown or not self.rows else self.lag


@dataclass(kw_only=True)
class Parts:
    """A group's partitions, those inside its totals and those of each member, and its members."""

    counted: Sums = field(default_factory=Sums)
    members: Sums = field(default_factory=Sums)
    owned: dict[str, Sums] = field(default_factory=lambda: defaultdict(Sums))


def metric_frames(tables: Mapping[str, pa.Table], groups: Sequence[str]) -> dict[str, Frame]:
    """
    The frames of one snapshot's metrics, by name.

    Args:
        tables: The three datasets.
        groups: Ids of the groups of the snapshot.
    """
    parts = _parts(tables)
    members = {
        (row["group_id"], row["member_id"])
        for row in tables["member_metrics"].select(["group_id", "member_id"]).to_pylist()
    }
    frames = [
        Frame(name="measured", table=_measured(tables["group_metrics"], groups)),
        Frame(name="group_metrics", table=_groups(tables["group_metrics"], groups, parts)),
        Frame(
            name="member_metrics",
            table=_members(tables["member_metrics"], tables["group_metrics"], parts),
        ),
        Frame(
            name="partition_metrics",
            table=_partitions(tables["partition_metrics"], tables["group_metrics"], members),
        ),
    ]
    return {frame.name: frame for frame in frames}


def build_suites(snapshot_id: str, rows: Mapping[str, int]) -> dict[str, gx.ExpectationSuite]:
    """
    The suites of metrics, by name of the frame they are for.

    Args:
        snapshot_id: Which snapshot.
        rows: What the manifest says of each dataset's size.
    """
    partition = "{topic}-{partition}"
    found = {
        "measured": [_once()],
        "group_metrics": [
            *whole(rows["group_metrics"], snapshot_id),
            _listed("row is of a group of the snapshot", "row is of a group the snapshot has not"),
            *ranges(GroupMetrics, "the group"),
            *_of_a_group(),
        ],
        "member_metrics": [
            *whole(rows["member_metrics"], snapshot_id),
            _listed("member is of a measured group", "member is of a group that was not measured"),
            _unique("member", "{member_id}", ["group_id", "member_id"]),
            *ranges(MemberMetrics, "{member_id}"),
            _agree(
                "A member's partitions and lag are those of the partitions it owns.", "{member_id}"
            ),
        ],
        "partition_metrics": [
            *whole(rows["partition_metrics"], snapshot_id),
            _listed(
                "partition is of a measured group", "partition is of a group that was not measured"
            ),
            _unique("partition", partition, ["group_id", "topic", "partition"]),
            *ranges(PartitionMetrics, partition),
            holds(
                "within_log",
                "No lag is more than the log holds.",
                "a lag is more than the log holds",
                partition + ": {lag} between {begin_offset} and {end_offset}",
            ),
            holds(
                "owner_known",
                "The owner of a partition is a member.",
                "an owner is no member",
                partition + " of {member_id}",
            ),
        ],
    }
    return {
        name: gx.ExpectationSuite(name=name, expectations=expectations)
        for name, expectations in found.items()
    }


def _once() -> gxe.Expectation:
    return expect(
        gxe.ExpectColumnValuesToBeInSet,
        "Every group is measured once.",
        "a group was measured more than once, or not at all",
        "{rows} rows",
        severity="warning",
        column="rows",
        value_set=[1],
    )


def _of_a_group() -> list[gxe.Expectation]:
    return [
        expect(
            gxe.ExpectColumnValuesToBeUnique,
            "No group is measured twice.",
            "a group is measured twice",
            "{group_id}",
            column="group_id",
        ),
        holds(
            "silent",
            "Nothing is measured of a group that could not be read or is withheld.",
            "there are numbers of a group that could not be read or is withheld",
            "{error}",
        ),
        _agree("A group's totals are those of its partitions and members.", "the group"),
        _no_more("A part is no larger than its whole."),
        holds(
            "above_floor",
            "Where everything is owned, the largest member lag is not under its floor.",
            "the largest member lag is under its floor",
            "{largest_member_lag} under {lag_floor}",
        ),
    ]


def _listed(description: str, problem: str) -> gxe.Expectation:
    return holds("listed", f"Every {description}.", f"a {problem}", "{group_id}", rejects=True)


def _unique(what: str, example: str, columns: list[str]) -> gxe.Expectation:
    return expect(
        gxe.ExpectCompoundColumnsToBeUnique,
        f"No {what} is measured twice.",
        f"a {what} is measured twice",
        example,
        column_list=columns,
        ignore_row_if="any_value_is_missing",
    )


def _agree(description: str, example: str) -> gxe.Expectation:
    return expect(
        gxe.ExpectColumnValuesToBeNull,
        description,
        "a number is not what its parts come to",
        example + ": {differs}",
        column="differs",
    )


def _no_more(description: str) -> gxe.Expectation:
    return expect(
        gxe.ExpectColumnValuesToBeNull,
        description,
        "a part is larger than its whole",
        "{larger}",
        column="larger",
    )


def _measured(groups: pa.Table, names: Sequence[str]) -> pa.Table:
    """One row per group of the snapshot: how many rows it has."""
    have = groups["group_id"].to_pylist()
    rows = [{"group_id": name, "rows": have.count(name)} for name in names]
    return pa.Table.from_pylist(rows, COVERAGE)


def _groups(groups: pa.Table, names: Sequence[str], parts: Mapping[str, Parts]) -> pa.Table:
    rows, known = groups.drop_columns(["findings"]).to_pylist(), set(names)
    return with_columns(
        groups,
        listed=flags(row["group_id"] in known for row in rows),
        silent=flags(
            row["error"] is None or all(row[n] is None for n in NUMBERS if n != "members")
            for row in rows
        ),
        differs=_texts(rows, lambda row: _group_differs(row, parts.get(row["group_id"], Parts()))),
        larger=_texts(rows, _larger),
        above_floor=flags(
            row["unowned_partitions"] != 0 or _at_most(row["lag_floor"], row["largest_member_lag"])
            for row in rows
        ),
        **{UNSOUND: unsound(groups, GroupMetrics)},
    )


def _group_differs(row: Row, parts: Parts) -> Iterator[str]:
    """What a group's row says otherwise than its partitions and members do."""
    if row["error"] is not None:
        return
    counted, members = parts.counted, parts.members
    if counted.judgeable:
        come_to = (counted.rows, counted.unknown, counted.total, counted.largest)
        yield from _unequal(row, dict(zip(TOTALS, come_to, strict=True)))
    if members.rows or row["state"] not in REBALANCING:
        yield from _unequal(row, {"members": members.rows})
        if row["idle_members"] is not None:
            yield from _unequal(row, {"idle_members": members.idle})
        if not members.unknown and not _at_most(row["largest_member_lag"], members.largest):
            yield f"largest_member_lag is {row['largest_member_lag']}, no member has more than {members.largest}"


def _unequal(row: Row, come_to: Mapping[str, int | None]) -> Iterator[str]:
    for name, number in come_to.items():
        if row[name] != number:
            yield f"{name} is {_shown(row[name])}, its parts come to {_shown(number)}"


def _shown(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def _larger(row: Row) -> Iterator[str]:
    for part, total in PARTS:
        if not _at_most(row[part], row[total]):
            yield f"{part} {row[part]} of {total} {row[total]}"


def _members(members: pa.Table, groups: pa.Table, parts: Mapping[str, Parts]) -> pa.Table:
    def differs(row: Row) -> Iterator[str]:
        owned = parts[row["group_id"]].owned.get(row["member_id"], Sums())
        lag = None if owned.unknown else owned.lag
        yield from _unequal(row, {"partitions": owned.rows, "lag": lag})

    return with_columns(
        members,
        listed=_among(members, groups),
        differs=_texts(members.to_pylist(), differs),
        **{UNSOUND: unsound(members, MemberMetrics)},
    )


def _partitions(partitions: pa.Table, groups: pa.Table, members: set[tuple[Any, Any]]) -> pa.Table:
    size = pc.subtract(partitions["end_offset"], partitions["begin_offset"])
    over = pc.greater(partitions["lag"], pc.max_element_wise(size, 0))
    states = dict(zip(groups["group_id"].to_pylist(), groups["state"].to_pylist(), strict=True))
    owners = zip(
        partitions["group_id"].to_pylist(), partitions["member_id"].to_pylist(), strict=True
    )
    return with_columns(
        partitions,
        listed=_among(partitions, groups),
        within_log=pc.invert(pc.fill_null(over, False)),
        owner_known=flags(
            member is None or (group, member) in members or states.get(group) in REBALANCING
            for group, member in owners
        ),
        **{UNSOUND: unsound(partitions, PartitionMetrics)},
    )


def _parts(tables: Mapping[str, pa.Table]) -> dict[str, Parts]:
    """What the partitions and members of each group come to."""
    found: dict[str, Parts] = defaultdict(Parts)
    columns = ("group_id", "member_id", "lag", "counted")
    partitions = tables["partition_metrics"].select(columns)
    for group, member, lag, counted in zip(*(c.to_pylist() for c in partitions), strict=True):
        own = found[group]
        if counted is None:  # a file of an older version
            own.counted.judgeable = False
        for sums in ([own.counted] if counted else []) + ([own.owned[member]] if member else []):
            _add(sums, lag)
    for row in tables["member_metrics"].select(["group_id", "lag", "partitions"]).to_pylist():
        own = found[row["group_id"]]
        _add(own.members, row["lag"])
        own.members.idle += row["partitions"] == 0
    return found


def _add(sums: Sums, lag: int | None) -> None:
    sums.rows += 1
    if lag is None:
        sums.unknown += 1
        return
    sums.lag += lag
    sums.largest = lag if sums.largest is None else max(lag, sums.largest)


def _among(table: pa.Table, groups: pa.Table) -> pa.ChunkedArray:
    return pc.is_in(table["group_id"], value_set=groups["group_id"].combine_chunks())


def _texts(rows: Sequence[Row], say: Callable[[Row], Iterator[str]]) -> pa.Array:
    """Per row what there is to say of it; null for nothing."""
    return pa.array(["; ".join(say(row)) or None for row in rows], pa.string())


def _at_most(number: int | None, limit: int | None) -> bool:
    return number is None or limit is None or number <= limit
