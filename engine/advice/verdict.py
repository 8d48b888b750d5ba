"""
What came of an advice that was taken up.

A switch for less lag is held against what staying would have brought (`counterfactual`); one for the sake of racks,
and where that is not known, against what was promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model.assignments import AdviceState
from ..model.facts import Fact, reason
from ..records.lifecycle import VERDICT_SECONDS, AdviceCheck, Uptake

SHARE_BAND = 0.05
"""A cross-rack share is promised to within so many points of 1."""

ACROSS_RACKS = "cross_rack_share"

REPLAYED = ("lag", "delay_seconds")
"""What the assignment before would have brought of these is known."""

DECISIVE = ("lag", ACROSS_RACKS)
"""The measures that say whether an advice kept what it promised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UptakeOutcome:
    """What came of an advice that was taken up, and why that is said."""

    strategy: str
    state: AdviceState
    facts: tuple[Fact, ...]


def came_of(uptake: Uptake, checks: Sequence[AdviceCheck]) -> UptakeOutcome:
    """
    What the checks of an hour say; all that decides must be known.

    A switch for less lag is held against what staying would have brought, where that can be replayed: traffic that fell
    or rose meanwhile would have done so as well. Else, and where racks are what it was for, it is held against its
    promise.
    """
    hour = [check for check in checks if check.after_seconds == VERDICT_SECONDS]
    decisive = [check for check in hour if check.measure in DECISIVE]
    if not decisive:
        return unknown(uptake, reason("nothing_promised", [uptake.strategy]))
    if any(check.actual is None for check in decisive):
        return unknown(uptake, reason("outcome_unknown", [uptake.strategy]))
    lag = next((check for check in decisive if check.saved_low is not None), None)
    if lag is not None and uptake.crossed is None:
        return _by_difference(uptake, lag, [c for c in hour if c.if_stayed_low is not None])
    return _by_promise(uptake, hour, decisive)


def _by_difference(
    uptake: Uptake, lag: AdviceCheck, replayed: Sequence[AdviceCheck]
) -> UptakeOutcome:
    """By the lag that was saved since the switch began, its cost included; none of both where the interval holds 0."""
    low, high = lag.saved_low, lag.saved_high
    assert low is not None
    assert high is not None
    facts = tuple(_if_stayed(check) for check in sorted(replayed, key=lambda check: check.measure))
    if low <= 0 <= high:
        facts = (reason("no_difference", [uptake.strategy]), *facts)
        return UptakeOutcome(strategy=uptake.strategy, state=AdviceState.EXPIRED, facts=facts)
    state = AdviceState.VERIFIED if low > 0 else AdviceState.MISSED
    return UptakeOutcome(strategy=uptake.strategy, state=state, facts=facts)


def _if_stayed(check: AdviceCheck) -> Fact:
    """What staying would have brought, if that is not known at least so much, beside what came."""
    expected = check.if_stayed
    measure = f"if_stayed_{check.measure}" if expected is not None else f"at_least_{check.measure}"
    before = check.if_stayed_low if expected is None else expected
    return reason(measure, before=before, after=check.actual, unit=check.unit)


def _by_promise(
    uptake: Uptake, hour: Sequence[AdviceCheck], decisive: Sequence[AdviceCheck]
) -> UptakeOutcome:
    """
    By what was promised: worse in what decides, or not.

    More lag is worse only where the group is later than promised as well: what lies between its commits is no backlog,
    and a group that was behind for long does not show how much that is. Nor is it where staying would have brought as
    much.
    """
    in_time = [c for c in hour if c.measure == "delay_seconds" and is_kept(c)]
    broken = [check for check in decisive if not is_kept(check)]
    worse = [
        check
        for check in broken
        if not (check.measure == "lag" and (in_time or _is_no_worse(check)))
    ]
    state = AdviceState.MISSED if worse else AdviceState.VERIFIED
    facts = tuple(
        reason(
            f"promised_{check.measure}",
            before=check.expected,
            after=check.actual,
            bound=check.high,
            unit=check.unit,
        )
        for check in worse or (*decisive, *(in_time if broken else ()))
    )
    return UptakeOutcome(strategy=uptake.strategy, state=state, facts=facts)


def _is_no_worse(check: AdviceCheck) -> bool:
    """Whether staying may have brought as much."""
    most, came = check.if_stayed_high, check.actual
    return most is not None and came is not None and came <= most


def at_once(uptake: Uptake, check: AdviceCheck) -> UptakeOutcome | None:
    """What a check of racks alone says: as promised, or as before; None where it is neither, or not known."""
    before, came = uptake.crossed, check.actual
    if before is None or came is None:
        return None
    kept = is_kept(check)
    if not kept and came < before - SHARE_BAND:
        return None
    fact = reason("racks_came", before=before, after=came, bound=check.high, unit=check.unit)
    state = AdviceState.VERIFIED if kept else AdviceState.MISSED
    return UptakeOutcome(strategy=uptake.strategy, state=state, facts=(fact,))


def is_kept(check: AdviceCheck) -> bool:
    """Whether it came no worse than promised, as far as is known."""
    return check.actual is not None and check.actual <= check.high


def unknown(uptake: Uptake, why: Fact) -> UptakeOutcome:
    """Nobody knows what came of it."""
    return UptakeOutcome(strategy=uptake.strategy, state=AdviceState.EXPIRED, facts=(why,))
