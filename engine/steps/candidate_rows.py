"""A strategy's row of the dataset `candidates`, made of a `Candidate`, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evenkeel.engine.advice import Judgement
from evenkeel.engine.model import Candidate, Feasibility, Move, Reach, Score


def infeasible(strategy: str, reach: Reach, reason: str) -> Candidate:
    """A strategy that cannot run on a group, and why."""
    return Candidate(
        strategy=strategy, reach=reach, feasibility=Feasibility.INFEASIBLE, reason=reason
    )


def candidate_row(
    position: int, candidate: Candidate, judgement: Judgement | None, changed: Sequence[Move]
) -> dict[str, Any]:
    """
    Args:
        position: Of the strategy on the scoreboard, from 0.
        candidate: The strategy on one group.
        judgement: What its owner has to do for it; None where nothing is known.
        changed: What would change hands.
    """
    score = asdict(candidate.score) if candidate.score else {}
    return {
        "strategy": candidate.strategy,
        "position": position,
        "reach": candidate.reach.value,
        "feasibility": candidate.feasibility.value,
        "reason": candidate.reason,
        "how": judgement.how if judgement else None,
        "replay": candidate.replay,
        **score,
        "findings": list(candidate.findings),
        "moved": [asdict(move) for move in changed],
        "proof": candidate.proof,
    }


def candidate_of(row: Mapping[str, Any]) -> Candidate:
    """A stored row as a value again; the assignment itself is not stored, its moves are."""
    scored = row["unowned"] is not None
    score = {name: row[name] for name in Score.__dataclass_fields__}
    return Candidate(
        strategy=row["strategy"],
        reach=Reach(row["reach"]),
        feasibility=Feasibility(row["feasibility"]),
        reason=row["reason"],
        replay=row["replay"],
        score=Score(**score) if scored else None,
        findings=tuple(row["findings"] or ()),
        proof=row["proof"],
    )
