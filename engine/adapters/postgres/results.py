"""Snapshots, and what the steps found in them: ports `SnapshotHistory` and `ResultHistory`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Update, delete, func, update

from ...model.errors import ClusterChanged
from ...ports import LeftBehind, Manifest, WaitingSnapshot
from ...records import PartitionMetrics, arrow_schema
from ...records.tables import CANDIDATE, SNAPSHOT, VALIDATION
from ...snapshots import split_snapshot_id
from .copy import load
from .database import Database
from .statements import execute, write
from .worst import worst

EXPIRED_AT_ONCE = 100
"""Snapshots that go in a transaction: who stores waits for no more of them."""


class SnapshotTables(Database):
    """The port `SnapshotHistory`."""

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
        """Take up the newest, under the cluster's lock; the others are overtaken."""
        given = {"cluster": cluster, "run": run, "passed": list(passed), "again": again}
        found = self._execute("take_up", **given)
        return found[0]["snapshot_id"] if found else None

    def take_up_by_hand(self, snapshot_id: str, run: str) -> None:
        one = SNAPSHOT.c.snapshot_id == snapshot_id, SNAPSHOT.c.advised_at.is_(None)
        taken = update(SNAPSHOT).where(*one).values(taken_up_at=func.clock_timestamp())
        self._write(taken, {"taken_up_by": run})

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

    def store_validation(self, snapshot_id: str, stage: str, results: pa.Table) -> None:
        cluster, _ = split_snapshot_id(snapshot_id)
        keys = {"snapshot_id": snapshot_id, "cluster": cluster, "stage": stage}
        with self._writing(snapshot_id) as (connection, _):
            earlier = VALIDATION.c.snapshot_id == snapshot_id, VALIDATION.c.stage == stage
            write(connection, delete(VALIDATION).where(*earlier))
            load(connection, _with(results, keys), "validation")
            execute(connection, "note_verdict", snapshot_id=snapshot_id)

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, pa.Table]) -> None:
        """Replace groups and members; partitions by rank, and all while no newer snapshot has been measured."""
        partitions = tables["partition_metrics"].select(arrow_schema(PartitionMetrics).names)
        first, last = _extent(partitions["committed_at"], partitions["end_at"])
        with self._transaction() as connection:
            execute(connection, "make_sample_day", snapshot_id=snapshot_id)
        with self._writing(snapshot_id) as (connection, held):
            (cleared,) = execute(
                connection,
                "clear_metrics",
                snapshot_id=snapshot_id,
                first_read_at=first,
                last_read_at=last,
            )
            for name in ("group_metrics", "member_metrics"):
                load(connection, tables[name], name)
            load(connection, worst(partitions), "partition_worst")
            own = {"snapshot_id": snapshot_id, "cluster": held.cluster, "taken_at": held.started_at}
            execute(connection, "note_samples", **own)
            execute(connection, "note_forecasts", **own)
            if cleared["newest"]:
                load(connection, partitions, "partition_latest")
                execute(connection, "note_diagnoses", snapshot_id=snapshot_id)
                execute(connection, "note_members", snapshot_id=snapshot_id)

    def store_candidates(self, snapshot_id: str, candidates: pa.Table) -> None:
        with self._writing(snapshot_id) as (connection, held):
            write(connection, delete(CANDIDATE).where(CANDIDATE.c.snapshot_id == snapshot_id))
            write(connection, _proposed(snapshot_id))
            load(connection, candidates, "candidate")
            own = {"snapshot_id": snapshot_id, "cluster": held.cluster, "taken_at": held.started_at}
            execute(connection, "note_forecasts", **own)


def _proposed(snapshot_id: str) -> Update:
    """Note that a snapshot has its candidates, and has them here."""
    snapshot = SNAPSHOT.c
    when = func.coalesce(snapshot.proposed_at, func.now())
    own = update(SNAPSHOT).where(snapshot.snapshot_id == snapshot_id)
    return own.values(proposed_at=when, thinned_at=None)


def _with(table: pa.Table, same: Mapping[str, str]) -> pa.Table:
    """A table with the same text in every row of some columns."""
    for name, text in same.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, pa.repeat(text, len(table)))
    return table


def _extent(*moments: pa.ChunkedArray) -> tuple[datetime | None, datetime | None]:
    """The first and the last of some moments; None where there are none."""
    ends = [pc.min_max(column).as_py() for column in moments]
    first, last = ([end[name] for end in ends if end[name]] for name in ("min", "max"))
    return min(first, default=None), max(last, default=None)
