"""Snapshot files: what a step leaves in the lake, and the port to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa

ALL = 1_000_000
"""A number of snapshots that no cluster has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeFile:
    """
    Rows of a dataset for one snapshot: a file, or some of its row groups.

    Attributes:
        name: Of the file, in the dataset's folder of that cluster and day.
        row_groups: The first, and one past the last; None: all of them.
    """

    name: str
    row_groups: tuple[int, int] | None = None


Files = Mapping[str, Sequence[LakeFile]]
"""Dataset -> where its rows lie, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """
    What a step left in the lake, written last; a table without a manifest does not exist for a reader.

    *facts* are small and JSON-able: for a snapshot its times, Kafka cluster id, problems and request counts.
    *files* is None where the tables are in no files of their own, as in a recording.
    """

    snapshot_id: str
    cluster: str
    step: str
    schema_version: int
    written_at: datetime
    rows: Mapping[str, int]
    facts: Mapping[str, Any] = field(default_factory=dict)
    files: Files | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values."""
        names = ("snapshot_id", "cluster", "step", "schema_version")
        moment = {"written_at": self.written_at.isoformat()}
        plain = {name: getattr(self, name) for name in names}
        content = plain | moment | {"rows": dict(self.rows), "facts": dict(self.facts)}
        return content if self.files is None else content | {"files": _files_to_json(self.files)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Manifest:
        """
        The inverse of `to_json`.

        Raises:
            AttributeError, KeyError, TypeError, ValueError: It is not a manifest.
        """
        written_at = datetime.fromisoformat(content["written_at"])
        files = _files_from_json(content["files"]) if "files" in content else None
        return cls(**{**content, "written_at": written_at, "files": files})


def _files_to_json(files: Files) -> dict[str, Any]:
    def content(file: LakeFile) -> dict[str, Any]:
        some = {} if file.row_groups is None else {"row_groups": list(file.row_groups)}
        return {"name": file.name, **some}

    return {dataset: [content(file) for file in own] for dataset, own in files.items()}


def _files_from_json(content: Mapping[str, Any]) -> Files:
    def lake_file(file: Mapping[str, Any]) -> LakeFile:
        some = file.get("row_groups")
        return LakeFile(name=file["name"], row_groups=None if some is None else (some[0], some[1]))

    return {dataset: tuple(lake_file(file) for file in own) for dataset, own in content.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPart:
    """
    A part of a step's tables that lies in the lake and does not exist for a reader yet; small, and it can be pickled.

    Attributes:
        run: The attempt at the step that it belongs to.
        number: Its place among that run's parts.
        rows: Dataset -> how many.
        files: Dataset -> the name of its file.
    """

    run: str
    number: int
    rows: Mapping[str, int]
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeDay:
    """What there is of a dataset of a cluster's day, `YYYY-MM-DD` in UTC."""

    dataset: str
    cluster: str
    day: str

    def __str__(self) -> str:
        """As people are told of it."""
        return f"{self.dataset} of {self.cluster}, {self.day}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """
    What a compaction did.

    Attributes:
        files: How many files the rows lay in that it brought together.
        into: How many they lie in now.
        swept: How many files it removed that nothing named.
    """

    files: int = 0
    into: int = 0
    swept: int = 0


class Lake(Protocol):
    """A folder of Parquet files and manifests."""

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, pa.Table], facts: Mapping[str, Any]
    ) -> Manifest:
        """
        Replace a step's tables for one snapshot; the manifest is written last: one part, and `finish`.

        Raises:
            LakeError: The folder cannot be written.
        """

    def write_part(
        self, step: str, snapshot_id: str, run: str, part: int, tables: Mapping[str, pa.Table]
    ) -> WrittenPart:
        """
        Write some rows of a step's tables, which no reader sees before `finish`.

        Written again by the same run, also at the same time, each stands for itself; `finish` takes the last given.

        Args:
            step: A key of `snapshots.STEPS`.
            snapshot_id: Whose rows they are.
            run: One attempt at the step: a few letters and digits that no other attempt has.
            part: Its place among the run's parts, from 0.
            tables: Exactly the datasets of that step.

        Raises:
            LakeError: The folder cannot be written, or the tables are not those of the step.
        """

    def finish(
        self,
        step: str,
        snapshot_id: str,
        run: str,
        parts: Iterable[WrittenPart],
        facts: Mapping[str, Any],
    ) -> Manifest:
        """
        Let readers see the parts of a run, all at once, instead of what was there of that step and snapshot.

        Raises:
            LakeError: A part is of another run or gone, or the folder cannot be written; readers see what they saw.
        """

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        coded: bool = False,
    ) -> pa.Table:
        """
        The rows of a dataset for some snapshots, in the order of the ids and, of each, as they were written.

        The rows of a snapshot are those of one run, also while another replaces it.

        Args:
            groups: Only rows of these groups; what lies far from them in a file is not read.
            topics: Only rows of these topics, likewise.
            columns: Only these, in this order.
            coded: Texts as dictionaries, each text once for many rows; one may hold texts of no row.

        Raises:
            SnapshotNotFound: A snapshot has no manifest of the step that writes this dataset.
            LakeError: The dataset or one of these columns is not there, or a file is damaged.
        """

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        """
        Raises:
            SnapshotNotFound: The step has not finished for this snapshot.
        """

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        """Snapshot ids of a cluster, newest first, not newer than *until*; at most *limit*."""

    def clusters(self) -> list[str]:
        """Names of the clusters that have snapshots."""

    def expire(self, before: datetime) -> int:
        """Remove what was taken before that moment; the number of snapshots removed."""

    def finished_days(self, before: datetime) -> list[LakeDay]:
        """What of the days that ended before that moment is not one file yet, oldest first."""

    def compact(self, day: LakeDay, before: datetime) -> Compacted:
        """
        Bring a finished day of a dataset into one file, and remove those that nothing has named for a day before then.

        Raises:
            LakeError: It cannot be done; what was there stays.
        """
