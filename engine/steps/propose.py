"""The step that replays every strategy on every group: one row each, the infeasible ones with their reason."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa

from evenkeel.engine.advice import SERVER_SIDE, Feasibilities, Judgement, blocked, runs
from evenkeel.engine.advice.lost_racks import leaders_only, lost_rack_awareness, unpriced
from evenkeel.engine.advice.next_change import Changes, silent_members
from evenkeel.engine.assignor import Assignor, GroupSpec, by_leader, fresh, spec_of
from evenkeel.engine.assignors import every
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.conformance.asking import NoAnswer
from evenkeel.engine.datasets import CANDIDATES
from evenkeel.engine.errors import Infeasible
from evenkeel.engine.facts import Fact, FactKind, fact, reason
from evenkeel.engine.figures import NextChange
from evenkeel.engine.kit.settle import Settled, settle
from evenkeel.engine.model import (
    Assignment,
    Candidate,
    Deployment,
    GroupSnapshot,
    GroupType,
)
from evenkeel.engine.ports import Lake
from evenkeel.engine.records import keys_of
from evenkeel.engine.scoring import Judge, Moves, moves
from evenkeel.engine.steps.candidate_rows import (
    Proposal,
    candidate_table,
    infeasible,
    proposal,
    refusal,
)
from evenkeel.engine.steps.chunks import chunks_of
from evenkeel.engine.steps.measured import (
    NOT_MEASURED,
    MeasuredGroup,
    judge_of_measured,
    measured_chunk,
)
from evenkeel.engine.steps.member_data import (
    assign_of,
    settings_of,
    takes_user_data,
    with_user_data,
)
from evenkeel.engine.steps.past import by_setting
from evenkeel.engine.steps.propose_forecasts import with_forecasts
from evenkeel.engine.steps.propose_tasks import task_rows
from evenkeel.engine.steps.reading import with_others
from evenkeel.engine.steps.validation import withheld_groups
from evenkeel.engine.wording import counts

_log = logging.getLogger(__name__)

OF_OURS = frozenset({Deployment.YARDSTICK, Deployment.PLAN})
"""Strategies that go by what crossing racks costs; Kafka's look at the racks of all replicas, whoever serves reads."""


