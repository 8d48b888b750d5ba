"""The lake on a server that speaks S3: what its adapter's unit tests hold against a stand-in holds there, too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pyarrow import fs

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.model.errors import LakeError, SnapshotNotFound
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Compacted, WrittenPart
from evenkeel.engine.snapshots import CANDIDATES, SNAPSHOT
from tests.helpers.s3_server import s3_server
from tests.helpers.snapshots import (
    EVERY,
    FIRST,
    compacted,
    group,
    make_snapshot,
    snapshot_id,
    store,
    topic,
)

pytestmark = pytest.mark.slow

ONLY = snapshot_id(0)


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a bucket, and the environment that names it."""
    folder = tmp_path_factory.mktemp("s3")
    with s3_server(folder) as named, pytest.MonkeyPatch.context() as patch:
        for name, value in named.items():
            patch.setenv(name, value)
        yield named["BUCKET"]


@pytest.fixture
def lake(bucket: str, request: pytest.FixtureRequest) -> FileLake:
    """An empty lake in that bucket."""
    return FileLake(f"s3://{bucket}/{request.node.name}")


def part(lake: FileLake, run: str, number: int, *groups: str) -> WrittenPart:
    """A part of the candidates of a snapshot."""
    keys = dict(snapshot_id=ONLY, cluster="test", config_version=run)
    rows = [keys | {"group_id": name} for name in groups]
    tables = {"candidates": Table.from_rows(rows, CANDIDATES["candidates"])}
    return lake.write_part("candidates", ONLY, run, number, tables)


def files(lake: FileLake) -> list[str]:
    """The names of all tables in the lake."""
    system, path = fs.FileSystem.from_uri(lake.path)
    found = system.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    return [one.base_name for one in found if one.base_name.endswith(".parquet")]


def test_a_run_replaces_another_whole(lake: FileLake) -> None:
    """Its parts are seen when it is finished, in their order; what it replaces goes, and is not finished any more."""
    second, first = part(lake, "a", 1, "c"), part(lake, "a", 0, "b", "a")
    with pytest.raises(SnapshotNotFound):
        lake.read("candidates", [ONLY])
    lake.finish("candidates", ONLY, "a", [second, first], {})
    assert lake.read("candidates", [ONLY])["group_id"].to_pylist() == ["b", "a", "c"]
    newer = part(lake, "b", 0, "d")
    lake.finish("candidates", ONLY, "b", [newer], {})
    assert lake.read("candidates", [ONLY], groups=["a", "d"])["group_id"].to_pylist() == ["d"]
    assert files(lake) == list(newer.files.values())
    with pytest.raises(LakeError, match="is gone"):
        lake.finish("candidates", ONLY, "a", [first], {})


def test_a_day_is_compacted_and_expired(lake: FileLake) -> None:
    """Every row stays until its snapshot is expired."""
    groups = [group(f"g{i}", members=2, lag={"t": [i]}) for i in range(3)]
    taken = [make_snapshot(topics=[topic("t")], groups=groups, number=n) for n in range(3)]
    assert compacted(lake, FIRST) == Compacted()
    ids = store(lake, *taken)
    assert compacted(lake, datetime(2026, 3, 2, tzinfo=UTC)) == Compacted(files=15, into=5)
    assert sorted(name[:4] for name in files(lake)) == ["day."] * 5
    for one in taken:
        for name in SNAPSHOT:
            assert lake.read(name, [one.snapshot_id]).equals(one.tables[name])
    assert lake.expire(FIRST + EVERY) == 1
    assert lake.snapshots("test", limit=9) == ids[:0:-1]
    assert lake.expire(FIRST + timedelta(days=2)) == 2
    assert files(lake) == []


def test_a_lake_that_was_never_written_is_empty(lake: FileLake) -> None:
    """Nothing has to be made before."""
    assert lake.clusters() == []
    assert lake.snapshots("test") == []
    assert lake.expire(FIRST) == 0


def test_the_id_of_the_installation_is_kept_in_the_lake(lake: FileLake) -> None:
    """None at first, and then the one that was given, whoever opens the lake; snapshots beside it are found."""
    assert lake.identity() is None
    lake.identify("0a1b2c")
    store(lake, make_snapshot(topics=[topic("orders", 1)], groups=[group("app")]))
    assert (FileLake(lake.path).identity(), lake.clusters()) == ("0a1b2c", ["test"])
