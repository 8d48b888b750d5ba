"""Whether an assignment is enough better than the live one for a switch to pay: gains and losses, as facts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..model.assignments import Candidate
from ..model.facts import Fact, FactKind
from ..model.figures import Score
from .by_forecast import less_lag, price, worse
from .by_racks import less_across, more_across
from .live_and_candidate import Argument, LiveAndCandidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """
    What a switch would bring and cost.

    Attributes:
        gains: What gets better by at least what the policy asks.
        losses: What forbids the switch. In both, remarks stand behind the fact they belong to.
        lag_won: By how much the expected lag integral of the coming hour falls beyond the price of the switch, in
            offset-seconds; 0 where lag is no gain.
        lag_fall: The same without the price.
        racks_won: What is saved across racks, in multiples of the least that counts; 0 where that is no gain.
    """

    gains: tuple[Fact, ...]
    losses: tuple[Fact, ...]
    lag_won: float
    lag_fall: float
    racks_won: float

    @property
    def pays(self) -> bool:
        """A switch needs a gain and no loss."""
        return bool(self.gains) and not self.losses

    @property
    def value(self) -> tuple[float, float]:
        """The order among what pays: lag first, then what crosses racks."""
        return round(self.lag_won, 3), round(self.racks_won, 6)

    def ideal_beside(self, other: Weighing, gain: float) -> bool:
        """
        Whether it beats another by enough to be named though it cannot be deployed; nobody knows its price.

        Args:
            other: What can be.
            gain: The share of that by which the lag integral must fall further.
        """
        if self.lag_fall > other.lag_fall * (1 + gain):
            return True
        return self.lag_fall >= other.lag_fall * (1 - gain) and self.value[1] > other.value[1]


def weigh(
    standing: LiveAndCandidate, candidate: Candidate, score: Score, *, kept: bool = False
) -> Weighing:
    """
    Compare a candidate with the live assignment.

    Args:
        standing: What it is held against.
        candidate: The candidate; what is wrong with its assignment is a loss.
        score: Its score.
        kept: Whether the switch to it is confirmed already: then less has to be won, by the policy's dead band.
    """
    ease = standing.policy.dead_band if kept else 1.0
    lag = less_lag(standing, candidate.forecast, ease)
    racks = less_across(standing, score, ease)
    owned = _unowned(standing.score, score, FactKind.GAIN)
    if lag.loss and (racks.gain or owned):
        # too dear for the lag alone; something else speaks for it all the same
        lag = Argument()
    only_racks = racks.gain and not lag.gain
    gains = (
        *lag.gain,
        *racks.gain,
        *(price(candidate.forecast) if only_racks else ()),
        *owned,
    )
    flaws = [replace(flaw, kind=FactKind.LOSS) for flaw in candidate.findings]
    return Weighing(
        gains=(*gains, *more_across(standing, score)) if gains and not racks.loss else gains,
        losses=(
            *flaws,
            *lag.loss,
            *worse(standing, candidate.forecast, strict=bool(only_racks)),
            *racks.loss,
            *_spread(standing, candidate, score),
            *_moves(standing, score),
            *_unowned(standing.score, score, FactKind.LOSS),
        ),
        lag_won=lag.won,
        lag_fall=lag.won + lag.costs,
        racks_won=racks.won,
    )


def _spread(standing: LiveAndCandidate, candidate: Candidate, score: Score) -> list[Fact]:
    """Counts that get less even are a loss only where no forecast tells what they do."""
    before, after = standing.score.partition_spread, score.partition_spread
    if before is None or after is None or after <= max(before, 1):
        return []
    if standing.forecast is not None and candidate.forecast is not None:
        return []
    return [_loss("partition_spread", before, after)]


def _moves(standing: LiveAndCandidate, score: Score) -> list[Fact]:
    allowed = int(standing.partitions * standing.policy.moves_per_gain)
    if score.moves <= allowed:
        return []
    return [replace(_loss("moves", None, score.moves), bound=allowed)]


def _unowned(live: Score, other: Score, kind: FactKind) -> list[Fact]:
    fewer = other.unowned < live.unowned
    if other.unowned == live.unowned or fewer is not (kind is FactKind.GAIN):
        return []
    return [replace(_loss("unowned", live.unowned, other.unowned), kind=kind)]


def _loss(measure: str, before: float | None, after: float) -> Fact:
    return Fact(kind=FactKind.LOSS, measure=measure, before=before, after=after, unit="partitions")
