"""
What an advice promises, what came of it, and what follows: a verdict, no way back for a while, a strategy muted.

What was promised is checked, and stored, whatever else is known: it says how good forecasts are. The verdict is another
matter: it is the difference to what staying would have brought (`counterfactual`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from ..config import Policy
from ..metrics.forecast import SOON_SECONDS
from ..model.assignments import AdviceState, Candidate
from ..model.facts import Fact, reason
from ..model.states import Diagnosis
from ..records.lifecycle import (
    AT_ONCE,
    VERDICT_SECONDS,
    AdviceCheck,
    AdvicePromise,
    Course,
    Mute,
    Uptake,
)
from .by_racks import racks_alone
from .counterfactual import Present, Stayed, number, stayed, with_own
from .inputs import LiveFigures, Sight
from .verdict import (
    ACROSS_RACKS,
    REPLAYED,
    SHARE_BAND,
    UptakeOutcome,
    at_once,
    came_of,
    is_kept,
    unknown,
)

DAY_SECONDS = 86_400
"""
Promises are checked as soon as the nearer forecast is due, an hour after an advice was adopted, and after a day, when
those for an hour must still hold. What is won across racks alone shows at once,
and an hour later whether lag came as stated with it.
"""

NEAR = 0.1
"""A snapshot tells what came when it is off the moment by no more than this share of the time till then."""

SETTLES_SECONDS = 600
"""Members restart one after the other: while the assignment changes again so soon, promises count from that change."""

LONGEST_SECONDS = 3600
"""But not for longer than this since the first."""

WELL = (Diagnosis.HEALTHY, Diagnosis.CATCHING_UP, Diagnosis.UNKNOWN, Diagnosis.REBALANCING)
"""That this is the matter now is no reason to go back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The course after promises that were due are checked, the checks, and what follows if that is known now."""

    course: Course
    checks: tuple[AdviceCheck, ...] = ()
    outcome: UptakeOutcome | None = None


def promises_of(
    candidate: Candidate | None, facts: Sequence[Fact] = ()
) -> tuple[AdvicePromise, ...]:
    """
    What a group may expect of a candidate, by its forecast and its score; nothing where neither is known.

    Args:
        candidate: The candidate; None where there is none any more.
        facts: Why the switch pays: where that is racks alone, it shows at once whether it does.
    """
    if candidate is None:
        return ()
    promised: list[AdvicePromise] = []
    soon, hour, day = int(SOON_SECONDS), VERDICT_SECONDS, DAY_SECONDS
    if (forecast := candidate.forecast) is not None:
        promised += _promises("lag", "offsets", forecast.band("soon_lag"), soon)
        for measure, unit in (("lag", "offsets"), ("delay_seconds", "s"), ("utilization", "ratio")):
            promised += _promises(measure, unit, forecast.band(measure), hour, day)
    share = candidate.score.cross_rack_share if candidate.score else None
    if share is not None:
        near = (max(share - SHARE_BAND, 0.0), share, min(share + SHARE_BAND, 1.0))
        first = (AT_ONCE,) if racks_alone(facts) else ()
        promised += _promises(ACROSS_RACKS, "share", near, *first, soon, hour, day)
    return tuple(promised)


def with_racks_as_said(
    promises: Sequence[AdvicePromise], before: Sequence[AdvicePromise]
) -> tuple[AdvicePromise, ...]:
    """
    What is promised of lag from when an advice was adopted, and what was promised of racks before.

    What a strategy that runs would do next to racks is no promise any more: it would come true by what is there.

    Args:
        promises: By the snapshot that shows that the advice was adopted.
        before: By the one before.
    """
    return (
        *(one for one in promises if one.measure != ACROSS_RACKS),
        *(one for one in before if one.measure == ACROSS_RACKS),
    )


def _promises(
    measure: str, unit: str, band: Sequence[float | None], *after: int
) -> list[AdvicePromise]:
    low, expected, high = band
    if low is None or expected is None or high is None:
        return []
    return [
        AdvicePromise(
            after_seconds=seconds, measure=measure, unit=unit, low=low, expected=expected, high=high
        )
        for seconds in after
    ]


def checked(
    course: Course,
    at: datetime,
    live: LiveFigures | None,
    assignment: str | None,
    runs: Callable[[str], bool],
    present: Present | None = None,
) -> Checked:
    """
    Hold what was adopted last against its promises, as far as they are due.

    Args:
        course: As the snapshot before left it.
        at: When this one was taken.
        live: What it shows; None where it does not count.
        assignment: Fingerprint of who owns what; None where that is in motion or unknown.
        runs: Whether the group runs a strategy.
        present: What replays need of the snapshot; None where that is unknown.
    """
    uptake = course.uptakes[-1] if course.uptakes else None
    if uptake is None or (uptake.outcome is not None and not uptake.promises):
        return Checked(course=course)
    if assignment not in (None, uptake.assignment):
        settles = (
            runs(uptake.strategy)
            and uptake.outcome in (None, AdviceState.VERIFIED)
            and (at - uptake.at).total_seconds() <= SETTLES_SECONDS
            and (at - uptake.first_at).total_seconds() <= LONGEST_SECONDS
        )
        if settles:
            stays = with_own(uptake.stays, present)
            moved = _with(course, replace(uptake, at=at, assignment=assignment, stays=stays))
            return seen_at_once(moved, at, live) if live else Checked(course=moved)
        checks = tuple(_check(uptake, promise, None) for promise in uptake.promises)
        again = reason("assignment_changed_again", [uptake.strategy])
        return _closed(course, uptake, at, (), checks, unknown(uptake, again))
    late_by = (at - uptake.at).total_seconds()
    every = (at - course.at).total_seconds()
    would = stayed(uptake.stays, present, at)
    left, due = _due(uptake, live, late_by, every)
    checks = tuple(_beside(check, would) for check in due)
    outcome = next((at_once(uptake, c) for c in checks if c.after_seconds == AT_ONCE), None)
    if all(p.after_seconds == AT_ONCE or p.after_seconds > VERDICT_SECONDS for p in left):
        outcome = came_of(uptake, checks)
    return _closed(course, uptake, at, left, checks, outcome)


def seen_at_once(course: Course, at: datetime, live: LiveFigures) -> Checked:
    """
    Say that what was adopted with this snapshot keeps what it promised of racks, if it shows that already.

    That it does not is for the next one to say: members may still be restarting.

    Args:
        course: With what was adopted.
        at: When the snapshot was taken.
        live: What it shows.
    """
    uptake = course.uptakes[-1]
    for promise in uptake.promises:
        if promise.after_seconds == AT_ONCE:
            check = _check(uptake, promise, live.cross_rack_share)
            if is_kept(check):
                left = tuple(other for other in uptake.promises if other is not promise)
                return _closed(course, uptake, at, left, (check,), at_once(uptake, check))
    return Checked(course=course)


def within(ahead: float, every: float) -> float:
    """
    By how many seconds a snapshot may be off the moment of which it tells what came.

    Args:
        ahead: Seconds from when that was promised or forecast to the moment.
        every: Seconds since the snapshot before; off by more than half of that, another is nearer.
    """
    return min(NEAR * ahead, every / 2)


def _due(
    uptake: Uptake, live: LiveFigures | None, late_by: float, every: float
) -> tuple[tuple[AdvicePromise, ...], tuple[AdviceCheck, ...]]:
    """The promises that are left, and the checks of those that are due."""
    left, checks = [], []
    for promise in uptake.promises:
        off = late_by - promise.after_seconds
        near, unseen = within(promise.after_seconds, every), live is None
        if promise.after_seconds == AT_ONCE:
            # the next snapshot that shows it tells it, until an hour does
            near, unseen = VERDICT_SECONDS, live is None or live.cross_rack_share is None
        if off < -near or (unseen and off <= near):
            left.append(promise)
        else:
            came = getattr(live, promise.measure) if off <= near else None
            checks.append(_check(uptake, promise, came))
    return tuple(left), tuple(checks)


def _check(uptake: Uptake, promise: AdvicePromise, actual: float | None) -> AdviceCheck:
    known = asdict(promise)
    return AdviceCheck(**known, strategy=uptake.strategy, adopted_at=uptake.at, actual=actual)


def _beside(check: AdviceCheck, would: Stayed | None) -> AdviceCheck:
    """A check with what the assignment before would have brought."""
    if would is None or check.actual is None or check.measure not in REPLAYED:
        return check
    low, expected, high = map(number, getattr(would, check.measure))
    check = replace(check, if_stayed_low=low, if_stayed=expected, if_stayed_high=high)
    if check.measure != "lag":
        return check
    low, expected, high = map(number, would.saved)
    return replace(check, saved_low=low, saved=expected, saved_high=high)


def _closed(
    course: Course,
    uptake: Uptake,
    at: datetime,
    left: tuple[AdvicePromise, ...],
    checks: tuple[AdviceCheck, ...],
    outcome: UptakeOutcome | None,
) -> Checked:
    after = replace(uptake, promises=left, stays=uptake.stays if left else None)
    if outcome is not None and uptake.outcome is not None:
        # it may revoke what was verified at once, but not while something else is proposed
        revokes = uptake.outcome is AdviceState.VERIFIED and outcome.state is AdviceState.MISSED
        outcome = outcome if revokes and course.proposal is None else None
    if outcome is not None:
        after = replace(after, outcome=outcome.state, outcome_at=at)
    return Checked(course=_with(course, after), checks=checks, outcome=outcome)


def _with(course: Course, uptake: Uptake) -> Course:
    return replace(course, uptakes=(*course.uptakes[:-1], uptake))


def refused(course: Course, sight: Sight, policy: Policy) -> Uptake | None:
    """
    The advice of which a switch to what pays most now would be the reverse, if it was taken up lately.

    Args:
        course: What is remembered.
        sight: What a snapshot shows; nothing is refused where nothing pays.
        policy: How long a way back is closed.
    """
    for uptake in reversed(course.uptakes) if sight.winner is not None else ():
        lately = (sight.at - uptake.first_at).total_seconds() < policy.revert_cooldown_seconds
        restored = sight.would_be is not None and sight.would_be == uptake.came_from
        back = sight.winner != uptake.strategy and (sight.winner in uptake.ran or restored)
        something_else = sight.diagnosis not in (None, uptake.diagnosis, *WELL)
        if lately and back and not something_else:
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
    """A course without what no longer matters: what was adopted long ago, a state that is over for long."""
    longest = max(
        policy.revert_cooldown_seconds, 2 * policy.mute_seconds, DAY_SECONDS + VERDICT_SECONDS
    )
    uptakes = tuple(
        uptake
        for uptake in course.uptakes
        if uptake.outcome is None or (at - uptake.first_at).total_seconds() < longest
    )
    is_over = course.proposal is None and course.state is not AdviceState.ADOPTED
    old = course.since is not None and (at - course.since).total_seconds() > policy.expires_seconds
    if is_over and old:
        return replace(course, uptakes=uptakes, state=None, since=None)
    return replace(course, uptakes=uptakes)
