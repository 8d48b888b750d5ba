"""
What is remembered of a group from one snapshot to the next, so that its advice is steady and held to account.

Who reads how it goes on from there: `evenkeel.engine.advice.lifecycle`.
"""

from __future__ import annotations

from datetime import datetime

from ..model.assignments import AdviceState
from ..model.columns import Int32, Unit, column, record
from ..model.facts import Fact
from ..model.states import Diagnosis

VERDICT_SECONDS = 3600
"""So long after it was adopted an advice is held against what it promised."""

AT_ONCE = 0
"""What is won across racks alone shows as soon as the group has its new assignment."""


@record
class SnapshotWinner:
    """A judged snapshot: which strategy paid in it."""

    at: datetime = column("When it was taken.")
    strategy: str | None = column("The strategy that paid and won; null where none did.", none=True)


@record
class Claim:
    """A strategy that wins of late."""

    strategy: str = column("The strategy.")
    since: datetime = column("When it won first.")
    in_a_row: Int32 = column(
        "In how many judged snapshots in a row it has won by now.", unit=Unit.SNAPSHOTS, at_least=0
    )


@record
class AdvicePromise:
    """What is to be seen of a group so long after it took up an advice: four times of five between low and high."""

    after_seconds: Int32 = column(
        "How long after it was adopted, 0 as soon as it is seen; for a day, what was promised for an hour.",
        at_least=0,
    )
    measure: str = column(
        "What was promised: lag, delay_seconds, utilisation (of the busiest member) or cross_rack_share."
    )
    unit: str = column("What the values count: offsets, s, ratio or share.")
    low: float = column(
        "Low end of what was promised: four times of five it lies between low and high."
    )
    expected: float = column("What was expected.")
    high: float = column("High end of what was promised.")


@record
class AdviceCheck(AdvicePromise):
    """What came of a promise."""

    strategy: str = column("The adopted strategy.")
    adopted_at: datetime = column("When it was adopted.")
    realised: float | None = column(
        "What came; null where no snapshot tells it, or the assignment was another by then."
    )


@record
class AdviceEvent:
    """From this snapshot on an advice is in another state."""

    at: datetime = column("When the snapshot was taken.")
    strategy: str = column("The strategy that it is about.")
    state: AdviceState = column(
        "What it became: proposed, confirmed, adopted, verified, missed, withdrawn or expired."
    )
    facts: tuple[Fact, ...] = column("Why, as values: a list of {kind, measure, ...}.")
    diagnosis: Diagnosis | None = column("What was the matter with the group then.")
    cause: str = column("Why, in words.", default="", head="Why")


@record
class AdviceProposal:
    """A strategy that is proposed or confirmed."""

    strategy: str = column("The strategy.")
    first_won_at: datetime = column("When it won first.")
    lost_since: datetime | None = column(
        "Since when a confirmed one does not win; null while it does.", default=None
    )
    diagnosis: Diagnosis | None = column("What was the matter with the group when it was proposed.")
    facts: tuple[Fact, ...] = column(
        "Why it paid when it last did, as values: a list of {kind, measure, ...}."
    )
    ran: tuple[str, ...] = column("The strategies that the group ran till then.")
    assignment: str | None = column("Fingerprint of the assignment it had when it was confirmed.")
    promises: tuple[AdvicePromise, ...] = column("What its newest forecast promises.")


@record
class Uptake:
    """An advice that was taken up."""

    strategy: str = column("The strategy.")
    first_at: datetime = column("When the group was first seen with it.")
    at: datetime = column("When its assignment had settled: promises count from then.")
    assignment: str = column("Fingerprint of the assignment it has since.")
    diagnosis: Diagnosis | None = column("What was the matter with the group when it was proposed.")
    ran: tuple[str, ...] = column("The strategies that the group came from.")
    came_from: str | None = column("Fingerprint of the assignment that it came from.")
    crossed: float | None = column(
        "Share of its partitions across racks before; null where that is not known or no promise rests on it.",
        default=None,
        unit=Unit.SHARE,
        at_least=0,
        at_most=1,
    )
    promises: tuple[AdvicePromise, ...] = column("What was promised and has not come due.")
    outcome: AdviceState | None = column(
        "What came of it: verified, missed or expired; null while that is open.", default=None
    )
    outcome_at: datetime | None = column("When that was seen; null while it is open.", default=None)


@record
class Mute:
    """A strategy that is not advised to a group, because it did not keep what was promised."""

    strategy: str = column("The strategy.")
    until: datetime = column("When it may be advised again.")
    missed: tuple[datetime, ...] = column("When it was missed.")


@record
class Course:
    """How far the advice of a group has come, and all that the next snapshot needs to know of it."""

    at: datetime = column("When the snapshot was taken.")
    state: AdviceState | None = column(
        "The state of its newest advice; null before there was one.", default=None
    )
    since: datetime | None = column("Since when it is in that state.", default=None)
    winners: tuple[SnapshotWinner, ...] = column(
        "The judged snapshots that still count, oldest first.", default=()
    )
    claims: tuple[Claim, ...] = column("The strategies that win.", default=())
    proposal: AdviceProposal | None = column(
        "What is proposed or confirmed; null where nothing is.", default=None
    )
    uptakes: tuple[Uptake, ...] = column("What was adopted lately, oldest first.", default=())
    mutes: tuple[Mute, ...] = column("What is muted.", default=())
