"""
The database's home: migrations, functions, views, queries and statements, as files under names.

Tables follow from the records (`evenkeel.engine.records.tables`); `schema.sql` shows them to people, and what brings a
database to them are the `migrations`, which Alembic writes. This loader is the only other Python here.

A file starts with comment lines that say what its rows are and, for a query or statement, name its parameters one a
line:

    -- Parameters:
    --   :cluster text = null    Configured name of the cluster; null: every cluster.
    --   :limit integer = 50     How many rows at most.
    --   :group text             The consumer group.

A parameter without `=` must be given, and so must one that only the statement names. A query whose rows make a picture
says by which columns, each of the first above the other:

    -- Plot: total_lag, time_lag_seconds over taken_at, a line per cluster, group_id.

A view or query says what its columns are: those that a table or another view has, where it is said what they mean, and
its own, each with type, unit (unless its name says it) and, where null says that there is none and not that it is
unknown, `= none`, if need be only where another column is null:

    -- Columns as in: group_metrics, snapshot.
    -- Its own columns:
    --   moved bigint (partitions)   Partitions that went from one member to another.
    --   quiet text = none           Why nothing is told of it now; null: it is told.
    --   quiet_hours double precision = none where quiet   For how long.

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
    """Columns that make a picture: *values* over a moment, a line for each combination of *lines* that rows have."""

    values: tuple[str, ...]
    over: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnColumn:
    """
    A column that a view or query has of its own.

    *unit* is None where its name says it, or there is none; *where* are the columns of which one has to be null for its
    null to be *none*.
    """

    name: str
    type: str
    unit: str | None
    none: bool
    where: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a view or query: *sources* say what is not its *own*, the first that has it."""

    sources: tuple[str, ...]
    own: tuple[OwnColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """
    A named query or statement.

    *summary* is its first comment paragraph, *parts* are its statements in order, without comment lines; *plot* is None
    where its rows make no picture.
    """

    name: str
    text: str
    summary: str
    parameters: tuple[Parameter, ...]
    parts: tuple[str, ...]
    plot: Plot | None = None


MIGRATIONS = Path(__file__).parent / "migrations"
"""Where Alembic finds them."""


@cache
def queries() -> Mapping[str, Statement]:
    """The queries for people, by name."""
    return {name: _statement(name, text) for name, text in _read("queries")}


@cache
def statements() -> Mapping[str, Statement]:
    """What the steps execute, by name."""
    return {name: _statement(name, text) for name, text in _read("statements")}


@cache
def views() -> Mapping[str, str]:
    """`create or replace view` by view name, each after those it reads from."""
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
    """What the file of a view or query says of its columns."""
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
    """`create or replace function` for those that the database has."""
    return (files(__name__) / "functions.sql").read_text(encoding="utf-8")


@cache
def read_by_people() -> frozenset[str]:
    """What the queries for people and the reports (`report_*`) read themselves: views, tables, and their own parts."""
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
    """The text without its comment lines: a colon in a comment is no parameter."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
