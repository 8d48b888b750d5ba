"""What a group is told, by how far its advice has come: to switch only while that is confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ..config import Policy
from ..model.assignments import Advice, AdviceState, Verdict
from ..model.facts import MOMENT, Fact, reason
from ..records.course import VERDICT_SECONDS, Course, Mute, Uptake
from .wins import claim_of, wins


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """
    Where a group stands after a snapshot.

    Attributes:
        course: How far its advice has come, this snapshot included.
        decided: What pays in this snapshot.
        winner: The strategy that won in it, if it counts.
        refused: Of which advice it would have been the reverse.
        mutes: What is muted, by strategy.
    """

    course: Course
    decided: Advice
    winner: str | None
    refused: Uptake | None
    mutes: Mapping[str, Mute]


def advised(situation: Situation, policy: Policy) -> Advice:
    """What the group is told."""
    decided, course, winner = situation.decided, situation.course, situation.winner
    advice = replace(decided, state=course.state, state_since=course.since)
    proposal = course.proposal
    if decided.verdict is Verdict.NOT_JUDGED:
        return advice
    if course.state is AdviceState.CONFIRMED and proposal is not None:
        doubts = () if winner == proposal.strategy else still(course, proposal.strategy)
        return replace(
            advice,
            verdict=Verdict.SWITCH,
            strategy=proposal.strategy,
            facts=(*doubts, *proposal.facts),
            seen=in_a_row(course, proposal.strategy),
        )
    if decided.verdict is not Verdict.SWITCH:
        return advice
    advice = replace(advice, verdict=Verdict.STAY, strategy=None)
    if situation.refused is not None:
        why = reverse(decided.strategy or "", situation.refused, policy)
        return replace(advice, facts=(*why, *decided.facts))
    if course.state is AdviceState.TAKEN_UP:
        return replace(advice, facts=(*awaited(course.uptakes[-1]), *decided.facts))
    strategy, facts = (proposal.strategy, proposal.facts) if proposal else (winner, decided.facts)
    if strategy is None:
        return replace(advice, facts=(reason("in_motion"), *decided.facts))
    mute = situation.mutes.get(strategy)
    waits = muted_reason(mute) if mute else to_be_confirmed(course, strategy, policy)
    return replace(
        advice, strategy=strategy, facts=(*waits, *facts), seen=in_a_row(course, strategy)
    )


def in_a_row(course: Course, strategy: str) -> int:
    """In how many judged snapshots in a row a strategy has won by now."""
    claim = claim_of(course, strategy)
    return claim.in_a_row if claim else 0


def won(course: Course, strategy: str) -> tuple[Fact, ...]:
    """In how many of the last snapshots a strategy won, and since when it does."""
    return _counted("has_won", course, strategy)


def to_be_confirmed(course: Course, strategy: str, policy: Policy) -> tuple[Fact, ...]:
    """The same of one that is not told yet, and when it will be."""
    when = reason(
        "told_after",
        before=policy.confirm_seconds,
        after=policy.confirm_wins,
        bound=policy.confirm_of,
    )
    return (*_counted("to_be_confirmed", course, strategy), when)


def _counted(measure: str, course: Course, strategy: str) -> tuple[Fact, ...]:
    claim = claim_of(course, strategy)
    since = claim.since if claim else course.at
    return (
        reason(
            measure,
            [strategy],
            after=max(wins(course, strategy), 1),
            bound=max(len(course.looks), 1),
        ),
        _at("first_won", since),
    )


def still(course: Course, strategy: str) -> tuple[Fact, ...]:
    """That it is told though it did not win this time."""
    return (
        reason("still_advised", [strategy], after=wins(course, strategy), bound=len(course.looks)),
    )


def reverse(strategy: str, uptake: Uptake, policy: Policy) -> tuple[Fact, ...]:
    """That it would be the way back."""
    return (
        reason("the_way_back", [strategy, uptake.strategy], bound=policy.no_reverse_seconds),
        _at("taken_up_at", uptake.first_at),
    )


def awaited(uptake: Uptake) -> tuple[Fact, ...]:
    """That something was taken up, and has to show first what it does."""
    due = uptake.at.timestamp() + VERDICT_SECONDS
    return (reason("outcome_awaited", [uptake.strategy], after=due, unit=MOMENT),)


def muted_reason(mute: Mute) -> tuple[Fact, ...]:
    """That a strategy is not advised, and why."""
    return (
        reason("muted_strategy", [mute.strategy], after=mute.until.timestamp(), unit=MOMENT),
        *(_at("missed_at", at) for at in mute.missed),
    )


def _at(measure: str, at: datetime) -> Fact:
    return reason(measure, after=at.timestamp(), unit=MOMENT)
