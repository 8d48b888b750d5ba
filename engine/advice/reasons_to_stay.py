"""Why a group is advised to stay, and what could be better all the same, by itself no reason to restart anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..metrics.observe import NO_OFFSET_RESET
from ..model.assignments import Candidate
from ..model.facts import Fact, FactKind, finding, of_kind, reason, remark
from ..model.states import Diagnosis
from .by_forecast import outlook, perhaps_less_lag
from .by_racks import nearer_by_too_little
from .live_and_candidate import MENDED_IN_PART, LiveAndCandidate, Weighing, compared

BUSY = 0.5
"""Load is worth a remark where the busiest member gets at least this share of what it can do."""

_SAID: Mapping[Diagnosis | None, str] = {
    None: "no_forecast",
    Diagnosis.UNKNOWN: "diagnosis_unknown",
    Diagnosis.UNASSIGNED_PARTITIONS: "diagnosis_unknown",
    Diagnosis.CATCHING_UP: "restarting_no_help",
}
"""What is said where lag does not speak for a switch, in place of that no assignment mends it."""

_WELL_ENOUGH = (None, Diagnosis.UNKNOWN, Diagnosis.CATCHING_UP, Diagnosis.HEALTHY)
"""Diagnoses beside which it is worth a word what could be a little better."""


def why_stay(
    standing: LiveAndCandidate,
    weighed: Mapping[str, Weighing],
    able: Sequence[Candidate],
    deployable: Sequence[str],
) -> tuple[Fact, ...]:
    """
    Why no switch pays.

    Args:
        standing: The live assignment and its group.
        weighed: What a switch to each strategy would bring.
        able: The candidates that the group could deploy, none of which pays; those that say nothing may be left out.
        deployable: The names of all of them.
    """
    if not deployable:
        return (reason("nothing_deployable"),)
    for one in able:
        if weighed[one.strategy].gains:
            found = weighed[one.strategy]
            return (reason("gain_with_loss", [one.strategy]), *found.gains, *found.losses)
    instead = _instead(standing, able)
    if not standing.lag_speaks and standing.diagnosis in _WELL_ENOUGH:
        instead += (*_could_be_more_even(standing, able), *_could_be_nearer(standing, able))
    return instead or (_nothing_to_gain(tuple(deployable)),)


@lru_cache(maxsize=1000)
def _nothing_to_gain(deployable: tuple[str, ...]) -> Fact:
    """The same fact for all groups that could deploy the same, as most could."""
    return reason("nothing_to_gain", deployable)


def _instead(standing: LiveAndCandidate, able: Sequence[Candidate]) -> tuple[Fact, ...]:
    """Why lag does not speak for a switch; nothing where there is none to speak of."""
    diagnosis = standing.diagnosis
    if standing.score.largest_member_lag is None:
        unset = [fact for fact in standing.findings if fact.measure == NO_OFFSET_RESET]
        return (reason("unknown_lag", partitions=standing.unknown_lag), *unset)
    if diagnosis is Diagnosis.HEALTHY:
        return ()
    if not standing.lag_speaks:
        said = _SAID.get(diagnosis, "assignment_not_to_blame")
        named = () if diagnosis is None else (diagnosis.value,)
        return (reason(said, named), *of_kind(standing.findings, FactKind.DIAGNOSIS))
    if standing.forecast is None:
        return (reason("no_forecast"),)
    # what is expected to mend most, though it may turn out otherwise
    best = max(able, key=lambda each: perhaps_less_lag(standing, each), default=None)
    if best and best.forecast is not None and perhaps_less_lag(standing, best) > 0:
        facts = outlook(FactKind.REMARK, standing.forecast, best.forecast)
        return (reason("gain_not_sure", [best.strategy]), *facts)
    if diagnosis in MENDED_IN_PART:
        return (
            reason("no_strategy_helps", [diagnosis.value]),
            *of_kind(standing.findings, FactKind.DIAGNOSIS),
        )
    lag, floor = standing.score.largest_member_lag, standing.score.lag_lower_bound
    if diagnosis is not Diagnosis.CATCHING_UP or not lag or floor is None or standing.score.unowned:
        return ()
    if lag > floor * (1 + standing.policy.near_lower_bound):
        return ()
    return (finding("largest_member_lag", after=lag, bound=floor, unit="offsets"),)


def _could_be_more_even(standing: LiveAndCandidate, able: Sequence[Candidate]) -> tuple[Fact, ...]:
    def unevenness(candidate: Candidate) -> tuple[bool, int, float]:
        score, forecast = candidate.score, candidate.forecast
        assert score is not None, "only what has a score is compared"
        used = forecast.forecast_utilization_expected if forecast else None
        return not score.balanced, score.most_partitions - score.fewest_partitions, used or 0.0

    evener = [
        (each, facts)
        for each in able
        if (facts := (*_evener_counts(standing, each), *_evener_load(standing, each)))
    ]
    if not evener:
        return ()
    best, facts = min(evener, key=lambda pair: unevenness(pair[0]))
    return (reason("could_be_more_even", [best.strategy]), *facts)


def _evener_counts(standing: LiveAndCandidate, candidate: Candidate) -> tuple[Fact, ...]:
    """
    Counts could be more even only where KIP-54's predicate fails of the live assignment, and so also where
    subscriptions differ: somebody could take over a partition of a member that has at least two more.
    """
    live, other = standing.score, candidate.score
    if other is None or live.balanced is not False or other.balanced is None:
        return ()
    ranges = [score.most_partitions - score.fewest_partitions for score in (live, other)]
    if not other.balanced and ranges[1] >= ranges[0]:
        return ()
    named = (*standing.counts, *candidate.counts)
    if len(named) == 2:
        subjects = tuple(name for counts in named for name in counts.subjects)
        return (remark("member_counts", subjects),)
    ends = ("most_partitions", "fewest_partitions")
    return tuple(compared(FactKind.REMARK, end, live, other) for end in ends)


def _evener_load(standing: LiveAndCandidate, candidate: Candidate) -> tuple[Fact, ...]:
    live, other = standing.forecast, candidate.forecast
    if live is None or other is None:
        return ()
    before, after = live.forecast_utilization_expected, other.forecast_utilization_expected
    if before is None or after is None or before < BUSY:
        return ()
    if before - after < standing.policy.lag_gain * before:
        return ()
    return (compared(FactKind.REMARK, "forecast_utilization_expected", live, other),)


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
