"""The rules of `evenkeel.engine.metrics.status`, one row each."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.metrics.status import statuses, worst_by
from evenkeel.engine.model.arrays import NONE, Column
from evenkeel.engine.model.labels import Labels
from evenkeel.engine.model.states import Status
from tests.helpers.snapshots import group, groups, make_snapshot, topic


def _status(lags, commits, owned=True, rebalancing=()):
    """The status of one partition from its samples, oldest first."""
    snapshot = make_snapshot(
        topics=[topic("t", 1)], groups=[group("g", members=1 if owned else 0, committed={"t": 1})]
    )
    table = groups(snapshot)[0].partitions
    newest = (
        [Column.of([lag]) for lag in reversed(lags)],
        [Column.of([c]) for c in reversed(commits)],
    )
    return statuses(table.owner != NONE, *newest, rebalancing=[*reversed(rebalancing)])[0]


@pytest.mark.parametrize(
    ("situation", "lags", "commits", "owned", "expected"),
    [
        ("caught up", [0], [5], True, Status.OK),
        ("one sample with lag", [3], [5], True, Status.UNKNOWN),
        ("two samples with lag", [3, 3], [5, 6], True, Status.UNKNOWN),
        ("lag unknown now", [3, 3, None], [5, 6, 7], True, Status.UNKNOWN),
        ("burst after silence", [0, 0, 0, 900], [5, 5, 5, 5], True, Status.OK),
        ("steady lag", [9, 9, 9], [5, 6, 7], True, Status.OK),
        ("catching up", [9, 6, 3], [5, 9, 14], True, Status.OK),
        ("falling behind", [3, 6, 9], [5, 6, 7], True, Status.WARN),
        ("a dip on the way up", [3, 9, 6, 12], [5, 6, 7, 8], True, Status.OK),
        ("stuck with an owner", [3, 6, 9], [5, 5, 5], True, Status.STALL),
        ("stuck, no traffic", [3, 3, 3], [5, 5, 5], True, Status.STALL),
        ("stuck, nobody owns it", [3, 6, 9], [5, 5, 5], False, Status.STOP),
        ("rewound", [3, 3, 40], [50, 60, 20], True, Status.REWIND),
        ("rewound and recovered", [30, 90, 10], [50, 20, 60], True, Status.OK),
        ("quiet partition, read to its end", [0, 0, 0, 0], [5, 5, 5, 5], True, Status.OK),
        ("moved while a sample was missing", [9, None, 9, 9], [5, None, 7, 7], True, Status.OK),
        ("fell while a sample was missing", [9, None, 4, 5], [2, None, 7, 8], True, Status.OK),
        ("rose over a missing sample", [3, None, 6, 9], [2, None, 7, 8], True, Status.WARN),
        ("first commit, reset to log start", [9, 9, 7], [None, None, 2], True, Status.OK),
        ("first commit, nobody left", [9, 9, 7], [None, None, 2], False, Status.OK),
        (
            "first commit, then stuck",
            [9, 9, 7, 7, 7, 7],
            [None, None, *[2] * 4],
            True,
            Status.STALL,
        ),
        ("never a commit, reset to log start", [9, 9, 9], [None] * 3, False, Status.STOP),
        ("older than the window", [3, 0, 4, 5, 6, 7], [9, 9, 1, 2, 3, 4], True, Status.WARN),
    ],
)
def test_rules(situation, lags, commits, owned, expected):
    """Each situation an operator knows has the status the table of rules gives it."""
    assert expected is _status(lags, commits, owned), situation


@pytest.mark.parametrize(
    ("situation", "lags", "commits", "rebalancing", "owned", "expected"),
    [
        ("since now", [3, 4, 6, 9], [5] * 4, [0, 0, 0, 1], False, Status.UNKNOWN),
        ("since a while", [3, 4, 6, 9], [5] * 4, [0, 1, 1, 1], False, Status.UNKNOWN),
        ("again and again", [3, 4, 6, 9], [5] * 4, [1, 0, 1, 1], False, Status.UNKNOWN),
        ("in all of three", [3, 6, 9], [5] * 3, [1] * 3, False, Status.UNKNOWN),
        ("no longer", [3, 4, 6, 9], [5] * 4, [1, 1, 1, 0], False, Status.STOP),
        ("all the time", [3, 4, 6, 9], [5] * 4, [1] * 4, False, Status.STOP),
        ("all the time, members told", [3, 4, 6, 9], [5] * 4, [1] * 4, True, Status.STALL),
        ("all the time, no traffic", [3] * 4, [5] * 4, [1] * 4, False, Status.STOP),
        ("all the time, nothing to read", [0] * 4, [5] * 4, [1] * 4, False, Status.OK),
        ("all the time, behind now", [0, 0, 0, 9], [5] * 4, [1] * 4, False, Status.OK),
        ("all the time, never committed", [9] * 4, [None] * 4, [1] * 4, False, Status.STOP),
        ("all the time, it moves", [3, 4, 6, 9], [5, 6, 7, 8], [1] * 4, False, Status.WARN),
        ("older than the window", [3] * 5, [5] * 5, [0, 1, 1, 1, 1], False, Status.STOP),
    ],
)
def test_a_rebalance_excuses_standing_still_while_it_is_one_that_ends(
    situation, lags, commits, rebalancing, owned, expected
):
    """Without owners a commit that stands may be about to move; after a whole window it is not."""
    assert expected is _status(lags, commits, owned, rebalancing), situation


def _worst(*partitions):
    """The status of the second of three groups, whose neighbors are at their worst."""
    everything = [Status.REWIND, *partitions, Status.REWIND]
    codes = np.array([each.severity for each in everything])
    start = np.array([0, 1, 1 + len(partitions), 2 + len(partitions)])
    counted = np.ones(len(codes), np.bool_)
    return worst_by(Labels(tuple(Status), codes), counted, start)[1]


def test_unknown_partitions_are_not_hidden_behind_well_ones():
    """What is unknown is never well; what is known to be wrong is worse."""
    assert _worst(Status.OK, Status.UNKNOWN) is Status.UNKNOWN
    assert _worst(Status.OK, Status.UNKNOWN, Status.WARN) is Status.WARN


def test_a_group_has_its_worst_partitions_status():
    """Statuses worsen in the order they are declared in."""
    assert _worst(Status.OK, Status.STALL, Status.WARN) is Status.STALL


def test_a_group_without_partitions_is_unknown():
    """Nothing to judge is not fine."""
    assert _worst() is Status.UNKNOWN
