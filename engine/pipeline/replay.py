"""Simulates strategies for a measured group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ..advice import SERVER_SIDE, Feasibilities, FeasibilityJudgment, runs
from ..advice.lost_racks import leaders_only, lost_rack_awareness, strays, unpriced
from ..advice.next_change import Changes, silent_members
from ..advice.scoring import Judge
from ..advice.switch_cost import Price, gives_up_everything, price
from ..advice.uneven_subscriptions import uneven_by_subscription
from ..assignors import RACKED, every, takes_user_data
from ..assignors.interface import Assignor, GroupSpec, as_read, fresh, spec_of
from ..assignors.kafka.other_clients import as_led_by
from ..assignors.kafka.protocol_names import BY_RACKS, base_of, with_racks
from ..assignors.kit.settle import Settled, settle
from ..assignors.promises.ask import NoAnswer
from ..config import Policy, Rule, Settings
from ..followers.plan import NAME as PLAN
from ..messages.wording import counts, member_names
from ..metrics.forecast import Load, forecasts
from ..metrics.samples import sums_by_owner
from ..model.arrays import Floats, Indices
from ..model.assignments import ABLE, Assignment, Candidate, Deployment, Feasibility
from ..model.errors import Infeasible
from ..model.facts import Fact, FactKind, fact, note, of_kind, reason
from ..model.figures import NextChange
from ..model.groups import GroupSnapshot
from ..model.states import GroupType
from .candidate_rows import infeasible, refusal
from .member_data import assign_of, settings_of, with_user_data
from .membership_changes import by_setting
from .stored_metrics import Measured, MeasuredGroup, judge_of_measured

BY_CAPACITY = ("balanced", "drain")
"""Strategies that give members what they can do."""

OF_OURS = frozenset({Deployment.BASELINE, Deployment.PLAN})
"""Strategies that go by what crossing racks costs (`as_read`); the others see what members send."""

Joining = Callable[[bool, frozenset[str] | None], GroupSpec]
"""
The group as it joins: whether with the racks that count when it reads, and which members report nothing (None: all).
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Replayed:
    """A group as strategies see it, with one candidate per strategy in the order of the table."""

    spec: GroupSpec
    candidates: Sequence[Candidate]


def replay_group(
    settings: Settings,
    measured_group: MeasuredGroup,
    *,
    ask_next_change: bool = True,
    live_only: bool = False,
    only: Collection[str] | None = None,
    coming: Collection[str] = frozenset(),
    named: str | None = None,
    also: Sequence[Assignor] = (),
    priced: bool = True,
) -> Replayed:
    """
    Simulate strategies for a measured group of consumers that is not blocked.

    Args:
        settings: The configuration.
        measured_group: The group and its metrics.
        ask_next_change: As for `propose_group`.
        live_only: As for `propose_group`.
        only: Names of the strategies; None for all.
        coming: Ids of members that join now, without owned partitions.
        named: As for `propose_group`.
        also: Additional strategies for this group.
        priced: Whether forecasts include what the switch costs.
    """
    group, measured = measured_group.group, measured_group.measured
    assert measured is not None, "who asks has looked"
    rule = settings.rule(group.cluster, group.group)
    spec = spec_of_measured(group, measured, rule)
    judge = judge_of_measured(group, measured, spec, rule)
    pauses = measured.pauses(settings.policy(group.cluster, group.group))
    joining = _joining(spec, group, measured, coming, pauses)
    feasibilities = Feasibilities(group, rule.assignors, rule.client)
    changes = Changes(joining(False, frozenset())) if ask_next_change else None
    candidates: list[Candidate] = []
    for strategy in (*_asked(feasibilities, {*(only or ()), named}), *also):
        is_live = strategy.deployment is Deployment.LIVE
        if (live_only and not is_live) or (only is not None and strategy.name not in only):
            continue
        why = None if only is not None or strategy.name == named else _not_asked(strategy, group)
        if why is not None and strategy.name in RACKED:
            continue
        if why is not None:
            candidates.append(never(group, strategy, why))
            continue
        judgment = feasibilities.of(strategy.name, strategy.deployment)
        candidate = _replay(strategy, group, rule, joining, judge, judgment, feasibilities.library)
        if strategy.name in RACKED and not _says_more(candidate, candidates, named, only):
            continue
        next_change = _next_change(strategy, candidate, changes, judgment)
        candidates.append(replace(candidate, next_change=next_change))
    answers = {candidate.strategy: candidate.assignment for candidate in candidates}
    told = _about_racks(measured_group, spec, rule, answers.get("min_traffic"))
    told += uneven_by_subscription(judge, candidates)

    def price_of(candidate: Candidate, owner: Indices) -> Price | None:
        could = candidate.feasibility in ABLE
        if candidate.deployment is Deployment.LIVE or not (could and priced):
            return None
        # who follows a plan lists the follower, whoever made the plan
        lists = PLAN if candidate.deployment is Deployment.PLAN else candidate.strategy
        eager = gives_up_everything(group, lists, candidate.how)
        return price(candidate.how, spec.static, spec.owner, owner, eager=eager, pauses=pauses)

    candidates = with_forecasts(measured.load, candidates, price_of)
    if measured.load is not None:
        relief = _reliefs(group, measured.load)
        candidates = [replace(c, notes=(*c.notes, *relief(c))) for c in candidates]
    if measured.live is not None and measured.live.balanced is False:
        candidates = [_with_counts(candidate, judge) for candidate in candidates]
    # what is found about racks and subscriptions is said of what the group has now
    return Replayed(
        spec=spec,
        candidates=[
            replace(each, findings=(*each.findings, *told))
            if each.deployment is Deployment.LIVE
            else each
            for each in candidates
        ],
    )


