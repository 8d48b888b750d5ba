"""Rows that `propose_candidates` computes per group: one per strategy."""

from __future__ import annotations

from ..model.assignments import Deployment, Feasibility
from ..model.columns import Int32, column, missing_where, record
from ..model.facts import Fact
from ..model.figures import Forecast, NextChange, Score
from .keys import OfGroup


@record
class CandidateRow(OfGroup):
    """
    One row per group and strategy with its score, or the reason why it has none. Only groups that passed validation.
    """

    strategy: str = column('Name of the strategy; "live" is the current assignment.')
    position: Int32 = column(
        "Position of the strategy in the table of strategies, from 0.", at_least=0
    )
    deployment: Deployment = column(
        "How it is deployed: setting, class, plan, baseline, never advised, already there.",
        head="Deployment",
    )
    feasibility: Feasibility = column(
        "Availability for this group: available, needs restart, not deployable here, not applicable."
    )
    reason: str = column("Reason for that availability.", head="Why", none=True)
    is_running: bool | None = column(
        "True if the group seems to run it (Streams: if it gives the current assignment); null if unknown.",
        default=None,
    )
    how: str | None = column("Steps that deploy it on this group.", default=None, none=True)
    replay: str | None = column(
        'Starts with "next rebalance" if members report their partitions, else with "fresh assignment"; '
        "null without score.",
        default=None,
        none=True,
    )
    score: Score | None = missing_where("moves", default=None)
    findings: tuple[str, ...] = column(
        "Problems of the assignment; for the live one, findings about its racks.",
        default=(),
    )
    notes: tuple[str, ...] | None = column(
        "Notes, such as assumptions for unknown values and tags that contradict racks.",
        default=None,
        none=True,
    )
    proof: str | None = column(
        'Proven quality: "exact", or the largest distance from its lower bound; null without a proof.',
        default=None,
        none=True,
    )
    facts: tuple[Fact, ...] | None = column(
        "Reason, how, findings, notes, proof and replay as a list of {kind, measure, ...}; query it with @>.",
        default=None,
    )
    next_change: NextChange | None = missing_where("members_tried", default=None)
    forecast: Forecast | None = missing_where("forecast_lag_expected", default=None)
