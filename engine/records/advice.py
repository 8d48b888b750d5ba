"""Rows that `advise` stores per group: the advice, its moves, its state changes and its forecast checks."""

from __future__ import annotations

from datetime import datetime

from ..model.assignments import AdviceState, Move, Verdict
from ..model.columns import Int32, Unit, column, record
from ..model.facts import Fact
from .keys import OfGroup
from .lifecycle import AdviceCheck, AdviceEvent, Course, Regret


@record
class MoveRow(Move):
    """One row per partition that is reassigned by an advice."""

    advice_id: int = column("Number of the advice.")


@record
class EventRow(AdviceEvent):
    """One row per state change of an advice. A group has at most one per snapshot, or two (adopted and verified)."""

    advice_id: int = column("Number of the advice that was stored with it.")


@record
class CheckRow(AdviceCheck):
    """One row per forecast value of an adopted advice, with the actual value after the same time."""

    advice_id: int = column("Number of the advice that was stored with it.")


@record
class RegretRow(Regret):
    """One row per hour in which a deployable strategy was forecast to help a group, with what it would have saved."""

    advice_id: int = column("Number of the advice that was stored with it.")


@record
class AdviceColumns(OfGroup):
    """The advice for a group after a snapshot, without its moves."""

    advice_id: int | None = column("Number of the advice.", default=None, generated=True)
    verdict: Verdict = column("Verdict: switch, stay or not evaluated.")
    strategy: str | None = column(
        "Winning strategy; null if there is none.", default=None, none=True
    )
    reason: str = column("Reason.", head="Why")
    how: str | None = column("Steps that deploy the strategy.", default=None, none=True)
    best_undeployable: str | None = column(
        "Best strategy that cannot be deployed on this group.", default=None, none=True
    )
    best_undeployable_reason: str | None = column(
        "Gain of that strategy, and the reason that it cannot be deployed.", default=None, none=True
    )
    seen: Int32 = column(
        "Number of snapshots in which the strategy would help, since it began to.",
        default=0,
        unit=Unit.SNAPSHOTS,
        at_least=0,
    )
    facts: tuple[Fact, ...] | None = column(
        "Reason as a list of {kind, measure, ...} (kinds gain, loss, reason ...); query it with @>.",
        default=None,
    )
    best_undeployable_facts: tuple[Fact, ...] | None = column(
        "Gain of that strategy, in the same form.", default=None
    )
    state: AdviceState | None = column(
        "State of its newest advice: proposed, confirmed, adopted, verified, missed, withdrawn, expired.",
        default=None,
        none=True,
    )
    state_since: datetime | None = column("Start of that state.", default=None)
    course: Course | None = column(
        "State of the advice lifecycle that the next snapshot continues, as JSON; null if there is none.",
        default=None,
        none=True,
    )
    owner: str | None = column(
        "Owner of the group at that time; null if none was configured.",
        default=None,
        none=True,
    )
    created_at: datetime = column("Time of the decision.")


@record
class AdviceRow(AdviceColumns):
    """The advice for a group after a snapshot, including "stay"."""

    events: tuple[AdviceEvent, ...] = column(
        "State changes of advice of the group at this snapshot.",
        default=(),
        table="advice_event",
    )
    checks: tuple[AdviceCheck, ...] = column(
        "Forecast values that this snapshot checked.", default=(), table="advice_check"
    )
    regrets: tuple[Regret, ...] = column(
        "What a strategy would have saved in the hour that this snapshot ends.",
        default=(),
        table="advice_regret",
    )

    moves: tuple[Move, ...] = column(
        "Partitions that are reassigned if the advice is followed.", default=(), table="advice_move"
    )


@record
class StoredAdvice(AdviceColumns):
    """One row per advice for a group, including "stay". Unchanged advice is kept only for the newest snapshots."""

    since: datetime | None = column(
        "Time of the first consecutive snapshot with this verdict, strategy and state.",
        default=None,
        generated=True,
    )
    until: datetime | None = column(
        "Time of the first snapshot with different advice; null if there is none, or if the row repeats another.",
        default=None,
    )
    repeats: bool = column(
        "True if the advice before it was the same; such a row is deleted after some hours.",
        default=False,
    )
