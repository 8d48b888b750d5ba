"""What counts as crossing racks, what records weigh, and what that costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.metrics.racks import (
    Crossing,
    Nearness,
    Tariff,
    carried_by,
    leader_crossing,
    record_size,
    replica_crossing,
    tariff,
)
from evenkeel.engine.model.arrays import NONE, ragged
from evenkeel.engine.model.states import SizeBasis
from tests.helpers.snapshots import group, groups, make_snapshot, topic

A, B = 0, 1
RACKS = 3


@pytest.mark.parametrize(
    ("situation", "owner", "replicas", "crosses", "known"),
    [
        ("a replica in the owner's rack", A, [B, A], False, True),
        ("no replica in the owner's rack", A, [B, B], True, True),
        ("owner's rack unknown", NONE, [A], False, False),
        ("replicas unknown", A, [], False, False),
        ("a rackless broker, no match", A, [B, NONE], False, False),
        ("a rackless broker, but a match", A, [NONE, A], False, True),
    ],
)
def test_one_partition(situation, owner, replicas, crosses, known):
    """Whether it crosses, and whether that can be told."""
    start, racks = ragged([replicas])
    crossing = replica_crossing(np.array([owner], np.int32), start, racks)

    assert (crosses, known) == (bool(crossing.crosses[0]), bool(crossing.known[0])), situation


def test_in_sync_only_leaves_other_replicas_out():
    """A replica that is not in sync serves nobody."""
    start, racks = ragged([[A, B]])
    in_sync = np.array([False, True])

    assert replica_crossing(np.array([A], np.int32), start, racks, in_sync).share() == 1.0


def test_share_is_over_what_could_be_told():
    """Unknown partitions are in neither number."""
    start, racks = ragged([[A], [B], []])
    crossing = replica_crossing(np.array([A, A, A], np.int32), start, racks)

    assert crossing.share() == 0.5


def test_share_is_unknown_when_nothing_can_be_told():
    """No known rack is not a share of 0."""
    start, racks = ragged([[]])

    assert replica_crossing(np.array([A], np.int32), start, racks).share() is None


def test_weighted_share_needs_known_weights_that_are_not_all_zero():
    """By offsets/s: the crossing ones over all; unknown or no traffic has no share."""
    start, racks = ragged([[A], [B]])
    crossing = replica_crossing(np.array([A, A], np.int32), start, racks)

    assert crossing.share(np.array([1.0, 3.0])) == 0.75
    assert crossing.share(np.array([np.nan, 3.0])) is None
    assert crossing.share(np.array([0.0, 0.0])) is None


def test_against_the_leader_every_other_rack_crosses():
    """Without follower fetching the leader's rack is the one that costs."""
    crossing = leader_crossing(np.array([A, A, A]), np.array([A, B, NONE]))

    assert crossing.share() == 0.5


@st.composite
def asked(draw):
    """Replicas by partition, which of them count (None: all), and several assignments by the owners' racks."""
    rack = st.integers(NONE, RACKS - 1)
    replicas = draw(st.lists(st.lists(rack, max_size=3), max_size=6))
    entries, size = sum(map(len, replicas)), len(replicas)
    counts = draw(st.none() | st.lists(st.booleans(), min_size=entries, max_size=entries))
    owners = draw(st.lists(st.lists(rack, min_size=size, max_size=size), min_size=1, max_size=3))
    return replicas, counts, owners


def _by_hand(owner, racks):
    """Whether a partition crosses, and whether that can be told."""
    if owner == NONE or not racks:
        return False, False
    return owner not in racks and NONE not in racks, owner in racks or NONE not in racks


@given(asked())
def test_what_is_near_is_worked_out_once_for_every_assignment(drawn):
    """However many assignments are asked of it, each gets what it gets alone, and what the definition says."""
    replicas, counted, owners = drawn
    start, racks = ragged(replicas)
    counts = None if counted is None else np.array(counted, np.bool_)
    near = Nearness.of(start, racks, RACKS, counts)
    of_entry = iter([True] * len(racks) if counted is None else counted)
    counting = [[rack for rack in each if next(of_entry)] for each in replicas]

    for owner in owners:
        owner_rack = np.array(owner, np.int32)
        shared = near.crossing(owner_rack)
        alone = replica_crossing(owner_rack, start, racks, counts)
        told = list(zip(shared.crosses.tolist(), shared.known.tolist(), strict=True))
        assert told == list(zip(alone.crosses.tolist(), alone.known.tolist(), strict=True))
        assert told == [_by_hand(*each) for each in zip(owner, counting, strict=True)]


def _sizes(configured=None, **topics):
    """Topic -> rows of (begin, end, log bytes); sizes and bases in the order of the table."""
    described = []
    for name, rows in topics.items():
        made = topic(name, len(rows), begin=[r[0] for r in rows], end=[r[1] for r in rows])
        described.append(
            [
                row | {"log_bytes": size, "cleanup_policy": "delete"}
                for row, (_, _, size) in zip(made, rows, strict=True)
            ]
        )
    return _weighed(described, list(topics), configured)


