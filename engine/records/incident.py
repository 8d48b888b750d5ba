"""Something that is wrong for a while."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evenkeel.engine.columns import column


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRow:
    """Something that is wrong for a while: at most one open of each kind per cluster and group."""

    incident_id: int | None = field(
        default=None, metadata=column("Number of the incident.", generated=True)
    )
    cluster: str = field(metadata=column("Configured name of the cluster."))
    group_id: str | None = field(
        default=None,
        metadata=column(
            "The consumer group; null when the whole cluster is concerned.", head="Group", none=True
        ),
    )
    kind: str = field(metadata=column("What is wrong."))
    severity: str = field(metadata=column("How bad it is."))
    opened_at: datetime = field(metadata=column("When it was first seen."))
    last_seen_at: datetime = field(metadata=column("When it was last seen."))
    closed_at: datetime | None = field(
        default=None, metadata=column("When it was over; null while it is open.")
    )
    facts: Mapping[str, Any] = field(
        default_factory=dict, metadata=column("What is known about it, by name.")
    )
