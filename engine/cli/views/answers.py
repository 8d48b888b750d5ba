"""What `evenkeel query` prints: the named queries, and the rows of one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from ...messages.wording import member_names
from ...model.columns import ColumnSpec
from ...model.groups import Member
from ...model.text import cut, shortened
from ...records import MemberMetrics, columns_of_query
from .columns import Shown, cell, head, table
from .tables import Table, screen_width, tell


def question(summary: str) -> str:
    """The question that begins a summary."""
    head, mark, _ = summary.partition("? ")
    return head + mark.strip() if mark else summary.partition(". ")[0]


TEXT = 48
"""As many characters of a text are shown where several rows are listed."""

_TOPICS: Mapping[str, tuple[str, ...]] = {
    "Now": (
        *("groups", "open_incidents", "open_switches", "worst_partitions", "members"),
        *("scoreboard", "advised_moves", "silences"),
    ),
    "History": (
        *("worst_groups", "worse_groups", "before_after", "lag_history", "lag_trend", "churn"),
        *("rebalances", "rebalance_bill", "membership_changes", "same_hour"),
    ),
    "Incidents": ("incident_history", "incident_totals"),
    "Advice": (
        *("advice_history", "advice_events", "advice_totals", "switch_outcomes", "advice_regret"),
        *("advice_scorecard", "ledger_scores"),
        *("strategy_wins", "strategy_history", "backfill_changes"),
    ),
    "Racks": ("cross_rack_cost", "rack_cost_daily"),
    "Pipeline": ("snapshot_health", "failed_steps", "skipped_groups", "advice_age"),
}
"""The named queries by topic, the one that is asked most first."""


def show_catalogue(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the named queries by topic: the question, and the parameters with their defaults."""
    width = screen_width()
    by_name = {row["query"]: row for row in rows}
    column = max(map(len, by_name)) + 2
    tell([f"{len(rows):,} queries: evenkeel query NAME"])
    for topic, names in _TOPICS.items():
        tell(["", topic])
        for row in (by_name[name] for name in names):
            given = ", ".join(map(_usage, row["parameters"]))
            told = f"{question(row['summary'])}{f' ({given})' if given else ''}"
            tell([f"  {row['query']:<{column}}{told}"], column, width=width)
    tell(
        ["", "* required; give parameters as --param KEY=VALUE, a group as a name or pattern"],
        width=width,
    )


def _usage(parameter: Mapping[str, Any]) -> str:
    if parameter["required"]:
        return f"{parameter['name']}*"
    default = parameter["default"]
    return f"{parameter['name']}={default}" if default else str(parameter["name"])


def result_table(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    names: Mapping[str, str] | None = None,
    *,
    short: bool = False,
) -> Table:
    """
    Rows of a query as a table.

    >>> rows = [{"total_lag": None, "verdict": None}, {"total_lag": 17000, "verdict": "stay"}]
    >>> result_table("groups", rows).rows, result_table("groups", rows, short=True).rows[1]
    ([['?', '-'], ['17,000', 'stay']], ['17k', 'stay'])

    Args:
        name: The query.
        rows: Its rows, at least one.
        names: Short names of members, by id.
        short: Whether numbers are rounded, and of several rows texts are cut.
    """
    declared = columns_of_query(name)
    columns = [declared[column] for column in rows[0]]
    if not short:
        return table(columns, rows, names=names)
    limit = TEXT if len(rows) > 1 else None
    return table([_short(spec, names, limit) for spec in columns], rows, is_list=True)


def _short(spec: ColumnSpec, names: Mapping[str, str] | None, limit: int | None) -> Shown:
    def told(row: Mapping[str, Any]) -> str:
        shown = cell(spec, row[spec.name], row, names, rounded=True)
        if limit is None or len(shown) <= limit:
            return shown
        return shortened(shown, limit) if " " in shown else cut(shown, limit)

    return head(spec), told


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
