"""
What metrics must be like: every number possible, and those of a group the sums of its members' and partitions'.

A group with an impossible number is shown as unknown and gets no advice; the others go on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import great_expectations as gx
import great_expectations.expectations as gxe
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.columns import columns_of
from evenkeel.engine.model import REBALANCING, Flags, Ints
from evenkeel.engine.records import GroupMetrics, MemberMetrics, PartitionMetrics
from evenkeel.expectations.columns import (
    among,
    at_most,
    codes,
    flags,
    numbers,
    remarks,
    stacked,
    truths,
    where,
)
from evenkeel.expectations.frames import Frame, with_columns
from evenkeel.expectations.ranges import UNSOUND, ranges, unsound
from evenkeel.expectations.suite import expect, holds, whole

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

_LEAST = np.iinfo(np.int64).min


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    """
    What partitions or members come to, by the code of what they are of: how many, of how many the lag is unknown,
    the sum of what is known of it, and the largest (null where nothing is).
    """

    rows: Ints
    unknown: Ints
    lag: Ints
    largest: pa.Array

    @classmethod
    def of(cls, code: Ints, lag: pa.ChunkedArray, kinds: int) -> Sums:
        """The sums of rows with these codes, out of so many there are."""
        known, size = lag.is_valid().to_numpy(), numbers(lag)
        sums, largest = np.zeros(kinds, np.int64), np.full(kinds, _LEAST)
        np.add.at(sums, code[known], size[known])
        np.maximum.at(largest, code[known], size[known])
        return cls(
            rows=np.bincount(code, minlength=kinds),
            unknown=np.bincount(code[~known], minlength=kinds),
            lag=sums,
            largest=pa.array(largest, mask=largest == _LEAST),
        )


def metric_frames(tables: Mapping[str, pa.Table], groups: Sequence[str]) -> dict[str, Frame]:
    """
    The frames of one snapshot's metrics, by name.

    Args:
        tables: The three datasets.
        groups: Ids of the groups of the snapshot.
    """
    of_groups, of_members = tables["group_metrics"], tables["member_metrics"]
    partitions = tables["partition_metrics"]
    keys = _Keys.of(of_groups, of_members, partitions)
    frames = [
        Frame(name="measured", table=_measured(of_groups, groups)),
        Frame(name="group_metrics", table=_groups(tables, groups, keys)),
        Frame(name="member_metrics", table=_members(of_members, of_groups, partitions, keys)),
        Frame(name="partition_metrics", table=_partitions(partitions, of_groups, keys)),
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
    by_frame = {
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
        for name, expectations in by_frame.items()
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Keys:
    """
    Which rows are of the same group, and of the same member, by codes that the three tables share.

    Attributes:
        groups: The group's code of each row of groups, of members and of partitions.
        members: The member's code of each row of members, and the owner's of partitions.
        owned: Of which partitions somebody is the owner.
    """

    groups: tuple[Ints, Ints, Ints]
    members: tuple[Ints, Ints]
    owned: Flags

    @classmethod
    def of(cls, groups: pa.Table, members: pa.Table, partitions: pa.Table) -> _Keys:
        tables = (groups, members, partitions)
        group = codes(stacked(*(table["group_id"] for table in tables)))
        member = codes(*(stacked(members[n], partitions[n]) for n in ("group_id", "member_id")))
        ends = len(groups), len(groups) + len(members)
        return cls(
            groups=tuple(np.split(group, ends)),  # type: ignore[arg-type]
            members=tuple(np.split(member, [len(members)])),  # type: ignore[arg-type]
            owned=truths(pc.not_equal(partitions["member_id"], "")),
        )

    @property
    def kinds(self) -> tuple[int, int]:
        """How many groups and how many members there are codes for."""
        return tuple(
            max(c.max(initial=-1) for c in some) + 1 for some in (self.groups, self.members)
        )  # type: ignore[return-value]


def _measured(groups: pa.Table, names: Sequence[str]) -> pa.Table:
    """One row per group of the snapshot: how many rows it has."""
    wanted = pa.chunked_array([pa.array(names, pa.string())])
    code = codes(stacked(wanted, groups["group_id"]))
    have = np.bincount(code[len(wanted) :], minlength=len(code))
    return pa.table({"group_id": wanted, "rows": pa.array(have[code[: len(wanted)]])})


def _groups(tables: Mapping[str, pa.Table], names: Sequence[str], keys: _Keys) -> pa.Table:
    groups = tables["group_metrics"]
    known = pa.chunked_array([pa.array(names, pa.string())])
    numberless = np.all([groups[n].is_null().to_numpy() for n in NUMBERS if n != "members"], axis=0)
    loose = pc.not_equal(pc.fill_null(groups["unowned_partitions"], -1), 0)
    larger = (
        where(
            ~truths(at_most(groups[part], groups[total])),
            *(f"{part} ", _text(groups[part]), f" of {total} ", _text(groups[total])),
        )
        for part, total in PARTS
    )
    return with_columns(
        groups,
        listed=among(groups["group_id"], known),
        silent=pc.or_(groups["error"].is_null(), flags(numberless)),
        differs=_group_differs(tables, keys),
        larger=remarks(len(groups), *larger),
        above_floor=pc.or_(loose, at_most(groups["lag_floor"], groups["largest_member_lag"])),
        **{UNSOUND: unsound(groups, GroupMetrics)},
    )


def _group_differs(tables: Mapping[str, pa.Table], keys: _Keys) -> pa.Array:
    """What a group's row says otherwise than its partitions and members do."""
    groups, members = tables["group_metrics"], tables["member_metrics"]
    partitions = tables["partition_metrics"]
    (own, of_members, of_partitions), kinds = keys.groups, keys.kinds[0]
    counted = truths(partitions["counted"])
    parts = Sums.of(of_partitions[counted], partitions["lag"].filter(flags(counted)), kinds)
    hands = Sums.of(of_members, members["lag"], kinds)
    idle = np.bincount(of_members[numbers(members["partitions"], 1) == 0], minlength=kinds)
    # a file of an older version does not say what counts
    vague = np.bincount(of_partitions[partitions["counted"].is_null().to_numpy()], minlength=kinds)

    readable = groups["error"].is_null().to_numpy()
    judgeable = readable & (vague[own] == 0)
    settled = ~truths(among(groups["state"], pa.chunked_array([pa.array(REBALANCING)])))
    members_known = readable & ((hands.rows[own] > 0) | settled)
    totals = (
        pa.array(parts.rows[own]),
        pa.array(parts.unknown[own]),
        pa.array(parts.lag[own], mask=(parts.unknown[own] > 0) | (parts.rows[own] == 0)),
        parts.largest.take(pa.array(own)),
    )
    most, largest = hands.largest.take(pa.array(own)), groups["largest_member_lag"]
    excess = members_known & (hands.unknown[own] == 0) & ~truths(at_most(largest, most))
    return remarks(
        len(groups),
        *(_unequal(groups, n, t, judgeable) for n, t in zip(TOTALS, totals, strict=True)),
        _unequal(groups, "members", pa.array(hands.rows[own]), members_known),
        _unequal(
            groups,
            "idle_members",
            pa.array(idle[own]),
            members_known & groups["idle_members"].is_valid().to_numpy(),
        ),
        where(
            excess,
            *("largest_member_lag is ", _text(largest), ", no member has more than "),
            _text(most),
        ),
    )


