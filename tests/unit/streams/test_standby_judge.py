"""Random placements keep all five constraints of KIP-925, as the judge of them sees it."""

from __future__ import annotations

from random import Random

import pytest

from evenkeel.engine.streams.place import place
from tests.helpers.examples import examples
from tests.helpers.standby_judge import verify
from tests.helpers.streams import Shape, sketch


def _batch(seeds, shape):
    found = {}
    for seed in seeds:
        one = sketch(Random(seed), shape)
        if said := verify(one.app, one.config, place):
            found[seed] = said
    return found


def test_random_placements_break_nothing():
    """With racks and without, tags or racks as tags, every strategy; 300 of them with CI's profile."""
    assert _batch(range(6 * examples()), Shape(known_racks=True, grid=True)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(0, 10, 3))
def test_larger_random_placements_break_nothing(batch):
    """Four batches, each of larger ones: four thousand with the nightly profile, 400 with CI's."""
    seeds = range(1_000 * (batch + 1), 1_000 * (batch + 1) + 2 * examples())
    shape = Shape(known_racks=True, grid=True, most_tasks=14 + 3 * batch, most_clients=8 + batch)

    assert _batch(seeds, shape) == {}
