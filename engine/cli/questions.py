"""The named queries of the history: which there are, and what is asked of them on a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from evenkeel import sql

from ..config.times import past
from ..model.errors import InputError
from ..model.text import meant

_LARGEST = 1_000_000
"""No number of rows or hours is larger; Postgres' dates and integers hold it."""

_TYPES: Mapping[str, tuple[str, type, str]] = {
    "integer": ("a whole number", int, "20"),
    "double precision": ("a number", float, "1.5"),
}
"""What a parameter of a type is called, how its text is read, and an example of it; other types take any text."""


_OF_PLOT = ("values", "over", "lines")
_OF_PARAMETER = ("name", "type", "required", "default", "meaning")


def catalogue() -> list[dict[str, Any]]:
    """The named queries: what each answers, and its parameters."""
    return [
        {
            "query": each.name,
            "summary": each.summary,
            "plot": each.plot and {key: getattr(each.plot, key) for key in _OF_PLOT},
            "parameters": [
                {key: getattr(p, key) for key in _OF_PARAMETER} for p in each.parameters
            ],
        }
        for each in sql.queries().values()
    ]


def question(name: str) -> sql.Statement:
    """
    The query of that name.

    Raises:
        InputError: There is none; the message says which queries show a view, or which names are near.
    """
    known = sql.queries()
    if name in known:
        return known[name]
    if name in sql.views():
        showing = [other for other, query in known.items() if name in query.parts[0]]
        showing.sort(key=lambda other: other not in name)
        raise InputError(
            f"{name} is a view, not a query; it is shown by {' and '.join(showing)}.",
            fix=f"Ask `evenkeel query {showing[0]}`, or the view itself in SQL.",
        )
    fix = meant(name, known) or f"Use one of {', '.join(known)}."
    raise InputError(f"there is no query {name!r}.", fix=fix)


def plot_of(query: sql.Statement) -> sql.Plot:
    """
    What is drawn of a query's answer.

    Raises:
        InputError: Nothing is; the message says of which queries something is.
    """
    if query.plot is None:
        have = ", ".join(name for name, each in sql.queries().items() if each.plot is not None)
        raise InputError(
            f"query {query.name} has no plot.",
            fix=f"Leave --plot out; those that have one: {have}.",
        )
    return query.plot


def read_parameters(query: sql.Statement, given: Sequence[str]) -> dict[str, str]:
    """
    `key=value` texts as a mapping.

    Raises:
        InputError: There is no such parameter, one is missing, not of its type, or not written as key=value.
    """
    known = {parameter.name: parameter for parameter in query.parameters}
    values: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(
                f"--param {key!r} is not KEY=VALUE.", fix="Write for example --param limit=20."
            )
        if key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InputError(
                f"query {query.name} has no parameter {key!r} ({has}).", fix=meant(key, known)
            )
        values[key] = _checked(known[key], value)
    missing = [p.name for p in known.values() if p.required and p.name not in values]
    if missing:
        raise InputError(
            f"query {query.name} needs {missing[0]}.", fix=f"Add --param {missing[0]}=VALUE."
        )
    return values


def _checked(parameter: sql.Parameter, value: str) -> str:
    """The text as the database takes it: a moment without a time zone is one in UTC, and so is a time of day."""
    if parameter.type == "timestamptz":
        try:
            return past(value, datetime.now(UTC)).isoformat()
        except ValueError:
            raise InputError(
                f"--param {parameter.name}={value} is no moment.",
                fix=f"Write {parameter.name}=14:00, {parameter.name}=2h (ago) or {parameter.name}=2026-03-01T12:00Z; "
                "without a time zone it is UTC.",
            ) from None
    if parameter.type is None or parameter.type not in _TYPES:
        return value
    what, read, example = _TYPES[parameter.type]
    try:
        right = 0 <= read(value) <= _LARGEST
    except ValueError:
        right = False
    if not right:
        raise InputError(
            f"--param {parameter.name}={value} is not {what} from 0 to {_LARGEST:,} ({parameter.type}).",
            fix=f"Write for example --param {parameter.name}={parameter.default or example}.",
        )
    return value
