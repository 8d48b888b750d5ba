"""Random: the same draw every time, for the same reasons only."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.random import Random, _draws
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Deployment
from tests.helpers.owned import owned

FOUR = {name: ["t", "u"] for name in "abcd"}


def test_a_seed_gives_its_answer_for_ever():
    """Neither a release nor a machine changes what was drawn."""
    group = spec({"a": ["t"], "b": ["t"], "c": ["t", "u"]}, {"t": 6, "u": 1})

    assert owned(Random(), group) == {"a": "t-0 t-1 t-2", "b": "t-3 t-4", "c": "t-5 u-0"}


def test_draws_are_those_of_splitmix64():
    """The published first numbers of the seed 1234567."""
    words = np.full(3, 1234567, np.uint64)

    assert _draws(words, np.arange(3, dtype=np.uint64)).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_another_seed_draws_anew():
    """Half of a topic's partitions change between two members, give or take."""
    group = spec({"a": ["t"], "b": ["t"]}, {"t": 1000})
    changed = np.count_nonzero(Random(1).assign(group).owner != Random(2).assign(group).owner)

    assert 450 < changed < 550


def test_the_table_holds_a_fixed_seed():
    """The scoreboard's row is the same on every run."""
    assert (ASSIGNORS["random"].seed, ASSIGNORS["random"].deployment) == (0, Deployment.NEVER)


def test_every_subscriber_is_as_likely():
    """Of 10,000 partitions each of four members has a quarter, within four standard deviations."""
    counts = np.bincount(Random().assign(spec(FOUR, {"t": 10_000})).owner)

    assert abs(counts - 2500).max() < 4 * (10_000 * 0.25 * 0.75) ** 0.5


def test_partitions_and_topics_are_drawn_by_themselves():
    """Neighbors agree as often as chance has it, within a topic and across topics."""
    owner = Random().assign(spec(FOUR, {"t": 10_000, "u": 10_000})).owner
    first, second = owner[:10_000], owner[10_000:]

    for one, other in ((first[1:], first[:-1]), (first, second)):
        assert 0.23 < np.mean(one == other) < 0.27


def test_other_topics_and_their_subscribers_do_not_matter():
    """A topic's draw is its own: what else the group reads, and who joins for that, changes nothing."""
    alone = spec({"a": ["t"], "b": ["t"]}, {"t": 50})
    more = spec({"0": ["u"], "b": ["u", "t"], "a": ["t"]}, {"u": 9, "t": 50})

    assert owned(Random(3), alone)["a"] == owned(Random(3), more)["a"]


def test_a_topic_of_nobody_has_no_owner():
    """Nothing is drawn where nobody could get it."""
    assert Random().assign(spec({"a": []}, {"t": 2})).owner.tolist() == [NONE, NONE]
