"""A lake that holds one snapshot, whose manifest and tables may disagree."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.errors import SnapshotNotFound
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Manifest
from evenkeel.engine.snapshots import SCHEMA_VERSION, STEPS, facts_of, picked


class OneLake:
    """As much of the port `Lake` as validation reads."""

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        more: Mapping[str, Table] | None = None,
        *,
        rows: Mapping[str, int] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            more: Tables of later steps.
            rows: What the manifest says instead of the tables' true sizes.
            facts: What the manifest says beside what the snapshot knows of itself.
        """
        self.snapshot, self.tables = snapshot, {**snapshot.tables, **(more or {})}
        self.rows, self.facts = rows or {}, facts_of(snapshot) | dict(facts or {})

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        """The manifest of a step of which there are tables."""
        own = {name: len(self.tables[name]) for name in STEPS[step] if name in self.tables}
        if not own or snapshot_id != self.snapshot.snapshot_id:
            raise SnapshotNotFound(f"no {step} of {snapshot_id}.")
        return Manifest(
            snapshot_id=snapshot_id,
            cluster=self.snapshot.cluster,
            step=step,
            schema_version=SCHEMA_VERSION,
            written_at=utc_now(),
            rows=own | {name: count for name, count in self.rows.items() if name in own},
            facts=self.facts,
        )

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Table:
        """The rows of a dataset."""
        if dataset not in self.tables:
            raise SnapshotNotFound(f"no {dataset} of {snapshot_ids}.")
        return picked(self.tables[dataset], groups, topics, columns)
