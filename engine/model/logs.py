"""Loggers whose lines show names as they are spelt: none holds a terminal escape or begins a line."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from .text import printable


class _Printable(logging.Filter):
    """Makes the arguments and the error of a line printable; a line's own text is ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(map(_shown, record.args))
        elif isinstance(record.args, Mapping):
            record.args = {name: _shown(value) for name, value in record.args.items()}
        if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
            error = printable_error(record.exc_info[1])
            record.exc_info = type(error), error, record.exc_info[2]
        return True


PRINTABLE = _Printable()
"""The filter of those loggers, for a handler that shows lines of libraries, too."""


def logger(name: str) -> logging.Logger:
    r"""
    The logger of a module.

    >>> record = logging.LogRecord("evenkeel", logging.INFO, "", 1, "group %s, %d", ("a\n\x1b[31m", 2), None)
    >>> PRINTABLE.filter(record) and print(record.getMessage())
    group a\n\x1b[31m, 2
    """
    made = logging.getLogger(name)
    made.addFilter(PRINTABLE)
    return made


def printable_error(
    error: BaseException, made: dict[int, BaseException] | None = None
) -> BaseException:
    r"""
    An error for a traceback: its class by name, its frames, and printable words in it, in its causes, notes and parts.

    Args:
        error: Any error; it stays as it is.
        made: What is made already, by the id of the error: causes may go in a circle.

    >>> print(printable_error(ValueError("group a\x1b[31m\nFATAL b")))
    group a\x1b[31m
      | FATAL b
    """
    made = {} if made is None else made
    if id(error) in made:
        return made[id(error)]
    kind = type(error)
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    shown: BaseException
    if isinstance(error, BaseExceptionGroup):
        parts = [printable_error(one, made) for one in error.exceptions]
        shown = type(kind.__name__, (BaseExceptionGroup,), named)(_lines(error.message), parts)
    else:
        shown = type(kind.__name__, (BaseException,), named)(_lines(error))
    made[id(error)] = shown.with_traceback(error.__traceback__)
    for link in ("__cause__", "__context__"):
        if (before := getattr(error, link)) is not None:
            setattr(shown, link, printable_error(before, made))
    shown.__suppress_context__ = error.__suppress_context__
    for note in getattr(error, "__notes__", ()):
        shown.add_note(_lines(note))
    return shown


def _lines(said: object) -> str:
    """Its lines, of which only the first can begin a line of a log."""
    lines = (line.expandtabs().removeprefix("  | ") for line in _text(said).splitlines())
    return "\n  | ".join(map(printable, lines))


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001  a filter that fails would stop whoever logs
        return f"a {type(value).__name__} that cannot be shown"


def _shown(value: Any) -> Any:
    if isinstance(value, int | float):
        return value
    told = _text(value)
    return value if told.isprintable() else printable(told)
