"""Moments are aware and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def check_aware(moment: datetime, name: str) -> None:
    """
    Raises:
        ValueError: The moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{name} must carry a time zone, got {moment!r}.")


def utc_now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(tz=UTC)


def from_ms(milliseconds: int | None) -> datetime | None:
    """Milliseconds since the epoch as an aware moment; None stays None."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
