"""
Recordings: a series of snapshots as one small file, readable without any service.

The file is a zip of `recording.json` (format, version, manifests) and one Parquet file per dataset
that holds the rows of all snapshots. Only what was read from Kafka is kept: everything else is a
function of it. The same snapshots give the same bytes, so a recording can be kept under version
control.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...model.cluster_snapshot import ClusterSnapshot
from ...model.errors import InputError, LakeError, SnapshotNotFound
from ...model.files import replacing
from ...model.formats import size
from ...model.tables import Lists, Series, Table, Texts, concat, empty, repeated
from ...ports import Compacted, Lake, LakeDay, Manifest, WrittenPart
from ...snapshots import (
    SCHEMA_VERSION,
    SNAPSHOT,
    STEPS,
    new_manifest,
    picked,
    shaped,
    snapshot_of,
    split_snapshot_id,
)
from ...snapshots.damage import damage_of
from .parquet import contents_of, read_parquet, write_parquet

FORMAT = "evenkeel-recording"
VERSION = 1
_CONTENTS = "recording.json"
_DAMAGED = "Record it again with `evenkeel snapshot record`."
_PART, _WHOLE = 64_000_000, 256_000_000
"""Bytes that a part of a recording has at most, and all of them together, once the zip is unpacked."""
_RATIO, _SMALL = 200, 1_000_000
"""A part that is larger than *small* has at most so many times the bytes that it takes in the zip."""
_ROWS, _COLUMNS, _VALUES = 5_000_000, 200, 40_000_000
"""What a table has at most, by its Parquet metadata; values are those in rows and in lists."""
_IN_MEMORY = 1_000_000_000
"""Bytes that a table takes at most; Parquet writes a text that is there a million times once."""
_GROWTH = 1000
"""A table takes at most so many times the bytes of its part, or of `_PART` where that is more to begin with."""


def write_recording(path: str | Path, lake: Lake, snapshot_ids: Sequence[str]) -> int:
    """
    Write snapshots of a lake into one file, replacing it; the file's size in bytes.

    Raises:
        SnapshotNotFound: A snapshot is not in the lake.
        InputError: No snapshot was named, or the file cannot be written.
    """
    if not snapshot_ids:
        raise InputError("there is nothing to record.", fix="Take a snapshot first.")
    ordered = sorted(dict.fromkeys(snapshot_ids), key=split_snapshot_id)
    # where a lake keeps its files is no part of a recording
    whole = [replace(lake.manifest("snapshot", i), files=None) for i in ordered]
    manifests = [manifest.to_json() for manifest in whole]
    contents = {"format": FORMAT, "version": VERSION, "manifests": manifests}
    parts = {_CONTENTS: json.dumps(contents, indent=1, ensure_ascii=False).encode()}
    for dataset in SNAPSHOT:
        parts[f"{dataset}.parquet"] = write_parquet(lake.read(dataset, ordered))
    return _write_zip(Path(path), parts)


def _write_zip(path: Path, parts: Mapping[str, bytes]) -> int:
    try:
        with replacing(path) as partial, zipfile.ZipFile(partial, "w") as archive:
            for name, content in parts.items():
                entry = zipfile.ZipInfo(name)  # without a moment of its own: equal bytes
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
        return path.stat().st_size
    except OSError as problem:
        raise InputError(
            f"recording {path} cannot be written: {problem.strerror}.",
            fix="Name a file in a folder that exists and can be written.",
        ) from problem


def open_recording(path: str | Path) -> Recording:
    """
    Read a recording; the file is not needed afterwards.

    Raises:
        InputError: There is no such file.
        LakeError: It is damaged, too large, foreign, or of another version.
    """
    try:
        with Path(path).open("rb") as file:
            # so many bytes are set aside at once; a pipe has no size
            whole = os.fstat(file.fileno()).st_size or _WHOLE
            content = file.read(min(whole, _WHOLE) + 1)
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(
            f"recording {path} cannot be read: {reason}.", fix="Name an existing file."
        ) from problem
    try:
        if len(content) > _WHOLE:
            raise _Refused(f"it has more than {size(_WHOLE)}")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_sizes(archive)
            contents = json.loads(archive.read(_CONTENTS))
            _check_version(path, contents)
            tables = {name: _table(archive, name) for name in SNAPSHOT}
            manifests = [Manifest.from_json(one) for one in contents["manifests"]]
            damage = damage_of(manifests, tables)
    except _Refused as problem:
        raise LakeError(f"recording {path} is not read: {problem}.", fix=_DAMAGED) from problem
    except (
        OSError,
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        MemoryError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        InputError,
    ) as problem:
        raise LakeError(f"{path} is not a recording, or it is damaged.", fix=_DAMAGED) from problem
    if damage:
        raise LakeError(f"recording {path} is damaged: {damage}.", fix=_DAMAGED)
    return Recording(manifests, tables)


class _Refused(Exception):
    """More than is read."""


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Before anything is unpacked: what is read is no longer than this says."""
    parts = archive.infolist()
    for part in parts:
        if part.file_size > _PART:
            raise _Refused(
                f"{part.filename} has {size(part.file_size)}, {size(_PART)} at most are read"
            )
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _Refused(f"{part.filename} is packed in another way than any recording")
        if part.file_size > max(_SMALL, _RATIO * part.compress_size):
            raise _Refused(f"{part.filename} is packed more than {_RATIO} to 1")
    if sum(part.file_size for part in parts) > _WHOLE:
        raise _Refused(f"its parts have more than {size(_WHOLE)} together")