def _weighed(described, names, configured=None):
    snapshot = make_snapshot(topics=described, groups=[group("g", members=1, topics=names)])
    found = record_size(
        groups(snapshot)[0].partitions, np.nan if configured is None else configured
    )
    return [None if np.isnan(b) else b for b in found.bytes.tolist()], found.basis


def test_a_record_weighs_its_log_over_its_offsets():
    """What retention removed counts in neither."""
    assert _sizes(t=[(50, 150, 20_000)]) == ([200.0], [SizeBasis.LOG])


def test_an_empty_or_untold_log_takes_the_average_of_its_topic():
    """Weighted by records: 3,000 bytes over 110 offsets."""
    sizes, basis = _sizes(t=[(0, 100, 1000), (0, 10, 2000), (7, 7, 0), (0, 5, None)])

    assert sizes == pytest.approx([10, 200, 3000 / 110, 3000 / 110])
    assert basis == [SizeBasis.LOG, SizeBasis.LOG, SizeBasis.TOPIC, SizeBasis.TOPIC]


def test_what_logs_do_not_tell_is_as_configured_else_unknown():
    """The log beats the configuration, never the other way round."""
    untold, told = [(0, 5, None)], [(0, 5, 50)]

    assert _sizes(a=untold, b=told) == ([None, 10.0], [SizeBasis.UNKNOWN, SizeBasis.LOG])
    assert _sizes(300, a=untold, b=told) == ([300.0, 10.0], [SizeBasis.CONFIGURED, SizeBasis.LOG])


@pytest.mark.parametrize("end", [None, 0])
def test_without_an_end_or_records_there_is_no_weight(end):
    """Nothing is divided by nothing."""
    assert _sizes(t=[(0, end, 0)]) == ([None], [SizeBasis.UNKNOWN])


@pytest.mark.parametrize(
    "columns",
    [
        {"cleanup_policy": "compact,delete"},
        {"cleanup_policy": None},
        {"cleanup_policy": "delete", "retention_ms": -1, "begin": 900},
    ],
)
def test_some_logs_say_nothing_of_new_records(columns):
    """Compacted, perhaps compacted, or purged by its readers: the few bytes per offset would be nonsense."""
    odd = topic("t", end=1000, log_bytes=100, **columns)

    assert _weighed([odd], ["t"]) == ([None], [SizeBasis.UNKNOWN])
    assert _weighed([odd], ["t"], 80) == ([80.0], [SizeBasis.CONFIGURED])


def test_a_log_that_is_kept_for_ever_and_whole_tells():
    """It still begins at 0."""
    whole = topic("t", end=1000, log_bytes=9000, cleanup_policy="delete", retention_ms=-1)

    assert _weighed([whole], ["t"]) == ([9.0], [SizeBasis.LOG])


def _carried(bytes_per_second, crosses, known=None):
    flags = np.array(crosses)
    told = np.ones(len(flags), np.bool_) if known is None else np.array(known)
    crossing, whole = Crossing(crosses=flags, known=told), np.array([0, len(flags)])
    return carried_by(crossing, np.array(bytes_per_second), whole)[0]


def test_only_what_crosses_is_carried():
    """Unknown weight elsewhere does not matter, unknown weight across does."""
    nan = float("nan")

    assert _carried([1.0, 2.0, nan], [True, True, False]) == 3.0
    assert _carried([1.0, 2.0, nan], [True, False, True]) is None
    assert _carried([1.0, 2.0], [False, False]) == 0.0


def test_where_no_rack_is_known_nothing_is_known_of_the_bytes():
    """Not 0."""
    assert _carried([1.0], [False], [False]) is None


def test_a_month_is_thirty_days_and_a_gigabyte_ten_to_the_ninth():
    """1 MB/s is 2,592 GB in 30 days."""
    prices = Tariff(bytes_per_second=np.array([1e6]), price_per_gb=0.02, currency="USD")

    assert prices.cost_per_month(1e6) == pytest.approx(51.84)
    assert prices.cost_per_month(None) is None
    assert Tariff(bytes_per_second=np.array([1e6])).cost_per_month(1e6) is None


def test_nothing_produced_weighs_nothing_whatever_a_record_would_weigh():
    """A topic that was never written to has no size and costs nothing."""
    snapshot = make_snapshot(
        topics=[topic("t", 3, end=[0, 0, 10])], groups=[group("g", members=1, topics=["t"])]
    )
    sizes = record_size(groups(snapshot)[0].partitions)
    rows = np.array([True, False, True])

    found = tariff(sizes.bytes, np.array([0.0, 0.0, 1.0]), rows, None, "EUR")

    assert found.bytes_per_second[0] == 0
    assert np.isnan(found.bytes_per_second[1])
    assert found.currency is None
