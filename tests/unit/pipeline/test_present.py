"""What replays of other assignments need of a snapshot, from its stored tables."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.metrics.ownership import fingerprint_of
from evenkeel.engine.pipeline.advise import metrics_by_group, of_lake, would_be
from evenkeel.engine.pipeline.present import best_ways, shown
from evenkeel.engine.pipeline.propose import moves_of
from tests.helpers.snapshots import group, make_snapshot, member, store, topic

SETTINGS = Settings()


@pytest.fixture(scope="module")
def held():
    """A lake, and the third snapshot of a group of three members, two of whom cannot be told apart."""
    held = Recording()
    for number in range(3):
        owned = {"a": [0, 1, 2], "b": [4, 3], "c": []}
        members = [
            member(name, ["orders"], {"orders": own}, client_id="twin" if name != "a" else "a")
            for name, own in owned.items()
        ]
        [name] = store(
            held,
            make_snapshot(
                number=number,
                topics=[topic("orders", 5, end=1000 + 600 * number)],
                groups=[
                    group("g", members=members, lag={"orders": 100 * number}),
                    group("empty", lag={"orders": 7}),
                ],
            ),
        )
        pipeline.record_metrics(held, name, pipeline.compute_metrics(held, SETTINGS, name))
        pipeline.record_candidates(held, name, pipeline.propose_candidates(held, SETTINGS, name))
    return held, name


@pytest.fixture(scope="module")
def read(held):
    """Its tables."""
    return of_lake(*held)


@pytest.fixture(scope="module")
def found(read):
    """What is shown of its groups."""
    return shown(read, metrics_by_group(read), ["g", "empty"])


def _fingerprint(present, owner):
    numbers = np.arange(5, dtype=np.int32)
    return fingerprint_of(["orders"], np.zeros(5, np.int32), numbers, owner, present.members)


def test_a_group_without_members_is_not_replayed(found):
    """There is nobody to give its partitions to."""
    assert found.keys() == {"g"}


def test_it_has_the_assignment_that_metrics_name(found, read):
    """By identities in an order that stays while the assignment does."""
    present = found["g"].present
    assert present.assignment == metrics_by_group(read)["g"]["assignment"]
    assert present.assignment == _fingerprint(present, present.owner)
    assert present.ends.tolist() == [2200] * 5
    # it has shown no commit interval: all that is there may wait for the next commit
    assert (present.waits(present.age), present.backlog.tolist()) == (0.0, [0.0] * 5)


def test_who_cannot_be_told_apart_may_do_the_least_and_the_most_of_them(found):
    """One of the twins keeps up with two partitions, of the other nothing is known."""
    capacity = found["g"].present.capacity
    assert np.array_equal(capacity[:, 1], capacity[:, 2])
    assert (capacity[0, 1], capacity[2, 1]) == (np.inf, 0)


@pytest.mark.parametrize("strategy", ["roundrobin", "range", "sticky"])
def test_the_moves_of_a_candidate_lead_to_its_assignment(found, held, read, strategy):
    """As a whole, not only what moves."""
    moves = partial(moves_of, held[0], SETTINGS, held[1])
    chosen = {"g": SimpleNamespace(strategy=strategy, forecast=None), "gone": None}
    [way] = best_ways(moves, found, chosen).values()
    assert way.strategy == strategy
    assert (
        _fingerprint(found["g"].present, way.owner)
        == would_be(read, moves, {"g": [strategy]})["g"][strategy]
    )


def test_what_waits_is_the_lag_beyond_the_age_of_commits(read):
    """Of a group that is late, partition by partition as in all."""
    metrics = metrics_by_group(read)
    late = {"g": metrics["g"] | {"delay_seconds": 60.0, "commit_ages_seconds": [2.0, 4.0]}}
    present = shown(read, late, ["g"])["g"].present
    arrives = late["g"]["production_per_second"]
    assert (present.lag, present.arrives, present.age) == (1000, arrives, 3)
    assert present.backlog.sum() == pytest.approx(1000 - 3 * arrives)
    assert present.waits(present.age) == pytest.approx(present.backlog.sum())


def test_it_can_be_read_again(found, read):
    """A step that is repeated sees the same."""
    again = shown(read, metrics_by_group(read), ["g"])["g"].present
    assert again.members == found["g"].present.members
    assert again.owner.tolist() == found["g"].present.owner.tolist()
