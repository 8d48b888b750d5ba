"""
Compaction: the files that the snapshots of a day have of a dataset become one, `day.<token>.parquet`.

Per step and day, in this order, so that readers and a crash at any point find every row exactly once:

1. the manifests of the day are read, and the rows of their files written into new files, row group by row group;
2. each manifest that still says what was read is replaced by one that names the row groups in the new file;
3. files that no manifest of that day names any longer are removed.

What an interrupted run leaves are files that nothing names. They are removed a day later, as are those of steps that
were interrupted (`sweep`): until then they may belong to somebody who is still at it.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenkeel.engine.adapters.lake.catalog import Catalog, datasets_of, files_of, id_in
from evenkeel.engine.adapters.lake.tables import ROW_GROUP_BYTES, writing
from evenkeel.engine.datasets import STEPS, shaped
from evenkeel.engine.errors import LakeError, SnapshotNotFound
from evenkeel.engine.ports import Compacted, LakeFile, Manifest

ROW_GROUP = 131_072
"""Rows of a row group in the file of a day: old snapshots are read whole, and the end of the file stays small."""

_FLAT, _NESTED = 16_384, 1_024
"""Rows that are in memory at once; fewer of datasets in which one may be long."""

_BEGIN = "day."
_GRACE = timedelta(days=1)
"""Nobody is at a step for so long."""


@dataclass(frozen=True)
class _Day:
    """What a step left of a cluster's day."""

    step: str
    cluster: str
    day: str

    @property
    def name(self) -> str:
        return f"{self.step} of {self.cluster}, {self.day}"


def compact(catalog: Catalog, before: datetime) -> Compacted:
    """
    Compact the days that ended before a moment, oldest first, and remove what nothing has named for a day before it.

    Raises:
        LakeError: Some days could not be compacted; the others are.
    """
    problems: list[str] = []
    done: set[tuple[str, str]] = set()
    files = into = swept = 0
    for day in _days(catalog, before):
        try:
            with catalog.files.explained("compacted"):
                if found := _compact(catalog, day):
                    done.add((day.cluster, day.day))
                    files, into = files + found[0], into + found[1]
                swept += _sweep(catalog, day, before - _GRACE)
        except LakeError as problem:
            problems.append(f"{day.name}: {problem.message}")
    if problems:
        more = f" {len(problems) - 1} more fail likewise." if len(problems) > 1 else ""
        raise LakeError(
            f"not every day of lake {catalog.files.path} could be compacted: {problems[0]}{more}",
            fix="Nothing is lost, and the other days are done. Expire or restore what is damaged.",
        )
    return Compacted(days=len(done), files=files, into=into, swept=swept)


def _days(catalog: Catalog, before: datetime) -> list[_Day]:
    """What there is of days that ended before a moment, oldest first."""
    limit = before.astimezone(UTC)
    found = {
        _Day(step, cluster, day)
        for step in STEPS
        for dataset in datasets_of(step)
        for cluster in catalog.clusters(dataset)
        for day in catalog.days(dataset, cluster)
        if _end(day) <= limit
    }
    return sorted(found, key=lambda one: (one.day, one.cluster, one.step))


def _end(day: str) -> datetime:
    """When a day was over; foreign folders never are."""
    try:
        first = date.fromisoformat(day)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return datetime(first.year, first.month, first.day, tzinfo=UTC) + timedelta(days=1)


def _compact(catalog: Catalog, day: _Day) -> tuple[int, int] | None:
    """Compact a step's day: from how many files into how many; None where that was done before."""
    if all(_looks_compacted(catalog, day, dataset) for dataset in datasets_of(day.step)):
        return None
    manifests = catalog.manifests(day.step, day.cluster, day.day)
    loose = [name for name in datasets_of(day.step) if not _compacted(manifests, name)]
    if not loose:
        return None
    written: dict[str, str] = {}
    files: dict[str, dict[str, tuple[LakeFile, ...]]] = {}
    try:
        for dataset in loose:
            files[dataset] = _write_day(catalog, day, dataset, manifests, written)
        # the originals must not go while what replaces them is only in the machine's memory
        catalog.files.settle(list(written.values()))
        for manifest in manifests:
            new = {dataset: own[manifest.snapshot_id] for dataset, own in files.items()}
            _point(catalog, manifest, new)
        catalog.files.settle([catalog.manifest_path(day.step, m.snapshot_id) for m in manifests])
    finally:
        former = _paths(catalog, manifests) | set(written.values())
        named = _paths(catalog, catalog.manifests(day.step, day.cluster, day.day))
        catalog.files.forget(sorted(former - named))
    count = sum(len(_names(manifests, dataset)) for dataset in loose)
    return count, len(written)


def _looks_compacted(catalog: Catalog, day: _Day, dataset: str) -> bool:
    """Whether nothing lies there but one file of a day: then no manifest has to be read."""
    return _is_one_file_of_a_day(catalog.files.names(catalog.folder(dataset, day.cluster, day.day)))


