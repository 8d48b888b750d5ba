"""One topic's balancing: what moves, and that the compiled form does the same."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.assignors.kafka.uniform.heterogeneous import moves_between
from evenkeel.engine.assignors.kit.kernels import held_to


def _moves(sizes, of_topic):
    """The (giver, taker) pairs, when the members have so many in all and so many of the topic."""
    end = np.cumsum(of_topic)
    given, taker = moves_between(np.array(sizes), end - of_topic, end)
    giver = np.searchsorted(end, given, side="right")
    return list(zip(giver.tolist(), taker.tolist(), strict=True))


@pytest.mark.parametrize(
    ("situation", "sizes", "of_topic", "expected"),
    [
        ("one apart is even", [2, 3], [2, 3], []),
        ("from the fullest to the emptiest", [0, 2], [0, 2], [(1, 0)]),
        ("the last of the fullest gives first", [0, 3, 3], [0, 3, 3], [(2, 0), (1, 0)]),
        ("the first of the emptiest takes first", [0, 0, 4], [0, 0, 4], [(2, 0), (2, 1)]),
        ("who has nothing of the topic is passed over", [0, 2, 4], [0, 2, 0], [(1, 0)]),
        ("who gave all of it is passed over", [0, 0, 3, 9], [0, 0, 3, 1], [(3, 0), (2, 1)]),
        (
            "one between two is passed over, and they go on in turn",
            [0, 9, 9, 9],
            [0, 9, 0, 9],
            [(3, 0), (1, 0)] * 3,
        ),
        ("nobody has anything of the topic", [0, 5], [0, 0], []),
    ],
)
def test_partitions_move_from_high_to_low(situation, sizes, of_topic, expected):
    """The high level sinks and the low one rises until they are at most one apart."""
    assert _moves(sizes, of_topic) == expected


def test_each_gives_its_highest_partition_first():
    """Positions are given from the end of a member's own."""
    given, _ = moves_between(np.array([0, 6]), np.array([0, 0]), np.array([0, 6]))

    assert given.tolist() == [5, 4, 3]


@pytest.mark.slow
def test_the_compiled_form_moves_the_same():
    """Interpreted and compiled, a thousand members of random loads give and take alike."""
    random = np.random.default_rng(4)
    sizes = np.sort(random.integers(0, 60, 1_000))
    of_topic = random.integers(0, 60, 1_000) * random.integers(0, 2, 1_000)
    of_topic = np.minimum(of_topic, sizes)

    with held_to(compiled=False):
        interpreted = _moves(sizes, of_topic)
    with held_to(compiled=True):
        compiled = _moves(sizes, of_topic)

    assert len(interpreted) > 1_000
    assert compiled == interpreted
