"""A strategy's row of the dataset `candidates`, made of a `Candidate`, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenkeel.engine.errors import EvenkeelError
from evenkeel.engine.facts import PROOF, Fact, FactKind, fact, finding, of_kind
from evenkeel.engine.model import Candidate, Deployment, Feasibility, Move
from evenkeel.engine.records import CandidateRow, record_of, row_of
from evenkeel.engine.wording import how, proof, reasons, replay, words


def infeasible(
    strategy: str, deployment: Deployment, *reason: Fact, is_running: bool | None = None
) -> Candidate:
    """A strategy that cannot be replayed on a group, and why; the group may run it all the same."""
    return Candidate(
        strategy=strategy,
        deployment=deployment,
        feasibility=Feasibility.INFEASIBLE,
        reason=reason,
        is_running=is_running,
    )


def refusal(problem: EvenkeelError) -> Fact:
    """Why a strategy does not answer, in its own words."""
    return fact(FactKind.REASON, "refused", quote=str(problem))


def candidate_row(
    keys: Mapping[str, str],
    position: int,
    candidate: Candidate,
    changed: Sequence[Move],
) -> dict[str, Any]:
    """
    Args:
        keys: `records.keys_of` the group.
        position: Of the strategy on the scoreboard, from 0.
        candidate: The strategy on one group.
        changed: What would change hands.
    """
    return row_of(
        CandidateRow(
            **keys,
            strategy=candidate.strategy,
            position=position,
            deployment=candidate.deployment,
            feasibility=candidate.feasibility,
            reason=reasons(candidate.reason),
            is_running=candidate.is_running,
            how=how(candidate.how),
            replay=replay(candidate.replay),
            score=candidate.score,
            findings=tuple(words(flaw) for flaw in candidate.findings),
            notes=tuple(words(note) for note in candidate.notes),
            moved=tuple(changed),
            proof=proof(candidate.proof),
            facts=(
                *candidate.reason,
                *candidate.how,
                *candidate.findings,
                *candidate.notes,
                *candidate.proof,
                *candidate.replay,
            ),
        )
    )


def candidate_of(row: Mapping[str, Any]) -> Candidate:
    """A stored row as a value again; the assignment itself is not stored, its moves are."""
    stored = record_of(CandidateRow, row)
    facts = stored.facts
    if facts is None:  # a row from before there were facts
        facts = tuple(finding("flaw", quote=flaw) for flaw in stored.findings)
    return Candidate(
        strategy=stored.strategy,
        deployment=stored.deployment,
        feasibility=stored.feasibility,
        reason=_said(FactKind.REASON, facts, stored.reason),
        how=_said(FactKind.HOW, facts, stored.how),
        is_running=stored.is_running,
        replay=of_kind(facts, FactKind.REPLAY),
        score=stored.score,
        findings=of_kind(facts, FactKind.FINDING),
        notes=of_kind(facts, FactKind.NOTE),
        proof=of_kind(facts, *PROOF),
    )


def _said(kind: FactKind, facts: Sequence[Fact], sentence: str | None) -> tuple[Fact, ...]:
    """The facts of a kind; in a row from before it was kept as values, its sentence as a quote."""
    return of_kind(facts, kind) or ((fact(kind, "said", quote=sentence),) if sentence else ())
