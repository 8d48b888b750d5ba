"""
The step that judges past snapshots again after a change of the configuration or of evenkeel, beside what was said then.

It reads the lake and writes rows of its own (`Backfills`), kept by configuration and version. What the pipeline wrote
stays as it is: advice, incidents and messages are never rewritten, and nobody is told. Snapshots are judged a stretch
at a time, oldest first, each with what was known by then; interrupted at any point, the next run of the same question
goes on behind the last stretch that was stored.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

import pyarrow.compute as pc

from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import split_snapshot_id
from evenkeel.engine.errors import ClusterBusy
from evenkeel.engine.model import utc_now
from evenkeel.engine.ports import AdviceAsOf, Backfills, Lake, Locks, Queries
from evenkeel.engine.records import BackfillRow
from evenkeel.engine.steps.backfill_plan import Plan, Question, planned
from evenkeel.engine.steps.backfilled import Judged, Stretch, judge_stretch
from evenkeel.engine.steps.chunks import cut, work_of
from evenkeel.engine.steps.reading import taken_at
from evenkeel.engine.steps.validation import rejected_as_a_whole

SNAPSHOTS = 36
"""Snapshots of a stretch at most: with 12 that the first looks back on, every third is read twice."""

ROWS = 200_000
"""Rows of a stretch at most, unless a single snapshot has more: all of them are in memory when they are stored."""

MOST_CHANGES = 10_000
"""Changes that are looked at for what differs of a run."""

WORK = 20_000
"""Partitions and members judged at once in this process: of these, all that a snapshot looks back on is in memory."""

MOST_COVERED = 3600.0
"""Seconds that a snapshot stands for at most, as in the hours of a group."""


class BackfillPorts(Backfills, Locks, Protocol):
    """What a backfill asks of the history."""


Judge = Callable[[Stretch, dict[str, int]], Judged]
"""Judges the groups of a stretch, given the estimated work of each."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a backfill is: snapshots done of all, when the last was taken, and an estimate of the seconds left."""

    done: int
    of: int
    at: datetime
    left_seconds: float


Tell = Callable[[Progress], object]
"""What hears of the progress, after each stretch."""


def backfill(
    lake: Lake,
    history: BackfillPorts,
    settings: Settings,
    question: Question,
    *,
    judge: Judge | None = None,
    budget: timedelta | None = None,
    tell: Tell = lambda progress: None,
) -> BackfillRow:
    """
    Judge the snapshots of a question again, and keep what comes of it; asked again when it was done, it begins anew.

    Args:
        judge: Judges a stretch; None: in this process.
        budget: Begin with no further stretch after so long; the first is always done. None: do all of it.
        tell: Hears of the progress.

    Returns:
        The backfill; where it is not finished, the next run goes on with it.

    Raises:
        InputError: As for `planned`.
        ClusterBusy: Another run judges snapshots of this cluster again.
    """
    with _alone(history, question.cluster):
        plan = planned(lake, history, settings, question)
        row = history.keep_backfill(plan.row)
        began, before = time.monotonic(), row.done_snapshots
        stretches = _Stretches(lake, history, settings, question, plan)
        for ids in stretches.cut():
            stretch, work = stretches.of(row, ids)
            judged = (judge or _in_process(lake, settings))(stretch, work)
            row = replace(row, done_snapshots=row.done_snapshots + len(ids), done_through=ids[-1])
            row = _finished(row)
            moments = [taken_at(lake, one) for one in ids]
            history.store_backfilled(row, moments, judged.groups, judged.candidates)
            spent = time.monotonic() - began
            each = spent / (row.done_snapshots - before)
            tell(
                Progress(
                    done=row.done_snapshots,
                    of=row.snapshots,
                    at=moments[-1],
                    left_seconds=each * (row.snapshots - row.done_snapshots),
                )
            )
            if budget is not None and spent >= budget.total_seconds():
                break
        return row if plan.left else history.keep_backfill(_finished(row))


def changes_of(history: Queries, row: BackfillRow) -> list[dict[str, Any]]:
    """What the newest run of a backfill says otherwise than was said then: rows of the query `backfill_changes`."""
    rows = history.query(
        "backfill_changes",
        cluster=row.cluster,
        config_version=row.config_version,
        since=row.since,
        until=row.until,
        limit=MOST_CHANGES,
    )
    return [each for each in rows if fnmatch.fnmatchcase(each["group_id"], row.groups)]


