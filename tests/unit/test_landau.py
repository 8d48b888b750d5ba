"""`balanced` with a priced number of members beside published heuristics, on Landau's sequences."""

from __future__ import annotations

from tests.benchmarks.landau.heuristics import HEURISTICS
from tests.benchmarks.landau.priced import PRICES
from tests.benchmarks.landau.results import HARD_TO_BEAT, of_balanced, of_heuristic
from tests.benchmarks.landau.sequences import sequence


def test_balanced_needs_no_more_members_and_moves_no_more_than_published_heuristics() -> None:
    """Each of the three hardest to beat is beaten in both figures at one price of a member."""
    rates = sequence(5, measurements=5)
    ours = [of_balanced(price, rates) for price in PRICES]
    for name in HARD_TO_BEAT:
        theirs = of_heuristic(HEURISTICS[name], rates)
        assert any(point.beats(theirs) for point in ours), name
