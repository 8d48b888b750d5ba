"""What validation found: kept in the lake and the history, and asked for by the steps that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.errors import SnapshotNotFound
from evenkeel.engine.ports import Lake, ResultHistory, SnapshotHistory
from evenkeel.engine.records import ValidationRow, records_of

STEP_OF_STAGE = {"snapshot": "validation", "candidates": "candidate_validation"}
"""Under which step a validation stage lies in the lake; its one dataset has the same name."""


class ValidationHistory(SnapshotHistory, ResultHistory, Protocol):
    """Where a verdict is noted: with the snapshot, and with what was found in it."""


def record_validation(
    lake: Lake, history: ValidationHistory | None, snapshot_id: str, stage: str, results: pa.Table
) -> str | None:
    """
    Keep what a validation stage found; the stage `candidates` then lets the candidates that passed into the history.

    The stage `snapshot` comes first for every snapshot, so it also notes the snapshot itself, from its manifest: a
    history that was down when the snapshot was taken catches up here.

    Returns:
        Why the whole snapshot is rejected, None when it is not. A rejection is a verdict, not a failure.
    """
    step = STEP_OF_STAGE[stage]
    lake.write(step, snapshot_id, {step: results}, {})
    rejected = rejection(results)
    if history is None:
        return rejected
    if stage == "snapshot":
        history.store_snapshot(lake.manifest("snapshot", snapshot_id))
    history.store_validation(snapshot_id, stage, records_of(ValidationRow, results))
    if stage == "candidates":
        failed = pa.array(list(_failed(results)), pa.string())
        candidates = lake.read("candidates", [snapshot_id])
        passed = candidates.filter(pc.invert(pc.is_in(candidates["group_id"], value_set=failed)))
        if not rejected:
            history.store_candidates(snapshot_id, passed)
    return rejected


def rejection(results: pa.Table) -> str | None:
    """Why a whole snapshot is rejected: its critical failures that concern no single group."""
    reasons = [
        row.reason or row.expectation
        for row in records_of(ValidationRow, results)
        if row.group_id is None and row.withholds
    ]
    return "; ".join(reasons) or None


def withheld_groups(lake: Lake, snapshot_id: str, stage: str = "snapshot") -> Mapping[str, str]:
    """
    Which groups a validation stage withholds, and why.

    Empty when the stage has not run: the command line's plain form validates nothing.
    """
    results = _results(lake, snapshot_id, stage)
    return {} if results is None else _failed(results)


def distrusted(lake: Lake, snapshot_ids: Iterable[str]) -> frozenset[tuple[str, str]]:
    """(snapshot id, group) pairs that validation withheld: they are nobody's past either."""
    return frozenset((one, group) for one in snapshot_ids for group in withheld_groups(lake, one))


def rejected_as_a_whole(lake: Lake, snapshot_id: str, stage: str) -> str | None:
    """Why a validation stage rejected a whole snapshot; None when it did not, or has not run."""
    results = _results(lake, snapshot_id, stage)
    return None if results is None else rejection(results)


def _results(lake: Lake, snapshot_id: str, stage: str) -> pa.Table | None:
    """What a stage found, None when it has not run."""
    try:
        return lake.read(STEP_OF_STAGE[stage], [snapshot_id])
    except SnapshotNotFound:
        return None


def _failed(results: pa.Table) -> dict[str, str]:
    reasons: dict[str, list[str]] = {}
    for row in records_of(ValidationRow, results):
        if row.group_id is not None and row.withholds:
            reasons.setdefault(row.group_id, []).append(row.reason or row.expectation)
    return {group: "; ".join(why) for group, why in reasons.items()}
