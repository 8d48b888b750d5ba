"""
What lies outside, one Protocol each: Cluster (Kafka), Lake (snapshot files), History (Postgres), Notifier (Slack).

Steps take these as arguments; `adapters/` holds the real ones and `tests/helpers/` fakes for unit tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa

from evenkeel.engine.datasets import ClusterSnapshot
from evenkeel.engine.message import AlertMessage

Row = Mapping[str, Any]


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


class Cluster(Protocol):
    """A Kafka cluster that can be read."""

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """
        Read everything once: groups, where logs begin, commits, then where logs end.

        Raises:
            ClusterUnreachable: No broker answered.
        """

    def close(self) -> None:
        """Let go of connections."""


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


class History(Protocol):
    """
    The Postgres history. Each method is one transaction; *rows* have the columns of the dataset of that name.

    Writing a snapshot's rows again replaces them. All raise HistoryUnreachable when the server does not answer.
    """

    def store_snapshot(self, manifest: Manifest, cluster_settings: Row) -> None:
        """Upsert the cluster and its `snapshot` row; a changed Kafka cluster id raises ClusterChanged."""

    def store_validation(self, snapshot_id: str, stage: str, rows: Sequence[Row]) -> None:
        """Replace the `validation` rows of one stage (`snapshot` or `candidates`)."""

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, pa.Table]) -> None:
        """Replace the metrics of a snapshot; partitions only if it is the cluster's newest."""

    def store_candidates(self, snapshot_id: str, candidates: pa.Table) -> None:
        """Replace the candidate rows of a snapshot."""

    def store_advice(self, snapshot_id: str, rows: Sequence[Row]) -> bool:
        """Append advice and its moves; False when this snapshot already has advice, which then stays."""

    def query(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """
        Run a named query of `sql/queries`.

        Raises:
            InputError: There is no query of that name, or a parameter is missing.
        """

    def execute(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a named statement that writes, in its own transaction; rows if it returns any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """Where a message went: enough to find, update or thread it."""

    channel: str
    timestamp: str


class Notifier(Protocol):
    """Somewhere people read messages."""

    def send(
        self, message: AlertMessage, *, channel: str, key: str, thread: str | None = None
    ) -> Delivered:
        """
        Deliver a message.

        Args:
            message: What to say.
            channel: Where to say it.
            key: Our own id of the message; a message already delivered under it is found, not sent again.
            thread: The timestamp of the message this one answers.

        Raises:
            NotifierError: It could not be delivered; sending again later is safe.
        """
