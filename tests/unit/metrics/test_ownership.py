"""When two assignments are the same, by their fingerprints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from evenkeel.engine.metrics.ownership import fingerprint, fingerprint_of
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.batch import batch_of
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

PLAIN = {"a": [0, 1], "b": [2]}


def _of(held: Mapping[str, Sequence[int]], *, restarted: str = "", name: str = "t") -> str | None:
    """The fingerprint of a group in which members, by client id, own partitions of one topic of four."""
    members = [
        member(client + restarted, [name], {name: own}, client_id=client)
        for client, own in held.items()
    ]
    snapshot = make_snapshot(topics=[topic(name, 4)], groups=[group("g", members=members)])
    return fingerprint(batch_of(groups(snapshot)), 0)


def test_who_restarts_and_gets_back_what_it_had_changes_nothing():
    """Members are known by identity; their order in the broker's answer does not count either."""
    assert _of(PLAIN) == _of(PLAIN, restarted="-again") == _of(dict(reversed(PLAIN.items())))


@pytest.mark.parametrize(
    "other",
    [{"a": [0], "b": [1, 2]}, {"a": [2], "b": [0, 1]}, {"a": [0, 1], "b": [3]}, {"a": [0, 1, 2]}],
)
def test_another_owner_is_another_assignment(other):
    """A partition more, less, or exchanged."""
    assert _of(other) != _of(PLAIN)


def test_another_topic_is_another_assignment():
    """Of the same numbers and members."""
    assert _of(PLAIN, name="u") != _of(PLAIN)


def test_two_of_one_identity_may_change_places():
    """Nobody could tell; but what they own together may not be cut another way."""

    def of(owner):
        every = np.arange(len(owner))
        return fingerprint_of(["t"], every * 0, every, np.array(owner), ["same", "same"])

    assert of([0, 0, 1]) == of([1, 1, 0])
    assert of([0, 0, 1]) != of([0, 1, 1])


def test_where_nobody_owns_anything_there_is_no_assignment():
    """An empty group has none; a partition without owner does not count."""
    assert _of({"a": []}) is None
    nobody = [np.array([0, NONE]), np.array([0])]
    first, second = (
        fingerprint_of(["t"], owner * 0, np.arange(len(owner)), owner, ["a"]) for owner in nobody
    )
    assert first == second
