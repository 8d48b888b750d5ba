"""What an advice promises, what came of it, and what follows: a verdict, no way back for a while, a strategy muted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from evenkeel.engine.advice.sight import Live
from evenkeel.engine.config import Policy
from evenkeel.engine.facts import Fact, reason
from evenkeel.engine.forecast import SOON_SECONDS
from evenkeel.engine.model import AdviceState, Candidate, Diagnosis
from evenkeel.engine.records.course import (
    VERDICT_SECONDS,
    AdviceCheck,
    Course,
    Mute,
    Promise,
    Uptake,
)

DAY_SECONDS = 86_400
"""
Promises are checked as soon as the nearer forecast is due, an hour after an advice was taken up, and after a day, when
those for an hour must still hold.
"""

NEAR = 0.1
"""A snapshot tells what came when it is off the moment by no more than this share of the time till then."""

SHARE_BAND = 0.05
"""A cross-rack share is promised to within so many points of 1."""

SETTLES_SECONDS = 600
"""Members restart one after the other: while the assignment changes again so soon, promises count from that change."""

LONGEST_SECONDS = 3600
"""But not for longer than this since the first."""

DECISIVE = ("lag", "cross_rack_share")
"""The measures that say whether an advice kept what it promised."""

WELL = (Diagnosis.KEEPS_UP, Diagnosis.CATCHING_UP, Diagnosis.UNKNOWN, Diagnosis.REBALANCING)
"""That this is the matter now is no reason to go back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an advice that was taken up, and why that is said."""

    strategy: str
    state: AdviceState
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The course after promises that were due are checked, the checks, and what follows if that is known now."""

    course: Course
    checks: tuple[AdviceCheck, ...] = ()
    outcome: Outcome | None = None


def promises_of(candidate: Candidate | None) -> tuple[Promise, ...]:
    """What a group may expect of a candidate, by its forecast and its score; nothing where neither is known."""
    if candidate is None:
        return ()
    promised: list[Promise] = []
    soon, hour, day = int(SOON_SECONDS), VERDICT_SECONDS, DAY_SECONDS
    if (f := candidate.forecast) is not None:
        bands = {
            "lag": ("offsets", (f.forecast_lag_low, f.forecast_lag_expected, f.forecast_lag_high)),
            "delay_seconds": (
                "s",
                (
                    f.forecast_delay_seconds_low,
                    f.forecast_delay_seconds_expected,
                    f.forecast_delay_seconds_high,
                ),
            ),
            "utilisation": (
                "ratio",
                (
                    f.forecast_utilisation_low,
                    f.forecast_utilisation_expected,
                    f.forecast_utilisation_high,
                ),
            ),
        }
        ends = (f.forecast_soon_lag_low, f.forecast_soon_lag_expected, f.forecast_soon_lag_high)
        promised += _promises("lag", "offsets", ends, soon)
        for measure, (unit, band) in bands.items():
            promised += _promises(measure, unit, band, hour, day)
    share = candidate.score.cross_rack_share if candidate.score else None
    if share is not None:
        band = (max(share - SHARE_BAND, 0.0), share, min(share + SHARE_BAND, 1.0))
        promised += _promises("cross_rack_share", "share", band, soon, hour, day)
    return tuple(promised)


def _promises(measure: str, unit: str, band: Sequence[float | None], *after: int) -> list[Promise]:
    low, expected, high = band
    if low is None or expected is None or high is None:
        return []
    return [
        Promise(
            after_seconds=seconds, measure=measure, unit=unit, low=low, expected=expected, high=high
        )
        for seconds in after
    ]


def checked(
    course: Course,
    at: datetime,
    live: Live | None,
    assignment: str | None,
    running: Collection[str],
) -> Checked:
    """
    Hold what was taken up last against its promises, as far as they are due.

    Args:
        course: As the snapshot before left it.
        at: When this one was taken.
        live: What it shows; None where it does not count.
        assignment: Fingerprint of who owns what; None where that is in motion or unknown.
        running: The strategies that the group runs.
    """
    uptake = course.uptakes[-1] if course.uptakes else None
    if uptake is None or (uptake.outcome is not None and not uptake.promises):
        return Checked(course=course)
    if assignment not in (None, uptake.assignment):
        if uptake.strategy in running and _settles(uptake, at):
            return Checked(course=_with(course, replace(uptake, at=at, assignment=assignment)))
        checks = tuple(_check(uptake, promise, None) for promise in uptake.promises)
        again = reason("assignment_changed_again", [uptake.strategy])
        return _closed(course, uptake, at, (), checks, _unknown(uptake, again))
    late_by = (at - uptake.at).total_seconds()
    every = (at - course.at).total_seconds()
    left, checks = _due(uptake, live, late_by, every)
    outcome = None
    if all(promise.after_seconds > VERDICT_SECONDS for promise in left):
        outcome = _outcome(uptake, checks)
    return _closed(course, uptake, at, left, checks, outcome)


def within(ahead: float, every: float) -> float:
    """
    By how many seconds a snapshot may be off the moment of which it tells what came.

    Args:
        ahead: Seconds from when that was promised or forecast to the moment.
        every: Seconds since the snapshot before; off by more than half of that, another is nearer.
    """
    return min(NEAR * ahead, every / 2)


def _settles(uptake: Uptake, at: datetime) -> bool:
    soon = (at - uptake.at).total_seconds() <= SETTLES_SECONDS
    return (
        uptake.outcome is None
        and soon
        and (at - uptake.first_at).total_seconds() <= LONGEST_SECONDS
    )


