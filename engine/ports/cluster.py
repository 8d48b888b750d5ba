"""The port to Kafka, read-only."""

from __future__ import annotations

from typing import Protocol

from ..model.cluster_snapshot import ClusterSnapshot


class Cluster(Protocol):
    """A Kafka cluster that can be read."""

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """
        Read groups, log start offsets, committed offsets and end offsets, in this order.

        Raises:
            ClusterUnreachable: No broker answered.
        """

    def close(self) -> None:
        """Close connections."""
