"""Moments and spans of time as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"(\d+)\s*(min|[smhdw])(?![a-z])\s*")

_CLOCK = re.compile(r"\d\d?:\d\d")


def span(text: str) -> timedelta:
    """
    A span of time of one or more units.

    >>> span("2h"), span("1d 12h"), span("90 min")
    (datetime.timedelta(seconds=7200), datetime.timedelta(days=1, seconds=43200), datetime.timedelta(seconds=5400))

    Raises:
        ValueError: It is none, or it is nothing.
    """
    parts, rest = _PART.findall(text), _PART.sub("", text).strip()
    seconds = sum(int(number) * _SECONDS[unit] for number, unit in parts)
    # whoever needs more than a century has mistaken the unit
    if rest or not 0 < seconds < 100 * 365 * _SECONDS["d"]:
        raise ValueError(f"{text!r} is no span of time: write 90m, 2h or 1d 12h (s, m, h, d, w)")
    return timedelta(seconds=seconds)


def moment(text: str) -> datetime:
    """
    A moment with its time zone, in ISO 8601.

    >>> moment("2026-11-23T06:00Z").isoformat(), moment("2026-11-23 06:00+01:00").isoformat()
    ('2026-11-23T06:00:00+00:00', '2026-11-23T06:00:00+01:00')

    Raises:
        ValueError: It is none, or nobody knows of which time zone.
    """
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no moment: write it like 2026-11-23T06:00Z") from None
    return aware(at)


def past(text: str, now: datetime) -> datetime:
    """
    A past moment: in ISO 8601, as a time of day (the last one), or as a span of time ago; in UTC without a time zone.

    >>> now = datetime(2026, 11, 23, 15, tzinfo=UTC)
    >>> [past(text, now).isoformat()[5:16] for text in ("2026-11-22 06:00", "14:00", "16:30", "2h", "1d 1h ago")]
    ['11-22T06:00', '11-23T14:00', '11-22T16:30', '11-23T13:00', '11-22T14:00']

    Raises:
        ValueError: It is none of these.
    """
    given = text.strip()
    if _CLOCK.fullmatch(given):
        at = datetime.combine(now.astimezone(UTC), time.fromisoformat(given.zfill(5)), UTC)
        return at if at <= now else at - timedelta(days=1)
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        return now - span(given.removesuffix(" ago"))
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def aware(at: datetime) -> datetime:
    """
    Raises:
        ValueError: The moment has no time zone.
    """
    if at.tzinfo is None:
        short = at.isoformat(timespec="minutes")
        raise ValueError(
            f"{short} has no time zone: write {short}Z for UTC, or {short}+01:00 for an hour ahead"
        )
    return at


def _moment(given: Any) -> datetime:
    return aware(given) if isinstance(given, datetime) else moment(str(given))


def _span(given: Any) -> timedelta:
    return given if isinstance(given, timedelta) else span(str(given))


Moment = Annotated[datetime, BeforeValidator(_moment)]
"""A moment in a file: TOML's own or text, never without a time zone."""

Span = Annotated[timedelta, BeforeValidator(_span)]
"""A span of time in a file, as text."""