def spec_of_measured(group: GroupSnapshot, measured: Measured, rule: Rule) -> GroupSpec:
    """A measured group for strategies; lags as they are shown."""
    return spec_of(
        group,
        measured.lag,
        measured.production,
        config=[settings_of(rule, member) for member in group.members],
        bytes_per_record=measured.bytes_per_record,
        capacity=measured.weights,
    )


def _asked(feasibilities: Feasibilities, named: Collection[str | None]) -> Iterator[Assignor]:
    """Every strategy; behind each what it would be once members sent their racks, if they do not, or if it is named."""
    for strategy in every().values():
        yield strategy
        told = RACKED.get(with_racks(strategy.name))
        if told is not None and (feasibilities.untold or told.name in named):
            yield told


def _says_more(
    told: Candidate,
    others: Sequence[Candidate],
    named: str | None,
    only: Collection[str] | None,
) -> bool:
    """
    Whether a strategy `with_racks` is worth a row: it is named, can be had, and has another answer than without.

    That of what the group runs is always: by it one sees whether its members send their racks by now.
    """
    if only is not None or told.strategy == named:
        return True
    base = next(one for one in others if one.strategy == base_of(told.strategy))
    if told.assignment is None or told.feasibility is not Feasibility.NEEDS_RESTART:
        return False
    without = base.assignment
    return bool(base.is_running) or (
        without is not None and not np.array_equal(without.owner, told.assignment.owner)
    )


def _not_asked(strategy: Assignor, group: GroupSnapshot) -> Fact | None:
    """Why a strategy is not asked unless it is named: brokers must be given ours, and then the group their protocol."""
    far = (
        SERVER_SIDE.get(base_of(strategy.name)) == BY_RACKS and group.type is not GroupType.CONSUMER
    )
    return reason("leader_assigns") if far else None


def _with_counts(candidate: Candidate, judge: Judge) -> Candidate:
    """What members have, of a group in which that could be more even."""
    if candidate.assignment is None:
        return candidate
    named = counts(judge.counts(candidate.assignment))
    return replace(candidate, counts=(fact(FactKind.COUNTS, "member_counts", [named]),))


def _reliefs(group: GroupSnapshot, load: Load) -> Callable[[Candidate], tuple[Fact, ...]]:
    """How many partitions an assignment by capacity takes from the member that gets most beyond what it can do."""
    everything = np.ones(len(load.owner), np.bool_)
    comes = sums_by_owner(load.arrivals[0], load.owner, everything, len(load.capacity))
    over = np.nan_to_num(comes - load.capacity)
    most = int(np.argmax(over))
    had = (load.owner == most) & (over[most] > 0)

    def relief(candidate: Candidate) -> tuple[Fact, ...]:
        if candidate.strategy not in BY_CAPACITY or candidate.assignment is None:
            return ()
        left = int((had & (candidate.assignment.owner != most)).sum())
        if not left:
            return ()
        name = [*member_names(group.members).values()][most]
        return (note("relieved_member", [name], after=left, partitions=int(had.sum())),)

    return relief


