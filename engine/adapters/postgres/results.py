"""
Snapshots, what the steps found in them, and hours and days.

Ports: `SnapshotHistory`, `ResultHistory`, `RollupHistory`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import delete, func, update

from ...model.errors import ClusterChanged
from ...model.tables import MOMENT, Numbers, Table, repeated
from ...ports import ClusterDay, LeftBehind, Manifest, WaitingSnapshot
from ...records import PartitionMetrics, schema_of
from ...records.tables import CANDIDATE, SNAPSHOT, VALIDATION
from ...snapshots import split_snapshot_id
from .copy import blocks, load, worst
from .database import Database
from .statements import execute, write

EXPIRED_AT_ONCE = 100
"""Snapshots that go in a transaction: who stores waits for no more of them."""

PACKED_AT_ONCE = 7
"""Days that are packed in a turn: usually one is due, after an upgrade all are."""


class SnapshotTables(Database):
    """The port `SnapshotHistory`."""

    def now(self) -> datetime:
        with self._transaction() as connection:
            moment: datetime = connection.exec_driver_sql("SELECT now()").scalar_one()
        return moment

    def store_snapshot(self, manifest: Manifest, config_version: str | None = None) -> None:
        facts = manifest.facts
        kafka_id = facts.get("kafka_cluster_id")
        with self._transaction() as connection:
            known = execute(
                connection,
                "store_cluster",
                cluster=manifest.cluster,
                kafka_cluster_id=kafka_id,
                started_at=facts["started_at"],
            )[0]["kafka_cluster_id"]
            if kafka_id is not None and known != kafka_id:
                raise ClusterChanged(
                    f"cluster {manifest.cluster!r} was Kafka cluster {known}, now {kafka_id} answers.",
                    fix="Correct its bootstrap address, or configure the other cluster under a name of its own.",
                )
            execute(
                connection,
                "store_snapshot",
                snapshot_id=manifest.snapshot_id,
                cluster=manifest.cluster,
                started_at=facts["started_at"],
                finished_at=facts["finished_at"],
                problems=list(facts.get("problems", ())),
                requests=dict(facts.get("requests", {})),
                bytes_sent=facts.get("bytes_sent"),
                bytes_received=facts.get("bytes_received"),
                group_count=manifest.rows.get("groups"),
                unreadable_groups=facts.get("unreadable_groups"),
                schema_version=manifest.schema_version,
                config_version=config_version,
                written_at=manifest.written_at,
            )

    def missing_snapshots(self, snapshot_ids: Sequence[str]) -> list[str]:
        rows = self._execute("missing_snapshots", snapshot_ids=list(snapshot_ids))
        return [row["snapshot_id"] for row in rows]

    def snapshots_without_advice(self, older_than: timedelta) -> list[WaitingSnapshot]:
        rows = self._execute(
            "snapshots_without_advice", older_than_seconds=older_than.total_seconds()
        )
        return [WaitingSnapshot(**row) for row in rows]

    def take_up(
        self, cluster: str, run: str, *, passed: Sequence[str] = (), again: str | None = None
    ) -> str | None:
        """Take up the newest, under the cluster's lock; the others are superseded."""
        given = {"cluster": cluster, "run": run, "passed": list(passed), "again": again}
        found = self._execute("take_up", **given)
        return found[0]["snapshot_id"] if found else None

    def take_up_by_hand(self, snapshot_id: str, run: str) -> None:
        one = SNAPSHOT.c.snapshot_id == snapshot_id, SNAPSHOT.c.advised_at.is_(None)
        taken = update(SNAPSHOT).where(*one).values(adopted_at=func.clock_timestamp())
        self._write(taken, {"claimed_by": run})

    def left_behind(self, snapshot_id: str, limit: int = 50) -> list[LeftBehind]:
        rows = self._execute("left_behind", snapshot_id=snapshot_id, limit=limit)
        return [LeftBehind(**row) for row in rows]

    def expire(self, before: datetime) -> list[str]:
        """Delete what began before, some snapshots at a time, then days of samples; the ids of the snapshots."""
        gone: list[str] = []
        while len(gone) % EXPIRED_AT_ONCE == 0:
            with self._long_transaction() as connection:
                went = execute(connection, "expire", before=before, most=EXPIRED_AT_ONCE)
            if not went:
                break
            gone += [row["snapshot_id"] for row in went]
        with self._transaction() as connection:
            days = execute(connection, "finished_sample_days", before=before)
        for row in days:
            with self._long_transaction() as connection:
                execute(connection, "drop_sample_day", day=row["day"])
        return gone


