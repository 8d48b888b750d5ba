"""What nobody is woken for, for a while: because somebody said so, or planned it."""

from __future__ import annotations

import enum
import fnmatch
from datetime import datetime

from ..model.columns import column, record


class SilenceKind(enum.StrEnum):
    """
    What is kept quiet.

    *Silence* and *maintenance* (planned in the configuration): nothing is told of the groups. *Ack*: somebody has taken
    up the incidents that were open when it began; nothing more is told of those until one gets more severe.
    """

    SILENCE = "silence"
    ACK = "ack"
    MAINTENANCE = "maintenance"


@record
class SilenceRow:
    """For which groups nobody is woken, from when to when, by whom and why."""

    silence_id: int | None = column("Number of the silence.", default=None, generated=True)
    kind: SilenceKind = column(
        "Whether it is a silence, an ack (of incidents that were open when it began) or planned maintenance."
    )
    cluster: str = column("Shell pattern of the clusters that it covers.")
    groups: str = column("Shell pattern of the groups that it covers.")
    starts_at: datetime = column("When it begins.")
    ends_at: datetime | None = column(
        "When it is to end; null: with the incidents that it is about.", default=None, none=True
    )
    reason: str = column("Why.")
    who: str = column("Who wanted it so.")
    created_at: datetime | None = column("When it was stored.", default=None, generated=True)
    ended_at: datetime | None = column(
        "When it was ended early; null when it was not.", default=None, none=True
    )
    channels: tuple[str, ...] = column("Where people have been told that it began.", default=())
    end_notified_at: datetime | None = column(
        "When its end was told, or needed no word; null before.", default=None, none=True
    )

    @property
    def over_at(self) -> datetime | None:
        """When it is over; None while nobody knows."""
        ends = [at for at in (self.ends_at, self.ended_at) if at is not None]
        return min(ends, default=None)

    def holds(self, at: datetime) -> bool:
        """Whether it holds at a moment."""
        over_at = self.over_at
        return self.starts_at <= at and (over_at is None or at < over_at)

    def covers(self, cluster: str, group: str) -> bool:
        """Whether a group of a cluster is meant."""
        meant = fnmatch.fnmatchcase(cluster, self.cluster)
        return meant and fnmatch.fnmatchcase(group, self.groups)


@record
class StoredSilence(SilenceRow):
    """For which groups nobody is woken, from when to when, by whom and why. Maintenance is noted when it begins."""

    cluster_regex: str = column("The pattern of clusters as a regular expression of Postgres.")
    groups_regex: str = column("The pattern of groups as a regular expression of Postgres.")
