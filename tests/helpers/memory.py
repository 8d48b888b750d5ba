"""What lies outside, in memory, as unit tests need it: the adapter, and what only a test asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Event
from typing import Any

from evenkeel import sql
from evenkeel.engine.adapters import memory
from evenkeel.engine.adapters.memory import MemoryNotifier
from evenkeel.engine.adapters.memory.tables import Memory
from evenkeel.engine.adapters.postgres.statements import arguments, find
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.message import AlertMessage
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.ports import Delivered, LedgerEntry
from evenkeel.engine.records import MemberMetrics, records_of
from evenkeel.engine.snapshots.learned import Learned, learned_in

__all__ = ["MemoryCluster", "MemoryHistory", "MemoryNotifier", "MemoryShelf", "SlowNotifier"]


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


class MemoryQueries(Memory):
    """The ports `Queries` and `LedgerHistory`: every question of `sql/queries` is known; the test says the rows."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        super().__init__(clock)
        self.answers: dict[str, list[Mapping[str, Any]]] = {}
        self.entries: list[LedgerEntry] = []

    def query(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """The rows; a question that could not be asked of Postgres cannot be asked here."""
        arguments(find("query", sql.queries(), name), parameters)
        return [dict(row) for row in self.answers.get(name, ())]

    def ledger(self, cluster: str | None = None) -> list[LedgerEntry]:
        """Those that the test says."""
        return self.entries

    def members_of_groups_with(self, member_ids: Sequence[str]) -> list[MemberMetrics]:
        """The members of the newest snapshots, group by group."""
        found = [
            member
            for snapshot_id in self._newest()
            for member in records_of(
                MemberMetrics, self.tables.metrics[snapshot_id]["member_metrics"]
            )
        ]
        groups = {(m.snapshot_id, m.group_id) for m in found if m.member_id in member_ids}
        return sorted(
            (m for m in found if (m.snapshot_id, m.group_id) in groups),
            key=lambda m: (m.cluster, m.snapshot_id, m.group_id, m.member_id),
        )

    def _newest(self) -> set[str]:
        """Of each cluster the newest measured snapshot, and the newest that is advised as well."""
        newest = set()
        for cluster in self.tables.clusters:
            own = [
                s
                for s in self.tables.of_cluster(cluster)
                if s.manifest.snapshot_id in self.tables.metrics
            ]
            for found in (own, [one for one in own if one.advised]):
                newest |= {one.manifest.snapshot_id for one in found[-1:]}
        return newest


class MemoryHistory(memory.MemoryHistory, MemoryQueries):
    """The port `History`: all of them over the same rows."""


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

    def learned(self, snapshot_id: str) -> dict[str, Learned]:
        """As the rows of its groups have it."""
        tables = self.tables.metrics.get(snapshot_id)
        return learned_in(tables["group_metrics"]) if tables else {}


class SlowNotifier(MemoryNotifier):
    """A notifier that waits inside `send` until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.go = Event(), Event()

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """Wait, then keep the message."""
        self.inside.set()
        assert self.go.wait(30)
        return super().send(message, channel=channel, key=key, thread=thread, broadcast=broadcast)
