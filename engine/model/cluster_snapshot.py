"""One reading of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from .facts import Fact
from .moments import check_aware


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterSnapshot:
    """
    One reading of one cluster: the five tables and how the reading went.

    *problems* are what could not be read (groups, brokers, partitions), its cause as a quote; any makes it partial.
    *notes* lists what cannot be known, for want of a right that is not needed or of newer brokers, and what
    makes numbers less sharp; it makes nothing partial. *requests* counts protocol requests by API name; *bytes_sent*
    and *bytes_received* are those of requests and responses, without what TLS adds, None where nobody counted.
    """

    snapshot_id: str
    cluster: str
    kafka_cluster_id: str | None
    started_at: datetime
    finished_at: datetime
    tables: Mapping[str, pa.Table]
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
