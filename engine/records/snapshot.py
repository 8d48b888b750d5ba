"""Clusters and snapshots in the history database, with the steps that each snapshot has completed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Int32, Unit, column, record


@record
class ClusterRow:
    """One row per Kafka cluster with at least one snapshot."""

    cluster: str = column("Configured name.")
    kafka_cluster_id: str | None = column(
        "Cluster id of Kafka; a different id under the same name is an error."
    )
    first_seen_at: datetime = column("Start of its first snapshot.")


@record
class SnapshotRow:
    """One row per snapshot of a cluster, with the time at which each step completed."""

    snapshot_id: str = column("Id: <cluster>-<UTC second>-<6 random>.", head="Snapshot")
    cluster: str = column("Configured name of the cluster.")
    started_at: datetime = column("Start of the snapshot.")
    finished_at: datetime = column("End of the snapshot.")
    first_read_at: datetime | None = column(
        "Time when its first committed offset was read; null before its metrics are computed."
    )
    last_read_at: datetime | None = column(
        "Time when its last offset was read; null before its metrics are computed."
    )
    partial: bool = column("True if part of the cluster could not be read.")
    problems: tuple[str, ...] = column("Read errors, each with its cause.", default=())
    requests: Mapping[str, Any] = column(
        "Number of protocol requests by API name.", default_factory=dict, unit=Unit.REQUESTS
    )
    bytes_sent: int | None = column(
        "Bytes of its requests, without the overhead of TLS; null if unknown.",
        unit=Unit.BYTES,
        at_least=0,
    )
    bytes_received: int | None = column(
        "Bytes of its responses, without the overhead of TLS; null if unknown.",
        unit=Unit.BYTES,
        at_least=0,
    )
    group_count: Int32 | None = column("Number of groups.", unit=Unit.GROUPS, at_least=0)
    unreadable_groups: Int32 | None = column(
        "Number of groups that could not be read completely; null if unknown.",
        at_least=0,
    )
    schema_version: Int32 = column("Schema version of its tables in the lake.")
    config_version: str | None = column("Hash of the configuration that it was taken with.")
    written_at: datetime = column("Time when it was completely written to the lake.")
    validated_at: datetime | None = column(
        "Time when its first validation was stored; null before."
    )
    rejected: bool | None = column(
        "True if a validation rejected the whole snapshot; null before the first one."
    )
    measured_at: datetime | None = column("Time when its metrics were first stored; null before.")
    proposed_at: datetime | None = column(
        "Time when its candidates were first stored; null before."
    )
    advised_at: datetime | None = column(
        "Time when its advice was stored, even if there was no group to advise; null before."
    )
    adopted_at: datetime | None = column(
        "Time when a run started to compute its advice; null before."
    )
    claimed_by: str | None = column("Id of that run; null before, and without a scheduler.")
    superseded_by: str | None = column(
        "Id of the newer snapshot that got advice in its place; it has metrics but no advice. Null if not"
        " superseded.",
        none=True,
    )
    rolled_up_at: datetime | None = column(
        "Time when it was last rolled up; null if not yet, or if it changed since."
    )
    checks: Int32 | None = column("Number of checked expectations; null if unknown.")
    thinned_at: datetime | None = column(
        "Time when its metrics, candidates and repeated advice were deleted here; null before."
    )
