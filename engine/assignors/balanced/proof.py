"""What is proven of an answer: one fact for each criterion."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evenkeel.engine.facts import Fact, FactKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """
    How far an answer is from the floor of each criterion; counts are always exact.

    Attributes:
        largest, largest_floor: Largest member lag (offsets) and what no assignment with these counts is below.
        lagless: That lags were left out, and why; None where they were not.
        share, share_floor: Cross-rack share, and what no assignment equal in all before is below; None: not proven.
        moves, moves_floor: The same of moves.
        racked: Whether racks can make a difference.
    """

    largest: int = 0
    largest_floor: int = 0
    lagless: Fact | None = None
    share: Fraction = Fraction(0)
    share_floor: Fraction | None = Fraction(0)
    moves: int = 0
    moves_floor: int | None = 0
    racked: bool = False

    def facts(self) -> tuple[Fact, ...]:
        """
        One fact for each criterion, in the order of the criteria.

        >>> [(fact.kind.value, fact.measure) for fact in Proof(moves=14, moves_floor=12).facts()]
        [('exact', 'partition_counts'), ('exact', 'largest_member_lag'), ('within', 'moves')]
        """
        share_floor = None if self.share_floor is None else float(self.share_floor)
        lag = _claim("largest_member_lag", self.largest, self.largest_floor)
        return (
            Fact(kind=FactKind.EXACT, measure="partition_counts"),
            self.lagless or lag,
            *([_claim("cross_rack_share", float(self.share), share_floor)] if self.racked else []),
            _claim("moves", self.moves, self.moves_floor),
        )


def _claim(measure: str, after: float, floor: float | None) -> Fact:
    kind = FactKind.EXACT if after == floor else FactKind.WITHIN
    if floor is None:
        kind = FactKind.NOT_PROVEN
    return Fact(kind=kind, measure=measure, after=after, bound=floor)
