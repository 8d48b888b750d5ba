"""Numbers, names and moments as a page of the report shows them; what is unknown is a question mark."""

from __future__ import annotations

from datetime import UTC, datetime

from ..messages.wording.numbers import duration, percent
from ..model.text import printable

UNKNOWN = "?"


def number(value: float | None) -> str:
    """
    A whole number with separators.

    >>> number(1234567), number(0), number(None), number(2.6)
    ('1,234,567', '0', '?', '3')
    """
    return UNKNOWN if value is None else f"{round(value):,}"


def utilisation(value: float | None) -> str:
    """
    How busy a member is, as percent; about all that it can do is 100%.

    >>> utilisation(1.00004), utilisation(0.42), utilisation(3.29), utilisation(None)
    ('100%', '42%', '329%', '?')
    """
    if value is None:
        return UNKNOWN
    return percent(round(value, 2)) if 0.5 < value < 10 else percent(value)


MEASURES = {
    "delay_seconds": "delay",
    "utilisation": "load of the busiest member",
    "cross_rack_share": "share across racks",
}
"""Names of what was promised, where they are not those of the columns."""


def difference(value: float | None, unit: str) -> str:
    """
    What came less what was expected, in its unit.

    >>> difference(1234.0, "offsets"), difference(-95.0, "s"), difference(0.123, "share"), difference(None, "s")
    ('+1,234', '-1 min 35 s', '+12 points', '?')
    """
    if value is None:
        return UNKNOWN
    sign, size = "-" if value < 0 else "+", abs(value)
    if unit == "s":
        return f"{sign}{duration(size)}"
    return f"{sign}{number(size)}" if unit == "offsets" else f"{sign}{number(100 * size)} points"


def name(value: str | None) -> str:
    """A name that somebody chose, without signs that are not for readers."""
    return UNKNOWN if value is None else printable(value)


def group_name(value: str) -> str:
    """
    What a group or a cluster is called; a name of which nothing can be seen stands in quotes.

    >>> group_name("orders"), group_name("")
    ('orders', '""')
    """
    return printable(value) if value.strip() else f'"{printable(value)}"'


def clock(at: datetime) -> str:
    """Day and time in UTC, without the year: for lists under a heading that has it."""
    return f"{at.astimezone(UTC):%m-%d %H:%M}"


def level(count: int, most: int) -> int:
    """
    How dark a cell of a matrix is, from 0 (nothing) to 4 (the most).

    >>> level(0, 9), level(1, 9), level(9, 9)
    (0, 1, 4)
    """
    return 0 if not count else 1 + round(3 * count / most)
