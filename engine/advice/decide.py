"""What pays for a group in one snapshot, always with its reasons; whether it is told so: `course`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..config import Policy
from ..model.assignments import Advice, Candidate, Deployment, Feasibility, Verdict
from ..model.facts import Fact, reason
from ..model.states import Diagnosis
from .gains_and_losses import Weighing, weigh
from .live_and_candidate import LiveAndCandidate
from .reasons_to_stay import GroupCondition, why_stay

DEPLOYABLE = (Feasibility.CAN_RUN, Feasibility.COULD_RUN)


def decide(
    *,
    group: str,
    candidates: Sequence[Candidate],
    partitions: int,
    policy: Policy,
    lag: int | None = None,
    arrives_per_second: float | None = None,
    unknown_lag: int | None = None,
    findings: Sequence[Fact] = (),
    diagnosis: Diagnosis | None = None,
    kept: str | None = None,
    withheld: str | None = None,
) -> Advice:
    """
    Say what pays in one snapshot; what has to be done for a switch, and what changes hands, is for the caller to add.

    Args:
        group: Group id.
        candidates: One per strategy, in the order of the strategy table; `live` among them.
        partitions: How many partitions the group has.
        policy: When a switch pays.
        lag: Their lag now, in offsets; None unknown.
        arrives_per_second: Offsets/s produced to them; None unknown.
        unknown_lag: Of how many of them the lag is unknown.
        findings: What is remarkable about the group, the facts of its diagnosis among them.
        diagnosis: What is the matter with it; None where that is not known.
        kept: The strategy that the group was told to switch to already: less has to be won for it to stay so.
        withheld: Why the group may not be judged; None when it may.
    """
    live = next((c for c in candidates if c.deployment is Deployment.LIVE), None)
    if withheld is not None or live is None or live.score is None:
        why = _why_not_judged(withheld, live)
        return Advice(group=group, verdict=Verdict.NOT_JUDGED, strategy=None, facts=why)
    trouble = GroupCondition(diagnosis=diagnosis, findings=findings, unknown_lag=unknown_lag)
    standing = LiveAndCandidate(
        score=live.score,
        forecast=live.forecast,
        counts=live.counts,
        partitions=partitions,
        lag=lag,
        arrives_per_second=arrives_per_second,
        lag_speaks=trouble.of_the_assignment,
        policy=policy,
    )
    named = {c.strategy: c for c in candidates if c.score is not None and c is not live}
    weighed = {
        name: weigh(standing, c, c.score, kept=name == kept)
        for name, c in named.items()
        if c.score is not None
    }
    able = [name for name in weighed if _deployable(named[name], policy)]
    best, yardstick = _best(able, weighed, named), _best_yardstick(able, weighed, named, policy)
    advice = Advice(
        group=group,
        verdict=Verdict.STAY if best is None else Verdict.SWITCH,
        strategy=best,
        facts=() if best is None else weighed[best].gains,
        yardstick=yardstick,
        yardstick_facts=weighed[yardstick].gains if yardstick else (),
    )
    if best is None:
        facts = why_stay(standing, trouble, weighed, [named[name] for name in able])
        return replace(advice, facts=facts)
    return advice


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

    def rank(name: str) -> tuple[float, float, int]:
        lag, racks = weighed[name].value
        score = named[name].score
        return -lag, -racks, score.moves if score else 0

    return min((n for n in names if weighed[n].pays), key=rank, default=None)


def _best_yardstick(
    able: Sequence[str],
    weighed: Mapping[str, Weighing],
    named: Mapping[str, Candidate],
    policy: Policy,
) -> str | None:
    """The best that this group cannot deploy, if it beats the best it can."""
    others = [n for n in weighed if n not in able and named[n].deployment is not Deployment.NEVER]
    others.sort(key=lambda name: not named[name].how)  # of equal ones, one that there is a way to
    best, deployable = _best(others, weighed, named), _best(able, weighed, named)
    if best is None or deployable is None:
        return best
    beats = weighed[best].ideal_beside(weighed[deployable], policy.lag_gain)
    return best if beats else None