def _table(archive: zipfile.ZipFile, dataset: str) -> Table:
    content = archive.read(f"{dataset}.parquet")
    holds = contents_of(content)
    if holds.rows > _ROWS or holds.columns > _COLUMNS or holds.row_groups > _ROWS // 1000:
        raise _Refused(f"{dataset} has more than {_ROWS:,} rows or {_COLUMNS} columns")
    if holds.values > _VALUES:
        raise _Refused(f"{dataset} has more values than {_VALUES:,}")
    most = min(_IN_MEMORY, max(_PART, _GROWTH * len(content)))
    if holds.unpacked > most:
        raise _Refused(f"{dataset} takes too much memory")
    table = shaped(read_parquet(content), SNAPSHOT[dataset])
    if sum(map(_bytes_of, table.columns.values())) > most:
        raise _Refused(f"{dataset} takes too much memory")
    return table


def _bytes_of(column: Series) -> int:
    """Bytes of the texts of a column, as often as they are there: whoever writes them out needs so many."""
    texts = column.entries if isinstance(column, Lists) else column
    if not isinstance(texts, Texts):
        return 0
    lengths = np.array([*map(len, texts.words), 0], np.int64)
    return int(lengths[texts.places].sum())


def _check_version(path: str | Path, contents: Mapping[str, Any]) -> None:
    if contents["format"] != FORMAT:
        raise ValueError("another format")
    schemas = {one["schema_version"] for one in contents["manifests"]}
    if contents["version"] != VERSION or schemas - {SCHEMA_VERSION}:
        raise LakeError(
            f"recording {path} was written by another version of evenkeel.",
            fix="Open it with that version, or record it again.",
        )


@dataclass(frozen=True)
class _Step:
    """What one step left for one snapshot."""

    manifest: Manifest
    tables: Mapping[str, Table]


