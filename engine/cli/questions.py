"""The named queries of the history: which there are, and what is asked of them on a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenkeel import sql
from evenkeel.engine.cli.patterns import meant
from evenkeel.engine.errors import InputError

_LARGEST = 1_000_000
"""No number of rows or hours is larger; Postgres' dates and integers hold it."""

_TYPES: Mapping[str, tuple[str, type, str]] = {
    "integer": ("a whole number", int, "20"),
    "double precision": ("a number", float, "1.5"),
}
"""What a parameter of a type is called, how its text is read, and an example of it; other types take any text."""


def catalogue() -> list[dict[str, Any]]:
    """The named queries: what each answers, and its parameters."""
    return [
        {
            "query": each.name,
            "summary": each.summary,
            "parameters": [
                {
                    "name": p.name,
                    "type": p.type,
                    "required": p.required,
                    "default": p.default,
                    "meaning": p.meaning,
                }
                for p in each.parameters
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
        _check(known[key], value)
        values[key] = value
    missing = [p.name for p in known.values() if p.required and p.name not in values]
    if missing:
        raise InputError(
            f"query {query.name} needs {missing[0]}.", fix=f"Add --param {missing[0]}=VALUE."
        )
    return values


def _check(parameter: sql.Parameter, value: str) -> None:
    """
    Raises:
        InputError: The text is not of the parameter's type, or out of range.
    """
    if parameter.type is None or parameter.type not in _TYPES:
        return
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
