"""
What is remembered of a group from one snapshot to the next, so that its advice is steady and held to account.

Who reads how it goes on from there: `evenkeel.engine.advice.course`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ..model.assignments import AdviceState
from ..model.columns import Int32, Unit, column
from ..model.facts import Fact
from ..model.states import Diagnosis

VERDICT_SECONDS = 3600
"""So long after it was taken up an advice is held against what it promised."""

AT_ONCE = 0
"""What is won across racks alone shows as soon as the group has its new assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotWinner:
    """A judged snapshot: which strategy paid in it."""

    at: datetime = field(metadata=column("When it was taken."))
    strategy: str | None = field(
        metadata=column("The strategy that paid and won; null where none did.", none=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A strategy that wins of late."""

    strategy: str = field(metadata=column("The strategy."))
    since: datetime = field(metadata=column("When it won first."))
    in_a_row: Int32 = field(
        metadata=column(
            "In how many judged snapshots in a row it has won by now.",
            unit=Unit.SNAPSHOTS,
            at_least=0,
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvicePromise:
    """What is to be seen of a group so long after it took up an advice: four times of five between low and high."""

    after_seconds: Int32 = field(
        metadata=column(
            "How long after it was taken up, 0 as soon as it is seen; for a day, what was promised for an hour.",
            unit=Unit.SECONDS,
            at_least=0,
        )
    )
    measure: str = field(
        metadata=column(
            "What was promised: lag, delay_seconds, utilisation (of the busiest member) or cross_rack_share."
        )
    )
    unit: str = field(metadata=column("What the values count: offsets, s, ratio or share."))
    low: float = field(
        metadata=column(
            "Low end of what was promised: four times of five it lies between low and high."
        )
    )
    expected: float = field(metadata=column("What was expected."))
    high: float = field(metadata=column("High end of what was promised."))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceCheck(AdvicePromise):
    """What came of a promise."""

    strategy: str = field(metadata=column("The strategy that was taken up."))
    taken_up_at: datetime = field(metadata=column("When it was taken up."))
    realised: float | None = field(
        metadata=column(
            "What came; null where no snapshot tells it, or the assignment was another by then."
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceEvent:
    """From this snapshot on an advice is in another state."""

    at: datetime = field(metadata=column("When the snapshot was taken."))
    strategy: str = field(metadata=column("The strategy that it is about."))
    state: AdviceState = field(
        metadata=column(
            "What it became: proposed, confirmed, taken up, verified, missed, withdrawn or expired."
        )
    )
    facts: tuple[Fact, ...] = field(
        metadata=column("Why, as values: a list of {kind, measure, ...}.")
    )
    diagnosis: Diagnosis | None = field(metadata=column("What was the matter with the group then."))
    cause: str = field(default="", metadata=column("Why, in words.", head="Why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceProposal:
    """A strategy that is proposed or confirmed."""

    strategy: str = field(metadata=column("The strategy."))
    first_won_at: datetime = field(metadata=column("When it won first."))
    lost_since: datetime | None = field(
        default=None,
        metadata=column("Since when a confirmed one does not win; null while it does."),
    )
    diagnosis: Diagnosis | None = field(
        metadata=column("What was the matter with the group when it was proposed.")
    )
    facts: tuple[Fact, ...] = field(
        metadata=column("Why it paid when it last did, as values: a list of {kind, measure, ...}.")
    )
    ran: tuple[str, ...] = field(metadata=column("The strategies that the group ran till then."))
    assignment: str | None = field(
        metadata=column("Fingerprint of the assignment it had when it was confirmed.")
    )
    promises: tuple[AdvicePromise, ...] = field(
        metadata=column("What its newest forecast promises.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Uptake:
    """An advice that was taken up."""

    strategy: str = field(metadata=column("The strategy."))
    first_at: datetime = field(metadata=column("When the group was first seen with it."))
    at: datetime = field(
        metadata=column("When its assignment had settled: promises count from then.")
    )
    assignment: str = field(metadata=column("Fingerprint of the assignment it has since."))
    diagnosis: Diagnosis | None = field(
        metadata=column("What was the matter with the group when it was proposed.")
    )
    ran: tuple[str, ...] = field(metadata=column("The strategies that the group came from."))
    came_from: str | None = field(
        metadata=column("Fingerprint of the assignment that it came from.")
    )
    crossed: float | None = field(
        default=None,
        metadata=column(
            "Share of its partitions across racks before; null where that is not known or no promise rests on it.",
            unit=Unit.SHARE,
            at_least=0,
            at_most=1,
        ),
    )
    promises: tuple[AdvicePromise, ...] = field(
        metadata=column("What was promised and has not come due.")
    )
    outcome: AdviceState | None = field(
        default=None,
        metadata=column("What came of it: verified, missed or expired; null while that is open."),
    )
    outcome_at: datetime | None = field(
        default=None, metadata=column("When that was seen; null while it is open.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute:
    """A strategy that is not advised to a group, because it did not keep what was promised."""

    strategy: str = field(metadata=column("The strategy."))
    until: datetime = field(metadata=column("When it may be advised again."))
    missed: tuple[datetime, ...] = field(metadata=column("When it was missed."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How far the advice of a group has come, and all that the next snapshot needs to know of it."""

    at: datetime = field(metadata=column("When the snapshot was taken."))
    state: AdviceState | None = field(
        default=None, metadata=column("The state of its newest advice; null before there was one.")
    )
    since: datetime | None = field(default=None, metadata=column("Since when it is in that state."))
    looks: tuple[SnapshotWinner, ...] = field(
        default=(), metadata=column("The judged snapshots that still count, oldest first.")
    )
    claims: tuple[Claim, ...] = field(default=(), metadata=column("The strategies that win."))
    proposal: AdviceProposal | None = field(
        default=None, metadata=column("What is proposed or confirmed; null where nothing is.")
    )
    uptakes: tuple[Uptake, ...] = field(
        default=(), metadata=column("What was taken up lately, oldest first.")
    )
    mutes: tuple[Mute, ...] = field(default=(), metadata=column("What is muted."))
