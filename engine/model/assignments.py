"""Candidate assignments and advice."""

from __future__ import annotations

import enum
from collections.abc import Mapping
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
    The assignment that a strategy computes.

    Attributes:
        owner: (P) a member index per partition of the group, `NONE` without an owner.
        order: The partitions in the order of assignment, if the strategy guarantees an order; without it lists are
            sorted.
        transferring: (P) the next owner of a partition that its current owner must revoke first, `NONE` elsewhere;
            such a partition has no owner in this round. None if no partition has to be revoked first.
        raw_assignment: The lists that Kafka's class would send, entry by entry, if *owner* cannot express them: a
            partition with two members, or a deleted one. None if *owner* and *order* are complete.
        findings: Problems of the assignment; Kafka's own classes have some (a member gets a partition it doesn't
            subscribe to). An assignment with findings is shown, never advised.
        proof: Proven properties: facts of the kinds in `facts.PROOF`; empty without a proof.
    """

    owner: Indices
    order: Ints | None = None
    transferring: Indices | None = None
    raw_assignment: Lists | None = None
    findings: tuple[Fact, ...] = ()
    proof: tuple[Fact, ...] = ()


class Deployment(enum.StrEnum):
    """How a strategy is deployed."""

    SETTING = "setting"
    CLASS = "class"
    PLAN = "plan"
    BASELINE = "baseline"
    NEVER = "never advised"
    LIVE = "already there"


class Feasibility(enum.StrEnum):
    """Whether a group can use a strategy."""

    AVAILABLE = "available"
    NEEDS_RESTART = "needs restart"
    NOT_DEPLOYABLE = "not deployable here"
    NOT_APPLICABLE = "not applicable"


ABLE = (Feasibility.AVAILABLE, Feasibility.NEEDS_RESTART)
"""Feasibilities of a strategy that the group can use, now or after some steps."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """
    A strategy for a group: its assignment and score, or the reason why it has none.

    *reason* explains the feasibility, *how* the steps to deploy it. *is_running* is whether the group seems to run the
    strategy, None if unknown. *notes* are remarks that are no problems. *counts* are the numbers of partitions of
    members in a group that could be balanced better.
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
    """Verdict of an advice."""

    SWITCH = "switch"
    STAY = "stay"
    NOT_EVALUATED = "not evaluated"


class AdviceState(enum.StrEnum):
    """State of an advice."""

    PROPOSED = "proposed"
    """It pays, and waits for more evidence."""
    CONFIRMED = "confirmed"
    """There is enough evidence that it pays: the group is advised to switch."""
    ADOPTED = "adopted"
    """The group runs the advised strategy; the forecast is not checked yet."""
    VERIFIED = "verified"
    """The actual values are as forecast, or better."""
    MISSED = "missed"
    """The actual values are worse than forecast."""
    WITHDRAWN = "withdrawn"
    """There is enough evidence that it no longer pays."""
    EXPIRED = "expired"
    """The group didn't adopt it in time, or can no longer."""


@record
class Move:
    """A partition that is reassigned."""

    topic: str = column("Name of the topic.")
    partition: Int32 = column("Number of the partition in its topic.", at_least=0, head="Part.")
    from_member: str | None = column(
        "Id of the current owner; null if there is none.",
        none=True,
        names_member=True,
        head="From",
    )
    to_member: str | None = column(
        "Id of the next owner; null if there is none.",
        none=True,
        names_member=True,
        head="To",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """
    The advice for a group after a snapshot, with its reason.

    *best_undeployable* is the best strategy that cannot be deployed on this group, *withheld* whether the data did not
    allow an evaluation. *says* is what is new in the snapshot for each strategy that the group could deploy, from -1 to
    1: above 0 it pays, at 0 its forecast alone is not sure; None is nothing either way. *seen* counts the snapshots in
    which the strategy pays, since it began to. *state* is the state of the group's newest advice and *state_since* its
    start; None if there was none recently.
    """

    group: str
    verdict: Verdict
    strategy: str | None
    facts: tuple[Fact, ...]
    how: tuple[Fact, ...] = ()
    best_undeployable: str | None = None
    best_undeployable_facts: tuple[Fact, ...] = ()
    says: Mapping[str, float | None] = field(default_factory=dict)
    seen: int = 0
    state: AdviceState | None = None
    state_since: datetime | None = None
    moves: tuple[Move, ...] = field(default=())
