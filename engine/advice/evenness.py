"""What could be more even: a remark about a group, and no reason by itself to restart anybody."""

from __future__ import annotations

from ..model.assignments import Candidate
from ..model.facts import Fact, remark
from .live_and_candidate import LiveAndCandidate

BUSY = 0.5
"""Load is worth a remark where the busiest member gets at least this share of what it can do."""


def more_even(standing: LiveAndCandidate, candidate: Candidate) -> tuple[Fact, ...]:
    """
    In what a candidate is more even than the live assignment, as remarks: counts, load, or both.

    Counts could be more even only where KIP-54's predicate fails of the live assignment, and so also where
    subscriptions differ: somebody could take over a partition of a member that has at least two more.
    """
    return (*_counts(standing, candidate), *_load(standing, candidate))


def _counts(standing: LiveAndCandidate, candidate: Candidate) -> tuple[Fact, ...]:
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
    return tuple(
        remark(end, before=getattr(live, end), after=getattr(other, end), unit="partitions")
        for end in ends
    )


def _load(standing: LiveAndCandidate, candidate: Candidate) -> tuple[Fact, ...]:
    live, other = standing.forecast, candidate.forecast
    if live is None or other is None:
        return ()
    before, after = live.forecast_utilisation_expected, other.forecast_utilisation_expected
    if before is None or after is None or before < BUSY:
        return ()
    if before - after < standing.policy.lag_gain * before:
        return ()
    return (remark("forecast_utilisation_expected", before=before, after=after, unit="share"),)
