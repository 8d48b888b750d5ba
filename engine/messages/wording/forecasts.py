"""What is to come, with a switch and without, what that costs, and what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor, log10

from ...model.figures import Forecast
from ...model.formats import brief, duration, percent
from ...model.text import several
from ...records.lifecycle import AdviceCheck, AdvicePromise

DIGITS = 2
"""As many digits of what is to come are told: it is no more exact."""


def about(number: float) -> str:
    """
    A number that is not known exactly.

    >>> about(119_873), about(3_571), about(86.2), about(0.4)
    ('120,000', '3,600', '86', '0')
    """
    return f"{in_digits(number):,.0f}"


def in_short(number: float) -> str:
    """
    The same as it is read in passing.

    >>> in_short(119_873), in_short(3_571)
    ('120k', '3,600')
    """
    return brief(in_digits(number))


def in_digits(number: float) -> float:
    """As many digits of a number as are told of what is to come."""
    places = DIGITS - 1 - floor(log10(number)) if number >= 1 else 0
    return round(number, min(places, 0))


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


def spread(forecast: Forecast) -> str:
    """
    Between what the lag in an hour lies in four cases of five (p10 to p90).

    >>> from types import SimpleNamespace
    >>> spread(SimpleNamespace(forecast_lag_low=90_211, forecast_lag_high=149_950))
    '90k-150k'
    """
    low, high = map(in_short, (forecast.forecast_lag_low, forecast.forecast_lag_high))
    return low if low == high else f"{low}-{high}"


def price(forecast: Forecast) -> str | None:
    """What has to be done for a switch, and what is delayed by it; None where that is not known."""
    if forecast.price_restarts is None or forecast.price_held_up_offsets is None:
        return None
    delayed = about(forecast.price_held_up_offsets)
    return f"{several(forecast.price_restarts, 'restart')}, ~{delayed} records delayed"


_MEASURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "lag": ("lag", about),
    "delay_seconds": ("time behind", duration),
    "utilisation": ("load of the busiest member", percent),
    "cross_rack_share": ("share across racks", percent),
}


def promised(promise: AdvicePromise) -> str:
    """
    What is to be seen of a group after a switch.

    >>> promised(AdvicePromise(after_seconds=900, measure="lag", unit="offsets", low=0, expected=312, high=897))
    'lag after 15 min 310 (p10-p90 0-900)'
    """
    _, reads = _MEASURES[promise.measure]
    low, high = reads(promise.low), reads(promise.high)
    return expected(promise) + (f" (p10-p90 {low}-{high})" if low != high else "")


def expected(promise: AdvicePromise) -> str:
    """
    The same in short: the value that is expected.

    >>> expected(AdvicePromise(after_seconds=900, measure="lag", unit="offsets", low=0, expected=312, high=897))
    'lag after 15 min 310'
    """
    name, reads = _MEASURES[promise.measure]
    return f"{name} after {duration(promise.after_seconds)} {reads(promise.expected)}"


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
    """What was seen, in short."""
    name, reads = _MEASURES[check.measure]
    seen = "not seen" if check.realised is None else reads(check.realised)
    return f"{name} after {duration(check.after_seconds)} {seen}"


def foreseen(check: AdviceCheck) -> str:
    """What was seen beside what was forecast."""
    _, reads = _MEASURES[check.measure]
    low, high = reads(check.low), reads(check.high)
    band = f" (p10-p90 {low}-{high})" if low != high else ""
    return f"{came(check)}, forecast {reads(check.expected)}{band}"
