"""
The questions of `docs/reference/queries.md` with real answers: `python -m tests.helpers.cookbook` asks them again.

The answers are those of the history that `cookbook_history` makes in a real Postgres. They are kept in
`tests/data/cookbook.json`, from which `made_tables` writes the page; a test asks the same database again.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.cli.questions import question, read_parameters
from evenkeel.engine.cli.views.answers import result_table
from evenkeel.engine.cli.views.layout import plain_heading

FILE = Path(__file__).parents[1] / "data" / "cookbook.json"

MOST_ROWS = 6
"""So many rows of an answer are shown."""

WIDTH = 140
"""Characters of a line of the page."""

_UNTIL = "until=2026-03-03T23:59Z"
_MARCH = ("since=2026-03-01T00:00Z", "until=2026-04-01T00:00Z")
_SIDE_BY_SIDE = (
    *("group_id", "days", "snapshots", "won_snapshots", "live_member_lag", "member_lag"),
    *("live_worst_forecast_lag", "worst_forecast_lag", "live_cross_rack_share"),
    *("cross_rack_share", "moves", "worst_moves"),
)
"""What a strategy would have brought, beside what was."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """
    A query as it is asked, and what is shown of the answer.

    Attributes:
        query: Its name.
        given: Its parameters, as a command line has them.
        shown: The columns that are shown; without any all of them.
    """

    query: str
    given: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The command line that asks it."""
        given = (f"--param {shlex.quote(one)}" for one in self.given)
        return " ".join(["evenkeel query", self.query, *given])


EXAMPLES = (
    Example(
        query="worse_groups",
        given=("days=1", _UNTIL),
    ),
    Example(query="advice_totals", given=(_UNTIL,)),
    Example(query="advice_totals", given=("per=owner", _UNTIL)),
    Example(
        query="strategy_wins",
        given=("days=2", _UNTIL),
        shown=("group_id", "strategy", "won_snapshots", "switch_snapshots", "won_share"),
    ),
    Example(
        query="strategy_history",
        given=("strategy=lag-aware", *_MARCH),
        shown=_SIDE_BY_SIDE,
    ),
    Example(
        query="strategy_history",
        given=("strategy=roundrobin", "pattern=search-%", *_MARCH),
        shown=_SIDE_BY_SIDE,
    ),
    Example(
        query="open_switches",
        shown=(
            "cluster",
            "group_id",
            "strategy",
            "switches",
            "moves",
            "saved_lag",
            "saved_offset_seconds",
            "saved_bytes_per_second",
            "saved_per_month",
            "currency",
            "advised_since",
        ),
    ),
    Example(query="worst_groups", given=("since=2026-03-02T00:00Z", _UNTIL)),
    Example(
        query="before_after",
        given=("at=2026-03-02T14:00Z", "hours=2"),
        shown=(
            "group_id",
            "period",
            "total_lag",
            "time_lag_seconds",
            "diagnosis",
            "members",
            "consumption_per_second",
            "snapshots",
        ),
    ),
    Example(
        query="open_incidents",
        shown=(
            "group_id",
            "kind",
            "severity",
            "total_lag",
            "quiet",
            "began_at",
            "time_lag_seconds",
            "owner",
            "summary",
        ),
    ),
    Example(
        query="members",
        given=("most=4",),
        shown=(
            "group_id",
            "identity",
            "partitions",
            "lag",
            "lag_share",
            "consumption_per_second",
            "capacity_per_second",
            "capacity_basis",
            "utilization",
        ),
    ),
    Example(
        query="churn",
        given=("hours=48", _UNTIL),
        shown=(
            "group_id",
            "snapshots",
            "rebalancing",
            "compared",
            "changed",
            "joins",
            "leaves",
            "restarts",
            "moved",
            "held_up_offsets",
        ),
    ),
    Example(query="rack_cost_daily", given=(_UNTIL,)),
    Example(
        query="cross_rack_cost",
        shown=(
            "group_id",
            "cross_rack_share",
            "cross_rack_bytes_per_second",
            "cross_rack_cost_per_month",
            "cheapest_strategy",
            "cheapest_cost_per_month",
            "saved_per_month",
            "currency",
            "taken_at",
        ),
    ),
    Example(
        query="advice_scorecard",
        shown=(
            "group_id",
            "strategy",
            "measure",
            "after_seconds",
            "unit",
            "checks",
            "known",
            "error",
            "relative_error",
            "inside_share",
            "no_worse_share",
        ),
    ),
    Example(
        query="lag_trend",
        given=("group=search-index", "per=day", _UNTIL),
        shown=(
            "since",
            "lowest_lag",
            "mean_lag",
            "highest_lag",
            "highest_delay_seconds",
            "production_per_second",
            "consumption_per_second",
            "diagnosis_seconds",
        ),
    ),
    Example(
        query="backfill_changes",
        shown=(
            "group_id",
            "what",
            "then_was",
            "now_is",
            "snapshots",
            "hours",
            "first_at",
            "last_at",
        ),
    ),
    Example(
        query="groups",
        shown=(
            "group_id",
            "total_lag",
            "time_lag_seconds",
            "incident",
            "verdict",
            "strategy",
            "diagnosis",
            "status",
            "members",
            "diagnosis_reason",
            "incident_since",
            "taken_at",
        ),
    ),
)
"""Every question that the page answers, in its order; a query can be asked in two ways."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a query answered: finished cells, and how many rows and which columns are not shown."""

    command: str
    headings: list[str]
    rows: list[list[str]]
    more: int
    left_out: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "command": self.command,
            "headings": self.headings,
            "rows": self.rows,
            "more": self.more,
            "left_out": self.left_out,
        }


