"""
State of the advice of a group, carried from one snapshot to the next.

`evenkeel.engine.advice.lifecycle` computes the next state.
"""

from __future__ import annotations

from datetime import datetime

from ..model.assignments import AdviceState
from ..model.columns import Int32, Unit, column, record
from ..model.facts import Fact
from ..model.states import Diagnosis

VERDICT_SECONDS = 3600
"""Time between adoption and the check of the forecast."""

AT_ONCE = 0
"""Cross-rack forecasts are checked as soon as the group has its new assignment."""


@record
class SnapshotWinner:
    """An evaluated snapshot and its winner."""

    at: datetime = column("Start of the snapshot.")
    strategy: str | None = column("Winning strategy; null if there was none.", none=True)


@record
class Claim:
    """A strategy that won recent snapshots."""

    strategy: str = column("Name of the strategy.")
    since: datetime = column("Time of its first win.")
    in_a_row: Int32 = column(
        "Number of consecutive evaluated snapshots that it won.", unit=Unit.SNAPSHOTS, at_least=0
    )


@record
class AdvicePromise:
    """
    A forecast value for a group, due some time after it adopts an advice. The band from p10 to p90 holds 80% of cases.
    """

    after_seconds: Int32 = column(
        "Seconds from adoption to the check, or 0 for an immediate check; one day uses the forecast for one hour.",
        at_least=0,
    )
    measure: str = column(
        "Forecast measure: lag, delay_seconds, utilization (of the busiest member) or cross_rack_share."
    )
    unit: str = column("Unit of the values: offsets, s, ratio or share.")
    low: float = column("Forecast, p10.")
    expected: float = column("Forecast, p50.")
    high: float = column("Forecast, p90.")


@record
class AdviceCheck(AdvicePromise):
    """A forecast value with the actual value, and the one that the assignment before would have had."""

    strategy: str = column("Adopted strategy.")
    adopted_at: datetime = column("Time of the adoption.")
    actual: float | None = column(
        "Actual value; null if no snapshot has it, or if the assignment changed before."
    )
    if_stayed_low: float | None = column(
        "Value with the assignment before, replayed with the records that arrived: lower end; null if unknown.",
        default=None,
    )
    if_stayed: float | None = column(
        "The same, expected; null if a member would have received more than it is known to process.",
        default=None,
    )
    if_stayed_high: float | None = column("The same, upper end.", default=None)
    saved_low: float | None = column(
        "Lag saved since the switch began, cost included: lower end; null if unknown, or for other measures.",
        default=None,
        unit=Unit.OFFSET_SECONDS,
    )
    saved: float | None = column(
        "The same, expected; null as above.", default=None, unit=Unit.OFFSET_SECONDS
    )
    saved_high: float | None = column(
        "The same, upper end.", default=None, unit=Unit.OFFSET_SECONDS
    )


@record
class Regret:
    """Lag that the best deployable strategy would have saved for a group that did not switch to it."""

    since: datetime = column("Start of the period.")
    until: datetime = column("End of the period, about an hour later.")
    strategy: str = column("Deployable strategy with the best forecast at the start.")
    state: AdviceState | None = column(
        "State of the newest advice at the start: confirmed if it was advised to switch; null if there was none.",
        default=None,
        none=True,
    )
    came: float = column("Actual backlog over the period.", unit=Unit.OFFSET_SECONDS, at_least=0)
    saved_low: float = column(
        "What the strategy would have saved of it, cost included: lower end.",
        unit=Unit.OFFSET_SECONDS,
    )
    saved: float | None = column(
        "The same, expected; null if a member would have received more than it is known to process.",
        default=None,
        unit=Unit.OFFSET_SECONDS,
    )
    saved_high: float = column("The same, upper end.", unit=Unit.OFFSET_SECONDS)


@record
class ReplayedQueues:
    """What waits for each member with one assignment, replayed with the records that arrived."""

    owners: str = column("Owner of each partition, as compressed indices.")
    ends: tuple[float, ...] = column(
        "Sum of the end offsets of each member's partitions, and of those without owner."
    )
    arrived: tuple[float, ...] = column("Offsets that arrived for each since the start.")
    low: tuple[float, ...] = column("Backlog of each, lower end.")
    expected: tuple[float, ...] = column("Backlog of each, expected.")
    high: tuple[float, ...] = column("Backlog of each, upper end.")
    offset_seconds: tuple[float, ...] = column(
        "Backlog summed up over time since the start: lower end, expected, upper end."
    )
    came: float = column("Actual backlog summed up over the same time.", unit=Unit.OFFSET_SECONDS)
    seconds: float = column("Time since the start.")


