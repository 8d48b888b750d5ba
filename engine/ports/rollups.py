"""The port of rollups: hours and days of groups and of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDay:
    """A day of a cluster in UTC, by its start."""

    cluster: str
    day: datetime

    def __str__(self) -> str:
        """Text for messages."""
        return f"{self.cluster}, {self.day:%Y-%m-%d}"


class RollupHistory(Protocol):
    """Hours and days of every group, rolled up from snapshots; repeating it replaces rows."""

    def days_to_roll_up(self, before: datetime) -> list[ClusterDay]:
        """
        Days with a past hour that has a snapshot that is not rolled up, oldest first.

        A late snapshot, or one with replaced metrics or advice, is not rolled up.
        """

    def roll_up(self, day: ClusterDay, *, kept: datetime, before: datetime) -> int:
        """
        Roll up incomplete past hours of a day, and the day.

        Args:
            day: One of `days_to_roll_up`.
            kept: Hours that began before may have lost snapshots and are kept.
            before: Only hours that ended before.

        Returns:
            Number of snapshots that were rolled up.
        """

    def pack_samples(self, before: datetime) -> None:
        """Pack the samples of past days, once per day."""

    def expire_candidates(self, *, samples: datetime, hours: datetime, days: datetime) -> None:
        """
        Delete samples, hours and days of candidates from before a moment each.

        Samples are deleted by whole hours, after they are rolled up.
        """

    def expire_rollups(self, *, hours: datetime, days: datetime) -> None:
        """Delete old hours and days, and diagnoses that ended before the oldest day."""
