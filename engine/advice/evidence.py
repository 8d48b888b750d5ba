"""
How sure it is that a switch helps, or no longer does: one test, by what is new in each snapshot.

A claim begins with evidence 1. Each later snapshot multiplies it by `1 + STAKE * says`, where *says* is what the
records that arrived since the snapshot before say of the switch: 1, they would no longer overload members; 0, nothing;
-1, it would not help. Of a time below `LOOK_SECONDS` that share counts: five looks in five minutes say no more than
one. Below 1 the claim is over, and the next begins anew; at `confirm_evidence` it is sure.

Where a switch brings nothing, *says* is 0 on average or less, whatever came before. Then, however often one looks:

* Of so many claims as `confirm_evidence` at most one is ever sure (Ville's inequality).
* Until one is, it takes `2 / STAKE * (confirm_evidence - 1)` times `LOOK_SECONDS` on average, or more: 3.5 hours with
  20. For in a look the greater of evidence and 1 grows by at most `STAKE / 2`, which is where all hangs on a coin.

It is an e-detector (Shin, Ramdas, Rinaldo, 2023) that bets (Waudby-Smith, Ramdas, 2023).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ..config import Policy
from ..model.assignments import Advice, AdviceState, Verdict
from ..model.facts import MOMENT, Fact, reason
from ..records.lifecycle import VERDICT_SECONDS, Claim, Course, Mute, Uptake

STAKE = 0.9
"""
Share of the evidence that a look bets: what helps in full is sure after 25 minutes, what helps by half after 45, with
20 as `confirm_evidence`.
"""

LOOK_SECONDS = 300.0
"""A snapshot counts in full if the one before is so long ago; a longer time tells no more."""

OUT_OF_DATE = 86_400.0
"""What was claimed before a gap of so long says nothing of what comes behind it."""

NOT = -1.0
"""What a snapshot says of a strategy that does not pay."""


def counted(
    course: Course,
    before: datetime,
    winner: str | None,
    says: Mapping[str, float | None],
    policy: Policy,
) -> Course:
    """
    A course with what one more judged snapshot says.

    While a switch is confirmed, it is not enough for another strategy to pay: it has to pay most.

    Args:
        course: How far it has come, at the moment of the snapshot.
        before: When the snapshot before was taken.
        winner: The strategy that pays most; None where none does.
        says: What is new says of each strategy, from -1 to 1; above 0 of those that pay; None: nothing either way.
        policy: How much evidence is enough.
    """
    at, seconds = course.at, (course.at - before).total_seconds()
    known = {} if seconds > OUT_OF_DATE else {claim.strategy: claim for claim in course.claims}
    told = course.proposal.strategy if course.proposal else None
    if course.state is AdviceState.CONFIRMED:
        says = {name: new for name, new in says.items() if name in (winner, told)}
    share = min(seconds / LOOK_SECONDS, 1)
    claims = [
        _further(known.get(name), name, says.get(name, NOT), at, share, policy)
        for name in dict.fromkeys([*known, *says])
    ]
    course = replace(course, claims=tuple(claim for claim in claims if claim))
    if course.proposal is None or told is None:
        return course
    helps = says.get(told, NOT)
    doubt = None if helps is None else -helps if helps > 0 else 1.0
    against = _further(course.proposal.against, told, doubt, at, share, policy)
    return replace(course, proposal=replace(course.proposal, against=against))


def _further(
    claim: Claim | None,
    strategy: str,
    says: float | None,
    at: datetime,
    share: float,
    policy: Policy,
) -> Claim | None:
    """A claim after one more snapshot, or a share of one; None where nothing speaks for it any more."""
    if says is None:
        return claim
    if claim is None:
        return _begun(strategy, at) if says > 0 else None
    evidence = min(claim.evidence * (1 + STAKE * says) ** share, policy.confirm_evidence)
    if evidence < 1:
        return None
    return replace(claim, evidence=evidence, snapshots=claim.snapshots + (says > 0))


def _begun(strategy: str, at: datetime) -> Claim:
    return Claim(strategy=strategy, since=at, evidence=1, snapshots=1)


def claim_of(course: Course, strategy: str | None) -> Claim | None:
    """The claim that a strategy pays; None when nothing speaks for that."""
    return next((claim for claim in course.claims if claim.strategy == strategy), None)


def is_sure(claim: Claim | None, policy: Policy) -> bool:
    """Whether there is enough evidence for what is claimed."""
    return claim is not None and claim.evidence >= policy.confirm_evidence


def seconds_left(claim: Claim, policy: Policy) -> float:
    """The least time in which a claim gets all the evidence that it lacks."""
    looks = math.log(policy.confirm_evidence / claim.evidence) / math.log(1 + STAKE)
    return math.ceil(looks) * LOOK_SECONDS


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
        winner: The strategy that pays most, if it counts.
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
            since = proposal.against.since if proposal and proposal.against else None
            why = (
                reason("still_advised", [named]),
                *((moment_of("claimed_since", since),) if since else ()),
            )
    elif refused is not None:
        names, bound = [decided.strategy or "", refused.strategy], policy.revert_cooldown_seconds
        why = (
            reason("the_way_back", names, bound=bound),
            moment_of("adopted_at", refused.first_at),
        )
        named, facts = None, decided.facts
    elif course.state is AdviceState.ADOPTED:
        uptake = course.uptakes[-1]
        due = uptake.at.timestamp() + VERDICT_SECONDS
        why = (reason("outcome_awaited", [uptake.strategy], after=due, unit=MOMENT),)
        named, facts = None, decided.facts
    elif winner is None:
        why = (reason("in_motion"),)
    else:
        why = _waits(course, named or winner, mutes.get(named or winner), policy)
    claim = None if named is None else claim_of(course, named)
    seen = claim.snapshots if claim else 0
    return replace(advice, strategy=named, facts=(*why, *facts), seen=seen)


def _waits(course: Course, strategy: str, mute: Mute | None, policy: Policy) -> tuple[Fact, ...]:
    """Why a strategy that pays is not told yet: it is muted, or to be confirmed."""
    if mute is not None:
        until = reason("muted_strategy", [strategy], after=mute.until.timestamp(), unit=MOMENT)
        return (until, *(moment_of("missed_at", at) for at in mute.missed))
    claim = claim_of(course, strategy) or _begun(strategy, course.at)
    enough, due = policy.confirm_evidence, course.at.timestamp() + seconds_left(claim, policy)
    return (
        reason("to_be_confirmed", [strategy], after=math.floor(claim.evidence), bound=enough),
        moment_of("claimed_since", claim.since),
        reason("told_after", after=due, unit=MOMENT),
    )


def moment_of(measure: str, at: datetime) -> Fact:
    """When something happened, as a fact."""
    return reason(measure, after=at.timestamp(), unit=MOMENT)
