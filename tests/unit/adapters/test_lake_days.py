"""Compaction: a day in one file per dataset, with every row there exactly once whatever happens on the way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenkeel.engine.adapters.arrow import to_arrow
from evenkeel.engine.adapters.lake import FileLake, days
from evenkeel.engine.adapters.lake.files import Files
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import LakeError, SnapshotNotFound
from evenkeel.engine.model.tables import Table, Texts, empty, repeated
from evenkeel.engine.pipeline import maintain
from evenkeel.engine.ports import Compacted
from evenkeel.engine.snapshots import CANDIDATES, METRICS, SNAPSHOT, with_nulls
from tests.helpers.object_store import lake_in_store
from tests.helpers.snapshots import (
    EVERY,
    FIRST,
    compacted,
    group,
    make_snapshot,
    paths_of,
    snapshot_id,
    store,
    topic,
)

pytestmark = pytest.mark.slow

TOMORROW = datetime(2026, 3, 2, 3, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
NEXT_WEEK = TOMORROW + timedelta(days=7)


@pytest.fixture
def lake(tmp_path: Path) -> FileLake:
    """A lake in a folder."""
    return FileLake(tmp_path / "l")


@pytest.fixture(params=["folder", "store"])
def any_lake(request: pytest.FixtureRequest, tmp_path: Path) -> FileLake:
    """A lake in a folder, and one in something like S3, where files are written and removed otherwise."""
    place = tmp_path / "l"
    return FileLake(place) if request.param == "folder" else lake_in_store(place)[0]


def snapshot(number: int, cluster: str = "test") -> Any:
    """A snapshot whose rows tell which it is."""
    groups = [group(f"g{i}", members=2, lag={"orders": [number, i]}) for i in range(3)]
    return make_snapshot(topics=[topic("orders", 2)], groups=groups, number=number, cluster=cluster)


def measure(lake: FileLake, number: int, groups: int = 4, text: str = "") -> None:
    """Metrics of a snapshot in two parts."""
    keys = dict(snapshot_id=snapshot_id(number), cluster="test", config_version=text)
    run = f"r{number}{text}"
    parts = []
    for part in range(2):
        of = [keys | {"group_id": f"g{i}"} for i in range(part, groups, 2)]
        rows: Mapping[str, list[Any]] = {
            "group_metrics": of,
            "member_metrics": [],
            "partition_metrics": [
                row | {"topic": "t", "partition": p, "lag": number} for row in of for p in range(3)
            ],
        }
        tables = {
            name: Table.from_rows(rows.get(name, []), schema) for name, schema in METRICS.items()
        }
        parts.append(lake.write_part("metrics", snapshot_id(number), run, part, tables))
    lake.finish("metrics", snapshot_id(number), run, parts, {"number": number})


def filled(lake: FileLake, count: int = 3) -> FileLake:
    """With snapshots of one day, two of them measured, and one of the next day."""
    store(lake, *(snapshot(n) for n in range(count)), snapshot(timedelta(days=1) // EVERY))
    for number in range(2):
        measure(lake, number)
    return lake


Content = dict[tuple[str, str], list[Any]]


def content(lake: FileLake) -> Content:
    """All rows of all snapshots, by dataset and snapshot."""
    found: Content = {}
    for only in lake.snapshots("test", limit=99):
        for dataset in (*SNAPSHOT, *METRICS):
            try:
                found[dataset, only] = lake.read(dataset, [only]).to_pylist()
            except SnapshotNotFound:
                continue
    return found


def tables_of(path: Path) -> list[str]:
    """Dataset and name of all Parquet files of the first day."""
    files = path.rglob("*/day=2026-03-01/*.parquet")
    return sorted(f"{file.parents[2].name}/{file.name}" for file in files)


def test_a_finished_day_becomes_one_file_per_dataset(any_lake: FileLake, tmp_path: Path) -> None:
    """Rows, their order and what the manifests say stay; the day that goes on is left alone; once is enough."""
    before, manifest = content(filled(any_lake)), any_lake.manifest("metrics", snapshot_id(0))
    assert len(before) == 4 * 5 + 2 * 4
    did = compacted(any_lake, TOMORROW)
    # nobody has a member or rebalanced, so they have no file
    assert did == Compacted(files=3 * 5 + 4 * 4, into=7, swept=0)
    assert content(any_lake) == before
    assert any_lake.manifest("metrics", snapshot_id(0)) == manifest
    names = tables_of(tmp_path)
    assert [name.partition("/")[2][:4] for name in names] == ["day."] * 7
    assert len({name.partition("/")[0] for name in names}) == 7
    assert len(list(tmp_path.rglob("*/day=2026-03-02/*.parquet"))) == 5
    assert compacted(any_lake, TOMORROW) == Compacted()
    assert tables_of(tmp_path) == names
    assert content(FileLake(any_lake.path)) == before


def test_nothing_is_compacted_before_its_day_is_over(lake: FileLake) -> None:
    """A day ends at midnight UTC."""
    filled(lake)
    assert compacted(lake, MIDNIGHT - timedelta(seconds=1)) == Compacted()
    assert compacted(lake, MIDNIGHT).files > 0


def test_some_groups_are_read_out_of_the_file_of_a_day(lake: FileLake) -> None:
    """Also where a row group holds several snapshots."""
    filled(lake)
    asked: Mapping[str, Any] = {"groups": ["g1", "g3"], "columns": ["group_id", "lag", "partition"]}
    ids = [snapshot_id(1), snapshot_id(0)]
    before = lake.read("partition_metrics", ids, **asked)
    assert len(before) == 12
    compacted(lake, TOMORROW)
    assert lake.read("partition_metrics", ids, **asked).equals(before)
    assert (
        lake.read("groups", ids, columns=["group_id"])["group_id"].to_pylist()
        == [
            "g0",
            "g1",
            "g2",
        ]
        * 2
    )


def test_one_snapshot_costs_its_own_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row groups are of even size; those of other snapshots are not read."""
    monkeypatch.setattr(days, "ROW_GROUP", 4)
    monkeypatch.setattr(days, "_FLAT", 2)
    lake = filled(FileLake(tmp_path / "lake"), count=6)
    before = content(lake)
    compacted(lake, TOMORROW)
    (path,) = {path for n in range(6) for path in paths_of(lake, "commits", snapshot_id(n))}
    sizes = pq.read_metadata(path)
    assert [sizes.row_group(i).num_rows for i in range(sizes.num_row_groups)] == [4] * 9
    asked: list[list[int]] = []
    read = pq.ParquetFile.read_row_groups

    def counting(self: Any, row_groups: list[int], *rest: Any, **more: Any) -> pa.Table:
        asked.append(row_groups)
        return read(self, row_groups, *rest, **more)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", counting)
    assert len(lake.read("commits", [snapshot_id(2)])) == 6
    assert asked == [[3, 4], [3, 4]]
    assert content(lake) == before


