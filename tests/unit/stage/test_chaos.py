"""The plan of what is hurt: drawn from its seed alone, and never more than a cluster can bear."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.stage.chaos.plan import WEIGHTS, plan_of

SECONDS = 600.0


@given(st.integers(0, 10_000))
def test_a_plan_hurts_no_part_twice_at_once(seed: int) -> None:
    """Of brokers one at most; every blow is over before the next on that part, and when the time is."""
    blows = plan_of(seed, SECONDS)
    for part in {blow.part.split()[0] for blow in blows}:
        own = [blow for blow in blows if blow.part.split()[0] == part]
        assert all(a.at + a.lasts < b.at for a, b in itertools.pairwise(own))
    assert max(blow.at + blow.lasts for blow in blows) <= SECONDS + 0.1
    assert blows == sorted(blows, key=lambda blow: blow.at)


def test_ten_minutes_hurt_everything() -> None:
    """A few seeds together leave no part and no way out; the same seed gives the same plan."""
    plans = [plan_of(seed, SECONDS) for seed in range(20)]
    done = {(blow.part.split()[0], blow.how) for plan in plans for blow in plan}
    assert done == set(WEIGHTS)
    assert plans[3] == plan_of(3, SECONDS)
    assert plans[3] != plans[4]
