"""The forecasts of candidates: of many groups at once, with what it costs to get to each candidate's owners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..advice.switch_cost import Price
from ..metrics.forecast import ForecastInput, Load, forecasts
from ..model.arrays import Indices
from ..model.assignments import Candidate, Deployment
from ..model.figures import Forecast


@dataclass(frozen=True, kw_only=True, eq=False)
class Unforecast:
    """
    The candidates of a group without their forecasts.

    Attributes:
        load: What the group's forecast is made from; without it there is none.
        candidates: One per strategy.
        price_of: What it costs to get to a candidate's owners; None where it cannot be had, or is there already.
    """

    load: Load | None
    candidates: Sequence[Candidate]
    price_of: Callable[[Candidate, Indices], Price | None]

    @cached_property
    def placed(self) -> list[tuple[Candidate, Indices]]:
        """(K) the candidates with an assignment, and its owners."""
        return [(c, c.assignment.owner) for c in self.candidates if c.assignment is not None]

    @cached_property
    def prices(self) -> list[Price | None]:
        """(K) what it costs to get to each assignment."""
        return [self.price_of(*each) for each in self.placed]

    @property
    def asked(self) -> ForecastInput | None:
        """The assignments that are forecast; None where there is nothing to forecast."""
        if self.load is None or not self.placed:
            return None
        is_live = [candidate.deployment is Deployment.LIVE for candidate, _ in self.placed]
        return ForecastInput(
            load=self.load,
            owners=[owner for _, owner in self.placed],
            standstills=self.prices,
            live=is_live.index(True) if True in is_live else None,
        )

    def given(self, ahead: Sequence[Forecast | None]) -> Iterator[Candidate]:
        """
        The candidates with their forecasts.

        Args:
            ahead: (K) the forecast of each assignment.
        """
        each_one = zip(self.prices, ahead, strict=True)
        for candidate in self.candidates:
            if candidate.assignment is None:
                yield candidate
                continue
            paid, forecast = next(each_one)
            if forecast is not None and paid is not None:
                forecast = replace(forecast, price_restarts=paid.restarts)
            yield replace(candidate, forecast=forecast)


def with_forecasts(groups: Sequence[Unforecast]) -> list[list[Candidate]]:
    """The candidates of each group, those with an assignment with their forecast and its price where it has one."""
    asked = [each.asked for each in groups]
    ahead = iter(forecasts([each for each in asked if each is not None]))
    return [
        [*each.candidates] if ask is None else [*each.given(next(ahead))]
        for each, ask in zip(groups, asked, strict=True)
    ]
