"""`min_traffic` and `balance_subtopology` on plain groups: situations by name."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.advice import Feasibilities
from evenkeel.engine.advice.scoring import Judge
from evenkeel.engine.assignors.balance_subtopology import BalanceSubtopology
from evenkeel.engine.assignors.flow.min_cost import Weights
from evenkeel.engine.assignors.interface import fresh, spec
from evenkeel.engine.assignors.min_traffic import MinTraffic
from evenkeel.engine.assignors.promises import check
from evenkeel.engine.metrics.balance import member_counts
from evenkeel.engine.model.assignments import Feasibility
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.facts import why_of
from tests.helpers.groups_with_racks import racked_groups
from tests.helpers.owned import owned
from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.helpers.snapshots import groups as groups_of

RACKS = {"c0": "a", "c1": "b", "c2": "c"}
PAIR = {"c0": ["t"], "c1": ["t"]}
EVERYBODY = {"c0": ["t", "u"], "c1": ["t", "u"]}

both = pytest.mark.parametrize("strategy", [MinTraffic(), BalanceSubtopology()])


@given(racked_groups())
def test_they_keep_their_promises_where_racks_are_known(group):
    """The same where nothing switches them off."""
    assert [check(strategy, group) for strategy in (MinTraffic(), BalanceSubtopology())] == [[], []]


@given(racked_groups(alike=True))
def test_nobody_has_more_of_a_topic_than_the_kip_allows(group):
    """With equal subscriptions the KIP's limits hold to the letter."""
    answer = BalanceSubtopology().assign(group)
    counts = member_counts(answer.owner, len(group.members)).tolist()
    for topic_number, size in enumerate(np.diff(group.topic_start).tolist()):
        span = group.partitions_of(topic_number)
        held = member_counts(answer.owner[span.start : span.stop], len(group.members)).tolist()
        for count, number in zip(counts, held, strict=True):
            assert number <= math.ceil(count * 1.0 / max(group.partition_count, 1) * size)


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


@pytest.mark.parametrize(
    ("situation", "members", "replicas", "has", "by_traffic", "by_topic"),
    [
        ("a fresh group is dealt near its data", {m: ["t"] for m in RACKS},
         {"t": [["a"], ["b"], ["c"], ["c"], ["b"], ["a"]]}, {},
         {"c0": "t-0 t-5", "c1": "t-1 t-4", "c2": "t-2 t-3"}, None),
        ("counts come before racks", PAIR, {"t": [["a"]] * 4}, {},
         {"c0": "t-0 t-1", "c1": "t-2 t-3"}, None),
        ("a move that saves nothing is not made", {m: ["t"] for m in RACKS},
         {"t": [["a", "b", "c"]] * 4}, {"c0": [("t", 0), ("t", 3)], "c1": [("t", 1)], "c2": [("t", 2)]},
         {"c0": "t-0 t-3", "c1": "t-1", "c2": "t-2"}, None),
        ("nobody gets what it does not subscribe to, though it is near", {"c0": ["u"], "c1": ["t", "u"]},
         {"t": [["a"]] * 2, "u": [["a"]] * 2}, {}, {"c0": "u-0 u-1", "c1": "t-0 t-1"}, None),
        ("a topic is spread though its data is not", EVERYBODY, {"t": [["a"]] * 4, "u": [["b"]] * 4}, {},
         {"c0": "t-0 t-1 t-2 t-3", "c1": "u-0 u-1 u-2 u-3"},
         {"c0": "t-0 t-1 u-2 u-3", "c1": "t-2 t-3 u-0 u-1"}),
        ("within a topic the data decides", EVERYBODY, {"t": [["b"], ["a"]], "u": [["a"], ["b"]]},
         {"c0": [("t", 0), ("t", 1)], "c1": [("u", 0), ("u", 1)]}, None,
         {"c0": "t-1 u-0", "c1": "t-0 u-1"}),
    ],
)  # fmt: skip
def test_with_racks_they_give(situation, members, replicas, has, by_traffic, by_topic):
    """`min_traffic` crosses least; `balance_subtopology` too, but for a fair share of each topic."""
    sizes = {name: len(racks) for name, racks in replicas.items()}
    given = spec(members, sizes, racks=RACKS, replicas=replicas, owned=has)

    for strategy, expected in ((MinTraffic(), by_traffic), (BalanceSubtopology(), by_topic)):
        if expected is not None:
            assert owned(strategy, given) == expected, situation


def test_members_that_forgot_still_keep_what_they_have():
    """After a restart of all members the present owners are still those that moves are counted against."""
    replicas, has = {"t": [["a", "b"]] * 2}, {"c0": [("t", 1)], "c1": [("t", 0)]}
    group = spec(PAIR, {"t": 2}, racks=RACKS, replicas=replicas, owned=has)

    assert MinTraffic().assign(fresh(group)).owner.tolist() == [1, 0]


def test_weights_decide_whether_a_move_pays():
    """One crossing less for two moves: at 10 to 1 yes, at 1 to 10 no."""
    replicas, has = {"t": [["b"], ["a", "b"]]}, {"c0": [("t", 0)], "c1": [("t", 1)]}
    group = spec(PAIR, {"t": 2}, racks=RACKS, replicas=replicas, owned=has)

    assert MinTraffic().assign(group).owner.tolist() == [1, 0]
    assert MinTraffic(Weights(traffic=1, move=10)).assign(group).owner.tolist() == [0, 1]


@both
def test_a_missing_rack_makes_it_infeasible(strategy):
    """As Kafka's optimizer is switched off by one."""
    with pytest.raises(Infeasible, match="c9"):
        strategy.assign(
            spec({"c0": ["t"], "c9": ["t"]}, {"t": 1}, racks=RACKS, replicas={"t": [["a"]]})
        )
    with pytest.raises(Infeasible, match="t-0"):
        strategy.assign(spec(PAIR, {"t": 1}, racks=RACKS, replicas={"t": [[]]}))


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_it_is_a_baseline_on_every_group(kind):
    """Classic or KIP-848, nobody can deploy it unless its members follow plans; what is missing is said."""
    row = group("g", members=[member("a", ["t"], {"t": [0]})], group_type=kind)
    (made,) = groups_of(make_snapshot(topics=[topic("t", 1)], groups=[row]))
    told = Feasibilities(made, None).of("min_traffic", MinTraffic.deployment)

    assert told.feasibility is Feasibility.NOT_DEPLOYABLE
    assert why_of(told) == "no setting or class makes it available to a consumer group"
