"""What is left of the history when its snapshots are gone: hours and days, of groups and of strategies on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDay:
    """A day of a cluster in UTC, by the moment it began."""

    cluster: str
    day: datetime

    def __str__(self) -> str:
        """As people are told of it."""
        return f"{self.cluster}, {self.day:%Y-%m-%d}"


class RollupHistory(Protocol):
    """Hours and days of every group, made of snapshots; what is made again replaces what was made before."""

    def days_to_roll_up(self, before: datetime) -> list[ClusterDay]:
        """
        Days with an hour that was over by then and has a snapshot that is not counted in it, oldest first.

        A snapshot whose metrics or advice are stored again, or that comes late, is not counted.
        """

    def roll_up(self, day: ClusterDay, *, kept: datetime, before: datetime) -> int:
        """
        Make the hours of a day that were over by then and are not whole, and the day of them.

        Args:
            day: One of `days_to_roll_up`.
            kept: Of an hour that began before, snapshots may be gone: what was made of it stays.
            before: Hours that were over by then.

        Returns:
            How many snapshots are counted now.
        """

    def pack_samples(self, before: datetime) -> None:
        """Pack what was kept of every snapshot of the days that were over by then; once for each day."""

    def expire_candidates(self, *, samples: datetime, hours: datetime, days: datetime) -> None:
        """
        Forget what strategies would have given in snapshots, hours and days that began before a moment each.

        Of snapshots whole hours go, and none that are not counted in their hour.
        """

    def expire_rollups(self, *, hours: datetime, days: datetime) -> None:
        """Forget the hours that began before one moment and the days before another, and diagnoses that ended then."""
