"""What is to come, with a switch and without, what that costs, and what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor, log10

from ...model.figures import Forecast
from ...model.formats import duration, percent
from ...model.text import several
from ...records.course import AdviceCheck, AdvicePromise

DIGITS = 2
"""As many digits of what is to come are told: it is no more exact."""


def about(number: float) -> str:
    """
    A number that is not known exactly.

    >>> about(119_873), about(3_571), about(86.2), about(0.4)
    ('120,000', '3,600', '86', '0')
    """
    places = DIGITS - 1 - floor(log10(number)) if number >= 1 else 0
    return f"{round(number, min(places, 0)):,.0f}"


def band(ends: Sequence[float], reads: Callable[[float], str] = about, after: str = "") -> str:
    """
    What is expected, and between what it lies in four cases of five.

    >>> band((90_211, 119_873, 149_950), after=" behind"), band((0, 0, 0))
    ('120,000 behind (90,000 to 150,000)', '0')

    Args:
        ends: Low, expected and high.
        reads: How a value reads.
        after: What follows the first of them.
    """
    low, expected, high = map(reads, ends)
    return expected + after + (f" ({low} to {high})" if low != high else "")


def ahead(live: Forecast, other: Forecast, strategy: str) -> str:
    """How far behind a group will be in an hour, as it is and with a strategy."""
    as_it_is, with_it = (
        (one.forecast_lag_low, one.forecast_lag_expected, one.forecast_lag_high)
        for one in (live, other)
    )
    now = band(as_it_is, after=" behind")
    if band(as_it_is) == band(with_it):
        return f"in 1 h: {now}, as it is and with {strategy}"
    return f"in 1 h: {now} as it is, {band(with_it)} with {strategy}"


def price(forecast: Forecast) -> str | None:
    """What has to be done for a switch, and what waits meanwhile; None where that is not known."""
    if forecast.price_restarts is None or forecast.price_held_up_offsets is None:
        return None
    waits = about(forecast.price_held_up_offsets)
    return f"{several(forecast.price_restarts, 'restart')}, about {waits} records wait meanwhile"


_MEASURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "lag": ("lag", about),
    "delay_seconds": ("delay", duration),
    "utilisation": ("load of the busiest member", percent),
    "cross_rack_share": ("share across racks", percent),
}


def promised(promise: AdvicePromise) -> str:
    """
    What is to be seen of a group after a switch.

    >>> promised(AdvicePromise(after_seconds=900, measure="lag", unit="offsets", low=0, expected=312, high=897))
    'lag after 15 min: 310 (0 to 900)'
    """
    name, reads = _MEASURES[promise.measure]
    ends = band((promise.low, promise.expected, promise.high), reads)
    return f"{name} after {duration(promise.after_seconds)}: {ends}"


def across(before: float, now: float, most: float) -> str:
    """
    What crosses racks once an advice is adopted, as shares of the partitions.

    >>> across(0.83, 0.0, 0.05), across(0.83, 0.08, 0.13)
    ('nothing crosses racks any more (83% before)', '8% crosses racks now (83% before)')
    >>> across(0.83, 0.83, 0.05)
    '83% crosses racks as before (at most 5% was promised)'

    Args:
        before: Before it was taken up.
        now: Since then.
        most: The high end of what was promised.
    """
    if now > most:
        as_before = " as before" if percent(now) == percent(before) else ""
        was = "" if as_before else f"{percent(before)} before, "
        return (
            f"{percent(now)} crosses racks{as_before} ({was}at most {percent(most)} was promised)"
        )
    share = "nothing crosses racks any more" if not now else f"{percent(now)} crosses racks now"
    return f"{share} ({percent(before)} before)"


def came(check: AdviceCheck) -> str:
    """What was to be seen, and what was."""
    _, reads = _MEASURES[check.measure]
    seen = "not seen" if check.realised is None else f"{reads(check.realised)} came"
    return f"{promised(check)} predicted, {seen}"
