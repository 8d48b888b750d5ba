"""What a group is told after one snapshot: switch, stay or not judged, always with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenkeel.engine.advice.weighing import Weighing, near_floor, weigh
from evenkeel.engine.config import Policy
from evenkeel.engine.facts import Fact, FactKind, of_kind, reason
from evenkeel.engine.metrics.observe import NO_OFFSET_RESET
from evenkeel.engine.model import Advice, Candidate, Deployment, Diagnosis, Feasibility, Verdict
from evenkeel.engine.ports import PreviousAdvice

DEPLOYABLE = (Feasibility.CAN_RUN, Feasibility.COULD_RUN)


def decide(
    *,
    group: str,
    candidates: Sequence[Candidate],
    partitions: int,
    policy: Policy,
    unknown_lag: int | None = None,
    findings: Sequence[Fact] = (),
    diagnosis: Diagnosis | None = None,
    previous: PreviousAdvice | None = None,
    withheld: str | None = None,
) -> Advice:
    """
    Decide by the scores; what has to be done for a switch, and what changes hands, is for the caller to add.

    Args:
        group: Group id.
        candidates: One per strategy, in the order of the strategy table; `live` among them.
        partitions: How many partitions the group has.
        policy: When a switch pays.
        unknown_lag: Of how many of them the lag is unknown.
        findings: What is remarkable about the group, the facts of its diagnosis among them.
        diagnosis: What is the matter with it; None where that is not known, and any lag counts then.
        previous: The advice of the cluster's preceding snapshot for this group.
        withheld: Why the group may not be judged; None when it may.
    """
    live = next((c for c in candidates if c.deployment is Deployment.LIVE), None)
    if withheld is not None or live is None or live.score is None:
        why = _why_not_judged(withheld, live)
        return Advice(group=group, verdict=Verdict.NOT_JUDGED, strategy=None, facts=why)
    to_blame = diagnosis is None or _to_blame(diagnosis, findings)
    weighed = {
        c.strategy: weigh(live.score, c.score, partitions, policy, c.findings, lag_counts=to_blame)
        for c in candidates
        if c.score is not None and c is not live
    }
    named = {c.strategy: c for c in candidates}
    able = [s for s in weighed if _deployable(named[s], policy)]
    best, yardstick = _best(able, weighed, named), _best_yardstick(able, weighed, named)
    floor = near_floor(live.score, policy) if to_blame else None
    advice = Advice(
        group=group,
        verdict=Verdict.STAY,
        strategy=best,
        facts=(),
        yardstick=yardstick,
        yardstick_facts=weighed[yardstick].gains if yardstick else (),
    )
    if best is None:
        lagless = (
            _unknown_lag(unknown_lag, findings) if live.score.largest_member_lag is None else ()
        )
        if diagnosis is not None and not to_blame and able:
            lagless = lagless or _not_to_blame(diagnosis, findings)
        return replace(advice, facts=_why_stay(able, weighed, floor, lagless))
    seen = previous.seen + 1 if previous and previous.strategy == best else 1
    gains = weighed[best].gains
    if seen < policy.confirmations:
        waits = reason("to_be_confirmed", [best], after=seen, bound=policy.confirmations)
        return replace(advice, facts=(waits, *gains), seen=seen)
    return replace(
        advice,
        verdict=Verdict.SWITCH,
        facts=(*gains, floor) if floor else gains,
        seen=seen,
    )


LONG_SECONDS = 3600.0
"""A backlog that is gone sooner is no reason to restart anybody."""


def _to_blame(diagnosis: Diagnosis, findings: Sequence[Fact]) -> bool:
    """Whether another assignment could mend how far behind a group is: its load is skewed, or it drains for long."""
    if diagnosis is Diagnosis.CATCHING_UP:
        left = [fact.after for fact in findings if fact.measure == Diagnosis.CATCHING_UP.measure]
        return any(after is not None and after > LONG_SECONDS for after in left)
    return diagnosis is Diagnosis.SKEWED_LOAD


def _not_to_blame(diagnosis: Diagnosis, findings: Sequence[Fact]) -> tuple[Fact, ...]:
    """What is the matter instead of the assignment; nothing where it keeps up."""
    measure = _INSTEAD.get(diagnosis, "assignment_not_to_blame")
    if measure is None:
        return ()
    return (reason(measure, [diagnosis.value]), *of_kind(findings, FactKind.DIAGNOSIS))


_INSTEAD: Mapping[Diagnosis, str | None] = {
    Diagnosis.KEEPS_UP: None,
    Diagnosis.UNKNOWN: "diagnosis_unknown",
    Diagnosis.CATCHING_UP: "restarting_no_help",
}
"""What is said where lag does not speak for a switch, in place of that no assignment mends it."""


def _why_not_judged(withheld: str | None, live: Candidate | None) -> tuple[Fact, ...]:
    if withheld is not None:
        return (reason("withheld", quote=withheld),)
    return live.reason if live else (reason("no_live_assignment"),)


def _deployable(candidate: Candidate, policy: Policy) -> bool:
    return candidate.feasibility in DEPLOYABLE and candidate.deployment.value in policy.deployment


def _best(
    names: Sequence[str], weighed: Mapping[str, Weighing], named: Mapping[str, Candidate]
) -> str | None:
    """The most valuable that pays; then the fewest moves; then the order of the table."""

    def rank(name: str) -> tuple[float, int]:
        score = named[name].score
        return -round(weighed[name].value, 6), score.moves if score else 0

    return min((n for n in names if weighed[n].pays), key=rank, default=None)


def _best_yardstick(
    able: Sequence[str], weighed: Mapping[str, Weighing], named: Mapping[str, Candidate]
) -> str | None:
    """The best that this group cannot deploy, if it beats the best it can."""
    others = [n for n in weighed if n not in able and named[n].deployment is not Deployment.NEVER]
    best, deployable = _best(others, weighed, named), _best(able, weighed, named)
    if best is None or deployable is None:
        return best
    return best if weighed[best].value > weighed[deployable].value else None


def _unknown_lag(partitions: int | None, findings: Sequence[Fact]) -> tuple[Fact, ...]:
    """That lag could not be weighed, and what to configure where that is why."""
    unset = [fact for fact in findings if fact.measure == NO_OFFSET_RESET]
    return (reason("unknown_lag", partitions=partitions), *unset)


def _why_stay(
    able: Sequence[str],
    weighed: Mapping[str, Weighing],
    floor: Fact | None,
    lagless: tuple[Fact, ...],
) -> tuple[Fact, ...]:
    if floor:
        return (floor,)
    for name in able:
        if weighed[name].gains:
            found = weighed[name]
            return (reason("gain_with_loss", [name]), *found.gains, *found.losses)
    if not able:
        return (reason("nothing_deployable"),)
    more_even = next(((n, weighed[n].remarks[0]) for n in able if weighed[n].remarks), None)
    if more_even and not lagless:
        name, spread = more_even
        return (reason("could_be_more_even", [name], before=spread.before, after=spread.after),)
    return lagless or (reason("nothing_to_gain", able),)
