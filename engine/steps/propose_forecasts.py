"""What becomes of a group under each candidate, and what it costs to get there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evenkeel.engine.advice.price import Pauses, Price, gives_up_everything, price
from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.config import Policy
from evenkeel.engine.figures import Forecast
from evenkeel.engine.forecast import Load, forecasts
from evenkeel.engine.model import Candidate, Deployment, Feasibility, GroupSnapshot, Indices


def with_forecasts(
    group: GroupSnapshot,
    spec: GroupSpec,
    load: Load | None,
    policy: Policy,
    candidates: Sequence[Candidate],
) -> list[Candidate]:
    """
    The candidates of a group, those with an assignment with their forecast, and where the group could run them with
    its price.

    Args:
        group: The group.
        spec: The same for strategies.
        load: What its forecast is made from; without it there is none.
        policy: How long rebalances and restarts take it.
        candidates: One per strategy.
    """
    if load is None or all(each.assignment is None for each in candidates):
        return list(candidates)
    pauses = Pauses.of(policy)
    placed = {
        each.strategy: each.assignment.owner for each in candidates if each.assignment is not None
    }
    prices = {
        each.strategy: _price(group, spec, each, placed[each.strategy], pauses)
        for each in candidates
        if each.strategy in placed
    }
    held_up = [one.held_up_seconds if one else None for one in prices.values()]
    found = dict(zip(placed, forecasts(load, [*placed.values()], held_up), strict=True))
    return [
        replace(each, forecast=_priced(found[each.strategy], prices[each.strategy]))
        if each.strategy in found
        else each
        for each in candidates
    ]


def _price(
    group: GroupSnapshot, spec: GroupSpec, candidate: Candidate, owner: Indices, pauses: Pauses
) -> Price | None:
    """What a switch to a candidate costs; None where it cannot be had, or is there already."""
    could = candidate.feasibility in (Feasibility.CAN_RUN, Feasibility.COULD_RUN)
    if candidate.deployment is Deployment.LIVE or not could:
        return None
    eager = gives_up_everything(group, candidate.strategy, candidate.how)
    return price(candidate.how, spec.static, spec.owner, owner, eager=eager, pauses=pauses)


def _priced(forecast: Forecast, paid: Price | None) -> Forecast:
    return forecast if paid is None else replace(forecast, price_restarts=paid.restarts)
