"""A cluster, and a reading of it as the history knows it: how it went, and how far the steps after it came."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Int32, Unit, column, record


@record
class ClusterRow:
    """A Kafka cluster that has a snapshot."""

    cluster: str = column("Configured name.")
    kafka_cluster_id: str | None = column(
        "The id Kafka gave itself. Another one under the same name is an error."
    )
    first_seen_at: datetime = column("When the reading of its first snapshot began.")


@record
class SnapshotRow:
    """A reading of a cluster, and how far it came: a step that is done leaves its moment."""

    snapshot_id: str = column("<cluster>-<UTC second>-<6 random>.", head="Snapshot")
    cluster: str = column("Which cluster was read.")
    started_at: datetime = column("When the reading began.")
    finished_at: datetime = column("When the reading ended.")
    first_read_at: datetime | None = column(
        "When the first of its committed offsets was read (log starts before it); null before it is measured."
    )
    last_read_at: datetime | None = column(
        "When the last of its measured offsets was read; null before it is measured."
    )
    partial: bool = column("Whether something that belongs in it could not be read.")
    problems: tuple[str, ...] = column("What could not be read, each with its cause.", default=())
    requests: Mapping[str, Any] = column(
        "Number of protocol requests by API name.", default_factory=dict, unit=Unit.REQUESTS
    )
    bytes_sent: int | None = column(
        "Bytes of the requests it took, without what TLS adds; null when not noted.",
        unit=Unit.BYTES,
        at_least=0,
    )
    bytes_received: int | None = column(
        "Bytes of the responses, without what TLS adds; null when not noted.",
        unit=Unit.BYTES,
        at_least=0,
    )
    group_count: Int32 | None = column("Number of groups in it.", unit=Unit.GROUPS, at_least=0)
    unreadable_groups: Int32 | None = column(
        "Number of its groups that could not be read, in whole or in part; null when that was not noted.",
        at_least=0,
    )
    schema_version: Int32 = column("Version of its tables in the lake.")
    config_version: str | None = column("Hash of the configuration it was taken with.")
    written_at: datetime = column("When the lake had it, whole.")
    validated_at: datetime | None = column("When its first validation was stored; null before.")
    rejected: bool | None = column(
        "Whether a validation rejected it as a whole; null before the first one."
    )
    measured_at: datetime | None = column("When its metrics were first stored; null before.")
    proposed_at: datetime | None = column("When its candidates were first stored; null before.")
    advised_at: datetime | None = column(
        "When its advice was stored, also if there was no group to advise; null before."
    )
    adopted_at: datetime | None = column("When a run began to work on its advice; null before.")
    claimed_by: str | None = column(
        "Id of that run; null before, and where no schedule runs the steps."
    )
    superseded_by: str | None = column(
        "The newer snapshot of its cluster that was advised on in its place; it has metrics, no advice of its own."
        " Null: none was.",
        none=True,
    )
    rolled_up_at: datetime | None = column(
        "When it was last counted in its hour; null: not yet, or something of it was stored since."
    )
    checks: Int32 | None = column(
        "Number of expectations that were checked; null when none was, or not counted."
    )
    thinned_at: datetime | None = column(
        "When its metrics, candidates and repeated advice were forgotten here; null: what it got is here."
    )
