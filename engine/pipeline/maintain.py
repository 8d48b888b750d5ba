"""The hourly step `maintain`: rolls up hours and days, deletes expired data, compacts and thins the lake."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from ..config import Settings
from ..model.errors import HistoryError, LakeError
from ..model.formats import duration
from ..model.text import several
from ..ports import ClusterDay, Compacted, Lake, LakeDay, RollupHistory, SnapshotHistory

SETTLED = timedelta(hours=3)
"""Age after which the snapshots of a past day are no longer used."""

AHEAD = timedelta(hours=1)
"""No more may this machine's clock be ahead of the history database's: one that is wrong would expire everything."""

Tell = Callable[[str], object]
"""Callback for lines of progress."""


class KeptHistory(SnapshotHistory, RollupHistory, Protocol):
    """The ports of the maintenance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """
    The result of the maintenance.

    Attributes:
        rolled: Number of rolled-up days of clusters.
        lake: Number of snapshots deleted from the lake.
        history: Number of snapshots deleted from the history database.
        days: Number of compacted days of clusters.
        files: Number of their files before.
        into: Number of their files after.
        thinned: Number of snapshots deleted from days that keep one per hour.
        swept: Number of deleted unreferenced files.
        left: Number of days and datasets that are left.
    """

    rolled: int = 0
    lake: int = 0
    history: int = 0
    days: int = 0
    files: int = 0
    into: int = 0
    thinned: int = 0
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
    Roll up hours and days, oldest first; delete data older than `keep_days`; then compact the lake.

    Days older than `keep_whole_days` keep one snapshot per hour, unless one of their snapshots waits for advice.

    Works on one day of a cluster, or one dataset of a day, at a time. After an interruption the next run continues.

    Args:
        history: The history database; None skips it.
        budget: Start no further item after this time; the first of each kind is always done. None for no limit.
        tell: Called with a line per completed item, and with the remaining work.

    Raises:
        LakeError: The lake cannot be changed, or a day cannot be compacted; all other work is done.
        HistoryError: *now* is more than `AHEAD` after the present of the history database; nothing is done.
        HistoryUnreachable: The history database cannot be reached; nothing is done.
    """
    if history is not None and (ahead := now - history.now()) > AHEAD:
        raise HistoryError(
            f"this machine's clock is {duration(ahead.total_seconds())} ahead of the history database's:"
            " nothing is rolled up, deleted or compacted.",
            fix="Set the clock that is wrong.",
        )
    before = now - timedelta(days=settings.keep_days)
    began = time.monotonic()
    days, made = _roll_up(history, settings, now, budget, tell) if history else ([], 0)
    removed = 0 if history is None else len(history.expire(before))
    expired = lake.expire(before)
    unadvised = [] if history is None else history.snapshots_without_advice(timedelta(0))
    waiting = lake.finished_days(
        now - SETTLED,
        whole=now - timedelta(days=settings.keep_whole_days),
        waiting=[one.snapshot_id for one in unadvised],
    )
    rest = None if budget is None else budget - timedelta(seconds=time.monotonic() - began)
    done, problems = _compact(lake, waiting, now - SETTLED, rest, tell)
    unmade, left = len(days) - made, len(waiting) - len(done) - len(problems)
    if left:
        for problem in problems:
            tell(f"not compacted: {problem}")
        tell(f"compacted {len(done):,} of {_datasets(waiting)}; the rest next time")
    elif problems and not unmade:
        more = f" {len(problems) - 1} more failed." if len(problems) > 1 else ""
        raise LakeError(
            f"the lake could not be compacted completely: {problems[0]}{more}",
            fix="No data is lost, and all other days are compacted. Restore or delete the damaged file.",
        )
    return MaintenanceReport(
        rolled=made,
        lake=expired,
        history=removed,
        days=len({(day.cluster, day.day) for day, did in done if did.files}),
        files=sum(did.files for _, did in done),
        into=sum(did.into for _, did in done),
        thinned=sum(did.thinned for _, did in done),
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
        tell(f"rolled up {made:,} of {several(len(days), 'day')}; the rest next time")
    hourly = max(settings.keep_hourly_days, settings.keep_days)
    daily = max(settings.keep_daily_days, hourly)
    history.pack_samples(now - SETTLED)
    history.expire_rollups(hours=_days_ago(hourly, now), days=_days_ago(daily, now))
    expire_candidates(history, settings, now)
    return days, made


def expire_candidates(history: RollupHistory, settings: Settings, now: datetime) -> None:
    """Delete rolled-up and expired rows of candidates."""
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
