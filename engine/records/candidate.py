"""What `propose_candidates` makes of a group: one row per strategy."""

from __future__ import annotations

from ..model.assignments import Deployment, Feasibility, Move
from ..model.columns import Int32, column, missing_where, record
from ..model.facts import Fact
from ..model.figures import Forecast, NextChange, Score
from .keys import OfGroup


@record
class CandidateColumns(OfGroup):
    """What a strategy would give a group, scored by one judge; or why it cannot. Only what passed validation."""

    strategy: str = column('Our name of the strategy; "live" is what the group has now.')
    position: Int32 = column(
        "Place of the strategy in the table of strategies, from 0.", at_least=0
    )
    deployment: Deployment = column(
        "How a user gets it: setting, class, plan, baseline, never advised, already there.",
        head="Deployment",
    )
    feasibility: Feasibility = column(
        "Whether this group could run it: available, needs restart, not deployable here, not applicable."
    )
    reason: str = column("Why it can or cannot run.", head="Why", none=True)
    is_running: bool | None = column(
        "Whether the group runs it, as far as can be seen (Streams: it gives what the group has); null: unknown.",
        default=None,
    )
    how: str | None = column("What to do to get it on this group.", default=None, none=True)
    replay: str | None = column(
        'Begins "next rebalance" if members report what they own now, else "fresh assignment"; null without score.',
        default=None,
        none=True,
    )
    score: Score | None = missing_where("moves", default=None)
    findings: tuple[str, ...] = column(
        "What is wrong with the assignment, if anything; of the live one, what is found about its racks.",
        default=(),
    )
    notes: tuple[str, ...] | None = column(
        "What else is to be said of it: what was taken for what is not known, where tags and racks disagree.",
        default=None,
        none=True,
    )
    proof: str | None = column(
        'What is proven of it: "exact", or how far from its floor it is at most; null when nothing is claimed.',
        default=None,
        none=True,
    )
    facts: tuple[Fact, ...] | None = column(
        "Reason, how, findings, notes, proof and replay as values, to ask with @>: a list of {kind, measure, ...}.",
        default=None,
    )
    next_change: NextChange | None = missing_where("members_tried", default=None)
    forecast: Forecast | None = missing_where("forecast_lag_expected", default=None)


@record
class CandidateRow(CandidateColumns):
    """What a strategy would give a group, and its score; or why it cannot. Its moves stand for the assignment."""

    moved: tuple[Move, ...] = column(
        "The partitions that change hands: a list of {topic, partition, from_member, to_member}.",
        default=(),
    )
