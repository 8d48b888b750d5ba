"""What every candidate of a group is held against, what is said for or against it, and both figures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..config import Policy
from ..model.assignments import Candidate
from ..model.columns import columns_of
from ..model.facts import Fact, FactKind, remark
from ..model.figures import Forecast, Score
from ..model.states import Diagnosis

LONG_SECONDS = 3600.0
"""A backlog that is gone sooner is no reason to restart anybody."""

MENDED_IN_PART = (Diagnosis.UNDER_PROVISIONED, Diagnosis.HOT_PARTITION, Diagnosis.SLOW_MEMBER)
"""Another assignment does not remove the cause; lag may grow more slowly with it, or stop to."""

LESS = 0.05
"""What overloads members by a smaller share less only hands a backlog on: more members are late, as long in all."""


def is_less(now: float, then: float) -> bool:
    """Whether an assignment overloads members by less than the live one, offsets/s both; see `LESS`."""
    return then <= now * (1 - LESS)


_UNITS = {
    one.name: one.meaning.unit and one.meaning.unit.value
    for record in (Score, Forecast)
    for one in columns_of(record)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAndCandidate:
    """
    What every candidate of a group is held against.

    Attributes:
        score: That of the live assignment.
        forecast: What becomes of the group if it stays; None where that is not known.
        counts: How many partitions its members have; nothing where that is as even as can be.
        partitions: How many partitions the group has.
        lag: Their lag now, in offsets; None unknown.
        unknown_lag: Of how many of them the lag is unknown.
        arrives_per_second: Offsets/s produced to them; None unknown.
        diagnosis: What is the matter with the group; None where that is not known.
        findings: What is remarkable about it, the facts of its diagnosis among them.
        policy: What counts as a gain, a loss, and too many moves.
    """

    score: Score
    forecast: Forecast | None
    counts: tuple[Fact, ...]
    partitions: int
    lag: int | None
    unknown_lag: int | None
    arrives_per_second: float | None
    diagnosis: Diagnosis | None
    findings: Sequence[Fact]
    policy: Policy

    @property
    def lag_speaks(self) -> bool:
        """Whether another assignment could mend the lag, else less is no gain: load is skewed, or drains for long."""
        if self.diagnosis is Diagnosis.CATCHING_UP:
            told = Diagnosis.CATCHING_UP.measure
            left = [fact.after for fact in self.findings if fact.measure == told]
            return any(after is not None and after > LONG_SECONDS for after in left)
        return self.diagnosis in (Diagnosis.SKEWED_LOAD, *MENDED_IN_PART)

    def may_mend(self, candidate: Candidate) -> bool:
        """
        Whether less lag may speak for a candidate under the group's diagnosis.

        What arrived since the snapshot before must overload its members by less, so that each snapshot says something
        new: a slow member stays slow, but may get less. Where a backlog is worked off anyway, an hour must be saved.
        """
        live, other = self.forecast, candidate.forecast
        if live is None or other is None or candidate.score is None:
            return False
        now, then = self._at_stake(candidate)
        if self.diagnosis is Diagnosis.CATCHING_UP:
            return now is not None and then is not None and now - then >= LONG_SECONDS
        return now is not None and then is not None and now > 0 and is_less(now, then)

    def mended(self, candidate: Candidate) -> tuple[Fact, ...]:
        """What of the diagnosis a candidate mends, as remarks: what leaves the slow member, or this backlog alone."""
        if self.diagnosis is Diagnosis.CATCHING_UP:
            now, then = self._at_stake(candidate)
            return (remark("for_this_backlog", before=now, after=then),)
        if self.diagnosis is not Diagnosis.SLOW_MEMBER:
            return ()
        slow = {n for f in self.findings if f.measure == self.diagnosis.measure for n in f.subjects}
        return tuple(
            replace(each, kind=FactKind.REMARK)
            for each in candidate.notes
            if each.measure == "relieved_member" and slow.intersection(each.subjects)
        )

    def cut(self, candidate: Candidate) -> float | None:
        """
        By what share a candidate cuts what is new in the snapshot, above 0; -1 where it may not mend the lag.

        None, nothing: its forecast is unknown, or a backlog is worked off, and what arrives overloads nobody for now.
        """
        now, then = self._at_stake(candidate)
        if self.lag_speaks and self.may_mend(candidate):
            return 1 - then / now if now and then is not None else -1.0
        unknown = self.lag_speaks and (self.forecast is None or candidate.forecast is None)
        return None if unknown or self.diagnosis is Diagnosis.CATCHING_UP else -1.0

    def _at_stake(self, candidate: Candidate) -> tuple[float | None, float | None]:
        """With the live assignment and with the candidate's: overload since the snapshot before, or time to drain."""
        if self.diagnosis is Diagnosis.CATCHING_UP:
            score = candidate.score
            return self.score.drain_seconds, score.drain_seconds if score else None
        stays, ahead = self.forecast, candidate.forecast
        now = stays.overload_per_second if stays else None
        return now, ahead.overload_per_second if ahead else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """
    What a way of looking at a candidate says for or against it.

    Attributes:
        gain: What gets better by enough, and behind it what else is to be said of that.
        loss: What forbids the switch.
        won: How much the gain is worth, in the unit of whoever argues; 0 without one.
        costs: What was taken off of that for the price, in the same unit.
    """

    gain: tuple[Fact, ...] = ()
    loss: tuple[Fact, ...] = ()
    won: float = 0.0
    costs: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """
    What a switch would bring and cost.

    Attributes:
        gains: What gets better by at least what the policy asks.
        losses: What forbids the switch. In both, remarks stand behind the fact they belong to.
        lag_won: By how much the expected lag integral of the coming hour falls beyond the price of the switch, in
            offset-seconds; 0 where lag is no gain.
        lag_fall: The same without the price.
        racks_won: What is saved across racks, in multiples of the least that counts; 0 where that is no gain.
        says: What is new in the snapshot says of it, from -1 to 1: the share of what arrived that would no longer
            overload members, -1 where that is nothing; 1 where something else than lag gets better; None: nothing.
    """

    gains: tuple[Fact, ...] = ()
    losses: tuple[Fact, ...] = ()
    lag_won: float = 0.0
    lag_fall: float = 0.0
    racks_won: float = 0.0
    says: float | None

    @property
    def pays(self) -> bool:
        """A switch needs a gain and no loss."""
        return bool(self.gains) and not self.losses

    @property
    def evidence(self) -> float | None:
        """What is new in the snapshot as evidence; 0 where it speaks for what does not pay by its forecast."""
        return self.says if self.pays or self.says is None else min(self.says, 0.0)

    @property
    def value(self) -> tuple[float, float]:
        """The order among what pays: lag first, then what crosses racks."""
        return round(self.lag_won, 3), round(self.racks_won, 6)

    def ideal_beside(self, other: Weighing, gain: float) -> bool:
        """
        Whether it beats another by enough to be named though it cannot be deployed; nobody knows its price.

        Args:
            other: What can be.
            gain: The share of that by which the lag integral must fall further.
        """
        if self.lag_fall > other.lag_fall * (1 + gain):
            return True
        return self.lag_fall >= other.lag_fall * (1 - gain) and self.value[1] > other.value[1]


def compared(kind: FactKind, measure: str, live: Score | Forecast, other: Score | Forecast) -> Fact:
    """A column of a score or forecast without a switch and with it, in the unit that it is declared in."""
    before, after = getattr(live, measure), getattr(other, measure)
    return Fact(kind=kind, measure=measure, before=before, after=after, unit=_UNITS[measure])
