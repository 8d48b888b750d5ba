"""Recordings: one small file that stands in for a lake and for a cluster."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import (
    RecordedCluster,
    Recording,
    open_recording,
    write_recording,
)
from evenkeel.engine.model.errors import InputError, LakeError, SnapshotNotFound
from evenkeel.engine.model.facts import finding, note
from evenkeel.engine.snapshots import SNAPSHOT, STEPS, coded_schema, facts_of
from tests.helpers.snapshots import FIRST, group, make_snapshot, snapshot_id, store, topic


def one_snapshot(number: int = 0, cluster: str = "test") -> Any:
    """A snapshot with a row in every table and a binary blob."""
    groups = [group("app", members=2, lag={"orders": [0, 5]})]
    return make_snapshot(
        topics=[topic("orders", 2, end=1000 + number)],
        groups=groups,
        number=number,
        cluster=cluster,
        problems=[finding("coordinator_unread", quote="broker 3: not reachable")],
        notes=[note("log_sizes_refused", after=2)],
    )


@pytest.fixture(scope="module")
def series() -> list[Any]:
    """Three snapshots of one cluster."""
    return [one_snapshot(n) for n in range(3)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, series: list[Any]) -> FileLake:
    """A lake that holds the series."""
    lake = FileLake(tmp_path_factory.mktemp("series") / "lake")
    store(lake, *series)
    return lake


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, lake: FileLake, series: list[Any]) -> Path:
    """A recording of the series."""
    path = tmp_path_factory.mktemp("recorded") / "cluster.recording"
    write_recording(path, lake, [s.snapshot_id for s in series])
    return path


def test_a_recording_answers_as_the_lake_does(file: Path, lake: FileLake) -> None:
    """Tables, manifests and listings of a recording equal those of the lake it was made from."""
    recording = open_recording(file)
    ids = lake.snapshots("test", limit=9)
    assert recording.snapshots("test", limit=9) == ids
    assert recording.snapshots("test", until=ids[1]) == lake.snapshots("test", until=ids[1])
    assert recording.clusters() == lake.clusters() == ["test"]
    for name in SNAPSHOT:
        plain, coded = lake.read(name, ids), recording.read(name, ids, coded=True)
        assert recording.read(name, ids).equals(plain)
        assert coded.schema == coded_schema(plain.schema)
        assert coded.cast(plain.schema).equals(plain)
    assert recording.manifest("snapshot", ids[0]) == lake.manifest("snapshot", ids[0])


def test_the_same_snapshots_give_the_same_bytes(
    tmp_path: Path, file: Path, lake: FileLake, series: list[Any]
) -> None:
    """Order and repetition of the ids do not matter, nor when the file was written."""
    ids = [s.snapshot_id for s in reversed(series)]
    write_recording(tmp_path / "again", lake, [*ids, ids[0]])
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_what_steps_write_stays_in_memory(file: Path) -> None:
    """A recording can be worked on like a lake, and its file does not change."""
    before = file.read_bytes()
    recording = open_recording(file)
    only = recording.snapshots("test")[0]
    with pytest.raises(SnapshotNotFound, match="'metrics'"):
        recording.read("group_metrics", [only])
    empty = {name: schema.empty_table() for name, schema in STEPS["metrics"].items()}
    recording.write("metrics", only, empty, {})
    assert recording.read("group_metrics", [only]).num_rows == 0
    assert recording.manifest("metrics", only).rows["group_metrics"] == 0
    assert file.read_bytes() == before


def test_a_recording_can_be_recorded_again(tmp_path: Path, file: Path) -> None:
    """Part of a recording makes a recording of its own."""
    recording = open_recording(file)
    write_recording(tmp_path / "part", recording, recording.snapshots("test"))
    assert open_recording(tmp_path / "part").snapshot_ids == [snapshot_id(2)]


def test_expire_forgets(file: Path) -> None:
    """Old snapshots are forgotten in memory as a lake would remove them."""
    recording = open_recording(file)
    assert recording.expire(FIRST + timedelta(minutes=1)) == 1
    assert recording.snapshots("test", limit=9) == [snapshot_id(2), snapshot_id(1)]


def test_nothing_to_record_is_an_input_error(tmp_path: Path, lake: FileLake) -> None:
    """A recording without snapshots is not written."""
    with pytest.raises(InputError, match="nothing to record"):
        write_recording(tmp_path / "empty", lake, [])
    with pytest.raises(SnapshotNotFound):
        write_recording(tmp_path / "empty", lake, [snapshot_id(7)])
    assert not (tmp_path / "empty").exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, lake: FileLake) -> None:
    """A folder that does not exist gives one line, and nothing is left behind."""
    with pytest.raises(InputError, match="missing/file cannot be written: No such file"):
        write_recording(tmp_path / "missing" / "file", lake, [snapshot_id(0)])


def _zip(parts: dict[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return sink.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"PK\x03\x04 cut off",
        _zip({}),
        _zip({"recording.json": b"not json"}),
        _zip({"recording.json": b"[]"}),
        _zip({"recording.json": b'{"format": "other", "version": 1, "manifests": []}'}),
        _zip({"recording.json": b'{"format": "evenkeel-recording", "version": 1}'}),
    ],
    ids=["empty", "text", "cut", "nothing in it", "no JSON", "a list", "foreign", "no manifests"],
)
def test_a_damaged_or_foreign_file_is_one_line(tmp_path: Path, content: bytes) -> None:
    """Whatever the file holds, the answer names it and says what to do."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"file is not a recording.*evenkeel snapshot record"
    ) as caught:
        open_recording(path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_every_flipped_byte_is_noticed_or_harmless(file: Path, tmp_path: Path) -> None:
    """Damage anywhere in the file never shows as another error than InputError."""
    whole = file.read_bytes()
    path = tmp_path / "flipped"
    noticed = 0
    for at in range(0, len(whole), max(1, len(whole) // 200)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            open_recording(path)
        except InputError:
            noticed += 1
    assert noticed > 100


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The line says which file there is not; a folder is no recording either."""
    with pytest.raises(InputError, match="nothing-here cannot be read: No such file"):
        open_recording(tmp_path / "nothing-here")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        open_recording(tmp_path)


@pytest.mark.parametrize("where", ["version", "schema"])
def test_another_version_is_told_apart_from_damage(file: Path, tmp_path: Path, where: str) -> None:
    """A recording of a later version is refused as such."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    contents = json.loads(parts["recording.json"])
    if where == "version":
        contents["version"] = 2
    else:
        contents["manifests"][0]["schema_version"] = 99
    parts["recording.json"] = json.dumps(contents).encode()
    (tmp_path / "later").write_bytes(_zip(parts))
    with pytest.raises(InputError, match="written by another version"):
        open_recording(tmp_path / "later")


def test_a_replayed_cluster_yields_its_snapshots_in_turn(file: Path, series: list[Any]) -> None:
    """Each reading has the id asked for in all tables, and the recorded times and problems."""
    recording = open_recording(file)
    cluster = RecordedCluster(recording, recording.snapshot_ids)
    for number, recorded in enumerate(series):
        wanted = f"again-20270101T00000{number}Z-abcdef"
        snapshot = cluster.take_snapshot(wanted)
        assert (snapshot.snapshot_id, snapshot.cluster) == (wanted, "again")
        assert facts_of(snapshot) == facts_of(recorded)
        assert snapshot.partial
        for name, table in snapshot.tables.items():
            assert set(table["snapshot_id"].to_pylist()) <= {wanted}
            assert set(table["cluster"].to_pylist()) <= {"again"}
            plain = recorded.tables[name].drop_columns(["snapshot_id", "cluster"])
            assert table.drop_columns(["snapshot_id", "cluster"]).equals(plain)
            assert table.schema.equals(SNAPSHOT[name])
    with pytest.raises(InputError, match="at its end: it holds 3"):
        cluster.take_snapshot(wanted)
    cluster.close()


def test_a_recording_is_small(tmp_path: Path) -> None:
    """Four snapshots of fifty groups fit into what a repository can bear (200 kB)."""
    topics = [topic(f"topic-{n}", 24, end=1000 + n) for n in range(50)]
    groups = [group(f"group-{n}", members=6, lag={f"topic-{n}": 5}) for n in range(50)]
    lake = Recording()
    store(lake, *[make_snapshot(topics=topics, groups=groups, number=n) for n in range(4)])
    assert write_recording(tmp_path / "file", lake, lake.snapshot_ids) < 200_000


def without(file: Path, dataset: str, column: str, other: Path) -> Path:
    """Another file with the recording as if a dataset had never had a column."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    table = pq.read_table(io.BytesIO(parts[f"{dataset}.parquet"])).drop_columns([column])
    written = io.BytesIO()
    pq.write_table(table, written)
    other.write_bytes(_zip(parts | {f"{dataset}.parquet": written.getvalue()}))
    return other


@pytest.mark.parametrize(("dataset", "column"), [("members", "active_tasks"), ("brokers", "rack")])
def test_a_recording_that_lacks_any_other_column_is_an_error(
    file: Path, tmp_path: Path, dataset: str, column: str
) -> None:
    """It is not what this version writes, and nothing is made up."""
    lacking = without(file, dataset, column, tmp_path / "lacking")
    with pytest.raises((InputError, LakeError)):
        open_recording(lacking)
