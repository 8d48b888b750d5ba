"""What forecasts say of a switch: how far behind a group will be with it and without, and what getting there costs."""

from __future__ import annotations

from ..model.facts import Fact, FactKind, fact, remark
from ..model.figures import Forecast
from .live_and_candidate import Argument, LiveAndCandidate, compared


def less_lag(standing: LiveAndCandidate, other: Forecast | None, ease: float) -> Argument:
    """
    Whether a group falls behind less with a switch, whatever comes, by more than the switch costs.

    The high end of the candidate's lag in an hour must lie below the low end of the live one's by `lag_gain`: of that,
    or of what the hour changes of the lag where that is less, since a backlog of a day is not gone in an hour under any
    assignment. And the expected lag integral of the hour must fall by more than the price; what it falls by beyond that
    is what is won, in offset-seconds.

    Args:
        standing: What the candidate is held against.
        other: What becomes of the group with it; None unknown.
        ease: What the threshold is multiplied by.
    """
    live = standing.forecast
    if not standing.lag_speaks or live is None or other is None:
        return Argument()
    best, worst = live.forecast_lag_low, other.forecast_lag_high
    changes = best if standing.lag is None else abs(best - standing.lag)
    if worst >= best or worst > best - standing.policy.lag_gain * ease * min(best, changes):
        return Argument()
    fall, costs = expected_fall(live, other), other.price_offset_seconds or 0.0
    gain = (
        *outlook(FactKind.GAIN, live, other),
        compared(FactKind.REMARK, "forecast_drained_seconds_expected", live, other),
        compared(FactKind.REMARK, "forecast_lag_integral_expected", live, other),
        *price(other),
    )
    if fall > costs:
        return Argument(gain=gain, won=fall - costs, costs=costs)
    dear = fact(
        FactKind.LOSS, "price_offset_seconds", after=costs, bound=fall, unit="offset-seconds"
    )
    return Argument(gain=gain, loss=(dear,))


def expected_fall(live: Forecast, other: Forecast) -> float:
    """By how many offset-seconds the lag integral of the coming hour is expected to fall with a switch."""
    return live.forecast_lag_integral_expected - other.forecast_lag_integral_expected


def outlook(kind: FactKind, live: Forecast, other: Forecast) -> tuple[Fact, ...]:
    """A group's lag in an hour without a switch and with it: expected, a fact of that kind, then both ends."""
    return (
        compared(kind, "forecast_lag_expected", live, other),
        compared(FactKind.REMARK, "forecast_lag_low", live, other),
        compared(FactKind.REMARK, "forecast_lag_high", live, other),
    )


def perhaps_less_lag(standing: LiveAndCandidate, other: Forecast | None) -> float:
    """What is won if all comes as expected, in offset-seconds; 0 or less is nothing, as is what cannot be told."""
    live = standing.forecast
    if not standing.lag_speaks or live is None or other is None:
        return 0.0
    return expected_fall(live, other) - (other.price_offset_seconds or 0.0)


def worse(standing: LiveAndCandidate, other: Forecast | None, *, strict: bool) -> tuple[Fact, ...]:
    """
    Why a group fares worse with a candidate, as losses; none where it does not, or that is not known.

    It does where the low end of its lag in an hour lies above the high end of the live one's, or its busiest member
    gets more than it can do while that of the live assignment does not.

    Args:
        standing: What the candidate is held against.
        other: What becomes of the group with it; None unknown.
        strict: Whether the expected lag is held against the live high end instead: of who wants no less lag it is asked
            that there be no more.
    """
    live = standing.forecast
    if live is None or other is None:
        return ()
    held = other.forecast_lag_expected if strict else other.forecast_lag_low
    before, after = live.forecast_utilization_expected, other.forecast_utilization_expected
    losses = []
    if held > live.forecast_lag_high:
        losses.append(compared(FactKind.LOSS, "forecast_lag_expected", live, other))
    if after is not None and after > 1 and (before is None or before <= 1):
        losses.append(compared(FactKind.LOSS, "forecast_utilization_expected", live, other))
    return tuple(losses)


def price(forecast: Forecast | None) -> tuple[Fact, ...]:
    """What a switch costs, as remarks; nothing where nothing has to be done, or that is not known."""
    if forecast is None or forecast.price_offset_seconds is None:
        return ()
    waits, restarts = forecast.price_held_up_offsets or 0.0, forecast.price_restarts or 0
    return (
        remark("price_held_up_offsets", after=waits, bound=restarts, unit="offsets"),
        remark("price_offset_seconds", after=forecast.price_offset_seconds, unit="offset-seconds"),
    )
