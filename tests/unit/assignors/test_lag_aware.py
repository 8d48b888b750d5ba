"""Lag-aware: situations by name, both invariants of KIP-169, and what an unknown lag means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.scoring import subscribed
from evenkeel.engine.assignors import ASSIGNORS, lag_aware
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kit.java_order import utf16
from evenkeel.engine.metrics.balance import fairly_balanced, member_counts
from evenkeel.engine.model.arrays import NONE, Column
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.owned import owned
from tests.helpers.strategies import groups

LAG_AWARE = ASSIGNORS["lag-aware"]

TWO = {"c0": ["t"], "c1": ["t"]}


@st.composite
def lagging(draw):
    """Any group, every lag known, often several alike."""
    group = draw(groups())
    one = st.integers(0, 3) | st.integers(0, 10**12)
    count = group.partition_count
    return replace(group, lag=Column.of(draw(st.lists(one, min_size=count, max_size=count))))


@pytest.mark.parametrize(
    ("situation", "members", "lags", "expected"),
    [
        (
            "the prototype's README, the last two lags the other way round",
            TWO,
            {"t": [100_000, 50_000, 60_000]},
            {"c0": "t-0", "c1": "t-1 t-2"},
        ),
        ("no lag at all: dealt like cards", TWO, {"t": [0, 0, 0]}, {"c0": "t-0 t-2", "c1": "t-1"}),
        ("of equal lags the lowest number first", TWO, {"t": [1, 7, 7]}, {"c0": "t-0 t-1", "c1": "t-2"}),
        (
            "counts before lag, however skewed",
            TWO,
            {"t": [1_000_000, 1, 1, 1]},
            {"c0": "t-0 t-3", "c1": "t-1 t-2"},
        ),
        (
            "two topics, each by itself",
            {"c0": ["t", "u"], "c1": ["t", "u"]},
            {"t": [900, 100, 500, 1], "u": [70, 80, 10]},
            {"c0": "t-0 t-3 u-1", "c1": "t-1 t-2 u-0 u-2"},
        ),
        (
            "unequal subscriptions: only subscribers count",
            {"c0": ["t"], "c1": ["t", "u"], "c2": ["u"]},
            {"t": [9, 8, 1], "u": [9, 8, 1]},
            {"c0": "t-0", "c1": "t-1 t-2 u-0", "c2": "u-1 u-2"},
        ),
        (
            "never over topics: the first id has all of many small ones",
            {"c1": ["a", "b", "c"], "c0": ["a", "b", "c"]},
            {"a": [5], "b": [5], "c": [5]},
            {"c1": "", "c0": "a-0 b-0 c-0"},
        ),
    ],
)  # fmt: skip
def test_lag_aware_assigns(situation, members, lags, expected):
    """Equal counts per topic first, then the longest lag to who has least of it."""
    sizes = {name: len(values) for name, values in lags.items()}

    assert owned(LAG_AWARE, spec(members, sizes, lags=lags)) == expected


def test_ties_go_by_member_id_in_java_order():
    """U+1F600 stands before U+FFEE, as in Java, and an instance id changes nothing."""
    members = {"\uffee": ["t"], "\U0001f600": ["t"]}
    group = spec(members, {"t": 1}, lags={"t": [3]}, instance_ids={"\uffee": "a"})

    assert owned(LAG_AWARE, group) == {"\uffee": "", "\U0001f600": "t-0"}


def test_heavily_skewed_lags_are_spread_as_far_as_counts_allow():
    """What the prototype's test left to do: the three long lags go to three members."""
    members = {"c0": ["t"], "c1": ["t"], "c2": ["t"]}
    lags = [10**6, 5, 10**6, 4, 3, 10**6, 2, 1, 1, 1]
    found = owned(LAG_AWARE, spec(members, {"t": 10}, lags={"t": lags}))

    assert found == {"c0": "t-0 t-1 t-8", "c1": "t-2 t-3 t-7 t-9", "c2": "t-4 t-5 t-6"}


@given(lagging())
def test_invariant_nobody_with_two_fewer_could_take_over_a_partition(group):
    """KIP-169, first invariant, second half: KIP-54's predicate, topic by topic."""
    owner = LAG_AWARE.assign(group).owner

    for number, subscribers in enumerate(group.subscribers):
        mine = np.where(group.topic_of == number, owner, NONE)
        counts = member_counts(mine, len(group.members))
        assert fairly_balanced(counts, mine, subscribed(group)).all(), len(subscribers)


def _one_by_one(group):
    """The rule as the KIP words it, with the prototype's ties, partition by partition."""
    owner = [NONE] * group.partition_count
    for number, subscribers in enumerate(group.subscribers):
        load = {m: (0, 0) for m in subscribers.tolist()}
        lags = group.lag.tolist()
        for partition in sorted(group.partitions_of(number), key=lambda p: (-lags[p], p)):
            if load:
                taker = min(load, key=lambda m: (*load[m], utf16(group.members[m])))
                owner[partition] = taker
                load[taker] = load[taker][0] + 1, load[taker][1] + lags[partition]
    return owner


@given(lagging(), st.sampled_from([0, lag_aware.FEW]))
def test_invariant_lag_is_dealt_greedily(group, few):
    """KIP-169, second invariant: rounds, in arrays or in plain steps, equal the rule partition by partition."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lag_aware, "FEW", few)
        assert LAG_AWARE.assign(group).owner.tolist() == _one_by_one(group)


def test_sums_of_long_lags_do_not_wrap_around():
    """Two lags of the longest kind make more than 64 bits hold, and still count as more."""
    long = (1 << 63) - 1
    group = spec(TWO, {"t": 5}, lags={"t": [long, long, long, 0, 0]})

    assert owned(LAG_AWARE, group) == {"c0": "t-0 t-2", "c1": "t-1 t-3 t-4"}


def test_an_unknown_lag_is_infeasible_with_numbers_and_topics():
    """Unknown is not 0: the message says how many of how many, and where; topics of nobody do not count."""
    lags = {name: [None, 1] for name in ("d", "a", "b", "c")}
    group = spec({"m": list("abcd")}, {n: 2 for n in (*lags, "z")}, lags=lags | {"z": [None, None]})

    with pytest.raises(Infeasible, match=r"4 of 8 are unknown.*\(topics: a, b, c and 1 more\)"):
        LAG_AWARE.assign(group)


def test_an_unknown_lag_of_a_topic_nobody_subscribes_to_is_no_obstacle():
    """Only what is to be assigned must be known."""
    group = spec({"m": ["t"]}, {"t": 1, "u": 1}, lags={"t": [1], "u": [None]})

    assert owned(LAG_AWARE, group) == {"m": "t-0"}
