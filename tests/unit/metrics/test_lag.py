"""Lag and its reasons, one named situation per row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.metrics.lag import OffsetReset, measure_lag
from evenkeel.engine.model.states import LagBasis
from tests.helpers.snapshots import change, group, groups, make_snapshot, topic


def _lag(reset=None, *, begin=10, end=100, committed, reported=None):
    snapshot = make_snapshot(
        topics=[topic("t", 1, begin=begin, end=end)],
        groups=[group("g", members=1, topics=["t"], committed={"t": [committed]})],
    )
    snapshot = change(
        snapshot, "commits", lambda rows: [row | {"reported_lag": reported} for row in rows]
    )
    lag = measure_lag(groups(snapshot)[0].partitions, OffsetReset.of(reset))
    return (
        lag.for_people.tolist()[0],
        lag.basis[0],
        lag.lost.tolist()[0],
        lag.for_strategies.tolist()[0],
    )


@pytest.mark.parametrize(
    ("situation", "numbers", "expected"),
    [
        ("within", {"committed": 40}, (60, LagBasis.COMMITTED, 0, 60)),
        ("at the end", {"committed": 100}, (0, LagBasis.COMMITTED, 0, 0)),
        ("at the log start", {"committed": 10}, (90, LagBasis.COMMITTED, 0, 90)),
        ("below the log start", {"committed": 4}, (90, LagBasis.BELOW_BEGIN, 6, 90)),
        ("beyond the end", {"committed": 101}, (0, LagBasis.BEYOND_END, 0, 0)),
        ("no commit, reset unknown", {"committed": None}, (None, LagBasis.NO_COMMIT, None, 0)),
        ("end unknown", {"committed": 40, "end": None}, (None, LagBasis.NO_END, 0, None)),
        ("begin beyond end", {"committed": 40, "end": 4}, (None, LagBasis.NO_END, None, None)),
        (
            "begin beyond end, no commit",
            {"committed": None, "end": 4},
            (None, LagBasis.NO_END, None, None),
        ),
        ("begin unknown", {"committed": 40, "begin": None}, (60, LagBasis.COMMITTED, None, 60)),
    ],
)
def test_each_situation_has_its_lag_and_reason(situation, numbers, expected):
    """Shown lag, basis, lost records and the strategies' lag follow the table in `docs/reference/metrics.md`."""
    assert expected == _lag(**numbers), situation


@pytest.mark.parametrize(
    ("committed", "reported", "expected"),
    [
        (40, 7, (7, LagBasis.REPORTED, 0, 7)),
        (40, None, (60, LagBasis.COMMITTED, 0, 60)),
        (4, 200, (90, LagBasis.BELOW_BEGIN, 6, 90)),
        (None, 0, (None, LagBasis.NO_COMMIT, None, 0)),
    ],
)
def test_the_lag_that_a_broker_reports_of_a_share_group_counts(committed, reported, expected):
    """Behind the start offset some records may be acknowledged; what retention has deleted is no lag."""
    assert _lag(committed=committed, reported=reported) == expected


@pytest.mark.parametrize(
    ("reset", "expected"),
    [
        ("latest", (0, LagBasis.RESET_LATEST)),
        ("earliest", (90, LagBasis.RESET_BEGIN)),
        ("none", (90, LagBasis.RESET_BEGIN)),
        ("by_duration:PT1H", (90, LagBasis.RESET_BEGIN)),
    ],
)
def test_without_commit_the_configured_reset_decides(reset, expected):
    """KIP-169: latest means nothing to read, anything else means from the log start."""
    assert expected == _lag(reset, committed=None)[:2]


@pytest.mark.parametrize("reset", [None, "latest", "earliest", "none", "by_duration:PT1H"])
def test_without_commit_and_records_nothing_is_behind_whatever_the_reset(reset):
    """Wherever the group would begin in a log that is empty, it would be at its end."""
    assert _lag(reset, begin=7, end=7, committed=None) == (0, LagBasis.NOTHING_TO_READ, None, 0)


def test_an_empty_log_is_one_whose_two_ends_are_known():
    """One end alone does not say that there is nothing between them."""
    assert _lag(None, begin=None, end=0, committed=None)[:2] == (None, LagBasis.NO_COMMIT)
    assert _lag(None, begin=0, end=None, committed=None)[:2] == (None, LagBasis.NO_END)


@pytest.mark.parametrize("reset", [None, "latest", "earliest"])
def test_a_commit_that_could_not_be_read_is_unknown_whatever_the_reset(reset):
    """An error is not the absence of a commit."""
    unread = {("t", 0): "UNSTABLE", ("t", 1): "UNSTABLE"}
    described = group("g", members=1, committed={"t": [7, 0]}, commit_errors=unread)
    found = groups(make_snapshot(topics=[topic("t", 2, end=[1000, 0])], groups=[described]))[0]
    lag = measure_lag(found.partitions, OffsetReset.of(reset))

    assert (lag.for_people.tolist(), lag.for_strategies.tolist()) == ([None, None], [None, None])
    assert lag.basis == [LagBasis.UNREAD, LagBasis.UNREAD]


def test_lag_from_the_log_start_is_unknown_while_the_log_start_is():
    """A reset to the log start needs the log start."""
    assert _lag("earliest", begin=None, committed=None)[0] is None


OFFSETS = st.none() | st.integers(0, 20) | st.integers(0, 2**62)


@given(
    begin=OFFSETS,
    end=OFFSETS,
    committed=OFFSETS,
    reset=st.sampled_from([None, "latest", "earliest", "none"]),
)
def test_no_number_is_ever_negative(begin, end, committed, reset):
    """Whatever was read, in whatever order: a lag and a loss are at least 0, or unknown."""
    shown, basis, lost, for_strategies = _lag(reset, begin=begin, end=end, committed=committed)

    assert all(number is None or number >= 0 for number in (shown, lost, for_strategies))
    assert (end is None or (begin is not None and begin > end)) == (basis is LagBasis.NO_END)


def test_read_committed_groups_end_at_the_last_stable_offset():
    """An open transaction's records are not lag for a group that cannot read them yet."""
    snapshot = make_snapshot(
        topics=[topic("t", 1, end=100, last_stable=70)],
        groups=[group("g", members=1, topics=["t"], committed={"t": [60]})],
    )
    stable = groups(snapshot, read_committed=lambda name: name == "g")[0]

    assert measure_lag(stable.partitions, OffsetReset.of(None)).for_people.tolist() == [10]
