"""What forecasts say of a switch: how far behind a group will be with it and without, and what getting there costs."""

from __future__ import annotations

from ..metrics.forecast import HORIZON_SECONDS
from ..model.assignments import Candidate
from ..model.facts import Fact, FactKind, fact, remark
from ..model.figures import Forecast
from .live_and_candidate import Argument, LiveAndCandidate, compared


def less_lag(standing: LiveAndCandidate, candidate: Candidate, ease: float) -> Argument:
    """
    Whether a group falls behind less with a switch than without, restarts included.

    Both meet the same futures, and the difference is taken in each: in nine of ten the lag integral of the hour must
    fall, and in half of them by `lag_gain`: of what it is without, or of what the hour changes of the lag where that is
    less, since a backlog of a day is not gone in an hour under any assignment. What it falls by in half of them is what
    is won, in offset-seconds.

    Args:
        standing: What the candidate is held against.
        candidate: The candidate.
        ease: What the threshold is multiplied by.
    """
    live, other = standing.forecast, candidate.forecast
    if live is None or other is None or not (standing.lag_speaks and standing.may_mend(candidate)):
        return Argument()
    low, won = other.forecast_gain_low, other.forecast_gain_expected
    if low is None or won is None:
        return Argument()
    costs = other.price_offset_seconds or 0.0
    least = standing.policy.lag_gain * ease * _at_stake(standing, live)
    pays = low > 0 and won >= least
    if not pays and (low + costs <= 0 or won + costs < least):
        return Argument()
    gain = (
        *outlook(FactKind.GAIN, live, other),
        *standing.mended(candidate),
        *caught_up(live, other),
        compared(FactKind.REMARK, "forecast_lag_integral_expected", live, other),
        *price(other),
    )
    if pays:
        return Argument(gain=gain, won=won, costs=costs)
    dear = fact(
        FactKind.LOSS, "price_offset_seconds", after=costs, bound=won + costs, unit="offset-seconds"
    )
    return Argument(gain=gain, loss=(dear,))


def _at_stake(standing: LiveAndCandidate, live: Forecast) -> float:
    """Offset-seconds of the hour that depend on what is done in it: all, or what it changes of the lag there is."""
    stays = live.forecast_lag_integral_expected
    if standing.lag is None:
        return stays
    return min(stays, abs(stays - standing.lag * HORIZON_SECONDS))


def outlook(kind: FactKind, live: Forecast, other: Forecast) -> tuple[Fact, ...]:
    """A group's lag in an hour without a switch and with it: expected, a fact of that kind, then both ends."""
    return (
        compared(kind, "forecast_lag_expected", live, other),
        compared(FactKind.REMARK, "forecast_lag_low", live, other),
        compared(FactKind.REMARK, "forecast_lag_high", live, other),
    )


def caught_up(live: Forecast, other: Forecast) -> tuple[Fact, ...]:
    """When a group has caught up with a switch, from p10 to p90, and without it where that differs, as remarks."""
    low, _, high = other.band("drained_seconds")
    stays_low, _, stays_high = live.band("drained_seconds")
    told = []
    if low is not None:
        told.append(remark("forecast_drained_seconds", after=low, bound=high, unit="s"))
    if stays_low is not None and (stays_low, stays_high) != (low, high):
        told.append(
            remark("forecast_drained_seconds_staying", after=stays_low, bound=stays_high, unit="s")
        )
    return tuple(told)


def perhaps_less_lag(standing: LiveAndCandidate, candidate: Candidate) -> float:
    """What is won if all comes as expected, in offset-seconds; 0 or less is nothing, as is what cannot be told."""
    other = candidate.forecast
    if other is None or not (standing.lag_speaks and standing.may_mend(candidate)):
        return 0.0
    return other.forecast_gain_expected or 0.0


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
