"""Snapshots with advice, and what a chat refuses: for tests of what is told, and how often."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.engine.messages.wording import because
from evenkeel.engine.model.assignments import AdviceState, Deployment, Feasibility, Move, Verdict
from evenkeel.engine.model.columns import columns_of
from evenkeel.engine.model.errors import NotDelivered
from evenkeel.engine.model.facts import Fact, FactKind
from evenkeel.engine.model.figures import Forecast, Score
from evenkeel.engine.model.states import Diagnosis, GroupType, Status
from evenkeel.engine.model.tables import empty
from evenkeel.engine.ports import History, Manifest, ScoredAdvice
from evenkeel.engine.records import (
    AdviceColumns,
    AdviceRow,
    CandidateRow,
    GroupMetrics,
    blank,
    table_of,
)
from evenkeel.engine.records.lifecycle import AdviceCheck, AdvicePromise, Claim, Course, Uptake
from evenkeel.engine.snapshots import METRICS

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CLUSTER = "test"


KEYS = {"cluster": CLUSTER, "config_version": "v"}


def score(**figures: Any) -> Score:
    """A score: everything unknown but what is given."""
    counts = ("most_partitions", "fewest_partitions", "racks_left_out")
    known = dict.fromkeys((*counts, "moves", "newly_owned", "unowned"), 0)
    return blank(Score, **known | figures)


def forecast(lag: float, *, restarts: int | None = None, **known: Any) -> Forecast:
    """A forecast of a lag, a quarter more or less, and of nothing else; with restarts its price."""
    measures = ("soon_lag", "lag", "delay_seconds", "drained_seconds", "lag_integral")
    ends = {
        f"forecast_{measure}_{end}": factor * lag if measure == "lag" else 0.0
        for measure in measures
        for end, factor in (("low", 0.75), ("expected", 1.0), ("high", 1.25))
    }
    used = dict.fromkeys(f"forecast_utilization_{end}" for end in ("low", "expected", "high"))
    price = {}
    if restarts is not None:
        price = {"price_restarts": restarts, "price_held_up_offsets": 600.0 * restarts}
    return Forecast(**ends | used | price | known)


FOLLOWED = ("adopted", "verified", "missed", "expired")
"""States of an advice that was taken up."""


def advice(
    group: str, state: str | None = "confirmed", strategy: str = "sticky", **more: Any
) -> ScoredAdvice:
    """Advice on the snapshot `s1` that has come to a state, with the scores and forecasts it rests on."""
    switch = state == "confirmed"
    gain = Fact(kind=FactKind.GAIN, measure="forecast_lag_expected", before=120_000, after=300)
    well = Fact(kind=FactKind.REASON, measure="nothing_deployable")
    row = {
        **KEYS,
        "snapshot_id": "s1",
        "advice_id": zlib.crc32(group.encode()),
        "group_id": group,
        "verdict": Verdict.SWITCH if switch else Verdict.STAY,
        "strategy": strategy if switch else None,
        "reason": "lag in an hour 120,000 -> 300 offsets" if switch else because((well,)),
        "facts": (gain,) if switch else (well,),
        "how": "set partition.assignment.strategy",
        "seen": 7 if switch else 0,
        "state": state and AdviceState(state),
        "state_since": state and NOW,
        "course": _told(strategy) if switch else _followed(state, strategy),
        "created_at": NOW,
        "live": score(cross_rack_share=0.5),
        "proposed": score(cross_rack_share=0.5, moves=4) if switch else None,
        "live_forecast": forecast(120_000),
        "forecast": forecast(300, restarts=6) if switch else None,
        "metrics": group_metrics(group),
        "running": {"live": False, "range": True, "sticky": False, "fair": False},
    }
    return ScoredAdvice(**row | more)


def _followed(state: str | None, strategy: str) -> Course | None:
    return course(AdviceState(state), strategy) if state in FOLLOWED else None


def _told(strategy: str) -> Course:
    """How far an advice has come that is told."""
    since = NOW - timedelta(minutes=30)
    claim = Claim(strategy=strategy, since=since, evidence=20, snapshots=7)
    return Course(at=NOW, state=AdviceState.CONFIRMED, since=NOW, claims=(claim,))


def course(state: AdviceState, strategy: str) -> Course:
    """How far an advice has come that was taken up an hour ago."""
    at = NOW - timedelta(hours=1)
    promise = AdvicePromise(
        after_seconds=3600, measure="lag", unit="offsets", low=0.0, expected=300.0, high=900.0
    )
    uptake = Uptake(
        strategy=strategy,
        first_at=at,
        at=at,
        assignment="new",
        diagnosis=Diagnosis.SKEWED_LOAD,
        ran=("range",),
        came_from="old",
        promises=(promise,) if state is AdviceState.ADOPTED else (),
        outcome_at=None if state is AdviceState.ADOPTED else NOW,
    )
    return Course(at=NOW, state=state, since=NOW, uptakes=(uptake,))


def check(actual: float | None, **known: Any) -> AdviceCheck:
    """What came of the promise of an advice that was taken up an hour ago."""
    row = {
        "after_seconds": 3600,
        "measure": "lag",
        "unit": "offsets",
        "low": 0.0,
        "expected": 300.0,
        "high": 900.0,
        "strategy": "sticky",
        "adopted_at": NOW - timedelta(hours=1),
        "actual": actual,
    }
    return AdviceCheck(**row | known)


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
        "unknown_lag_partitions": 0,
        "diagnosis": Diagnosis.SKEWED_LOAD,
        "diagnosis_reason": "c-0 gets 720 records/s and does 600 records/s",
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
    measured = {name: empty(schema) for name, schema in METRICS.items()}
    groups = [replace(each.metrics, **keys) for each in given if each.metrics]
    measured["group_metrics"] = table_of(GroupMetrics, groups)
    history.store_metrics(snapshot_id, measured)
    candidates = [replace(row, **keys) for each in given for row in _candidates(each)]
    history.store_candidates(snapshot_id, table_of(CandidateRow, candidates))
    if advised:
        history.store_advice(
            snapshot_id,
            [
                AdviceRow(
                    **{spec.name: getattr(each, spec.name) for spec in columns_of(AdviceColumns)}
                    | keys
                    | {
                        "created_at": at,
                        "moves": tuple((moves or {}).get(each.group_id, ())),
                        "checks": each.checks,
                    }
                )
                for each in given
            ],
        )
    return snapshot_id


def _candidates(given: ScoredAdvice) -> list[CandidateRow]:
    """The candidates of a group, as far as its advice speaks of them."""
    scores = {"live": given.live} | ({given.strategy: given.proposed} if given.strategy else {})
    forecasts = {"live": given.live_forecast, given.strategy: given.forecast}
    return [
        CandidateRow(
            **KEYS,
            snapshot_id=given.snapshot_id,
            group_id=given.group_id,
            strategy=strategy,
            position=position,
            deployment=Deployment.LIVE if strategy == "live" else Deployment.SETTING,
            feasibility=Feasibility.AVAILABLE,
            reason="it can",
            is_running=given.running.get(strategy),
            score=scores.get(strategy),
            forecast=forecasts.get(strategy),
        )
        for position, strategy in enumerate({**scores, **given.running})
    ]


def refusal(channel: str = "#kafka") -> NotDelivered:
    """What a notifier raises when Slack refuses."""
    return NotDelivered(f"Slack refused {channel}: channel_not_found.", fix="Invite the bot.")
