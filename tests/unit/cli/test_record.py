"""`evenkeel snapshot record` and `evenkeel snapshot replay`."""

from __future__ import annotations

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.replay import open_recording
from evenkeel.engine.model.errors import ClusterUnreachable
from evenkeel.engine.snapshots import SNAPSHOT
from tests.unit.cli.conftest import FakeCluster, objects


def test_a_live_cluster_becomes_a_file(run, kafka, tmp_path):
    """As many snapshots as asked for, in one file that reads without a service."""
    result = run(
        "snapshot",
        "record",
        "--bootstrap",
        "h:1",
        "--samples",
        "3",
        "--every",
        "60",
        "--out",
        "rec",
    )
    assert result.exit_code == 0
    assert result.stdout.startswith("rec: 3 snapshots, ")
    assert len(open_recording(tmp_path / "rec").snapshot_ids) == 3
    assert kafka["slept"] == [pytest.approx(60, abs=1), pytest.approx(120, abs=1)]


def test_what_was_taken_before_a_failure_is_kept(run, kafka, tmp_path, monkeypatch):
    """An hour of recording is not lost to a broker that goes away at the end."""
    take, count = FakeCluster.take_snapshot, iter(range(9))

    def failing(self, snapshot_id):
        if next(count) == 2:
            raise ClusterUnreachable("gone.")
        return take(self, snapshot_id)

    monkeypatch.setattr(FakeCluster, "take_snapshot", failing)
    assert run("snapshot", "record", "--bootstrap", "h:1", "--out", "rec").exit_code == 3
    assert len(open_recording(tmp_path / "rec").snapshot_ids) == 2


def test_a_lake_becomes_a_file(run, lake, tmp_path):
    """The newest snapshots of a cluster, or all of them."""
    assert run(
        "snapshot", "record", "--lake", lake, "--cluster", "prod", "--last", "2", "--out", "two"
    ).stdout
    newest = FileLake(lake).snapshots("prod", limit=2)
    assert open_recording(tmp_path / "two").snapshot_ids == newest[::-1]
    assert run("snapshot", "record", "--lake", lake, "--out", "all").exit_code == 0
    assert len(open_recording(tmp_path / "all").snapshot_ids) == 4


@pytest.mark.parametrize("options", [["--last", "2"], ["--lake", "x", "--samples", "2"]])
def test_options_of_the_other_kind_are_refused(run, options):
    """Taking and choosing are two things; a mixture would ignore something silently."""
    assert run("snapshot", "record", "--out", "f", *options).exit_code == 2


def test_an_out_file_that_cannot_be_written_is_refused(run, kafka):
    """What and where on one line."""
    result = run("snapshot", "record", "--bootstrap", "h:1", "--out", "no/such/folder/rec")
    assert result.exit_code == 2
    assert "no/such/folder" in result.stderr


def test_replay_tells_what_a_recording_holds(run, recording):
    """A line per snapshot, oldest first, for people and for machines."""
    rows = objects(run("snapshot", "replay", recording, "--json"))
    assert [row["snapshot_id"] for row in rows] == sorted(row["snapshot_id"] for row in rows)
    assert {(row["groups"], row["partial"]) for row in rows} == {(7, True)}
    lines = run("snapshot", "replay", recording).stdout.splitlines()
    assert len(lines) == 5
    assert lines[1].split()[1:] == ["7", "9", "10", "3", "1", "s", "1"]


def test_replay_unpacks_into_a_lake_with_the_same_rows(run, recording, lake, tmp_path):
    """Everything that reads a lake can read what was recorded."""
    assert run("snapshot", "replay", recording, "--into", "copy").exit_code == 0
    original, copy = FileLake(lake), FileLake(tmp_path / "copy")
    ids = original.snapshots("prod", limit=9)
    assert copy.snapshots("prod", limit=9) == ids
    for dataset in SNAPSHOT:
        assert copy.read(dataset, ids).equals(original.read(dataset, ids))
    assert wiring.recorded(tmp_path / "copy").manifest("snapshot", ids[0]).facts
