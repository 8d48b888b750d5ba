"""
KIP-925, rack-aware task assignment in Kafka Streams: what can be said of it for plain consumer groups.

It is about tasks, clients and standbys. What it shares with plain groups is its motivation (KIP-881: consumers near
replicas), its cost of a partition (1 where no replica is in the owner's rack), and its first constraint (balance
before racks).

These examples are about Streams and wait for `engine.streams`:

* section 3, the eight steps of the high-availability assignor;
* 4, `getCost` of a task with several partitions, and the constraint that probing rebalances converge;
* 4.A.I, cycle cancelling, and the figure that assigns t1, t2 to c1, c2 at cost 2 (the figure itself is not in the
  text);
* 4.B.I, least cost with unbalanced sub-topologies: the load of each client stays that of steps 1 and 2;
* 4.B.II, limits per sub-topology, and the example of three clients with 1, 2 and 3 threads and six tasks: limits
  1, 1, 2 (error 8: the text "ceiling of 3^*, 3^*2/6" is garbled) and {s1_1}, {s1_2, s2_1}, {s1_3, s2_2, s2_3};
* 4.B.III, the cost with overlap: traffic 10, non-overlap 1;
* 4.C.I, standby tasks and their swaps; 4.D, racks against `rack.aware.assignment.tags`; 4.E, stateless tasks;
* 5, the settings (error 1: `min_cost`, `balanced_min_cost`, `NONE` became `min_traffic`, `balance_subtopology`,
  `none`), 6, when it switches itself off (errors 2 and 3), and 8.A, the rejected cost of standbys.

Known errors of the document: assignment spec, section 12. Of the ten only one is about what stands here:

4. Both cost functions lack their `return`.
"""

from __future__ import annotations

import pytest

from engine.assignor import spec
from engine.assignors import by_name
from engine.metrics.balance import member_counts
from engine.metrics.racks import replica_crossing
from tests.helpers.owned import owned

MEMBERS = {"c1": ["t"], "c2": ["t"]}
RACKS = {"c1": "rack1", "c2": "rack2"}


def _cost(group, owner):
    """Error 4: what the KIP's cost function would return, over all partitions."""
    racks = group.member_rack[owner]
    return int(replica_crossing(racks, group.replica_start, group.replica_rack).crosses.sum())


@pytest.mark.parametrize(
    ("situation", "replicas", "cost"),
    [
        ("the only replica is in the owner's rack", ["rack1"], 0),
        ("one of two replicas is", ["rack2", "rack1"], 0),
        ("no replica is", ["rack2", "rack3"], 1),
    ],
)
def test_the_cost_of_a_partition(situation, replicas, cost):
    """1 where the partition has no replica in the same rack as its owner, else 0."""
    group = spec({"c1": ["t"]}, {"t": 1}, racks=RACKS, replicas={"t": [replicas]})

    assert _cost(group, by_name("range").assign(group).owner) == cost


def test_motivation_consumers_get_partitions_near_them():
    """KIP-881: each member the partitions with a replica in its rack, at no cost at all."""
    replicas = {"t": [["rack2"], ["rack1"], ["rack2"], ["rack1"]]}
    group = spec(MEMBERS, {"t": 4}, racks=RACKS, replicas=replicas)

    assert owned(by_name("range"), group) == {"c1": "t-1 t-3", "c2": "t-0 t-2"}
    assert _cost(group, by_name("range").assign(group).owner) == 0


def test_constraint_1_balance_comes_before_racks():
    """Even where all replicas are in one rack both members own two partitions, at a cost of 2."""
    group = spec(MEMBERS, {"t": 4}, racks=RACKS, replicas={"t": [["rack1"]] * 4})
    owner = by_name("range").assign(group).owner

    assert member_counts(owner, 2).tolist() == [2, 2]
    assert _cost(group, owner) == 2


def test_one_member_without_rack_does_not_switch_racks_off():
    """In Streams one missing rack disables it all (section 6); a plain group goes by the racks it knows."""
    replicas = {"t": [["rack1"], ["rack1"], ["rack2"], ["rack2"]]}
    group = spec(MEMBERS, {"t": 4}, racks={"c1": "rack2"}, replicas=replicas)

    assert owned(by_name("range"), group) == {"c1": "t-2 t-3", "c2": "t-0 t-1"}
