"""Recordings: one small file that stands in for a lake and for a cluster."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenkeel.engine.adapters.arrow import type_of
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import (
    RecordedCluster,
    Recording,
    open_recording,
    write_recording,
)
from evenkeel.engine.adapters.recording.parquet import contents_of
from evenkeel.engine.model.errors import InputError, LakeError, SnapshotNotFound
from evenkeel.engine.model.facts import finding, note
from evenkeel.engine.model.tables import empty
from evenkeel.engine.snapshots import SNAPSHOT, STEPS, facts_of
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
        assert recording.read(name, ids) == lake.read(name, ids)
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
    nothing = {name: empty(schema) for name, schema in STEPS["metrics"].items()}
    recording.write("metrics", only, nothing, {})
    assert len(recording.read("group_metrics", [only])) == 0
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
        LakeError, match=r"file is not a recording.*evenkeel snapshot record"
    ) as caught:
        open_recording(path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_every_flipped_byte_is_noticed_or_harmless(file: Path, tmp_path: Path) -> None:
    """Damage anywhere in the file never shows as another error than LakeError."""
    whole = file.read_bytes()
    path = tmp_path / "flipped"
    noticed = 0
    for at in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            open_recording(path)
        except LakeError:
            noticed += 1
    assert noticed > 30


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
    with pytest.raises(LakeError, match="written by another version"):
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
            plain = recorded.tables[name].without("snapshot_id", "cluster")
            assert table.without("snapshot_id", "cluster") == plain
            assert table.schema == SNAPSHOT[name]
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
    with pytest.raises(LakeError):
        open_recording(lacking)


def parts_of(file: Path) -> dict[str, bytes]:
    """The parts of a recording by name."""
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(file: Path, other: Path, dataset: str, change: Callable[[pa.Table], pa.Table]) -> Path:
    """Another file with the recording, one dataset of which is changed."""
    parts, sink = parts_of(file), io.BytesIO()
    table = pq.read_table(io.BytesIO(parts[f"{dataset}.parquet"]))
    pq.write_table(change(table), sink, compression="zstd", compression_level=19)
    other.write_bytes(_zip(parts | {f"{dataset}.parquet": sink.getvalue()}))
    return other


def put(name: str, value: Any, row: int = 0) -> Callable[[pa.Table], pa.Table]:
    """Put a value into a row of a column."""

    def change(table: pa.Table) -> pa.Table:
        values = table[name].to_pylist()
        values[row] = value
        column = pa.array(values, table.schema.field(name).type)
        return table.set_column(table.schema.get_field_index(name), name, column)

    return change


def cast(name: str, kind: pa.DataType, value: Any) -> Callable[[pa.Table], pa.Table]:
    """Make a column one of another type."""

    def change(table: pa.Table) -> pa.Table:
        column = pa.array([value] * len(table), kind)
        return table.set_column(table.schema.get_field_index(name), name, column)

    return change


@pytest.mark.parametrize(
    ("dataset", "change", "why"),
    [
        ("members", put("member_id", None), "damaged: members: member_id is missing in 1 rows"),
        ("groups", put("snapshot_id", None), "damaged: groups: snapshot_id is missing in 1 rows"),
        ("partitions", put("topic", None), "damaged: partitions: topic is missing"),
        ("partitions", put("begin_offset", -1), "damaged: partitions: begin_offset is -1, it is 0"),
        ("partitions", put("partition", -1), "damaged: partitions: partition is -1, it is 0"),
        ("commits", put("committed_offset", -5), "damaged: commits: committed_offset is -5"),
        ("partitions", put("end_offset", 2**63 - 1), "end_offset is too large to be added up"),
        ("partitions", put("replicas", [0, None]), "replicas lists nothing where something must"),
        ("partitions", put("partition", 1), "rows of the same topic, partition are in one snap"),
        ("members", lambda table: table.slice(1), "has 1 rows, its manifest says 2"),
        ("groups", put("cluster", "other"), "rows are of test-.* and cluster other"),
        ("partitions", cast("end_at", pa.timestamp("ms", "UTC"), 2**62), "no moment between 1970"),
        ("members", cast("member_id", pa.int64(), 7), "is not a recording, or it is damaged"),
        ("brokers", cast("node_id", pa.string(), "7"), "is not a recording, or it is damaged"),
        ("partitions", cast("end_offset", pa.float64(), 7.5), "is not a recording, or it is dam"),
    ],
)
def test_what_no_cluster_says_is_one_sentence(
    file: Path, tmp_path: Path, dataset: str, change: Callable[[pa.Table], pa.Table], why: str
) -> None:
    """It is found when the file is opened, and the exit code is that of a lake."""
    with pytest.raises(LakeError, match=why) as caught:
        open_recording(changed(file, tmp_path / "odd", dataset, change))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("missing", ["recording.json", "members.parquet"])
def test_a_recording_without_one_of_its_parts_is_damaged(
    file: Path, tmp_path: Path, missing: str
) -> None:
    """Nothing is made up for it."""
    parts = parts_of(file)
    del parts[missing]
    (tmp_path / "odd").write_bytes(_zip(parts))
    with pytest.raises(LakeError, match="is not a recording, or it is damaged"):
        open_recording(tmp_path / "odd")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda one: one.update(snapshot_id="x"), "is not a recording, or it is damaged"),
        (lambda one: one.update(step="metrics"), "is of something else"),
        (lambda one: one.update(cluster="other"), "is of something else"),
        (lambda one: one["facts"].pop("started_at"), "is not a recording, or it is damaged"),
        (lambda one: one["facts"].update(started_at="2026-03-01T12:00:00"), "is not a recording"),
        (lambda one: one["facts"].update(unread=[{"kind": "odd"}]), "is not a recording, or it"),
        (lambda one: one.update(rows=None), "is not a recording, or it is damaged"),
        (lambda one: one["facts"].update(problems=[1]), "the problems of snapshot .* are no texts"),
        (lambda one: one["facts"].update(listings=[{"groups": 1}]), "is not a recording, or it"),
    ],
)
def test_a_manifest_that_is_none_is_one_sentence(
    file: Path, tmp_path: Path, change: Callable[[dict[str, Any]], Any], why: str
) -> None:
    """Its times, its step, its cluster and its problems are looked at when the file is opened."""
    parts = parts_of(file)
    contents = json.loads(parts["recording.json"])
    change(contents["manifests"][0])
    (tmp_path / "odd").write_bytes(_zip(parts | {"recording.json": json.dumps(contents).encode()}))
    with pytest.raises(LakeError, match=why):
        open_recording(tmp_path / "odd")


def test_a_snapshot_that_is_there_twice_is_damage(file: Path, tmp_path: Path) -> None:
    """Its rows would count twice."""
    parts = parts_of(file)
    contents = json.loads(parts["recording.json"])
    contents["manifests"] += contents["manifests"][:1]
    (tmp_path / "odd").write_bytes(_zip(parts | {"recording.json": json.dumps(contents).encode()}))
    with pytest.raises(LakeError, match="is in it twice"):
        open_recording(tmp_path / "odd")


def refused(path: Path) -> str:
    """Why a recording is not read; nothing of the part in question is unpacked."""
    with pytest.raises(LakeError, match="is not read") as caught:
        open_recording(path)
    return str(caught.value)


def test_a_zip_of_zeros_is_not_unpacked(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that is far larger than what it takes, or larger than any part may be, or all of them together."""
    parts = parts_of(file)

    def packed(**more: bytes) -> Path:
        with zipfile.ZipFile(tmp_path / "odd", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (parts | more).items():
                archive.writestr(name, content)
        return tmp_path / "odd"

    assert "recording.json is packed more than 200 to 1" in refused(
        packed(**{"recording.json": bytes(2_000_000)})
    )
    large = packed(**{"groups.parquet": bytes(64_000_001)})
    assert large.stat().st_size < 120_000
    assert "groups.parquet has 64.0 MB, 64.0 MB at most are read" in refused(large)
    monkeypatch.setattr("evenkeel.engine.adapters.recording.recording._WHOLE", 900_000)
    several = packed(**{f"{number}.parquet": bytes(450_000) for number in range(2)})
    assert "its parts have more than 900.0 kB together" in refused(several)
    several.write_bytes(bytes(900_001))
    assert "it has more than 900.0 kB" in refused(several)


def crafted(file: Path, other: Path, rows: int, **columns: pa.Array) -> Path:
    """A recording whose members are so many rows, all alike but for some columns."""
    whole = {
        name: columns.get(name, pa.nulls(rows, type_of(kind)))
        for name, kind in SNAPSHOT["members"].items()
    }
    sink = io.BytesIO()
    # without what Arrow keeps of its types, by which a reader would have each text once
    pq.write_table(
        pa.table(whole), sink, compression="zstd", compression_level=19, store_schema=False
    )
    other.write_bytes(_zip(parts_of(file) | {"members.parquet": sink.getvalue()}))
    return other


def test_12_kilobytes_do_not_become_2_gigabytes(file: Path, tmp_path: Path) -> None:
    """Parquet writes once what is there many times, and so it is kept; whoever writes it out would need all of it."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 2400, pa.int32()), ["x" * 1_000_000])
    small = crafted(file, tmp_path / "texts", 2400, client_id=texts)
    assert small.stat().st_size < 30_000
    tracemalloc.start()
    assert "members takes too much memory" in refused(small)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 10_000_000


def test_a_table_of_more_rows_or_values_than_any_cluster_has_is_not_read(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Parquet metadata says how many there are."""
    monkeypatch.setattr("evenkeel.engine.adapters.recording.recording._ROWS", 5_000)
    monkeypatch.setattr("evenkeel.engine.adapters.recording.recording._VALUES", 400_000)
    rows = crafted(file, tmp_path / "rows", 5_001)
    assert "members has more than 5,000 rows" in refused(rows)
    listed = pa.array([[1] * 400_001], pa.list_(pa.int32()))
    values = crafted(file, tmp_path / "values", 1, assigned_partitions=listed)
    assert "members has more values than 400,000" in refused(values)


def _plain(text: bytes) -> tuple[bytes, slice]:
    """A Parquet file with one text in one page, and where the page is."""
    sink = io.BytesIO()
    table = pa.table({"client_id": pa.array([text], pa.binary())})
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_statistics=False)
    column = pq.read_metadata(sink).row_group(0).column(0)
    start = column.data_page_offset
    return sink.getvalue(), slice(start, start + column.total_compressed_size)


