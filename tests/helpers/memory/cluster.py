"""A cluster whose reading is made up."""

from __future__ import annotations

from dataclasses import replace

from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot


class MemoryCluster:
    """The port `Cluster`: it answers with the same reading, under whatever id it is asked for."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self.snapshot = snapshot
        self.closed = False

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """The made-up reading."""
        return replace(self.snapshot, snapshot_id=snapshot_id)

    def close(self) -> None:
        """Note it."""
        self.closed = True
