"""What `advise` leaves of a group: what it was told, the moves that this means, and what became of earlier advice."""

from __future__ import annotations

from datetime import datetime

from ..model.assignments import AdviceState, Move, Verdict
from ..model.columns import Int32, Unit, column, record
from ..model.facts import Fact
from .keys import OfGroup
from .lifecycle import AdviceCheck, AdviceEvent, Course


@record
class MoveRow(Move):
    """A partition that changes hands when an advice is followed."""

    advice_id: int = column("Which advice.")


@record
class EventRow(AdviceEvent):
    """
    From a snapshot on an advice was in another state; one of each group and snapshot, two where it was taken up and
    verified at once.
    """

    advice_id: int = column("With which advice that was stored.")


@record
class CheckRow(AdviceCheck):
    """What was promised of an advice that was taken up, and what came, so long afterwards."""

    advice_id: int = column("With which advice that was stored.")


@record
class AdviceColumns(OfGroup):
    """What a group was told after a snapshot, without the moves."""

    advice_id: int | None = column("Number of the advice.", default=None, generated=True)
    verdict: Verdict = column("What it was told: switch, stay or not evaluated.")
    strategy: str | None = column(
        "The strategy that wins; null when none does.", default=None, none=True
    )
    reason: str = column("Why.", head="Why")
    how: str | None = column("What to do to get that strategy.", default=None, none=True)
    best_undeployable: str | None = column(
        "The best strategy that cannot be deployed on this group.", default=None, none=True
    )
    best_undeployable_reason: str | None = column(
        "What it would gain, and why it cannot be deployed.", default=None, none=True
    )
    seen: Int32 = column(
        "Number of consecutive snapshots, this one included, in which the strategy won.",
        default=0,
        unit=Unit.SNAPSHOTS,
        at_least=0,
    )
    facts: tuple[Fact, ...] | None = column(
        "The reason as values (kinds gain, loss, reason ...), to ask with @>: a list of {kind, measure, ...}.",
        default=None,
    )
    best_undeployable_facts: tuple[Fact, ...] | None = column(
        "What that strategy would gain, as values of the same form.", default=None
    )
    state: AdviceState | None = column(
        "How far its newest advice has come: proposed, confirmed, adopted, verified, missed, withdrawn, expired.",
        default=None,
        none=True,
    )
    state_since: datetime | None = column("Since when it is in that state.", default=None)
    course: Course | None = column(
        "What the next snapshot has to know of it, as JSON; null where that is nothing.",
        default=None,
        none=True,
    )
    owner: str | None = column(
        "Who owned the group then; null where that was not configured, or not kept yet.",
        default=None,
        none=True,
    )
    created_at: datetime = column("When it was decided.")


@record
class AdviceRow(AdviceColumns):
    """What a group was told after a snapshot, "stay" included."""

    events: tuple[AdviceEvent, ...] = column(
        "The state that an advice of the group reached with this snapshot.",
        default=(),
        table="advice_event",
    )
    checks: tuple[AdviceCheck, ...] = column(
        "The promises that this snapshot checked.", default=(), table="advice_check"
    )

    moves: tuple[Move, ...] = column(
        "The partitions that change hands when it is followed.", default=(), table="advice_move"
    )


@record
class StoredAdvice(AdviceColumns):
    """What a group was told, "stay" included: after the newest snapshots each, before these where it was another."""

    since: datetime | None = column(
        "Since when it was told so: when the first snapshot in a row was taken with this verdict, strategy and"
        " state.",
        default=None,
        generated=True,
    )
    until: datetime | None = column(
        "When the first snapshot was taken after which it was told otherwise; null: none was, or the row repeats"
        " another.",
        default=None,
    )
    repeats: bool = column(
        "Whether the advice before it said the same; such a row goes after some hours.",
        default=False,
    )
