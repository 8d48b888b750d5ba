"""The fleets that benchmarks run on: seeded, plausible, and nothing validation would object to."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from evenkeel.engine.adapters.kafka.decode import read_assignment, read_subscription
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import SNAPSHOT, split_snapshot_id
from evenkeel.engine.model import NONE, Feasibility
from evenkeel.engine.steps import compute_metrics, propose_candidates, record_metrics
from tests.helpers.fleet import GIANT_MEMBERS, GIANT_PARTITIONS, Shape, make_fleet, write_fleet
from tests.helpers.fleet import snapshots as snapshots_of
from tests.helpers.fleet.groups import PROTOCOLS, STATES, State
from tests.helpers.fleet.sizes import sizes_of
from tests.helpers.snapshots import groups

SMALL = Shape(groups=300, mean=12, largest=120, snapshots=4)


@pytest.fixture(scope="module")
def fleet():
    """A fleet with all there is, but small."""
    return make_fleet(SMALL)


@pytest.fixture(scope="module")
def series(fleet):
    """Its snapshots, the oldest first."""
    return list(snapshots_of(fleet))


def test_the_same_shape_gives_the_same_bytes(tmp_path):
    """Every table is written byte for byte as before; another seed gives others."""

    def written(folder, seed):
        shape = Shape(groups=40, mean=10, largest=60, snapshots=2, seed=seed)
        write_fleet(FileLake(tmp_path / folder), make_fleet(shape))
        files = sorted((tmp_path / folder).rglob("*.parquet"))
        return [file.read_bytes() for file in files]

    first = written("first", 1)

    assert first == written("again", 1)
    assert first != written("other", 2)
    assert len(first) == 2 * len(SNAPSHOT)


@pytest.mark.parametrize("groups", [300, 1_000, 10_000])
def test_there_are_a_hundred_partitions_for_each_group(groups):
    """Whatever the size of the fleet; most groups are small, some are tiny, few are large."""
    sizes = sizes_of(Shape(groups=groups, giant=False))

    assert sizes.sum() == 100 * groups
    assert len(sizes) == groups
    assert np.median(sizes) < 30
    assert 0.1 < (sizes <= 3).mean() < 0.25
    assert 3_000 < sizes.max() <= 5_000


def test_a_giant_is_one_of_the_groups_of_a_large_fleet():
    """From 3,000 groups on unless asked otherwise; where it would be most of the fleet it comes on top."""
    large = sizes_of(Shape(groups=3_000))

    assert (large[0], large.sum(), len(large)) == (GIANT_PARTITIONS, 300_000, 3_000)
    assert sizes_of(Shape(groups=1_000)).max() <= 5_000
    assert sizes_of(Shape(groups=300, giant=True)).sum() == GIANT_PARTITIONS + 299 * 100


def test_the_giant_has_a_thousand_members():
    """Who own equally many partitions, give or take one per topic."""
    fleet = make_fleet(Shape(groups=3, giant=True))
    giant = fleet.groups.giant

    assert np.diff(fleet.member_start)[giant] == GIANT_MEMBERS
    owned = np.bincount(fleet.owner[fleet.row_group == giant] - fleet.member_start[giant])
    assert (owned.min(), owned.max(), owned.sum()) == (50, 50, GIANT_PARTITIONS)


def test_all_kinds_of_groups_are_there(fleet):
    """Each protocol and each state has its share, however the dice fall."""
    states, protocols = Counter(fleet.groups.state), Counter(fleet.groups.protocol)

    assert {s: round(share * 300) for s, share in STATES.items() if s is not State.STABLE} == {
        s: n for s, n in states.items() if s is not State.STABLE
    }
    assert protocols.keys() == PROTOCOLS.keys()
    assert sum(n for p, n in protocols.items() if p.streams) == 15


@pytest.mark.slow
def test_validation_withholds_only_what_nobody_may_read(tmp_path):
    """Every other group is sound."""
    from evenkeel.expectations import run

    fleet, lake = make_fleet(Shape(groups=300, mean=6, largest=40, snapshots=2)), FileLake(tmp_path)
    newest = write_fleet(lake, fleet)[-1]

    found = run.validate_snapshot(lake, Settings(), newest).to_pylist()

    withheld = {row["group_id"] for row in found if not row["success"]}
    states = dict(zip(fleet.names, fleet.groups.state, strict=True))
    assert withheld == {name for name, state in states.items() if state is State.UNREADABLE}
    assert len(withheld) == 1


def test_snapshots_lie_five_minutes_apart(series):
    """As a schedule would take them; ids sort by time."""
    ids = [snapshot.snapshot_id for snapshot in series]
    moments = [split_snapshot_id(one)[1] for one in ids]

    assert {(b - a).total_seconds() for a, b in pairwise(moments)} == {300}
    assert ids == sorted(ids)
    assert all(s.finished_at > s.started_at for s in series)


def test_offsets_never_go_back(series):
    """Ends, log starts and commits move on or stay; a commit is never beyond the end."""
    before: dict = {}
    moved = 0
    for snapshot in series:
        now = {}
        partitions = snapshot.tables["partitions"].to_pylist()
        ends = {(p["topic"], p["partition"]): p for p in partitions}
        assert all(0 <= p["begin_offset"] <= p["end_offset"] for p in partitions)
        for row in snapshot.tables["commits"].to_pylist():
            end = ends[row["topic"], row["partition"]]
            assert row["committed_offset"] <= end["end_offset"]
            now[row["group_id"], row["topic"], row["partition"]] = (
                row["committed_offset"],
                end["begin_offset"],
                end["end_offset"],
            )
        for key, offsets in before.items():
            assert all(a <= b for a, b in zip(offsets, now[key], strict=True))
            moved += offsets != now[key]
        before = now
    assert moved > len(before)


def test_partitions_belong_to_subscribers(series):
    """Of a stable group every partition has an owner, who subscribes to its topic."""
    unequal = 0
    for group in groups(series[-1]):
        if group.state != "Stable" or group.error:
            continue
        table = group.partitions
        assert (table.owner != NONE).all()
        for topic, owner in zip(table.names, table.owner.tolist(), strict=True):
            assert topic in group.members[owner].subscription
        unequal += len({member.subscription for member in group.members}) > 1
    assert unequal == 15


def test_what_members_sent_says_what_their_rows_say(series):
    """The bytes of classic members decode to their subscription, rack and partitions."""
    checked = 0
    for row in series[-1].tables["members"].to_pylist():
        if row["metadata"] is None:
            continue
        said = read_subscription(row["metadata"])
        (topics, partitions), _ = read_assignment(row["assignment"])
        assert (list(said.topics), said.rack) == (row["subscription"], row["rack"])
        assert sorted(zip(topics, partitions, strict=True)) == sorted(
            zip(row["assigned_topics"], row["assigned_partitions"], strict=True)
        )
        checked += 1
    assert checked > 100


def test_some_groups_come_later_and_some_are_restarted(series):
    """A group is missing from the earlier half, and members of others have new ids in the later."""
    first, last = (
        {row["group_id"] for row in one.tables["groups"].to_pylist()}
        for one in (series[0], series[-1])
    )
    members = [defaultdict(set), defaultdict(set)]
    for one, found in zip((series[0], series[-1]), members, strict=True):
        for row in one.tables["members"].to_pylist():
            found[row["group_id"]].add(row["member_id"])
    again = [g for g in members[0] if not members[0][g] & members[1][g]]

    assert len(last - first) == 3
    assert not first - last
    assert 5 <= len(again) <= 15


@pytest.mark.slow
def test_every_strategy_works_on_some_group(tmp_path):
    """Racks are known often enough, applications tell enough: each strategy has an answer somewhere."""
    lake, settings = FileLake(tmp_path / "lake"), Settings()
    newest = write_fleet(lake, make_fleet(Shape(groups=100, mean=8, largest=40, snapshots=2)))[-1]
    record_metrics(lake, newest, compute_metrics(lake, settings, newest))

    rows = propose_candidates(lake, settings, newest)["candidates"].to_pylist()
    answered = {r["strategy"] for r in rows if r["feasibility"] != Feasibility.INFEASIBLE.value}

    assert answered == {row["strategy"] for row in rows}
