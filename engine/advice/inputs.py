"""What a snapshot shows of a group, and what follows from it for its advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ..assignors.kafka.protocol_names import base_of
from ..model.assignments import Advice, Candidate, Deployment, Verdict
from ..model.states import Diagnosis
from ..records.lifecycle import AdviceCheck, AdviceEvent, Course, Regret
from .counterfactual import BestWay, Present


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFigures:
    """
    The figures of a group as they are in a snapshot; None: unknown.

    Attributes:
        lag: Of all its partitions, in offsets.
        delay_seconds: How far it is behind beyond its commits, by its worst partition.
        utilization: What arrives at its busiest member over what that can do.
        cross_rack_share: Share of its partitions whose owner's rack holds no replica.
    """

    lag: float | None
    delay_seconds: float | None
    utilization: float | None
    cross_rack_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """
    What a snapshot shows of a group.

    Attributes:
        at: When it was taken.
        decided: What pays in it, as `decide` says.
        diagnosis: What is the matter; None where that is not known.
        candidates: Its candidates by strategy, the live one among them.
        live: Its figures as they are.
        assignment: Fingerprint of who owns what; None where that is in motion or unknown.
        would_be: Fingerprint of what the winner would give it; None where that is not known.
        present: What replays of other assignments need of it; None where there are none, or it cannot be known.
        best: The deployable strategy with the best forecast; None where none would help.
    """

    at: datetime
    decided: Advice
    diagnosis: Diagnosis | None
    candidates: Mapping[str, Candidate]
    live: LiveFigures
    assignment: str | None
    would_be: str | None = None
    present: Present | None = None
    best: BestWay | None = None

    @property
    def judged(self) -> bool:
        """Whether it counts."""
        unsure = self.diagnosis is Diagnosis.REBALANCING
        return self.decided.verdict is not Verdict.NOT_EVALUATED and not unsure

    @property
    def winner(self) -> str | None:
        """The strategy that pays, if one does."""
        return self.decided.strategy if self.decided.verdict is Verdict.SWITCH else None

    def runs(self, strategy: str) -> bool:
        """
        Whether the group runs a strategy.

        It runs one that members have to send their racks for (`with_racks`) once it runs that, and no row is left that
        says what sending them would bring.
        """
        running = self.running
        unasked = strategy not in self.candidates
        return strategy in running or (unasked and base_of(strategy) in running)

    @property
    def running(self) -> tuple[str, ...]:
        """The strategies that the group runs."""
        own = (c for c in self.candidates.values() if c.deployment is not Deployment.LIVE)
        return tuple(c.strategy for c in own if c.is_running)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedPlan:
    """What a group is told, how its course goes on, and what came of its advice, of promises, and of not switching."""

    advice: Advice
    course: Course | None
    events: tuple[AdviceEvent, ...] = ()
    checks: tuple[AdviceCheck, ...] = ()
    regrets: tuple[Regret, ...] = ()
