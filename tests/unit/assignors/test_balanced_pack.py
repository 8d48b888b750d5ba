"""The search that ends the lowering of an island's largest lag: complete, and the same in both of its forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.engine.assignor import build_spec, spec
from evenkeel.engine.assignors.balanced.counts import fairest
from evenkeel.engine.assignors.balanced.leeway import leeway_of
from evenkeel.engine.assignors.balanced.pack import pack
from evenkeel.engine.assignors.balanced.problem import problem_of
from evenkeel.engine.assignors.balanced.work import Work
from evenkeel.engine.kit.compiled import held_to
from evenkeel.engine.model import NONE, Column
from tests.helpers.examples import times

LAGS = st.sampled_from([0, 0, 1, 2, 2, 3, 7]), st.integers(1, 9)
"""Some equal and some none, which are placed last, if counts leave a way; or all of them something."""


@st.composite
def small(draw):
    """Up to four members and six partitions, each topic with somebody who subscribes to it."""
    some = st.lists(st.integers(1, 3), min_size=1, max_size=4).filter(lambda c: sum(c) <= 6)
    sizes = draw(some | st.just([6]))
    topics = [f"t{i}" for i in range(len(sizes))]
    members = [f"m{i}" for i in range(draw(st.integers(1, 4)))]
    lags = draw(st.sampled_from(LAGS))
    who = st.sets(st.sampled_from(members), min_size=1)
    subscribers = {topic: draw(who) for topic in topics}
    return build_spec(
        members=members,
        instance_ids=[None] * len(members),
        member_racks=[None] * len(members),
        subscriptions=[[t for t in topics if m in subscribers[t]] for m in members],
        topics=topics,
        partition_counts=sizes,
        replica_racks=[[]] * sum(sizes),
        lag=Column.of([draw(lags) for _ in range(sum(sizes))]),
    )


def _packed(group, work):
    """What the search finds on each island that has members, from nothing known: by island."""
    problem = problem_of(group)
    leeway = leeway_of(problem, fairest(problem))
    known = int(leeway.lag.sum()) + 1
    islands = sorted({*leeway.island.tolist()} - {NONE})
    return leeway, {island: pack(leeway, island, known, 0, work) for island in islands}


def _fairest(group):
    """The loads of the members in every assignment whose counts have the least sum of squares."""
    found = {}
    choices = [group.subscribers[topic].tolist() for topic in group.topic_of.tolist()]
    for owner in itertools.product(*choices):
        squares = int((np.bincount(owner) ** 2).sum())
        found.setdefault(squares, []).append(_loads(group, owner))
    return np.array(found[min(found)])


def _loads(group, owner):
    return np.bincount(owner, group.lag.values, len(group.members)).astype(np.int64)


NO_WAY_OUT = spec(
    {"a": ["t", "u", "v"], "b": ["t", "u"]},
    {"t": 2, "u": 1, "v": 3},
    lags={"t": [2, 3], "u": [3], "v": [0, 3, 0]},
)
"""Only a may own the partitions without lag: of what has some it owns one, whichever way the search begins."""


@times(8)
@given(small())
@example(NO_WAY_OUT)
def test_no_fairest_assignment_has_a_smaller_largest_lag(group):
    """Of all there are, island by island; what the search remembers of counts hides none from it."""
    (leeway, packed), every = _packed(group, None), _fairest(group)

    for island, found in packed.items():
        mine = leeway.island == island
        assert (found.largest, found.proven) == (every[:, mine].max(axis=1).min(), True)
        assert _loads(group, found.owner)[mine].max() == found.largest


@pytest.mark.slow
@given(small(), st.none() | st.integers(0, 600))
def test_compiled_and_interpreted_the_search_answers_alike(group, work):
    """To the end or cut short: the same owners, the same verdict, and the same work left."""
    answers = []
    for compiled in (False, True):
        left = None if work is None else Work(work)
        with held_to(compiled=compiled):
            packed = _packed(group, left)[1].values()
        owners = [None if each.owner is None else each.owner.tolist() for each in packed]
        verdicts = [(each.largest, each.proven) for each in packed]
        answers.append((owners, verdicts, left and left.left))

    assert answers[0] == answers[1]
