"""What `evenkeel lag` prints: the groups furthest behind first, each with its partitions by lag."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...messages.wording import member_names
from ...model.columns import ColumnSpec
from ...model.formats import UNKNOWN, brief, brief_duration, minute, or_unknown
from ...model.groups import Member
from ...model.states import Diagnosis
from ...model.text import and_more, several
from ...records import GroupMetrics, GroupRow, MemberMetrics, PartitionMetrics
from .columns import Shown, cell, pick, table
from .fleet import MOST_NAME, NAMED, cut_to, is_behind
from .tables import Table, legend_of, screen_width, show, tell, text

if TYPE_CHECKING:
    from ...config import Settings

Row = Mapping[str, Any]

PARTITIONS_SHOWN = 10
"""As many partitions of a group are listed beside other groups."""

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

_BRIEF = {
    "lag": brief,
    "time_lag_seconds": brief_duration,
    "production_per_second": brief,
    "consumption_per_second": brief,
}

_WIDE = (
    *("topic", "partition", "begin_offset", "end_offset", "committed_offset", "lag"),
    *("time_lag_seconds", "production_per_second", "consumption_per_second", "status", "lag_basis"),
)

_SPECS = {
    spec.name: spec
    for spec in (
        *pick(PartitionMetrics, *_WIDE),
        *pick(MemberMetrics, "rack"),
        *pick(PartitionMetrics, "member_id"),
    )
}


@dataclass(frozen=True, kw_only=True)
class Lags:
    """
    Groups and partitions of one snapshot.

    Attributes:
        groups: Their rows of `group_metrics`.
        partitions: Their partitions, by group, topic and number; a group without any is a row without partition.
        cluster: The cluster.
        taken_at: When the snapshot was taken.
        settings: The configuration.
    """

    groups: Sequence[Row]
    partitions: Sequence[Row]
    cluster: str
    taken_at: datetime
    settings: Settings


def show_lags(lags: Lags, *, overview: bool, every: bool, wide: bool) -> None:
    """
    Print the groups, the one furthest behind first.

    Args:
        lags: They and their partitions.
        overview: Whether healthy groups are counted, and few partitions of each other group are listed.
        every: Whether even then all groups and partitions are listed.
        wide: Whether all columns are shown.
    """
    width = screen_width()
    having = [row for row in lags.partitions if row["partition"] is not None]
    own = {
        str(name): sorted(rows, key=_largest_lag)
        for name, rows in itertools.groupby(having, key=lambda row: row["group"])
    }
    groups = sorted((one for one in lags.groups if one["group_id"] in own), key=_furthest_behind)
    quiet = [one for one in groups if overview and not every and _is_healthy(one)]
    blocks = [one for one in groups if one not in quiet]
    tables = []
    if overview:
        tell(_heading(lags, having), width=width)
    for place, head in enumerate(blocks):
        if place or overview:
            print()
        rows = own[head["group_id"]]
        limit = PARTITIONS_SHOWN if overview and not (every or wide) else len(rows)
        tables.append(_table(rows, rows[:limit], wide=wide))
        tell(_about(lags, head, alone=not overview), width=width)
        show(tables[-1:], wide=wide, legend=False)
        if len(rows) > limit:
            rest = [row["lag"] for row in rows[limit:]]
            total = UNKNOWN if None in rest else brief(sum(rest))
            print(f"and {several(len(rest), 'partition')} more, lag {total} (--all lists them)")
    if quiet:
        names = ", ".join(cut_to(text(one["group_id"]), MOST_NAME) for one in quiet[:NAMED])
        told = f"{several(len(quiet), 'healthy group')}, lag {_total(quiet)}: {names}"
        tell(["", f"{told}{and_more(len(quiet) - NAMED)} (--all lists them)"], width=width)
    without = [row for row in lags.partitions if row["partition"] is None]
    if without:
        tables.append(_without(lags, without))
        print()
        show(tables[-1:], wide=wide, legend=False)
    tell(_legend(tables, wide=wide), width=width)


def _is_healthy(head: Row) -> bool:
    return bool(head["diagnosis"] == Diagnosis.HEALTHY)


def _furthest_behind(head: Row) -> tuple[object, ...]:
    """By time behind, then by lag; an unhealthy group is worse, and worst where nothing shows how far it is behind."""
    behind, diagnosis = head["delay_seconds"], head["diagnosis"]
    is_blank = diagnosis in (Diagnosis.UNKNOWN, None)
    if behind is None:
        behind = 0 if is_blank or _is_healthy(head) else math.inf
    return (_is_healthy(head), is_blank, -behind, -(head["total_lag"] or 0), head["group_id"])


def _largest_lag(row: Row) -> tuple[object, ...]:
    """By lag; an unknown one is above none."""
    return (-1 if row["lag"] is None else -row["lag"], row["topic"], row["partition"])


def _total(heads: Sequence[Row]) -> str:
    """The lag of groups, as far as it is known."""
    return brief(sum(head["total_lag"] or 0 for head in heads))


def _heading(lags: Lags, partitions: Sequence[Row]) -> list[str]:
    behind = sum(is_behind(one, lags.settings) for one in lags.groups)
    unknown = sum(bool(one["unknown_lag_partitions"]) for one in lags.groups)
    told = [
        f"{several(behind, 'group')} behind",
        *([f"lag of {several(unknown, 'group')} unknown"] if unknown else []),
    ]
    return [
        f"Cluster {text(lags.cluster)}: {several(len(lags.groups), 'group')}, "
        f"{several(len(partitions), 'partition')}, lag {_total(lags.groups)}; {minute(lags.taken_at)}",
        ", ".join(told),
    ]


def _about(lags: Lags, head: Row, *, alone: bool) -> list[str]:
    """A group: how far behind it is, why, and what it is."""
    behind, unknown = head["delay_seconds"], head["unknown_lag_partitions"]
    diagnosis = head["diagnosis"] or Diagnosis.UNKNOWN
    without = f" (unknown on {several(unknown, 'partition')})" if unknown else ""
    cluster = f" ({text(lags.cluster)})" if alone else ""
    told = [
        f"{text(head['group_id'])}{cluster}: {Diagnosis(diagnosis).value}",
        *([f"{brief_duration(behind)} behind"] if behind else []),
        f"lag {or_unknown(brief)(head['total_lag'])}{without}",
    ]
    idle = f" ({head['idle_members']} idle)" if head["idle_members"] else ""
    details = [
        text(head["state"], UNKNOWN),
        *(text(head[name]) for name in ("group_type", "assignor") if head[name]),
        f"{several(head['members'] or 0, 'member')}{idle}",
        several(head["partitions"] or 0, "partition"),
    ]
    moment = f"; {minute(lags.taken_at)}" if alone else ""
    reason = text(head["diagnosis_reason"], "")
    return [
        ", ".join(told),
        *([f"  {reason}"] if reason else []),
        f"  {', '.join(details)}{moment}",
    ]


def _table(every: Sequence[Row], rows: Sequence[Row], *, wide: bool) -> Table:
    """
    Partitions of a group.

    Args:
        every: All of them: a column that has nothing to add is left out, whichever are shown.
        rows: Those that are shown.
        wide: Whether all columns are shown, with exact numbers.
    """
    idle = {
        "status": all(row["status"] == "UNKNOWN" for row in every),
        "lag_basis": all(row["lag_basis"] == "committed" for row in every),
        "rack": not any(row["rack"] for row in every),
        **{
            name: all(row[name] is None for row in every)
            for name in ("time_lag_seconds", "production_per_second", "consumption_per_second")
        },
    }
    names = _owners(every)

    def short(spec: ColumnSpec) -> Shown:
        def told(row: Row) -> str:
            value = _stored(row)[spec.name]
            if value is None or spec.name not in _BRIEF:
                return cell(spec, value, _stored(row), names)
            return _BRIEF[spec.name](value)

        return ">" * (spec.kind in (int, float)) + _SHORT[spec.name], told

    columns: list[Shown] = list(_SPECS.values())
    if not wide:
        partition = ("PARTITION", lambda row: text(f"{row['topic']}-{row['partition']}"))
        columns = [partition, *(short(_SPECS[name]) for name in _SHORT if not idle.get(name))]
    return table(
        columns,
        rows,
        stored=_stored,
        names=names,
        spare=["END", "COMMITTED", "RACK", "OUT", "IN", "LAG IS", "STATUS"],
    )


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


def _without(lags: Lags, rows: Sequence[Row]) -> Table:
    members = {one["group_id"]: one["members"] for one in lags.groups}
    heads = {"group_id": "GROUP", "state": "STATE", "group_type": "TYPE"}
    specs = pick(GroupRow, "group_id", "state", "group_type", "protocol_type")
    heads["protocol_type"] = "PROTOCOL"
    (counted,) = pick(GroupMetrics, "members")

    def told(spec: ColumnSpec) -> Shown:
        keys = {"group_id": "group", "group_type": "type"}
        name = keys.get(spec.name, spec.name)
        return heads[spec.name], lambda row: cell(spec, row[name])

    return table(
        [*map(told, specs), (">MEMBERS", lambda row: cell(counted, members[row["group"]]))],
        rows,
        title=f"{several(len(rows), 'group')} without partitions",
    )


def _legend(tables: Sequence[Table], *, wide: bool) -> list[str]:
    signs = legend_of(tables)
    headings = {heading.strip(">") for each in tables for heading in each.headings}
    rates = "IN, OUT: records/s" if "IN" in headings else ""
    more = (
        ""
        if wide or "PARTITION" not in headings
        else "--wide shows begin offsets and exact numbers"
    )
    line = "; ".join(filter(None, (signs, rates, more)))
    return ["", line] if line else []
