"""What a group is told after one snapshot: switch, stay or not judged, always with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenkeel.engine.advice.worth import Worth, near_floor, weigh
from evenkeel.engine.config import Policy
from evenkeel.engine.model import Advice, Candidate, Feasibility, Move, Reach, Verdict

DEPLOYABLE = (Feasibility.CAN_RUN, Feasibility.COULD_RUN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Previous:
    """What the group's preceding advice preferred, and how many snapshots in a row it had done so."""

    strategy: str | None
    seen: int


def decide(
    *,
    group: str,
    candidates: Sequence[Candidate],
    partitions: int,
    policy: Policy,
    previous: Previous | None = None,
    withheld: str | None = None,
    moves: Mapping[str, Sequence[Move]] | None = None,
    how: Mapping[str, str | None] | None = None,
) -> Advice:
    """
    Args:
        group: Group id.
        candidates: One per strategy, in the order of the strategy table; `live` among them.
        partitions: How many partitions the group has.
        policy: When a switch pays.
        previous: The advice of the cluster's preceding snapshot for this group.
        withheld: Why the group may not be judged; None when it may.
        moves: Per strategy, what would change hands.
        how: Per strategy, what its owner has to do.
    """
    live = next((c for c in candidates if c.reach is Reach.LIVE), None)
    if withheld is not None or live is None or live.score is None:
        reason = withheld or (
            live.reason if live else "there is no live assignment to compare with"
        )
        return Advice(group=group, verdict=Verdict.NOT_JUDGED, strategy=None, reason=reason)
    weighed = {
        c.strategy: weigh(live.score, c.score, partitions, policy, c.findings)
        for c in candidates
        if c.score is not None and c is not live
    }
    named = {c.strategy: c for c in candidates}
    able = [s for s in weighed if _deployable(named[s], policy)]
    best, yardstick = _best(able, weighed, named), _best_yardstick(able, weighed, named)
    floor = near_floor(live.score, policy)
    shown = dict(
        group=group,
        yardstick=yardstick,
        yardstick_reason="; ".join(weighed[yardstick].gains) if yardstick else None,
    )
    if best is None:
        reason = _why_stay(able, weighed, named, floor)
        return Advice(verdict=Verdict.STAY, strategy=None, reason=reason, **shown)  # type: ignore[arg-type]
    seen = previous.seen + 1 if previous and previous.strategy == best else 1
    gains = "; ".join(weighed[best].gains)
    if seen < policy.confirmations:
        reason = (
            f"{best} would pay ({gains}), seen {seen} of {policy.confirmations} snapshots in a row"
        )
        return Advice(verdict=Verdict.STAY, strategy=best, reason=reason, seen=seen, **shown)  # type: ignore[arg-type]
    return Advice(
        verdict=Verdict.SWITCH,
        strategy=best,
        reason=gains + (f"; {floor}" if floor else ""),
        how=(how or {}).get(best),
        seen=seen,
        moves=tuple((moves or {}).get(best, ())),
        **shown,  # type: ignore[arg-type]
    )


def _deployable(candidate: Candidate, policy: Policy) -> bool:
    return candidate.feasibility in DEPLOYABLE and candidate.reach.value in policy.reach


def _best(
    names: Sequence[str], weighed: Mapping[str, Worth], named: Mapping[str, Candidate]
) -> str | None:
    """The most worth that pays; then the fewest moves; then the order of the table."""

    def rank(name: str) -> tuple[float, int]:
        score = named[name].score
        return -round(weighed[name].value, 6), score.moves if score else 0

    return min((n for n in names if weighed[n].pays), key=rank, default=None)


def _best_yardstick(
    able: Sequence[str], weighed: Mapping[str, Worth], named: Mapping[str, Candidate]
) -> str | None:
    """The best that this group cannot deploy, if it beats the best it can."""
    others = [n for n in weighed if n not in able and named[n].reach is not Reach.NEVER]
    best, deployable = _best(others, weighed, named), _best(able, weighed, named)
    if best is None or deployable is None:
        return best
    return best if weighed[best].value > weighed[deployable].value else None


def _why_stay(
    able: Sequence[str],
    weighed: Mapping[str, Worth],
    named: Mapping[str, Candidate],
    floor: str | None,
) -> str:
    if floor:
        return floor
    gaining = [n for n in able if weighed[n].gains]
    if gaining:
        name = gaining[0]
        gains, losses = "; ".join(weighed[name].gains), "; ".join(weighed[name].losses)
        return f"{name} would gain ({gains}) but lose ({losses})"
    if not able:
        return "there is no strategy that it could deploy"
    verb = "is" if len(able) == 1 else "are"
    return f"nothing to gain: {', '.join(able)} {verb} no better by as much as the policy asks"
