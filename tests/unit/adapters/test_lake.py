"""The lake folder: what it keeps, in which order it writes, and what it says when it cannot."""

from __future__ import annotations

import errno
import json
import os
import pickle
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.lake import store as lake_module
from evenkeel.engine.adapters.lake import tables as tables_module
from evenkeel.engine.adapters.lake.catalog import Catalog
from evenkeel.engine.adapters.lake.files import Files
from evenkeel.engine.adapters.lake.tables import FileReader
from evenkeel.engine.model.errors import InputError, LakeError, SnapshotNotFound
from evenkeel.engine.model.tables import INT64, Table, column, empty
from evenkeel.engine.ports import WrittenPart
from evenkeel.engine.snapshots import (
    CANDIDATES,
    SNAPSHOT,
    STEPS,
    facts_of,
    new_snapshot_id,
    split_snapshot_id,
)
from tests.helpers.object_store import lake_in_store
from tests.helpers.snapshots import (
    EVERY,
    FIRST,
    group,
    make_snapshot,
    paths_of,
    snapshot_id,
    store,
    topic,
)


def one_snapshot(number: int = 0, cluster: str = "test") -> Any:
    """A snapshot with a row in every table."""
    groups = [group("app", members=2, lag={"orders": [0, 5]})]
    return make_snapshot(topics=[topic("orders", 2)], groups=groups, number=number, cluster=cluster)


@pytest.fixture
def lake(tmp_path: Path) -> FileLake:
    """An empty lake whose folder does not exist yet."""
    return FileLake(tmp_path / "lake")


def test_what_is_written_is_read_again(lake: FileLake) -> None:
    """Every table comes back equal, and the manifest says how many rows each has."""
    snapshot = one_snapshot()
    store(lake, snapshot)
    for name, table in snapshot.tables.items():
        assert lake.read(name, [snapshot.snapshot_id]).equals(table)
    manifest = lake.manifest("snapshot", snapshot.snapshot_id)
    assert manifest.rows == {name: len(table) for name, table in snapshot.tables.items()}
    assert manifest.facts == facts_of(snapshot) | {"problems": [], "notes": []}
    assert manifest.written_at.tzinfo is not None


def test_layout_is_the_documented_one(lake: FileLake, tmp_path: Path) -> None:
    """Files lie under dataset, cluster and day, manifests under step, cluster and day."""
    (only,) = store(lake, one_snapshot())
    place = f"cluster=test/day=2026-03-01/{only}"
    written = {str(p.relative_to(tmp_path / "lake")) for p in tmp_path.rglob("*") if p.is_file()}
    written.remove(f"_manifests/snapshot/{place}.json")
    assert {path.partition("/")[0] for path in written} == SNAPSHOT.keys()
    for path in written:
        assert re.fullmatch(
            rf"\w+/{re.escape(place)}\.[0-9a-f]{{8}}-00000-[0-9a-f]{{6}}\.parquet", path
        )
        assert paths_of(lake, path.partition("/")[0], only) == [tmp_path / "lake" / path]


def test_a_uri_names_the_same_folder(lake: FileLake, tmp_path: Path) -> None:
    """A file URI reads what the path wrote."""
    (only,) = store(lake, one_snapshot())
    same = FileLake(f"file://{tmp_path}/lake")
    assert same.snapshots("test") == [only]
    store(same, one_snapshot(1))
    assert lake.snapshots("test", limit=2) == [snapshot_id(1), only]


def test_an_unknown_kind_of_uri_is_a_lake_error() -> None:
    """A URI pyarrow does not know is refused in one line with the kinds that work."""
    with pytest.raises(LakeError, match=r"floppy://a .*s3://"):
        FileLake("floppy://a")


@pytest.mark.parametrize(
    "uri", ["s3://me:hush@bucket/lake", "s3a://bucket/lake?region=x&secret_key=hush"]
)
def test_credentials_in_a_uri_are_refused_and_not_repeated(uri: str) -> None:
    """A lake's URI ends up in logs; the error names the variables instead of the URI."""
    with pytest.raises(LakeError, match="AWS_SECRET_ACCESS_KEY") as refused:
        FileLake(uri)
    assert "hush" not in str(refused.value)


