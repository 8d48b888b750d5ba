"""What racks that are lost leave of a group: its partitions, who leads them, and what arrives at who is left."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.pipeline.whatif import Leaves, WithoutRack, answer, suppose
from evenkeel.engine.pipeline.whatif.lost_racks import left_of
from tests.helpers.facts import said
from tests.helpers.measuring import seen
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

RACKS = {0: "rack-a", 1: "rack-b", 2: "rack-c", 3: "rack-a", 4: None}


def made(*placed, in_sync=None, number=0):
    """A group of three, in racks a, b and nobody knows where, on partitions with these replicas, leader first."""
    size = len(placed)
    members = [
        member("a", ["t"], {"t": list(range(0, size, 3))}, rack="rack-a"),
        member("b", ["t"], {"t": list(range(1, size, 3))}, rack="rack-b"),
        member("c", ["t"], {"t": list(range(2, size, 3))}),
    ]
    return groups(
        make_snapshot(
            topics=[topic("t", size, end=1000 + 60 * number, replicas=placed, in_sync=in_sync)],
            groups=[group("g", members=members, lag={"t": 0})],
            brokers=RACKS,
            number=number,
        )
    )[0]


def led(left):
    """The rack that leads each partition; None unknown."""
    table = left.table
    return [None if rack == NONE else table.racks[rack] for rack in table.leader_rack.tolist()]


@pytest.mark.parametrize(
    ("replicas", "in_sync", "leader", "dead"),
    [
        ([1, 0], [1, 0], "rack-b", False),
        ([0, 1], [0, 1], "rack-b", False),
        ([0, 1, 2], [0, 1, 2], None, False),
        ([0, 1, 2], [0, 2], "rack-c", False),
        ([0, 4], [0, 4], None, False),
        ([0, 3], [0, 3], None, True),
        ([0, 1], [0], None, True),
        ([], [], None, False),
    ],
    ids=[
        "elsewhere",
        "one is left",
        "two are left",
        "one of two is in sync",
        "left without a rack",
        "both in the rack",
        "left out of sync",
        "unknown replicas",
    ],
)
def test_another_replica_in_sync_leads(replicas, in_sync, leader, dead):
    """Known where it can be in one rack only; nobody leads what has none left, and what is unknown is not dead."""
    left = left_of(made(replicas, in_sync=[in_sync]).partitions, ["rack-a"])
    assert led(left) == [leader]
    assert left.dead.tolist() == [dead]
    assert left.table.racks.index("rack-a") not in left.table.replica_rack.tolist()


def test_racks_that_are_lost_together_leave_what_is_in_neither():
    """As one after the other would not tell: who leads in between is nobody's guess."""
    left = left_of(made([0, 1, 2]).partitions, ["rack-a", "rack-b"])
    assert (led(left), left.dead.tolist()) == (["rack-c"], [False])


def test_nothing_arrives_where_nobody_leads():
    """The owner has the partition and no load of it; what is left of the rest is shared, and is measured as known."""
    placed = [[0, 3], [1, 0], [2, 1], [0, 1], [1, 2], [2, 0]]
    past = [made(*placed, number=n) for n in range(3)]
    settings = Settings(rules=(Rule(capacity_per_second=10.0),))
    found = seen(past[-1], past[:-1], settings)
    ends = (WithoutRack(rack="rack-a"), Leaves(member="a"))
    told = answer(settings, found, ends, ["range"])
    supposed = told.supposed
    now, then = told.loads
    each = now["b"].per_second / 2

    assert supposed.layout.dead.tolist() == [True, False, False, False, False, False]
    assert supposed.group.partitions.assignable.all()
    assert supposed.measured.production[0] == 0
    assert supposed.measured.load.stuck.tolist() == supposed.layout.dead.tolist()
    assert each > 0
    # range gives b what is near it, and c the rest
    assert [(one.partitions, one.per_second) for one in then.values()] == [
        (3, pytest.approx(3 * each)),
        (3, pytest.approx(2 * each)),
    ]
    assert [one.utilization for one in then.values()] == [
        pytest.approx(one.per_second / 10) for one in then.values()
    ]
    assert [fact.subjects for fact in told.lost] == [("t-0",)]


def test_what_is_not_known_of_a_rack_is_said():
    """Who leads, where replicas are, and members that may be in it."""
    found = seen(made([0, 1, 2], [0, 2], []))
    told = answer(Settings(), found, (WithoutRack(rack="rack-a"), Leaves(member="a")), ["range"])
    words = said(told.assumed)
    lead = "another in-sync replica leads 2 partitions"
    assert any(one.startswith(f"rack rack-a is lost with its brokers: {lead}") for one in words)
    assert any(
        one.startswith("the rack of the new leader of 1 partition is not known") for one in words
    )
    assert any(one.startswith("the replicas of 1 partition are not known") for one in words)
    assert "the rack of c is not known: it is assumed to stay" in words
    assert told.lost == ()


def test_without_a_rack_that_is_lost_nothing_is_said_of_racks():
    """Other changes leave the partition table as it is."""
    found = seen(made([0, 1], [1, 0]))
    supposed = suppose(found, [Leaves(member="a")])
    assert supposed.layout.left.table is found.group.partitions
    assert np.count_nonzero(supposed.layout.dead) == 0
