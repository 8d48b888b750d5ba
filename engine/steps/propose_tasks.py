"""
The rows of a Kafka Streams application: what each rack strategy would make of its tasks.

A strategy places tasks on clients; which of a client's threads takes one is Kafka's affair, so what hangs on threads
(lag and number of partitions per member, what becomes of them) is unknown in its rows. Strategies for partitions are
infeasible here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evenkeel.engine.advice import runs, unfit
from evenkeel.engine.advice.tasks import task_feasibility, task_reach
from evenkeel.engine.assignor import GroupSpec, spec_of
from evenkeel.engine.assignors import every
from evenkeel.engine.assignors.live import Live
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import EvenkeelError
from evenkeel.engine.facts import Fact, FactKind, reason
from evenkeel.engine.figures import Score
from evenkeel.engine.forecast import forecasts
from evenkeel.engine.model import (
    NONE,
    Assignment,
    Candidate,
    Feasibility,
    GroupSnapshot,
    Indices,
)
from evenkeel.engine.records import keys_of
from evenkeel.engine.scoring import Judge, Moves, moves
from evenkeel.engine.steps.candidate_rows import Proposal, infeasible, proposal, refusal
from evenkeel.engine.steps.measured import Measured, judge_of_measured
from evenkeel.engine.streams.compare import PlacementOutcome, outcome, presumed, seen_to_run
from evenkeel.engine.streams.live import Running, running
from evenkeel.engine.streams.settings import RackStrategy
from evenkeel.engine.streams.threads import thread_of

_Row = tuple[Candidate, Moves | None]


def task_rows(settings: Settings, group: GroupSnapshot, measured: Measured) -> Iterator[Proposal]:
    """
    One per strategy of an application: what it has, the rack strategies, then those for partitions.

    Args:
        settings: The configuration.
        group: A group that `places_tasks` and is not `blocked`.
        measured: Its metrics.
    """
    spec = spec_of(group, measured.lag, measured.production)
    rule = settings.rule(group.cluster, group.group)
    judge = judge_of_measured(group, measured, spec, rule)
    present, visible = [reason("live_assignment")], None
    assumed: tuple[Fact, ...] = ()
    placements: dict[RackStrategy, PlacementOutcome | EvenkeelError]
    try:
        live = running(group, rule.streams)
    except EvenkeelError as problem:
        placements = dict.fromkeys(RackStrategy, problem)
    else:
        present += [live.not_emulated] if live.not_emulated else []
        placements = {strategy: _outcome(live, strategy) for strategy in RackStrategy}
        placed = [each for each in placements.values() if isinstance(each, PlacementOutcome)]
        application, visible = presumed(live, placed), seen_to_run(live, placed)
        assumed = application.remarks
    load, live_row = measured.load, replace(_live(present, spec, judge), notes=assumed)
    if load is not None:
        [ahead] = forecasts(load, [spec.owner], [None])
        live_row = replace(live_row, forecast=ahead)
    rows: list[_Row] = [(live_row, None)]
    for strategy, placement in placements.items():
        is_running = runs(group, strategy.value) if visible is None else strategy in visible
        if isinstance(placement, PlacementOutcome):
            candidate, changed = _replayed_row(group, application, placement, spec, judge)
            rows.append((replace(candidate, is_running=is_running), changed))
        else:
            reach = task_reach(group)
            refused = infeasible(strategy.value, reach, refusal(placement), is_running=is_running)
            rows.append((refused, None))
    done = {candidate.strategy for candidate, _ in rows}
    unfitting = unfit(group)
    why = [unfitting] if unfitting else []
    rows += [
        (infeasible(other.name, other.deployment, *why, is_running=runs(group, other.name)), None)
        for other in every().values()
        if other.name not in done
    ]
    keys = keys_of(group, settings.version)
    for position, (candidate, changed) in enumerate(rows):
        yield proposal(keys, position, candidate, changed)


def _live(reasons: Sequence[Fact], spec: GroupSpec, judge: Judge) -> Candidate:
    return Candidate(
        strategy=Live.name,
        deployment=Live.deployment,
        feasibility=Feasibility.CAN_RUN,
        reason=tuple(reasons),
        is_running=False,
        replay=(Fact(kind=FactKind.REPLAY, measure="next_rebalance"),),
        score=judge.score(Assignment(owner=spec.owner)),
    )


def _outcome(live: Running, strategy: RackStrategy) -> PlacementOutcome | EvenkeelError:
    """What a strategy would lead to, or why it leads nowhere: one that fails costs the others nothing."""
    try:
        return outcome(live, strategy)
    except EvenkeelError as problem:
        return problem


def _replayed_row(
    group: GroupSnapshot,
    application: Running,
    placement: PlacementOutcome,
    spec: GroupSpec,
    judge: Judge,
) -> _Row:
    assert placement.strategy is not None, "what a group has now is its live row"
    deployment, name = task_reach(group), placement.strategy.value
    judgement = task_feasibility(group, application, placement)
    if judgement.feasibility is Feasibility.INFEASIBLE:
        never = infeasible(name, deployment, *judgement.reason)
        return replace(never, how=judgement.how), None
    assignment = Assignment(owner=_members(application, placement, spec))
    process = {m.id: m.process_id for m in group.members}
    of_member = np.array([*(process.get(name) for name in spec.members), None], dtype=object)
    changed = moves(spec, assignment)
    changed = changed.take(of_member[spec.owner[changed.partition]] != of_member[changed.new_owner])
    candidate = Candidate(
        strategy=name,
        deployment=deployment,
        feasibility=judgement.feasibility,
        reason=judgement.reason,
        how=judgement.how,
        replay=tuple(_replayed(application, placement)),
        notes=placement.remarks,
        score=_by_client(judge.score(assignment), len(changed)),
        proof=_proof(application, placement),
    )
    return candidate, changed


def _members(application: Running, placement: PlacementOutcome, spec: GroupSpec) -> Indices:
    """(P) the member that would read each partition of the group; NONE where no task does."""
    thread = thread_of(placement.owner, application.client_of, application.thread)
    task_of = application.task_of
    names, number = spec.topics, spec.number_of.tolist()
    topic = spec.topic_of.tolist()
    keys = [(names[t], n) for t, n in zip(topic, number, strict=True)]
    task = np.array([task_of.get(key, NONE) for key in keys], np.int64)
    return np.append(thread, np.int32(NONE))[task].astype(np.int32)


def _by_client(score: Score, moved: int) -> Score:
    """A score without what hangs on threads."""
    return replace(
        score,
        partition_spread=None,
        balanced=None,
        largest_member_lag=None,
        lag_skew=None,
        drain_seconds=None,
        moves=moved,
    )


def _replayed(application: Running, placement: PlacementOutcome) -> Iterator[Fact]:
    continues = placement.strategy is application.runs
    yield Fact(kind=FactKind.REPLAY, measure="next_rebalance" if continues else "fresh_assignment")
    if placement.warming:
        yield Fact(kind=FactKind.REPLAY, measure="warming_copies", after=placement.warming)
    if placement.probing and not application.kip_1071:
        yield Fact(kind=FactKind.REPLAY, measure="probing_rebalances")


def _proof(application: Running, placement: PlacementOutcome) -> tuple[Fact, ...]:
    """What is proven of a rack strategy's answer."""
    if placement.strategy is RackStrategy.NONE or placement.racks_off is not None:
        return ()
    crossing, tasks = int(placement.crossing.sum()), len(application.app.tasks)
    return (
        Fact(kind=FactKind.EXACT, measure="placement_cost"),
        Fact(kind=FactKind.REMARK, measure="cross_rack_sources", after=crossing),
        Fact(kind=FactKind.REMARK, measure="task_moves", after=placement.moves, bound=tasks),
    )


__all__ = ["task_rows"]
