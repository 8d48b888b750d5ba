"""What is proven of an answer, in one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """
    How far an answer is from the floor of each criterion; counts are always exact.

    Attributes:
        largest, largest_floor: Largest member lag (offsets) and what no assignment with these counts is below.
        lagless: Why lags were left out; empty where they were not.
        share, share_floor: Cross-rack share, and what no assignment equal in all before is below; None: not proven.
        moves, moves_floor: The same of moves.
        racked: Whether racks can make a difference.
    """

    largest: int = 0
    largest_floor: int = 0
    lagless: str = ""
    share: Fraction = Fraction(0)
    share_floor: Fraction | None = Fraction(0)
    moves: int = 0
    moves_floor: int | None = 0
    racked: bool = False

    def sentence(self) -> str:
        """
        >>> Proof().sentence()
        'exact'
        >>> Proof(lagless="1 partition of unknown lag").sentence()
        'counts and moves exact; largest member lag left out: 1 partition of unknown lag'
        >>> Proof(largest=1204, largest_floor=1170, moves_floor=None).sentence()
        'counts exact; largest member lag 1,204, at most 3 % above its floor of 1,170; moves not proven'
        >>> Proof(racked=True, share=Fraction(1, 8), share_floor=Fraction(1, 9), moves_floor=None).sentence()
        'counts and largest member lag exact; cross-rack share 12.5 %, its floor 11.1 %; moves not proven'
        >>> Proof(moves=14, moves_floor=12).sentence()
        'counts and largest member lag exact; moves 14, their floor 12'
        """
        exact, open_words, unproven = ["counts"], [], []
        if not self.lagless:
            if self.largest == self.largest_floor:
                exact.append("largest member lag")
            else:
                open_words.append(self._lag_gap())
        if self.racked:
            if self.share_floor is None:
                unproven.append("cross-rack share")
            elif self.share == self.share_floor:
                exact.append("cross-rack share")
            else:
                least = floor(1000 * self.share_floor) / 10
                open_words.append(f"cross-rack share {_percent(self.share)}, its floor {least:g} %")
        if self.moves_floor is None:
            unproven.append("moves")
        elif self.moves == self.moves_floor:
            exact.append("moves")
        else:
            open_words.append(f"moves {self.moves:,}, their floor {self.moves_floor:,}")
        if unproven:
            open_words.append(f"{_listed(unproven)} not proven")
        if self.lagless:
            open_words.append(f"largest member lag left out: {self.lagless}")
        return "; ".join([f"{_listed(exact)} exact", *open_words]) if open_words else EXACT

    def _lag_gap(self) -> str:
        gap = Fraction(100 * (self.largest - self.largest_floor), self.largest_floor)
        digits = 0 if gap >= 2 else 2
        above = ceil(gap * 10**digits) / 10**digits
        return f"largest member lag {self.largest:,}, at most {above:g} % above its floor of {self.largest_floor:,}"


def _percent(share: Fraction) -> str:
    return f"{ceil(1000 * share) / 10:g} %"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