def _unequal(table: pa.Table, name: str, come_to: pa.Array, judged: Flags) -> pa.Array:
    told = table[name]
    same = pc.or_(
        pc.fill_null(pc.equal(told, come_to), False), pc.and_(told.is_null(), come_to.is_null())
    )
    parts = (f"{name} is ", _text(told), ", its parts come to ", _text(come_to))
    return where(judged & ~truths(same), *parts)


def _text(values: Any) -> Any:
    return pc.fill_null(values.cast(pa.string()), "unknown")


def _members(members: pa.Table, groups: pa.Table, partitions: pa.Table, keys: _Keys) -> pa.Table:
    own, owner = keys.members
    owned = Sums.of(owner[keys.owned], partitions["lag"].filter(flags(keys.owned)), keys.kinds[1])
    every = np.ones(len(members), np.bool_)
    lag = pa.array(owned.lag[own], mask=owned.unknown[own] > 0)
    return with_columns(
        members,
        listed=among(members["group_id"], groups["group_id"]),
        differs=remarks(
            len(members),
            _unequal(members, "partitions", pa.array(owned.rows[own]), every),
            _unequal(members, "lag", lag, every),
        ),
        **{UNSOUND: unsound(members, MemberMetrics)},
    )


def _partitions(partitions: pa.Table, groups: pa.Table, keys: _Keys) -> pa.Table:
    size = pc.subtract(partitions["end_offset"], partitions["begin_offset"])
    over = pc.greater(partitions["lag"], pc.max_element_wise(size, 0))
    (own, _, of_partitions), (members, owner) = keys.groups, keys.members
    kinds, many = keys.kinds
    is_member, moving = np.zeros(many, np.bool_), np.zeros(kinds, np.bool_)
    is_member[members] = True
    moving[own] = truths(among(groups["state"], pa.chunked_array([pa.array(REBALANCING)])))
    unowned = partitions["member_id"].is_null().to_numpy()
    return with_columns(
        partitions,
        listed=among(partitions["group_id"], groups["group_id"]),
        within_log=pc.invert(pc.fill_null(over, False)),
        owner_known=flags(unowned | is_member[owner] | moving[of_partitions]),
        **{UNSOUND: unsound(partitions, PartitionMetrics)},
    )
