"""
What a switch saves across racks: in bytes where these are known, else in records; or in money where that is asked for.

Partitions are no measure of it: one that nobody writes to costs nothing wherever it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..metrics.racks import CENT
from ..model.facts import Fact, FactKind, remark
from ..model.figures import Score
from .live_and_candidate import Argument, LiveAndCandidate, compared

SECONDS_PER_DAY = 24 * 3600

LEAST_SHARE = 0.1
"""A smaller fall of the share of partitions is not worth a remark."""

ACROSS = "cross_rack_"
"""How every measure of what crosses racks begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saving:
    """What is saved, negative where it is more, and the least that counts, in the same unit."""

    fact: Fact
    saved: float
    least: float


def less_across(standing: LiveAndCandidate, other: Score, ease: float) -> Argument:
    """
    Whether a switch saves enough across racks; what is won is told in multiples of the least that counts.

    More across racks forbids a switch only where `cost_gain` says what it is worth, by half of that; else it is told
    beside what is gained (`more_across`).

    Args:
        standing: What the candidate is held against.
        other: The candidate's score.
        ease: What the threshold is multiplied by.
    """
    live, asked = standing.score, standing.policy.cost_gain
    money, traffic = _money(live, other, asked or 0.0), _traffic(standing, other)
    by_money = money is not None and asked is not None
    decides = money if by_money else traffic
    if decides is None:
        return Argument()
    dearer = by_money and decides.saved <= -decides.least / 2
    least = max(decides.least * ease, CENT if by_money else 0.0)
    # what goes to members of unknown racks is not known to be near
    known = other.racks_left_out <= live.racks_left_out
    if not dearer and not (known and decides.saved > 0 and decides.saved >= least):
        return Argument()
    spoken = money if money is not None and abs(money.saved) >= CENT else None
    beside = [each.fact for each in (traffic, spoken) if each and each is not decides]
    kind = FactKind.LOSS if dearer else FactKind.GAIN
    facts = (replace(decides.fact, kind=kind), *beside, *_share(live, other))
    if dearer:
        return Argument(loss=facts)
    return Argument(gain=facts, won=decides.saved / (decides.least or 1.0))


def more_across(standing: LiveAndCandidate, other: Score) -> tuple[Fact, ...]:
    """How much more would cross racks, as a remark; none where that is less than what counts."""
    traffic = _traffic(standing, other)
    grows = traffic is not None and traffic.saved < 0 and traffic.saved <= -traffic.least
    return (traffic.fact,) if traffic is not None and grows else ()


def nearer_by_too_little(standing: LiveAndCandidate, other: Score) -> tuple[Fact, ...]:
    """
    That fewer partitions would cross racks, as remarks of a switch for which nothing speaks: what that saves, below the
    least that counts, where that is known, in money too where that decides; and their share.
    """
    before, after = standing.score.cross_rack_share, other.cross_rack_share
    if before is None or after is None or before - after < LEAST_SHARE:
        return ()
    if other.racks_left_out > standing.score.racks_left_out:
        return ()
    traffic = _traffic(standing, other)
    if traffic is None:
        return _share(standing.score, other)
    if traffic.saved <= 0:
        return ()
    money = _money(standing.score, other, standing.policy.cost_gain or 0.0)
    decides = standing.policy.cost_gain is not None and money is not None and money.saved >= CENT
    spoken = (replace(money.fact, bound=money.least),) if money is not None and decides else ()
    less = replace(traffic.fact, bound=traffic.least)
    return (less, *spoken, *_share(standing.score, other))


def racks_alone(facts: Sequence[Fact]) -> Fact | None:
    """
    How the share of partitions across racks falls with a switch for which nothing else speaks; None where something
    else does, or the share is not known or falls too little to show.

    Args:
        facts: Why the switch pays.
    """
    if any(f.kind is FactKind.GAIN and not f.measure.startswith(ACROSS) for f in facts):
        return None
    for fact in facts:
        if (
            fact.measure == "cross_rack_share"
            and fact.before is not None
            and fact.after is not None
        ):
            return fact if fact.before - fact.after >= LEAST_SHARE else None
    return None


def _money(live: Score, other: Score, least: float) -> _Saving | None:
    before, after = live.cross_rack_cost_per_month, other.cross_rack_cost_per_month
    if before is None or after is None:
        return None
    fact = remark("cross_rack_cost_per_month", before=before, after=after, unit=live.currency)
    return _Saving(fact=fact, saved=before - after, least=least)


def _traffic(standing: LiveAndCandidate, other: Score) -> _Saving | None:
    """Bytes, else records, per day; None where neither is known."""
    live, policy = standing.score, standing.policy
    before, after = live.cross_rack_bytes_per_second, other.cross_rack_bytes_per_second
    if before is not None and after is not None:
        fact = compared(FactKind.REMARK, "cross_rack_bytes_per_second", live, other)
        least = policy.least_saving_bytes_per_day
    else:
        before, after = _records(standing, live), _records(standing, other)
        if before is None or after is None:
            return None
        measure = "cross_rack_records_per_second"
        fact = remark(measure, before=before, after=after, unit="offsets/s")
        least = policy.least_saving_records_per_day
    return _Saving(fact=fact, saved=(before - after) * SECONDS_PER_DAY, least=least)


def _records(standing: LiveAndCandidate, score: Score) -> float | None:
    """Offsets/s across racks; None unknown, as where a rack is not known, or a partition has no owner."""
    share, arrives = score.cross_rack_rate_share, standing.arrives_per_second
    if share is None or arrives is None or score.racks_left_out or score.unowned:
        return None
    return share * arrives


def _share(live: Score, other: Score) -> tuple[Fact, ...]:
    fact = compared(FactKind.REMARK, "cross_rack_share", live, other)
    return () if fact.before is None or fact.after is None else (fact,)