def _is_one_file_of_a_day(names: Collection[str]) -> bool:
    return len(names) <= 1 and all(name.startswith(_BEGIN) for name in names)


def _names(manifests: Sequence[Manifest], dataset: str) -> set[str]:
    return {file.name for manifest in manifests for file in files_of(manifest, dataset)}


def _compacted(manifests: Sequence[Manifest], dataset: str) -> bool:
    """Whether all rows of a day lie in one file of a day."""
    whole = all(f.row_groups is not None for m in manifests for f in files_of(m, dataset))
    return whole and len(_names(manifests, dataset)) <= 1


def _write_day(
    catalog: Catalog,
    day: _Day,
    dataset: str,
    manifests: Sequence[Manifest],
    written: dict[str, str],
) -> dict[str, tuple[LakeFile, ...]]:
    """
    Write the file of a day.

    Args:
        written: Gets the path of the file, before it is there.

    Returns:
        By snapshot, where its rows are now.
    """
    name = f"{_BEGIN}{secrets.token_hex(4)}.parquet"
    if not any(manifest.rows.get(dataset, 0) for manifest in manifests):
        return {manifest.snapshot_id: () for manifest in manifests}
    written[dataset] = f"{catalog.folder(dataset, day.cluster, day.day)}/{name}"
    found: dict[str, tuple[LakeFile, ...]] = {}
    schema = datasets_of(day.step)[dataset]
    with catalog.files.writing(written[dataset]) as stream, _Sink(stream, schema) as sink:
        for manifest in manifests:
            rows = sink.rows
            first = sink.row_group
            for table in _rows(catalog, manifest, dataset):
                sink.add(table)
            some = LakeFile(name=name, row_groups=(first, sink.row_group + sink.begun))
            found[manifest.snapshot_id] = (some,) if sink.rows > rows else ()
    return found


def _rows(catalog: Catalog, manifest: Manifest, dataset: str) -> Iterator[pa.Table]:
    """The rows of a snapshot, a few at a time."""
    schema = datasets_of(manifest.step)[dataset]
    for one in files_of(manifest, dataset):
        path = catalog.place(dataset, manifest.snapshot_id, one.name)
        with catalog.files.system.open_input_file(path) as file:
            source = pq.ParquetFile(file, pre_buffer=catalog.files.is_store)
            for row_group in range(*(one.row_groups or (0, source.num_row_groups))):
                for batch in source.iter_batches(_at_once(schema), [row_group]):
                    table = shaped(pa.Table.from_batches([batch]), schema)
                    if one.row_groups is not None:
                        table = table.filter(pc.field("snapshot_id") == manifest.snapshot_id)
                    yield table


def _at_once(schema: pa.Schema) -> int:
    lists = (field.type.value_type for field in schema if pa.types.is_list(field.type))
    return _NESTED if any(pa.types.is_struct(each) for each in lists) else _FLAT


class _Sink:
    """
    Writes tables as row groups of even size, and keeps no more than one of them in memory.

    Attributes:
        rows: How many it was given.
        row_group: The number of the row group that the next row goes into.
        begun: Whether that one has rows already.
    """

    def __init__(self, stream: pa.NativeFile, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(stream, schema, **writing(schema))
        self._tables: list[pa.Table] = []
        self._bytes = 0
        self.rows = self.row_group = 0

    @property
    def begun(self) -> bool:
        return bool(self._tables)

    def add(self, table: pa.Table) -> None:
        """Take a few rows."""
        if not len(table):
            return
        self._tables.append(table)
        self.rows += len(table)
        self._bytes += table.nbytes
        if sum(map(len, self._tables)) >= ROW_GROUP or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._tables:
            rows = pa.concat_tables(self._tables)
            self._writer.write_table(rows, len(rows))
            self.row_group += 1
        self._tables, self._bytes = [], 0

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


def _paths(catalog: Catalog, manifests: Sequence[Manifest]) -> set[str]:
    """All files that manifests name."""
    return {
        catalog.place(dataset, manifest.snapshot_id, file.name)
        for manifest in manifests
        for dataset in datasets_of(manifest.step)
        for file in files_of(manifest, dataset)
    }


def _sweep(catalog: Catalog, day: _Day, before: datetime) -> int:
    """Remove what an interrupted run left before a moment and nothing names; how many files."""
    old = {
        f"{folder}/{name}"
        for folder in (catalog.folder(name, day.cluster, day.day) for name in datasets_of(day.step))
        if not _is_one_file_of_a_day(ages := catalog.files.ages(folder))
        for name, age in ages.items()
        if _is_ours(name) and age is not None and age < before
    }
    if old:
        # what is named is asked after what is there: a file is never named again once it is not
        old -= _paths(catalog, catalog.manifests(day.step, day.cluster, day.day))
    catalog.files.forget(sorted(old))
    return len(old)


def _is_ours(name: str) -> bool:
    """Whether a file is one that a step or a compaction writes, or has begun to."""
    table = name.endswith(".parquet") and (name.startswith(_BEGIN) or id_in(name) is not None)
    return table or (name.startswith("_") and name.endswith(".tmp"))
