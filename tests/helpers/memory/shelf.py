"""Past days judged again, in memory."""

from __future__ import annotations

from datetime import datetime

from evenkeel.engine.adapters import memory


class MemoryShelf(memory.MemoryHistory):
    """What a backfill asks of the history that it fills (`pipeline.backfill.Shelf`)."""

    about: str | None = None

    def make(self, about: str) -> None:
        """Note what it is."""
        self.about = about

    def done(self, cluster: str, since: datetime, until: datetime) -> dict[str, bool]:
        """Those that are measured or rejected."""
        return {
            one.manifest.snapshot_id: bool(one.advised or one.rejected)
            for one in self.tables.of_cluster(cluster)
            if since <= one.started_at < until and (one.measured or one.rejected)
        }

    def commit_intervals(self, snapshot_id: str) -> dict[str, float | None]:
        """As the rows of its groups have them."""
        tables = self.tables.metrics.get(snapshot_id)
        rows = tables["group_metrics"].to_pylist() if tables else []
        return {row["group_id"]: row["commit_interval_seconds"] for row in rows}