def propose_candidates(
    lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> dict[str, pa.Table]:
    """
    The candidates of a snapshot, without Spark: the table of `datasets.CANDIDATES`.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot, or not its metrics.
    """
    withheld = withheld_groups(lake, snapshot_id)
    tables = [
        propose_chunk(lake, settings, snapshot_id, chunk.groups, withheld)
        for chunk in chunks_of(lake, snapshot_id, pattern)
    ]
    empty = CANDIDATES["candidates"].empty_table()
    return {"candidates": pa.concat_tables([empty, *(each["candidates"] for each in tables)])}


def propose_chunk(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    names: Sequence[str],
    withheld: Mapping[str, str],
) -> dict[str, pa.Table]:
    """
    The candidates of some groups, from the lake, in the order of *names*.

    A group that cannot be worked on costs the others nothing: every strategy is infeasible for that reason.

    Args:
        withheld: Why the data of a group cannot be trusted, by group id.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot, or not its metrics.
        LakeError: The metrics are not those of the snapshot.
    """
    groups = measured_chunk(lake, settings, snapshot_id, names, withheld)
    proposals = [one for group in groups for one in propose_anyway(settings, group)]
    return {"candidates": candidate_table(proposals)}


def propose_anyway(settings: Settings, measured_group: MeasuredGroup, **how: Any) -> list[Proposal]:
    """As `propose_group`; where that fails, every strategy is infeasible for that reason."""
    try:
        return propose_group(settings, measured_group, **how)
    except Exception as problem:  # noqa: BLE001
        _log.exception("group %s cannot be replayed", measured_group.group.group)
        why = reason("replay_failed", quote=f"{type(problem).__name__}: {problem}")
        return propose_group(settings, replace(measured_group, measured=None, withheld=why))


def record_candidates(
    lake: Lake, snapshot_id: str, tables: Mapping[str, pa.Table], pattern: str = "*"
) -> None:
    """
    Keep the candidates in the lake; the history gets those that pass validation (`record_validation`).

    Proposed for the groups of a pattern only, they replace only those groups' rows.
    """
    lake.write(
        "candidates", snapshot_id, with_others(lake, snapshot_id, "candidates", tables, pattern), {}
    )


def propose_group(
    settings: Settings,
    measured_group: MeasuredGroup,
    *,
    ask_next_change: bool = True,
    live_only: bool = False,
) -> list[Proposal]:
    """
    One per strategy, in the order of the strategy table.

    Args:
        settings: The configuration.
        measured_group: The group and its metrics; where it is withheld, every strategy is infeasible for that reason.
        ask_next_change: Whether it is worked out what strategies would move next, a third of the work.
        live_only: Whether only what the group has now is looked at.
    """
    group, measured = measured_group.group, measured_group.measured
    keys = keys_of(group, settings.version)
    why = measured_group.withheld or blocked(group)
    if why is not None or measured is None:
        return [
            proposal(keys, position, _never(group, strategy, why or NOT_MEASURED), None)
            for position, strategy in enumerate(every().values())
        ]
    if group.places_tasks:
        return list(task_rows(settings, group, measured))
    rule = settings.rule(group.cluster, group.group)
    config = [settings_of(rule, member) for member in group.members]
    spec = spec_of(
        group,
        measured.lag,
        measured.production,
        config=config,
        bytes_per_record=measured.bytes_per_record,
        capacity=measured.weights,
    )
    judged = replace(
        spec,
        lag=measured.lag_for_strategies.take(group.partitions.assignable),
    )
    judge = judge_of_measured(group, measured, spec, rule)

    @cache
    def joining(leaders: bool, silent: frozenset[str] | None) -> GroupSpec:
        return fresh(by_leader(judged) if leaders else judged, silent)

    feasibilities = Feasibilities(group, rule.assignors)
    changes = Changes(judged) if ask_next_change else None
    candidates: list[Candidate] = []
    for strategy in every().values():
        if live_only and strategy.deployment is not Deployment.LIVE:
            continue
        judgement = feasibilities.of(strategy.name, strategy.deployment)
        candidate = _replay(strategy, group, rule, joining, judge, judgement)
        next_change = _next_change(strategy, candidate, changes, judgement)
        candidates.append(replace(candidate, next_change=next_change))
    answers = {candidate.strategy: candidate.assignment for candidate in candidates}
    racks = _about_racks(measured_group, spec, rule, answers.get("min_traffic"))
    policy = settings.policy(group.cluster, group.group)
    candidates = with_forecasts(group, spec, measured.load, policy, candidates)
    if measured.live is not None and measured.live.balanced is False:
        candidates = [_with_counts(candidate, judge) for candidate in candidates]
    return [
        proposal(keys, position, _with_findings(candidate, racks), _changed(spec, candidate))
        for position, candidate in enumerate(candidates)
    ]


def _changed(spec: GroupSpec, candidate: Candidate) -> Moves | None:
    """What changes hands; None without an answer."""
    return moves(spec, candidate.assignment) if candidate.assignment else None


def _with_counts(candidate: Candidate, judge: Judge) -> Candidate:
    """What members have, of a group in which that could be more even."""
    if candidate.assignment is None:
        return candidate
    named = counts(judge.counts(candidate.assignment))
    return replace(candidate, counts=(fact(FactKind.COUNTS, "member_counts", [named]),))


def _with_findings(candidate: Candidate, findings: Sequence[Fact]) -> Candidate:
    """What is found about racks is said of what the group has now."""
    if candidate.deployment is not Deployment.LIVE:
        return candidate
    return replace(candidate, findings=(*candidate.findings, *findings))


def _about_racks(
    measured_group: MeasuredGroup, spec: GroupSpec, rule: Rule, least: Assignment | None
) -> list[Fact]:
    """What is to be said of the racks of a group that could be replayed; *least* is what crosses least."""
    group, measured = measured_group.group, measured_group.measured
    if measured is None or measured.live is None:
        return []
    priced = rule.price_per_gb is None or measured.live.cross_rack_bytes_per_second is not None
    findings = (
        lost_rack_awareness(group, spec, least),
        leaders_only(group, spec),
        None if priced else unpriced(group, measured.bytes_per_record, group.partitions.assignable),
    )
    return [each for each in findings if each]


def _replay(
    strategy: Assignor,
    group: GroupSnapshot,
    rule: Rule,
    joining: Callable[[bool, frozenset[str] | None], GroupSpec],
    judge: Judge,
    judgement: Judgement,
) -> Candidate:
    """
    A strategy on a group.

    Args:
        joining: The group as it joins, by whether its leaders' racks are what counts, and by which members report
            nothing (None: all): strategies that see the same share what is worked out of it.
    """
    continues = _continues(strategy, group)
    leaders = judge.leaders_only and strategy.deployment in OF_OURS
    try:
        spec = joining(leaders, judgement.reporting_nothing if continues else None)
        joined = with_user_data(strategy, group, rule, spec)
        settled = settle(assign_of(strategy), joined)
    except Infeasible as problem:
        return replace(_never(group, strategy, refusal(problem)), how=judgement.how)
    except NoAnswer as problem:
        failed = reason("failed", quote=problem.message)
        return replace(_never(group, strategy, failed), how=judgement.how)
    return Candidate(
        strategy=strategy.name,
        deployment=strategy.deployment,
        feasibility=judgement.feasibility,
        reason=judgement.reason,
        how=judgement.how,
        is_running=runs(group, strategy.name),
        replay=_replayed(
            continues and len(judgement.reporting_nothing) < len(group.members), settled
        ),
        assignment=settled.assignment,
        score=judge.score(settled.assignment),
        findings=settled.assignment.findings,
        proof=settled.assignment.proof,
    )


def _next_change(
    strategy: Assignor, candidate: Candidate, changes: Changes | None, judgement: Judgement
) -> NextChange | None:
    """
    What a strategy that the group runs, or a setting could make it run, would move next.

    None for all others, because every answer takes a while, and where it cannot be asked: who can tell what members of
    a changed group would send a custom strategy as user data?
    """
    runs_here = by_setting(candidate.feasibility, strategy.deployment)
    passive = strategy.deployment is Deployment.LIVE or takes_user_data(strategy)
    if changes is None or not runs_here or passive or candidate.assignment is None:
        return None
    silent = silent_members(changes.group, judgement.reporting_nothing)
    try:
        return changes.of(assign_of(strategy), candidate.assignment.owner, silent)
    except (Infeasible, NoAnswer):
        return None


def _continues(strategy: Assignor, group: GroupSnapshot) -> bool:
    """
    Whether a strategy would see what members own now.

    The one that the group runs does, at its next rebalance. To get another client-side one, every
    member restarts and forgets; a broker keeps the target assignment whatever assignor comes next.
    """
    if strategy.deployment is Deployment.LIVE or runs(group, strategy.name):
        return True
    return group.type is GroupType.CONSUMER and strategy.name in SERVER_SIDE


def _replayed(continues: bool, settled: Settled) -> tuple[Fact, ...]:
    return (
        Fact(
            kind=FactKind.REPLAY,
            measure="next_rebalance" if continues else "fresh_assignment",
            after=settled.rounds,
            partitions=settled.waited,
        ),
    )


def _never(group: GroupSnapshot, strategy: Assignor, why: Fact) -> Candidate:
    is_running = runs(group, strategy.name)
    return infeasible(strategy.name, strategy.deployment, why, is_running=is_running)
