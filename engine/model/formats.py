"""
Formats of numbers, shares, durations, bytes, money and moments, the same on every surface.

Names, lists and plurals are in `text`. Unknown is `?`, none is `-`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from .text import several

UNKNOWN = "?"
NOTHING = "-"

ARROW = "->"
"""The arrow between the value before and after."""

LISTED = 8
"""Maximum number of numbers in a list."""


def or_unknown(form: Callable[[Any], str]) -> Callable[[Any], str]:
    """
    A format that shows None as unknown.

    >>> or_unknown(percent)(0.5), or_unknown(percent)(None)
    ('50%', '?')
    """
    return lambda value: UNKNOWN if value is None else form(value)


def number(value: float | None) -> str:
    """
    A whole number with separators.

    >>> number(1234567), number(0), number(None), number(2.6)
    ('1,234,567', '0', '?', '3')
    """
    return UNKNOWN if value is None else f"{round(value):,}"


def brief(value: float) -> str:
    """
    A number where there is little room: exact below ten thousand, then in three digits.

    >>> [brief(value) for value in (0, 0.6061, 1.41, 22.07, 9999, 15_558, 1_600_000, 2e15)]
    ['0', '0.6', '1.4', '22', '9,999', '15.6k', '1.6M', '2,000T']
    """
    if 0 < abs(value) < 9.95:
        return f"{value:.1f}".removesuffix(".0")
    for unit, least in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if abs(value) >= least * (1 - 5e-4 * (unit != "k")):
            amount = value / (least if unit != "k" else 1e3)
            digits = max(0, 3 - len(f"{abs(amount):.0f}"))
            exact = f"{amount:,.{digits}f}"
            return f"{exact.rstrip('0').rstrip('.') if digits else exact}{unit}"
    return f"{value:,.0f}"


def brief_duration(seconds: float) -> str:
    """
    A span of time where there is little room, in its two largest units.

    >>> [brief_duration(value) for value in (0, 42, 511, 7800, 200_000, float("inf"))]
    ['0s', '42s', '8m 31s', '2h 10m', '2d 7h', 'never']
    """
    return re.sub(r"(\d) (d|h|m|s)(?:in)?\b", r"\1\2", duration(seconds))


def ratio(value: float) -> str:
    """
    A ratio, a mean or an amount, with two decimals.

    >>> ratio(1.5), ratio(1234)
    ('1.50', '1,234.00')
    """
    return f"{value:,.2f}"


def change(before: str, after: str) -> str:
    """
    A change of a value.

    >>> change("900", "300")
    '900 -> 300'
    """
    return f"{before} {ARROW} {after}"


def offsets(lag: int) -> str:
    """
    Lag with its unit.

    >>> offsets(12400), offsets(1)
    ('12,400 offsets', '1 offset')
    """
    return several(lag, "offset")


def counts(numbers: Sequence[int]) -> str:
    """
    How much each of several has, most first; of many the first three, the last, and how many there are.

    >>> counts([14, 2, 2]), counts([14, *[3] * 40, 2])
    ('14/2/2', '14/3/3/.../2 of 42')
    """
    if len(numbers) <= LISTED:
        return "/".join(f"{number:,}" for number in numbers)
    few = "/".join(f"{number:,}" for number in numbers[:3])
    return f"{few}/.../{numbers[-1]:,} of {len(numbers):,}"


def percent(share: float) -> str:
    """
    A fraction of 1 in percent; only exact values are shown as 0% or 100%.

    >>> percent(0.667), percent(0.0), percent(0.004), percent(0.996), percent(-0.667)
    ('67%', '0%', '0.4%', '99.6%', '-67%')

    The utilization of a member without capacity is infinite.

    >>> percent(float("inf"))
    'over 1,000%'
    """
    points = share * 100
    if points > 1000:
        return "over 1,000%"
    whole = round(points)
    if whole in (0, 100) and not math.isclose(points, whole, abs_tol=1e-9):
        digits = next((d for d in (1, 2, 3) if round(points, d) not in (0, 100)), 4)
        return f"{points:.{digits}f}%"
    return f"{whole}%"


def utilization(share: float) -> str:
    """
    How busy a member is, as percent; about all that it can do is 100%.

    >>> utilization(1.00004), utilization(0.42), utilization(3.29)
    ('100%', '42%', '329%')
    """
    return percent(round(share, 2)) if 0.5 < share < 10 else percent(share)


def duration(seconds: float) -> str:
    """
    A span of time in its two largest units, tenths of a second below ten; infinity is never.

    >>> duration(42), duration(1.5), duration(95), duration(7800), duration(200000), duration(float("inf"))
    ('42 s', '1.5 s', '1 min 35 s', '2 h 10 min', '2 d 7 h', 'never')
    """
    if math.isinf(seconds):
        return "never"
    if 0 < seconds < 9.95:
        return f"{max(seconds, 0.1):.1f}".removesuffix(".0") + " s"
    left = max(0, round(seconds))
    units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
    first = next((i for i, (_, size) in enumerate(units) if left >= size), len(units) - 1)
    parts: list[str] = []
    for unit, size in units[first : first + 2]:
        amount, left = divmod(left, size)
        if amount or not parts:
            parts.append(f"{amount} {unit}")
    return " ".join(parts)


def roughly(seconds: float) -> str:
    """
    A span of time as it is read in passing: from ten minutes on without seconds.

    >>> roughly(95), roughly(1236), roughly(4500), roughly(float("inf"))
    ('1 min 35 s', '21 min', '1 h 15 min', 'never')
    """
    if math.isinf(seconds) or seconds < 600:
        return duration(seconds)
    return duration(60 * round(seconds / 60))


def minute(at: datetime) -> str:
    """
    A moment in UTC, to the minute.

    >>> minute(datetime(2026, 3, 1, 9, 5, 59, tzinfo=UTC))
    '2026-03-01 09:05 UTC'
    """
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def moment(at: datetime) -> str:
    """
    A moment in UTC, to the second.

    >>> moment(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '2026-03-01 09:05:00 UTC'
    """
    return f"{timestamp(at)} UTC"


def timestamp(at: datetime) -> str:
    """
    The same below a heading, where all moments are in UTC.

    >>> timestamp(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '2026-03-01 09:05:00'
    """
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def clock(at: datetime) -> str:
    """
    Day and time in UTC, without the year: for lists under a heading that has it.

    >>> clock(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '03-01 09:05'
    """
    return f"{at.astimezone(UTC):%m-%d %H:%M}"


def since(start: datetime, now: datetime) -> str:
    """
    When something began and how long that is.

    >>> since(datetime(2026, 3, 1, 9, 5, tzinfo=UTC), datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    'since 2026-03-01 09:05:00 UTC (25 min)'
    """
    return f"since {moment(start)} ({duration((now - start).total_seconds())})"


def size(amount: float) -> str:
    """
    Bytes in the decimal unit that reads best.

    >>> size(0), size(950), size(1_234_000), size(5e12)
    ('0 B', '950 B', '1.2 MB', '5.0 TB')
    """
    for unit, least in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= least:
            return f"{amount / least:,.1f} {unit}"
    return f"{amount:,.0f} B"


def byte_rate(per_second: float) -> str:
    """
    Bytes per second, as `size`.

    >>> byte_rate(1_234_000)
    '1.2 MB/s'
    """
    return f"{size(per_second)}/s"


def money(amount: float, currency: str) -> str:
    """
    An amount of money, its sign left to the sentence around it.

    >>> money(1234.5, "EUR"), money(0, "USD")
    ('1,234.50 EUR', '0.00 USD')
    """
    return f"{ratio(amount)} {currency}"


def record_rate(per_second: float) -> str:
    """
    A rate of records with as many digits as matter.

    >>> record_rate(0.6), record_rate(1), record_rate(12.34), record_rate(48123.2)
    ('0.6 records/s', '1 record/s', '12 records/s', '48,123 records/s')
    """
    number = f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.2g}"
    return f"{number} {'record' if number == '1' else 'records'}/s"


def measured(value: float | None, unit: str) -> str:
    """
    A value of a forecast measure.

    >>> measured(1234.4, "offsets"), measured(95.0, "s"), measured(None, "s")
    ('1,234', '1 min 35 s', '?')
    """
    if value is None:
        return UNKNOWN
    return duration(value) if unit == "s" else number(value)


def difference(value: float | None, unit: str) -> str:
    """
    The actual value minus the expected one, in its unit.

    >>> difference(1234.0, "offsets"), difference(-95.0, "s"), difference(0.123, "share"), difference(None, "s")
    ('+1,234', '-1 min 35 s', '+12 points', '?')
    """
    if value is None:
        return UNKNOWN
    sign, size = "-" if value < 0 else "+", abs(value)
    if unit == "s":
        return f"{sign}{duration(size)}"
    return f"{sign}{number(size)}" if unit == "offsets" else f"{sign}{number(100 * size)} points"
