"""Why a group is told to stay, and what could be better all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..metrics.observe import NO_OFFSET_RESET
from ..model.assignments import Candidate
from ..model.facts import Fact, FactKind, finding, of_kind, reason
from ..model.states import Diagnosis
from .by_forecast import outlook, perhaps_less_lag
from .by_racks import nearer_by_too_little
from .evenness import more_even
from .gains_and_losses import Weighing
from .live_and_candidate import LiveAndCandidate

LONG_SECONDS = 3600.0
"""A backlog that is gone sooner is no reason to restart anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCondition:
    """
    What is known of how a group fares.

    Attributes:
        diagnosis: What is the matter with it; None where that is not known.
        findings: What is remarkable about it, the facts of its diagnosis among them.
        unknown_lag: Of how many of its partitions the lag is unknown.
    """

    diagnosis: Diagnosis | None
    findings: Sequence[Fact]
    unknown_lag: int | None

    @property
    def of_the_assignment(self) -> bool:
        """Whether another assignment could mend it: its load is skewed, or it drains for long."""
        if self.diagnosis is Diagnosis.CATCHING_UP:
            told = Diagnosis.CATCHING_UP.measure
            left = [fact.after for fact in self.findings if fact.measure == told]
            return any(after is not None and after > LONG_SECONDS for after in left)
        return self.diagnosis is Diagnosis.SKEWED_LOAD


def why_stay(
    standing: LiveAndCandidate,
    trouble: GroupCondition,
    weighed: Mapping[str, Weighing],
    able: Sequence[Candidate],
) -> tuple[Fact, ...]:
    """
    Why no switch pays.

    Args:
        standing: The live assignment and its group.
        trouble: How the group fares.
        weighed: What a switch to each strategy would bring.
        able: The candidates that the group could deploy, none of which pays.
    """
    if not able:
        return (reason("nothing_deployable"),)
    for one in able:
        if weighed[one.strategy].gains:
            found = weighed[one.strategy]
            return (reason("gain_with_loss", [one.strategy]), *found.gains, *found.losses)
    instead = _instead(standing, trouble, able)
    nothing = (reason("nothing_to_gain", [each.strategy for each in able]),)
    if standing.lag_speaks:
        return instead or nothing
    if trouble.diagnosis in _WELL_ENOUGH:
        # what could be better and is by itself no reason to switch
        instead += (*_could_be_more_even(standing, able), *_could_be_nearer(standing, able))
    return instead or nothing


_SAID: Mapping[Diagnosis | None, str] = {
    None: "no_forecast",
    Diagnosis.UNKNOWN: "diagnosis_unknown",
    Diagnosis.CATCHING_UP: "restarting_no_help",
}
"""What is said where lag does not speak for a switch, in place of that no assignment mends it."""


def _instead(
    standing: LiveAndCandidate, trouble: GroupCondition, able: Sequence[Candidate]
) -> tuple[Fact, ...]:
    """Why lag does not speak for a switch; nothing where there is none to speak of."""
    diagnosis = trouble.diagnosis
    if standing.score.largest_member_lag is None:
        unset = [fact for fact in trouble.findings if fact.measure == NO_OFFSET_RESET]
        return (reason("unknown_lag", partitions=trouble.unknown_lag), *unset)
    if diagnosis is Diagnosis.KEEPS_UP:
        return ()
    if not standing.lag_speaks:
        said = reason(
            _SAID.get(diagnosis, "assignment_not_to_blame"),
            () if diagnosis is None else (diagnosis.value,),
        )
        return (said, *of_kind(trouble.findings, FactKind.DIAGNOSIS))
    if standing.forecast is None:
        return (reason("no_forecast"),)
    return _perhaps(standing, able) or (
        _at_floor(standing) if diagnosis is Diagnosis.CATCHING_UP else ()
    )


def _perhaps(standing: LiveAndCandidate, able: Sequence[Candidate]) -> tuple[Fact, ...]:
    """The strategy that is expected to mend most, though it may turn out otherwise; nothing where none is."""
    won, best = max(
        ((perhaps_less_lag(standing, each.forecast), each) for each in able),
        key=lambda pair: pair[0],
    )
    if won <= 0 or standing.forecast is None or best.forecast is None:
        return ()
    facts = outlook(FactKind.REMARK, standing.forecast, best.forecast)
    return (reason("gain_not_sure", [best.strategy]), *facts)


def _at_floor(standing: LiveAndCandidate) -> tuple[Fact, ...]:
    """That no assignment could bring the largest member lag down much; nothing where one could."""
    lag, floor = standing.score.largest_member_lag, standing.score.lag_floor
    if not lag or floor is None or standing.score.unowned:
        return ()
    if lag > floor * (1 + standing.policy.near_floor):
        return ()
    return (finding("largest_member_lag", after=lag, bound=floor, unit="offsets"),)


_WELL_ENOUGH = (None, Diagnosis.UNKNOWN, Diagnosis.CATCHING_UP, Diagnosis.KEEPS_UP)
"""Diagnoses beside which it is worth a word what could be a little better."""


def _could_be_more_even(standing: LiveAndCandidate, able: Sequence[Candidate]) -> tuple[Fact, ...]:
    evener = [(each, facts) for each in able if (facts := more_even(standing, each))]
    if not evener:
        return ()
    best, facts = min(evener, key=lambda pair: _unevenness(pair[0]))
    return (reason("could_be_more_even", [best.strategy]), *facts)


def _could_be_nearer(standing: LiveAndCandidate, able: Sequence[Candidate]) -> tuple[Fact, ...]:
    nearer = [
        (each.strategy, facts)
        for each in able
        if each.score is not None and (facts := nearer_by_too_little(standing, each.score))
    ]
    if not nearer:
        return ()
    strategy, facts = min(nearer, key=lambda pair: pair[1][0].after or 0.0)
    weighed = facts[0].measure != "cross_rack_share"
    return (reason("saves_too_little" if weighed else "could_be_nearer", [strategy]), *facts)


def _unevenness(candidate: Candidate) -> tuple[bool, int, float]:
    score, forecast = candidate.score, candidate.forecast
    assert score is not None, "only what has a score is compared"
    used = forecast.forecast_utilisation_expected if forecast else None
    return not score.balanced, score.most_partitions - score.fewest_partitions, used or 0.0
