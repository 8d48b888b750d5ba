"""Stored snapshots with the racks that the configuration gives to members that told none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from evenkeel.engine.config import Settings
from evenkeel.engine.ports import Compacted, Lake, LakeDay, Manifest, WrittenPart

CONFIGURED = "configured"
"""The source of a rack that the member did not tell itself."""

_ASKED = ("cluster", "group_id", "client_id", "client_host", "rack", "rack_source")
"""What of a member's row tells its rack."""


@dataclass(frozen=True)
class RackedLake:
    """A lake to read from; members without a rack of their own get that of today's rules, else what was stored."""

    lake: Lake
    settings: Settings

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """The rows of a dataset, as of `Lake`."""
        if dataset != "members" or not any(rule.racks for rule in self.settings.rules):
            return self.lake.read(
                dataset, snapshot_ids, groups=groups, topics=topics, columns=columns
            )
        more = None if columns is None else [*dict.fromkeys([*columns, *_ASKED])]
        table = self.lake.read(dataset, snapshot_ids, groups=groups, topics=topics, columns=more)
        rows = [self._with_rack(row) for row in table.to_pylist()]
        racked = pa.Table.from_pylist(rows, schema=table.schema)
        return racked if columns is None else racked.select(list(columns))

    def _with_rack(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        if row["rack_source"] not in (None, CONFIGURED):
            return row
        rule = self.settings.rule(row["cluster"], row["group_id"])
        rack = rule.rack_of(row["client_id"] or "", (row["client_host"] or "").removeprefix("/"))
        return row if rack is None else {**row, "rack": rack, "rack_source": CONFIGURED}

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, pa.Table], facts: Mapping[str, Any]
    ) -> Manifest:
        """As of `Lake`."""
        return self.lake.write(step, snapshot_id, tables, facts)

    def write_part(
        self, step: str, snapshot_id: str, run: str, part: int, tables: Mapping[str, pa.Table]
    ) -> WrittenPart:
        """As of `Lake`."""
        return self.lake.write_part(step, snapshot_id, run, part, tables)

    def finish(
        self,
        step: str,
        snapshot_id: str,
        run: str,
        parts: Iterable[WrittenPart],
        facts: Mapping[str, Any],
    ) -> Manifest:
        """As of `Lake`."""
        return self.lake.finish(step, snapshot_id, run, parts, facts)

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        """As of `Lake`."""
        return self.lake.manifest(step, snapshot_id)

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        """As of `Lake`."""
        return self.lake.snapshots(cluster, until=until, limit=limit)

    def clusters(self) -> list[str]:
        """As of `Lake`."""
        return self.lake.clusters()

    def expire(self, before: datetime) -> int:
        """As of `Lake`."""
        return self.lake.expire(before)

    def finished_days(self, before: datetime) -> list[LakeDay]:
        """As of `Lake`."""
        return self.lake.finished_days(before)

    def compact(self, day: LakeDay, before: datetime) -> Compacted:
        """As of `Lake`."""
        return self.lake.compact(day, before)
