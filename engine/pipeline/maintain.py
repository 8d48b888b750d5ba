"""
The hourly step: hours and days of groups are made, what is too old goes, and the lake's finished days become few files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from ..config import Settings
from ..model.errors import LakeError
from ..model.text import several
from ..ports import ClusterDay, Compacted, Lake, LakeDay, RollupHistory, SnapshotHistory

SETTLED = timedelta(hours=3)
"""After so long nobody is at the snapshots of a day that is over, and those that metrics look back on are newer."""

Tell = Callable[[str], object]
"""What hears of the progress, a line at a time."""


class KeptHistory(SnapshotHistory, RollupHistory, Protocol):
    """What the maintenance asks of the history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """
    What the maintenance did.

    Attributes:
        rolled: How many days of a cluster had hours to be made.
        lake: How many snapshots left the lake.
        history: How many left the history.
        days: How many days of a cluster were brought into files of a day, or some of their datasets were.
        files: How many files their rows lay in.
        into: How many they lie in now.
        swept: How many files of interrupted runs were removed.
        left: How many of both, days of a cluster and datasets of days, are left for the next time.
    """

    rolled: int = 0
    lake: int = 0
    history: int = 0
    days: int = 0
    files: int = 0
    into: int = 0
    swept: int = 0
    left: int = 0


def maintain(
    lake: Lake,
    history: KeptHistory | None,
    settings: Settings,
    now: datetime,
    *,
    budget: timedelta | None = None,
    tell: Tell = lambda line: None,
) -> MaintenanceReport:
    """
    Make hours and days of groups, the oldest first; remove what is older than `keep_days`; then compact the lake.

    Hours are made a day of a cluster at a time, the lake is compacted a dataset of a day at a time. Interrupted at any
    point it loses nothing, and the next run goes on from there.

    Args:
        history: None leaves the history as it is.
        budget: Begin with no further day or dataset of one after so long; the first of each is always done. None: do
            all of it.
        tell: Hears of each that is done, and of what is left, in a line.

    Raises:
        LakeError: The lake cannot be changed, or a day of it not be compacted; all the rest is done.
        HistoryUnreachable: The history cannot be reached; nothing is done.
    """
    before = now - timedelta(days=settings.keep_days)
    began = time.monotonic()
    days, made = _roll_up(history, settings, now, budget, tell) if history else ([], 0)
    removed = 0 if history is None else len(history.expire(before))
    expired = lake.expire(before)
    waiting = lake.finished_days(now - SETTLED)
    rest = None if budget is None else budget - timedelta(seconds=time.monotonic() - began)
    done, problems = _compact(lake, waiting, now - SETTLED, rest, tell)
    unmade, left = len(days) - made, len(waiting) - len(done) - len(problems)
    if left:
        for problem in problems:
            tell(f"not compacted: {problem}")
        tell(f"compacted {len(done):,} of {_datasets(waiting)}; the rest next time")
    elif problems and not unmade:
        more = f" {len(problems) - 1} more fail likewise." if len(problems) > 1 else ""
        raise LakeError(
            f"not every day of the lake could be compacted: {problems[0]}{more}",
            fix="Nothing is lost, and the other days are done. Expire or restore what is damaged.",
        )
    return MaintenanceReport(
        rolled=made,
        lake=expired,
        history=removed,
        days=len({(day.cluster, day.day) for day, did in done if did.files}),
        files=sum(did.files for _, did in done),
        into=sum(did.into for _, did in done),
        swept=sum(did.swept for _, did in done),
        left=left + unmade,
    )


def _roll_up(
    history: KeptHistory, settings: Settings, now: datetime, budget: timedelta | None, tell: Tell
) -> tuple[list[ClusterDay], int]:
    """The days whose hours are to be made, and of how many they are; then hours and days that are too old go."""
    kept = now - timedelta(days=settings.keep_days)
    days, made, began = history.days_to_roll_up(now), 0, time.monotonic()
    for day in days:
        snapshots = history.roll_up(day, kept=kept, before=now)
        made += 1
        tell(f"{made:,} of {len(days):,}: hours of {day}, of {several(snapshots, 'snapshot')}")
        if budget is not None and time.monotonic() - began >= budget.total_seconds():
            break
    if made < len(days):
        tell(f"made the hours of {made:,} of {several(len(days), 'day')}; the rest next time")
    hourly = max(settings.keep_hourly_days, settings.keep_days)
    daily = max(settings.keep_daily_days, hourly)
    history.pack_samples(now - SETTLED)
    history.expire_rollups(hours=_days_ago(hourly, now), days=_days_ago(daily, now))
    expire_candidates(history, settings, now)
    return days, made


def expire_candidates(history: RollupHistory, settings: Settings, now: datetime) -> None:
    """Forget what strategies would have given groups, as far as it is counted or too old."""
    hourly = settings.keep_candidate_hourly_days
    history.expire_candidates(
        samples=now - timedelta(hours=settings.keep_detail_hours),
        hours=_days_ago(hourly, now),
        days=_days_ago(max(settings.keep_candidate_daily_days, hourly), now),
    )


def _days_ago(days: int, now: datetime) -> datetime:
    """When that day began, in UTC: a day goes with all of its hours."""
    moment = now.astimezone(UTC) - timedelta(days=days)
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _compact(
    lake: Lake, waiting: Sequence[LakeDay], before: datetime, budget: timedelta | None, tell: Tell
) -> tuple[list[tuple[LakeDay, Compacted]], list[str]]:
    """What was done of each, and why not, as far as the budget lasts; what fails takes nothing of it."""
    done: list[tuple[LakeDay, Compacted]] = []
    problems: list[str] = []
    spent = 0.0
    for number, day in enumerate(waiting, 1):
        began = time.monotonic()
        try:
            did = lake.compact(day, before)
        except LakeError as problem:
            problems.append(f"{day}: {problem.message}")
            continue
        done.append((day, did))
        spent += time.monotonic() - began
        if did.files:
            tell(
                f"{number:,} of {len(waiting):,}: {day}, {several(did.files, 'file')} into {did.into}"
            )
        if budget is not None and spent >= budget.total_seconds():
            break
    return done, problems


def _datasets(waiting: Sequence[LakeDay]) -> str:
    """
    How many there are of which days.

    >>> _datasets([LakeDay(dataset="groups", cluster="eu", day=f"2026-11-{n}") for n in (19, 20, 21)])
    '3 datasets of 2026-11-19 to 2026-11-21'
    """
    first, last = waiting[0].day, waiting[-1].day
    days = first if first == last else f"{first} to {last}"
    return f"{several(len(waiting), 'dataset')} of {days}"
