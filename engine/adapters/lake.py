"""
The lake: a folder of Parquet files, on this machine or anywhere pyarrow can write (`s3://...`).

    <dataset>/cluster=<c>/day=<YYYY-MM-DD>/<snapshot_id>.parquet
    _manifests/<step>/cluster=<c>/day=<YYYY-MM-DD>/<snapshot_id>.json

A manifest is written after the tables it speaks of, under another name first; readers trust
manifests only, so what a crash leaves behind does not exist for them. An id tells its cluster and
its day, so no file is ever searched for.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from evenkeel.engine.datasets import SCHEMA_VERSION, STEPS, shaped, split_snapshot_id
from evenkeel.engine.errors import InputError, LakeError, SnapshotNotFound
from evenkeel.engine.model import check_aware, utc_now
from evenkeel.engine.ports import Manifest

MANIFESTS = "_manifests"
_STEP_OF = {dataset: step for step, datasets in STEPS.items() for dataset in datasets}

_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class FileLake:
    """A lake in a folder (port `Lake`)."""

    def __init__(self, path: str | Path) -> None:
        """
        Args:
            path: A local path, or a URI that pyarrow.fs understands. The folder is made by the
                first write; of an absolute path only the last part, because a missing parent is
                rather a mount that is not there.

        Raises:
            LakeError: It is a URI of an unknown kind.
        """
        self.path = str(path)
        self._local = "://" not in self.path
        self._prefix = ""
        if self._local:
            self._fs, self._root = fs.LocalFileSystem(), str(Path(self.path).absolute())
            return
        try:
            self._fs, self._root = fs.FileSystem.from_uri(self.path)
        except (ValueError, OSError, pa.ArrowException) as problem:
            fix = "Use a local path or a URI such as s3://bucket/folder."
            raise LakeError(f"lake {self.path} cannot be opened: {problem}.", fix=fix) from problem
        self._root = self._root.rstrip("/")
        self._prefix = self.path.partition("?")[0].rstrip("/").removesuffix(self._root)

    @classmethod
    def around(cls, path: str | Path) -> FileLake | None:
        """The lake a local path lies in: its folder, or a table or manifest in it; else None."""
        place = Path(path).absolute()
        inside = place.suffix in (".parquet", ".json")
        for folder in (place, *place.parents) if inside else (place,):
            if (folder / MANIFESTS).is_dir():
                return cls(folder)
        return None

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, pa.Table], facts: Mapping[str, Any]
    ) -> Manifest:
        """
        Replace a step's tables for one snapshot; the manifest is written last.

        Args:
            step: A key of `datasets.STEPS`.
            snapshot_id: Whose tables they are.
            tables: Exactly the datasets of that step.
            facts: Small and JSON-able; they go into the manifest.

        Raises:
            LakeError: The folder cannot be written, or the tables are not those of the step.
        """
        shaped = _shaped(step, tables)
        manifest = Manifest(
            snapshot_id=snapshot_id,
            cluster=split_snapshot_id(snapshot_id)[0],
            step=step,
            schema_version=SCHEMA_VERSION,
            written_at=utc_now(),
            rows={name: table.num_rows for name, table in shaped.items()},
            facts=facts,
        )
        text = json.dumps(manifest.to_json(), indent=1, ensure_ascii=False).encode()
        place = self._manifest_path(step, snapshot_id)
        with self._explained("written"):
            self._check_parent()
            # tables of an earlier run and of this one must never be read as one
            self._remove(place)
            for name, table in shaped.items():
                with self._replacing(self._table_path(name, snapshot_id)) as path:
                    pq.write_table(table, path, filesystem=self._fs, compression="zstd")
            with self._replacing(place) as path, self._fs.open_output_stream(path) as stream:
                stream.write(text)
        return manifest

    def read(self, dataset: str, snapshot_ids: Sequence[str]) -> pa.Table:
        """
        The rows of a dataset for some snapshots, in the order of the ids.

        Raises:
            SnapshotNotFound: A snapshot has no manifest of the step that writes this dataset.
            LakeError: A file is damaged or was written by an unknown version.
        """
        schema = STEPS[_step_of(dataset)][dataset]
        tables = [schema.empty_table()]
        for path in self._finished(dataset, snapshot_ids):
            with self._explained("read"):
                # read_table would add the folder names as columns, and is slower for one file
                with self._fs.open_input_file(path) as file:
                    table = pq.ParquetFile(file).read()
                tables.append(shaped(table, schema))
        return pa.concat_tables(tables)

    def files(self, dataset: str, snapshot_ids: Sequence[str]) -> list[str]:
        """
        Paths of the same, for a reader of its own (Spark): absolute, or URIs like the lake's own.

        Raises:
            SnapshotNotFound: As `read`.
        """
        return [self._prefix + path for path in self._finished(dataset, snapshot_ids)]

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        """
        What a step left for a snapshot.

        Raises:
            SnapshotNotFound: The step has not finished for this snapshot.
            LakeError: The manifest is damaged or of a schema version this program does not know.
        """
        path = self._manifest_path(step, snapshot_id)
        with self._explained("read"):
            if self._fs.get_file_info(path).type != fs.FileType.File:
                raise SnapshotNotFound(
                    f"snapshot {snapshot_id} has no finished step {step!r} in lake {self.path}.",
                    fix="Run that step, or name another snapshot or lake.",
                )
            with self._fs.open_input_stream(path) as stream:
                content = stream.read()
        return _parse(content, path)

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        """
        Snapshot ids of a cluster, newest first, not newer than *until*; at most *limit*.

        Only as many day folders are listed as it takes. A lake that does not exist yet is empty.

        Raises:
            LakeError: The folder cannot be read.
        """
        found: list[str] = []
        last_day = _day(until) if until else "9999"
        folder = f"{self._root}/{MANIFESTS}/snapshot/cluster={cluster}"
        with self._explained("read"):
            self._check_parent()
            for day in sorted(self._children(folder, "day="), reverse=True):
                if len(found) >= limit:
                    break
                if day <= last_day:
                    found += sorted(self._ids(f"{folder}/day={day}", until), reverse=True)
        return found[: max(limit, 0)]

    def clusters(self) -> list[str]:
        """Names of the clusters that have snapshots."""
        with self._explained("read"):
            self._check_parent()
            return sorted(self._children(f"{self._root}/{MANIFESTS}/snapshot", "cluster="))

    def expire(self, before: datetime) -> int:
        """
        Remove what was taken before that moment; the number of snapshots removed.

        Manifests go first, so that an interrupted run leaves nothing half there.

        Args:
            before: Aware.

        Raises:
            LakeError: The folder cannot be changed.
        """
        check_aware(before, "before")
        folders = [f"{MANIFESTS}/{step}" for step in STEPS] + list(_STEP_OF)
        removed = 0
        with self._explained("changed"):
            self._check_parent()
            for folder in folders:
                count = sum(self._expire_folder(f"{self._root}/{folder}", before))
                removed += count if folder == f"{MANIFESTS}/snapshot" else 0
        return removed

    def _expire_folder(self, folder: str, before: datetime) -> Iterator[int]:
        """Expire one dataset or step; yields how many files left each day folder."""
        limit = before.astimezone(UTC)
        for cluster in self._children(folder, "cluster="):
            for day in self._children(f"{folder}/cluster={cluster}", "day="):
                place = f"{folder}/cluster={cluster}/day={day}"
                if day < f"{limit:%Y-%m-%d}":
                    yield len(self._ids(place))
                    self._fs.delete_dir(place)
                elif day == f"{limit:%Y-%m-%d}":
                    yield self._expire_day(place, limit)

    def _expire_day(self, place: str, limit: datetime) -> int:
        old = [i for i in self._ids(place) if split_snapshot_id(i)[1] < limit]
        for snapshot_id in old:
            extension = ".json" if f"/{MANIFESTS}/" in place else ".parquet"
            self._remove(f"{place}/{snapshot_id}{extension}")
        return len(old)

    def _finished(self, dataset: str, snapshot_ids: Sequence[str]) -> list[str]:
        """The files of a dataset whose step has a manifest."""
        step = _step_of(dataset)
        for snapshot_id in snapshot_ids:
            self.manifest(step, snapshot_id)
        return [self._table_path(dataset, snapshot_id) for snapshot_id in snapshot_ids]

    def _table_path(self, dataset: str, snapshot_id: str) -> str:
        return f"{self._root}/{dataset}/{_folders(snapshot_id)}/{snapshot_id}.parquet"

    def _manifest_path(self, step: str, snapshot_id: str) -> str:
        return f"{self._root}/{MANIFESTS}/{step}/{_folders(snapshot_id)}/{snapshot_id}.json"

    def _children(self, folder: str, prefix: str) -> list[str]:
        """The values in the names of the folders `<prefix><value>`; none if there is no folder."""
        listing = self._fs.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        names = (one.base_name for one in listing if one.type == fs.FileType.Directory)
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def _ids(self, folder: str, until: str | None = None) -> list[str]:
        """Snapshot ids of the files of a day; temporary and foreign names are not ids."""
        ids = []
        for one in self._fs.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
            with suppress(InputError):
                name = one.base_name.rpartition(".")[0]
                split_snapshot_id(name)
                if until is None or _age_key(name) <= _age_key(until):
                    ids.append(name)
        return ids

    @contextmanager
    def _replacing(self, path: str) -> Iterator[str]:
        """A name to write under that becomes *path* at the end, in one step where there is one."""
        folder, _, name = path.rpartition("/")
        self._fs.create_dir(folder, recursive=True)
        # Spark and pyarrow pass over names that begin with an underscore or a dot
        temporary = f"{folder}/_{secrets.token_hex(4)}-{name}.tmp"
        try:
            yield temporary
            self._fs.move(temporary, path)
        except BaseException:
            with suppress(OSError):
                self._remove(temporary)
            raise

    def _remove(self, path: str) -> None:
        if self._fs.get_file_info(path).type == fs.FileType.File:
            self._fs.delete_file(path)

    def _check_parent(self) -> None:
        if self._local and Path(self.path).is_absolute() and not Path(self._root).parent.is_dir():
            raise LakeError(
                f"lake {self.path} cannot be used: the folder {Path(self._root).parent} "
                "does not exist.",
                fix="Create it, mount it, or correct `lake` (EVENKEEL_LAKE).",
            )

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Turn what a file system or Arrow says into a LakeError with a fix."""
        try:
            yield
        except (OSError, pa.ArrowException) as problem:
            reason = " ".join((getattr(problem, "strerror", None) or str(problem)).split())
            raise LakeError(
                f"lake {self.path} cannot be {what}: {reason}.", fix=_fix(problem, what)
            ) from problem