def _about_racks(
    measured_group: MeasuredGroup, spec: GroupSpec, rule: Rule, least: Assignment | None
) -> list[Fact]:
    """What is to be said of the racks of a group that could be replayed; *least* is what crosses least."""
    group, measured = measured_group.group, measured_group.measured
    if measured is None or measured.live is None:
        return []
    priced = rule.price_per_gb is None or measured.live.cross_rack_bytes_per_second is not None
    findings = (
        *strays(group),
        lost_rack_awareness(group, spec, least),
        leaders_only(group, spec),
        None if priced else unpriced(group, measured.bytes_per_record, group.partitions.assignable),
    )
    return [each for each in findings if each]


def _replay(
    strategy: Assignor,
    group: GroupSnapshot,
    rule: Rule,
    joining: Joining,
    judge: Judge,
    judgment: FeasibilityJudgment,
    library: str | None,
) -> Candidate:
    """A strategy on a group; why it has no answer, where it has none."""
    try:
        assign, seen, said = _asking(strategy, group, rule, joining, judgment, library)
        settled = settle(assign, seen)
    except Infeasible as problem:
        return replace(never(group, strategy, refusal(problem)), how=judgment.how)
    except NoAnswer as problem:
        failed = reason("failed", quote=problem.message)
        return replace(never(group, strategy, failed), how=judgment.how)
    continues = _continues(strategy, group, judgment)
    remembered = len(judgment.reporting_nothing) < len(group.members)
    replay = Fact(
        kind=FactKind.REPLAY,
        measure="next_rebalance" if continues and remembered else "fresh_assignment",
        after=settled.rounds,
        partitions=settled.waited,
    )
    return Candidate(
        strategy=strategy.name,
        deployment=judgment.deployment or strategy.deployment,
        feasibility=judgment.feasibility,
        reason=(*judgment.reason, *of_kind(said, FactKind.REASON)),
        how=judgment.how,
        is_running=runs(group, strategy.name),
        replay=(replay,),
        assignment=settled.assignment,
        score=judge.score(settled.assignment),
        findings=(*settled.assignment.findings, *of_kind(said, FactKind.FINDING)),
        proof=settled.assignment.proof,
    )


Asked = tuple[Callable[[GroupSpec], Assignment], GroupSpec]
"""A strategy's function, and the group that it is asked about."""


def _asking(
    strategy: Assignor,
    group: GroupSnapshot,
    rule: Rule,
    joining: Joining,
    judgment: FeasibilityJudgment,
    library: str | None,
) -> tuple[*Asked, tuple[Fact, ...]]:
    """How a strategy is asked, and what its leader's library makes of it."""
    continues = _continues(strategy, group, judgment)
    spec = joining(
        strategy.deployment in OF_OURS, judgment.reporting_nothing if continues else None
    )
    led = group.type is GroupType.CLASSIC and judgment.deployment is None
    seen, said = as_led_by(library if led else None, strategy.name, spec)
    return assign_of(strategy), with_user_data(strategy, group, rule, seen), said


def asked(
    settings: Settings,
    group: GroupSnapshot,
    measured: Measured,
    strategy: Assignor,
    coming: Collection[str] = frozenset(),
) -> Asked:
    """
    The input that `replay_group` gives a strategy for a measured group.

    Raises:
        Infeasible: The strategy cannot run on this group.
    """
    rule = settings.rule(group.cluster, group.group)
    pauses = measured.pauses(settings.policy(group.cluster, group.group))
    spec = spec_of_measured(group, measured, rule)
    joining = _joining(spec, group, measured, coming, pauses)
    feasibilities = Feasibilities(group, rule.assignors, rule.client)
    judgment = feasibilities.of(strategy.name, strategy.deployment)
    return _asking(strategy, group, rule, joining, judgment, feasibilities.library)[:2]


def settled_of(
    settings: Settings,
    group: GroupSnapshot,
    measured: Measured,
    strategy: Assignor,
    coming: Collection[str] = frozenset(),
) -> Settled:
    """
    The final assignment of a strategy for a measured group, without figures.

    Raises:
        Infeasible: The strategy cannot run on this group.
        NoAnswer: It gave no valid result.
    """
    return settle(*asked(settings, group, measured, strategy, coming))


