"""
KIP-169, lag-aware: its example, its lag, its two guarantees.

Known errors of the document, each named at its test:

1. Step 1a subtracts the wrong way round; the section "Lag" has it right.
2. Of the example's first table only range is right, not round robin.
3. Step 2b iii speaks of *all* consumers having equally many; it is those tied on fewest.
4. "During a reassignment" suggests a memory; there is none.
5. "As evenly as possible" is not reached, only greedily aimed at.
6. "Or any other value" of `auto.offset.reset` takes in `by_duration:`; the class it names never existed.

The guarantees on any group are properties in `tests/unit/assignors/test_lag_aware.py`.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from evenkeel.engine.assignors import by_name
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.protocol_names import CLIENT_SIDE, wire_name
from evenkeel.engine.metrics.lag import OffsetReset, measure_lag
from tests.helpers.next_round import next_round
from tests.helpers.owned import owned
from tests.helpers.snapshots import group, groups, make_snapshot, topic

LAG_AWARE = by_name("lag-aware")
BOTH = {"c0": ["t0"], "c1": ["t0"]}
LAGS = {"t0": [100_000, 60_000, 50_000]}


def _example(lags=LAGS, members=BOTH):
    return spec(members, {t: len(values) for t, values in lags.items()}, lags=lags)


def _total_lags(lists, lags=LAGS):
    pairs = {m: [p.split("-") for p in listed.split()] for m, listed in lists.items()}
    return {m: sum(lags[t][int(n)] for t, n in held) for m, held in pairs.items()}


@pytest.mark.parametrize(
    ("strategy", "table", "lags"),
    [
        ("range", {"c0": "t0-0 t0-1", "c1": "t0-2"}, {"c0": 160_000, "c1": 50_000}),
        ("lag-aware", {"c0": "t0-0", "c1": "t0-1 t0-2"}, {"c0": 100_000, "c1": 110_000}),
    ],
)
def test_the_example(strategy, table, lags):
    """Three partitions, two members: both tables with their total lags."""
    lists = owned(by_name(strategy), _example())

    assert (lists, _total_lags(lists)) == (table, lags)


def test_error_2_round_robin_gives_another_table_than_range():
    """The KIP prints range's table for both; round robin deals t0p2 to c0."""
    lists = owned(by_name("roundrobin"), _example())

    assert lists == {"c0": "t0-0 t0-2", "c1": "t0-1"}
    assert _total_lags(lists) == {"c0": 150_000, "c1": 60_000}


def _lag_of(reset, **offsets):
    committed = offsets.pop("committed")
    described = group("g", members=1, topics=["t"], committed={"t": [committed]})
    found = groups(make_snapshot(topics=[topic("t", 1, **offsets)], groups=[described]))[0]
    return measure_lag(found.partitions, OffsetReset.of(reset)).for_strategies.tolist()


@pytest.mark.parametrize("reset", ["latest", "earliest"])
def test_error_1_lag_is_the_end_minus_the_commit(reset):
    """Step 1a would make it negative; it is never below 0, also where the commit lies beyond the end."""
    assert _lag_of(reset, begin=0, end=100, committed=40) == [60]
    assert _lag_of(reset, begin=0, end=100, committed=140) == [0]


@pytest.mark.parametrize(
    ("reset", "lag"), [("latest", 0), ("earliest", 90), ("none", 90), ("by_duration:P1D", 90)]
)
def test_step_1b_without_a_commit_the_reset_decides(reset, lag):
    """Latest: nothing to read; earliest "or any other value": all there is, so by_duration too (error 6)."""
    assert _lag_of(reset, begin=10, end=100, committed=None) == [lag]


def test_goal_the_counts_come_before_the_lag():
    """One partition of long lag does not excuse its owner from the others: the rejected alternative."""
    lags = {"t0": [1_000_000, 10, 10, 10]}
    lists = owned(LAG_AWARE, _example(lags))

    assert [len(listed.split()) for listed in lists.values()] == [2, 2]


def test_goal_without_lag_it_resembles_range():
    """As many partitions each as range gives, though not the same ones."""
    idle = _example({"t0": [0, 0, 0]})
    ours, ranges = (owned(by_name(s), idle) for s in ("lag-aware", "range"))

    assert [len(p.split()) for p in ours.values()] == [len(p.split()) for p in ranges.values()]


def test_step_2_each_topic_by_itself():
    """Counts and lags begin at nothing for every topic."""
    lags = {"t0": [9, 5, 1], "t1": [9, 5, 1]}
    members = {"c0": ["t0", "t1"], "c1": ["t0", "t1"]}

    assert owned(LAG_AWARE, _example(lags, members)) == {
        "c0": "t0-0 t1-0",
        "c1": "t0-1 t0-2 t1-1 t1-2",
    }


def test_error_3_ties_are_among_those_with_fewest_partitions():
    """When the last partition is dealt counts are not all equal, and c2 gets it for its lag, not c0 for its id."""
    members = {"c0": ["t0"], "c1": ["t0"], "c2": ["t0"]}
    lags = {"t0": [50, 40, 30, 20, 5]}

    assert owned(LAG_AWARE, _example(lags, members)) == {
        "c0": "t0-0",
        "c1": "t0-1 t0-4",
        "c2": "t0-2 t0-3",
    }


def test_error_4_it_remembers_nothing():
    """The same group gets the same, whoever owned what before."""
    fresh = _example()
    held = next_round(BOTH, {"t0": 3}, {"c0": "t0-1 t0-2", "c1": "t0-0"})
    again = replace(held, lag=fresh.lag)

    assert again.owner.tolist() != fresh.owner.tolist()
    assert owned(LAG_AWARE, again) == owned(LAG_AWARE, fresh)


def test_error_5_a_more_even_lag_may_exist():
    """Lags 9 9 8 8 8: it ends with 25 and 17, though three times 8 and twice 9 make 24 and 18."""
    lags = {"t0": [9, 9, 8, 8, 8]}
    found = _total_lags(owned(LAG_AWARE, _example(lags)), lags)
    least = min(max(sum(three), 42 - sum(three)) for three in itertools.combinations(lags["t0"], 3))

    assert found == {"c0": 25, "c1": 17}
    assert least == 24


def test_error_6_the_class_it_names_never_existed():
    """Who deploys it ships ours, by the prototype's name on the wire; who has the prototype runs the same."""
    assert CLIENT_SIDE["lag"].java == "io.evenkeel.EvenkeelLagAwareAssignor"
    assert wire_name("com.github.grantneale.kafka.LagBasedPartitionAssignor") == "lag"
    assert not CLIENT_SIDE["lag"].stock
