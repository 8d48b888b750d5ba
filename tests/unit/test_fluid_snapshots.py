"""Snapshots of the physics oracle: the engine, the pipeline and the command read them as those of a cluster."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.snapshots import batch_of_tables, split_snapshot_id
from tests.helpers.fluid import SITUATIONS, simulate, snapshots
from tests.helpers.fluid.plan import (
    Join,
    Leave,
    Member,
    Rebalancing,
    Topic,
    Unread,
    Vanish,
    steady,
    topics,
)
from tests.helpers.lake_snapshots import write_taken


@pytest.mark.slow
def test_validation_objects_only_to_what_cannot_be_read():
    """Every other group of all situations is sound, also where members come and go."""
    from evenkeel.expectations import run

    lake = Recording()
    history = simulate([each.group for each in SITUATIONS.values()], 90)
    some = [one for k, one in enumerate(snapshots(history)) if k in (0, 41, 85)]
    failed = {}
    for k, snapshot_id in zip((0, 41, 85), write_taken(lake, some), strict=True):
        found = run.validate_snapshot(lake, Settings(), snapshot_id).to_pylist()
        failed[k] = {row["group_id"] for row in found if not row["success"]}

    assert failed == {0: set(), 41: {"unreadable"}, 85: {"unreadable"}}


@pytest.fixture(scope="module")
def taken():
    """Snapshots of groups with all that snapshots can hold."""
    eventful = steady(
        name="eventful",
        topics=(*topics(1, 3, 30), Topic(name="u", rates=(5, 5), born=1, born_at=600)),
        members=(Member(capacity=100, rack="rack-a"), Member(capacity=50, static=True)),
        lists=("range", "roundrobin"),
        events=(
            Rebalancing(at=850, until=950),
            Unread(at=1100, until=1300),
            Unread(at=1400, until=1600, commits=True),
            Leave(at=1700, members=(0, 1)),
            Vanish(at=2000),
        ),
    )
    return list(snapshots(simulate([steady(), eventful], 8)))


def _batches(taken):
    return [batch_of_tables(one.tables, one.started_at) for one in taken]


def _eventful(batch):
    """The group and its partitions, by (topic, partition)."""
    place = batch.place["eventful"]
    return batch.headers[place], batch.table_of(place)


def test_the_engine_reads_the_snapshots(taken):
    """Five minutes apart, with states, owners, racks and commits as the simulation has them."""
    batches = _batches(taken)
    moments = [split_snapshot_id(one.snapshot_id)[1] for one in taken]

    assert {(b - a).total_seconds() for a, b in pairwise(moments)} == {300}
    states = [_eventful(one)[0].state for one in batches[:7]]
    assert states == ["Stable"] * 3 + ["PreparingRebalance"] + ["Stable"] * 2 + ["Empty"]
    assert "eventful" not in batches[7].place
    told = [one.members.subscription_known[-2:].all() for one in batches[2:5]]
    assert told == [True, False, True]
    assert (_eventful(batches[3])[1].owner == NONE).all()
    assert [len(_eventful(one)[1]) for one in batches[:4]] == [4, 4, 5, 5]
    # range counts static members first
    assert _eventful(batches[0])[1].owner.tolist() == [1, 1, 0, 1]
    assert batches[0].members.racks == [None, None, "rack-a", None]
    assert batches[0].members.instance_ids[-1] == "eventful-1"


def test_groups_of_the_newer_protocol_are_told_as_their_brokers_do():
    """With epochs and targets, and also while they reconcile."""
    joins = steady(
        modern=True,
        strategy="uniform",
        members=(Member(capacity=100, rack="rack-b"), Member(capacity=100, here=False)),
        events=(Join(at=290, members=(1,)),),
        pause=20,
    )
    first, then, last = (one.groups[0] for one in _batches(snapshots(simulate([joins], 3))))

    assert (first.type, first.assignor) == ("consumer", "uniform")
    assert [one.state for one in (first, then, last)] == ["Stable", "Reconciling", "Stable"]
    assert first.epoch == then.epoch == last.epoch - 1
    assert then.partitions.owner.tolist() == [0, 0, 0, 0]
    assert sorted(last.partitions.owner.tolist()) == [0, 0, 1, 1]
    assert last.partitions.target_owner.tolist() == last.partitions.owner.tolist()
    assert last.members[0].rack_source == "describe"


def test_what_cannot_be_read_is_unknown(taken):
    """Ends while no broker answers, then commits; each with its cause."""
    of = [_eventful(one)[1] for one in _batches(taken)[:6]]

    assert [bool(one.end.known.all()) for one in of] == [True] * 4 + [False, True]
    assert not of[4].end.known.any()
    assert of[5].commit_unread.all()
    assert taken[4].problems
    assert not taken[0].problems


def test_a_commit_is_never_beyond_an_end_and_they_never_go_back(taken):
    """Commits are read first; what goes back in these groups is nothing."""
    batches = _batches(taken)
    for batch in batches:
        table = batch.partitions
        both = table.committed.known & table.end.known
        assert (table.committed.values <= table.end.values)[both].all()
        assert (table.committed_at_ms.values < table.end_at_ms.values)[both].all()
    for before, after in pairwise(batches):
        first, then = before.table_of(0), after.table_of(0)
        assert (first.end.values <= then.end.values).all()
        assert (first.committed.values <= then.committed.values).all()