def test_hadoops_name_of_s3_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    """`s3a://` is the same store as `s3://`; nothing is asked to open it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    files = Files("s3a://bucket/lake/")
    assert ("s3", "bucket/lake") == (files.system.type_name, files.root)


def test_a_lake_of_a_relative_path_is_the_same_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker in a folder of its own opens the driver's lake."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(FileLake("lake"))
    (only,) = store(FileLake("lake"), one_snapshot())
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert [only] == pickle.loads(pickled).snapshots("test")


def test_several_snapshots_are_read_in_the_order_asked_for(lake: FileLake) -> None:
    """Rows follow the order of the ids; no ids give an empty table of the right schema."""
    ids = store(lake, one_snapshot(0), one_snapshot(1))
    read = lake.read("groups", [ids[1], ids[0]])
    assert read["snapshot_id"].to_pylist() == [ids[1], ids[0]]
    assert lake.read("groups", []).schema == SNAPSHOT["groups"]


def test_a_crash_before_the_manifest_leaves_nothing_to_read(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables without a manifest do not exist for any reader."""
    snapshot = one_snapshot()
    written = lake_module.write_table
    calls: list[str] = []

    def crash_at_the_third(table: Table, path: str, **options: Any) -> None:
        calls.append(path)
        written(table, path, **options)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(lake_module, "write_table", crash_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        store(lake, snapshot)
    assert lake.snapshots("test") == []
    with pytest.raises(SnapshotNotFound):
        lake.read("brokers", [snapshot.snapshot_id])


def test_a_second_write_that_crashes_leaves_the_first(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of two runs of a step are never read together: until all of the new are there, the old are read."""
    snapshot = one_snapshot()
    (only,) = store(lake, snapshot)
    written = lake_module.write_table

    def full(table: Table, path: str, **options: Any) -> None:
        if "/members/" in path:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(table, path, **options)

    monkeypatch.setattr(lake_module, "write_table", full)
    with pytest.raises(LakeError):
        store(lake, make_snapshot(topics=[topic("orders", 1)]))
    assert lake.read("groups", [only]).equals(snapshot.tables["groups"])
    monkeypatch.undo()
    store(lake, make_snapshot(topics=[topic("orders", 1)]))
    assert len(lake.read("groups", [only])) == 0


def test_writing_again_replaces(lake: FileLake, tmp_path: Path) -> None:
    """The rows of a step run again replace the earlier ones, and so do its files."""
    store(lake, one_snapshot())
    files = {p for p in tmp_path.rglob("*.parquet")}
    fewer = make_snapshot(topics=[topic("orders", 1)])
    store(lake, fewer)
    assert len(lake.read("groups", [fewer.snapshot_id])) == 0
    assert len(files) == len(set(tmp_path.rglob("*.parquet"))) == len(SNAPSHOT)
    assert not files & set(tmp_path.rglob("*.parquet"))


def one_part(lake: FileLake, run: str, number: int, rows: int) -> WrittenPart:
    """A part of the candidates of a snapshot."""
    keys = dict(snapshot_id=snapshot_id(0), cluster="test", config_version=run)
    table = Table.from_rows(
        [keys | {"group_id": f"g{i}"} for i in range(rows)], CANDIDATES["candidates"]
    )
    return lake.write_part("candidates", snapshot_id(0), run, number, {"candidates": table})


@pytest.fixture(params=["folder", "store"])
def any_lake(request: pytest.FixtureRequest, tmp_path: Path) -> FileLake:
    """A lake in a folder, and one in something like S3."""
    return FileLake(tmp_path / "l") if request.param == "folder" else lake_in_store(tmp_path)[0]


def test_what_nobody_reads_any_more_goes(any_lake: FileLake, tmp_path: Path) -> None:
    """Parts that were not used, and those of the run before; never those of a run that may still be at it."""
    twice = [one_part(any_lake, "a", 0, 1), one_part(any_lake, "a", 0, 1)]
    any_lake.finish("candidates", snapshot_id(0), "a", twice, {})
    assert [p.name for p in tmp_path.rglob("*.parquet")] == [twice[1].files["candidates"]]
    slow, fast = one_part(any_lake, "b", 0, 2), one_part(any_lake, "c", 0, 3)
    any_lake.finish("candidates", snapshot_id(0), "c", [fast], {})
    names = {p.name for p in tmp_path.rglob("*.parquet")}
    assert names == {slow.files["candidates"], fast.files["candidates"]}
    any_lake.finish("candidates", snapshot_id(0), "b", [slow], {})
    assert len(any_lake.read("candidates", [snapshot_id(0)])) == 2
    assert {p.name for p in tmp_path.rglob("*.parquet")} == {slow.files["candidates"]}


def test_a_run_whose_part_is_gone_is_not_finished(any_lake: FileLake) -> None:
    """It is said which, and readers see what they saw."""
    any_lake.finish("candidates", snapshot_id(0), "a", [one_part(any_lake, "a", 0, 1)], {})
    gone = one_part(any_lake, "b", 0, 2)
    any_lake.finish("candidates", snapshot_id(0), "b", [gone], {})
    any_lake.finish("candidates", snapshot_id(0), "c", [one_part(any_lake, "c", 0, 3)], {})
    with pytest.raises(LakeError, match=rf"{gone.files['candidates']} is gone"):
        any_lake.finish("candidates", snapshot_id(0), "b", [gone], {})
    assert len(any_lake.read("candidates", [snapshot_id(0)])) == 3


def test_a_reader_of_what_is_replaced_reads_one_run(
    any_lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Caught between two files of a run that has been replaced, it begins again with the new one."""
    parts = [one_part(any_lake, "a", number, 1) for number in range(3)]
    any_lake.finish("candidates", snapshot_id(0), "a", parts, {})
    read = FileReader.read
    times: list[str] = []

    def superseded(self: FileReader, path: str, *rest: Any) -> Table:
        times.append(path)
        if len(times) == 2:
            new = [one_part(any_lake, "b", number, 2) for number in range(2)]
            any_lake.finish("candidates", snapshot_id(0), "b", new, {})
        return read(self, path, *rest)

    monkeypatch.setattr(FileReader, "read", superseded)
    table = any_lake.read("candidates", [snapshot_id(0)])
    assert table["config_version"].to_pylist() == ["b"] * 4
    assert len(times) == 4


def test_a_file_that_is_lost_is_named_as_such(any_lake: FileLake) -> None:
    """Nobody replaced it: the reader does not wait for a run that never comes."""
    any_lake.finish("candidates", snapshot_id(0), "a", [one_part(any_lake, "a", 0, 1)], {})
    paths_of(any_lake, "candidates", snapshot_id(0))[0].unlink()
    with pytest.raises(LakeError, match=r"file of candidates of snapshot .* is gone.*again"):
        any_lake.read("candidates", [snapshot_id(0)])


def test_an_object_store_is_given_whole_files_under_their_last_names(tmp_path: Path) -> None:
    """Nothing is renamed there, the manifest is put last, and nothing that it names is ever put again."""
    lake, server = lake_in_store(tmp_path)
    for _ in range(2):
        (only,) = store(lake, one_snapshot())
    put = [path for call, path in server.calls if call == "put"]
    assert [path.endswith(".json") for path in put] == [*[False] * 5, True] * 2
    assert len({path for path in put if not path.endswith(".json")}) == 10
    assert {path for call, path in server.calls if call == "delete"} == set(put[:5])
    assert len(lake.read("groups", [only])) == 1


@pytest.mark.parametrize("run", ["", "A", "a-b", "../a", "a" * 33])
def test_the_name_of_a_run_becomes_part_of_a_path(lake: FileLake, run: str) -> None:
    """So it is a word."""
    with pytest.raises(LakeError, match="does not name a run"):
        one_part(lake, run, 0, 1)


def many(rows: int, lake: FileLake) -> str:
    """A snapshot with so many rows of commits, 100 per group, sorted by group; its id."""
    only = snapshot_id(0)
    tables = {name: empty(schema) for name, schema in SNAPSHOT.items()}
    keys = dict(snapshot_id=only, cluster="test")
    each = [
        keys | {"group_id": f"g{i // 100:04}", "topic": f"t{i % 100 // 10}", "partition": i % 10}
        for i in range(rows)
    ]
    tables["commits"] = Table.from_rows(each, SNAPSHOT["commits"])
    lake.write("snapshot", only, tables, {})
    return only


def test_only_the_row_groups_that_may_hold_what_is_wanted_are_read(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the least and greatest value that the file tells of each; its end is read once."""
    monkeypatch.setattr(tables_module, "ROW_GROUP", 1_000)
    only = many(10_000, lake)
    whole = lake.read("commits", [only])
    asked = row_groups_asked_for(monkeypatch)
    ends: list[str] = []
    end = pq.read_metadata
    monkeypatch.setattr(tables_module.pq, "read_metadata", lambda f: ends.append("") or end(f))
    some = lake.read("commits", [only], groups=["g0000", "g0039", "g0099", "h"])
    assert some.equals(whole.filter(whole["group_id"].is_in(["g0000", "g0039", "g0099"])))
    lake.read("commits", [only], groups=["a", "z"])
    lake.read("commits", [only], groups=["g0050"], topics=["u"])
    assert {tuple(row_groups) for row_groups, _ in asked} == {(0, 3, 9), ()}
    assert len(ends) == 0

    fresh = FileLake(lake.path)
    fresh.read("commits", [only], groups=["g0001"])
    copy = pickle.loads(pickle.dumps(fresh))
    assert len(copy.read("commits", [only], groups=["g0001"])) == 100
    assert len(ends) == 2


def test_a_large_table_is_written_a_part_at_a_time(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more rows than `AT_ONCE` are made Arrow's, and the file has the same row groups."""
    converted: list[int] = []
    convert = tables_module.to_arrow

    def counting(table: Table) -> pa.Table:
        converted.append(len(table))
        return convert(table)

    monkeypatch.setattr(tables_module, "to_arrow", counting)
    monkeypatch.setattr(tables_module, "ROW_GROUP", 1_000)
    monkeypatch.setattr(tables_module, "AT_ONCE", 4_000)
    only = many(10_000, lake)
    assert converted == [4_000, 4_000, 2_000]
    (path,) = Path(lake.path).glob("commits/**/*.parquet")
    assert pq.read_metadata(path).num_row_groups == 10
    assert lake.read("commits", [only])["partition"].to_pylist() == [i % 10 for i in range(10_000)]


def row_groups_asked_for(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], list[str]]]:
    """From now on, which row groups of a file are read, and which of their columns."""
    asked: list[tuple[list[int], list[str]]] = []
    read = pq.ParquetFile.read_row_groups

    def counting(self: Any, row_groups: list[int], columns: list[str], **more: Any) -> pa.Table:
        asked.append((row_groups, columns))
        return read(self, row_groups, columns, **more)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", counting)
    return asked


def test_where_no_row_is_wanted_only_the_columns_that_tell_are_read(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds admit what lies between two groups that are wanted; all that is read of it is whose rows they are."""
    monkeypatch.setattr(tables_module, "ROW_GROUP", 1_000)
    only, columns = snapshot_id(0), ["topic", "partition", "begin_offset"]
    rows = [
        {"topic": topic, "partition": i, "begin_offset": i}
        for topic in "abcdefhjkpqrstuvyz"
        for i in range(500)
    ]
    tables = {name: empty(schema) for name, schema in SNAPSHOT.items()}
    keys = dict(snapshot_id=only, cluster="test")
    tables["partitions"] = Table.from_rows([keys | row for row in rows], SNAPSHOT["partitions"])
    lake.write("snapshot", only, tables, {})
    asked = row_groups_asked_for(monkeypatch)
    read = lake.read("partitions", [only], topics=["b", "i", "m", "z"], columns=columns)
    assert read.to_pylist() == [row for row in rows if row["topic"] in ("b", "z")]
    assert len(lake.read("partitions", [only], topics=["m"], columns=columns)) == 0
    assert len(lake.read("partitions", [only], topics=["z"], columns=["topic"])) == 500
    told, others = ["topic"], ["partition", "begin_offset"]
    assert asked == [
        ([0, 3, 4, 8], told),
        ([0, 8], others),
        ([4], told),
        ([], others),
        ([8], told),
    ]


def test_where_most_row_groups_are_wanted_all_are_read(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads all of them next finds them known."""
    monkeypatch.setattr(tables_module, "ROW_GROUP", 1_000)
    only = many(3_000, lake)
    groups = lake.read("commits", [only], columns=["group_id"])["group_id"].to_pylist()
    asked = row_groups_asked_for(monkeypatch)
    lake.read("commits", [only], groups=[groups[0], groups[-1]], columns=["group_id", "topic"])
    read = [row_groups for row_groups, columns in asked if "topic" in columns]
    assert read == [[0, 1, 2]]


def test_a_column_that_snapshots_have_alike_is_read_once(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each later snapshot only what moves is read, and what differs from the one before."""
    columns = ["topic", "partition", "begin_offset"]
    tables = {name: empty(schema) for name, schema in SNAPSHOT.items()}
    rows = [
        [
            {"topic": topic, "partition": i, "begin_offset": 7 * at + i}
            for topic in names
            for i in (0, 1)
        ]
        for at, names in enumerate(("abc", "abc", "abd"))
    ]
    for at, some in enumerate(rows):
        keys = dict(snapshot_id=snapshot_id(at), cluster="test")
        tables["partitions"] = Table.from_rows([keys | row for row in some], SNAPSHOT["partitions"])
        lake.write("snapshot", snapshot_id(at), tables, {})
    asked = row_groups_asked_for(monkeypatch)
    for at, some in enumerate(rows):
        assert lake.read("partitions", [snapshot_id(at)], columns=columns).to_pylist() == some
    assert [names for _, names in asked] == [columns, ["begin_offset"], ["topic", "begin_offset"]]
    part = lake.read("partitions", [snapshot_id(1)], topics=["b"], columns=columns)
    assert part.to_pylist() == rows[1][2:4]


def test_a_column_that_is_written_as_another_is_read_once(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without transactions the last stable offsets are the ends; with one they are read."""
    columns = ["begin_offset", "end_offset", "last_stable_offset"]
    tables = {name: empty(schema) for name, schema in SNAPSHOT.items()}
    rows = [[dict(zip(columns, (1, 9, last), strict=True))] * 2 for last in (9, 8)]
    for at, some in enumerate(rows):
        keys = dict(snapshot_id=snapshot_id(at), cluster="test", topic="a", partition=0)
        tables["partitions"] = Table.from_rows([keys | row for row in some], SNAPSHOT["partitions"])
        lake.write("snapshot", snapshot_id(at), tables, {})
    asked = row_groups_asked_for(monkeypatch)
    for at, some in enumerate(rows):
        assert lake.read("partitions", [snapshot_id(at)], columns=columns).to_pylist() == some
    assert [names for _, names in asked] == [columns[:2], columns]


def test_rows_without_a_group_are_of_no_group(lake: FileLake) -> None:
    """A null is not among the values asked for, also in a row group of nothing else."""
    tables = {name: empty(schema) for name, schema in SNAPSHOT.items()}
    rows = [dict(snapshot_id=snapshot_id(0), cluster="test", group_id=g) for g in (None, "a")]
    for groups, found in ((rows, 1), (rows[:1], 0)):
        tables["commits"] = Table.from_rows(groups, SNAPSHOT["commits"])
        lake.write("snapshot", snapshot_id(0), tables, {})
        assert len(lake.read("commits", [snapshot_id(0)], groups=["a"])) == found


def test_temporary_and_foreign_files_are_invisible(lake: FileLake, tmp_path: Path) -> None:
    """Only names that are snapshot ids count as snapshots."""
    (only,) = store(lake, one_snapshot())
    day = tmp_path / "lake/_manifests/snapshot/cluster=test/day=2026-03-01"
    (day / f"_0a0b-{snapshot_id(5)}.json.tmp").write_text("{}")
    (day / "notes.json").write_text("{}")
    assert lake.snapshots("test", limit=9) == [only]


def test_snapshots_come_newest_first_up_to_one_of_them(lake: FileLake) -> None:
    """`until` is included, a limit is kept, another cluster's are left out."""
    ids = store(lake, *[one_snapshot(n) for n in (0, 1, 200, 600)], one_snapshot(0, "other"))[:4]
    assert lake.snapshots("test", limit=9) == ids[::-1]
    assert lake.snapshots("test", until=ids[2], limit=2) == [ids[2], ids[1]]
    assert lake.snapshots("nobody") == []
    assert lake.clusters() == ["other", "test"]


def test_only_the_newest_days_are_listed(lake: FileLake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A year of day folders is not walked for the newest few snapshots."""
    per_day = timedelta(days=1) // EVERY
    store(lake, *[one_snapshot(n * per_day) for n in range(8)])
    listed: list[str] = []
    ids = Catalog.ids

    def counting(self: Catalog, step: str, cluster: str, day: str) -> list[str]:
        listed.append(day)
        return ids(self, step, cluster, day)

    monkeypatch.setattr(Catalog, "ids", counting)
    assert len(lake.snapshots("test", limit=2)) == 2
    assert len(listed) == 2


def test_expire_removes_what_is_older(lake: FileLake, tmp_path: Path) -> None:
    """What was taken before the moment goes with all its files; what was taken then stays."""
    per_day = timedelta(days=1) // EVERY
    ids = store(lake, *[one_snapshot(n) for n in (0, per_day, per_day + 1, per_day + 2)])
    moment = FIRST + (per_day + 1) * EVERY
    assert lake.expire(moment) == 2
    assert lake.snapshots("test", limit=9) == ids[:1:-1]
    left = {p.name.partition(".")[0] for p in tmp_path.rglob("*") if p.is_file()}
    assert left == set(ids[2:])
    assert lake.expire(moment) == 0


def test_a_lake_that_was_never_written_is_empty(lake: FileLake) -> None:
    """Listing and expiring a lake before the first snapshot is no error; reading from it is."""
    assert lake.snapshots("test") == []
    assert lake.clusters() == []
    assert lake.expire(FIRST) == 0
    with pytest.raises(SnapshotNotFound, match=r"no finished step 'snapshot' in lake .*lake"):
        lake.read("groups", [snapshot_id(0)])


@pytest.mark.parametrize("call", ["write", "list"])
def test_a_missing_parent_folder_is_named(tmp_path: Path, call: str) -> None:
    """A lake below a folder that is not there is not made silently: it may be a missing mount."""
    lake = FileLake(tmp_path / "mount" / "lake")
    with pytest.raises(LakeError, match=rf"{tmp_path}/mount does not exist.*mount it"):
        store(lake, one_snapshot()) if call == "write" else lake.snapshots("test")
    assert not (tmp_path / "mount").exists()


def test_a_relative_lake_is_made_with_its_parents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default lake lies two folders below the working directory and needs no preparation."""
    monkeypatch.chdir(tmp_path)
    (only,) = store(FileLake(".evenkeel/lake"), one_snapshot())
    assert FileLake(tmp_path / ".evenkeel/lake").snapshots("test") == [only]


def test_a_lake_path_that_is_a_file_is_a_lake_error(tmp_path: Path) -> None:
    """The line names the path and what to look at."""
    (tmp_path / "lake").write_text("not a folder")
    with pytest.raises(LakeError, match=r"lake .*/lake cannot be written: .*Check that path"):
        store(FileLake(tmp_path / "lake"), one_snapshot())


@pytest.mark.parametrize(
    ("number", "fix"),
    [(errno.ENOSPC, "Free space"), (errno.EACCES, "the right to it"), (errno.EROFS, "the right")],
)
def test_a_full_or_forbidden_folder_is_explained(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int, fix: str
) -> None:
    """What the operating system refuses becomes one line with path, cause and fix."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, "refused by the system")

    monkeypatch.setattr(lake_module, "write_table", refuse)
    with pytest.raises(LakeError, match=f"lake .*refused by the system.*{fix}") as caught:
        store(lake, one_snapshot())
    assert isinstance(caught.value.__cause__, OSError)
    assert "\n" not in str(caught.value)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_another_schema_version_is_refused(lake: FileLake) -> None:
    """A manifest of a version this program does not know is not guessed at, nor called damaged for its keys."""
    (only,) = store(lake, one_snapshot())
    path = Path(lake._catalog.manifest_path("snapshot", only))
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 99, "new": 1}))
    with pytest.raises(LakeError, match="schema version 99"):
        lake.read("groups", [only])


@pytest.mark.parametrize("content", [b"", b"[]", b'{"snapshot_id": 1}', b"\xff\xfe"])
def test_a_damaged_manifest_is_named(lake: FileLake, content: bytes) -> None:
    """Whatever stands in a manifest, the answer is one line that names the file."""
    (only,) = store(lake, one_snapshot())
    Path(lake._catalog.manifest_path("snapshot", only)).write_bytes(content)
    with pytest.raises(LakeError, match=rf"manifest .*{only}.json is damaged"):
        lake.manifest("snapshot", only)


def test_a_damaged_table_is_named(lake: FileLake) -> None:
    """A truncated Parquet file is a lake error, not a stack of Arrow's."""
    (only,) = store(lake, one_snapshot())
    paths_of(lake, "groups", only)[0].write_bytes(b"PAR1")
    with pytest.raises(LakeError, match=r"cannot be read.*damaged"):
        lake.read("groups", [only])


def test_tables_must_be_those_of_the_step(lake: FileLake) -> None:
    """A missing table or one of another shape is refused before anything is written."""
    snapshot = one_snapshot()
    with pytest.raises(LakeError, match="writes brokers, commits"):
        lake.write("snapshot", snapshot.snapshot_id, {}, {})
    wrong = {**snapshot.tables, "groups": Table({"a": column([1], INT64)})}
    with pytest.raises(LakeError, match="does not fit"):
        lake.write("snapshot", snapshot.snapshot_id, wrong, {})
    with pytest.raises(LakeError, match="no dataset"):
        lake.read("nonsense", [])
    assert lake.clusters() == []


def test_derived_steps_have_manifests_of_their_own(lake: FileLake) -> None:
    """A snapshot may have its own tables and not yet its metrics."""
    (only,) = store(lake, one_snapshot())
    with pytest.raises(SnapshotNotFound, match="'metrics'"):
        lake.read("group_metrics", [only])
    nothing = {name: empty(schema) for name, schema in STEPS["metrics"].items()}
    lake.write("metrics", only, nothing, {})
    assert len(lake.read("group_metrics", [only])) == 0


def test_the_lake_around_a_file_is_found(lake: FileLake, tmp_path: Path) -> None:
    """The lake's folder, a file of it and nothing else lead to the lake."""
    (only,) = store(lake, one_snapshot())
    for path in (lake.path, paths_of(lake, "groups", only)[0]):
        found = FileLake.around(path)
        assert found is not None
        assert found.snapshots("test") == [only]
    assert FileLake.around(tmp_path) is None


def test_new_ids_tell_cluster_and_second() -> None:
    """An id is taken apart into what it was made of, dashes in the cluster's name included."""
    moment = datetime(2026, 3, 1, 12, 30, 59, 999, tzinfo=UTC)
    made = new_snapshot_id("eu-west-1", moment)
    assert split_snapshot_id(made) == ("eu-west-1", moment.replace(microsecond=0))
    assert new_snapshot_id("eu-west-1", moment) != made


@pytest.mark.parametrize(
    "text", ["", "test", "test-20260301T120000Z", "test-20261301T120000Z-0a0b0c", "../x-1-2"]
)
def test_what_is_not_an_id_is_refused(text: str) -> None:
    """Nothing but an id ever becomes part of a path."""
    with pytest.raises(InputError, match="not a snapshot id"):
        split_snapshot_id(text)


def without(lake: FileLake, dataset: str, only: str, columns: list[str]) -> None:
    """Write the file of a dataset again as if it had never had some columns."""
    (path,) = paths_of(lake, dataset, only)
    pq.write_table(pq.ParquetFile(path).read().drop_columns(columns), path)


@pytest.mark.parametrize(
    ("dataset", "column"),
    [("members", "active_tasks"), ("groups", "topology"), ("commits", "error")],
)
def test_a_file_that_lacks_any_other_column_is_an_error(
    lake: FileLake, dataset: str, column: str
) -> None:
    """It is not what this version writes, and nothing is made up."""
    (only,) = store(lake, one_snapshot())
    without(lake, dataset, only, [column])
    with pytest.raises(LakeError, match=f"cannot be read: column {column} is missing"):
        lake.read(dataset, [only])


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_names_of_clients_and_hosts_are_not_for_all(lake: FileLake, umask: int) -> None:
    """Folders are for the owner and the group, and so are files; a stricter umask holds."""
    before = os.umask(umask)
    try:
        store(lake, one_snapshot())
    finally:
        os.umask(before)
    found = [Path(lake._files.root), *Path(lake._files.root).rglob("*")]
    assert {one.stat().st_mode & 0o777 for one in found if one.is_dir()} == {0o750 & ~umask}
    assert {one.stat().st_mode & 0o777 for one in found if one.is_file()} == {0o640 & ~umask}
