"""Filling from the lowest level up, and who stands where."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.kafka.uniform.heterogeneous import lowest_first, ranked


def _one_by_one(size, count):
    """Level by level: everyone on the lowest gets one in turn, then the next level joins in."""
    has, taken, level = list(size), [], size[0]
    while len(taken) < count:
        for index in [i for i, n in enumerate(has) if n == level]:
            if len(taken) < count:
                taken.append(index)
                has[index] += 1
        level += 1
    return taken


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9).map(sorted), st.integers(1, 60))
def test_lowest_first_is_filling_level_by_level(size, count):
    """Worked out at once or dealt one by one, the same members get the same turns."""
    assert lowest_first(np.array(size), count).tolist() == _one_by_one(size, count)


@given(st.lists(st.integers(0, 70_000), min_size=1, max_size=9))
def test_ranked_is_by_size_then_place(size):
    """However far sizes lie apart, the fewest come first and equal ones stay in order."""
    places = np.arange(len(size)) * 2
    expected = sorted(zip(size, places.tolist(), strict=True))

    row, sizes = ranked(places, np.array(size))

    assert list(zip(sizes.tolist(), row.tolist(), strict=True)) == expected
