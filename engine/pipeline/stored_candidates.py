"""The candidates of many groups as far as deciding needs them: scores, forecasts, flaws of all, the rest of a few."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ..model.assignments import Candidate, Deployment, Feasibility
from ..model.columns import columns_of
from ..model.facts import Fact, FactKind
from ..model.figures import Forecast, Score
from ..records import CandidateColumns, arrow_schema, record_of, records_of
from .candidate_rows import candidate_of

_SCORE = tuple(spec.name for spec in columns_of(Score))
_Facts = dict[int, tuple[Fact, ...]]

NEEDED = tuple(arrow_schema(CandidateColumns).names)
"""The columns that are looked at: all but the largest by far."""


def scored(candidates: pa.Table) -> dict[str, list[Candidate]]:
    """
    The candidates of each group, in order of their position.

    What a reader is told of a candidate (reason, how, notes, proof, replay) is left out, but for a live assignment
    without a score, whose reason is the group's.
    """
    table = candidates.select(NEEDED).sort_by("position").combine_chunks()
    flaws, counts = (_facts(table, kind) for kind in (FactKind.FINDING, FactKind.COUNTS))
    # of a fleet few have a forecast
    ahead = pc.indices_nonzero(table["forecast_lag_expected"].is_valid())
    some = table.select([spec.name for spec in columns_of(Forecast)]).take(ahead)
    forecasts = dict(zip(ahead.to_pylist(), records_of(Forecast, some), strict=True))
    unscored = pc.indices_nonzero(
        pc.and_(pc.equal(table["deployment"], Deployment.LIVE), table["unowned"].is_null())
    )
    whole = dict(
        zip(unscored.to_pylist(), map(candidate_of, table.take(unscored).to_pylist()), strict=True)
    )
    names = ("group_id", "strategy", "deployment", "feasibility", "is_running")
    texts = zip(*(table[name].to_pylist() for name in names), strict=True)
    figures = zip(*(table[name].to_pylist() for name in _SCORE), strict=True)
    unowned = _SCORE.index("unowned")
    found: dict[str, list[Candidate]] = {}
    for row, ((group, strategy, deployment, feasible, running), numbers) in enumerate(
        zip(texts, figures, strict=True)
    ):
        known = numbers[unowned] is not None
        candidate = whole.get(row) or Candidate(
            strategy=strategy,
            deployment=Deployment(deployment),
            feasibility=Feasibility(feasible),
            reason=(),
            is_running=running,
            score=Score(**dict(zip(_SCORE, numbers, strict=True))) if known else None,
            forecast=forecasts.get(row),
            findings=flaws.get(row, ()),
            counts=counts.get(row, ()),
        )
        found.setdefault(group, []).append(candidate)
    return found


def _facts(table: pa.Table, kind: FactKind) -> _Facts:
    """Those of a kind among the facts of each row that has some."""
    facts = table["facts"].combine_chunks()
    flat = facts.flatten()
    own = pc.equal(pc.struct_field(flat, "kind"), kind.value)
    rows = pc.list_parent_indices(facts).filter(own).to_pylist()
    found: dict[int, tuple[Fact, ...]] = {}
    for row, fact in zip(rows, flat.filter(own).to_pylist(), strict=True):
        found[row] = (*found.get(row, ()), record_of(Fact, fact))
    return found