def test_no_more_than_a_row_group_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole day never is: what was written is let go before more is read."""
    lake = FileLake(tmp_path / "lake")
    only, rows = snapshot_id(0), 60_000
    for number in range(4):
        keys = dict(snapshot_id=snapshot_id(number), cluster="test")
        tables = {name: empty(schema) for name, schema in SNAPSHOT.items()}
        names = {
            name: Texts(np.arange(rows), [f"{value}{i}" for i in range(rows)])
            for name, value in (("group_id", "g"), ("topic", "t"))
        } | {name: repeated(value, rows) for name, value in keys.items()}
        tables["commits"] = with_nulls(Table(names), SNAPSHOT["commits"])
        lake.write("snapshot", snapshot_id(number), tables, {})
    held: list[int] = []
    one = to_arrow(lake.read("commits", [only])).nbytes
    add = days._Sink.add
    low = pa.total_allocated_bytes()

    def watched(self: days._Sink, table: pa.Table) -> tuple[int, int]:
        held.append(pa.total_allocated_bytes() - low)
        return add(self, table)

    monkeypatch.setattr(days._Sink, "add", watched)
    monkeypatch.setattr(days, "ROW_GROUP", 6_000)
    assert compacted(lake, TOMORROW).files > 0
    assert len(held) > 30
    assert max(held) < one


EACH = pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.nightly)])
"""Whether each change is the last one once, or one in four."""


class Stop(BaseException):
    """The machine stops here."""


@contextmanager
def stopping(monkeypatch: pytest.MonkeyPatch, at: int) -> Iterator[list[str]]:
    """Stop at the *at*-th change of a file, before or after it is done; what was changed until then."""
    changes: list[str] = []

    def guarded(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Files, *arguments: Any) -> Any:
            changes.append(name)
            if len(changes) == at:
                raise Stop
            if len(changes) > at:
                raise Stop  # a machine that has stopped cleans nothing up
            return change(self, *arguments)

        return run

    with monkeypatch.context() as patch:
        for name in ("put", "writing", "remove", "settle"):
            patch.setattr(Files, name, guarded(name, getattr(Files, name)))
        yield changes


@EACH
def test_whenever_it_stops_nothing_is_lost_and_the_next_run_ends_it(
    any_lake: FileLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """A change is the last one: readers find all rows, and one more run leaves one file per dataset."""
    before = content(filled(any_lake, count=2))
    shutil.copytree(tmp_path / "l", tmp_path / "kept")
    for turn, at in enumerate(range(1, 99, step), 1):
        with stopping(monkeypatch, at) as changes:
            try:
                compacted(any_lake, TOMORROW)
                break
            except Stop:
                pass
        assert content(any_lake) == before, f"after {changes}"
        if turn % 3 == 0:  # sometimes several stops in a row, sometimes one that is mended at once
            continue
        compacted(any_lake, NEXT_WEEK.replace(year=2099))
        assert content(any_lake) == before, f"mended after {changes}"
        assert len(tables_of(tmp_path / "l")) == 7, f"mended after {changes}"
        shutil.rmtree(tmp_path / "l")
        shutil.copytree(tmp_path / "kept", tmp_path / "l")
    assert at > 20
    assert content(any_lake) == before


def of_hours(lake: FileLake) -> tuple[Content, Content]:
    """What a lake of three snapshots of a day holds, two of one hour, and what is left of it by the hour."""
    store(lake, *(snapshot(n) for n in (0, 1, 12, timedelta(days=1) // EVERY)))
    for number in (1, 12):
        measure(lake, number)
    before = content(lake)
    first, last, next_day = (snapshot_id(n) for n in (0, 12, timedelta(days=1) // EVERY))
    kept = {*((name, one) for one in (first, last, next_day) for name in SNAPSHOT)}
    kept |= {(name, last) for name in METRICS}
    return before, {key: rows for key, rows in before.items() if key in kept}


def test_a_day_made_hourly_keeps_the_first_snapshot_of_each_hour(
    lake: FileLake, tmp_path: Path
) -> None:
    """Its rows are as before; so are results of the last, and all others are gone; once is enough."""
    _, after = of_hours(lake)
    compacted(lake, TOMORROW)
    did = compacted(lake, TOMORROW, whole=MIDNIGHT)
    assert did.thinned == 1
    assert content(lake) == content(FileLake(lake.path)) == after
    with pytest.raises(SnapshotNotFound, match="no finished step 'snapshot'"):
        lake.read("groups", [snapshot_id(1)])
    compacted(lake, NEXT_WEEK.replace(year=2099), whole=MIDNIGHT)
    assert [name.partition("/")[2][:6] for name in tables_of(tmp_path)] == ["hours."] * 7
    assert compacted(lake, TOMORROW, whole=MIDNIGHT) == compacted(lake, TOMORROW) == Compacted()


def test_a_day_with_a_snapshot_that_waits_stays_whole(lake: FileLake) -> None:
    """Until it waits no more; nor is a day made hourly before it is over for so long."""
    before, after = of_hours(lake)
    compacted(lake, TOMORROW, whole=MIDNIGHT, waiting=[snapshot_id(1)])
    assert content(lake) == before
    compacted(lake, TOMORROW, whole=MIDNIGHT - timedelta(seconds=1))
    assert content(lake) == before
    compacted(lake, TOMORROW, whole=MIDNIGHT)
    assert content(lake) == after


@EACH
@pytest.mark.parametrize(
    ("any_lake", "is_one_file"), [("folder", True), ("store", False)], indirect=["any_lake"]
)
def test_whenever_it_stops_a_day_is_made_hourly_in_the_end(
    any_lake: FileLake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_one_file: bool,
    step: int,
) -> None:
    """Readers find what is kept at every moment, and nothing that never was; one more run ends it."""
    before, after = of_hours(any_lake)
    if is_one_file:
        compacted(any_lake, TOMORROW)
    shutil.copytree(tmp_path / "l", tmp_path / "kept")
    for at in range(1, 199, step):
        with stopping(monkeypatch, at):
            try:
                compacted(any_lake, TOMORROW, whole=MIDNIGHT)
                break
            except Stop:
                pass
        found = content(any_lake)
        assert {**before, **found} == before, at
        assert {key: found.get(key) for key in after} == after, at
        compacted(any_lake, NEXT_WEEK.replace(year=2099), whole=MIDNIGHT)
        assert content(any_lake) == after, at
        assert len(tables_of(tmp_path / "l")) == 7, at
        shutil.rmtree(tmp_path / "l")
        shutil.copytree(tmp_path / "kept", tmp_path / "l")
    assert at > 40
    assert content(any_lake) == after


def test_a_half_written_file_of_a_day_is_swept(
    any_lake: FileLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a day, when nobody can be at it any more; and so is what a step left that was interrupted."""
    filled(any_lake)
    write, written = pq.ParquetWriter.write_table, []

    def half(self: Any, *arguments: Any) -> None:
        written.append(arguments)
        write(self, *arguments)
        if len(written) == 4:
            raise Stop

    monkeypatch.setattr(Files, "forget", lambda self, paths: None)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", half)
    before = content(any_lake)
    with pytest.raises(Stop):
        compacted(any_lake, TOMORROW)
    monkeypatch.undo()
    keys = dict(snapshot_id=snapshot_id(0), cluster="test")
    table = Table.from_rows([keys], CANDIDATES["candidates"])
    any_lake.write_part("candidates", snapshot_id(0), "gone", 0, {"candidates": table})
    assert compacted(any_lake, TOMORROW).swept == 0
    assert len([path for path in tmp_path.rglob("*/day=2026-03-01/*") if path.is_file()]) > 8
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        os.utime(path, (0, TOMORROW.timestamp() - 60))
    assert compacted(any_lake, TOMORROW).swept == 0
    assert compacted(any_lake, TOMORROW + timedelta(days=1)).swept >= 2
    assert len(tables_of(tmp_path)) == 7
    assert content(any_lake) == before
    assert not [path for path in tmp_path.rglob("*.tmp")]


