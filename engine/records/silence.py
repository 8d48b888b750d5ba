"""What nobody is woken for, for a while: because somebody said so, or planned it."""

from __future__ import annotations

import enum
import fnmatch
from dataclasses import dataclass, field
from datetime import datetime

from ..model.columns import column


class SilenceKind(enum.StrEnum):
    """
    What is kept quiet.

    *Silence* and *maintenance* (planned in the configuration): nothing is told of the groups. *Ack*: somebody has taken
    up the incidents that were open when it began; nothing more is told of those until one gets more severe.
    """

    SILENCE = "silence"
    ACK = "ack"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceRow:
    """For which groups nobody is woken, from when to when, by whom and why."""

    silence_id: int | None = field(
        default=None, metadata=column("Number of the silence.", generated=True)
    )
    kind: SilenceKind = field(
        metadata=column(
            "Whether it is a silence, an ack (of incidents that were open when it began) or planned maintenance."
        )
    )
    cluster: str = field(metadata=column("Shell pattern of the clusters that it covers."))
    groups: str = field(metadata=column("Shell pattern of the groups that it covers."))
    starts_at: datetime = field(metadata=column("When it begins."))
    ends_at: datetime | None = field(
        default=None,
        metadata=column("When it is to end; null: with the incidents that it is about.", none=True),
    )
    reason: str = field(metadata=column("Why."))
    who: str = field(metadata=column("Who wanted it so."))
    created_at: datetime | None = field(
        default=None, metadata=column("When it was stored.", generated=True)
    )
    ended_at: datetime | None = field(
        default=None, metadata=column("When it was ended early; null when it was not.", none=True)
    )
    channels: tuple[str, ...] = field(
        default=(), metadata=column("Where people have been told that it began.")
    )
    end_told_at: datetime | None = field(
        default=None,
        metadata=column("When its end was told, or needed no word; null before.", none=True),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSilence(SilenceRow):
    """For which groups nobody is woken, from when to when, by whom and why. Maintenance is noted when it begins."""

    cluster_regex: str = field(
        metadata=column("The pattern of clusters as a regular expression of Postgres.")
    )
    groups_regex: str = field(
        metadata=column("The pattern of groups as a regular expression of Postgres.")
    )
