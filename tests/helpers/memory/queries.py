"""Queries in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from evenkeel import sql
from evenkeel.engine.adapters.memory.tables import Memory
from evenkeel.engine.adapters.postgres.statements import arguments, find
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.records import MemberMetrics, records_of


class MemoryQueries(Memory):
    """The port `Queries`: every question of `sql/queries` is known; the test says the rows."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        super().__init__(clock)
        self.answers: dict[str, list[Mapping[str, Any]]] = {}

    def query(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """The rows; a question that could not be asked of Postgres cannot be asked here."""
        arguments(find("query", sql.queries(), name), parameters)
        return [dict(row) for row in self.answers.get(name, ())]

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
