"""Planned work: when nobody is to be woken for what goes wrong with some groups."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator

from .base import Strict
from .times import Moment, Span

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WEEK = timedelta(days=7)
_WEEKLY = re.compile(rf"({'|'.join(DAYS)}) ([01]\d|2[0-3]):([0-5]\d)")


def _day_and_time(value: str) -> str:
    if _WEEKLY.fullmatch(value):
        return value
    raise ValueError(f'write a day ({", ".join(DAYS)}) and a time, like "Sun 02:00"')


def _known_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError):
        raise ValueError(
            f'{value!r} is no time zone; write its name, like "Europe/Berlin"'
        ) from None
    return value


class MaintenanceWindow(Strict):
    """
    Planned work on some groups: what goes wrong with them meanwhile is kept, and told when it outlasts the window.

    Attributes:
        groups: Shell pattern of group ids.
        clusters: Shell pattern of cluster names.
        reason: What is done, shown in messages.
        from: Start of a single window: a timestamp with time zone, e.g. `2026-11-23T06:00Z`.
        until: End of a single window.
        weekly: Start of a weekly window: day and time, e.g. `Sun 02:00`.
        for: Length of a weekly window, e.g. `2h` or `1d 12h`; less than a week.
        timezone: Time zone of `weekly`, e.g. `Europe/Berlin`.
    """

    groups: str = Field(default="*", min_length=1)
    clusters: str = Field(default="*", min_length=1)
    reason: str = Field(min_length=1)
    begins: Moment | None = Field(default=None, alias="from")
    until: Moment | None = None
    weekly: Annotated[str, AfterValidator(_day_and_time)] | None = None
    lasts: Span | None = Field(default=None, alias="for")
    timezone: Annotated[str, AfterValidator(_known_zone)] = "UTC"

    @model_validator(mode="after")
    def _one_time_or_weekly(self) -> MaintenanceWindow:
        once = (self.begins is not None, self.until is not None)
        weekly = (self.weekly is not None, self.lasts is not None)
        if not (all(once) and not any(weekly)) and not (all(weekly) and not any(once)):
            raise ValueError("give either from and until, or weekly and for")
        if self.begins and self.until and self.until <= self.begins:
            raise ValueError("until is not after from")
        if self.lasts and self.lasts >= WEEK:
            raise ValueError("for must be less than a week; for longer give from and until")
        if any(once) and "timezone" in self.model_fields_set:
            raise ValueError("timezone belongs to weekly; from and until have their own")
        return self

    def span_at(self, at: datetime) -> tuple[datetime, datetime] | None:
        """
        From when to when the window lasts that a moment lies in; None where it lies in none.

        >>> sunday = MaintenanceWindow(weekly="Sun 23:30", **{"for": "1h"}, reason="patches")
        >>> [end.isoformat() for end in sunday.span_at(datetime(2026, 11, 23, 0, 15, tzinfo=UTC))]
        ['2026-11-22T23:30:00+00:00', '2026-11-23T00:30:00+00:00']
        >>> sunday.span_at(datetime(2026, 11, 23, 0, 30, tzinfo=UTC))
        """
        if self.begins is not None and self.until is not None:
            begin, end = self.begins, self.until
        else:
            begin = self._last_begin(at)
            end = begin + (self.lasts or timedelta())
        return (begin, end) if begin <= at < end else None

    def is_over(self, at: datetime) -> bool:
        """Whether it will not come again."""
        return self.until is not None and self.until <= at

    def _last_begin(self, at: datetime) -> datetime:
        """The newest weekly beginning up to a moment: by the clock on the wall, whatever the season."""
        zone = ZoneInfo(self.timezone)
        day, hour, minute = _WEEKLY.fullmatch(self.weekly or "").groups()  # type: ignore[union-attr]
        today = at.astimezone(zone).date()
        last = today - timedelta(days=(today.weekday() - DAYS.index(day)) % 7)
        for each in (last, last - WEEK):
            begin = datetime.combine(each, time(int(hour), int(minute)), zone).astimezone(UTC)
            if begin <= at:
                break
        return begin
