"""Numbers, durations and moments as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime


def offsets(lag: int) -> str:
    """
    Lag with its unit.

    >>> offsets(12400), offsets(1)
    ('12,400 offsets', '1 offset')
    """
    return count(lag, "offset")


def count(number: int, noun: str) -> str:
    """
    A number of things, with a plural that ends in s.

    >>> count(1, "group"), count(2000, "group")
    ('1 group', '2,000 groups')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """
    A fraction of 1 as percent; what is neither none nor all never rounds to 0 or 100.

    >>> percent(0.667), percent(0.0), percent(0.004), percent(0.996)
    ('67 %', '0 %', '0.4 %', '99.6 %')
    """
    points = share * 100
    whole = round(points)
    if whole in (0, 100) and points != whole:
        return f"{points:.1f} %"
    return f"{whole} %"


def duration(seconds: float) -> str:
    """
    A span of time in its two largest units; infinity is never.

    >>> duration(42), duration(95), duration(7800), duration(200000), duration(float("inf"))
    ('42 s', '1 min 35 s', '2 h 10 min', '2 d 7 h', 'never')
    """
    if math.isinf(seconds):
        return "never"
    left = max(0, round(seconds))
    units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
    first = next((i for i, (_, size) in enumerate(units) if left >= size), len(units) - 1)
    parts: list[str] = []
    for unit, size in units[first : first + 2]:
        amount, left = divmod(left, size)
        if amount or not parts:
            parts.append(f"{amount} {unit}")
    return " ".join(parts)


def moment(at: datetime) -> str:
    """
    A moment in UTC, to the second.

    >>> moment(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '2026-03-01 09:05:00 UTC'
    """
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def since(start: datetime, now: datetime) -> str:
    """
    When something began and how long that is.

    >>> since(datetime(2026, 3, 1, 9, 5, tzinfo=UTC), datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    'since 2026-03-01 09:05:00 UTC (25 min)'
    """
    return f"since {moment(start)} ({duration((now - start).total_seconds())})"


def sentence(text: str) -> str:
    """
    A clause of somebody else's as a sentence of ours.

    >>> sentence("lag falls by half"), sentence("No broker answered."), sentence("is it?")
    ('Lag falls by half.', 'No broker answered.', 'Is it?')
    """
    clean = " ".join(text.split())
    if not clean:
        return ""
    ended = clean if clean[-1] in ".!?" else f"{clean}."
    # A first word with a capital, dot or hyphen inside is a name (a strategy, a setting): as is.
    first = ended.split()[0].rstrip(".,:;!?")
    return ended[0].upper() + ended[1:] if first.isalpha() and first.islower() else ended


def listed(names: Sequence[str], limit: int) -> str:
    """
    The first names and how many more there are.

    >>> listed(["a", "b"], 3), listed(["a", "b", "c", "d"], 2)
    ('a, b', 'a, b and 2 more')
    """
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def shortened(text: str, limit: int) -> str:
    """
    At most *limit* characters, an ellipsis where something was cut.

    >>> shortened("abcdef", 4), shortened("abc", 4)
    ('abc…', 'abc')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
