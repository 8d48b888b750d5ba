"""`evenkeel query` and `evenkeel migrate`: the history in Postgres."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qs, urlsplit

import typer

from engine.cli.options import AsJson, epilog
from engine.cli.running import NothingFound, complain
from engine.errors import ConfigError, InputError

if TYPE_CHECKING:
    from engine.cli.tables import Table
    from engine.config import Settings

EPILOG = epilog(
    [
        "evenkeel query                                        # the queries there are, and their parameters",
        "evenkeel query groups",
        "evenkeel query scoreboard --param group=orders-app --json",
    ],
    [0, 1, 2, 5],
    "Asks the database of EVENKEEL_DATABASE_URL; without it, the one a demo in this folder keeps. No row: exit code 1.",
)
MIGRATE_EPILOG = epilog(
    [
        "evenkeel migrate --dry-run                            # what would be applied",
        "EVENKEEL_DATABASE_URL=postgresql://evenkeel@db/evenkeel evenkeel migrate",
    ],
    [0, 2, 5],
    "Each migration is one transaction; applying nothing is fine, so it can run before every start.",
)
STATE = Path("demo", "state.json")
"""Where, below evenkeel's home, the demo says what it runs."""


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
    from engine.cli.tables import emit, show

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


def migrate(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say which migrations would be applied.")
    ] = False,
) -> None:
    """Bring the history database to this version's schema."""
    from engine.adapters import postgres

    settings, where = database()
    complain(f"database: {where}")
    url = secret_url(settings)
    names = list(postgres.pending(url) if dry_run else postgres.migrate(url))
    for one in names:
        print(f"{'would apply' if dry_run else 'applied'} {one}")
    if not names:
        print("nothing to apply: the schema is this version's")


def database() -> tuple[Settings, str]:
    """
    The settings with a database in them, and what to call that database.

    Raises:
        ConfigError: Neither a database is configured nor a demo's is there.
    """
    from pydantic import SecretStr

    from engine import wiring

    settings = wiring.settings()
    if settings.database_url is not None:
        return (
            settings,
            f"{place(settings.database_url.get_secret_value())} (EVENKEEL_DATABASE_URL)",
        )
    state = Path(os.environ.get("EVENKEEL_HOME", ".evenkeel")) / STATE
    url = _demo_url(state)
    return settings.model_copy(
        update={"database_url": SecretStr(url)}
    ), f"{place(url)} (the demo's)"


def _demo_url(state: Path) -> str:
    try:
        url = json.loads(state.read_text(encoding="utf-8"))["database_url"]
    except FileNotFoundError:
        raise ConfigError(
            "no history database is configured, and there is no demo here.",
            fix="Set EVENKEEL_DATABASE_URL, or start one with `make demo`.",
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise ConfigError(
            f"the demo's state {state} names no database.", fix="Run `make demo` again."
        ) from problem
    return str(url)


def secret_url(settings: Settings) -> str:
    """The database's address, password included."""
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


UNREADABLE = "an address that cannot be read"
"""Said in place of one that is malformed: any part of it may be the password."""


def place(url: str) -> str:
    """
    A database's name and server, without what is secret in its address.

    >>> place("postgresql://app:hunter2@db.example.com:5433/history")
    'history on db.example.com:5433 as app'
    >>> place("postgresql://app@/history?host=/run/pg&password=hunter2")
    'history on /run/pg as app'
    """
    try:
        parts = urlsplit(url)
        asked = parse_qs(parts.query)
        server = parts.hostname or asked.get("host", ["localhost"])[0]
        port = f":{parts.port}" if parts.port else ""
        user = parts.username or asked.get("user", [None])[0]
    except ValueError:
        return UNREADABLE
    # an @ behind the server is a password with a character in it that ought to be quoted
    if not parts.scheme or "://" not in url or "@" in f"{parts.path}{parts.query}{parts.fragment}":
        return UNREADABLE
    return f"{parts.path.strip('/') or '(default)'} on {server}{port}" + (
        f" as {user}" if user else ""
    )


def ask(settings: Settings, name: str, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a named query."""
    from engine import wiring

    found: list[dict[str, Any]] = wiring.history(settings).query(name, **parameters)
    return found


def catalogue() -> list[dict[str, Any]]:
    """The named queries: what each answers, and its parameters."""
    import sql

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
    from engine.cli.tables import NOTHING, Table

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
    from engine.cli.tables import NOTHING, UNKNOWN, Table

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
    from engine.cli.tables import NOTHING, duration, number, ratio, share, text, to_json

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
