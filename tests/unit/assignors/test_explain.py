"""Every strategy explains each of its owners in steps, which lead to the owner that it gives."""

from __future__ import annotations

import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.messages.wording import words
from evenkeel.engine.messages.wording.explanations import CLAUSES
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.strategies import groups

FOUR = spec(
    {"a": ["t", "u"], "b": ["t", "u"], "c": ["t"]},
    {"t": 4, "u": 1},
    racks={"a": "x", "b": "y", "c": "y"},
    replicas={"t": [["x"], ["y"], ["x"], ["y"]], "u": [["x", "y"]]},
    owned={"a": [("t", 0)], "b": [("t", 1), ("t", 2)]},
    lags={"t": [5, 9, 7, 1], "u": [3]},
    rates={"t": [5, 9, 0, 1], "u": [3]},
    capacities={"a": 20, "b": 20, "c": 20},
)


@given(groups())
def test_the_steps_lead_to_the_owner(group):
    """The last step names who gets the partition, in words; without owner nobody gets it."""
    for strategy in ASSIGNORS.values():
        try:
            answer = strategy.assign(group)
        except Infeasible:
            continue
        to = answer.owner if answer.transferring is None else answer.transferring
        for partition in range(0, group.partition_count, group.partition_count // 3 + 1):
            steps = strategy.explain(group, partition)
            owner = answer.owner[partition] if answer.owner[partition] != NONE else to[partition]
            assert all(step.measure in CLAUSES and words(step) for step in steps)
            if owner != NONE:
                assert steps[-1].subjects[0] == group.members[owner], strategy.name


@pytest.mark.parametrize(
    ("strategy", "partition", "told"),
    [
        (
            "range",
            1,
            [
                "4 partitions for 3 subscribers: 1 each, and one more for the first",
                "b is the first",
            ],
        ),
        ("range", 2, ["4 partitions for 3", "a is the first subscriber with room whose rack (x)"]),
        ("range-server", 3, ["4 partitions for 3", "c is subscriber 3 in member order"]),
        ("roundrobin", 4, ["u-0 is partition 5 of 5", "turn of b"]),
        ("fair", 0, ["topic t is number 2 of 2", "b has 0 partitions so far"]),
        (
            "lag-aware",
            3,
            [
                "its lag of 1 offset is number 4 of 4",
                "a, b, c have 1 partition",
                "c has the least lag",
            ],
        ),
        (
            "min_traffic",
            2,
            [
                "a receives 2 partitions",
                "a is in rack x, which holds a replica",
                "moves from b to a",
            ],
        ),
        ("balanced", 2, ["it has no incoming records"]),
        ("balanced", 1, ["% of its capacity", "the next best subscriber"]),
        ("uniform", 1, ["b owns it and keeps it; it had 2 partitions"]),
        ("live", 3, []),
    ],
)
def test_a_step_says_what_decided(strategy, partition, told):
    """Shares, turns, racks, lags, loads and what was owned, as the strategy went by them."""
    steps = [words(step) for step in ASSIGNORS[strategy].explain(FOUR, partition)]
    assert all(any(part in step for step in steps) for part in told), steps
    assert bool(steps) == bool(told)