class ResultTables(Database):
    """The port `ResultHistory`."""

    def store_validation(self, snapshot_id: str, stage: str, results: Table) -> None:
        cluster, _ = split_snapshot_id(snapshot_id)
        keys = {"snapshot_id": snapshot_id, "cluster": cluster, "stage": stage}
        own = {name: repeated(text, len(results)) for name, text in keys.items()}
        with self._writing(snapshot_id) as (connection, _):
            earlier = VALIDATION.c.snapshot_id == snapshot_id, VALIDATION.c.stage == stage
            write(connection, delete(VALIDATION).where(*earlier))
            load(connection, results.replaced(**own), "validation")
            execute(connection, "note_verdict", snapshot_id=snapshot_id)

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, Table]) -> None:
        """Replace groups and members; partitions by rank, and all while no newer snapshot has been measured."""
        partitions = tables["partition_metrics"].select(schema_of(PartitionMetrics))
        read = [moment for name in ("committed_at", "end_at") for moment in _ends(partitions[name])]
        with self._transaction() as connection:
            execute(connection, "make_sample_day", snapshot_id=snapshot_id)
        with self._writing(snapshot_id) as (connection, held):
            (cleared,) = execute(
                connection,
                "clear_metrics",
                snapshot_id=snapshot_id,
                first_read_at=min(read, default=None),
                last_read_at=max(read, default=None),
            )
            for name in ("group_metrics", "member_metrics"):
                load(connection, tables[name], name)
            load(connection, tables["rebalances"], "rebalance")
            load(connection, worst(partitions), "partition_worst")
            own = {"snapshot_id": snapshot_id, "cluster": held.cluster, "taken_at": held.started_at}
            execute(connection, "note_samples", **own)
            execute(connection, "note_forecasts", **own)
            if cleared["newest"]:
                load(connection, blocks(partitions), "partition_block")
                execute(connection, "note_diagnoses", snapshot_id=snapshot_id)
                execute(connection, "note_members", snapshot_id=snapshot_id)

    def store_candidates(self, snapshot_id: str, candidates: Table) -> None:
        with self._writing(snapshot_id) as (connection, held):
            write(connection, delete(CANDIDATE).where(CANDIDATE.c.snapshot_id == snapshot_id))
            when = func.coalesce(SNAPSHOT.c.proposed_at, func.now())
            snapshot = update(SNAPSHOT).where(SNAPSHOT.c.snapshot_id == snapshot_id)
            write(connection, snapshot.values(proposed_at=when, rolled_up_at=None, thinned_at=None))
            load(connection, candidates, "candidate")
            execute(connection, "note_candidates", snapshot_id=snapshot_id)
            own = {"snapshot_id": snapshot_id, "cluster": held.cluster, "taken_at": held.started_at}
            execute(connection, "note_forecasts", **own)


class RollupTables(Database):
    """The port `RollupHistory`."""

    def days_to_roll_up(self, before: datetime) -> list[ClusterDay]:
        with self._long_transaction() as connection:
            rows = execute(connection, "days_to_roll_up", before=before)
        return [ClusterDay(**row) for row in rows]

    def roll_up(self, day: ClusterDay, *, kept: datetime, before: datetime) -> int:
        given = {"cluster": day.cluster, "day": day.day, "kept": kept, "before": before}
        with self._long_transaction() as connection:
            return len(execute(connection, "roll_up", **given))

    def pack_samples(self, before: datetime) -> None:
        """A few days in a turn, each on its own, the newest first; one that somebody is at stays for the next."""
        with self._transaction() as connection:
            days = execute(connection, "finished_sample_days", before=before)
        for day in [row["day"] for row in days if not row["packed"]][: -PACKED_AT_ONCE - 1 : -1]:
            with self._long_transaction() as connection:
                execute(connection, "pack_sample_day", day=day)

    def expire_rollups(self, *, hours: datetime, days: datetime) -> None:
        with self._long_transaction() as connection:
            execute(connection, "expire_rollups", hours=hours, days=days)

    def expire_candidates(self, *, samples: datetime, hours: datetime, days: datetime) -> None:
        with self._long_transaction() as connection:
            execute(connection, "expire_candidates", samples=samples, hours=hours, days=days)


def _ends(moments: Numbers) -> list[datetime]:
    """The first and the last moment of a column; none where none is known."""
    known = moments.values[moments.known]
    ends = np.array([known.min(), known.max()]) if len(known) else known
    return Numbers(ends, MOMENT).to_pylist()
