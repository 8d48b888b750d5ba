"""What `evenkeel lag` prints: the groups furthest behind first, each with its partitions by lag."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...messages.wording import member_names
from ...messages.wording.incidents import WHAT_IS_MISSING
from ...model.formats import UNKNOWN, brief, brief_duration, minute, or_unknown
from ...model.groups import Member
from ...model.states import Diagnosis, GroupType, TimeLagBasis
from ...model.text import several
from ...records import GroupMetrics, GroupRow, MemberMetrics, PartitionMetrics
from ...snapshots import split_snapshot_id
from .columns import Shown, pick, short, table
from .fleet import healthy, in_cluster, is_behind
from .one_group import action_for
from .strategy_table import Row
from .tables import Table, screen_width, show, tell, tell_legend, text

if TYPE_CHECKING:
    from ..sources import SnapshotSource

PARTITIONS_SHOWN = 10
"""As many partitions of a group are listed beside other groups."""

SHARED = "; records in flight: unknown, Kafka doesn't expose them"
"""What is told of each share group that has members."""

RATES = "IN, OUT: records/s"
"""The unit of these columns, for a legend."""

_SHORT = {
    "lag": "LAG",
    "time_lag_seconds": "TIME LAG",
    "production_per_second": "IN",
    "consumption_per_second": "OUT",
    "status": "STATUS",
    "lag_basis": "LAG IS",
    "committed_offset": "COMMITTED",
    "end_offset": "END",
    "rack": "RACK",
    "member_id": "MEMBER",
}
"""Columns of a partition by their short headings."""

_DULL = {
    **dict.fromkeys(("time_lag_seconds", "production_per_second", "consumption_per_second")),
    **{"status": "UNKNOWN", "lag_basis": "committed", "rack": None},
}
"""Columns that are left out where all partitions have this value."""

_WIDE = (
    *("topic", "partition", "begin_offset", "end_offset", "committed_offset", "lag"),
    *("time_lag_seconds", "production_per_second", "consumption_per_second", "status", "lag_basis"),
    *("rack", "member_id"),
)

_OF = (PartitionMetrics, MemberMetrics)


def show_lags(
    source: SnapshotSource,
    heads: Sequence[Row],
    partitions: Sequence[Row],
    *,
    overview: bool,
    every: bool,
    wide: bool,
) -> None:
    """
    Print the groups, the one furthest behind first.

    Args:
        source: Their snapshots.
        heads: Their rows of `group_metrics`.
        partitions: Their partitions, by group, topic and number; a group without any is a row without partition.
        overview: Whether healthy groups are counted, and few partitions of each other group are listed.
        every: Whether even then all groups and partitions are listed.
        wide: Whether all columns are shown.
    """
    width = screen_width()
    having = [row for row in partitions if row["partition"] is not None]
    own = {
        str(name): sorted(rows, key=largest_lag)
        for name, rows in itertools.groupby(having, key=lambda row: row["group"])
    }
    groups = sorted((one for one in heads if one["group_id"] in own), key=furthest_behind)
    quiet = [one for one in groups if overview and not every and _is_healthy(one)]
    blocks = [one for one in groups if one not in quiet]
    tables = []
    if overview:
        tell(_heading(source, heads, having), width=width)
    for place, head in enumerate(blocks):
        if place or overview:
            print()
        rows = own[head["group_id"]]
        limit = PARTITIONS_SHOWN if overview and not (every or wide) else len(rows)
        tables.append(partition_table(rows, rows[:limit], _owners(rows), wide=wide))
        tell(about(head, None if overview else source, acts=not overview), width=width)
        show(tables[-1:], wide=wide, legend=False)
        if len(rows) > limit:
            rest = [row["lag"] for row in rows[limit:]]
            total = UNKNOWN if None in rest else brief(sum(rest))
            print(f"and {several(len(rest), 'partition')} more, lag {total} (--all lists them)")
    blank = [one for one in groups if action_for(one) == WHAT_IS_MISSING["no_past"]]
    if blank and overview and source.is_live:
        tell(["", _second_snapshot(blank)], width=width)
    if quiet:
        told = healthy(
            [one["group_id"] for one in quiet],
            f"lag {brief(sum(one['total_lag'] or 0 for one in quiet))}",
        )
        tell(["", told], width=width)
    without = [row for row in partitions if row["partition"] is None]
    if without:
        tables.append(_without(heads, without))
        if blocks or overview:
            print()
        show(tables[-1:], wide=wide, legend=False)
    rates = any(">IN" in each.headings for each in tables)
    tell_legend(
        tables,
        RATES if rates else "",
        "" if wide or not blocks else "--wide shows begin offsets and exact numbers",
        width=width,
    )


def _second_snapshot(blank: Sequence[Row]) -> str:
    """Why the diagnosis of some groups is unknown after one snapshot, and the option that gives it."""
    which = f"the diagnosis of {several(len(blank), 'group')}"
    return f"One snapshot doesn't show {which}: `evenkeel lag --samples 3` takes more."


def _is_healthy(head: Row) -> bool:
    return bool(head["diagnosis"] == Diagnosis.HEALTHY)


def furthest_behind(head: Row) -> tuple[object, ...]:
    """By time behind, then by lag; an unhealthy group is worse, and worst where nothing shows how far it is behind."""
    behind, diagnosis = head["delay_seconds"], head["diagnosis"]
    is_blank = diagnosis in (Diagnosis.UNKNOWN, None)
    if behind is None:
        behind = 0 if is_blank or _is_healthy(head) else math.inf
    return (_is_healthy(head), is_blank, -behind, -(head["total_lag"] or 0), head["group_id"])


def largest_lag(row: Row) -> tuple[object, ...]:
    """By lag; an unknown one is above none."""
    return (-1 if row["lag"] is None else -row["lag"], row["topic"], row["partition"])


def _heading(source: SnapshotSource, heads: Sequence[Row], partitions: Sequence[Row]) -> list[str]:
    behind = sum(is_behind(one, source.settings) for one in heads)
    unknown = sum(bool(one["unknown_lag_partitions"]) for one in heads)
    lag = brief(sum(one["total_lag"] or 0 for one in heads))
    return [
        f"Cluster {text(source.cluster)}: {several(len(heads), 'group')}, "
        f"{several(len(partitions), 'partition')}, lag {lag}; {_taken(source)}",
        f"{several(behind, 'group')} behind"
        + (f", lag of {several(unknown, 'group')} unknown" if unknown else ""),
    ]


def _taken(source: SnapshotSource) -> str:
    return minute(split_snapshot_id(source.newest)[1])


def about(head: Row, source: SnapshotSource | None, *, acts: bool) -> list[str]:
    """
    A group: how far behind it is, why, and what it is.

    Args:
        head: Its row of `group_metrics`.
        source: Whose cluster and time are named; None where they stand above.
        acts: Whether it says what to do.
    """
    behind, unknown = head["delay_seconds"], head["unknown_lag_partitions"]
    diagnosis = head["diagnosis"] or Diagnosis.UNKNOWN
    without = f" (unknown on {several(unknown, 'partition')})" if unknown else ""
    name = in_cluster(head["group_id"], source.cluster) if source else text(head["group_id"])
    told = f"{name}: {Diagnosis(diagnosis).value}"
    told += f", {brief_duration(behind)} behind" if behind else ""
    kinds = [text(head[key]) for key in ("group_type", "assignor") if head[key]]
    idle = f" ({head['idle_members']} idle)" if head["idle_members"] else ""
    members, partitions = (head[key] or 0 for key in ("members", "partitions"))
    sizes = [f"{several(members, 'member')}{idle}", several(partitions, "partition")]
    details = ", ".join([text(head["state"], UNKNOWN), *kinds, *sizes])
    details += SHARED if members and head["group_type"] == GroupType.SHARE else ""
    reason, action = text(head["diagnosis_reason"], ""), action_for(head)
    return [
        f"{told}, lag {or_unknown(brief)(head['total_lag'])}{without}",
        *([f"  {reason}"] if reason else []),
        *([f"  {action}"] if action and acts else []),
        f"  {details}; {_taken(source)}" if source else f"  {details}",
    ]


def partition_table(
    every: Sequence[Row], rows: Sequence[Row], names: Mapping[str, str], *, wide: bool = False
) -> Table:
    """
    Partitions of a group.

    Args:
        every: All of them: a column that has nothing to add is left out, whichever are shown.
        rows: Those that are shown.
        names: Short names of their owners, by id.
        wide: Whether all columns are shown, with exact numbers.
    """
    columns: list[Shown] = [*pick(_OF, *_WIDE)]
    if not wide:
        headings = {
            name: each
            for name, each in _SHORT.items()
            if name not in _DULL or any(row[name] != _DULL[name] for row in every)
        }
        if {row["type"] for row in every} == {GroupType.SHARE}:
            headings["committed_offset"] = "START"
        columns = [
            ("PARTITION", lambda row: text(f"{row['topic']}-{row['partition']}")),
            *map(
                _or_more, short(_OF, headings, _stored, names, ("committed_offset", "end_offset"))
            ),
        ]
    return table(
        columns,
        rows,
        stored=_stored,
        names=names,
        spare=["END", "COMMITTED", "START", "RACK", "OUT", "IN", "LAG IS", "STATUS"],
    )


def _or_more(column: Shown) -> Shown:
    """The time lag with a mark where the commit is older than what the snapshots reach back; others as they are."""
    if not isinstance(column, tuple) or "TIME LAG" not in column[0]:
        return column
    head, told = column

    def marked(row: Row) -> str:
        is_more = row["time_lag_basis"] == TimeLagBasis.AT_LEAST
        return f">{told(row)}" if is_more else told(row)

    return head, marked


def _stored(row: Row) -> Row:
    """What `--json` prints of a partition, by the names of columns again."""
    return {
        **row,
        "member_id": row["member"],
        "begin_offset": row["begin"],
        "end_offset": row["end"],
        "committed_offset": row["committed"],
    }


def _owners(rows: Sequence[Row]) -> Mapping[str, str]:
    """Short names of the members that own partitions, by id."""
    owners = {row["member"]: row for row in rows if row["member"]}
    return member_names(
        Member(
            id=member,
            client_id=row["client_id"] or "",
            host=row["host"] or "",
            instance_id=row["instance_id"],
        )
        for member, row in owners.items()
    )


def _without(heads: Sequence[Row], rows: Sequence[Row]) -> Table:
    known = {one["group_id"]: one for one in heads}
    headings = {"group_id": "GROUP", "state": "STATE", "group_type": "TYPE"}
    headings |= {"protocol_type": "PROTOCOL", "members": "MEMBERS"}
    return table(
        short((GroupRow, GroupMetrics), headings, lambda row: row | known[row["group"]]),
        rows,
        title=f"{several(len(rows), 'group')} without partitions",
    )
