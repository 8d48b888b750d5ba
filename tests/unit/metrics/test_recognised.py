"""Which of the present members an earlier one is."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.metrics.past import Recognised
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.batch import batch_of
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


def _members(*ids):
    """Members of one group; an id begins with its client's."""
    made = [member(each, ["t"], {}, client_id=each[0]) for each in ids]
    snapshot = make_snapshot(topics=[topic("t", 1)], groups=[group("g", members=made)])
    return batch_of(groups(snapshot)).members


def _among(now, then, known=True):
    """For each earlier member the present one's id, None for one who is gone."""
    earlier = _members(*then)
    found = Recognised(_members(*now)).among(earlier, np.full(len(then), 0 if known else NONE))
    return [None if at == NONE else now[at] for at in found.tolist()]


def test_members_are_recognised_wherever_they_are_listed():
    """One that left moves all others up in the list; another order is the same."""
    assert _among(["b-1", "c-1"], ["a-1", "b-1", "c-1"]) == [None, "b-1", "c-1"]
    assert _among(["b-1", "a-1"], ["a-1", "b-1"]) == ["a-1", "b-1"]


def test_a_restarted_member_is_recognised_unless_another_may_be_meant():
    """By client and host; who shares them is told by the id alone, now and then."""
    assert _among(["a-2", "b-1"], ["b-1", "a-1"]) == ["b-1", "a-2"]
    assert _among(["a-1", "a-2"], ["a-3", "a-1"]) == [None, "a-1"]
    assert _among(["a-1"], ["a-3", "a-2"]) == [None, None]


def test_members_of_a_group_that_is_gone_are_nobody():
    """Whatever their ids are."""
    assert _among(["a-1"], ["a-1"], known=False) == [None]
