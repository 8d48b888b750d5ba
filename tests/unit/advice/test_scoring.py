"""The judge, on assignments small enough to check by eye."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.scoring import Judge, moves
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.metrics.racks import Tariff
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Assignment
from tests.helpers.examples import times
from tests.helpers.strategies import groups


def _judge(group, capacity=None):
    unknown = np.full(len(group.members), np.nan)
    return Judge(group=group, capacity=unknown if capacity is None else np.array(capacity))


def _owners(*owners):
    return Assignment(owner=np.array(owners, np.int32))


GROUP = spec(
    {"a": ["t"], "b": ["t"]},
    {"t": 4},
    racks={"a": "r1", "b": "r2"},
    replicas={"t": [["r1"], ["r1"], ["r2"], ["r2"]]},
    owned={"a": [("t", 0), ("t", 2)], "b": [("t", 1), ("t", 3)]},
    lags={"t": [10, 20, 30, 40]},
)


def test_the_live_assignment_is_scored_like_any_other():
    """Counts, lag, skew, racks and floors of what the group has."""
    score = _judge(GROUP).score(Assignment(owner=GROUP.owner))

    assert (score.partition_spread, score.balanced) == (0, True)
    assert (score.largest_member_lag, score.lag_skew) == (60, 1.2)
    assert (score.lag_lower_bound, score.lag_lower_bound_equal_counts) == (50, 50)
    assert (score.cross_rack_share, score.racks_left_out) == (0.5, 0)
    assert (score.moves, score.newly_owned, score.unowned) == (0, 0, 0)


def test_moves_and_new_owners_are_counted_apart():
    """A partition nobody had is not a move."""
    group = spec({"a": ["t"], "b": ["t"]}, {"t": 3}, owned={"a": [("t", 0), ("t", 1)]})
    score = _judge(group).score(_owners(0, 1, 1))

    assert (score.moves, score.newly_owned) == (1, 1)
    assert [(m.partition, m.from_member, m.to_member) for m in moves(group, _owners(0, 1, 1))] == [
        (1, "a", "b"),
        (2, None, "b"),
    ]


def test_a_partition_taken_away_is_a_move_and_unowned():
    """Giving up a partition costs, and leaves a hole that shows."""
    score = _judge(GROUP).score(_owners(0, 1, NONE, 1))

    assert (score.moves, score.unowned) == (1, 1)


def test_an_unknown_lag_makes_lag_figures_unknown_and_nothing_else():
    """Spread and racks do not need lag."""
    group = spec({"a": ["t"]}, {"t": 2}, owned={"a": [("t", 0), ("t", 1)]}, lags={"t": [1, None]})
    score = _judge(group).score(Assignment(owner=group.owner))

    assert (None, None, None) == (score.largest_member_lag, score.lag_skew, score.lag_lower_bound)
    assert score.partition_spread == 0
    assert score.cross_rack_share is None


def test_members_without_an_existing_topic_do_not_count():
    """Somebody subscribed to a topic that does not exist is not idle in this group."""
    group = spec(
        {"a": ["t"], "b": ["gone"]}, {"t": 2}, owned={"a": [("t", 0), ("t", 1)]}, lags={"t": [5, 5]}
    )
    live = Assignment(owner=group.owner)
    score = _judge(group).score(live)

    assert (score.partition_spread, score.fewest_partitions, score.lag_skew) == (0, 2, 1.0)
    assert _judge(group).counts(live) == [2]


@pytest.mark.parametrize(
    ("situation", "lags", "rates", "capacity", "expected"),
    [
        ("slowest member decides", [100, 20], [1.0, 1.0], [11.0, 3.0], 10.0),
        ("no lag", [0, 0], [1.0, 1.0], [math.nan, math.nan], 0.0),
        ("cannot keep up", [100, 0], [5.0, 1.0], [5.0, 9.0], math.inf),
        ("cannot keep up, another unknown", [100, 9], [5.0, 1.0], [5.0, math.nan], math.inf),
        ("capacity unknown", [100, 0], [5.0, 1.0], [math.nan, 9.0], None),
        ("rate unknown", [100, 0], [math.nan, 1.0], [9.0, 9.0], None),
        ("lag unknown", [None, 0], [1.0, 1.0], [9.0, 9.0], None),
    ],
)
def test_drain_time(situation, lags, rates, capacity, expected):
    """Lag over spare capacity; never and unknown are different answers."""
    group = spec(
        {"a": ["t"], "b": ["t"]},
        {"t": 2},
        owned={"a": [("t", 0)], "b": [("t", 1)]},
        lags={"t": lags},
    )
    group = replace(group, rate=np.array(rates))
    score = _judge(group, capacity).score(Assignment(owner=group.owner))

    assert expected == score.drain_seconds, situation


def test_racks_weighted_by_traffic():
    """A crossing partition that carries three quarters of the traffic costs three quarters."""
    group = replace(GROUP, rate=np.array([1.0, 1.0, 6.0, 0.0]))

    assert _judge(group).score(Assignment(owner=GROUP.owner)).cross_rack_rate_share == 0.875


def test_where_leaders_alone_serve_reads_their_racks_decide():
    """Both replicas' racks hold a member, but only the leader is read from."""
    group = replace(
        spec(
            {"a": ["t"], "b": ["t"]},
            {"t": 2},
            racks={"a": "r1", "b": "r2"},
            replicas={"t": [["r1", "r2"], ["r1", "r2"]]},
            owned={"a": [("t", 0)], "b": [("t", 1)]},
        ),
        leader_rack=np.array([0, 0], np.int32),
    )
    unknown = np.full(2, np.nan)

    near = Judge(group=group, capacity=unknown).score(Assignment(owner=group.owner))
    led = Judge(group=replace(group, leaders_only=True), capacity=unknown).score(
        Assignment(owner=group.owner)
    )

    assert (near.cross_rack_share, near.cross_leader_share) == (0, 0.5)
    assert (led.cross_rack_share, led.cross_leader_share) == (0.5, 0.5)