@record
class Counterfactual:
    """A replay of another assignment than the group has, and one of its own that shows the error of the replay."""

    strategy: str | None = column(
        "Strategy of the other assignment; null for the one before a switch.", default=None
    )
    state: AdviceState | None = column("State of the newest advice at the start.", default=None)
    since: datetime = column("Start of the replay.")
    at: datetime = column("Snapshot up to which it is replayed.")
    partitions: str = column("Fingerprint of the partitions.")
    members: tuple[str, ...] = column("Identities of the members.")
    ids: str = column("Fingerprint of their member ids at the start.")
    assignment: str | None = column("Fingerprint of the assignment of the group at the start.")
    low: tuple[float, ...] = column("Capacity of each member, upper end: it has the least lag.")
    expected: tuple[float, ...] = column("Capacity of each member, expected.")
    high: tuple[float, ...] = column("Capacity of each member, lower end.")
    age: float = column(
        "Seconds since the last commit, on average; what arrives in them is no backlog."
    )
    waits: float = column("Actual backlog at that snapshot.", unit=Unit.OFFSETS)
    price: float = column(
        "Lag that the switch would have cost.", default=0.0, unit=Unit.OFFSET_SECONDS
    )
    other: ReplayedQueues = column("The other assignment.")
    own: ReplayedQueues = column("The assignment that the group has.")


@record
class AdviceEvent:
    """A state change of an advice."""

    at: datetime = column("Start of the snapshot.")
    strategy: str = column("Advised strategy.")
    state: AdviceState = column(
        "New state: proposed, confirmed, adopted, verified, missed, withdrawn or expired."
    )
    facts: tuple[Fact, ...] = column("Reason as a list of {kind, measure, ...}.")
    diagnosis: Diagnosis | None = column("Diagnosis of the group at that time.")
    cause: str = column("Reason as text.", default="", head="Why")


@record
class AdviceProposal:
    """A strategy that is proposed or confirmed."""

    strategy: str = column("Name of the strategy.")
    first_won_at: datetime = column("Time of its first win.")
    lost_since: datetime | None = column(
        "Time since which a confirmed strategy no longer wins; null while it wins.", default=None
    )
    diagnosis: Diagnosis | None = column("Diagnosis of the group when it was proposed.")
    facts: tuple[Fact, ...] = column("Reason of its last win as a list of {kind, measure, ...}.")
    ran: tuple[str, ...] = column("Strategies that the group ran at that time.")
    assignment: str | None = column("Fingerprint of the assignment when it was confirmed.")
    promises: tuple[AdvicePromise, ...] = column("Values of its newest forecast.")
    stays: Counterfactual | None = column(
        "Replay of the assignment of the group from the last snapshot that shows it.", default=None
    )


@record
class Uptake:
    """An adopted advice."""

    strategy: str = column("Name of the strategy.")
    first_at: datetime = column("Time of the first snapshot in which the group ran it.")
    at: datetime = column("Time when its assignment was stable; forecast checks count from it.")
    assignment: str = column("Fingerprint of the new assignment.")
    diagnosis: Diagnosis | None = column("Diagnosis of the group when it was proposed.")
    ran: tuple[str, ...] = column("Strategies that the group ran before.")
    came_from: str | None = column("Fingerprint of the assignment before.")
    crossed: float | None = column(
        "Cross-rack share before the switch; null if unknown, or if no forecast uses it.",
        default=None,
        unit=Unit.SHARE,
        at_least=0,
        at_most=1,
    )
    promises: tuple[AdvicePromise, ...] = column("Forecast values that are not due yet.")
    outcome: AdviceState | None = column(
        "Outcome: verified, missed or expired; null while it is open.", default=None
    )
    outcome_at: datetime | None = column(
        "Time of the outcome; null while it is open.", default=None
    )
    stays: Counterfactual | None = column(
        "Replay of the assignment before; null if unknown, and when all values are checked.",
        default=None,
    )


@record
class Mute:
    """A strategy that is muted for a group, because its forecasts were missed."""

    strategy: str = column("Name of the strategy.")
    until: datetime = column("End of the mute.")
    missed: tuple[datetime, ...] = column("Times of the missed forecasts.")


@record
class Course:
    """The state of the advice of a group, as the next snapshot needs it."""

    at: datetime = column("Start of the snapshot.")
    state: AdviceState | None = column(
        "State of its newest advice; null if there was none.", default=None
    )
    since: datetime | None = column("Start of that state.", default=None)
    winners: tuple[SnapshotWinner, ...] = column(
        "Evaluated snapshots that still count, oldest first.", default=()
    )
    claims: tuple[Claim, ...] = column("Strategies that won recent snapshots.", default=())
    proposal: AdviceProposal | None = column(
        "Proposed or confirmed strategy; null if there is none.", default=None
    )
    uptakes: tuple[Uptake, ...] = column("Recently adopted advice, oldest first.", default=())
    mutes: tuple[Mute, ...] = column("Muted strategies.", default=())
    best: Counterfactual | None = column(
        "Replay of the best deployable strategy in this hour; null if none was forecast to help.",
        default=None,
    )
