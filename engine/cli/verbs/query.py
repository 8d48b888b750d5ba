"""`evenkeel query`: the history in Postgres, by named questions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...model.errors import InputError
from ..command_end import NothingFound, complain
from ..options import AsCsv, AsJson, Raw, Wide, argument, epilog, one_format, option

if TYPE_CHECKING:
    from evenkeel import sql

    from ...config import Settings

EPILOG = epilog(
    [
        "evenkeel query                                        # all queries and their parameters",
        "evenkeel query scoreboard --param 'group=orders-*'",
        "evenkeel query before_after --param at=14:00          # what a deployment changed",
        "evenkeel query lag_history --param group=orders-app --csv --plot lag.png > lag.csv",
    ],
    [0, 1, 2, 5],
    "A group can be a shell pattern. evenkeel then answers for each matching group of the newest snapshot, and limits "
    "apply per group. Times are in UTC: the last 14:00, 2h ago (2h), or 2026-03-01T14:00Z.",
    "Tables are at most 120 columns wide and begin with the most important columns; those that don't fit are named "
    "below. --wide, --json and --csv have all columns, with exact numbers.",
    "Uses EVENKEEL_DATABASE_URL, or else the database of a demo in this folder. Without rows the exit code is 1.",
)


def query(
    name: Annotated[
        str | None, argument("[NAME]", "The query. Without it, all queries are listed.")
    ] = None,
    parameters: Annotated[
        list[str] | None, option("--param KEY=VALUE", "A parameter of the query; repeatable.")
    ] = None,
    wide: Wide = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    raw: Raw = False,
    plot: Annotated[
        Path | None,
        option(
            "--plot FILE",
            "Plot the answer over time, for queries that have a plot (PNG, SVG or PDF).",
        ),
    ] = None,
) -> None:
    """Query the history database by name."""
    from ... import wiring
    from .. import questions
    from ..database import database
    from ..views import answers, plots
    from ..views.tables import emit, emit_csv, show

    one_format(as_json, as_csv)
    if plot is not None:
        plots.check_file(plot, "--plot")
    if name is None:
        if plot is not None:
            raise InputError("--plot needs a query.", fix="Name one, for example lag_history.")
        rows = questions.catalogue()
        if as_json or as_csv:
            emit(rows) if as_json else emit_csv(rows, raw=raw)
        else:
            answers.show_catalogue(rows)
        return
    statement = questions.question(name)
    drawn = None if plot is None else questions.plot_of(statement)
    values = questions.read_parameters(statement, parameters or [])
    settings, where = database()
    complain(f"database: {where}")
    rows = found(settings, statement, values)
    if plot is not None and drawn is not None:
        question = answers.question(statement.summary)
        figure = plots.query_figure(name, question, drawn, rows)
        complain(f"drawn: {plots.save(figure, plot, '--plot')}")
    if as_json or as_csv:
        emit(rows) if as_json else emit_csv(rows, raw=raw)
    else:
        named = answers.named_members(name, rows)
        members = wiring.history(settings).members_of_groups_with(named) if named else ()
        short = answers.short_names(members)
        show([answers.result_table(name, rows, short, short=not wide)], wide=wide)


def found(
    settings: Settings, statement: sql.Statement, values: Mapping[str, str]
) -> list[dict[str, Any]]:
    """
    The rows of a query; for a pattern of groups those of one group after the other, each with its group.

    Raises:
        NothingFound: There is none.
    """
    if rows := _rows(settings, statement, values):
        return rows
    raise NothingFound(f"query {statement.name} found no row.")


def _rows(
    settings: Settings, statement: sql.Statement, values: Mapping[str, str]
) -> list[dict[str, Any]]:
    from ... import wiring
    from ..patterns import is_pattern, matching, no_group

    history = wiring.history(settings)
    pattern = values.get("group")
    rows: list[dict[str, Any]] = []
    if pattern is None or not is_pattern(pattern):
        rows = history.query(statement.name, **values)
        if rows or pattern is None:
            return rows
    of_cluster = {key: values[key] for key in values.keys() & {"cluster"}}
    known = {row["group_id"] for row in history.query("groups", **of_cluster)}
    groups = matching(pattern, known)
    if not groups:
        raise no_group(pattern, "in the newest snapshots", known)
    for group in groups:
        found = history.query(statement.name, **{**values, "group": group})
        rows += [{"group_id": group} | row for row in found]
    return rows