def _fix(problem: BaseException, what: str) -> str:
    number = getattr(problem, "errno", None)
    if number in _FULL:
        return "Free space on that disk, or keep fewer days (keep_days, history_upkeep)."
    if number in _DENIED:
        user = f" (user id {os.getuid()})" if hasattr(os, "getuid") else ""
        return f"Give this process{user} the right to it, or correct `lake` (EVENKEEL_LAKE)."
    if what == "read" and number is None:
        return "The file is damaged: expire that snapshot, or restore the file."
    return "Check that path, or correct `lake` (EVENKEEL_LAKE)."


def _step_of(dataset: str) -> str:
    if dataset not in _STEP_OF:
        known = ", ".join(_STEP_OF)
        raise LakeError(f"there is no dataset {dataset!r}.", fix=f"Use one of {known}.")
    return _STEP_OF[dataset]


def _shaped(step: str, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables with exactly the columns of their datasets."""
    schemas = STEPS.get(step, {})
    if tables.keys() != schemas.keys():
        got, wanted = ", ".join(sorted(tables)), ", ".join(sorted(schemas)) or "(no such step)"
        raise LakeError(f"step {step!r} writes {wanted}; got {got}.", fix="Hand in all of them.")
    try:
        return {name: tables[name].select(s.names).cast(s) for name, s in schemas.items()}
    except (KeyError, pa.ArrowException) as problem:
        raise LakeError(
            f"a table of step {step!r} does not fit its schema: {problem}.",
            fix="Build it with evenkeel.engine.datasets.",
        ) from problem


def _parse(content: bytes, path: str) -> Manifest:
    try:
        manifest = Manifest.from_json(json.loads(content))
    except (ValueError, KeyError, TypeError) as problem:
        fix = "Expire that snapshot, or restore the file."
        raise LakeError(f"manifest {path} is damaged: {problem!r}.", fix=fix) from problem
    if manifest.schema_version != SCHEMA_VERSION:
        raise LakeError(
            f"manifest {path} has schema version {manifest.schema_version}; "
            f"this evenkeel reads version {SCHEMA_VERSION}.",
            fix="Use the evenkeel version that wrote it, or another lake folder.",
        )
    return manifest


def _day(snapshot_id: str) -> str:
    return f"{split_snapshot_id(snapshot_id)[1]:%Y-%m-%d}"


def _folders(snapshot_id: str) -> str:
    return f"cluster={split_snapshot_id(snapshot_id)[0]}/day={_day(snapshot_id)}"


def _age_key(snapshot_id: str) -> str:
    """The second and the random part: ids of one cluster sort by it."""
    return snapshot_id[-23:]
