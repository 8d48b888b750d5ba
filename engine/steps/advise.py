"""The step that decides: candidates, metrics and what was said before -> advice for every group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from evenkeel.engine.advice import decide
from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import split_snapshot_id
from evenkeel.engine.facts import Fact
from evenkeel.engine.model import Advice, Diagnosis, Move, Verdict, utc_now
from evenkeel.engine.ports import AdviceHistory, Lake, PreviousAdvice
from evenkeel.engine.records import AdviceRow, record_of
from evenkeel.engine.steps.candidate_rows import candidate_of
from evenkeel.engine.steps.scored import NEEDED, scored
from evenkeel.engine.steps.validation import BEFORE_ADVICE, rejected_as_a_whole, withheld_groups
from evenkeel.engine.wording import because, how


def advise(
    lake: Lake, history: AdviceHistory, settings: Settings, snapshot_id: str
) -> list[AdviceRow]:
    """
    Decide for every group of a snapshot and keep it. Advice that is already there stays as it is.

    Advice is stored for all groups of a snapshot or for none: after a run by hand for some of them, on a snapshot
    that has no candidates of the others, there is nothing to keep yet.

    Returns:
        The advice rows of this run (those kept earlier if this is a repetition with the same outcome).

    Raises:
        SnapshotNotFound: The candidates or metrics of the snapshot are not in the lake.
    """
    cluster, _ = split_snapshot_id(snapshot_id)
    previous = {one.group_id: one for one in history.previous_advice(snapshot_id)}
    candidates = lake.read("candidates", [snapshot_id], columns=NEEDED)
    decided = _decided(
        candidates,
        lake.read("group_metrics", [snapshot_id]),
        settings,
        cluster,
        previous,
        _withheld(lake, snapshot_id, candidates),
    )
    switching = [one.group for one in decided if one.verdict is Verdict.SWITCH]
    moved = lake.read("candidates", [snapshot_id], groups=switching)
    advice = _to_be_done(decided, moved)
    rows = [advice_row(one, snapshot_id, cluster, settings) for one in advice]
    whole = set(lake.read("groups", [snapshot_id], columns=["group_id"])["group_id"].to_pylist())
    if whole <= {row.group_id for row in rows}:
        history.store_advice(snapshot_id, rows)
    return rows


def _withheld(lake: Lake, snapshot_id: str, candidates: pa.Table) -> Mapping[str, str]:
    """Groups that may not be judged, and why: all of them when metrics or candidates are rejected as a whole."""
    rejected = rejected_as_a_whole(lake, snapshot_id, *BEFORE_ADVICE)
    if rejected is not None:
        return dict.fromkeys(candidates["group_id"].to_pylist(), rejected)
    return withheld_groups(lake, snapshot_id, *BEFORE_ADVICE)


def advise_groups(
    candidates: pa.Table,
    group_metrics: pa.Table,
    settings: Settings,
    cluster: str,
    previous: Mapping[str, PreviousAdvice],
    withheld: Mapping[str, str],
) -> list[Advice]:
    """
    Decide for every group of one snapshot: a pure function of its tables and of what was said before.

    Args:
        candidates: Rows of the dataset `candidates`.
        group_metrics: Rows of the dataset `group_metrics`.
        settings: The configuration.
        cluster: The configured name of the cluster.
        previous: Per group, what the preceding advice preferred.
        withheld: Groups whose candidates failed validation, and why.
    """
    decided = _decided(candidates, group_metrics, settings, cluster, previous, withheld)
    return _to_be_done(decided, candidates)


def _decided(
    candidates: pa.Table,
    group_metrics: pa.Table,
    settings: Settings,
    cluster: str,
    previous: Mapping[str, PreviousAdvice],
    withheld: Mapping[str, str],
) -> list[Advice]:
    """The advice by group, without what is to be done for it."""
    columns = ["group_id", "partitions", "total_lag", "unknown_lag_partitions"]
    columns += ["production_per_second", "facts", "diagnosis"]
    metrics = {row["group_id"]: row for row in group_metrics.select(columns).to_pylist()}
    advice = []
    for group, own in sorted(scored(candidates).items()):
        known = metrics.get(group, {})
        decided = decide(
            group=group,
            candidates=own,
            partitions=known.get("partitions") or 0,
            lag=known.get("total_lag"),
            arrives_per_second=known.get("production_per_second"),
            unknown_lag=known.get("unknown_lag_partitions"),
            findings=[record_of(Fact, fact) for fact in known.get("facts") or ()],
            diagnosis=_diagnosis(known),
            policy=settings.policy(cluster, group),
            previous=previous.get(group),
            withheld=withheld.get(group),
        )
        advice.append(decided)
    return advice


def _diagnosis(metrics: Mapping[str, Any]) -> Diagnosis | None:
    """What is the matter with a group by its row; None where that was not asked yet."""
    return Diagnosis(metrics["diagnosis"]) if metrics.get("diagnosis") else None


def _to_be_done(advice: Sequence[Advice], candidates: pa.Table) -> list[Advice]:
    """The advice with what its groups' owners have to do, and what changes hands: of those that are to switch."""
    switching = {one.group: one.strategy for one in advice if one.verdict is Verdict.SWITCH}
    pairs = zip(*(candidates[name].to_pylist() for name in ("group_id", "strategy")), strict=True)
    chosen = [
        row for row, (group, strategy) in enumerate(pairs) if switching.get(group) == strategy
    ]
    rows = {
        row["group_id"]: row for row in candidates.take(pa.array(chosen, pa.int64())).to_pylist()
    }
    return [
        replace(
            one,
            how=candidate_of(rows[one.group]).how,
            moves=tuple(Move(**move) for move in rows[one.group]["moved"] or ()),
        )
        if one.group in rows
        else one
        for one in advice
    ]


def advice_row(advice: Advice, snapshot_id: str, cluster: str, settings: Settings) -> AdviceRow:
    """An advice as it is kept."""
    return AdviceRow(
        snapshot_id=snapshot_id,
        cluster=cluster,
        group_id=advice.group,
        verdict=advice.verdict,
        strategy=advice.strategy,
        reason=because(advice.facts),
        how=how(advice.how),
        yardstick=advice.yardstick,
        yardstick_reason=because(advice.yardstick_facts) or None,
        seen=advice.seen,
        facts=(*advice.facts, *advice.how),
        yardstick_facts=tuple(advice.yardstick_facts),
        config_version=settings.version,
        created_at=utc_now(),
        moves=tuple(advice.moves),
    )
