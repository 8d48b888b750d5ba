"""Whether an assignment is enough better than the live one to be worth a switch: gains, losses, both in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenkeel.engine.config import Policy
from evenkeel.engine.model import Score
from evenkeel.engine.text import money


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """
    What a switch would bring and cost.

    Attributes:
        gains: Sentences about what gets better by at least the policy's threshold.
        losses: Sentences about what forbids the switch.
        value: Relative fall of the largest member lag, plus points of cross-rack share (relative fall of its cost
            where `cost_gain` decides), plus relative fall of the spread: the order among candidates that pay.
    """

    gains: tuple[str, ...]
    losses: tuple[str, ...]
    value: float

    @property
    def pays(self) -> bool:
        """A switch needs a gain and no loss."""
        return bool(self.gains) and not self.losses


def weigh(
    live: Score, other: Score, partitions: int, policy: Policy, findings: Sequence[str] = ()
) -> Worth:
    """
    Compare a candidate with the live assignment.

    Args:
        live: The live assignment's score.
        other: The candidate's.
        partitions: How many partitions the group has.
        policy: What counts as a gain, a loss, and too many moves.
        findings: What is wrong with the candidate's assignment; then it cannot pay.
    """
    parts = (_lag(live, other, policy), _racks(live, other, policy), _spread(live, other, policy))
    losses = [f"its assignment is flawed: {finding}" for finding in findings]
    losses += [loss for _, loss, _ in parts if loss]
    allowed = int(partitions * policy.moves_per_gain)
    if other.moves > allowed:
        losses.append(f"{other.moves} partitions would move, the policy allows {allowed}")
    if other.unowned > live.unowned:
        losses.append(f"{other.unowned - live.unowned} more partitions without owner")
    gains = [gain for gain, _, _ in parts if gain]
    if other.unowned < live.unowned:
        gains.append(f"{live.unowned - other.unowned} unowned partitions get an owner")
    return Worth(gains=tuple(gains), losses=tuple(losses), value=sum(v for _, _, v in parts))


_Part = tuple[str | None, str | None, float]


def _lag(live: Score, other: Score, policy: Policy) -> _Part:
    before, after = live.largest_member_lag, other.largest_member_lag
    if before is None or after is None or max(before, after) < policy.lag_worth:
        return None, None, 0.0
    fall = (before - after) / before if before else 0.0
    words = f"largest member lag {before:,} -> {after:,} offsets"
    if fall > 0 and fall >= policy.lag_gain:
        return f"{words} ({-fall:+.0%})", None, fall
    # lag on partitions that nobody owns now is on no member yet: who takes it is not to blame
    owned = other.unowned >= live.unowned
    worse = owned and after > before and (not before or -fall >= policy.lag_gain / 2)
    return None, words if worse else None, fall


def _racks(live: Score, other: Score, policy: Policy) -> _Part:
    before, after = live.cross_rack_share, other.cross_rack_share
    if before is None or after is None:
        return None, None, 0.0
    fall = round(before - after, 9)  # 0.3 - 0.2 is less than 0.1 in binary
    words = f"cross-rack share {before:.0%} -> {after:.0%}"
    cost, saved = live.cross_rack_cost_per_month, _saved(live, other)
    if other.racks_left_out > live.racks_left_out:
        fall, saved = (
            min(fall, 0.0),
            None,
        )  # what goes to members of unknown racks is not known to be near
    if saved:
        amount = money(abs(saved), live.currency or "")
        words += f", {amount} a month {'saved' if saved > 0 else 'more'}"
    if policy.cost_gain is not None and cost is not None and saved is not None:
        return _judged(saved, policy.cost_gain, words, saved / cost if cost else 0.0)
    return _judged(fall, policy.rack_gain, words, fall)


def _saved(live: Score, other: Score) -> float | None:
    """What a switch would save in a month on reads across racks; None where either cost is unknown."""
    before, after = live.cross_rack_cost_per_month, other.cross_rack_cost_per_month
    return None if before is None or after is None else before - after


def _judged(better: float, least: float, words: str, value: float) -> _Part:
    """A gain when better by the least that counts, a loss when worse by half of that."""
    if better > 0 and better >= least:
        return words, None, value
    return None, words if better < 0 and -better >= least / 2 else None, value


def _spread(live: Score, other: Score, policy: Policy) -> _Part:
    before, after = live.partition_spread, other.partition_spread
    if before is None or after is None:
        return None, None, 0.0
    words = f"partition spread {before} -> {after}"
    value = (before - after) / max(before, after, 1)
    if before - after >= policy.spread_gain:
        return words, None, value
    return None, words if after > max(before, 1) else None, value


def near_floor(score: Score, policy: Policy) -> str | None:
    """A sentence when no assignment could bring the largest member lag down much; None otherwise."""
    lag, floor = score.largest_member_lag, score.lag_floor
    if lag is None or floor is None or score.unowned or lag < max(policy.lag_worth, 1):
        return None
    if lag > floor * (1 + policy.near_floor):
        return None
    return (
        f"the largest member lag ({lag:,} offsets) is at its floor ({floor:,}): no assignment can lower it, "
        "look at the hottest partition or at capacity"
    )