def _finished(row: BackfillRow) -> BackfillRow:
    if row.done_snapshots < row.snapshots:
        return row
    return replace(row, finished_at=utc_now())


@contextmanager
def _alone(history: Locks, cluster: str) -> Iterator[None]:
    """Not beside another backfill of the cluster; the pipeline's own locks are others."""
    with ExitStack() as held:
        try:
            held.enter_context(history.lock(f"backfill of {cluster}"))
        except ClusterBusy:
            raise ClusterBusy(
                f"another backfill of {cluster} is still running.",
                fix="Let it finish, or end it: the next one of the same days goes on where it was.",
            ) from None
        yield


def _in_process(lake: Lake, settings: Settings) -> Judge:
    def judge(stretch: Stretch, work: dict[str, int]) -> Judged:
        return Judged.of(
            [judge_stretch(lake, settings, stretch, chunk.groups) for chunk in cut(work, WORK)]
        )

    return judge


class _Stretches:
    """The snapshots that are left, a stretch at a time."""

    def __init__(
        self,
        lake: Lake,
        history: Backfills,
        settings: Settings,
        question: Question,
        plan: Plan,
    ) -> None:
        self.lake, self.history, self.settings = lake, history, settings
        self.question, self.plan = question, plan
        self.place = {one: number for number, one in enumerate(plan.every)}

    def cut(self) -> Iterator[tuple[str, ...]]:
        """As many at a time as their groups allow, oldest first."""
        left = self.plan.left
        while left:
            rows = len(self._names(left[:1])) or 1
            number = max(1, min(SNAPSHOTS, ROWS // rows))
            yield left[:number]
            left = left[number:]

    def of(self, row: BackfillRow, ids: tuple[str, ...]) -> tuple[Stretch, dict[str, int]]:
        """What is known of some snapshots before they are judged, and the estimated work of their groups."""
        first, cluster = self.place[ids[0]], self.question.cluster
        earlier = self.plan.every[max(0, first - self.settings.lookback) : first][::-1]
        rejected = {
            one for one in (*earlier, *ids) if rejected_as_a_whole(self.lake, one, "snapshot")
        }
        proposed = self.plan.proposed & ({*ids} - rejected)
        work = self._work(ids)
        stretch = Stretch(
            cluster=cluster,
            ids=ids,
            earlier=earlier,
            rejected=frozenset(rejected),
            covered_seconds={one: seconds for one in ids if (seconds := self._covered(one))},
            proposed=proposed,
            learned=self._learned(row, [one for one in earlier if one not in rejected]),
            advice={one: self._advice(one, list(work)) for one in proposed},
        )
        return stretch, work

    def _covered(self, snapshot_id: str) -> float | None:
        place = self.place[snapshot_id]
        if place == 0:
            return None
        before, own = (split_snapshot_id(self.plan.every[at])[1] for at in (place - 1, place))
        return min((own - before).total_seconds(), MOST_COVERED)

    def _learned(self, row: BackfillRow, before: Sequence[str]) -> dict[str, float]:
        """The commit intervals as this backfill learned them by the snapshot before; the lake has those of then."""
        if not before or row.backfill_id is None:
            return {}
        return self.history.backfilled_intervals(row.backfill_id, taken_at(self.lake, before[0]))

    def _advice(self, snapshot_id: str, names: Sequence[str]) -> dict[str, AdviceAsOf]:
        known = self.history.advice_as_of(self.question.cluster, snapshot_id, names)
        return {each.group_id: each for each in known}

    def _names(self, ids: Sequence[str]) -> list[str]:
        listed = self.lake.read("groups", list(ids), columns=["group_id"])["group_id"]
        return [
            name
            for name in pc.unique(listed).to_pylist()
            if fnmatch.fnmatchcase(name, self.question.groups)
        ]

    def _work(self, ids: Sequence[str]) -> dict[str, int]:
        """Of every group that one of these has; of one that the last does not have, little is assumed."""
        newest = work_of(self.lake, ids[-1], self.question.groups)
        return newest | {name: 1 for name in self._names(ids) if name not in newest}
