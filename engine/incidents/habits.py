"""
Habits: problems that come back like clockwork, as those of batch readers and of a nightly peak.

A bout is one time that a group has a problem, from the first snapshot that shows it until the group is well. A bout is
a habit from the third time on: after the same time as between the two before it, or at the same time of two days or
weeks before. A habit is told once. Afterwards a bout is told only where it is more than the two before it: more lag,
further behind, longer, or by a more severe cause. A loss of records, or one ahead, is never a habit.

Earlier bouts are part of what is remembered of a group (`IncidentCourse.bouts`), so that the pipeline and a backtest
know the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..model.states import Diagnosis, TroubleKind
from ..records import Bout, IncidentCourse
from .kinds import LOSSES
from .measures import largest

MORE = 1.5
"""A bout with so many times the lag, the time behind or the duration of those before it is no habit."""

DAY, WEEK = timedelta(days=1), timedelta(days=7)

REMEMBERED = 2 * WEEK + DAY
"""So long a bout is remembered: a week's rhythm takes two weeks to be seen."""

MOST = 16
"""So many bouts of a group are remembered."""

SHORTEST = timedelta(minutes=20)
"""What comes more often is one problem that flaps."""

NEAR = timedelta(minutes=5)
"""By so much a habit may come early or late in any case: snapshots show no more."""

SHARE = 1 / 12
"""By this share of its period it may, if that is more."""

NEVER: frozenset[TroubleKind] = LOSSES | {Diagnosis.DATA_LOSS_IMMINENT}
"""Causes that are never a habit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """
    What comes back.

    Attributes:
        every: After so long.
        lasts: The longest of its earlier bouts.
        peak_lag, peak_behind_seconds: The largest of these; None unknown.
    """

    every: timedelta
    lasts: timedelta
    peak_lag: float | None
    peak_behind_seconds: float | None


def habit_of(bouts: Sequence[Bout]) -> Habit | None:
    """
    The habit that the newest of some bouts belongs to; None if it belongs to none.

    >>> from datetime import UTC
    >>> def bout(hour):
    ...     began = datetime(2026, 3, 1, hour, tzinfo=UTC)
    ...     ended = began + timedelta(minutes=20)
    ...     return Bout(began_at=began, ended_at=ended, cause=Diagnosis.NO_MEMBERS, lasted=True)
    >>> habit_of([bout(1), bout(4), bout(7)]).every
    datetime.timedelta(seconds=10800)
    >>> habit_of([bout(1), bout(4), bout(9)])
    """
    if len(bouts) < 3 or not bouts[-1].lasted or bouts[-1].cause in NEVER:
        return None
    *earlier, newest = bouts
    for every in (newest.began_at - earlier[-1].began_at, DAY, WEEK):
        alike = [_near(earlier, newest.began_at - times * every, every) for times in (1, 2)]
        known = [bout for bout in alike if bout is not None]
        if every < SHORTEST or len(known) < 2:
            continue
        if newest.cause.precedence >= min(bout.cause.precedence for bout in known):
            return Habit(
                every=every,
                lasts=max((bout.ended_at or bout.began_at) - bout.began_at for bout in known),
                peak_lag=largest(*(bout.peak_lag for bout in known)),
                peak_behind_seconds=largest(*(bout.peak_behind_seconds for bout in known)),
            )
    return None


def _near(bouts: Sequence[Bout], moment: datetime, every: timedelta) -> Bout | None:
    """The bout that began at about a moment."""
    found = min(bouts, key=lambda bout: abs(bout.began_at - moment))
    return found if abs(found.began_at - moment) <= max(SHARE * every, NEAR) else None


def usual_for(course: IncidentCourse, at: datetime) -> bool:
    """Whether the present bout of a group is a habit, and no more than it was before."""
    habit = habit_of(course.bouts)
    if habit is None or any(span.cause in NEVER for span in course.causes):
        return False
    bout = course.bouts[-1]
    lasts = (bout.ended_at or at) - bout.began_at
    pairs = (
        (bout.peak_lag, habit.peak_lag),
        (bout.peak_behind_seconds, habit.peak_behind_seconds),
    )
    more = any(now and before and now > MORE * before for now, before in pairs)
    return not more and lasts <= MORE * habit.lasts
