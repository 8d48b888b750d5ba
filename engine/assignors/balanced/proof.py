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


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProof:
    """
    How far an answer by arrivals is from the floor of each criterion.

    Attributes:
        peak, peak_floor: Utilisation of the busiest member, or its arrivals (offsets/s) where no capacity is known, and
            what no assignment brings that under.
        capacities_known: Whether one is known.
        crossing, crossing_floor: Bytes/s across racks, or offsets/s where no record size is known; and what no
            assignment has less than.
        sizes_known: Whether one is known.
        racked: Whether racks can make a difference.
        moves, moves_floor: Partitions that change hands, and what no assignment equal in all before has less than;
            None: not proven.
        guessed: Partitions of unknown arrivals.
    """

    peak: float
    peak_floor: float
    capacities_known: bool
    crossing: float
    crossing_floor: float
    sizes_known: bool
    racked: bool
    moves: int
    moves_floor: int | None
    guessed: int

    def facts(self) -> tuple[Fact, ...]:
        """One fact for each criterion, in the order of the criteria; then what was taken for what is not known."""
        peak = "peak_utilisation" if self.capacities_known else "peak_load"
        crossing = "cross_rack_bytes" if self.sizes_known else "cross_rack_rate"
        guessed = Fact(kind=FactKind.REMARK, measure="unknown_rates", partitions=self.guessed)
        return (
            _claim(peak, self.peak, self.peak_floor),
            *([_claim(crossing, self.crossing, self.crossing_floor)] if self.racked else []),
            _claim("moves", self.moves, self.moves_floor),
            *([guessed] if self.guessed else []),
        )


def _claim(measure: str, after: float, floor: float | None) -> Fact:
    kind = FactKind.EXACT if after == floor else FactKind.WITHIN
    if floor is None:
        kind = FactKind.NOT_PROVEN
    return Fact(kind=kind, measure=measure, after=after, bound=floor)
