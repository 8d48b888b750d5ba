"""The lake as steps see it (port `Lake`): in which order its files are written, and which of them are read."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...model.errors import LakeError, SnapshotNotFound
from ...model.moments import check_aware
from ...model.tables import KindError, Table, concat, empty
from ...ports import Compacted, LakeDay, LakeFile, Manifest, WrittenPart
from ...snapshots import STEPS, new_manifest, split_snapshot_id
from . import days
from .catalog import (
    MANIFESTS,
    Catalog,
    age_key,
    cluster_and_day,
    datasets_of,
    files_of,
    id_in,
    step_of,
)
from .files import Files
from .tables import FileReader, Pick, write_table

IDENTITY = "_installation"
"""The file with the id of the installation that the lake belongs to (port `Home`)."""

_RUN = re.compile(r"[a-z0-9]{1,32}")
_TRIES = 5
"""So often a reader begins again when what it reads is replaced meanwhile."""


class FileLake:
    """A lake in a folder (ports `Lake`, `Home`). It can be pickled, for workers that read and write the same folder."""

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
        self._files = Files(self.path)
        self._catalog = Catalog(self._files)
        self._reader = FileReader(self._files.system, remote=self._files.is_store)

    def __reduce__(self) -> tuple[object, ...]:
        """It is opened again where it is sent to: nothing that is open, cached or secret travels."""
        return (FileLake, (self.address,))

    @property
    def address(self) -> str:
        """Its URI, or its absolute path: a relative one would be another one elsewhere."""
        return self.path if "://" in self.path else self._files.root

    def identity(self) -> str | None:
        # of a mount that is not there nothing is known, not that it has no id
        self._files.check_parent()
        with self._files.explained("read"), suppress(FileNotFoundError):
            return self._files.read(self._identity_file).decode(errors="replace").strip()
        return None

    def identify(self, identity: str) -> None:
        with self._files.explained("written"):
            self._files.check_parent()
            self._files.put(self._identity_file, f"{identity}\n".encode())
            self._files.settle([self._identity_file])

    @property
    def _identity_file(self) -> str:
        return f"{self._files.root}/{IDENTITY}"

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
        self, step: str, snapshot_id: str, tables: Mapping[str, Table], facts: Mapping[str, Any]
    ) -> Manifest:
        run = secrets.token_hex(4)
        part = self.write_part(step, snapshot_id, run, 0, tables)
        return self.finish(step, snapshot_id, run, [part], facts)

    def write_part(
        self, step: str, snapshot_id: str, run: str, part: int, tables: Mapping[str, Table]
    ) -> WrittenPart:
        """Each call writes files of its own, so one that is repeated disturbs nobody, however late it ends."""
        shaped = _shaped(step, tables)
        name = f"{_begin(snapshot_id, run)}{part:05}-{secrets.token_hex(3)}.parquet"
        paths = {dataset: self._catalog.place(dataset, snapshot_id, name) for dataset in shaped}
        with self._files.explained("written"):
            self._files.check_parent()
            try:
                for dataset, table in shaped.items():
                    self._write_table(table, paths[dataset])
            except BaseException:
                self._files.forget(list(paths.values()))
                raise
        return WrittenPart(
            run=run,
            number=part,
            rows={dataset: len(table) for dataset, table in shaped.items()},
            files=dict.fromkeys(shaped, name),
        )

    def _write_table(self, table: Table, path: str) -> None:
        if self._files.is_store:
            sink = pa.BufferOutputStream()
            write_table(table, sink)
            self._files.put(path, sink.getvalue())
            return
        with self._files.replacing(path) as temporary:
            write_table(table, temporary, filesystem=self._files.system)

    def finish(
        self,
        step: str,
        snapshot_id: str,
        run: str,
        parts: Iterable[WrittenPart],
        facts: Mapping[str, Any],
    ) -> Manifest:
        """
        The files of what was there go when nobody can begin to read them any more. What a run left that never came
        here stays until the maintenance finds it, because that run may still be at it.
        """
        given = list(parts)
        kept = [part for _, part in sorted({part.number: part for part in given}.items())]
        datasets = datasets_of(step)
        manifest = new_manifest(
            step,
            snapshot_id,
            {name: sum(part.rows[name] for part in kept) for name in datasets},
            facts,
            files={n: tuple(LakeFile(name=part.files[n]) for part in kept) for n in datasets},
        )
        named = self._catalog.own_files(manifest)
        with self._files.explained("written"):
            self._files.check_parent()
            self._check_parts(manifest, run, given, named)
            former = set[str]()
            with suppress(SnapshotNotFound, LakeError):
                former = self._catalog.own_files(self.manifest(step, snapshot_id))
            self._catalog.put(manifest)
        unused = (self._catalog.place(n, snapshot_id, p.files[n]) for p in given for n in datasets)
        self._files.forget([path for path in {*former, *unused} if path not in named])
        return manifest

    def _check_parts(
        self, manifest: Manifest, run: str, parts: Sequence[WrittenPart], files: Collection[str]
    ) -> None:
        of = f"step {manifest.step!r} of snapshot {manifest.snapshot_id}"
        begin = _begin(manifest.snapshot_id, run)
        for part in parts:
            if part.run != run or any(not n.startswith(begin) for n in part.files.values()):
                raise LakeError(
                    f"part {part.number} of {of} was written by run {part.run}, not by run {run}.",
                    fix="Finish a run with what its own calls of write_part returned.",
                )
        if gone := self._files.missing(sorted(files)):
            raise LakeError(f"{of} cannot be finished: {gone[0]} is gone.", fix="Run it again.")

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Table:
        schema = STEPS[step_of(dataset)][dataset]
        try:
            pick = Pick.of(schema, columns, {"group_id": groups, "topic": topics})
        except KeyError as problem:
            raise LakeError(
                f"dataset {dataset} has no column {problem.args[0]}.",
                fix=f"Use some of {', '.join(schema)}.",
            ) from problem
        found = (self._tables(dataset, snapshot_id, pick) for snapshot_id in snapshot_ids)
        return concat([*chain.from_iterable(found)] or [empty(pick.schema)])

    def _tables(self, dataset: str, snapshot_id: str, pick: Pick) -> list[Table]:
        """What is wanted of one snapshot, all of it by one run."""
        seen: Sequence[LakeFile] | None = None
        for _ in range(_TRIES):
            manifest = self.manifest(step_of(dataset), snapshot_id)
            if (files := files_of(manifest, dataset)) == seen:
                break
            seen = files
            with self._files.explained("read"), suppress(FileNotFoundError):
                return [
                    self._reader.read(
                        self._catalog.place(dataset, snapshot_id, file.name),
                        pick if file.row_groups is None else pick.of_snapshot(snapshot_id),
                        file.row_groups,
                    )
                    for file in files
                ]
        raise LakeError(
            f"lake {self.path} cannot be read: a file of {dataset} of snapshot {snapshot_id} is gone.",
            fix="Run that step again, or restore the file.",
        )

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        return self._catalog.manifest(step, snapshot_id)

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        """Only as many day folders are listed as it takes. A lake that does not exist yet is empty."""
        snapshot_ids: list[str] = []
        last_day = cluster_and_day(until)[1] if until else "9999"
        with self._files.explained("read"):
            self._files.check_parent()
            for day in reversed(self._catalog.days(f"{MANIFESTS}/snapshot", cluster)):
                if len(snapshot_ids) >= limit:
                    break
                if day <= last_day:
                    ids = self._catalog.ids("snapshot", cluster, day)
                    snapshot_ids += [
                        i for i in reversed(ids) if not until or age_key(i) <= age_key(until)
                    ]
        return snapshot_ids[: max(limit, 0)]

    def clusters(self) -> list[str]:
        with self._files.explained("read"):
            self._files.check_parent()
            return self._catalog.clusters(f"{MANIFESTS}/snapshot")

    def finished_days(
        self, before: datetime, *, whole: datetime | None = None, waiting: Collection[str] = ()
    ) -> list[LakeDay]:
        check_aware(before, "before")
        with self._files.explained("read"):
            self._files.check_parent()
            return days.finished(self._catalog, before, whole, waiting)

    def compact(self, day: LakeDay, before: datetime) -> Compacted:
        """Interrupted, it loses nothing, and leaves what a later one removes; readers are never in its way."""
        check_aware(before, "before")
        with self._files.explained("compacted"):
            return days.compact(self._catalog, day, before)

    def expire(self, before: datetime) -> int:
        """
        Manifests go first, so that an interrupted run leaves nothing half there. Rows in the file of a day
        stay, unread, until the whole day is older.
        """
        check_aware(before, "before")
        folders = [f"{MANIFESTS}/{step}" for step in STEPS]
        folders += [dataset for step in STEPS for dataset in datasets_of(step)]
        removed = 0
        with self._files.explained("changed"):
            self._files.check_parent()
            for folder in folders:
                count = sum(self._expire_folder(folder, before))
                removed += count if folder == f"{MANIFESTS}/snapshot" else 0
        return removed

    def _expire_folder(self, folder: str, before: datetime) -> Iterator[int]:
        """Expire one dataset or step; yields of how many snapshots files left each day folder."""
        limit = before.astimezone(UTC)
        for cluster in self._catalog.clusters(folder):
            for day in self._catalog.days(folder, cluster):
                place = self._catalog.folder(folder, cluster, day)
                if day < f"{limit:%Y-%m-%d}":
                    yield len({i for i in map(id_in, self._files.names(place)) if i})
                    self._files.remove_folder(place)
                elif day == f"{limit:%Y-%m-%d}":
                    of = {name: id_in(name) for name in self._files.names(place)}
                    old = {n: i for n, i in of.items() if i and split_snapshot_id(i)[1] < limit}
                    for name in old:
                        self._files.remove(f"{place}/{name}")
                    yield len(set(old.values()))


def _shaped(step: str, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables with exactly the columns of their datasets."""
    schemas = datasets_of(step)
    if tables.keys() != schemas.keys():
        got, wanted = ", ".join(sorted(tables)), ", ".join(sorted(schemas))
        raise LakeError(f"step {step!r} writes {wanted}; got {got}.", fix="Hand in all of them.")
    try:
        return {name: tables[name].cast(schema) for name, schema in schemas.items()}
    except KindError as problem:
        raise LakeError(
            f"a table of step {step!r} does not fit its schema: {problem}.",
            fix="Build it with evenkeel.engine.snapshots.",
        ) from problem


def _begin(snapshot_id: str, run: str) -> str:
    """How the names of a run's files begin."""
    if not _RUN.fullmatch(run):
        raise LakeError(
            f"{run!r} does not name a run.", fix="Use 1 to 32 lower-case letters and digits."
        )
    return f"{snapshot_id}.{run}-"