def test_a_step_that_runs_again_meanwhile_keeps_its_new_rows(
    any_lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest of a snapshot that is not what was read stays as it is; the next run takes its rows in."""
    filled(any_lake)
    settle = Files.settle
    times: list[int] = []

    def late(self: Files, paths: Sequence[str]) -> None:
        times.append(1)
        if len(times) == 1:
            measure(any_lake, 1, groups=2, text="b")
            store(any_lake, snapshot(2))
        settle(self, paths)

    monkeypatch.setattr(Files, "settle", late)
    compacted(any_lake, TOMORROW)
    monkeypatch.undo()
    again = any_lake.read("group_metrics", [snapshot_id(1)])
    assert again["config_version"].to_pylist() == ["b", "b"]
    before = content(any_lake)
    assert compacted(any_lake, TOMORROW).files > 0
    assert content(any_lake) == before


def test_a_snapshot_measured_again_after_its_day_was_compacted(
    lake: FileLake, tmp_path: Path
) -> None:
    """Its new rows are read at once, the others' stay where they are, and the next run makes one file of them again."""
    filled(lake)
    compacted(lake, TOMORROW)
    measure(lake, 0, groups=1, text="new")
    before = content(lake)
    assert [len(before["group_metrics", snapshot_id(n)]) for n in (0, 1)] == [1, 4]
    compacted(lake, TOMORROW)
    assert content(lake) == before
    assert len(tables_of(tmp_path)) == 7


def test_an_expired_snapshot_in_the_file_of_a_day(lake: FileLake, tmp_path: Path) -> None:
    """It is gone for readers at once, its rows go with the whole day."""
    before = content(filled(lake))
    compacted(lake, TOMORROW)
    assert lake.expire(FIRST + EVERY) == 1
    with pytest.raises(SnapshotNotFound):
        lake.read("groups", [snapshot_id(0)])
    assert content(lake) == {key: rows for key, rows in before.items() if key[1] != snapshot_id(0)}
    assert len(tables_of(tmp_path)) == 7
    assert compacted(lake, TOMORROW) == Compacted()
    assert lake.expire(TOMORROW) == 2
    assert tables_of(tmp_path) == []


def test_a_damaged_day_is_named_and_holds_no_other_back(lake: FileLake, tmp_path: Path) -> None:
    """All that can be compacted is, then it is said which is not."""
    per_day = timedelta(days=1) // EVERY
    store(lake, snapshot(0), snapshot(1), snapshot(per_day))
    measure(lake, 0)
    before = lake.read("commits", [snapshot_id(0)])
    paths_of(lake, "members", snapshot_id(1))[0].write_bytes(b"PAR1")
    with pytest.raises(
        LakeError, match=r"compacted completely: members of test, 2026-03-01: .*No data is lost"
    ):
        maintain(lake, None, Settings(keep_whole_days=90), NEXT_WEEK)
    for dataset, only in (("groups", snapshot_id(per_day)), ("group_metrics", snapshot_id(0))):
        assert [path.name[:4] for path in paths_of(lake, dataset, only)] == ["day."]
    assert lake.read("commits", [snapshot_id(0)]).equals(before)
    assert len(lake.read("members", [snapshot_id(0)])) == 6
    assert not list(tmp_path.rglob("*.tmp"))


def test_days_of_all_clusters_are_compacted(lake: FileLake) -> None:
    """Each on its own."""
    store(lake, snapshot(0, "a"), snapshot(0, "b"), snapshot(1, "b"))
    assert compacted(lake, TOMORROW) == Compacted(files=15, into=10)


def test_an_empty_lake_has_nothing_to_compact(lake: FileLake) -> None:
    """Also one that was never written."""
    assert compacted(lake, TOMORROW) == Compacted()