def ask(history: PostgresHistory, example: Example) -> Answer:
    """What a history answers, as people read it."""
    values = read_parameters(question(example.query), example.given)
    rows = history.query(example.query, **values)
    assert rows, example.command
    shown = example.shown or tuple(rows[0])
    picked = [{name: row[name] for name in shown} for row in rows]
    table = result_table(example.query, picked)
    return Answer(
        command=example.command,
        headings=[plain_heading(heading) for heading in table.headings],
        rows=[list(row) for row in table.rows[:MOST_ROWS]],
        more=max(0, len(rows) - MOST_ROWS),
        left_out=[name for name in rows[0] if name not in shown],
    )


def printed(example: Example, database_url: str) -> list[list[str]]:
    """The rows that its command line prints, as far as the page shows rows and columns."""
    command = [
        str(Path(sys.executable).with_name("evenkeel")),
        *shlex.split(example.command)[1:],
        "--wide",
    ]
    done = subprocess.run(
        command,
        env={"PATH": os.environ["PATH"], "EVENKEEL_DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    head, *rows = (re.split(r" {2,}", line.strip()) for line in done.stdout.splitlines())
    shown = [head.index(heading) for heading in kept()[example.command]["headings"]]
    return [[row[place] for place in shown] for row in rows[:MOST_ROWS] if len(row) == len(head)]


def answers(history: PostgresHistory) -> list[dict[str, Any]]:
    """All of them, as they are kept."""
    return [ask(history, example).to_json() for example in EXAMPLES]


def kept() -> dict[str, Mapping[str, Any]]:
    """The answers that the page shows, by command."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    return {each["command"]: each for each in known}


def chapter() -> str:
    """The cookbook, in Markdown."""
    known, parts, last = kept(), list[str](), ""
    for example in EXAMPLES:
        if example.query != last:
            parts += _about(sql.queries()[example.query])
        last = example.query
        parts += _shown(known[example.command])
    return "\n".join(parts).rstrip() + "\n"


def _about(query: sql.Statement) -> list[str]:
    """The question, what a row of its answer is, and its parameters."""
    asked, _, rows = query.summary.partition("? ")
    about = textwrap.fill(f"`{query.name}`: {rows}", WIDTH)
    parameters = [f"* `{p.name}{_default(p)}`: {p.meaning}" for p in query.parameters]
    plot = [] if query.plot is None else ["", "`--plot FILE` draws it."]
    head = [f"### {asked}?", "", about, ""]
    return [*head, *parameters, *plot, ""]


def _default(parameter: sql.Parameter) -> str:
    return "" if parameter.default is None else f"={parameter.default}"


def _shown(answer: Mapping[str, Any]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    table = [answer["headings"], ["---"] * len(answer["headings"]), *answer["rows"]]
    notes = []
    if answer["more"]:
        notes.append(f"And {answer['more']} more.")
    if answer["left_out"]:
        notes.append(f"Also: {', '.join(f'`{name}`' for name in answer['left_out'])}.")
    after = [textwrap.fill(" ".join(notes), WIDTH), ""] if notes else []
    return [f"    {answer['command']}", "", *map(line, table), "", *after]


def main() -> None:
    """Make the history anew, ask everything, and write the answers and the page."""
    from tests.helpers import cookbook_history, made_tables
    from tests.stage.postgres import throw_away_history

    with throw_away_history() as url:
        cookbook_history.write_with_backfill(url)
        save(answers(PostgresHistory(url)))
    made_tables.main()


def save(found: Sequence[Mapping[str, Any]]) -> None:
    """Keep answers for the page."""
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
