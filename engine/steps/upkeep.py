"""The daily step: what is too old goes from lake and history, and the lake's finished days become few files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evenkeel.engine.config import Settings
from evenkeel.engine.errors import LakeError
from evenkeel.engine.ports import Compacted, Lake, LakeDay, SnapshotHistory
from evenkeel.engine.text import several

SETTLED = timedelta(hours=3)
"""After so long nobody is at the snapshots of a day that is over, and those that metrics look back on are newer."""

Tell = Callable[[str], object]
"""What hears of the progress, a line at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """
    What the upkeep did.

    Attributes:
        lake: How many snapshots left the lake.
        history: How many left the history.
        days: How many days of a cluster were brought into files of a day, or some of their datasets were.
        files: How many files their rows lay in.
        into: How many they lie in now.
        swept: How many files of interrupted runs were removed.
        left: How many datasets of days are left for the next time.
    """

    lake: int = 0
    history: int = 0
    days: int = 0
    files: int = 0
    into: int = 0
    swept: int = 0
    left: int = 0


def upkeep(
    lake: Lake,
    history: SnapshotHistory | None,
    settings: Settings,
    now: datetime,
    *,
    budget: timedelta | None = None,
    tell: Tell = lambda line: None,
) -> Upkeep:
    """
    Remove what is older than `keep_days`, then compact the lake, a dataset of a day at a time.

    Interrupted at any point it loses nothing, and the next run goes on from there.

    Args:
        history: None leaves the history as it is.
        budget: Begin with no further dataset of a day after so long; the first is always done. None: do all of it.
        tell: Hears of each that is done, and of what is left, in a line.

    Raises:
        LakeError: The lake cannot be changed, or a day of it not be compacted; all the rest is done.
        HistoryUnreachable: The history cannot be reached; nothing is done.
    """
    before = now - timedelta(days=settings.keep_days)
    removed = 0 if history is None else len(history.expire(before))
    expired = lake.expire(before)
    waiting = lake.finished_days(now - SETTLED)
    done, problems = _compact(lake, waiting, now - SETTLED, budget, tell)
    left = len(waiting) - len(done) - len(problems)
    if left:
        for problem in problems:
            tell(f"not compacted: {problem}")
        tell(f"compacted {len(done):,} of {_datasets(waiting)}; the rest next time")
    elif problems:
        raise _damaged(problems)
    return Upkeep(
        lake=expired,
        history=removed,
        days=len({(day.cluster, day.day) for day, did in done if did.files}),
        files=sum(did.files for _, did in done),
        into=sum(did.into for _, did in done),
        swept=sum(did.swept for _, did in done),
        left=left,
    )


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


def _damaged(problems: Sequence[str]) -> LakeError:
    more = f" {len(problems) - 1} more fail likewise." if len(problems) > 1 else ""
    return LakeError(
        f"not every day of the lake could be compacted: {problems[0]}{more}",
        fix="Nothing is lost, and the other days are done. Expire or restore what is damaged.",
    )
