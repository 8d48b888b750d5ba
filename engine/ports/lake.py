"""Snapshot files: what a step leaves in the lake, and the port to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """
    What a step left in the lake, written last; a table without a manifest does not exist for a reader.

    *facts* are small and JSON-able: for a snapshot its times, Kafka cluster id, problems and request counts.
    """

    snapshot_id: str
    cluster: str
    step: str
    schema_version: int
    written_at: datetime
    rows: Mapping[str, int]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values."""
        names = ("snapshot_id", "cluster", "step", "schema_version")
        moment = {"written_at": self.written_at.isoformat()}
        plain = {name: getattr(self, name) for name in names}
        return plain | moment | {"rows": dict(self.rows), "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Manifest:
        """
        The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: It is not a manifest.
        """
        return cls(**{**content, "written_at": datetime.fromisoformat(content["written_at"])})


class Lake(Protocol):
    """A folder of Parquet files and manifests."""

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, pa.Table], facts: Mapping[str, Any]
    ) -> Manifest:
        """
        Replace a step's tables for one snapshot; the manifest is written last.

        Raises:
            LakeError: The folder cannot be written.
        """

    def read(self, dataset: str, snapshot_ids: Sequence[str]) -> pa.Table:
        """
        The rows of a dataset for some snapshots.

        Raises:
            SnapshotNotFound: A snapshot has no manifest of the step that writes this dataset.
        """

    def files(self, dataset: str, snapshot_ids: Sequence[str]) -> list[str]:
        """Paths of the same, for a reader of its own (Spark)."""

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
