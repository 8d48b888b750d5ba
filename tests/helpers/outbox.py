"""Snapshots with advice, and what a chat refuses: for tests of what is told, and how often."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.engine.columns import columns_of
from evenkeel.engine.datasets import METRICS
from evenkeel.engine.errors import NotifierError
from evenkeel.engine.facts import Fact, FactKind
from evenkeel.engine.figures import Score
from evenkeel.engine.model import Deployment, Feasibility, GroupType, Move, Status, Verdict
from evenkeel.engine.ports import History, Manifest, ScoredAdvice
from evenkeel.engine.records import (
    AdviceColumns,
    AdviceRow,
    CandidateColumns,
    GroupMetrics,
    blank,
    table_of,
)

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CLUSTER = "test"


KEYS = {"cluster": CLUSTER, "config_version": "v"}


def score(**figures: Any) -> Score:
    """A score: everything unknown but what is given."""
    counts = ("most_partitions", "fewest_partitions", "racks_left_out")
    known = dict.fromkeys((*counts, "moves", "newly_owned", "unowned"), 0)
    return blank(Score, **known | figures)


def advice(
    group: str, verdict: str = "switch", strategy: str | None = "sticky", **more: Any
) -> ScoredAdvice:
    """Advice on the snapshot `s1`, with the scores it rests on."""
    switch = verdict == "switch"
    gain = Fact(kind=FactKind.GAIN, measure="largest_member_lag", before=900, after=300)
    row = {
        **KEYS,
        "snapshot_id": "s1",
        "advice_id": zlib.crc32(group.encode()),
        "group_id": group,
        "verdict": Verdict(verdict),
        "strategy": strategy if switch else None,
        "reason": "largest member lag 900 -> 300 offsets (-67%)",
        "facts": (gain,),
        "how": "set partition.assignment.strategy",
        "seen": 2 if switch else 0,
        "seen_since": NOW - timedelta(minutes=5),
        "created_at": NOW,
        "live": score(largest_member_lag=900, lag_floor=300),
        "proposed": score(largest_member_lag=300, moves=4) if switch else None,
        "metrics": group_metrics(group),
        "running": {"live": False, "range": True, "sticky": False, "fair": False},
    }
    return ScoredAdvice(**row | more)


def group_metrics(group: str, **known: Any) -> GroupMetrics:
    """Metrics of a group on twelve partitions."""
    row = {
        **KEYS,
        "snapshot_id": "s1",
        "group_id": group,
        "group_type": GroupType.CLASSIC,
        "state": "Stable",
        "status": Status.OK,
        "findings": (),
        "assignor": "range",
        "partitions": 12,
    }
    return blank(GroupMetrics, **row | known)


def take(
    history: History,
    snapshot_id: str,
    *given: ScoredAdvice,
    cluster: str = CLUSTER,
    at: datetime = NOW,
    advised: bool = True,
    moves: Mapping[str, Sequence[Move]] | None = None,
) -> str:
    """Store a snapshot of a cluster, its advice and what that rests on, with the moves of some groups. Its id."""
    keys = {"snapshot_id": snapshot_id, "cluster": cluster}
    history.store_snapshot(
        Manifest(
            **keys,
            step="snapshot",
            schema_version=1,
            written_at=at,
            rows={},
            facts={"started_at": at.isoformat(), "finished_at": at.isoformat()},
        )
    )
    measured = {name: schema.empty_table() for name, schema in METRICS.items()}
    groups = [replace(each.metrics, **keys) for each in given if each.metrics]
    measured["group_metrics"] = table_of(GroupMetrics, groups)
    history.store_metrics(snapshot_id, measured)
    candidates = [replace(row, **keys) for each in given for row in _candidates(each)]
    history.store_candidates(snapshot_id, table_of(CandidateColumns, candidates))
    if advised:
        history.store_advice(
            snapshot_id,
            [
                AdviceRow(
                    **{spec.name: getattr(each, spec.name) for spec in columns_of(AdviceColumns)}
                    | keys
                    | {"created_at": at, "moves": tuple((moves or {}).get(each.group_id, ()))}
                )
                for each in given
            ],
        )
    return snapshot_id


def _candidates(given: ScoredAdvice) -> list[CandidateColumns]:
    """The candidates of a group, as far as its advice speaks of them."""
    scores = {"live": given.live} | ({given.strategy: given.proposed} if given.strategy else {})
    return [
        CandidateColumns(
            **KEYS,
            snapshot_id=given.snapshot_id,
            group_id=given.group_id,
            strategy=strategy,
            position=position,
            deployment=Deployment.LIVE if strategy == "live" else Deployment.SETTING,
            feasibility=Feasibility.CAN_RUN,
            reason="it can",
            is_running=given.running.get(strategy),
            score=scores.get(strategy),
        )
        for position, strategy in enumerate({**scores, **given.running})
    ]


def refusal(channel: str = "#kafka") -> NotifierError:
    """What a notifier raises when Slack refuses."""
    return NotifierError(f"Slack refused {channel}: channel_not_found.", fix="Invite the bot.")
