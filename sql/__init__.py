"""
Migrations, functions, views, queries and statements of the history database, as files by name.

Tables follow from the records (`evenkeel.engine.records.tables`). `schema.sql` is for readers only; Alembic migrations
in `migrations` change the database. This loader is the only other Python module here.

A file starts with comment lines that describe its rows. A query or statement lists its parameters, one per line:

    -- Parameters:
    --   :cluster text = null    Configured name of the cluster; null for all clusters.
    --   :limit integer = 50     Maximum number of rows.
    --   :group text             Consumer group.

A parameter without `=` is required, and so is one that only the statement uses. A query whose rows can be plotted
declares its plot: the columns, the time and the series:

    -- Plot: total_lag, time_lag_seconds over taken_at, a line per cluster, group_id.

A view or query declares its columns: the tables and views that describe them, and its own, each with type, unit (unless
its name says it), and `= none` if null means none instead of unknown (optionally only where another column is null):

    -- Columns as in: group_metrics, snapshot.
    -- Its own columns:
    --   moved bigint (partitions)   Number of partitions that were reassigned.
    --   quiet text = none           Reason that notifications are muted; null if they are not.
    --   quiet_hours double precision = none where quiet   Duration of the mute in hours.

Statements of one file are separated by a `;` that ends its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path

_PARAMETER = re.compile(
    r"^--   :(?P<name>\w+) (?P<type>[a-z][a-z0-9 \[\]]*?)(?: = (?P<default>\S+))?  +(?P<meaning>\S.*)$",
    re.MULTILINE,
)
_PLOT = re.compile(
    r"^-- Plot: (?P<values>\w+(?:, \w+)*) over (?P<over>\w+), a line per (?P<lines>\w+(?:, \w+)*)\.$",
    re.MULTILINE,
)
_SOURCES = re.compile(r"^-- Columns as in: (\w+(?:, \w+)*)\.$", re.MULTILINE)
_COLUMN = re.compile(
    r"^--   (?P<name>\w+) (?P<type>[a-z][a-z \[\]]*?)(?: \((?P<unit>[^)]+)\))?"
    r"(?P<none> = none)?(?: where (?P<where>\w+(?:, \w+)*))?"
    r"  +(?P<meaning>\S.*)$",
    re.MULTILINE,
)
_READ = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")
_BOUND = re.compile(r"(?<![:\w]):([a-z_]\w*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a statement; *default* is None where null is the default."""

    name: str
    type: str | None = None
    required: bool = True
    default: str | None = None
    meaning: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot: the columns *values* over the time column *over*, with a line per combination of *lines*."""

    values: tuple[str, ...]
    over: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnColumn:
    """
    A column that a view or query declares itself.

    *unit* is None if the name says it, or if there is none. With *where*, null means none only if one of these columns
    is null.
    """

    name: str
    type: str
    unit: str | None
    none: bool
    where: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a view or query: *own* ones, others as in the first of the *sources* that has them."""

    sources: tuple[str, ...]
    own: tuple[OwnColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """
    A named query or statement.

    *summary* is its first comment paragraph, *parts* are its statements in order, without comment lines; *plot* is None
    if its rows cannot be plotted.
    """

    name: str
    text: str
    summary: str
    parameters: tuple[Parameter, ...]
    parts: tuple[str, ...]
    plot: Plot | None = None


MIGRATIONS = Path(__file__).parent / "migrations"
"""Folder of the Alembic migrations."""


@cache
def queries() -> Mapping[str, Statement]:
    """The queries for people, by name."""
    return {name: _statement(name, text) for name, text in _read("queries")}


@cache
def statements() -> Mapping[str, Statement]:
    """The statements of the pipeline, by name."""
    return {name: _statement(name, text) for name, text in _read("statements")}


@cache
def views() -> Mapping[str, str]:
    """`CREATE OR REPLACE VIEW` statements by name, each after the views that it reads."""
    texts = dict(_read("views"))
    needs = {
        name: {
            other for other in texts if other != name and re.search(rf"\b{other}\b", _code(text))
        }
        for name, text in texts.items()
    }
    return {name: texts[name] for name in TopologicalSorter(needs).static_order()}


def head(text: str) -> str:
    """The first paragraph of the comment that a file begins with, without its marks, as one line."""
    header = re.match(r"(?:--.*\n)*", text)
    paragraph = (header[0] if header else "").split("\n--\n")[0]
    return " ".join(line[2:].strip() for line in paragraph.splitlines())


def columns(text: str) -> Columns:
    """The declared columns of a view or query."""
    sources = _SOURCES.search(text)
    return Columns(
        sources=tuple(sources[1].split(", ")) if sources else (),
        own=tuple(map(_column, _COLUMN.finditer(text))),
    )


def _column(line: re.Match[str]) -> OwnColumn:
    where = tuple(line["where"].split(", ")) if line["where"] else ()
    return OwnColumn(
        name=line["name"],
        type=line["type"],
        unit=line["unit"],
        none=bool(line["none"]),
        where=where,
        meaning=line["meaning"],
    )


def functions() -> str:
    """`CREATE OR REPLACE FUNCTION` statements."""
    return (files(__name__) / "functions.sql").read_text(encoding="utf-8")


@cache
def read_by_people() -> frozenset[str]:
    """Tables, views and common table expressions that queries and reports (`report_*`) read directly."""
    reports = [each for each in statements().values() if each.name.startswith("report_")]
    asking = [part for each in (*queries().values(), *reports) for part in each.parts]
    return frozenset(name for part in asking for name in _READ.findall(part))


def bound(code: str) -> set[str]:
    """
    Names of the parameters that a statement without comments uses.

    >>> sorted(bound("select cast(:cluster as text), now()::date, 'a' = :group"))
    ['cluster', 'group']
    """
    return set(_BOUND.findall(code))


def _read(folder: str) -> Iterator[tuple[str, str]]:
    """(name, content) of the files of a folder, by name."""
    found = [f for f in (files(__name__) / folder).iterdir() if f.name.endswith(".sql")]
    for file in sorted(found, key=lambda f: f.name):
        yield file.name.removesuffix(".sql"), file.read_text(encoding="utf-8")


def _statement(name: str, text: str) -> Statement:
    header = re.match(r"(?:--.*\n)*", text)
    comment = header[0] if header else ""
    code = _code(text)
    described = {found["name"]: _parameter(found) for found in _PARAMETER.finditer(comment)}
    bare = [Parameter(name=each) for each in sorted(bound(code) - described.keys())]
    return Statement(
        name=name,
        text=text,
        summary=head(text),
        parameters=(*described.values(), *bare),
        parts=tuple(p for p in re.split(r";\s*(?:\n|$)", code) if p.strip()),
        plot=_plot(comment),
    )


def _plot(comment: str) -> Plot | None:
    match = _PLOT.search(comment)
    if match is None:
        return None
    return Plot(
        values=tuple(match["values"].split(", ")),
        over=match["over"],
        lines=tuple(match["lines"].split(", ")),
    )


def _parameter(match: re.Match[str]) -> Parameter:
    default = match["default"]
    return Parameter(
        name=match["name"],
        type=match["type"],
        required=default is None,
        default=None if default == "null" else default,
        meaning=match["meaning"],
    )


def _code(text: str) -> str:
    """The text without its comment lines, whose colons are not parameters."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
