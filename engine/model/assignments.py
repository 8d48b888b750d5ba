"""Assignments as they could be, what speaks for each, and advice."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime

from .arrays import Indices, Ints
from .columns import Int32, column, record
from .facts import Fact
from .figures import Forecast, NextChange, Score


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lists:
    """
    Each member's list of partitions, ragged: member m has the entries `start[m]:start[m + 1]`.

    Attributes:
        start: (M + 1) where each member's list begins.
        topic: (entries) topic index.
        partition: (entries) partition number within the topic; it may be one that does not exist.
    """

    start: Ints
    topic: Indices
    partition: Indices


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """
    Who owns what: the answer of a strategy.

    Attributes:
        owner: (P) a member index per partition of the group, `NONE` for nobody.
        order: Where a strategy's order is part of its promise, the partitions in the order they were given out;
            without it lists are sorted.
        transferring: (P) who is to get a partition that its present owner must give up first, `NONE` elsewhere; such
            a partition has no owner in this round. None: nothing has to be given up first.
        raw_assignment: The lists Kafka's class would send, entry by entry, where *owner* cannot say it: a partition
            given to two members, or one that is gone. None: *owner* and *order* say all.
        findings: What is wrong with the answer; Kafka's own classes have such answers (a member gets what it never
            subscribed to). An answer with findings is shown, never advised.
        proof: What is proven of the answer: facts of the kinds in `facts.PROOF`; none: nothing is claimed.
    """

    owner: Indices
    order: Ints | None = None
    transferring: Indices | None = None
    raw_assignment: Lists | None = None
    findings: tuple[Fact, ...] = ()
    proof: tuple[Fact, ...] = ()


class Deployment(enum.StrEnum):
    """How a user gets a strategy."""

    SETTING = "setting"
    CLASS = "class"
    PLAN = "plan"
    BASELINE = "baseline"
    NEVER = "never advised"
    LIVE = "already there"


class Feasibility(enum.StrEnum):
    """Whether this group could run a strategy."""

    AVAILABLE = "available"
    NEEDS_RESTART = "needs restart"
    NOT_DEPLOYABLE = "not deployable here"
    NOT_APPLICABLE = "not applicable"


ABLE = (Feasibility.AVAILABLE, Feasibility.NEEDS_RESTART)
"""What is said of a strategy that a group can have, at once or after some steps."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """
    One strategy's answer for one group: its assignment and score, or why there is none.

    *reason* says why it can or cannot run, *how* what to do to get it. *is_running* is whether the group runs the
    strategy as far as can be seen, None unknown. *notes* say what else is to
    be known of the answer, and are no flaws. *counts* name how many partitions members have, in a group in which that
    could be more even.
    """

    strategy: str
    deployment: Deployment
    feasibility: Feasibility
    reason: tuple[Fact, ...]
    how: tuple[Fact, ...] = ()
    is_running: bool | None = None
    replay: tuple[Fact, ...] = ()
    assignment: Assignment | None = None
    score: Score | None = None
    next_change: NextChange | None = None
    forecast: Forecast | None = None
    findings: tuple[Fact, ...] = ()
    notes: tuple[Fact, ...] = ()
    proof: tuple[Fact, ...] = ()
    counts: tuple[Fact, ...] = ()


class Verdict(enum.StrEnum):
    """What a group is told."""

    SWITCH = "switch"
    STAY = "stay"
    NOT_EVALUATED = "not evaluated"


class AdviceState(enum.StrEnum):
    """How far an advice has come."""

    PROPOSED = "proposed"
    """It won; whether it goes on winning is not known yet."""
    CONFIRMED = "confirmed"
    """It won for long enough: the group is advised to switch."""
    ADOPTED = "adopted"
    """The group runs what it was told to; whether the forecast comes true is not known yet."""
    VERIFIED = "verified"
    """What came is what was promised, or better."""
    MISSED = "missed"
    """What came is worse than what was promised."""
    WITHDRAWN = "withdrawn"
    """It no longer pays, for as long as it had to win."""
    EXPIRED = "expired"
    """Nobody followed it, or nobody can: it is no longer waited for."""


@record
class Move:
    """A partition that changes hands."""

    topic: str = column("The topic.")
    partition: Int32 = column("Number of the partition in its topic.", at_least=0, head="Part.")
    from_member: str | None = column(
        "Id of the member that owns it now; null when nobody does.",
        none=True,
        names_member=True,
        head="From",
    )
    to_member: str | None = column(
        "Id of the member that gets it; null when nobody does.",
        none=True,
        names_member=True,
        head="To",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """
    What one group is told after one snapshot, and why.

    *best_undeployable* names the best strategy that cannot be deployed on this group, *withheld* that the data did not
    allow a judgement. *seen* counts the consecutive snapshots, this one included, in which the strategy won; *state* is
    how far the group's newest advice has come, and *state_since* since when; None where there was none of late.
    """

    group: str
    verdict: Verdict
    strategy: str | None
    facts: tuple[Fact, ...]
    how: tuple[Fact, ...] = ()
    best_undeployable: str | None = None
    best_undeployable_facts: tuple[Fact, ...] = ()
    seen: int = 0
    state: AdviceState | None = None
    state_since: datetime | None = None
    moves: tuple[Move, ...] = field(default=())
