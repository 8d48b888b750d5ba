"""What `advise` leaves of a group: what it was told, the moves that this means, and what became of earlier advice."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ..model.assignments import AdviceState, Move, Verdict
from ..model.columns import Int32, Unit, column
from ..model.facts import Fact
from .course import AdviceCheck, AdviceEvent, Course
from .keys import OfGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRow(Move):
    """A partition that changes hands when an advice is followed."""

    advice_id: int = field(metadata=column("Which advice."))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow(AdviceEvent):
    """
    From a snapshot on an advice was in another state; one of each group and snapshot, two where it was taken up and
    verified at once.
    """

    advice_id: int = field(metadata=column("With which advice that was stored."))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow(AdviceCheck):
    """What was promised of an advice that was taken up, and what came, so long afterwards."""

    advice_id: int = field(metadata=column("With which advice that was stored."))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceColumns(OfGroup):
    """What a group was told after a snapshot, without the moves."""

    advice_id: int | None = field(
        default=None, metadata=column("Number of the advice.", generated=True)
    )
    verdict: Verdict = field(metadata=column("What it was told: switch, stay or not judged."))
    strategy: str | None = field(
        default=None, metadata=column("The strategy that wins; null when none does.", none=True)
    )
    reason: str = field(metadata=column("Why.", head="Why"))
    how: str | None = field(
        default=None, metadata=column("What to do to get that strategy.", none=True)
    )
    yardstick: str | None = field(
        default=None,
        metadata=column("The best strategy that cannot be deployed on this group.", none=True),
    )
    yardstick_reason: str | None = field(
        default=None,
        metadata=column("What it would gain, and why it cannot be deployed.", none=True),
    )
    seen: Int32 = field(
        default=0,
        metadata=column(
            "Number of consecutive snapshots, this one included, in which the strategy won.",
            unit=Unit.SNAPSHOTS,
            at_least=0,
        ),
    )
    facts: tuple[Fact, ...] | None = field(
        default=None,
        metadata=column(
            "The reason as values (kinds gain, loss, reason ...), to ask with @>: a list of {kind, measure, ...}."
        ),
    )
    yardstick_facts: tuple[Fact, ...] | None = field(
        default=None,
        metadata=column("What the yardstick would gain, as values of the same form."),
    )
    state: AdviceState | None = field(
        default=None,
        metadata=column(
            "How far its newest advice has come: proposed, confirmed, taken up, verified, missed, withdrawn, expired.",
            none=True,
        ),
    )
    state_since: datetime | None = field(
        default=None, metadata=column("Since when it is in that state.")
    )
    course: Course | None = field(
        default=None,
        metadata=column(
            "What the next snapshot has to know of it, as JSON; null where that is nothing.",
            none=True,
        ),
    )
    owner: str | None = field(
        default=None,
        metadata=column(
            "Who owned the group then; null where that was not configured, or not kept yet.",
            none=True,
        ),
    )
    created_at: datetime = field(metadata=column("When it was decided."))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceRow(AdviceColumns):
    """What a group was told after a snapshot, "stay" included."""

    events: tuple[AdviceEvent, ...] = field(
        default=(),
        metadata=column(
            "The state that an advice of the group reached with this snapshot.",
            table="advice_event",
        ),
    )
    checks: tuple[AdviceCheck, ...] = field(
        default=(),
        metadata=column("The promises that this snapshot checked.", table="advice_check"),
    )

    moves: tuple[Move, ...] = field(
        default=(),
        metadata=column(
            "The partitions that change hands when it is followed.", table="advice_move"
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAdvice(AdviceColumns):
    """What a group was told, "stay" included: after the newest snapshots each, before these where it was another."""

    since: datetime | None = field(
        default=None,
        metadata=column(
            "Since when it was told so: when the first snapshot in a row was taken with this verdict, strategy and"
            " state.",
            generated=True,
        ),
    )
    until: datetime | None = field(
        default=None,
        metadata=column(
            "When the first snapshot was taken after which it was told otherwise; null: none was, or the row repeats"
            " another."
        ),
    )
    repeats: bool = field(
        default=False,
        metadata=column(
            "Whether the advice before it said the same; such a row goes after some hours."
        ),
    )
