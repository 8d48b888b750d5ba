"""Who wins how often, and for how long: the counting behind what is confirmed and withdrawn, and what is told by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from ..config import Policy
from ..model.assignments import Advice, AdviceState, Verdict
from ..model.facts import MOMENT, Fact, reason
from ..records.lifecycle import VERDICT_SECONDS, Claim, Course, Mute, SnapshotWinner, Uptake

OUT_OF_DATE = timedelta(days=1)
"""What won before a gap of so long says nothing of what wins behind it."""


def counted(course: Course, at: datetime, winner: str | None, policy: Policy) -> Course:
    """
    A course after one more judged snapshot.

    Args:
        course: Before it.
        at: When it was taken.
        winner: The strategy that paid and won; None where none did.
        policy: How many snapshots count; a claim is over when it lost as often as it would have to win.
    """
    if course.winners and at - course.winners[-1].at > OUT_OF_DATE:
        course = replace(course, winners=(), claims=())
    looks = (*course.winners, SnapshotWinner(at=at, strategy=winner))
    course = replace(course, winners=looks[-policy.confirm_of :])
    claims = [
        replace(claim, in_a_row=claim.in_a_row + 1 if claim.strategy == winner else 0)
        for claim in course.claims
        if claim.strategy == winner
        or losses(course, claim.strategy, claim.since) < policy.confirm_wins
    ]
    if winner is not None and all(claim.strategy != winner for claim in claims):
        claims.append(Claim(strategy=winner, since=at, in_a_row=1))
    return replace(course, claims=tuple(claims))


def claim_of(course: Course, strategy: str) -> Claim | None:
    """Since when a strategy wins; None when it does not."""
    return next((claim for claim in course.claims if claim.strategy == strategy), None)


def wins(course: Course, strategy: str, since: datetime | None = None) -> int:
    """In how many of the snapshots that count, from that moment on or in all, it won."""
    own = (look for look in course.winners if look.strategy == strategy)
    return sum(since is None or look.at >= since for look in own)


def losses(course: Course, strategy: str, since: datetime) -> int:
    """In how many it did not."""
    return sum(look.at >= since and look.strategy != strategy for look in course.winners)


def has_won(course: Course, at: datetime, strategy: str, policy: Policy) -> bool:
    """Whether a strategy has won often and for long enough to be advised."""
    claim = claim_of(course, strategy)
    return (
        claim is not None
        and wins(course, strategy, claim.since) >= policy.confirm_wins
        and (at - claim.since).total_seconds() >= policy.confirm_seconds
    )


def has_lost(course: Course, at: datetime, policy: Policy) -> bool:
    """Whether what is proposed has not won often and for long enough to be withdrawn."""
    proposal = course.proposal
    if proposal is None or proposal.lost_since is None:
        return False
    since = proposal.lost_since
    return (
        losses(course, proposal.strategy, since) >= policy.confirm_wins
        and (at - since).total_seconds() >= policy.confirm_seconds
    )


def lost_since(course: Course, at: datetime, winner: str | None, policy: Policy) -> datetime | None:
    """Since when what is proposed does not win; None while it does, or does so again often enough."""
    proposal = course.proposal
    assert proposal is not None
    since = proposal.lost_since
    if winner != proposal.strategy:
        return since or at
    again = since is not None and wins(course, winner, since) >= policy.confirm_wins
    return None if again else since


def won(course: Course, strategy: str, measure: str = "has_won") -> tuple[Fact, ...]:
    """In how many of the last snapshots a strategy won, and since when it does."""
    claim, looks = claim_of(course, strategy), max(len(course.winners), 1)
    return (
        reason(measure, [strategy], after=max(wins(course, strategy), 1), bound=looks),
        _at("first_won", claim.since if claim else course.at),
    )


def advised(
    decided: Advice,
    course: Course,
    winner: str | None,
    refused: Uptake | None,
    mutes: Mapping[str, Mute],
    policy: Policy,
) -> Advice:
    """
    What a group is told after a snapshot, by how far its advice has come: to switch only while that is confirmed.

    Args:
        decided: What pays in the snapshot.
        course: How far the advice has come, the snapshot included.
        winner: The strategy that won in it, if it counts.
        refused: Of which advice it would have been the reverse.
        mutes: What is muted, by strategy.
        policy: The numbers.
    """
    advice = replace(decided, state=course.state, state_since=course.since)
    proposal = course.proposal
    is_confirmed = course.state is AdviceState.CONFIRMED and proposal is not None
    if decided.verdict is Verdict.NOT_EVALUATED:
        return advice
    if not is_confirmed and decided.verdict is not Verdict.SWITCH:
        return advice
    advice = replace(advice, verdict=Verdict.SWITCH if is_confirmed else Verdict.STAY)
    named, facts = (proposal.strategy, proposal.facts) if proposal else (winner, decided.facts)
    why: tuple[Fact, ...] = ()
    if is_confirmed and named is not None:
        if winner != named:
            number, looks = wins(course, named), len(course.winners)
            why = (reason("still_advised", [named], after=number, bound=looks),)
    elif refused is not None:
        names, bound = [decided.strategy or "", refused.strategy], policy.revert_cooldown_seconds
        why = (reason("the_way_back", names, bound=bound), _at("adopted_at", refused.first_at))
        named, facts = None, decided.facts
    elif course.state is AdviceState.ADOPTED:
        uptake = course.uptakes[-1]
        due = uptake.at.timestamp() + VERDICT_SECONDS
        why = (reason("outcome_awaited", [uptake.strategy], after=due, unit=MOMENT),)
        named, facts = None, decided.facts
    elif named is None:
        why = (reason("in_motion"),)
    else:
        why = _waits(course, named, mutes.get(named), policy)
    claim = None if named is None else claim_of(course, named)
    seen = claim.in_a_row if claim else 0
    return replace(advice, strategy=named, facts=(*why, *facts), seen=seen)


def _waits(course: Course, strategy: str, mute: Mute | None, policy: Policy) -> tuple[Fact, ...]:
    """Why a strategy that pays is not told yet: it is muted, or to be confirmed."""
    if mute is not None:
        until = reason("muted_strategy", [strategy], after=mute.until.timestamp(), unit=MOMENT)
        return (until, *(_at("missed_at", at) for at in mute.missed))
    when = reason(
        "told_after",
        before=policy.confirm_seconds,
        after=policy.confirm_wins,
        bound=policy.confirm_of,
    )
    return (*won(course, strategy, "to_be_confirmed"), when)


def _at(measure: str, at: datetime) -> Fact:
    return reason(measure, after=at.timestamp(), unit=MOMENT)
