"""What counts as crossing racks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.metrics.racks import Nearness, leader_crossing, replica_crossing
from evenkeel.engine.model.arrays import NONE, ragged

A, B = 0, 1
RACKS = 3


@pytest.mark.parametrize(
    ("situation", "owner", "replicas", "crosses", "known"),
    [
        ("a replica in the owner's rack", A, [B, A], False, True),
        ("no replica in the owner's rack", A, [B, B], True, True),
        ("owner's rack unknown", NONE, [A], False, False),
        ("replicas unknown", A, [], False, False),
        ("a rackless broker, no match", A, [B, NONE], False, False),
        ("a rackless broker, but a match", A, [NONE, A], False, True),
    ],
)
def test_one_partition(situation, owner, replicas, crosses, known):
    """Whether it crosses, and whether that can be told."""
    start, racks = ragged([replicas])
    crossing = replica_crossing(np.array([owner], np.int32), start, racks)

    assert (crosses, known) == (bool(crossing.crosses[0]), bool(crossing.known[0])), situation


def test_in_sync_only_leaves_other_replicas_out():
    """A replica that is not in sync serves nobody."""
    start, racks = ragged([[A, B]])
    in_sync = np.array([False, True])

    assert replica_crossing(np.array([A], np.int32), start, racks, in_sync).share() == 1.0


def test_share_is_over_what_could_be_told():
    """Unknown partitions are in neither number."""
    start, racks = ragged([[A], [B], []])
    crossing = replica_crossing(np.array([A, A, A], np.int32), start, racks)

    assert crossing.share() == 0.5


def test_share_is_unknown_when_nothing_can_be_told():
    """No known rack is not a share of 0."""
    start, racks = ragged([[]])

    assert replica_crossing(np.array([A], np.int32), start, racks).share() is None


def test_weighted_share_needs_known_weights_that_are_not_all_zero():
    """By offsets/s: the crossing ones over all; unknown or no traffic has no share."""
    start, racks = ragged([[A], [B]])
    crossing = replica_crossing(np.array([A, A], np.int32), start, racks)

    assert crossing.share(np.array([1.0, 3.0])) == 0.75
    assert crossing.share(np.array([np.nan, 3.0])) is None
    assert crossing.share(np.array([0.0, 0.0])) is None


def test_against_the_leader_every_other_rack_crosses():
    """Without follower fetching the leader's rack is the one that costs."""
    crossing = leader_crossing(np.array([A, A, A]), np.array([A, B, NONE]))

    assert crossing.share() == 0.5


@st.composite
def asked(draw):
    """Replicas by partition, which of them count (None: all), and several assignments by the owners' racks."""
    rack = st.integers(NONE, RACKS - 1)
    replicas = draw(st.lists(st.lists(rack, max_size=3), max_size=6))
    entries, size = sum(map(len, replicas)), len(replicas)
    counts = draw(st.none() | st.lists(st.booleans(), min_size=entries, max_size=entries))
    owners = draw(st.lists(st.lists(rack, min_size=size, max_size=size), min_size=1, max_size=3))
    return replicas, counts, owners


def _by_hand(owner, racks):
    """Whether a partition crosses, and whether that can be told."""
    if owner == NONE or not racks:
        return False, False
    return owner not in racks and NONE not in racks, owner in racks or NONE not in racks


@given(asked())
def test_what_is_near_is_worked_out_once_for_every_assignment(drawn):
    """However many assignments are asked of it, each gets what it gets alone, and what the definition says."""
    replicas, counted, owners = drawn
    start, racks = ragged(replicas)
    counts = None if counted is None else np.array(counted, np.bool_)
    near = Nearness.of(start, racks, RACKS, counts)
    of_entry = iter([True] * len(racks) if counted is None else counted)
    counting = [[rack for rack in each if next(of_entry)] for each in replicas]

    for owner in owners:
        owner_rack = np.array(owner, np.int32)
        shared = near.crossing(owner_rack)
        alone = replica_crossing(owner_rack, start, racks, counts)
        told = list(zip(shared.crosses.tolist(), shared.known.tolist(), strict=True))
        assert told == list(zip(alone.crosses.tolist(), alone.known.tolist(), strict=True))
        assert told == [_by_hand(*each) for each in zip(owner, counting, strict=True)]
