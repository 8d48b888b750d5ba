"""Past snapshots judged again, in memory."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow as pa

from evenkeel.engine.adapters.memory.tables import Memory
from evenkeel.engine.model import Verdict, utc_now
from evenkeel.engine.ports import AdviceAsOf, BackfillOutcome
from evenkeel.engine.records import BackfilledGroup, BackfillRow, records_of

Key = tuple[str, str, str]


def _rules(row: BackfillRow) -> Key:
    return (row.cluster, row.config_version, row.evenkeel_version)


class MemoryBackfills(Memory):
    """The port `Backfills`; of candidates nothing is asked later, so they are not kept."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        super().__init__(clock)
        self.backfills: dict[Key, BackfillRow] = {}
        self.backfilled: list[BackfilledGroup] = []

    def backfill_by_rules(
        self, cluster: str, config_version: str, evenkeel_version: str
    ) -> BackfillRow | None:
        """The row of these rules."""
        return self.backfills.get((cluster, config_version, evenkeel_version))

    def keep_backfill(self, row: BackfillRow) -> BackfillRow:
        """Keep it under its rules, with a number."""
        known = self.backfills
        number = known[_rules(row)].backfill_id if _rules(row) in known else len(known) + 1
        known[_rules(row)] = replace(row, backfill_id=number)
        return known[_rules(row)]

    def store_backfilled(
        self,
        row: BackfillRow,
        moments: Sequence[datetime],
        groups: pa.Table,
        candidates: pa.Table,
    ) -> None:
        """Replace the rows of these moments and groups."""
        number = self.keep_backfill(row).backfill_id
        assert number is not None
        first, last = min(moments), max(moments)
        self.backfilled = [
            each
            for each in self.backfilled
            if each.backfill_id != number
            or not first <= each.taken_at <= last
            or not fnmatch.fnmatchcase(each.group_id, row.groups)
        ]
        made = records_of(BackfilledGroup, groups)
        self.backfilled += [replace(each, backfill_id=number) for each in made]

    def backfilled_intervals(self, backfill_id: int, taken_at: datetime) -> dict[str, float]:
        """Those of the rows of that moment."""
        return {
            each.group_id: each.numbers.commit_interval_seconds
            for each in self.backfilled
            if (each.backfill_id, each.taken_at) == (backfill_id, taken_at)
            and each.numbers.commit_interval_seconds is not None
        }

    def advised_between(self, cluster: str, since: datetime, until: datetime) -> list[str]:
        """Those that have advice."""
        stored = self.tables.snapshots.items()
        of_cluster = [(name, each) for name, each in stored if each.cluster == cluster]
        chosen = sorted(of_cluster, key=lambda item: item[1].age)
        return [n for n, each in chosen if each.advised and since <= each.started_at < until]

    def advice_as_of(
        self, cluster: str, snapshot_id: str, group_ids: Sequence[str]
    ) -> list[AdviceAsOf]:
        """The newest row of each group up to the snapshot, and the course of the one before it."""
        answers = []
        for group in group_ids:
            rows = sorted(
                (
                    row
                    for of_groups in self.tables.advice.values()
                    for row in of_groups.values()
                    if (row.cluster, row.group_id) == (cluster, group)
                    and row.snapshot_id <= snapshot_id
                ),
                key=lambda row: row.snapshot_id,
            )
            if not rows:
                continue
            before = [row for row in rows if row.snapshot_id < snapshot_id]
            judged = rows[-1].verdict is not Verdict.NOT_JUDGED
            answers.append(
                AdviceAsOf(
                    group_id=group,
                    judged=judged,
                    strategy=rows[-1].strategy if judged else None,
                    course=before[-1].course if before else None,
                )
            )
        return answers

    def backfill_outcome(self, row: BackfillRow) -> BackfillOutcome:
        """Count the groups."""
        rows = [
            each
            for each in self.backfilled
            if each.backfill_id == row.backfill_id
            and row.since <= each.taken_at < row.until
            and fnmatch.fnmatchcase(each.group_id, row.groups)
        ]
        return BackfillOutcome(
            groups=len({each.group_id for each in rows}),
            differing=len({each.group_id for each in rows if each.compared.differs}),
        )
