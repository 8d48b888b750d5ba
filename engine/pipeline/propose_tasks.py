"""
Candidates of a Kafka Streams application, one per strategy for tasks.

A strategy assigns tasks to clients, and Kafka assigns them to threads. Figures per thread (lag and partitions per
member, forecasts) are therefore unknown. The server-side assignor of a KIP-1071 group assigns tasks to threads, so its
row is complete. Strategies for partitions are not applicable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ..advice import runs, unfit
from ..advice.next_task_change import TaskChanges
from ..advice.scoring import Judge, Moves, moves
from ..advice.switch_cost import Price, instances_of, price
from ..advice.tasks import client_racks, racks_found, task_feasibility, task_reach
from ..assignors import every
from ..assignors.interface import GroupSpec, spec_of
from ..assignors.live import Live
from ..config import Settings, StreamsSettings
from ..model.arrays import NONE, Indices, Ints
from ..model.assignments import ABLE, Assignment, Candidate, Feasibility
from ..model.errors import EvenkeelError
from ..model.facts import Fact, FactKind, note, reason
from ..model.figures import Score
from ..model.groups import GroupSnapshot
from ..model.states import GroupType
from ..records import keys_of
from ..streams.compare import PlacementOutcome, outcome, presumed, seen_to_run
from ..streams.live import Running, running
from ..streams.restoring import restoring
from ..streams.separate_copies import about_copies
from ..streams.settings import RackStrategy, StickyTasks, TaskStrategy, task_strategies
from .candidate_forecasts import Unforecast, with_forecasts
from .candidate_rows import Proposal, infeasible, refusal
from .stored_metrics import Measured, judge_of_measured

_Row = tuple[Candidate, Moves | None]


def task_rows(
    settings: Settings,
    group: GroupSnapshot,
    measured: Measured,
    *,
    ask_next_change: bool = True,
) -> Iterator[Proposal]:
    """
    One per strategy of an application: what it has, the sticky one it runs, if it does, the rack strategies, then those
    for partitions.

    Args:
        settings: The configuration.
        group: A group that `places_tasks` and is not `blocked`.
        measured: Its metrics.
        ask_next_change: As for `propose_group`.
    """
    spec = spec_of(group, measured.lag, measured.production)
    rule = settings.rule(group.cluster, group.group)
    judge = judge_of_measured(group, measured, spec, rule)
    visible, assumed, found = None, tuple[Fact, ...](), racks_found(group, spec, None)
    configured = rule.streams or StreamsSettings()
    strategies = task_strategies(configured.task_assignor, kip_1071=group.type is GroupType.STREAMS)
    placements: dict[TaskStrategy, PlacementOutcome | EvenkeelError]
    try:
        read = partial(running, group, restores=measured.restores)
        live = read(configured)
        # what rack strategies would place has their own assignor's costs
        usual = configured.model_copy(update={"task_assignor": "high-availability"})
        by_racks = read(usual) if live.own is StickyTasks.CLIENT else live
    except EvenkeelError as problem:
        placements = dict.fromkeys(strategies, problem)
    else:
        placements = {
            strategy: _outcome(by_racks if isinstance(strategy, RackStrategy) else live, strategy)
            for strategy in strategies
        }
        placed = [each for each in placements.values() if isinstance(each, PlacementOutcome)]
        application, visible = presumed(live, placed), seen_to_run(live, placed)
        assumed = application.remarks
        found = (*racks_found(group, spec, application), *about_copies(application, placed))
    changes_of = cache(partial(TaskChanges, group))
    rows: list[_Row] = [(replace(_live(spec, judge), notes=assumed, findings=found), None)]
    for strategy, placement in placements.items():
        is_running = runs(group, strategy.value) if visible is None else strategy in visible
        if isinstance(placement, PlacementOutcome):
            candidate, changed = _replayed_row(group, application, placement, spec, judge)
            if ask_next_change and candidate.feasibility in ABLE:
                own = by_racks if isinstance(strategy, RackStrategy) else live
                candidate = replace(candidate, next_change=changes_of(own).of(placement))
            rows.append((replace(candidate, is_running=is_running), changed))
        else:
            reach = task_reach(group, strategy)
            refused = infeasible(strategy.value, reach, refusal(placement), is_running=is_running)
            rows.append((refused, None))
    by_name = {strategy.value: placed for strategy, placed in placements.items()}
    pauses = measured.paused(settings.policy(group.cluster, group.group))

    def price_of(candidate: Candidate, owner: Indices) -> Price | None:
        # an instance that restarts, and what moves, until its stores are restored
        if candidate.strategy == Live.name:
            return None
        placed = by_name.get(candidate.strategy)
        restored = None
        if isinstance(placed, PlacementOutcome):
            waits = restoring(placed).seconds
            restored = np.append(np.nan_to_num(waits), 0.0)[_tasks(placed.application, spec)]
        return price(
            candidate.how,
            spec.static,
            spec.owner,
            owner,
            eager=False,
            pauses=pauses,
            instances=instances_of(group),
            restoring=restored,
        )

    candidates = [candidate for candidate, _ in rows]
    [ahead] = with_forecasts(
        [Unforecast(load=measured.load, candidates=candidates, price_of=price_of)]
    )
    rows = [(candidate, changed) for candidate, (_, changed) in zip(ahead, rows, strict=True)]
    done = {candidate.strategy for candidate in ahead}
    unfitting = unfit(group)
    why = [unfitting] if unfitting else []
    rows += [
        (infeasible(other.name, other.deployment, *why, is_running=runs(group, other.name)), None)
        for other in every().values()
        if other.name not in done
    ]
    keys = keys_of(group, settings.version)
    for position, (candidate, changed) in enumerate(rows):
        known = None if changed is None else partial(_known, changed)
        yield Proposal(keys=keys, position=position, candidate=candidate, changed=known)


def _known(changed: Moves) -> Moves:
    return changed


def _now(spec: GroupSpec) -> Assignment:
    return Assignment(owner=spec.owner)


def _live(spec: GroupSpec, judge: Judge) -> Candidate:
    now = _now(spec)
    return Candidate(
        strategy=Live.name,
        deployment=Live.deployment,
        feasibility=Feasibility.AVAILABLE,
        reason=(reason("live_assignment"),),
        is_running=False,
        replay=(Fact(kind=FactKind.REPLAY, measure="next_rebalance"),),
        score=judge.score(now),
        assignment=now,
    )


def _outcome(live: Running, strategy: TaskStrategy) -> PlacementOutcome | EvenkeelError:
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
    deployment, name = task_reach(group, placement.strategy), placement.strategy.value
    judgment = task_feasibility(group, application, placement)
    if judgment.feasibility is Feasibility.NOT_APPLICABLE:
        never = infeasible(name, deployment, *judgment.reason)
        # where setting client.rack is the way, there is one, though what it brings is not known
        way = client_racks(application, placement)
        return replace(never, how=judgment.how), moves(spec, _now(spec)) if way else None
    assignment = Assignment(owner=_members(application, placement, spec))
    process = {m.id: m.process_id for m in group.members}
    of_member = np.array([*(process.get(name) for name in spec.members), None], dtype=object)
    changed = moves(spec, assignment)
    changed = changed.take(of_member[spec.owner[changed.partition]] != of_member[changed.new_owner])
    candidate = Candidate(
        strategy=name,
        deployment=deployment,
        feasibility=judgment.feasibility,
        reason=judgment.reason,
        how=judgment.how,
        replay=tuple(_replayed(application, placement)),
        notes=(*placement.remarks, *_restored(placement)),
        score=placement.stores.scored(
            _by_client(judge.score(assignment), len(changed), placement.thread is not None)
        ),
        proof=_proof(application, placement),
        assignment=None if placement.thread is None else assignment,
    )
    return candidate, changed


def _members(application: Running, placement: PlacementOutcome, spec: GroupSpec) -> Indices:
    """(P) the member that would read each partition of the group; NONE where no task does."""
    return np.append(placement.threads, np.int32(NONE))[_tasks(application, spec)].astype(np.int32)


def _tasks(application: Running, spec: GroupSpec) -> Ints:
    """(P) the task that reads each partition of the group; NONE where none does."""
    task_of = application.task_of
    names, number = spec.topics, spec.number_of.tolist()
    topic = spec.topic_of.tolist()
    keys = [(names[t], n) for t, n in zip(topic, number, strict=True)]
    return np.array([task_of.get(key, NONE) for key in keys], np.int64)


def _by_client(score: Score, moved: int, by_thread: bool) -> Score:
    """A score whose moves are between clients, without what hangs on threads unless the strategy deals those."""
    if by_thread:
        return replace(score, moves=moved)
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


def _restored(placement: PlacementOutcome) -> Iterator[Fact]:
    """Which tasks stand still until their stores are restored, and which move once a copy has warmed up."""
    found, running = restoring(placement), placement.application
    tasks, per_second = running.app.tasks, running.config.restore_records_per_second
    basis = running.config.restore.basis.value
    for measure, chosen, records, seconds, bound in (
        ("stores_restored", found.pauses, found.paused, found.longest, per_second),
        ("stores_warm_up", found.warms, found.warmed, found.settles_seconds, found.rounds),
    ):
        if names := [tasks[task] for task in np.flatnonzero(chosen).tolist()]:
            total = float(records.sum())
            known = {} if np.isnan(total) else {"before": total, "after": seconds}
            yield note(measure, names, bound=float(bound), quote=basis, **known)


def _proof(application: Running, placement: PlacementOutcome) -> tuple[Fact, ...]:
    """What is proven of a rack strategy's answer."""
    if placement.strategy in {RackStrategy.NONE, *StickyTasks} or placement.racks_off is not None:
        return ()
    crossing, tasks = int(placement.far.sum()), len(application.app.tasks)
    across = Fact(kind=FactKind.REMARK, measure="cross_rack_sources", after=crossing)
    return (
        Fact(kind=FactKind.EXACT, measure="placement_cost"),
        *(() if placement.cost is None else (across,)),
        Fact(kind=FactKind.REMARK, measure="task_moves", after=placement.moves, bound=tasks),
    )
