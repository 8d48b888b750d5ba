"""`balanced` where no arrivals are known: counts, lag, racks and moves in order, or how far from them at most."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenkeel.engine.assignors.balanced import Balanced, search
from evenkeel.engine.assignors.interface import Promise, build_spec, spec
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.assignors.promises import check
from evenkeel.engine.messages.wording import proof as words_of
from evenkeel.engine.model.arrays import NONE, Column
from evenkeel.engine.model.facts import FactKind
from tests.helpers.examples import times
from tests.helpers.strategies import Shape, groups

RACKS = [None, "a", "b", "c"]
LAGS = st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 10**12), st.just(7))


@st.composite
def small(draw):
    """Up to four members and six partitions, with racks, lags and owners of every kind, all lags known."""
    counts = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(lambda c: sum(c) <= 6))
    topics = [f"t{i}" for i in range(len(counts))]
    members = [f"m{i}" for i in range(draw(st.integers(1, 4)))]
    size = sum(counts)
    rows = st.lists(st.sampled_from(RACKS), max_size=2)
    return build_spec(
        members=members,
        instance_ids=[None] * len(members),
        member_racks=[draw(st.sampled_from(RACKS)) for _ in members],
        subscriptions=[draw(st.lists(st.sampled_from(topics), unique=True)) for _ in members],
        topics=topics,
        partition_counts=counts,
        replica_racks=[draw(rows) for _ in range(size)],
        owner=[draw(st.integers(NONE, len(members) - 1)) for _ in range(size)],
        lag=Column.of([draw(LAGS) for _ in range(size)]),
    )


def _value(group, owner):
    """The four criteria of one assignment, each the smaller the better."""
    lags, counts = [0] * len(group.members), [0] * len(group.members)
    crossing = moves = 0
    for partition, member in enumerate(owner):
        if member == NONE:
            continue
        counts[member] += 1
        lags[member] += int(group.lag.values[partition])
        a, b = group.replica_start[partition : partition + 2]
        racks = group.replica_rack[a:b].tolist()
        near = group.member_rack[member] in racks
        if group.member_rack[member] != NONE and racks and (near or NONE not in racks):
            crossing += not near
        moves += group.owner[partition] not in (NONE, member)
    return sum(c * c for c in counts), max(lags), crossing, moves


def _best(group):
    """The least value of all assignments there are."""
    choices = [group.subscribers[t].tolist() or [NONE] for t in group.topic_of.tolist()]
    return min(_value(group, owner) for owner in itertools.product(*choices))


@pytest.mark.slow
@times(3)
@given(small())
def test_no_assignment_of_a_small_group_is_better(group):
    """All assignments of up to four members and six partitions tried, none is smaller in the four criteria."""
    answer = Balanced().assign(group)

    assert _value(group, answer.owner.tolist()) == _best(group)
    assert {fact.kind for fact in answer.proof} == {FactKind.EXACT}


@given(groups(Shape(rates=False)))
def test_where_no_arrivals_are_known_counts_are_even(group):
    """What it promises of any group besides, every strategy is held to."""
    assert check(Balanced(), group, promises={Promise.EVEN_GROUP}) == []


@pytest.mark.slow
@settings(
    times(3),
    suppress_health_check=[*times(3).suppress_health_check, HealthCheck.function_scoped_fixture],
)
@given(small(), st.sampled_from([0, 1, 30, 1_000]))
def test_a_search_cut_short_bounds_how_far_it_is_from_the_optimum(monkeypatch, group, work):
    """Counts stay exact; each floor the proof names is one; what is called exact is the optimum."""
    monkeypatch.setattr(search, "COMPLETE", 1)

    answer = Balanced(work).assign(group)

    best, value = _best(group), _value(group, answer.owner.tolist())
    told = {fact.measure: fact for fact in answer.proof}
    assert told["partition_counts"].kind is FactKind.EXACT
    assert value[0] == best[0]
    assert value >= best
    assert told["largest_member_lag"].after == value[1]
    assert told["largest_member_lag"].bound <= best[1]
    crossing = told.get("cross_rack_share")
    if crossing is not None and crossing.kind is FactKind.EXACT and value[1] == best[1]:
        assert value[2] == best[2]
    if told["moves"].bound is not None and value[:2] == best[:2]:
        assert value[2] == best[2]
        assert told["moves"].after - told["moves"].bound >= value[3] - best[3]
    if {fact.kind for fact in answer.proof} == {FactKind.EXACT}:
        assert value == best


@pytest.mark.slow
@given(small(), groups(Shape(rates=False)))
def test_compiled_and_interpreted_it_answers_alike(few, many):
    """How much a process has worked on before chooses the form of the loops, never the answer."""
    with held_to(compiled=False):
        interpreted = [Balanced().assign(group) for group in (few, many)]
    with held_to(compiled=True):
        fast = [Balanced().assign(group) for group in (few, many)]

    for slow, same in zip(interpreted, fast, strict=True):
        assert (same.owner.tolist(), same.proof) == (slow.owner.tolist(), slow.proof)


def test_an_unknown_lag_is_left_out_and_said():
    """With one lag unknown the largest member lag cannot be judged; counts, racks and moves still are."""
    group = spec(
        {"a": ["t"], "b": ["t"]},
        {"t": 2},
        racks={"a": "x", "b": "y"},
        replicas={"t": [["y"], ["x"]]},
        lags={"t": [5, None]},
    )

    answer = Balanced().assign(group)

    assert answer.owner.tolist() == [1, 0]
    assert "lag" in (words_of(answer.proof) or "")


def test_it_moves_only_what_brings_something():
    """A group that is as even as can be stays as it is."""
    group = spec(
        {"a": ["t"], "b": ["t"]},
        {"t": 4},
        owned={"a": [("t", 1), ("t", 2)], "b": [("t", 0), ("t", 3)]},
        lags={"t": [1, 1, 1, 1]},
    )

    assert np.array_equal(Balanced().assign(group).owner, group.owner)
