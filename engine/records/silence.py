"""Silences, acknowledgements and maintenance windows."""

from __future__ import annotations

import enum
import fnmatch
from datetime import datetime

from ..model.columns import column, record


class SilenceKind(enum.StrEnum):
    """
    Kind of a silence.

    A *silence*, or a *maintenance* window from the configuration, suppresses all notifications of its groups. An *ack*
    suppresses those of the incidents that are open when it starts, until one gets more severe.
    """

    SILENCE = "silence"
    ACK = "ack"
    MAINTENANCE = "maintenance"


@record
class SilenceRow:
    """One row per silence, ack or maintenance window: its groups, its period, its author and its reason."""

    silence_id: int | None = column("Number of the silence.", default=None, generated=True)
    kind: SilenceKind = column(
        "Kind: silence, ack (of the incidents that were open at its start) or maintenance."
    )
    cluster: str = column("Shell pattern of its clusters.")
    groups: str = column("Shell pattern of its groups.")
    starts_at: datetime = column("Start.")
    ends_at: datetime | None = column(
        "Planned end; null if it ends with its incidents.", default=None, none=True
    )
    reason: str = column("Reason.")
    who: str = column("Author.")
    created_at: datetime | None = column("Time when it was stored.", default=None, generated=True)
    ended_at: datetime | None = column(
        "Early end; null if it was not ended early.", default=None, none=True
    )
    channels: tuple[str, ...] = column("Channels that were notified of its start.", default=())
    end_notified_at: datetime | None = column(
        "Time when its end was notified, or needed no notification; null before.",
        default=None,
        none=True,
    )

    @property
    def over_at(self) -> datetime | None:
        """Its end; None while unknown."""
        ends = [at for at in (self.ends_at, self.ended_at) if at is not None]
        return min(ends, default=None)

    def holds(self, at: datetime) -> bool:
        """Whether it is active at a moment."""
        over_at = self.over_at
        return self.starts_at <= at and (over_at is None or at < over_at)

    def covers(self, cluster: str, group: str) -> bool:
        """Whether it covers a group of a cluster."""
        meant = fnmatch.fnmatchcase(cluster, self.cluster)
        return meant and fnmatch.fnmatchcase(group, self.groups)


@record
class StoredSilence(SilenceRow):
    """One row per silence, ack or maintenance window. Maintenance windows are stored when they start."""

    cluster_regex: str = column("The pattern of clusters as a regular expression of Postgres.")
    groups_regex: str = column("The pattern of groups as a regular expression of Postgres.")
