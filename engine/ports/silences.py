"""Of which groups less is said for a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ..records import SilenceRow


class Silences(Protocol):
    """What people silenced and acknowledged, and the maintenance windows that have begun."""

    def silences(self, now: datetime) -> list[SilenceRow]:
        """Those that hold, those that are to come, and those of whose end nothing was told yet, by their numbers."""

    def add_silence(self, silence: SilenceRow) -> int:
        """
        Keep one.

        Of a maintenance window that was noted before (its patterns and its beginning) and not ended early, what is said
        of it now counts.

        Returns:
            Its number.
        """

    def end_silence(self, silence_id: int, now: datetime) -> SilenceRow | None:
        """End one that holds or is to come, and what it is then; None when there is no such one."""

    def note_silence(
        self, silence_id: int, channels: Sequence[str], end_notified_at: datetime | None
    ) -> None:
        """
        Keep what has been told of one.

        Args:
            silence_id: Its number.
            channels: Where it was told that it began.
            end_notified_at: When its end was told, or needed no word; None: not yet.
        """

    def newest_groups(self) -> dict[str, list[str]]:
        """The groups of each cluster, by name, as its newest measured snapshot has them."""