class Recording:
    """
    A lake in memory (port `Lake`): the snapshots of a recording, and what steps add to them.

    What is written stays in memory, the recording's file is never touched.
    """

    def __init__(
        self, manifests: Sequence[Manifest] = (), tables: Mapping[str, Table] | None = None
    ) -> None:
        """
        Args:
            manifests: Those of the step `snapshot`.
            tables: The datasets of that step with the rows of all these snapshots.
        """
        self._steps: dict[tuple[str, str], _Step] = {}
        self._ids: list[str] | None = None
        self._parts: dict[str, dict[str, Table]] = {}
        for manifest in manifests:
            own = {
                name: table.filter(table["snapshot_id"].equal(manifest.snapshot_id))
                for name, table in (tables or {}).items()
            }
            self._steps["snapshot", manifest.snapshot_id] = _Step(manifest, own)

    @property
    def snapshot_ids(self) -> list[str]:
        """All snapshots, of whatever cluster, oldest first."""
        if self._ids is None:
            ids = [snapshot_id for step, snapshot_id in self._steps if step == "snapshot"]
            self._ids = sorted(ids, key=lambda i: (split_snapshot_id(i)[1], i))
        return [*self._ids]

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, Table], facts: Mapping[str, Any]
    ) -> Manifest:
        run = secrets.token_hex(4)
        part = self.write_part(step, snapshot_id, run, 0, tables)
        return self.finish(step, snapshot_id, run, [part], facts)

    def write_part(
        self, step: str, snapshot_id: str, run: str, part: int, tables: Mapping[str, Table]
    ) -> WrittenPart:
        shaped = {name: tables[name].cast(schema) for name, schema in STEPS[step].items()}
        name = f"{snapshot_id}.{run}-{part}-{secrets.token_hex(3)}"
        self._parts[name] = shaped
        rows = {dataset: len(table) for dataset, table in shaped.items()}
        return WrittenPart(run=run, number=part, rows=rows, files=dict.fromkeys(shaped, name))

    def finish(
        self,
        step: str,
        snapshot_id: str,
        run: str,
        parts: Iterable[WrittenPart],
        facts: Mapping[str, Any],
    ) -> Manifest:
        kept = {part.number: part for part in parts}
        tables: dict[str, list[Table]] = {n: [empty(s)] for n, s in STEPS[step].items()}
        for number in sorted(kept):
            for dataset, name in kept[number].files.items():
                if kept[number].run != run or name not in self._parts:
                    raise LakeError(
                        f"part {number} of step {step!r} of snapshot {snapshot_id} is not one of run {run}.",
                        fix="Finish a run with what its own calls of write_part returned.",
                    )
                tables[dataset].append(self._parts[name][dataset])
        whole = {dataset: concat(own) for dataset, own in tables.items()}
        manifest = new_manifest(
            step, snapshot_id, {name: len(table) for name, table in whole.items()}, facts
        )
        own = f"{snapshot_id}.{run}-"
        self._parts = {n: part for n, part in self._parts.items() if not n.startswith(own)}
        self._steps[step, snapshot_id] = _Step(manifest, whole)
        self._ids = None if step == "snapshot" else self._ids
        return manifest

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Table:
        step = next(step for step, datasets in STEPS.items() if dataset in datasets)
        found = [self._step(step, snapshot_id).tables[dataset] for snapshot_id in snapshot_ids]
        schema = STEPS[step][dataset]
        whole = found[0] if len(found) == 1 else concat([empty(schema), *found])
        try:
            return picked(whole, groups, topics, columns)
        except KeyError as problem:
            raise LakeError(f"dataset {dataset} lacks a column: {problem}.") from problem

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        return self._step(step, snapshot_id).manifest

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        own = (i for i in reversed(self.snapshot_ids) if i[:-24] == cluster)
        found = (i for i in own if until is None or i[-23:] <= until[-23:])
        return [*islice(found, max(limit, 0))]

    def clusters(self) -> list[str]:
        return sorted({split_snapshot_id(i)[0] for i in self.snapshot_ids})

    def expire(self, before: datetime) -> int:
        old = [i for i in self.snapshot_ids if split_snapshot_id(i)[1] < before]
        self._steps = {key: step for key, step in self._steps.items() if key[1] not in old}
        self._ids = None
        return len(old)

    def finished_days(
        self, before: datetime, *, whole: datetime | None = None, waiting: Collection[str] = ()
    ) -> list[LakeDay]:
        """None: there are no files."""
        return []

    def compact(self, day: LakeDay, before: datetime) -> Compacted:
        return Compacted()

    def _step(self, step: str, snapshot_id: str) -> _Step:
        recorded = self._steps.get((step, snapshot_id))
        if recorded is None:
            raise SnapshotNotFound(
                f"snapshot {snapshot_id} has no finished step {step!r} in this recording.",
                fix=f"It holds {', '.join(self.snapshot_ids) or 'nothing'}.",
            )
        return recorded


class RecordedCluster:
    """A recorded cluster that is read again (port `Cluster`): its snapshots one after another."""

    def __init__(self, lake: Lake, snapshot_ids: Sequence[str]) -> None:
        """
        Args:
            lake: A `Recording`, or any lake that holds these snapshots.
            snapshot_ids: What to yield, in this order.
        """
        self._lake, self._ids = lake, list(snapshot_ids)
        self._next = 0

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """
        The next recorded snapshot under the id and cluster name asked for; its times stay.

        Raises:
            InputError: The recording is at its end.
        """
        if self._next == len(self._ids):
            raise InputError(
                f"the recording is at its end: it holds {len(self._ids)} snapshots.",
                fix="Record more of them, or replay from the beginning.",
            )
        recorded = self._ids[self._next]
        self._next += 1
        tables = {name: self._lake.read(name, [recorded]) for name in SNAPSHOT}
        facts = self._lake.manifest("snapshot", recorded).facts
        snapshot = snapshot_of(recorded, facts, tables)
        cluster, _ = split_snapshot_id(snapshot_id)
        renamed = {name: _rename(table, snapshot_id, cluster) for name, table in tables.items()}
        return replace(snapshot, snapshot_id=snapshot_id, cluster=cluster, tables=renamed)

    def close(self) -> None:
        """Nothing to let go of."""


def _rename(table: Table, snapshot_id: str, cluster: str) -> Table:
    count = len(table)
    return table.replaced(
        snapshot_id=repeated(snapshot_id, count), cluster=repeated(cluster, count)
    )
