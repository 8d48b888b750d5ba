"""
Compaction: the files that the snapshots of a day have of a dataset become one, `day.<token>.parquet`.

A day that is made hourly loses the manifests of all snapshots but the first of each hour, and those of results but for
the last of these, from which a backfill of the next day learns. Then it is compacted again, into
`hours.<token>.parquet`: as long as that is not its only file, it is not done.

Per dataset and day, in this order, so that readers and a crash at any point find every row exactly once:

1. the manifests of the day are read, and the rows of their files written into a new one, row group by row group;
2. each manifest that still says what was read is replaced by one that names the row groups in the new file;
3. files that no manifest of that day names any longer are removed.

What an interrupted run leaves are files that nothing names. They are removed a day later, as are those of steps that
were interrupted (`sweep`): until then they may belong to somebody who is still at it.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from ...model.errors import SnapshotNotFound
from ...model.tables import Schema
from ...ports import Compacted, LakeDay, LakeFile, Manifest
from ...snapshots import STEPS, shaped, split_snapshot_id
from ..arrow import arrow_schema, from_arrow, to_arrow
from .catalog import Catalog, cluster_and_day, datasets_of, files_of, id_in, step_of
from .tables import ROW_GROUP_BYTES, writing

ROW_GROUP = 131_072
"""Rows of a row group in the file of a day: old snapshots are read whole, and the end of the file stays small."""

_FLAT, _NESTED = 16_384, 1_024
"""Rows that are in memory at once; fewer of datasets in which one may be long."""

_WHOLE, _HOURLY = "day.", "hours."

_GIVEN = ("snapshot", "validation")
"""The steps whose results nothing else in the lake says."""

_GRACE = timedelta(days=1)
"""Nobody is at a step for so long."""


@dataclass(frozen=True)
class _Day:
    """A day of a dataset, and where it lies."""

    catalog: Catalog
    dataset: str
    cluster: str
    day: str
    hourly: bool

    @property
    def step(self) -> str:
        return step_of(self.dataset)

    @property
    def schema(self) -> Schema:
        return datasets_of(self.step)[self.dataset]

    @property
    def folder(self) -> str:
        return self.catalog.folder(self.dataset, self.cluster, self.day)

    def manifests(self) -> list[Manifest]:
        return self.catalog.manifests(self.step, self.cluster, self.day)

    def paths(self, manifests: Sequence[Manifest]) -> set[str]:
        """The files that manifests name."""
        return {f"{self.folder}/{name}" for name in self.names(manifests)}

    def names(self, manifests: Sequence[Manifest]) -> set[str]:
        return {file.name for manifest in manifests for file in files_of(manifest, self.dataset)}


def finished(
    catalog: Catalog, before: datetime, whole: datetime | None, waiting: Collection[str]
) -> list[LakeDay]:
    """What there is of days that ended before a moment and is not one file as it should be, oldest first."""
    kept = {cluster_and_day(snapshot_id) for snapshot_id in waiting}
    days = [
        LakeDay(dataset=dataset, cluster=cluster, day=day, hourly=hourly)
        for step in STEPS
        for dataset in datasets_of(step)
        for cluster in catalog.clusters(dataset)
        for day in catalog.days(dataset, cluster)
        if _end(day) <= before
        for hourly in (whole is not None and _end(day) <= whole and (cluster, day) not in kept,)
        # where nothing lies but one file of a day no manifest has to be read
        if not _is_done(catalog.files.names(catalog.folder(dataset, cluster, day)), hourly)
    ]
    return sorted(days, key=lambda one: one.day)


def compact(catalog: Catalog, of: LakeDay, before: datetime) -> Compacted:
    """Compact a day, and remove what nothing has named for a day before a moment."""
    thinned = _thin(catalog, of.cluster, of.day) if of.hourly else 0
    day = _Day(catalog, of.dataset, of.cluster, of.day, of.hourly)
    files, into = _compact(day)
    swept = _sweep(day, before - _GRACE) + (_drop(day) if day.hourly else 0)
    return Compacted(files=files, into=into, swept=swept, thinned=thinned)


def _thin(catalog: Catalog, cluster: str, day: str) -> int:
    """Make a day hourly for readers; how many snapshots it has lost."""
    first: dict[int, str] = {}
    ids = catalog.ids("snapshot", cluster, day)
    for snapshot_id in ids:
        first.setdefault(split_snapshot_id(snapshot_id)[1].hour, snapshot_id)
    kept = [*first.values()]
    for step in STEPS:
        of_step = kept if step in _GIVEN else kept[-1:]
        for snapshot_id in {*catalog.ids(step, cluster, day)} - {*of_step}:
            catalog.files.remove(catalog.manifest_path(step, snapshot_id))
    return len(ids) - len(kept)


def _drop(day: _Day) -> int:
    """Remove the files of the snapshots that a day has lost; how many."""
    kept = {manifest.snapshot_id for manifest in day.manifests()}
    names = day.catalog.files.names(day.folder)
    lost = [name for name in names if (one := id_in(name)) and one not in kept]
    day.catalog.files.forget([f"{day.folder}/{name}" for name in lost])
    return len(lost)


def _end(day: str) -> datetime:
    """When a day was over; foreign folders never are."""
    try:
        first = date.fromisoformat(day)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return datetime(first.year, first.month, first.day, tzinfo=UTC) + timedelta(days=1)


def _compact(day: _Day) -> tuple[int, int]:
    """Compact a day: from how many files into how many; 0 where there was nothing to do."""
    catalog, manifests = day.catalog, day.manifests()
    lying = [file for manifest in manifests for file in files_of(manifest, day.dataset)]
    if all(f.row_groups is not None for f in lying) and _is_done(day.names(manifests), day.hourly):
        return 0, 0  # all rows lie in one file of a day
    begin = _HOURLY if day.hourly else _WHOLE
    path = f"{day.folder}/{begin}{secrets.token_hex(4)}.parquet"
    try:
        files = _write_day(day, manifests, path)
        # the originals must not go while what replaces them is only in the machine's memory
        catalog.files.settle([path])
        for manifest in manifests:
            _point(catalog, manifest, {day.dataset: files[manifest.snapshot_id]})
        catalog.files.settle([catalog.manifest_path(day.step, m.snapshot_id) for m in manifests])
    finally:
        former = day.paths(manifests) | {path}
        catalog.files.forget(sorted(former - day.paths(day.manifests())))
    return len(day.names(manifests)), int(any(files.values()))


def _is_done(names: Collection[str], hourly: bool) -> bool:
    """Whether these files are one of a day that is made hourly, or need not be."""
    begin = _HOURLY if hourly else (_WHOLE, _HOURLY)
    return len(names) <= 1 and all(name.startswith(begin) for name in names)


def _write_day(
    day: _Day, manifests: Sequence[Manifest], path: str
) -> dict[str, tuple[LakeFile, ...]]:
    """Write the file of a day; by snapshot, where its rows are in it."""
    name = path.rpartition("/")[2]
    files: dict[str, tuple[LakeFile, ...]] = {}
    sink: _Sink | None = None
    with ExitStack() as stack:
        for manifest in manifests:
            own = (0, 0)
            for table in _rows(day.catalog, manifest, day.dataset):
                if sink is None:  # without a row there is no file
                    stream = stack.enter_context(day.catalog.files.writing(path))
                    sink = stack.enter_context(_Sink(stream, arrow_schema(day.schema)))
                first, end = sink.add(table)
                own = (own[0] if own[1] else first, end)
            files[manifest.snapshot_id] = (LakeFile(name=name, row_groups=own),) if own[1] else ()
    return files


def _rows(catalog: Catalog, manifest: Manifest, dataset: str) -> Iterator[pa.Table]:
    """The rows of a snapshot, a few at a time."""
    schema = datasets_of(manifest.step)[dataset]
    at_once = _NESTED if any(kind.of and kind.of.fields for kind in schema.values()) else _FLAT
    for lake_file in files_of(manifest, dataset):
        path = catalog.place(dataset, manifest.snapshot_id, lake_file.name)
        with catalog.files.system.open_input_file(path) as file:
            source = pq.ParquetFile(file, pre_buffer=catalog.files.is_store)
            for row_group in range(*(lake_file.row_groups or (0, source.num_row_groups))):
                for batch in source.iter_batches(at_once, [row_group]):
                    table = shaped(from_arrow(pa.Table.from_batches([batch]), schema), schema)
                    if lake_file.row_groups is not None:
                        table = table.filter(table["snapshot_id"].equal(manifest.snapshot_id))
                    if len(table):
                        yield to_arrow(table)


class _Sink:
    """Writes tables as row groups of even size, and keeps no more than one of them in memory."""

    def __init__(self, stream: pa.NativeFile, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(stream, schema, **writing(schema))
        self._tables: list[pa.Table] = []
        self._rows = self._bytes = self._row_group = 0

    def add(self, table: pa.Table) -> tuple[int, int]:
        """Take a few rows; the row group they go into, and the one after it."""
        self._tables.append(table)
        self._rows += len(table)
        self._bytes += table.nbytes
        place = self._row_group
        if self._rows >= ROW_GROUP or self._bytes >= ROW_GROUP_BYTES:
            self._flush()
        return place, place + 1

    def _flush(self) -> None:
        if self._tables:
            rows = pa.concat_tables(self._tables)
            self._writer.write_table(rows, len(rows))
            self._row_group += 1
        self._tables, self._rows, self._bytes = [], 0, 0

    def __enter__(self) -> _Sink:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._flush()
                self._writer.close()
        finally:
            with suppress(Exception):  # of half a file nothing is needed, only to let go of it
                self._writer.close()


def _point(catalog: Catalog, manifest: Manifest, new: dict[str, tuple[LakeFile, ...]]) -> None:
    """Let a manifest name the file of a day, unless its step has run again, or it was expired, meanwhile."""
    with suppress(SnapshotNotFound):
        now = catalog.manifest(manifest.step, manifest.snapshot_id)
        if (now.written_at, now.files) == (manifest.written_at, manifest.files):
            files = {name: files_of(manifest, name) for name in datasets_of(manifest.step)}
            catalog.put(replace(manifest, files=files | new))


def _sweep(day: _Day, before: datetime) -> int:
    """Remove what an interrupted run left before a moment and nothing names; how many files."""
    folder, files = day.folder, day.catalog.files
    ages = files.ages(folder)
    old = {f"{folder}/{n}" for n, age in ages.items() if _is_ours(n) and age and age < before}
    if not old or _is_done(ages, day.hourly):
        return 0
    # what is named is asked after what is there: a file is never named again once it is not
    old -= day.paths(day.manifests())
    files.forget(sorted(old))
    return len(old)


def _is_ours(name: str) -> bool:
    """Whether a file is one that a step or a compaction writes, or has begun to."""
    table = name.endswith(".parquet") and (
        name.startswith((_WHOLE, _HOURLY)) or id_in(name) is not None
    )
    return table or (name.startswith("_") and name.endswith(".tmp"))
