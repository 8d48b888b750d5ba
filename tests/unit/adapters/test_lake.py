"""The lake folder: what it keeps, in which order it writes, and what it says when it cannot."""

from __future__ import annotations

import errno
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenkeel.engine.adapters import lake as lake_module
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.datasets import SNAPSHOT, STEPS, facts_of, new_snapshot_id, split_snapshot_id
from evenkeel.engine.errors import InputError, LakeError, SnapshotNotFound
from tests.helpers.snapshots import (
    EVERY,
    FIRST,
    group,
    make_snapshot,
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
    assert manifest.rows == {name: table.num_rows for name, table in snapshot.tables.items()}
    assert manifest.facts == facts_of(snapshot) | {"problems": []}
    assert manifest.written_at.tzinfo is not None


def test_layout_is_the_documented_one(lake: FileLake, tmp_path: Path) -> None:
    """Files lie under dataset, cluster and day, manifests under step, cluster and day."""
    (only,) = store(lake, one_snapshot())
    place = f"cluster=test/day=2026-03-01/{only}"
    written = {str(p.relative_to(tmp_path / "lake")) for p in tmp_path.rglob("*") if p.is_file()}
    tables = {f"{dataset}/{place}.parquet" for dataset in SNAPSHOT}
    assert written == tables | {f"_manifests/snapshot/{place}.json"}
    assert lake.files("groups", [only]) == [str(tmp_path / f"lake/groups/{place}.parquet")]


def test_a_uri_names_the_same_folder(lake: FileLake, tmp_path: Path) -> None:
    """A file URI reads what the path wrote, and lists its files as URIs."""
    (only,) = store(lake, one_snapshot())
    same = FileLake(f"file://{tmp_path}/lake")
    assert same.snapshots("test") == [only]
    assert same.files("groups", [only]) == [
        f"file://{path}" for path in lake.files("groups", [only])
    ]
    store(same, one_snapshot(1))
    assert lake.snapshots("test", limit=2) == [snapshot_id(1), only]


def test_an_unknown_kind_of_uri_is_a_lake_error() -> None:
    """A URI pyarrow does not know is refused in one line with the kinds that work."""
    with pytest.raises(LakeError, match=r"floppy://a .*s3://"):
        FileLake("floppy://a")


def test_several_snapshots_are_read_in_the_order_asked_for(lake: FileLake) -> None:
    """Rows follow the order of the ids; no ids give an empty table of the right schema."""
    ids = store(lake, one_snapshot(0), one_snapshot(1))
    read = lake.read("groups", [ids[1], ids[0]])
    assert read["snapshot_id"].to_pylist() == [ids[1], ids[0]]
    assert lake.read("groups", []).schema.equals(SNAPSHOT["groups"])


def test_a_crash_before_the_manifest_leaves_nothing_to_read(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables without a manifest do not exist for any reader."""
    snapshot = one_snapshot()
    written = pq.write_table
    calls: list[str] = []

    def crash_at_the_third(table: pa.Table, path: str, **options: Any) -> None:
        calls.append(path)
        written(table, path, **options)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(lake_module.pq, "write_table", crash_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        store(lake, snapshot)
    assert lake.snapshots("test") == []
    with pytest.raises(SnapshotNotFound):
        lake.read("brokers", [snapshot.snapshot_id])


def test_a_second_write_that_crashes_hides_the_first(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of two runs of a step are never read together: the old manifest goes first."""
    (only,) = store(lake, one_snapshot())

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lake_module.pq, "write_table", full)
    with pytest.raises(LakeError):
        store(lake, one_snapshot())
    assert lake.snapshots("test") == []
    monkeypatch.undo()
    store(lake, one_snapshot())
    assert lake.snapshots("test") == [only]


def test_writing_again_replaces(lake: FileLake) -> None:
    """The rows of a step run again replace the earlier ones."""
    store(lake, one_snapshot())
    fewer = make_snapshot(topics=[topic("orders", 1)])
    store(lake, fewer)
    assert lake.read("groups", [fewer.snapshot_id]).num_rows == 0


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
    ids_of = FileLake._ids

    def counting(self: FileLake, folder: str, until: str | None = None) -> list[str]:
        listed.append(folder)
        return ids_of(self, folder, until)

    monkeypatch.setattr(FileLake, "_ids", counting)
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

    monkeypatch.setattr(lake_module.pq, "write_table", refuse)
    with pytest.raises(LakeError, match=f"lake .*refused by the system.*{fix}") as caught:
        store(lake, one_snapshot())
    assert isinstance(caught.value.__cause__, OSError)
    assert "\n" not in str(caught.value)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_another_schema_version_is_refused(lake: FileLake) -> None:
    """A manifest of a version this program does not know is not guessed at."""
    (only,) = store(lake, one_snapshot())
    path = Path(lake._manifest_path("snapshot", only))
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 99}))
    with pytest.raises(LakeError, match="schema version 99"):
        lake.read("groups", [only])


@pytest.mark.parametrize("content", [b"", b"[]", b'{"snapshot_id": 1}', b"\xff\xfe"])
def test_a_damaged_manifest_is_named(lake: FileLake, content: bytes) -> None:
    """Whatever stands in a manifest, the answer is one line that names the file."""
    (only,) = store(lake, one_snapshot())
    Path(lake._manifest_path("snapshot", only)).write_bytes(content)
    with pytest.raises(LakeError, match=rf"manifest .*{only}.json is damaged"):
        lake.manifest("snapshot", only)


def test_a_damaged_table_is_named(lake: FileLake) -> None:
    """A truncated Parquet file is a lake error, not a stack of Arrow's."""
    (only,) = store(lake, one_snapshot())
    Path(lake.files("groups", [only])[0]).write_bytes(b"PAR1")
    with pytest.raises(LakeError, match=r"cannot be read.*damaged"):
        lake.read("groups", [only])


def test_tables_must_be_those_of_the_step(lake: FileLake) -> None:
    """A missing table or one of another shape is refused before anything is written."""
    snapshot = one_snapshot()
    with pytest.raises(LakeError, match="writes brokers, commits"):
        lake.write("snapshot", snapshot.snapshot_id, {}, {})
    wrong = {**snapshot.tables, "groups": pa.table({"a": [1]})}
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
    empty = {name: schema.empty_table() for name, schema in STEPS["metrics"].items()}
    lake.write("metrics", only, empty, {})
    assert lake.read("group_metrics", [only]).num_rows == 0


def test_the_lake_around_a_file_is_found(lake: FileLake, tmp_path: Path) -> None:
    """The lake's folder, a file of it and nothing else lead to the lake."""
    (only,) = store(lake, one_snapshot())
    for path in (lake.path, lake.files("groups", [only])[0]):
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
    (path,) = lake.files(dataset, [only])
    pq.write_table(pq.ParquetFile(path).read().drop_columns(columns), path)


def test_a_file_without_the_columns_added_since_is_read(lake: FileLake) -> None:
    """What they tell is unknown there; the snapshot beside it has them."""
    older, newer = store(lake, one_snapshot(), one_snapshot(1))
    before = lake.read("members", [older])
    added = ["assigned_tasks", "task_offsets", "task_end_offsets"]
    without(lake, "members", older, added)
    table = lake.read("members", [older, newer])
    assert table.schema == SNAPSHOT["members"]
    assert table.slice(0, 2).drop_columns(added).equals(before.drop_columns(added))
    assert all(table.slice(0, 2)[name].null_count == 2 for name in added)


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
