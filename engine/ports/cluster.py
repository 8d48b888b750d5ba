"""Kafka, as far as it is read."""

from __future__ import annotations

from typing import Protocol

from ..model.cluster_snapshot import ClusterSnapshot


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
