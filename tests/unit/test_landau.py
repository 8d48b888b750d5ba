"""The benchmark on Landau's sequences: his heuristics, and `balanced` with a priced number of members beside them."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.model.arrays import NONE
from tests.benchmarks.landau.heuristics import HEURISTICS
from tests.benchmarks.landau.priced import PRICES, priced
from tests.benchmarks.landau.results import HARD_TO_BEAT, of_balanced, of_heuristic
from tests.benchmarks.landau.sequences import PARTITIONS, sequence

ANEW = {"NFD": [0, 2, 1, 1], "FFD": [0, 1, 1, 0], "WFD": [0, 0, 1, 1], "BFD": [0, 1, 1, 0]}
"""Of 60, 30, 50 and 40, which nobody has yet."""

KEPT = {
    # consumer 1 keeps 70, 12 joins it, 0 keeps 48 and 30; then nobody has room for 35, which 10 joins
    "MWF": [1, 3, 3, 0, 0, 1, 2],
    # but the fullest that has room for 10 is consumer 1
    "MBF": [1, 3, 1, 0, 0, 1, 2],
    # consumer 2 is before 0, so 12 and 30 join the two; 0 keeps 48 and gets 35, and 10 joins the emptiest
    "MWFP": [1, 0, 2, 0, 1, 2, 2],
    # 12 joins the fuller of the two, 30 the other; 0 gets 35, and 10 as well
    "MBFP": [1, 0, 0, 0, 2, 1, 2],
}
"""Of 70, 35 and 10, which consumer 1 has, 48, 30 and 12 of consumer 0, and 66 of consumer 2."""


@pytest.mark.parametrize("name", ANEW)
def test_packing_anew_goes_from_the_heaviest_down(name: str) -> None:
    """Each partition goes where the kind of fit says, else to a new consumer."""
    rate, nobody = np.array([60, 30, 50, 40]), np.full(4, NONE)
    assert HEURISTICS[name](rate, nobody, np.random.default_rng(0)).tolist() == ANEW[name]


@pytest.mark.parametrize("name", KEPT)
def test_modified_heuristics_keep_what_fits(name: str) -> None:
    """A consumer keeps its largest partitions, and what it cannot take goes elsewhere."""
    rate, owner = np.array([70, 35, 10, 48, 30, 12, 66]), np.array([1, 1, 1, 0, 0, 0, 2])
    assert HEURISTICS[name](rate, owner, np.random.default_rng(0)).tolist() == KEPT[name]


def test_a_new_consumer_gets_the_number_of_who_had_its_partition() -> None:
    """What was with one consumer and begins a new bin does not move."""
    rate, owner = np.array([90, 80, 20]), np.array([3, 0, 0])
    assert HEURISTICS["BFD"](rate, owner, np.random.default_rng(0)).tolist() == [3, 0, 0]


@pytest.mark.parametrize(("price", "members", "r_score"), [(0.3, 3, 0.55), (0.5, 2, 1.0)])
def test_a_member_joins_where_that_saves_moves_worth_more(
    price: float, members: int, r_score: float
) -> None:
    """Consumer 0 gives 55 to a new one, or to consumer 1 for 45 in exchange where a new one is too dear."""
    choice = priced(price, np.array([55, 55, 45, 45]), np.array([0, 0, 1, 1]))
    assert (choice.members, choice.r_score) == (members, r_score)


@pytest.mark.parametrize(("price", "members", "r_score"), [(0.05, 3, 0), (0.1, 2, 0.08)])
def test_a_member_leaves_where_that_moves_less_than_it_costs(
    price: float, members: int, r_score: float
) -> None:
    """Consumer 2 has 8, which consumer 0 or 1 could take."""
    choice = priced(price, np.array([60, 30, 50, 40, 8]), np.array([0, 0, 1, 1, 2]))
    assert (choice.members, choice.r_score) == (members, r_score)


def test_a_sequence_is_a_walk_that_comes_again_the_same() -> None:
    """Rates stay within what a member can take, and change by the delta at most."""
    rates = sequence(5, measurements=50)
    assert (rates == sequence(5, measurements=50)).all()
    assert rates.shape == (50, PARTITIONS)
    assert (rates.min(), rates.max(), abs(np.diff(rates, axis=0)).max()) == (0, 100, 5)


def test_balanced_needs_no_more_members_and_moves_no_more_than_published_heuristics() -> None:
    """Each of the three hardest to beat is beaten in both figures at one price of a member."""
    rates = sequence(5, measurements=5)
    ours = [of_balanced(price, rates) for price in PRICES]
    for name in HARD_TO_BEAT:
        theirs = of_heuristic(HEURISTICS[name], rates)
        assert any(point.beats(theirs) for point in ours), name
