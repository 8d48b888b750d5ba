"""Stored snapshots with the racks that the configuration gives to members that told none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from evenkeel.engine.config import Settings
from evenkeel.engine.ports import Lake, Manifest

CONFIGURED = "configured"
"""The source of a rack that the member did not tell itself."""


@dataclass(frozen=True)
class RackedLake:
    """A lake to read from; members without a rack of their own get that of today's rules, else what was stored."""

    lake: Lake
    settings: Settings

    def read(self, dataset: str, snapshot_ids: Sequence[str]) -> pa.Table:
        """The rows of a dataset, as of `Lake`."""
        table = self.lake.read(dataset, snapshot_ids)
        if dataset != "members" or not any(rule.racks for rule in self.settings.rules):
            return table
        rows = [self._with_rack(row) for row in table.to_pylist()]
        return pa.Table.from_pylist(rows, schema=table.schema)

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

    def files(self, dataset: str, snapshot_ids: Sequence[str]) -> list[str]:
        """As of `Lake`."""
        return self.lake.files(dataset, snapshot_ids)

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
