"""`evenkeel query`: the history in Postgres, by named questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenkeel.engine.cli.options import AsJson, epilog
from evenkeel.engine.cli.running import NothingFound, complain
from evenkeel.engine.errors import InputError

if TYPE_CHECKING:
    from evenkeel.engine.cli.views.tables import Table
    from evenkeel.engine.config import Settings

EPILOG = epilog(
    [
        "evenkeel query                                        # the queries there are, and their parameters",
        "evenkeel query groups",
        "evenkeel query scoreboard --param group=orders-app --json",
    ],
    [0, 1, 2, 5],
    "Asks the database of EVENKEEL_DATABASE_URL; without it, the one a demo in this folder keeps. No row: exit code 1.",
)


def query(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A query; without it all are listed.")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="KEY=VALUE", help="A parameter of the query; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask the history a named question."""
    from evenkeel.engine.cli.database import database
    from evenkeel.engine.cli.views.tables import emit, show

    if name is None:
        rows = catalogue()
        if as_json:
            emit(rows)
        else:
            show([catalogue_table(rows)])
        return
    given = read_parameters(name, parameters or [])
    settings, where = database()
    complain(f"database: {where}")
    found = ask(settings, name, given)
    if as_json:
        emit(found)
    elif found:
        show([result_table(found)])
    if not found:
        raise NothingFound(f"query {name} found no row.")


def ask(settings: Settings, name: str, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a named query."""
    from evenkeel.engine import wiring

    found: list[dict[str, Any]] = wiring.history(settings).query(name, **parameters)
    return found


def catalogue() -> list[dict[str, Any]]:
    """The named queries: what each answers, and its parameters."""
    from evenkeel import sql

    return [
        {
            "query": one.name,
            "summary": one.summary,
            "parameters": [
                {
                    "name": p.name,
                    "type": p.type,
                    "required": p.required,
                    "default": p.default,
                    "meaning": p.meaning,
                }
                for p in one.parameters
            ],
        }
        for one in sql.queries().values()
    ]


def catalogue_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The same for people: the question, and the parameters with their defaults."""
    from evenkeel.engine.cli.views.tables import NOTHING, Table

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


def read_parameters(name: str, given: Sequence[str]) -> dict[str, str]:
    """
    `key=value` texts as a mapping.

    Raises:
        InputError: There is no such query or parameter, one is missing, or it is not written as key=value.
    """
    known = {row["query"]: row["parameters"] for row in catalogue()}
    if name not in known:
        raise InputError(f"there is no query {name!r}.", fix=f"Use one of {', '.join(known)}.")
    pairs = [text.partition("=") for text in given]
    for key, equals, _ in pairs:
        if not equals or not key:
            raise InputError(
                f"--param {key!r} is not KEY=VALUE.", fix="Write for example --param limit=20."
            )
    names = [p["name"] for p in known[name]]
    wrong = [key for key, _, _ in pairs if key not in names]
    if wrong:
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise InputError(f"query {name} has no parameter {wrong[0]!r} ({has}).")
    values = {key: value for key, _, value in pairs}
    missing = [p["name"] for p in known[name] if p["required"] and p["name"] not in values]
    if missing:
        raise InputError(
            f"query {name} needs {missing[0]}.", fix=f"Add --param {missing[0]}=VALUE."
        )
    return values


def result_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """
    Rows of a query as a table; moments in UTC.

    >>> result_table([{"lag": None, "problems": []}, {"lag": 7, "problems": ["late", "no racks"]}]).rows
    [['?', '-'], ['7', 'late; no racks']]
    """
    from evenkeel.engine.cli.views.tables import NOTHING, UNKNOWN, Table

    columns = list(rows[0])
    numeric = {c for c in columns if all(_is_number(r[c]) for r in rows)}
    return Table(
        headings=[f">{c}" if c in numeric else c for c in columns],
        rows=[
            [_cell(row[c], c, UNKNOWN if c in numeric else NOTHING) for c in columns]
            for row in rows
        ],
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: Any, column: str, absent: str) -> str:
    from evenkeel.engine.cli.views.tables import (
        NOTHING,
        duration,
        number,
        ratio,
        share,
        text,
        to_json,
    )

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
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return text("; ".join(value), NOTHING)
    if isinstance(value, list | dict):
        return text(to_json({"": value})[5:-1])
    return text(None if value is None else f"{value}", absent)
