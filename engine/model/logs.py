"""Loggers whose lines show names as they are spelt: none holds a terminal escape or begins a line."""

from __future__ import annotations

import logging
from typing import Any

from .text import printable


class _Printable(logging.Filter):
    """Makes the arguments of a line printable; a line's own text is ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(map(_shown, record.args))
        return True


_PRINTABLE = _Printable()


def logger(name: str) -> logging.Logger:
    r"""
    The logger of a module.

    >>> record = logging.LogRecord("evenkeel", logging.INFO, "", 1, "group %s, %d", ("a\n\x1b[31m", 2), None)
    >>> _PRINTABLE.filter(record) and print(record.getMessage())
    group a\n\x1b[31m, 2
    """
    made = logging.getLogger(name)
    made.addFilter(_PRINTABLE)
    return made


def _shown(value: Any) -> Any:
    if isinstance(value, int | float):
        return value
    told = str(value)
    return value if told.isprintable() else printable(told)