def test_a_page_that_holds_more_than_the_footer_says_is_not_unpacked(
    file: Path, tmp_path: Path
) -> None:
    """Readers believe the page: 5 kB of another file, put behind a footer that fits, become 80 MB."""
    large, page = _plain(bytes(80_000_000))
    longest = page.stop - page.start
    # what cannot be packed takes as much as it has
    lengths = (_plain(random.Random(1).randbytes(n)) for n in range(longest - 60, longest))
    small, its = next(one for one in lengths if one[1] == page)
    crafted = small[: its.start] + large[page] + small[its.stop :]
    assert len(crafted) < 10_000
    assert pq.read_metadata(io.BytesIO(crafted)).row_group(0).total_byte_size < 10_000
    assert pq.read_table(io.BytesIO(crafted)).nbytes > 80_000_000
    (tmp_path / "odd").write_bytes(_zip(parts_of(file) | {"members.parquet": crafted}))
    assert "members takes too much memory" in refused(tmp_path / "odd")


def test_pages_of_all_kinds_are_counted(file: Path) -> None:
    """Their headers say what the footer says of files that nobody crafted, whatever wrote them."""
    table = pq.read_table(io.BytesIO(parts_of(file)["partitions.parquet"]))
    for options in (
        {},
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"compression": "none"},
    ):
        sink = io.BytesIO()
        pq.write_table(table, sink, row_group_size=4, **options)
        metadata = pq.read_metadata(sink)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        columns = [one.column(n) for one in groups for n in range(metadata.num_columns)]
        holds = contents_of(sink.getvalue())
        values, size = holds.values, holds.unpacked
        assert (holds.rows, holds.row_groups) == (len(table), metadata.num_row_groups)
        told = sum(column.num_values for column in columns)
        assert told <= values <= 2 * told
        assert 0 < size <= sum(column.total_uncompressed_size for column in columns)
