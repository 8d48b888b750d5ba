"""The port to the lake, and its values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from ..model.tables import Table

ALL = 1_000_000
"""A limit above any number of snapshots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeFile:
    """
    Rows of a dataset for a snapshot: a file, or some of its row groups.

    Attributes:
        name: Name of the file, in the folder of the dataset, cluster and day.
        row_groups: The first, and one past the last; None for all.
    """

    name: str
    row_groups: tuple[int, int] | None = None


Files = Mapping[str, Sequence[LakeFile]]
"""Dataset -> files of its rows, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """
    The results of a step in the lake. The manifest is written last; readers ignore tables without one.

    *facts* are small JSON values: for a snapshot its times, Kafka cluster id, problems and request counts. *files* is
    None if the tables have no files of their own, as in a recording.
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
    A part of a step's tables in the lake that readers don't see yet; small and picklable.

    Attributes:
        run: The attempt at the step.
        number: Its position among the parts of the run.
        rows: Dataset -> number of rows.
        files: Dataset -> name of its file.
    """

    run: str
    number: int
    rows: Mapping[str, int]
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeDay:
    """
    A dataset of a cluster and a day (`YYYY-MM-DD` in UTC).

    Attributes:
        dataset: Name of the dataset.
        cluster: Configured name of the cluster.
        day: The day.
        hourly: Whether only the first snapshot of each hour is kept, and only the results of the last of these.
    """

    dataset: str
    cluster: str
    day: str
    hourly: bool = False

    def __str__(self) -> str:
        """Text for messages."""
        return f"{self.dataset} of {self.cluster}, {self.day}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """
    The result of a compaction.

    Attributes:
        files: Number of files before.
        into: Number of files after.
        swept: Number of deleted unreferenced files.
        thinned: Number of deleted snapshots of the day.
    """

    files: int = 0
    into: int = 0
    swept: int = 0
    thinned: int = 0


@runtime_checkable
class Home(Protocol):
    """The lake of an installation, with the id that tells one installation from another."""

    @property
    def address(self) -> str:
        """Absolute path or URI."""

    def identity(self) -> str | None:
        """
        The id; None if the lake has none yet.

        Raises:
            LakeError: The folder cannot be read.
        """

    def identify(self, identity: str) -> None:
        """
        Give the lake its id.

        Raises:
            LakeError: The folder cannot be written.
        """


class Lake(Protocol):
    """A folder of Parquet files and manifests."""

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, Table], facts: Mapping[str, Any]
    ) -> Manifest:
        """
        Replace the tables of a step for a snapshot: one part, and `finish`.

        Raises:
            LakeError: The folder cannot be written.
        """

    def write_part(
        self, step: str, snapshot_id: str, run: str, part: int, tables: Mapping[str, Table]
    ) -> WrittenPart:
        """
        Write some rows of a step's tables, which readers don't see before `finish`.

        The same run may write a part several times, even in parallel; `finish` uses the given one.

        Args:
            step: A key of `snapshots.STEPS`.
            snapshot_id: Id of the snapshot.
            run: Unique id of the attempt: a few letters and digits.
            part: Its position among the parts of the run, from 0.
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
        Publish the parts of a run atomically; they replace earlier results of the step and snapshot.

        Raises:
            LakeError: A part belongs to another run or is missing, or the folder cannot be written; readers see the
                earlier results.
        """

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Table:
        """
        The rows of a dataset for some snapshots, in the order of the ids, and as written within each snapshot.

        The rows of a snapshot are those of one run, even while another run replaces it.

        Args:
            groups: Only rows of these groups; row groups without them are skipped.
            topics: Only rows of these topics, likewise.
            columns: Only these columns, in this order.

        Raises:
            SnapshotNotFound: A snapshot has no manifest of the step that writes this dataset.
            LakeError: The dataset or a column is missing, or a file is damaged.
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
        """Delete snapshots from before that moment; returns their number."""

    def finished_days(
        self, before: datetime, *, whole: datetime | None = None, waiting: Collection[str] = ()
    ) -> list[LakeDay]:
        """
        Datasets of past days to compact, oldest first: those with more than one file, and those to be made hourly.

        Args:
            before: Only days that ended before.
            whole: Days that ended before are made hourly; None for none.
            waiting: Ids of snapshots whose days stay whole.
        """

    def compact(self, day: LakeDay, before: datetime) -> Compacted:
        """
        Compact a past day of a dataset into one file, and delete files that are unreferenced for a day.

        If the day is hourly, first delete its other snapshots and results.

        Raises:
            LakeError: The compaction failed; the files are unchanged.
        """