def _due(
    uptake: Uptake, live: Live | None, late_by: float, every: float
) -> tuple[tuple[Promise, ...], tuple[AdviceCheck, ...]]:
    """The promises that are left, and the checks of those that are due."""
    left, checks = [], []
    for promise in uptake.promises:
        off = late_by - promise.after_seconds
        near = within(promise.after_seconds, every)
        if off < -near or (live is None and off <= near):
            left.append(promise)
        else:
            came = getattr(live, promise.measure) if off <= near else None
            checks.append(_check(uptake, promise, came))
    return tuple(left), tuple(checks)


def _check(uptake: Uptake, promise: Promise, realised: float | None) -> AdviceCheck:
    return AdviceCheck(
        after_seconds=promise.after_seconds,
        measure=promise.measure,
        unit=promise.unit,
        low=promise.low,
        expected=promise.expected,
        high=promise.high,
        strategy=uptake.strategy,
        taken_up_at=uptake.at,
        realised=realised,
    )


def _closed(
    course: Course,
    uptake: Uptake,
    at: datetime,
    left: tuple[Promise, ...],
    checks: tuple[AdviceCheck, ...],
    outcome: Outcome | None,
) -> Checked:
    after = replace(uptake, promises=left)
    if uptake.outcome is not None:
        outcome = None
    elif outcome is not None:
        after = replace(after, outcome=outcome.state, outcome_at=at)
    return Checked(course=_with(course, after), checks=checks, outcome=outcome)


def _with(course: Course, uptake: Uptake) -> Course:
    return replace(course, uptakes=(*course.uptakes[:-1], uptake))


def _unknown(uptake: Uptake, why: Fact) -> Outcome:
    return Outcome(strategy=uptake.strategy, state=AdviceState.EXPIRED, facts=(why,))


def _outcome(uptake: Uptake, checks: Sequence[AdviceCheck]) -> Outcome:
    """
    What the checks of an hour say: worse than promised in what decides, or not; all of that must be known.

    More lag is worse only where the group is later than promised as well: what lies between its commits is no backlog,
    and a group that was behind for long does not show how much that is.
    """
    hour = [check for check in checks if check.after_seconds == VERDICT_SECONDS]
    decisive = [check for check in hour if check.measure in DECISIVE]
    if not decisive:
        return _unknown(uptake, reason("nothing_promised", [uptake.strategy]))
    if any(check.realised is None for check in decisive):
        return _unknown(uptake, reason("outcome_unknown", [uptake.strategy]))
    in_time = [c for c in hour if c.measure == "delay_seconds" and _is_kept(c)]
    broken = [check for check in decisive if not _is_kept(check)]
    worse = [check for check in broken if not (check.measure == "lag" and in_time)]
    state = AdviceState.MISSED if worse else AdviceState.VERIFIED
    shown = worse or (*decisive, *(in_time if broken else ()))
    return Outcome(
        strategy=uptake.strategy, state=state, facts=tuple(_came(check) for check in shown)
    )


def _is_kept(check: AdviceCheck) -> bool:
    """Whether it came no worse than promised, as far as is known."""
    return check.realised is not None and check.realised <= check.high


def _came(check: AdviceCheck) -> Fact:
    return reason(
        f"promised_{check.measure}",
        before=check.expected,
        after=check.realised,
        bound=check.high,
        unit=check.unit,
    )


def refused(
    course: Course,
    strategy: str,
    would_be: str | None,
    diagnosis: Diagnosis | None,
    at: datetime,
    policy: Policy,
) -> Uptake | None:
    """
    The advice of which a switch would be the reverse, if something like that was taken up lately.

    Args:
        course: What is remembered.
        strategy: What the group would switch to.
        would_be: Fingerprint of the assignment that it would have then; None where that is not known.
        diagnosis: What is the matter now.
        at: Now.
        policy: How long a way back is closed.
    """
    for uptake in reversed(course.uptakes):
        lately = (at - uptake.first_at).total_seconds() < policy.no_reverse_seconds
        back = strategy in uptake.ran or (would_be is not None and would_be == uptake.came_from)
        something_else = diagnosis not in (None, uptake.diagnosis, *WELL)
        if lately and back and strategy != uptake.strategy and not something_else:
            return uptake
    return None


def muted(course: Course, at: datetime, policy: Policy) -> tuple[Mute, ...]:
    """The strategies that did not keep what was promised so often, and so lately, that they are not advised."""
    mutes = []
    for strategy in dict.fromkeys(uptake.strategy for uptake in course.uptakes):
        outcomes = [
            (uptake.outcome, uptake.outcome_at)
            for uptake in course.uptakes
            if uptake.strategy == strategy
            and uptake.outcome in (AdviceState.VERIFIED, AdviceState.MISSED)
        ][-policy.mute_misses :]
        missed = [when for state, when in outcomes if when and state is AdviceState.MISSED]
        if len(missed) < policy.mute_misses:
            continue
        span = timedelta(seconds=policy.mute_seconds)
        until = missed[-1] + span
        if at < until and missed[-1] - missed[0] <= span:
            mutes.append(Mute(strategy=strategy, until=until, missed=tuple(missed)))
    return tuple(mutes)


def remembered(course: Course, at: datetime, policy: Policy) -> Course:
    """A course without what no longer matters: what was taken up long ago, a state that is over for long."""
    longest = max(policy.no_reverse_seconds, 2 * policy.mute_seconds, DAY_SECONDS + VERDICT_SECONDS)
    uptakes = tuple(
        uptake
        for uptake in course.uptakes
        if uptake.outcome is None or (at - uptake.first_at).total_seconds() < longest
    )
    is_over = course.proposal is None and course.state is not AdviceState.TAKEN_UP
    old = course.since is not None and (at - course.since).total_seconds() > policy.expires_seconds
    if is_over and old:
        return replace(course, uptakes=uptakes, state=None, since=None)
    return replace(course, uptakes=uptakes)
