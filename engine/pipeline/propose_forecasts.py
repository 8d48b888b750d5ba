"""What becomes of a group under each candidate, and what it costs to get there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..advice.price import Price
from ..metrics.forecast import Load, forecasts
from ..model.arrays import Indices
from ..model.assignments import Candidate


def with_forecasts(
    load: Load | None,
    candidates: Sequence[Candidate],
    price_of: Callable[[Candidate, Indices], Price | None],
) -> list[Candidate]:
    """
    The candidates of a group, those with an assignment with their forecast, and where it has one with their price.

    Args:
        load: What the group's forecast is made from; without it there is none.
        candidates: One per strategy.
        price_of: What it costs to get to a candidate's owners; None where it cannot be had, or is there already.
    """
    placed = {
        each.strategy: each.assignment.owner for each in candidates if each.assignment is not None
    }
    if load is None or not placed:
        return list(candidates)
    prices = [
        price_of(each, placed[each.strategy]) for each in candidates if each.strategy in placed
    ]
    held_up = [paid.held_up_seconds if paid else None for paid in prices]
    found = {
        strategy: replace(forecast, price_restarts=paid.restarts) if paid else forecast
        for strategy, paid, forecast in zip(
            placed, prices, forecasts(load, [*placed.values()], held_up), strict=True
        )
    }
    return [replace(each, forecast=found.get(each.strategy)) for each in candidates]
