"""The step that replays every strategy on every group: one row each, the infeasible ones with their reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from engine.advice import SERVER_SIDE, Judgement, blocked, feasibility, runs
from engine.assignor import Assignor, GroupSpec, fresh, spec_of
from engine.assignors import every
from engine.config import Rule, Settings
from engine.datasets import CANDIDATES, rows_to_table
from engine.errors import Infeasible
from engine.kit.settle import Settled, settle
from engine.model import (
    Candidate,
    Feasibility,
    GroupSnapshot,
    GroupType,
    Member,
    Move,
    Reach,
    Score,
)
from engine.ports import History, Lake
from engine.scoring import Judge, moves
from engine.steps.measure import observe_group
from engine.steps.reading import groups_with_past, with_others


def propose_candidates(
    lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> dict[str, pa.Table]:
    """
    The candidates of a snapshot, without Spark: the table of `datasets.CANDIDATES`.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    rows = [
        row
        for found in groups_with_past(lake, settings, snapshot_id, pattern)
        for row in propose_group(settings, found.group, found.earlier, found.withheld)
    ]
    return {"candidates": rows_to_table(rows, CANDIDATES["candidates"])}


def record_candidates(
    lake: Lake,
    history: History | None,
    snapshot_id: str,
    tables: Mapping[str, pa.Table],
    pattern: str = "*",
) -> None:
    """
    Keep the candidates in the lake; the history gets those that pass validation (`record_validation`).

    Proposed for the groups of a pattern only, they replace only those groups' rows.
    """
    del history  # in the signature so that every recording step is called alike
    lake.write("candidates", snapshot_id, with_others(lake, snapshot_id, tables, pattern), {})


def propose_group(
    settings: Settings,
    group: GroupSnapshot,
    earlier: Sequence[GroupSnapshot],
    withheld: str | None = None,
) -> list[dict[str, Any]]:
    """
    One row per strategy, in the order of the strategy table.

    Args:
        settings: The configuration.
        group: The group.
        earlier: Its earlier snapshots, newest first.
        withheld: Why its data cannot be trusted; then every strategy is infeasible for that reason.
    """
    keys = {
        "snapshot_id": group.snapshot_id,
        "cluster": group.cluster,
        "group_id": group.group,
        "config_version": settings.version,
    }
    reason = withheld or blocked(group)
    if reason is not None:
        return [
            keys | _row(position, _infeasible(strategy, reason), None, [])
            for position, strategy in enumerate(every().values())
        ]
    seen = observe_group(settings, group, earlier)
    rule = settings.rule(group.cluster, group.group)
    told = [_told(rule, member) for member in group.members]
    shown = spec_of(group, seen.lag.shown, seen.production.per_second, config=told)
    judged = replace(
        shown,
        lag=seen.lag.for_strategies.take(group.partitions.subscribed & group.partitions.exists),
    )
    judge = Judge(group=shown, capacity=seen.capacity, in_sync=_in_sync(group))
    assignors = rule.assignors
    rows = []
    for position, strategy in enumerate(every().values()):
        judgement = feasibility(group, strategy.name, strategy.reach, assignors)
        candidate = _replay(strategy, group, judged, judge, judgement)
        changed = moves(shown, candidate.assignment) if candidate.assignment else []
        rows.append(keys | _row(position, candidate, judgement, changed))
    return rows


def _told(rule: Rule, member: Member) -> dict[str, Any]:
    """What custom strategies learn of a member: who and where it is, and what configuration says on top."""
    wire = {"client_id": member.client_id, "host": member.host.removeprefix("/")}
    return wire | rule.member_data(member.client_id, member.host, member.instance_id)


def _replay(
    strategy: Assignor,
    group: GroupSnapshot,
    spec: GroupSpec,
    judge: Judge,
    judgement: Judgement,
) -> Candidate:
    continues = _continues(strategy, group)
    forgetful = judgement.forgetful if continues else None
    try:
        settled = settle(strategy.assign, fresh(spec, forgetful))
    except Infeasible as problem:
        return _infeasible(strategy, str(problem))
    except Exception as problem:  # noqa: BLE001 a custom strategy's fault must not cost the others their rows
        return _infeasible(strategy, f"failed: {type(problem).__name__}: {problem}")
    return Candidate(
        strategy=strategy.name,
        reach=strategy.reach,
        feasibility=judgement.feasibility,
        reason=judgement.reason,
        replay=_replayed(continues and len(judgement.forgetful) < len(group.members), settled),
        assignment=settled.assignment,
        score=judge.score(settled.assignment),
        findings=settled.assignment.findings,
        proof=settled.assignment.proof,
    )


def _continues(strategy: Assignor, group: GroupSnapshot) -> bool:
    """
    Whether a strategy would see what members own now.

    The one that the group runs does, at its next rebalance. To get another client-side one, every
    member restarts and forgets; a broker keeps the target assignment whatever assignor comes next.
    """
    if strategy.reach is Reach.LIVE or runs(group, strategy.name):
        return True
    return group.type is GroupType.CONSUMER and strategy.name in SERVER_SIDE


def _replayed(continues: bool, settled: Settled) -> str:
    told = "next rebalance" if continues else "fresh assignment"
    if settled.rounds == 1:
        return told
    waited = "1 partition pauses" if settled.waited == 1 else f"{settled.waited} partitions pause"
    return f"{told}, settled in {settled.rounds} rounds; {waited} in between"


def _infeasible(strategy: Assignor, reason: str) -> Candidate:
    return Candidate(
        strategy=strategy.name,
        reach=strategy.reach,
        feasibility=Feasibility.INFEASIBLE,
        reason=reason,
    )


def _in_sync(group: GroupSnapshot) -> Any:
    """The in-sync flags of the replica entries that `spec_of` keeps."""
    table = group.partitions
    kept = (table.subscribed & table.exists).repeat(
        table.replica_start[1:] - table.replica_start[:-1]
    )
    return table.in_sync[kept]


def _row(
    position: int, candidate: Candidate, judgement: Judgement | None, changed: Sequence[Move]
) -> dict[str, Any]:
    score = asdict(candidate.score) if candidate.score else {}
    return {
        "strategy": candidate.strategy,
        "position": position,
        "reach": candidate.reach.value,
        "feasibility": candidate.feasibility.value,
        "reason": candidate.reason,
        "how": judgement.how if judgement else None,
        "replay": candidate.replay,
        **score,
        "findings": list(candidate.findings),
        "moved": [asdict(move) for move in changed],
        "proof": candidate.proof,
    }


def candidate_of(row: Mapping[str, Any]) -> Candidate:
    """A stored row as a value again; the assignment itself is not stored, its moves are."""
    scored = row["unowned"] is not None
    score = {name: row[name] for name in Score.__dataclass_fields__}
    return Candidate(
        strategy=row["strategy"],
        reach=Reach(row["reach"]),
        feasibility=Feasibility(row["feasibility"]),
        reason=row["reason"],
        replay=row["replay"],
        score=Score(**score) if scored else None,
        findings=tuple(row["findings"] or ()),
        proof=row["proof"],
    )
