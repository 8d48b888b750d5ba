"""
The course of one group's advice: from snapshot to snapshot, steady, and held to account afterwards.

What pays in one snapshot (`decide`) need not pay in the next. So a group is advised to switch only while an advice is
*confirmed*, and what became of it is written down. Each snapshot leads to at most one other state, but for racks:

                     wins in 3 of 4 and for 30 min            runs it, and its assignment is another
        (nothing) ──> PROPOSED ──────────────> CONFIRMED ──────────────> TAKEN UP
            first win    │  ^                   │  │  ^                    │
                         │  │ the next win      │  │  │ another strategy   │ an hour later, beside staying
          not in 3 of 4  │  │ of whatever       │  └──┘ is confirmed       ├─> VERIFIED  less lag for it
                         v  │ state is over     │                         ├─> MISSED    more lag for it
                      WITHDRAWN <───────────────┘                         └─> EXPIRED   nobody can tell
                              not in 3 of 4 and for 30 min
        PROPOSED, CONFIRMED ──> EXPIRED   nobody took it up in 7 days, or the group cannot run it any more, or is gone

* The verdict is the lag since the switch began, its cost included, beside what the assignment before would have
  brought with the same arrivals (`counterfactual`): traffic that falls verifies nothing, traffic that rises misses
  nothing. Where an interval around the difference holds 0 nobody can tell. Where members or partitions are others by
  then, the promise decides.
* What is won across racks alone is VERIFIED as soon as a snapshot shows it, be it the one that shows that it was TAKEN
  UP: the only case in which one snapshot leads to two states. It is MISSED with the next one if as much crosses as
  before. If lag comes worse an hour later than stated and than without it, it is MISSED after all, unless something
  else is proposed then.
* A snapshot that could not be judged (group unread or withheld, rebalancing) counts neither for nor against.
* While an advice is adopted and not held against its promise yet, nothing else is proposed.
* The reverse of what was adopted (a strategy or the assignment that the group came from) does not win for 7 days,
  unless something else is the matter by now than when it was proposed; that it is well now is no such reason.
* A strategy that was missed twice in a row is muted: proposed, never confirmed. What is adopted all the same is
  checked as well, and when it is verified it is not muted any more.

The numbers are those of `Policy`. `verification` checks what was forecast, `verdict` says what came of it. And hour by
hour `counterfactual` follows what the best strategy would have saved that the group did not switch to: its regret.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ..assignors.kafka.protocol_names import base_of
from ..config import Policy
from ..model.assignments import ABLE, Advice, AdviceState, Verdict
from ..model.facts import Fact, reason
from ..records.lifecycle import (
    AdviceCheck,
    AdviceEvent,
    AdviceProposal,
    Counterfactual,
    Course,
    Uptake,
)
from .by_racks import racks_alone
from .counterfactual import before_switch, followed, replayed, with_own
from .inputs import FollowedPlan, Sight
from .verdict import UptakeOutcome
from .verification import (
    checked,
    muted,
    promises_of,
    refused,
    remembered,
    seen_at_once,
    with_racks_as_said,
)
from .wins import advised, claim_of, counted, has_lost, has_won, losses, lost_since, won


def follow(course: Course | None, sight: Sight, policy: Policy) -> FollowedPlan:
    """
    Go on by one snapshot; snapshots come oldest first.

    Args:
        course: What the snapshot before left; None at first.
        sight: What this one shows.
        policy: The numbers.
    """
    known = remembered(course or Course(at=sight.at), sight.at, policy)
    present = sight.present if sight.judged else None
    best, regret = followed(known, present, sight.best, sight.at)
    known = replace(replayed(known, present, sight.at), best=best)
    held = checked(
        known, sight.at, sight.live if sight.judged else None, sight.assignment, sight.runs, present
    )
    walk = _Walk(held.course, sight, policy)
    walk.comes_out(held.outcome)
    if sight.judged:
        walk.look()
    if not walk.events:
        walk.move()
    return FollowedPlan(
        advice=advised(sight.decided, walk.course, walk.winner, walk.refused, walk.mutes, policy),
        course=walk.kept(),
        events=tuple(walk.events),
        checks=(*held.checks, *walk.checks),
        regrets=() if regret is None else (regret,),
    )


def kept_strategy(course: Course | None) -> str | None:
    """The strategy that the group is advised to switch to; None where it is told none."""
    is_confirmed = course is not None and course.state is AdviceState.CONFIRMED
    return course.proposal.strategy if course and course.proposal and is_confirmed else None


def barred(course: Course | None, sight: Sight, policy: Policy) -> str | None:
    """The strategy that pays most, if it may not be advised: muted, or the way back. What else pays may be, then."""
    winner = sight.winner
    if course is None or winner is None:
        return None
    is_muted = any(mute.strategy == winner for mute in muted(course, sight.at, policy))
    return winner if is_muted or refused(course, sight, policy) else None


def gone(course: Course, group: str, at: datetime) -> FollowedPlan | None:
    """The end of the course of a group that is not there any more; None where nothing was open."""
    open_to = course.proposal or next((u for u in course.uptakes if u.outcome is None), None)
    if open_to is None:
        return None
    over = AdviceState.EXPIRED
    why = (reason("group_gone", [open_to.strategy]),)
    uptakes = tuple(
        replace(
            u, outcome=u.outcome or over, outcome_at=u.outcome_at or at, promises=(), stays=None
        )
        for u in course.uptakes
    )
    ended = replace(
        course,
        at=at,
        state=over,
        since=at,
        winners=(),
        claims=(),
        proposal=None,
        uptakes=uptakes,
        best=None,
    )
    return FollowedPlan(
        advice=Advice(
            group=group,
            verdict=Verdict.NOT_EVALUATED,
            strategy=None,
            facts=why,
            state=over,
            state_since=at,
        ),
        course=ended,
        events=(
            AdviceEvent(at=at, strategy=open_to.strategy, state=over, facts=why, diagnosis=None),
        ),
    )


class _Walk:
    """One step of a course: `look`, then `move`."""

    def __init__(self, course: Course, sight: Sight, policy: Policy) -> None:
        self.course, self.sight, self.policy = course, sight, policy
        self.events: list[AdviceEvent] = []
        self.checks: tuple[AdviceCheck, ...] = ()
        self.mutes = {mute.strategy: mute for mute in muted(course, sight.at, policy)}
        self.refused = refused(course, sight, policy)
        self.winner = None if self.refused or not sight.judged else sight.winner

    def look(self) -> None:
        """Count this snapshot, and renew what is proposed by it."""
        at, winner, policy = self.sight.at, self.winner, self.policy
        self.course = counted(self.course, at, winner, policy)
        if (proposal := self.course.proposal) is None:
            return
        facts = self.sight.decided.facts if winner == proposal.strategy else proposal.facts
        promises = promises_of(self.sight.candidates.get(proposal.strategy), facts)
        if self._is_taken_up(proposal):
            promises = with_racks_as_said(promises, proposal.promises)
        proposal = replace(
            proposal,
            lost_since=lost_since(self.course, at, winner, policy),
            facts=facts,
            assignment=proposal.assignment or self.sight.assignment,
            promises=promises or proposal.promises,
            stays=self._stays(proposal),
        )
        self.course = replace(self.course, proposal=proposal)

    def _stays(self, proposal: AdviceProposal) -> Counterfactual | None:
        """What is followed should the group switch: its assignment, from the last snapshot that shows it."""
        if proposal.assignment in (None, self.sight.assignment):
            return before_switch(proposal.stays, self.sight.present, self.sight.at)
        return proposal.stays

    def move(self) -> None:
        """Go to the next state, if there is one."""
        course, at, policy = self.course, self.sight.at, self.policy
        proposal, winner = course.proposal, self.winner
        may_be_told = winner not in self.mutes and has_won(course, at, winner or "", policy)
        told = winner if may_be_told else None
        if proposal is None:
            if winner is not None and course.state is not AdviceState.ADOPTED:
                # confirmed at once where the policy asks for no more
                begins = self._proposed if told is None else self._confirmed
                begins(winner)
        elif self._is_taken_up(proposal):
            self._taken_up(proposal)
        elif course.since and (at - course.since).total_seconds() >= policy.expires_seconds:
            self._over(AdviceState.EXPIRED, reason("not_taken_up", after=policy.expires_seconds))
        elif self.sight.judged:
            self._judged(proposal, told)

    def _judged(self, proposal: AdviceProposal, told: str | None) -> None:
        """Confirm who has won; withdraw what has lost, or what is not confirmed and does not win any more."""
        course, winner = self.course, self.winner
        is_confirmed = course.state is AdviceState.CONFIRMED
        if told is not None:
            if told != proposal.strategy or not is_confirmed:
                self._confirmed(told)
        elif is_confirmed:
            if winner != proposal.strategy and has_lost(course, self.sight.at, self.policy):
                self._withdrawn(proposal)
        elif claim_of(course, proposal.strategy) is None:
            if winner is not None:
                self._proposed(winner)
            else:
                self._withdrawn(proposal)

    def _is_taken_up(self, proposal: AdviceProposal) -> bool:
        """Whether the group runs what it was told to, or what is muted, with another assignment than it had."""
        counts = self.course.state is AdviceState.CONFIRMED or proposal.strategy in self.mutes
        before, now = proposal.assignment, self.sight.assignment
        changed = before is not None and now is not None and before != now
        return counts and changed and self.sight.judged and self.sight.runs(proposal.strategy)

    def _proposed(self, strategy: str) -> None:
        proposal = self._proposal(strategy)
        self.course = replace(self.course, proposal=proposal)
        self.becomes(AdviceState.PROPOSED, strategy, *proposal.facts)

    def _proposal(self, strategy: str) -> AdviceProposal:
        sight, claim, before = self.sight, claim_of(self.course, strategy), self.course.proposal
        return AdviceProposal(
            strategy=strategy,
            first_won_at=claim.since if claim else sight.at,
            diagnosis=sight.diagnosis,
            facts=sight.decided.facts,
            ran=sight.running,
            assignment=sight.assignment,
            promises=promises_of(sight.candidates.get(strategy), sight.decided.facts),
            stays=before_switch(before.stays if before else None, sight.present, sight.at),
        )

    def _confirmed(self, strategy: str) -> None:
        before, proposal = self.course.proposal, self._proposal(strategy)
        if before is not None and before.strategy == strategy:
            proposal = replace(proposal, diagnosis=before.diagnosis)
        self.course = replace(self.course, proposal=proposal)
        since = won(self.course, strategy)
        self.becomes(AdviceState.CONFIRMED, strategy, *since, *proposal.facts)

    def _taken_up(self, proposal: AdviceProposal) -> None:
        at, assignment = self.sight.at, self.sight.assignment
        assert assignment is not None
        across = racks_alone(proposal.facts)
        uptake = Uptake(
            strategy=proposal.strategy,
            first_at=at,
            at=at,
            assignment=assignment,
            diagnosis=proposal.diagnosis,
            ran=proposal.ran,
            came_from=proposal.assignment,
            crossed=across.before if across else None,
            promises=proposal.promises,
            stays=with_own(proposal.stays, self.sight.present),
        )
        before = (replace(each, stays=None) for each in self.course.uptakes)
        self.course = replace(self.course, uptakes=(*before, uptake))
        self._over(AdviceState.ADOPTED, reason("runs_it_now", [proposal.strategy]))
        seen = seen_at_once(self.course, at, self.sight.live)
        self.course, self.checks = seen.course, seen.checks
        self.comes_out(seen.outcome)

    def _withdrawn(self, proposal: AdviceProposal) -> None:
        candidate = self.sight.candidates.get(proposal.strategy)
        if candidate is None or candidate.feasibility not in ABLE:
            # of a strategy `with_racks` there is a row only where sending them changes what it answers
            alike = candidate is None and base_of(proposal.strategy) in self.sight.candidates
            measure = "racks_change_nothing" if alike else "can_no_longer_run_it"
            why = reason(measure, [proposal.strategy])
            self._over(AdviceState.EXPIRED, why, *(candidate.reason if candidate else ()))
            return
        since = proposal.lost_since or proposal.first_won_at
        lost = losses(self.course, proposal.strategy, since)
        why = reason(
            "no_longer_wins", [proposal.strategy], after=lost, bound=len(self.course.winners)
        )
        self._over(AdviceState.WITHDRAWN, why, *self.sight.decided.facts)

    def _over(self, state: AdviceState, *facts: Fact) -> None:
        """Let what is proposed go; but for one that was withdrawn, all is counted anew."""
        assert self.course.proposal is not None
        strategy = self.course.proposal.strategy
        self.course = replace(self.course, proposal=None)
        if state is not AdviceState.WITHDRAWN:
            self.course = replace(self.course, winners=(), claims=())
        self.becomes(state, strategy, *facts)

    def comes_out(self, outcome: UptakeOutcome | None) -> None:
        """Note what came of what was adopted, if that is known now."""
        if outcome is not None:
            self.becomes(outcome.state, outcome.strategy, *outcome.facts)

    def becomes(self, state: AdviceState, strategy: str, *facts: Fact) -> None:
        """Note another state."""
        at, diagnosis = self.sight.at, self.sight.diagnosis
        self.course = replace(self.course, state=state, since=at)
        self.events.append(
            AdviceEvent(at=at, strategy=strategy, state=state, facts=facts, diagnosis=diagnosis)
        )

    def kept(self) -> Course | None:
        """What the next snapshot has to know; None where that is nothing."""
        course = replace(self.course, at=self.sight.at, mutes=tuple(self.mutes.values()))
        if course.proposal is None and not course.claims:
            course = replace(course, winners=())
        kept = course.state or course.winners or course.uptakes or course.best
        return course if kept else None
