"""The verdict of one snapshot for a group, always with its reasons; `lifecycle` decides whether it is announced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..assignors.kafka.protocol_names import CLIENT_SIDE, wire_name
from ..config import Policy
from ..model.assignments import ABLE, Advice, Candidate, Deployment, Feasibility, Verdict
from ..model.facts import Fact, FactKind, of_kind, reason
from ..model.figures import Score
from ..model.states import Diagnosis
from .by_forecast import less_lag, price, worse
from .by_racks import less_across, more_across
from .live_and_candidate import Argument, LiveAndCandidate, Weighing, compared
from .reasons_to_stay import why_stay


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
    deployable: Sequence[str] | None = None,
) -> Advice:
    """
    Say what pays in one snapshot; what has to be done for a switch, and what changes hands, is for the caller to add.

    Args:
        group: Group id.
        candidates: One per strategy, in the order of the strategy table; `live` among them. Those that say nothing
            (`screen`) may be left out.
        partitions: How many partitions the group has.
        policy: When a switch pays.
        lag: Their lag now, in offsets; None unknown.
        arrives_per_second: Offsets/s produced to them; None unknown.
        unknown_lag: Of how many of them the lag is unknown.
        findings: What is remarkable about the group, the facts of its diagnosis among them.
        diagnosis: What is the matter with it; None where that is not known.
        kept: The strategy that the group was advised to switch to already: less has to be won for it to stay so.
        withheld: Why the group may not be judged; None when it may.
        deployable: The scored strategies that the group can get, and may, those left out included; None: none is.
    """
    live = next((c for c in candidates if c.deployment is Deployment.LIVE), None)
    if withheld is not None or live is None or live.score is None:
        why = live.reason if live else (reason("no_live_assignment"),)
        if withheld is not None:
            why = (reason("withheld", quote=withheld),)
        return Advice(group=group, verdict=Verdict.NOT_EVALUATED, strategy=None, facts=why)
    standing = LiveAndCandidate(
        score=live.score,
        forecast=live.forecast,
        counts=live.counts,
        partitions=partitions,
        lag=lag,
        unknown_lag=unknown_lag,
        arrives_per_second=arrives_per_second,
        diagnosis=diagnosis,
        findings=findings,
        policy=policy,
    )
    named = {c.strategy: c for c in candidates if c.score is not None and c is not live}
    weighed = {
        name: weigh(standing, c, c.score, kept=name == kept)
        for name, c in named.items()
        if c.score is not None
    }
    able = [name for name, c in named.items() if may_be_had(c, policy)]
    best, undeployable = (
        _best(able, weighed, named),
        _best_undeployable(able, weighed, named, policy),
    )
    facts = (
        why_stay(
            standing,
            weighed,
            [named[name] for name in able],
            able if deployable is None else deployable,
        )
        if best is None
        else weighed[best].gains
    )
    return Advice(
        group=group,
        verdict=Verdict.STAY if best is None else Verdict.SWITCH,
        strategy=best,
        facts=facts,
        says={name: weighed[name].evidence for name in able},
        best_undeployable=undeployable,
        best_undeployable_facts=_of_undeployable(named[undeployable], weighed[undeployable])
        if undeployable
        else (),
    )


def may_be_had(candidate: Candidate, policy: Policy) -> bool:
    """Whether a group can get a candidate, and may."""
    return may_be_deployed(candidate.deployment, candidate.feasibility, policy)


def may_be_deployed(deployment: str, feasibility: str, policy: Policy) -> bool:
    """Whether what is deployed so, and is so feasible, can be had and may; who follows plans has allowed them."""
    follows = (Deployment.PLAN, Feasibility.AVAILABLE)
    allowed = (deployment, feasibility) == follows or deployment in policy.deployment
    return allowed and feasibility in ABLE


def _of_undeployable(candidate: Candidate, weighing: Weighing) -> tuple[Fact, ...]:
    """What it would gain; of one that the group could get, that its policy is what forbids it."""
    if candidate.feasibility not in ABLE:
        return weighing.gains
    return (reason("policy_forbids", [candidate.deployment.value]), *weighing.gains)


def _best(
    names: Sequence[str], weighed: Mapping[str, Weighing], named: Mapping[str, Candidate]
) -> str | None:
    """The most valuable that pays; then the fewest moves; of plans what members cannot list; the order of the table."""

    def rank(name: str) -> tuple[float, float, int, bool]:
        lag, racks = weighed[name].value
        score = named[name].score
        listed = named[name].deployment is Deployment.PLAN and wire_name(name) in CLIENT_SIDE
        return -lag, -racks, score.moves if score else 0, listed

    return min((n for n in names if weighed[n].pays), key=rank, default=None)


def _best_undeployable(
    able: Sequence[str],
    weighed: Mapping[str, Weighing],
    named: Mapping[str, Candidate],
    policy: Policy,
) -> str | None:
    """The best that this group cannot deploy, or may not, if it beats the best it can."""
    others = [n for n in weighed if n not in able and named[n].deployment is not Deployment.NEVER]
    others.sort(key=lambda name: not named[name].how)  # of equal ones, one that there is a way to
    best, deployable = _best(others, weighed, named), _best(able, weighed, named)
    if best is None or deployable is None:
        return best
    beats = weighed[best].ideal_beside(weighed[deployable], policy.lag_gain)
    return best if beats else None


def weigh(
    standing: LiveAndCandidate, candidate: Candidate, score: Score, *, kept: bool = False
) -> Weighing:
    """
    Compare a candidate with the live assignment: gains and losses, as facts; no losses where nothing is gained.

    Args:
        standing: What it is held against.
        candidate: The candidate; what is wrong with its assignment is a loss.
        score: Its score.
        kept: Whether the switch to it is confirmed already: then less has to be won, by the policy's hysteresis.
    """
    ease = standing.policy.hysteresis if kept else 1.0
    lag = less_lag(standing, candidate, ease)
    racks = less_across(standing, score, ease)
    # why members that subscribe to partitions do not own them no replay knows
    fewer_unowned = (
        score.unowned < standing.score.unowned
        and standing.diagnosis is not Diagnosis.UNASSIGNED_PARTITIONS
    )
    if lag.loss and (racks.gain or fewer_unowned):
        # too dear for the lag alone; something else speaks for it all the same
        lag = Argument()
    only_racks = racks.gain and not lag.gain
    gains = [*lag.gain, *racks.gain, *(price(candidate.forecast) if only_racks else ())]
    if fewer_unowned:
        gains.append(compared(FactKind.GAIN, "unowned", standing.score, score))
    says = 1.0 if racks.gain or fewer_unowned else standing.cut(candidate)
    if not gains:
        # what would be lost with it interests nobody
        return Weighing(says=says)
    if not racks.loss:
        gains += more_across(standing, score)
    stores = _of_stores(standing.score, score)
    gains += of_kind(stores, FactKind.REMARK)
    return Weighing(
        gains=tuple(gains),
        losses=(
            *(replace(flaw, kind=FactKind.LOSS) for flaw in candidate.findings),
            *lag.loss,
            *worse(standing, candidate.forecast, strict=bool(only_racks)),
            *racks.loss,
            *of_kind(stores, FactKind.LOSS),
            *_more_of_partitions(standing, candidate, score),
        ),
        lag_won=lag.won,
        lag_fall=lag.won + lag.costs,
        racks_won=racks.won,
        says=says,
    )


def _of_stores(live: Score, other: Score) -> tuple[Fact, ...]:
    """More stores that would be lost with one rack are a loss, unless others gain a copy elsewhere; fewer, a remark."""
    before, after = live.stores_in_one_rack, other.stores_in_one_rack
    if before is None or after is None or before == after:
        return ()
    apart = [(each.stores_judged or 0) - (each.stores_in_one_rack or 0) for each in (live, other)]
    if after > before and apart[1] >= apart[0]:
        return ()
    kind = FactKind.LOSS if after > before else FactKind.REMARK
    return (compared(kind, "stores_in_one_rack", live, other),)


def _more_of_partitions(
    standing: LiveAndCandidate, candidate: Candidate, score: Score
) -> list[Fact]:
    """A wider spread, which is a loss only where no forecast tells what it does; too many moves; more without owner."""
    live, losses = standing.score, list[Fact]()
    before, after = live.partition_spread, score.partition_spread
    foreseen = standing.forecast is not None and candidate.forecast is not None
    if not foreseen and before is not None and after is not None and after > max(before, 1):
        losses.append(compared(FactKind.LOSS, "partition_spread", live, score))
    allowed = int(standing.partitions * standing.policy.moves_per_gain)
    if score.moves > allowed:
        moved = compared(FactKind.LOSS, "moves", live, score)
        losses.append(replace(moved, before=None, bound=allowed))
    if score.unowned > live.unowned:
        losses.append(compared(FactKind.LOSS, "unowned", live, score))
    return losses
