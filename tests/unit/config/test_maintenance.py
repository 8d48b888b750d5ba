"""Maintenance windows: when they hold, and what is refused in which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from evenkeel.engine.config import MaintenanceWindow, load
from evenkeel.engine.model.errors import ConfigError

ONCE = 'reason = "r"\nfrom = 2026-11-23T06:00:00Z\nuntil = "2026-11-23T08:00+01:00"\n'
WEEKLY = 'reason = "r"\nweekly = "Sun 02:00"\nfor = "2h"\n'


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Read a configuration of one window."""
    monkeypatch.delenv("EVENKEEL_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)

    def read(text):
        (tmp_path / "evenkeel.toml").write_text(f"[[maintenance]]\n{text}", encoding="utf-8")
        return load()

    return read


def test_a_window_stands_in_the_file_once_or_weekly(configured):
    """TOML's own moments and text, spans as text; the version of the configuration knows nothing of it."""
    (once,) = configured(ONCE).maintenance
    assert (once.begins, once.until) == (
        datetime(2026, 11, 23, 6, tzinfo=UTC),
        datetime(2026, 11, 23, 7, tzinfo=UTC),
    )
    (weekly,) = configured(WEEKLY).maintenance
    assert (weekly.lasts, weekly.timezone, weekly.groups) == (timedelta(hours=2), "UTC", "*")
    assert configured(ONCE).version == configured(WEEKLY).version


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('weekly = "Sun 02:00"\nfor = "2h"', "maintenance.0.reason"),
        (WEEKLY + 'reson = "x"', "maintenance.0.reson: no such key"),
        ('reason = "r"', "maintenance.0: give either from and until, or weekly and for"),
        ('reason = "r"\nweekly = "Sun 02:00"', "give either from and until, or weekly and for"),
        (
            ONCE + 'weekly = "Sun 02:00"\nfor = "2h"',
            "give either from and until, or weekly and for",
        ),
        (ONCE + 'timezone = "Europe/Berlin"', "timezone belongs to weekly"),
        (ONCE.replace("T06", "T09"), "until is not after from"),
        (WEEKLY.replace("Sun", "Sonntag"), "maintenance.0.weekly: write a day (Mon, Tue"),
        (WEEKLY.replace("02:00", "24:00"), "maintenance.0.weekly: write a day (Mon, Tue"),
        (WEEKLY.replace("2h", "7d"), "for must be less than a week"),
        (WEEKLY.replace("2h", "2 hours"), "maintenance.0.for: '2 hours' is no span of time"),
        (WEEKLY.replace("2h", "0h"), "maintenance.0.for: '0h' is no span of time"),
        (WEEKLY.replace('"2h"', "2"), "maintenance.0.for: '2' is no span of time"),
        (WEEKLY + 'timezone = "Berlin"', "maintenance.0.timezone: 'Berlin' is no time zone"),
        (WEEKLY + 'groups = ""', "maintenance.0.groups"),
        (
            ONCE.replace("06:00:00Z", "06:00:00"),
            "maintenance.0.from: 2026-11-23T06:00 has no time zone: write 2026-11-23T06:00Z for UTC",
        ),
        (ONCE.replace('"2026-11-23T08:00+01:00"', '"soon"'), "maintenance.0.until: 'soon' is no"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused_by_its_key(configured, text, named):
    """The error names the key and how it is written."""
    with pytest.raises(ConfigError) as caught:
        configured(text)
    assert named in str(caught.value)


def window(**given: str) -> MaintenanceWindow:
    """A window of one hour every Sunday at half past two in Berlin."""
    return MaintenanceWindow(
        **{
            "weekly": "Sun 02:30",
            "for": "1h",
            "timezone": "Europe/Berlin",
            "reason": "r",
            **given,
        }
    )


@pytest.mark.parametrize(
    ("begin", "season"),
    [
        (datetime(2026, 1, 4, 1, 30, tzinfo=UTC), "winter"),
        (datetime(2026, 7, 5, 0, 30, tzinfo=UTC), "summer"),
        (datetime(2026, 3, 29, 1, 30, tzinfo=UTC), "the hour that is left out"),
        (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "the hour that comes twice"),
    ],
)
def test_a_weekly_window_goes_by_the_clock_on_the_wall(begin, season):
    """From its beginning to its end, which is in it no more, whatever the season."""
    end = begin + timedelta(hours=1)
    assert window().span_at(begin) == (begin, end), season
    assert window().span_at(end - timedelta(seconds=1)) == (begin, end)
    assert window().span_at(end) is None
    assert window().span_at(begin - timedelta(seconds=1)) is None


def test_a_window_that_lasts_over_midnight_holds_on_the_next_day():
    """Six days from Sunday are still the same window on Friday."""
    long = window(**{"for": "6d"})
    begin = datetime(2026, 1, 4, 1, 30, tzinfo=UTC)
    assert long.span_at(begin + timedelta(days=5)) == (begin, begin + timedelta(days=6))
    assert long.span_at(begin + timedelta(days=6, minutes=1)) is None
