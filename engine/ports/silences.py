"""The port of silences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ..records import SilenceRow


class Silences(Protocol):
    """Silences, acknowledgements, and maintenance windows that have started."""

    def silences(self, now: datetime) -> list[SilenceRow]:
        """Active and future ones, and those whose end is not notified yet, by number."""

    def add_silence(self, silence: SilenceRow) -> int:
        """
        Store one.

        A stored maintenance window with the same patterns and start is updated, unless it was ended early.

        Returns:
            Its number.
        """

    def end_silence(self, silence_id: int, now: datetime) -> SilenceRow | None:
        """End an active or future one and return it; None if there is none."""

    def note_silence(
        self, silence_id: int, channels: Sequence[str], end_notified_at: datetime | None
    ) -> None:
        """
        Store the notifications of one.

        Args:
            silence_id: Its number.
            channels: Channels that were notified of its start.
            end_notified_at: Time when its end was notified, or needed no notification; None before.
        """

    def newest_groups(self) -> dict[str, list[str]]:
        """The groups in the newest snapshot with metrics of each cluster, by name."""
