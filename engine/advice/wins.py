"""Who wins how often, and for how long: the counting behind what is confirmed and what is withdrawn."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ..config import Policy
from ..records.course import Claim, Course, SnapshotWinner

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
    if course.looks and at - course.looks[-1].at > OUT_OF_DATE:
        course = replace(course, looks=(), claims=())
    looks = (*course.looks, SnapshotWinner(at=at, strategy=winner))
    course = replace(course, looks=looks[-policy.confirm_of :])
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
    own = (look for look in course.looks if look.strategy == strategy)
    return sum(since is None or look.at >= since for look in own)


def losses(course: Course, strategy: str, since: datetime) -> int:
    """In how many it did not."""
    return sum(look.at >= since and look.strategy != strategy for look in course.looks)


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
