"""What `evenkeel query` shows: the named queries, and the rows of one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from ...messages.wording import member_names
from ...model.formats import NOTHING
from ...model.groups import Member
from ...records import MemberMetrics, columns_of_query
from .columns import table
from .tables import Table


def question(summary: str) -> str:
    """The question that begins a summary."""
    head, mark, _ = summary.partition("? ")
    return head + mark.strip() if mark else summary.partition(". ")[0]


def catalogue_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The named queries: the question, and the parameters with their defaults."""

    def usage(parameter: Mapping[str, Any]) -> str:
        if parameter["required"]:
            return f"{parameter['name']} (required)"
        default = parameter["default"]
        return f"{parameter['name']}={default}" if default else str(parameter["name"])

    return table(
        [
            ("Query", itemgetter("query")),
            ("Answers", lambda row: question(row["summary"])),
            ("Parameters", lambda row: ", ".join(map(usage, row["parameters"])) or NOTHING),
        ],
        rows,
    )


def result_table(
    name: str, rows: Sequence[Mapping[str, Any]], names: Mapping[str, str] | None = None
) -> Table:
    """
    Rows of a query as a table.

    >>> rows = [{"total_lag": None, "verdict": None}, {"total_lag": 7, "verdict": "stay"}]
    >>> result_table("groups", rows).rows
    [['?', '-'], ['7', 'stay']]

    Args:
        name: The query.
        rows: Its rows, at least one.
        names: Short names of members, by id.
    """
    declared = columns_of_query(name)
    columns = [declared[column] for column in rows[0]]
    return table(columns, rows, names=names)


def named_members(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of the members that rows of a query name, sorted."""
    naming = [spec.name for spec in columns_of_query(name).values() if spec.meaning.names_member]
    found = {row.get(column) for row in rows for column in naming}
    return sorted(member for member in found if member)


def short_names(members: Sequence[MemberMetrics]) -> dict[str, str]:
    """A short name for each member id, by the members it is seen with; the newest snapshot's where several have it."""
    names: dict[str, str] = {}
    key = attrgetter("cluster", "snapshot_id", "group_id")  # ids of one cluster sort by time
    for _, group in itertools.groupby(sorted(members, key=key), key=key):
        names |= member_names(
            Member(
                id=one.member_id,
                client_id=one.client_id,
                host=one.client_host,
                instance_id=one.instance_id,
            )
            for one in group
        )
    return names
