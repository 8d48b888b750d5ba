"""Whether an assignment is enough better than the live one for a switch to pay: gains and losses, as facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenkeel.engine.config import Policy
from evenkeel.engine.facts import Fact, FactKind, finding
from evenkeel.engine.figures import Score

CENT = 0.01
"""What is below this, in any currency, is not spoken of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """
    What a switch would bring and cost.

    Attributes:
        gains: What gets better by at least the policy's threshold.
        losses: What forbids the switch. In both, remarks stand behind the fact they belong to.
        remarks: What gets better and is no reason to switch by itself.
        value: Relative fall of the largest member lag, plus points of cross-rack share (relative fall of its cost
            where `cost_gain` decides), plus relative fall of the spread: the order among candidates that pay.
    """

    gains: tuple[Fact, ...]
    losses: tuple[Fact, ...]
    remarks: tuple[Fact, ...]
    value: float

    @property
    def pays(self) -> bool:
        """A switch needs a gain and no loss."""
        return bool(self.gains) and not self.losses


def weigh(
    live: Score,
    other: Score,
    partitions: int,
    policy: Policy,
    flaws: Sequence[Fact] = (),
    *,
    lag_counts: bool = True,
) -> Weighing:
    """
    Compare a candidate with the live assignment.

    Args:
        live: The live assignment's score.
        other: The candidate's.
        partitions: How many partitions the group has.
        policy: What counts as a gain, a loss, and too many moves.
        flaws: What is wrong with the candidate's assignment; then it cannot pay.
        lag_counts: Whether the assignment has a part in how far behind the group is; else neither lag nor counts
            that could be more even are a gain.
    """
    facts: list[Fact] = [replace(flaw, kind=FactKind.LOSS) for flaw in flaws]
    value = 0.0
    remarks: list[Fact] = []
    for compare in (_lag, _racks, _spread) if lag_counts else (_racks,):
        judged, fall = compare(live, other, policy)
        facts += judged
        value += fall
    # counts that could be more even are no reason to restart anybody who keeps up
    if not lag_counts:
        judged, _ = _spread(live, other, policy)
        remarks = [fact for fact in judged if fact.kind is FactKind.GAIN]
        facts += [fact for fact in judged if fact.kind is not FactKind.GAIN]
    facts += _moves(other, partitions, policy) + _unowned(live, other)
    return Weighing(
        gains=_group(facts, FactKind.GAIN),
        losses=_group(facts, FactKind.LOSS),
        remarks=tuple(remarks),
        value=value,
    )


def _group(facts: Sequence[Fact], kind: FactKind) -> tuple[Fact, ...]:
    """The facts of a kind with the remarks behind each."""
    kept, last = [], None
    for fact in facts:
        last = last if fact.kind is FactKind.REMARK else fact.kind
        if last is kind:
            kept.append(fact)
    return tuple(kept)


_Judged = tuple[list[Fact], float]
"""Gain or loss with its remark, or nothing; and how much is won."""


def _lag(live: Score, other: Score, policy: Policy) -> _Judged:
    before, after = live.largest_member_lag, other.largest_member_lag
    if before is None or after is None or max(before, after) < policy.least_lag:
        return [], 0.0
    fall = (before - after) / before if before else 0.0
    fact = Fact(
        kind=FactKind.GAIN,
        measure="largest_member_lag",
        before=before,
        after=after,
        unit="offsets",
    )
    if fall > 0 and fall >= policy.lag_gain:
        return [fact], fall
    # lag on partitions that nobody owns now is on no member yet: who takes it is not to blame
    owned = other.unowned >= live.unowned
    worse = owned and after > before and (not before or -fall >= policy.lag_gain / 2)
    return [replace(fact, kind=FactKind.LOSS)] if worse else [], fall


def _racks(live: Score, other: Score, policy: Policy) -> _Judged:
    before, after = live.cross_rack_share, other.cross_rack_share
    if before is None or after is None:
        return [], 0.0
    fall = round(before - after, 9)  # 0.3 - 0.2 is less than 0.1 in binary
    costs = live.cross_rack_cost_per_month, other.cross_rack_cost_per_month
    saved = None if costs[0] is None or costs[1] is None else costs[0] - costs[1]
    if other.racks_left_out > live.racks_left_out:
        # what goes to members of unknown racks is not known to be near
        fall, saved = min(fall, 0.0), None
    share = _compared("cross_rack_share", before, after, "share")
    money = [_compared("cross_rack_cost_per_month", *costs, live.currency)] if saved else []
    if policy.cost_gain is not None and saved is not None:
        kind = _kind(saved, policy.cost_gain)
        value = saved / costs[0] if costs[0] else 0.0
        facts = [*money, share]
    else:
        kind, value = _kind(fall, policy.rack_gain), fall
        facts = [share, *(money if saved and abs(saved) >= CENT else ())]
    return [replace(facts[0], kind=kind), *facts[1:]] if kind else [], value


def _kind(better: float, least: float) -> FactKind | None:
    """A gain when better by the least that counts, a loss when worse by half of that."""
    if better > 0 and better >= least:
        return FactKind.GAIN
    return FactKind.LOSS if better < 0 and -better >= least / 2 else None


def _compared(measure: str, before: float | None, after: float | None, unit: str | None) -> Fact:
    return Fact(kind=FactKind.REMARK, measure=measure, before=before, after=after, unit=unit)


def _spread(live: Score, other: Score, policy: Policy) -> _Judged:
    before, after = live.partition_spread, other.partition_spread
    if before is None or after is None:
        return [], 0.0
    fact = _compared("partition_spread", before, after, "partitions")
    value = (before - after) / max(before, after, 1)
    if before - after >= policy.spread_gain:
        return [replace(fact, kind=FactKind.GAIN)], value
    return [replace(fact, kind=FactKind.LOSS)] if after > max(before, 1) else [], value


def _moves(other: Score, partitions: int, policy: Policy) -> list[Fact]:
    allowed = int(partitions * policy.moves_per_gain)
    if other.moves <= allowed:
        return []
    return [
        Fact(
            kind=FactKind.LOSS,
            measure="moves",
            after=other.moves,
            bound=allowed,
            unit="partitions",
        )
    ]


def _unowned(live: Score, other: Score) -> list[Fact]:
    if other.unowned == live.unowned:
        return []
    kind = FactKind.GAIN if other.unowned < live.unowned else FactKind.LOSS
    return [replace(_compared("unowned", live.unowned, other.unowned, "partitions"), kind=kind)]


def near_floor(score: Score, policy: Policy) -> Fact | None:
    """That no assignment could bring the largest member lag down much; None where one could."""
    lag, floor = score.largest_member_lag, score.lag_floor
    if lag is None or floor is None or score.unowned or lag < max(policy.least_lag, 1):
        return None
    if lag > floor * (1 + policy.near_floor):
        return None
    return finding("largest_member_lag", after=lag, bound=floor, unit="offsets")
