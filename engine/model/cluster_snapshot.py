"""One reading of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from .facts import Fact
from .moments import check_aware
from .tables import Table


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterSnapshot:
    """
    A snapshot of a cluster: five tables and details of the reading.

    *problems* are read errors (groups, brokers, partitions) with their causes; any makes the snapshot partial. *notes*
    are limitations, such as missing optional permissions or old brokers; they don't make it partial. *requests* counts
    protocol requests by API name; *bytes_sent* and *bytes_received* are those of requests and responses without the
    overhead of TLS, None if unknown.
    """

    snapshot_id: str
    cluster: str
    kafka_cluster_id: str | None
    started_at: datetime
    finished_at: datetime
    tables: Mapping[str, Table]
    problems: tuple[Fact, ...] = ()
    notes: tuple[Fact, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)
    bytes_sent: int | None = None
    bytes_received: int | None = None

    def __post_init__(self) -> None:
        check_aware(self.started_at, "started_at")
        check_aware(self.finished_at, "finished_at")

    @property
    def partial(self) -> bool:
        """Whether something that should be in it could not be read."""
        return bool(self.problems)
