"""`min_traffic` on plain groups: situations by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.advice import Feasibilities
from evenkeel.engine.advice.scoring import Judge
from evenkeel.engine.assignors.flow.min_cost import Weights
from evenkeel.engine.assignors.interface import fresh, spec
from evenkeel.engine.assignors.min_traffic import MinTraffic
from evenkeel.engine.assignors.promises import check
from evenkeel.engine.model.assignments import Deployment, Feasibility
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.facts import why_of
from tests.helpers.owned import owned
from tests.helpers.racked_groups import racked_groups
from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.helpers.snapshots import groups as groups_of

RACKS = {"c0": "a", "c1": "b", "c2": "c"}


@given(racked_groups())
def test_it_keeps_its_promises_where_racks_are_known(group):
    """The same where nothing switches it off."""
    assert check(MinTraffic(), group) == []


@given(racked_groups(alike=True))
def test_the_judge_agrees(group):
    """Counts are balanced, and the moves and crossings it tells are the judge's."""
    answer = MinTraffic().assign(group)
    score = Judge(group=group, capacity=np.full(len(group.members), np.nan)).score(answer)

    assert score.balanced
    if answer.proof:
        share = score.cross_rack_share or 0
        crossing, partitions = round(share * group.partition_count), group.partition_count
        told = {fact.measure: (fact.after, fact.bound) for fact in answer.proof}
        assert told["cross_rack_partitions"] == (crossing, partitions)
        assert told["new_owners"] == (score.moves + score.newly_owned, None)


def test_a_fresh_group_is_dealt_near_its_data():
    """Nobody owns anything: everybody gets the same number, of what is in its rack."""
    group = spec(
        {m: ["t"] for m in RACKS},
        {"t": 6},
        racks=RACKS,
        replicas={"t": [["a"], ["b"], ["c"], ["c"], ["b"], ["a"]]},
    )

    assert owned(MinTraffic(), group) == {
        "c0": "t-0 t-5",
        "c1": "t-1 t-4",
        "c2": "t-2 t-3",
    }


def test_counts_come_before_racks():
    """All data in one rack: its member still gets no more than its share."""
    group = spec({"c0": ["t"], "c1": ["t"]}, {"t": 4}, racks=RACKS, replicas={"t": [["a"]] * 4})

    assert owned(MinTraffic(), group) == {"c0": "t-0 t-1", "c1": "t-2 t-3"}


def test_a_move_that_saves_nothing_is_not_made():
    """Every rack has every partition: the group keeps what it has, in whatever disorder."""
    have = {"c0": [("t", 3), ("t", 0)], "c1": [("t", 1)], "c2": [("t", 2)]}
    group = spec(
        {m: ["t"] for m in RACKS},
        {"t": 4},
        racks=RACKS,
        replicas={"t": [["a", "b", "c"]] * 4},
        owned=have,
    )

    assert MinTraffic().assign(group).owner.tolist() == group.owner.tolist()


def test_members_that_forgot_still_keep_what_they_have():
    """After a restart of all members the present owners are still those that moves are counted against."""
    group = spec(
        {"c0": ["t"], "c1": ["t"]},
        {"t": 2},
        racks=RACKS,
        replicas={"t": [["a", "b"]] * 2},
        owned={"c0": [("t", 1)], "c1": [("t", 0)]},
    )

    assert MinTraffic().assign(fresh(group)).owner.tolist() == [1, 0]


def test_weights_decide_whether_a_move_pays():
    """One crossing less for two moves: at 10 to 1 yes, at 1 to 10 no."""
    group = spec(
        {"c0": ["t"], "c1": ["t"]},
        {"t": 2},
        racks=RACKS,
        replicas={"t": [["b"], ["a", "b"]]},
        owned={"c0": [("t", 0)], "c1": [("t", 1)]},
    )

    assert MinTraffic().assign(group).owner.tolist() == [1, 0]
    assert MinTraffic(Weights(traffic=1, move=10)).assign(group).owner.tolist() == [0, 1]


def test_nobody_gets_what_it_does_not_subscribe_to():
    """The topic's data is next to a member that does not want it."""
    group = spec(
        {"c0": ["u"], "c1": ["t", "u"]},
        {"t": 2, "u": 2},
        racks=RACKS,
        replicas={"t": [["a"]] * 2, "u": [["a"]] * 2},
    )

    assert owned(MinTraffic(), group) == {"c0": "u-0 u-1", "c1": "t-0 t-1"}


def test_a_missing_rack_makes_it_infeasible():
    """As Kafka's optimiser is switched off by one."""
    group = spec({"c0": ["t"], "c9": ["t"]}, {"t": 1}, racks=RACKS, replicas={"t": [["a"]]})

    with pytest.raises(Infeasible, match="c9"):
        MinTraffic().assign(group)


def test_it_is_a_yardstick_on_every_group():
    """Classic or KIP-848, nobody can deploy it unless its members follow plans; what is missing is said."""
    for kind in ("classic", "consumer"):
        row = group("g", members=[member("a", ["t"], {"t": [0]})], group_type=kind)
        (made,) = groups_of(make_snapshot(topics=[topic("t", 1)], groups=[row]))
        told = Feasibilities(made, None).of("min_traffic", MinTraffic.deployment)

        assert (MinTraffic.deployment, told.feasibility) == (
            Deployment.YARDSTICK,
            Feasibility.YARDSTICK,
        )
        assert why_of(told) == "no setting or class brings it to a consumer group"