def test_what_crosses_racks_is_weighed_and_priced():
    """Bytes of the crossing partitions, over 30 days at the price; a smaller one carries less."""
    prices = Tariff(
        bytes_per_second=np.array([0.0, 1e6, 3e6, 1e6]), price_per_gb=0.02, currency="EUR"
    )
    judge = replace(_judge(GROUP), tariff=prices)
    live, near = judge.score(Assignment(owner=GROUP.owner)), judge.score(_owners(0, 0, 1, 1))

    assert live.cross_rack_bytes_per_second == 4e6
    assert live.cross_rack_cost_per_month == pytest.approx(4e6 * 86_400 * 30 / 1e9 * 0.02)
    assert (near.cross_rack_bytes_per_second, near.cross_rack_cost_per_month) == (0, 0)
    assert {live.currency, near.currency} == {"EUR"}


def test_where_only_leaders_serve_their_racks_are_priced():
    """The same bytes cross or do not, by who serves them."""
    group = replace(
        spec(
            {"a": ["t"], "b": ["t"]},
            {"t": 1},
            racks={"a": "r1", "b": "r2"},
            replicas={"t": [["r1", "r2"]]},
            owned={"a": [("t", 0)]},
        ),
        leader_rack=np.array([1], np.int32),
    )
    judge = replace(_judge(group), tariff=Tariff(bytes_per_second=np.array([5.0])))
    led = replace(judge, group=replace(group, leaders_only=True))

    found = [one.score(_owners(0)).cross_rack_bytes_per_second for one in (judge, led)]
    assert found == [0, 5]


@st.composite
def answered(draw):
    """A group, and owners of its partitions several times over, some of them those it has."""
    group = draw(groups())
    size, live = group.partition_count, group.owner.tolist()
    owner = st.integers(NONE, len(group.members) - 1)
    first = draw(st.just(live) | st.lists(owner, min_size=size, max_size=size))
    few = [live, first, draw(st.permutations(first))]
    return group, draw(st.lists(st.sampled_from(few), min_size=1, max_size=6))


@times(2)
@given(answered())
def test_answers_are_scored_as_if_each_were_the_only_one(drawn):
    """One judge says of many answers what one judge each says, and counts what changes hands of each."""
    group, answers = drawn
    judge, before = _judge(group), group.owner.tolist()

    for owner in answers:
        score = judge.score(_owners(*owner))
        assert score == _judge(group).score(_owners(*owner))
        changed = [pair for pair in zip(before, owner, strict=True) if pair[0] != pair[1]]
        new = sum(had == NONE for had, _ in changed)
        assert (score.moves, score.newly_owned) == (len(changed) - new, new)
        assert score.unowned == owner.count(NONE)


@given(st.lists(groups(), min_size=1, max_size=5))
def test_many_groups_are_scored_as_each_alone(some):
    """What one judge says of many groups at once is what a judge of its own says of each."""
    judges = [
        replace(
            _judge(group, np.where(np.arange(len(group.members)) % 3, 5.0, np.nan)),
            in_sync=np.arange(len(group.replica_rack)) % 4 > 0,
            tariff=Tariff(bytes_per_second=group.rate) if number % 2 else None,
        )
        for number, group in enumerate(some)
    ]
    many = Judge.together(judges)
    assert [*map(repr, many.scores(many.group.owner))] == [
        repr(judge.score(Assignment(owner=judge.group.owner))) for judge in judges
    ]


def test_equal_answers_are_judged_once(monkeypatch):
    """Whoever gives it and as whatever whole numbers, an answer is judged once, and another one by itself."""
    judged, figures = [], Judge.figures

    def counted(judge, owner):
        judged.append(owner.tolist())
        return figures(judge, owner)

    monkeypatch.setattr(Judge, "figures", counted)
    judge = _judge(GROUP)
    first, again, wide, other = (
        judge.score(Assignment(owner=np.array(owner, dtype)))
        for owner, dtype in [
            ([0, 0, 1, 1], np.int32),
            ([0, 0, 1, 1], np.int32),
            ([0, 0, 1, 1], np.int64),
            ([1, 1, 0, 0], np.int32),
        ]
    )

    assert first == again == wide != other
    assert judged == [[0, 0, 1, 1], [1, 1, 0, 0]]


def test_what_is_known_of_the_live_assignment_is_not_judged_again():
    """Its figures come with the group; of another answer they say nothing."""
    known = replace(_judge(GROUP).figures(GROUP.owner), largest_member_lag=7)
    judge = replace(_judge(GROUP), live=known)

    assert judge.score(Assignment(owner=GROUP.owner)).largest_member_lag == 7
    assert judge.score(_owners(0, 0, 1, 1)).largest_member_lag == 70
