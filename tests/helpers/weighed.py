"""Candidates of a group, made by hand, and what is decided of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenkeel.engine.advice import decide
from evenkeel.engine.config import Policy
from evenkeel.engine.model.assignments import Advice, Candidate, Deployment, Feasibility
from evenkeel.engine.model.facts import FactKind, fact, reason
from evenkeel.engine.model.figures import Forecast, Score
from evenkeel.engine.model.states import Diagnosis

EVEN = Score(
    partition_spread=0,
    balanced=True,
    most_partitions=2,
    fewest_partitions=2,
    largest_member_lag=0,
    lag_skew=None,
    lag_lower_bound=0,
    lag_lower_bound_equal_counts=0,
    cross_rack_share=None,
    cross_rack_rate_share=None,
    cross_rack_in_sync_share=None,
    cross_leader_share=None,
    racks_left_out=0,
    moves=0,
    newly_owned=0,
    unowned=0,
    drain_seconds=None,
)
"""A group that is as even as can be and has no lag."""

ONCE = Policy()
"""Who is seen to win once is advised."""

SKEWED: dict[str, Any] = {"diagnosis": Diagnosis.SKEWED_LOAD}
"""Of a group whose lag speaks for a switch."""

GB = 1e9 / 86_400
"""Bytes/s that are a GB a day."""


def forecast(
    low: float,
    expected: float | None = None,
    high: float | None = None,
    *,
    integral: float | None = None,
    drained: float = float("inf"),
    used: float | None = None,
    gain_low: float | None = None,
    **price: float,
) -> Forecast:
    """
    What becomes of a group: its lag in an hour, and on average half of that until then unless *integral* says more.

    Args:
        low, expected, high: Offsets in an hour, grown evenly from none; all *low* unless given.
        integral: Offset-seconds, expected.
        drained: Seconds, expected.
        used: Share of what its busiest member can do, expected.
        gain_low: Offset-seconds, the p10 of its gain; as expected unless given.
        price: `restarts`, `held_up_offsets` and `offset_seconds`.
    """
    middle = low if expected is None else expected
    of_lag = (low, middle, middle if high is None else high)
    total = middle * 1800 if integral is None else integral
    bands = {
        "soon_lag": of_lag,
        "lag": of_lag,
        "delay_seconds": (0.0, 0.0, 0.0),
        "drained_seconds": (drained, drained, drained),
        "utilization": (used, used, used),
        "lag_integral": (total, total, total),
    }
    ends = ("low", "expected", "high")
    columns: dict[str, Any] = {
        f"forecast_{name}_{end}": value
        for name, band in bands.items()
        for end, value in zip(ends, band, strict=True)
    }
    columns["overload_per_second"] = middle / 3600
    columns |= {f"price_{name}": value for name, value in price.items()}
    return Forecast(**columns, forecast_gain_low=gain_low)


def candidate(
    strategy: str = "roundrobin",
    feasibility: Feasibility = Feasibility.NEEDS_RESTART,
    *,
    ahead: Forecast | None = None,
    **score: Any,
) -> Candidate:
    """A strategy by its forecast and by what is not even about its score."""
    return Candidate(
        strategy=strategy,
        deployment=Deployment.LIVE if strategy == "live" else Deployment.SETTING,
        feasibility=feasibility,
        reason=(reason("runs_it"),),
        forecast=ahead,
        score=replace(EVEN, **score),
    )


def live(**known: Any) -> Candidate:
    """What the group has now."""
    return candidate("live", Feasibility.AVAILABLE, **known)


def undeployable(strategy: str, **known: Any) -> Candidate:
    """A strategy that the group cannot deploy."""
    return candidate(strategy, Feasibility.NOT_DEPLOYABLE, **known)


def drains(seconds: float | None) -> Any:
    """The fact of a diagnosis `catching up`: in so many seconds, None unknown."""
    return fact(FactKind.DIAGNOSIS, "catching_up", before=4000.0, after=seconds, partitions=3)


def decided(*candidates: Candidate, policy: Policy = ONCE, **more: Any) -> Advice:
    """What a group of ten partitions is told; the integrals of its candidates are without their price."""
    stays = next((one.forecast for one in candidates if one.strategy == "live"), None)
    held = [gaining(stays, one) if one.strategy != "live" else one for one in candidates]
    return decide(group="g", candidates=held, partitions=10, policy=policy, **more)


def gaining(stays: Forecast | None, one: Candidate) -> Candidate:
    """A candidate with what its forecast gains beside that of who stays."""
    ahead = one.forecast
    if stays is None or ahead is None:
        return one
    total, costs = ahead.forecast_lag_integral_expected, ahead.price_offset_seconds or 0.0
    gain = stays.forecast_lag_integral_expected - total - costs
    low = gain if ahead.forecast_gain_low is None else ahead.forecast_gain_low
    found = {"forecast_gain_low": low, "forecast_gain_expected": gain, "forecast_gain_high": gain}
    return replace(one, forecast=replace(ahead, **found))
