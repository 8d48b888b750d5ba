"""Past snapshots judged again by other rules, beside what was said then: what the history is asked for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import pyarrow as pa

from evenkeel.engine.records import BackfillRow, Course


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceAsOf:
    """
    What a group was told as of a snapshot.

    Attributes:
        group_id: The group.
        judged: Whether it was told to switch or to stay; None where that is another than before, and how far its advice
            had come just then is not kept any more.
        strategy: The strategy that won; None where none did.
        course: How far its advice had come before that snapshot; None where there is nothing to remember.
    """

    group_id: str
    judged: bool | None
    strategy: str | None
    course: Course | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillOutcome:
    """Of how many groups a backfill says something else than was said then, of how many that it judged."""

    groups: int
    differing: int


class Backfills(Protocol):
    """What backfills make, each in rows of its own: nothing else of the history is written."""

    def backfill_by_rules(
        self, cluster: str, config_version: str, evenkeel_version: str
    ) -> BackfillRow | None:
        """The backfill of a cluster by a configuration and a version; None where there is none."""

    def keep_backfill(self, row: BackfillRow) -> BackfillRow:
        """Note a backfill, instead of what was noted of the same cluster and rules; the row with its number."""

    def store_backfilled(
        self,
        row: BackfillRow,
        moments: Sequence[datetime],
        groups: pa.Table,
        candidates: pa.Table,
    ) -> None:
        """
        Add what was made of some snapshots instead of what was there of them and of these groups, and note how far the
        backfill has come: all in one transaction.

        Args:
            row: The backfill, as it is noted then; its groups are those of its pattern.
            moments: When the snapshots were taken.
            groups: Rows of `BackfilledGroup`, of which `backfill_id` is of no meaning.
            candidates: Rows of `BackfilledCandidate`, likewise.
        """

    def backfilled_intervals(self, backfill_id: int, taken_at: datetime) -> dict[str, float]:
        """Seconds between the commits of groups as a backfill learned them by a snapshot, by group id; none unknown."""

    def advised_between(self, cluster: str, since: datetime, until: datetime) -> list[str]:
        """Snapshots of a cluster that were advised on and begun from one moment on, before another; oldest first."""

    def advice_as_of(
        self, cluster: str, snapshot_id: str, group_ids: Sequence[str]
    ) -> list[AdviceAsOf]:
        """What those of some groups were told as of a snapshot that had been told something by then."""

    def backfill_outcome(self, row: BackfillRow) -> BackfillOutcome:
        """What the newest run of a backfill came to."""
