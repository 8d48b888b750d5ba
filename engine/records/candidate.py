"""What `propose_candidates` makes of a group: one row per strategy."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.assignments import Deployment, Feasibility, Move
from ..model.columns import Int32, column, missing_where
from ..model.facts import Fact
from ..model.figures import Forecast, NextChange, Score
from .keys import OfGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateColumns(OfGroup):
    """What a strategy would give a group, scored by one judge; or why it cannot. Only what passed validation."""

    strategy: str = field(
        metadata=column('Our name of the strategy; "live" is what the group has now.')
    )
    position: Int32 = field(
        metadata=column("Place of the strategy in the table of strategies, from 0.", at_least=0)
    )
    deployment: Deployment = field(
        metadata=column(
            "How a user gets it: setting, class, plan, yardstick, never advised, already there.",
            head="Got by",
        )
    )
    feasibility: Feasibility = field(
        metadata=column(
            "Whether this group could run it: can run, could run, yardstick, infeasible."
        )
    )
    reason: str = field(metadata=column("Why it can or cannot run.", head="Why", none=True))
    is_running: bool | None = field(
        default=None,
        metadata=column(
            "Whether the group runs it, as far as can be seen (Streams: it gives what the group has); null: unknown."
        ),
    )
    how: str | None = field(
        default=None, metadata=column("What to do to get it on this group.", none=True)
    )
    replay: str | None = field(
        default=None,
        metadata=column(
            'Begins "next rebalance" if members report what they own now, else "fresh assignment"; null without score.',
            none=True,
        ),
    )
    score: Score | None = field(default=None, metadata=missing_where("moves"))
    findings: tuple[str, ...] = field(
        default=(),
        metadata=column(
            "What is wrong with the assignment, if anything; of the live one, what is found about its racks."
        ),
    )
    notes: tuple[str, ...] | None = field(
        default=None,
        metadata=column(
            "What else is to be said of it: what was taken for what is not known, where tags and racks disagree.",
            none=True,
        ),
    )
    proof: str | None = field(
        default=None,
        metadata=column(
            'What is proven of it: "exact", or how far from its floor it is at most; null when nothing is claimed.',
            none=True,
        ),
    )
    facts: tuple[Fact, ...] | None = field(
        default=None,
        metadata=column(
            "Reason, how, findings, notes, proof and replay as values, to ask with @>: a list of {kind, measure, ...}."
        ),
    )
    next_change: NextChange | None = field(default=None, metadata=missing_where("members_tried"))
    forecast: Forecast | None = field(default=None, metadata=missing_where("forecast_lag_expected"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow(CandidateColumns):
    """What a strategy would give a group, and its score; or why it cannot. Its moves stand for the assignment."""

    moved: tuple[Move, ...] = field(
        default=(),
        metadata=column(
            "The partitions that change hands: a list of {topic, partition, from_member, to_member}."
        ),
    )
