"""Rows of the dataset `candidates`: created from values, and read back completely or partly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ..advice.scoring import Moves
from ..messages.wording import how, look_again, proof, reasons, replay, words
from ..model.arrays import Flags
from ..model.assignments import Candidate, Deployment, Feasibility
from ..model.columns import columns_of
from ..model.errors import EvenkeelError, Infeasible, no_strategy
from ..model.facts import PROOF, Fact, FactKind, fact, of_kind
from ..model.figures import Forecast, Score
from ..model.groups import GroupHeader
from ..model.tables import Lists, Structs, Table
from ..records import CandidateRow, record_of, records_of, table_of_columns
from ..records.keys import OfGroup


def infeasible(
    strategy: str,
    deployment: Deployment,
    *reason: Fact,
    how: tuple[Fact, ...] = (),
    is_running: bool | None = None,
) -> Candidate:
    """A strategy that cannot be simulated for a group, with the reason; the group may still run it."""
    return Candidate(
        strategy=strategy,
        deployment=deployment,
        feasibility=Feasibility.NOT_APPLICABLE,
        reason=reason,
        how=how,
        is_running=is_running,
    )


def refusal(problem: EvenkeelError) -> Fact:
    """The reason that a strategy has no result: a fact or a quote."""
    known = problem.why if isinstance(problem, Infeasible) else None
    return known or fact(FactKind.REASON, "refused", quote=str(problem))


@dataclass(frozen=True, kw_only=True, eq=False)
class Proposal:
    """
    A strategy of a group on its way into the table.

    Attributes:
        keys: `records.keys_of` the group.
        position: Of the strategy on the scoreboard, from 0.
        candidate: The strategy on the group.
        changed: Works out what would change hands; None where there is no answer.
    """

    keys: Mapping[str, str]
    position: int
    candidate: Candidate
    changed: Callable[[], Moves] | None

    @cached_property
    def row(self) -> CandidateRow:
        """All that is stored."""
        told: dict[str, Any] = {**self.keys, "position": self.position}
        told |= {name: value(self.candidate) for name, value in _OF_CANDIDATE.items()}
        return CandidateRow(**told)

    @property
    def moves(self) -> Moves | None:
        """What would change hands; None where there is no answer."""
        return None if self.changed is None else self.changed()


def answer_of(
    group: GroupHeader, proposals: Sequence[Proposal], strategy: str
) -> tuple[CandidateRow, Moves]:
    """
    A strategy's row for a group and what it would move.

    Raises:
        InputError: There is no such strategy.
        Infeasible: It has no answer for the group.
    """
    rows = {each.row.strategy: each for each in proposals}
    if strategy not in rows:
        raise no_strategy(strategy, rows)
    row, changed = rows[strategy].row, rows[strategy].moves
    if changed is None:
        why = row.reason.removesuffix(".")
        raise Infeasible(
            f"{strategy} has no result for group {row.group_id}: {why}.",
            fix=look_again(group),
        )
    return row, changed


def _facts(candidate: Candidate) -> tuple[Fact, ...]:
    return (
        *candidate.reason,
        *candidate.how,
        *candidate.findings,
        *candidate.notes,
        *candidate.proof,
        *candidate.replay,
        *candidate.counts,
    )


_OF_CANDIDATE: Mapping[str, Callable[[Candidate], Any]] = {
    **{
        name: attrgetter(name)
        for name in (
            *("strategy", "deployment", "feasibility", "is_running"),
            *("score", "next_change", "forecast"),
        )
    },
    "reason": lambda one: reasons(one.reason),
    "how": lambda one: how(one.how),
    "replay": lambda one: replay(one.replay),
    "findings": lambda one: tuple(map(words, one.findings)),
    "notes": lambda one: tuple(map(words, one.notes)),
    "proof": lambda one: proof(one.proof),
    "facts": _facts,
}
"""What `CandidateRow` stores of a candidate."""


def candidate_table(proposals: Sequence[Proposal]) -> Table:
    """The rows of the dataset `candidates`."""
    candidates = [each.candidate for each in proposals]
    keys = (spec.name for spec in columns_of(OfGroup))
    return table_of_columns(
        CandidateRow,
        {
            **{name: [each.keys[name] for each in proposals] for name in keys},
            "position": [each.position for each in proposals],
            **{name: list(map(value, candidates)) for name, value in _OF_CANDIDATE.items()},
        },
    )


def candidate_of(row: Mapping[str, Any]) -> Candidate:
    """A stored row as a value again; the assignment itself is not stored."""
    stored = record_of(CandidateRow, row)
    facts = stored.facts or ()
    return Candidate(
        strategy=stored.strategy,
        deployment=stored.deployment,
        feasibility=stored.feasibility,
        reason=of_kind(facts, FactKind.REASON),
        how=of_kind(facts, FactKind.HOW),
        is_running=stored.is_running,
        replay=of_kind(facts, FactKind.REPLAY),
        score=stored.score,
        next_change=stored.next_change,
        forecast=stored.forecast,
        findings=of_kind(facts, FactKind.FINDING),
        notes=of_kind(facts, FactKind.NOTE),
        proof=of_kind(facts, *PROOF),
        counts=of_kind(facts, FactKind.COUNTS),
    )


_SCORE = tuple(spec.name for spec in columns_of(Score))
_FORECAST = tuple(spec.name for spec in columns_of(Forecast))
_NAMES = ("group_id", "strategy", "deployment", "feasibility", "is_running")

SCORED = (*_NAMES, "position", *_SCORE, *_FORECAST, "facts")
"""The columns that `scored` reads."""


def scored(table: Table) -> dict[str, list[Candidate]]:
    """
    The candidates of each group, in the order of the rows.

    What a reader is told of a candidate (reason, how, proof, replay) is left out, but for a live assignment
    without a score, whose reason is the group's.
    """
    facts, unscored = table["facts"], ~table["unowned"].known
    kinds, is_live = facts.entries.table["kind"], table["deployment"].equal(Deployment.LIVE)
    flaws, counts, notes = (
        facts_by_row(facts, kinds.equal(kind.value))
        for kind in (FactKind.FINDING, FactKind.COUNTS, FactKind.NOTE)
    )
    why = kinds.equal(FactKind.REASON.value) & (unscored & is_live)[facts.rows]
    reasons = facts_by_row(facts, why)
    # of a fleet few have a forecast
    ahead = np.flatnonzero(table["forecast_lag_expected"].known)
    some = table.select(_FORECAST).take(ahead)
    forecasts = dict(zip(ahead.tolist(), records_of(Forecast, some), strict=True))
    texts = zip(*(table[name].to_pylist() for name in _NAMES), strict=True)
    figures = zip(*(table[name].to_pylist() for name in _SCORE), strict=True)
    unowned = _SCORE.index("unowned")
    found: dict[str, list[Candidate]] = {}
    for row, ((group, strategy, deployment, feasible, running), numbers) in enumerate(
        zip(texts, figures, strict=True)
    ):
        known = numbers[unowned] is not None
        candidate = Candidate(
            strategy=strategy,
            deployment=Deployment(deployment),
            feasibility=Feasibility(feasible),
            reason=reasons.get(row, ()),
            is_running=running,
            score=Score(**dict(zip(_SCORE, numbers, strict=True))) if known else None,
            forecast=forecasts.get(row),
            findings=flaws.get(row, ()),
            notes=notes.get(row, ()),
            counts=counts.get(row, ()),
        )
        found.setdefault(group, []).append(candidate)
    return found


def facts_by_row(facts: Lists, own: Flags) -> dict[int, tuple[Fact, ...]]:
    """Some of the facts of each row that has such, by its number."""
    assert isinstance(facts.entries, Structs)
    rows, some = facts.rows[own].tolist(), facts.entries.table.filter(own)
    found: dict[int, tuple[Fact, ...]] = {}
    for row, one in zip(rows, records_of(Fact, some), strict=True):
        found[row] = (*found.get(row, ()), one)
    return found
