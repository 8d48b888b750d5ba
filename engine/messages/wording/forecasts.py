"""Forecasts with a switch and without, the cost of the switch, and the actual values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from math import floor, log10

from ...model.figures import Forecast
from ...model.formats import brief, duration, percent, roughly
from ...model.pauses import Pause
from ...model.states import PauseBasis
from ...model.text import several
from ...records.lifecycle import AdviceCheck, AdvicePromise

DIGITS = 2
"""Digits of a forecast value: it is no more exact."""


HOUR = 3600
"""Seconds."""


def about(number: float) -> str:
    """
    A number that is not known exactly.

    >>> about(119_873), about(3_571), about(86.2), about(0.4)
    ('120,000', '3,600', '86', '0')
    """
    return f"{in_digits(number):,.0f}"


def in_short(number: float) -> str:
    """
    The same in short form.

    >>> in_short(119_873), in_short(3_571)
    ('120k', '3,600')
    """
    return brief(in_digits(number))


def in_digits(number: float) -> float:
    """A number rounded to the digits of a forecast."""
    places = DIGITS - 1 - floor(log10(number)) if number >= 1 else 0
    return round(number, min(places, 0))


def band(ends: Sequence[float], reads: Callable[[float], str] = about, after: str = "") -> str:
    """
    The median of a forecast, and its p10 and p90.

    >>> band((90_211, 119_873, 149_950), after=" behind"), band((0, 0, 0))
    ('120,000 behind (90,000 to 150,000)', '0')

    Args:
        ends: p10, p50 and p90.
        reads: How a value reads.
        after: What follows the first of them.
    """
    low, expected, high = map(reads, ends)
    return expected + after + (f" ({low} to {high})" if low != high else "")


def spread(forecast: Forecast) -> str:
    """
    The p10 and p90 of the lag in an hour.

    >>> from types import SimpleNamespace
    >>> spread(SimpleNamespace(forecast_lag_low=90_211, forecast_lag_high=149_950))
    '90k-150k'
    """
    low, high = map(in_short, (forecast.forecast_lag_low, forecast.forecast_lag_high))
    return low if low == high else f"{low}-{high}"


def caught_up(low: float, high: float) -> str:
    """
    When no backlog is left, from its p10 to its p90; infinity is beyond the hour.

    >>> never = float("inf")
    >>> caught_up(725, 1208), caught_up(40, 130), caught_up(725, 728), caught_up(0, 0)
    ('caught up in 12 to 20 min', 'caught up in 40 s to 2 min', 'caught up in 12 min', 'already caught up')
    >>> caught_up(2400, never), caught_up(never, never)
    ('not caught up before 40 min', 'not caught up within the hour')
    >>> caught_up(0, never)
    'perhaps not caught up within the hour'
    """
    if math.isinf(low):
        return "not caught up within the hour"
    first, last = map(_moment, (low, high))
    if math.isinf(high):
        return (
            f"not caught up before {first}" if low > 0 else "perhaps not caught up within the hour"
        )
    if high == 0:
        return "already caught up"
    if first == last:
        return f"caught up in {first}"
    number, unit = first.split()
    return f"caught up in {number if last.endswith(f' {unit}') else first} to {last}"


def _moment(seconds: float) -> str:
    """A span of time in its largest unit up to the hour, whose forecast is no more exact."""
    if math.isinf(seconds) or seconds < 60:
        return duration(round(seconds) if math.isfinite(seconds) else seconds)
    return f"{seconds / 60:.0f} min"


def price(forecast: Forecast) -> str | None:
    """The restarts of a switch, and the records that they delay; None if unknown."""
    if forecast.price_restarts is None or forecast.price_held_up_offsets is None:
        return None
    delayed = about(forecast.price_held_up_offsets)
    return f"{several(forecast.price_restarts, 'restart')}, ~{delayed} records delayed"


def pauses(known: Mapping[str, Pause]) -> str | None:
    """
    How long the restarts of a switch stop a group, and how that is known; None where metrics don't say it.

    >>> def pause(seconds, basis, observed=0):
    ...     return Pause(seconds=seconds, basis=PauseBasis(basis), observed=observed)
    >>> rebalance = pause(3.1, "observed", 6)
    >>> pauses({"rebalance_seconds": rebalance, "restart_seconds": pause(30, "usual")})
    'a rebalance pauses this group 3.1 s (median of 6 observed), a restart takes 30 s (assumed)'
    """
    told = [
        f"{what} {duration(known[name].seconds)} ({_basis(known[name])})"
        for name, what in _PAUSES.items()
        if name in known
    ]
    return ", ".join(told) or None


_PAUSES = {
    "rebalance_seconds": "a rebalance pauses this group",
    "restart_seconds": "a restart takes",
}


def _basis(pause: Pause) -> str:
    """
    >>> _basis(Pause(seconds=4, basis=PauseBasis.AT_MOST, observed=2))
    'at most, by 2 observed'
    """
    many = f"median of {pause.observed:,} observed" if pause.observed > 1 else "observed once"
    return {
        PauseBasis.OBSERVED: many,
        PauseBasis.AT_MOST: f"at most, by {pause.observed:,} observed",
        PauseBasis.AT_LEAST: f"at least, by {pause.observed:,} observed",
        PauseBasis.AS_LIBRARY: "median of groups with its client library",
        PauseBasis.CONFIGURED: "configured",
        PauseBasis.USUAL: "assumed",
    }[pause.basis]


_MEASURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "lag": ("lag", about),
    "delay_seconds": ("time behind", duration),
    "utilization": ("load of the busiest member", percent),
    "cross_rack_share": ("reads across racks", percent),
}


def promised(promise: AdvicePromise) -> str:
    """
    The forecast value of a measure after a switch.

    >>> promised(AdvicePromise(after_seconds=900, measure="lag", unit="offsets", low=0, expected=312, high=897))
    'lag after 15 min 310 (p10-p90 0-900)'
    """
    _, reads = _MEASURES[promise.measure]
    low, high = reads(promise.low), reads(promise.high)
    return expected(promise) + (f" (p10-p90 {low}-{high})" if low != high else "")


def expected(promise: AdvicePromise) -> str:
    """
    The same in short: the median.

    >>> expected(AdvicePromise(after_seconds=900, measure="lag", unit="offsets", low=0, expected=312, high=897))
    'lag after 15 min 310'
    """
    name, reads = _MEASURES[promise.measure]
    return f"{name} after {duration(promise.after_seconds)} {reads(promise.expected)}"


def across(before: float, now: float, most: float) -> str:
    """
    Cross-rack reads after an advice is adopted, as shares of the partitions.

    >>> across(0.83, 0.0, 0.05), across(0.83, 0.08, 0.13)
    ('reads across racks 0% (83% before)', 'reads across racks 8% (83% before)')
    >>> across(0.83, 0.83, 0.05)
    'reads across racks 83% as before (forecast at most 5%)'

    Args:
        before: Before the adoption.
        now: Since then.
        most: The p90 of the forecast.
    """
    if now > most:
        as_before = " as before" if percent(now) == percent(before) else ""
        was = "" if as_before else f"{percent(before)} before, "
        return (
            f"reads across racks {percent(now)}{as_before} ({was}forecast at most {percent(most)})"
        )
    return f"reads across racks {percent(now)} ({percent(before)} before)"


def without(measure: str, stayed: float, came: float, *, least: bool = False) -> str:
    """
    What the assignment before a switch would have brought, and what came.

    >>> without("delay_seconds", 32760, 3960)
    '9 h 6 min late without, 1 h 6 min with'
    >>> without("lag", 24_000, 0, least=True)
    'lag at least 24,000 without, 0 with'

    Args:
        measure: lag or delay_seconds.
        stayed: Its value without the switch.
        came: Its value with it.
        least: Whether it could have been more.
    """
    at_least = "at least " if least else ""
    if measure == "delay_seconds":
        return f"{at_least}{roughly(stayed)} late without, {roughly(came)} with"
    return f"lag {at_least}{about(stayed)} without, {about(came)} with"


def if_stayed(check: AdviceCheck) -> str | None:
    """The value of a check without the switch, and the actual one; None if unknown, or if both are the same."""
    stayed, came = check.if_stayed, check.actual
    least = stayed is None
    stayed = check.if_stayed_low if stayed is None else stayed
    if stayed is None or came is None or stayed == came:
        return None
    return without(check.measure, stayed, came, least=least)


def saved(offset_seconds: float) -> str:
    """
    What a switch has saved, its cost included.

    >>> saved(7_404_804_985), saved(-720_000)
    ('saved 2,100,000 record-hours of lag', 'cost 200 record-hours of lag')
    """
    verb = "saved" if offset_seconds >= 0 else "cost"
    return f"{verb} {about(abs(offset_seconds) / HOUR)} record-hours of lag"


def came(check: AdviceCheck) -> str:
    """The actual value, in short."""
    name, reads = _MEASURES[check.measure]
    seen = "not seen" if check.actual is None else reads(check.actual)
    return f"{name} after {duration(check.after_seconds)} {seen}"


def foreseen(check: AdviceCheck) -> str:
    """The actual value with its forecast."""
    _, reads = _MEASURES[check.measure]
    low, high = reads(check.low), reads(check.high)
    band = f" (p10-p90 {low}-{high})" if low != high else ""
    return f"{came(check)}, forecast {reads(check.expected)}{band}"
