"""`evenkeel snapshot take`, `record` and `replay`: a cluster into a lake folder or a file, and back."""

from __future__ import annotations

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import open_recording
from evenkeel.engine.model.errors import ClusterUnreachable
from evenkeel.engine.snapshots import SNAPSHOT
from tests.unit.cli.conftest import FakeCluster, objects


def test_it_prints_the_id_and_what_was_read(run, kafka, tmp_path):
    """The id alone on the first line, the sums on the second, what could not be read on standard error."""
    result = run("snapshot", "take", "--bootstrap", "h:9092", "--out", "lake")
    assert result.exit_code == 0
    taken, line = result.stdout.splitlines()
    assert FileLake(tmp_path / "lake").snapshots("h-9092") == [taken]
    assert line == "7 groups, 9 members, 10 partitions, 3 brokers in 1.0 s, partial: 1 not read"
    assert result.stderr == "not read: group locked: not authorized: DESCRIBE\n"


def test_json_has_the_same_for_machines(run, kafka):
    """Id, counts, seconds, problems and requests in one object."""
    [row] = objects(run("snapshot", "take", "--bootstrap", "h:9092", "--out", "lake", "--json"))
    assert row["cluster"] == "h-9092"
    assert (row["groups"], row["partial"], row["seconds"]) == (7, True, 1.0)
    assert row["problems"] == ["group locked: not authorized: DESCRIBE"]
    assert row["requests"] == {"ListGroups": 3}


def test_without_a_folder_it_goes_to_the_configured_lake(run, kafka, tmp_path, monkeypatch):
    """The lake of the settings is the default."""
    monkeypatch.setenv("EVENKEEL_LAKE", str(tmp_path / "configured"))
    assert run("snapshot", "take", "--bootstrap", "h:9092").exit_code == 0
    assert FileLake(tmp_path / "configured").clusters() == ["h-9092"]


def test_a_configured_cluster_keeps_its_name(run, kafka, tmp_path):
    """The id starts with the name of evenkeel.toml."""
    (tmp_path / "evenkeel.toml").write_text('[clusters.prod]\nbootstrap = "h:1"\n')
    assert run("snapshot", "take", "--cluster", "prod").stdout.startswith("prod-")


def test_a_lake_that_cannot_be_written_is_exit_code_4(run, kafka, tmp_path):
    """What and where on one line, no snapshot left behind."""
    result = run("snapshot", "take", "--bootstrap", "h:9092", "--out", tmp_path / "gone" / "lake")
    assert result.exit_code == 4
    assert len(result.stderr.splitlines()) == 1
    assert str(tmp_path / "gone") in result.stderr


def test_a_live_cluster_becomes_a_file(run, kafka, tmp_path):
    """As many snapshots as asked for, in one file that reads without a service."""
    options = ("--bootstrap", "h:1", "--samples", "3", "--every", "60", "--out", "rec")
    result = run("snapshot", "record", *options)
    assert result.exit_code == 0
    assert result.stdout.startswith("rec: 3 snapshots, ")
    assert len(open_recording(tmp_path / "rec").snapshot_ids) == 3
    assert kafka["slept"] == [pytest.approx(60, abs=1), pytest.approx(120, abs=1)]


@pytest.mark.parametrize(("failing", "kept"), [({2}, 3), ({2, 3}, 2), ({0}, None)])
def test_a_recording_goes_on_after_an_outage(run, kafka, tmp_path, monkeypatch, failing, kept):
    """Each snapshot that fails is told; a cluster that does not answer from the start is an error."""
    take, count = FakeCluster.take_snapshot, iter(range(9))

    def sometimes(self, snapshot_id):
        if next(count) in failing:
            raise ClusterUnreachable("gone.")
        return take(self, snapshot_id)

    monkeypatch.setattr(FakeCluster, "take_snapshot", sometimes)
    options = ("--bootstrap", "h:1", "--samples", "4", "--out", "rec")
    result = run("snapshot", "record", *options)
    if kept is None:
        assert (result.exit_code, (tmp_path / "rec").exists()) == (3, False)
        return
    assert result.exit_code == 0
    told = [f"snapshot {number + 1} of 4 failed: gone." for number in failing]
    assert [line for line in result.stderr.splitlines() if "failed" in line] == told
    assert len(open_recording(tmp_path / "rec").snapshot_ids) == kept


def test_a_lake_becomes_a_file(run, lake, tmp_path):
    """The newest snapshots of a cluster, or all of them."""
    assert run(
        "snapshot", "record", "--lake", lake, "--cluster", "prod", "--last", "2", "--out", "two"
    ).stdout
    newest = FileLake(lake).snapshots("prod", limit=2)
    assert open_recording(tmp_path / "two").snapshot_ids == newest[::-1]
    assert run("snapshot", "record", "--lake", lake, "--out", "all").exit_code == 0
    assert len(open_recording(tmp_path / "all").snapshot_ids) == 4


def test_an_out_file_that_cannot_be_written_is_refused(run, kafka):
    """What and where on one line."""
    result = run("snapshot", "record", "--bootstrap", "h:1", "--out", "no/such/folder/rec")
    assert result.exit_code == 2
    assert "no/such/folder" in result.stderr


def test_replay_tells_what_a_recording_holds(run, recording):
    """A line per snapshot, oldest first, for people and for machines."""
    rows = objects(run("recording", "show", recording, "--json"))
    assert [row["snapshot_id"] for row in rows] == sorted(row["snapshot_id"] for row in rows)
    assert {(row["groups"], row["partial"]) for row in rows} == {(7, True)}
    lines = run("recording", "show", recording).stdout.splitlines()
    assert len(lines) == 5
    assert lines[1].split()[1:] == ["7", "9", "10", "3", "1", "s", "1"]


def test_replay_unpacks_into_a_lake_with_the_same_rows(run, recording, lake, tmp_path):
    """Everything that reads a lake can read what was recorded."""
    assert run("recording", "unpack", recording, "--into", "copy").exit_code == 0
    original, copy = FileLake(lake), FileLake(tmp_path / "copy")
    ids = original.snapshots("prod", limit=9)
    assert copy.snapshots("prod", limit=9) == ids
    for dataset in SNAPSHOT:
        assert copy.read(dataset, ids).equals(original.read(dataset, ids))
    assert wiring.recorded(tmp_path / "copy").manifest("snapshot", ids[0]).facts
