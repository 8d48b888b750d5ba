"""Quotas of equal subscriptions against the literal way of asking one member after another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.kafka.uniform.homogeneous import quotas


def _one_after_another(has, partitions):
    """Each member in turn claims an extra if one is left, and gives it back if it can be placed behind it."""
    least, extras = divmod(partitions, len(has))
    found = []
    for behind, count in zip(reversed(range(len(has))), has, strict=True):
        takes = extras > 0 and (count > least or behind < extras)
        found.append(least + takes)
        extras -= takes
    return found


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(0, 40))
def test_quotas_are_those_of_asking_in_turn(has, partitions):
    """All at once or one after another, the same members may own one more."""
    assert quotas(np.array(has), partitions).tolist() == _one_after_another(has, partitions)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(0, 40))
def test_quotas_add_up(has, partitions):
    """There is a place for every partition, and for no more."""
    assert int(quotas(np.array(has), partitions).sum()) == partitions
