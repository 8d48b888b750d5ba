"""What `evenkeel query` shows: the named queries, and the rows of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from evenkeel import sql
from evenkeel.engine.cli.views.tables import (
    NOTHING,
    UNKNOWN,
    Table,
    duration,
    number,
    ratio,
    share,
    text,
    to_json,
)


def catalogue_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The named queries: the question, and the parameters with their defaults."""

    def question(summary: str) -> str:
        head, mark, _ = summary.partition("? ")
        return head + mark.strip() if mark else summary.partition(". ")[0]

    def told(parameter: Mapping[str, Any]) -> str:
        if parameter["required"]:
            return f"{parameter['name']} (required)"
        default = parameter["default"]
        return f"{parameter['name']}={default}" if default else str(parameter["name"])

    return Table(
        headings=["Query", "Answers", "Parameters"],
        rows=[
            [r["query"], question(r["summary"]), ", ".join(map(told, r["parameters"])) or NOTHING]
            for r in rows
        ],
    )


def result_table(query: sql.Statement, rows: Sequence[Mapping[str, Any]]) -> Table:
    """
    Rows of a query as a table; moments in UTC.

    Null is unknown, or none where the query says so; a moment that is null has not been.

    >>> query = sql.queries()["groups"]
    >>> rows = [{"total_lag": None, "verdict": None}, {"total_lag": 7, "verdict": "stay"}]
    >>> result_table(query, rows).rows
    [['?', '-'], ['7', 'stay']]
    """
    columns = list(rows[0])
    known = {c: [row[c] for row in rows if row[c] is not None] for c in columns}
    numeric = {c for c in columns if known[c] and all(map(_is_number, known[c]))}
    moments = {c for c in columns if any(isinstance(value, datetime) for value in known[c])}

    def cell(row: Mapping[str, Any], column: str) -> str:
        if row[column] is None:
            none = column in moments or query.null_is_none(column, row)
            return NOTHING if none else UNKNOWN
        return _cell(row[column], column)

    return Table(
        headings=[f">{c}" if c in numeric else c for c in columns],
        rows=[[cell(row, column) for column in columns] for row in rows],
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any, column: str) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        if column.endswith("_share"):
            return share(value)
        return duration(value) if column.endswith("seconds") else ratio(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return text("; ".join(value))
    if isinstance(value, list | dict):
        return text(to_json({"": value})[5:-1])
    return text(f"{value}")
