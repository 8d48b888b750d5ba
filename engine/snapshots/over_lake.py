"""A lake seen through another: whoever knows more of what is stored answers `read`, all else is the lake's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from ..ports import Compacted, Lake, LakeDay, Manifest, WrittenPart


class OverLake:
    """
    A lake as it is (port `Lake`); what a subclass answers comes first.

    Args:
        lake: What lies below.
    """

    def __init__(self, lake: Lake) -> None:
        self.lake = lake

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        coded: bool = False,
    ) -> pa.Table:
        """The rows of a dataset, as of `Lake`."""
        return self.lake.read(
            dataset, snapshot_ids, groups=groups, topics=topics, columns=columns, coded=coded
        )

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