def _joining(
    spec: GroupSpec,
    group: GroupSnapshot,
    measured: Measured,
    coming: Collection[str],
    pauses: Policy,
) -> Joining:
    """How the group joins; strategies that see the same share what is worked out of it."""
    judged = replace(
        spec,
        lag=measured.lag_for_strategies.take(group.partitions.assignable),
        backlog=_backlog(spec, measured.load),
        # as the price has it of a plan
        pauses=pauses.pauses(eager=gives_up_everything(group, PLAN, ())),
    )

    @cache
    def joining(reading: bool, silent: frozenset[str] | None) -> GroupSpec:
        nothing = None if silent is None else silent.union(coming)
        return fresh(as_read(judged) if reading else judged, nothing)

    return joining


def _backlog(spec: GroupSpec, load: Load | None) -> Floats | None:
    """(P) offsets that members are behind; None where that is not known."""
    if load is not None:
        # what nobody gets on with no assignment works off
        return np.where(load.stuck, 0.0, load.backlog)
    # who has a past, and no forecast made of it, keeps up
    past = bool(np.isfinite(spec.rate).any()) and bool(spec.lag.known.all())
    return np.zeros(spec.partition_count) if past else None


def _next_change(
    strategy: Assignor,
    candidate: Candidate,
    changes: Changes | None,
    judgment: FeasibilityJudgment,
) -> NextChange | None:
    """
    What a strategy that the group runs, or a setting could make it run, would move next.

    None for all others, because every answer takes a while, and where it cannot be asked: who can tell what members of
    a changed group would send a custom strategy as user data?
    """
    runs_here = by_setting(judgment, strategy.deployment)
    # a plan does not answer to a change by itself, its fallback does
    by_plan = judgment.deployment is Deployment.PLAN
    passive = by_plan or strategy.deployment is Deployment.LIVE or takes_user_data(strategy)
    # what is asked of a changed group is Kafka's own class
    passive = passive or len(candidate.reason) > len(judgment.reason)
    if changes is None or not runs_here or passive or candidate.assignment is None:
        return None
    silent = silent_members(changes.group, judgment.reporting_nothing)
    try:
        return changes.of(assign_of(strategy), candidate.assignment.owner, silent)
    except (Infeasible, NoAnswer):
        return None


def _continues(strategy: Assignor, group: GroupSnapshot, judgment: FeasibilityJudgment) -> bool:
    """
    Whether a strategy would see what members own now.

    The one that the group runs does, at its next rebalance. To get another client-side one, every
    member restarts and forgets; a broker keeps the target assignment whatever assignor comes next. Who makes a plan
    asks afresh.
    """
    if judgment.deployment is not None:
        return False
    if strategy.deployment is Deployment.LIVE or runs(group, strategy.name):
        return True
    return group.type is GroupType.CONSUMER and base_of(strategy.name) in SERVER_SIDE


def never(group: GroupSnapshot, strategy: Assignor, why: Fact) -> Candidate:
    """A strategy that has no answer for a group, and why."""
    is_running = runs(group, strategy.name)
    return infeasible(strategy.name, strategy.deployment, why, is_running=is_running)


def with_forecasts(
    load: Load | None,
    candidates: Sequence[Candidate],
    price_of: Callable[[Candidate, Indices], Price | None],
) -> list[Candidate]:
    """
    The candidates of a group, those with an assignment with their forecast, and where it has one with their price.

    Args:
        load: What the group's forecast is made from; without it there is none.
        candidates: One per strategy.
        price_of: What it costs to get to a candidate's owners; None where it cannot be had, or is there already.
    """
    placed = {
        each.strategy: each.assignment.owner for each in candidates if each.assignment is not None
    }
    if load is None or not placed:
        return list(candidates)
    prices = [
        price_of(each, placed[each.strategy]) for each in candidates if each.strategy in placed
    ]
    names = [*placed]
    live = next((c.strategy for c in candidates if c.deployment is Deployment.LIVE), None)
    stays = names.index(live) if live in placed else None
    ahead = forecasts(load, [*placed.values()], prices, stays)
    found = {
        strategy: replace(forecast, price_restarts=paid.restarts) if forecast and paid else forecast
        for strategy, paid, forecast in zip(names, prices, ahead, strict=True)
    }
    return [replace(each, forecast=found.get(each.strategy)) for each in candidates]
