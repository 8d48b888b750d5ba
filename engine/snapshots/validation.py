"""What validation found: kept in the lake and the history, and asked for by the steps that follow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from ..model.errors import SnapshotNotFound
from ..model.states import Diagnosis, GroupType, Status
from ..model.tables import Table, concat
from ..ports import Lake, ResultHistory, SnapshotHistory
from ..records import (
    GroupMetrics,
    ValidationRow,
    blank,
    records_of,
    table_of,
)
from . import METRICS

STEP_OF_STAGE = {
    "snapshot": "validation",
    "metrics": "metrics_validation",
    "candidates": "candidate_validation",
}
"""Under which step a validation stage lies in the lake; its one dataset has the same name."""

BEFORE_ADVICE = ("metrics", "candidates")
"""The stages that a group must pass to be advised."""


class ValidationHistory(SnapshotHistory, ResultHistory, Protocol):
    """Where a verdict is noted: with the snapshot, and with what was found in it."""


def record_validation(
    lake: Lake, history: ValidationHistory | None, snapshot_id: str, stage: str, results: Table
) -> str | None:
    """
    Keep what a validation stage found, and let what passed into the history.

    The stage `snapshot` comes first for every snapshot, so it also notes the snapshot itself, from its manifest: a
    history that was down when the snapshot was taken catches up here. After the stage `metrics` the history gets the
    metrics, after `candidates` the candidates, of all groups but those that are withheld.

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
    history.store_validation(snapshot_id, stage, results)
    if stage == "metrics" and not rejected:
        history.store_metrics(snapshot_id, _metrics_that_passed(lake, snapshot_id))
    if stage == "candidates" and not rejected_as_a_whole(lake, snapshot_id, *BEFORE_ADVICE):
        withheld = skipped_groups(lake, snapshot_id, *BEFORE_ADVICE)
        candidates = lake.read("candidates", [snapshot_id])
        history.store_candidates(snapshot_id, _without(candidates, withheld))
    return rejected


def metrics_of(lake: Lake, snapshot_id: str) -> dict[str, Table]:
    """The metrics of a snapshot, of partitions without the lists that only forecasts need."""
    plain = [name for name, kind in METRICS["partition_metrics"].items() if kind.of is None]
    return {
        name: lake.read(name, [snapshot_id], columns=plain if name == "partition_metrics" else None)
        for name in METRICS
    }


def _metrics_that_passed(lake: Lake, snapshot_id: str) -> dict[str, Table]:
    """The metrics of the groups that may be shown; of each other one a row that says why nothing is known of it."""
    measured = metrics_of(lake, snapshot_id)
    withheld = skipped_groups(lake, snapshot_id, "metrics")
    if not withheld:
        return measured
    tables = {name: _without(table, withheld) for name, table in measured.items()}
    columns = ["group_id", "config_version"]
    versions = {
        row["group_id"]: row["config_version"]
        for row in _of(measured["group_metrics"], withheld).select(columns).to_pylist()
    }
    silent = [
        silent_group(group, versions.get(group["group_id"]) or "", withheld[group["group_id"]])
        for group in _of(lake.read("groups", [snapshot_id]), withheld).to_pylist()
    ]
    unknown = table_of(GroupMetrics, silent)
    return tables | {"group_metrics": concat([tables["group_metrics"], unknown])}


def _of(table: Table, groups: Iterable[str]) -> Table:
    return table.filter(table["group_id"].is_in(groups))


def _without(table: Table, groups: Collection[str]) -> Table:
    return table.filter(~table["group_id"].is_in(groups)) if groups else table


def rejection(results: Table) -> str | None:
    """Why a whole snapshot is rejected: its critical failures that concern no single group."""
    return _joined(row for row in _critical(results) if row.group_id is None) or None


def skipped_groups(lake: Lake, snapshot_id: str, *stages: str) -> Mapping[str, str]:
    """
    Which groups validation withholds, and why.

    A stage that has not run withholds nobody: the command line's plain form validates nothing.

    Args:
        lake: Where the verdicts are.
        snapshot_id: Of which snapshot.
        stages: At which stages; without them at that of the snapshot.
    """
    found: dict[str, list[ValidationRow]] = {}
    for row in _failures(lake, snapshot_id, *(stages or ("snapshot",))):
        if row.group_id is not None:
            found.setdefault(row.group_id, []).append(row)
    return {group: _joined(failures) for group, failures in found.items()}


def distrusted(lake: Lake, snapshot_ids: Iterable[str]) -> frozenset[tuple[str, str]]:
    """(snapshot id, group) pairs that validation withheld: they are nobody's past either."""
    return frozenset((one, group) for one in snapshot_ids for group in skipped_groups(lake, one))


def rejected_as_a_whole(lake: Lake, snapshot_id: str, *stages: str) -> str | None:
    """Why one of these stages rejected a whole snapshot; None when none did, or has run."""
    whole = (row for row in _failures(lake, snapshot_id, *stages) if row.group_id is None)
    return _joined(whole) or None


def _failures(lake: Lake, snapshot_id: str, *stages: str) -> list[ValidationRow]:
    """The critical failures of some stages; one that has not run found none."""
    found: list[ValidationRow] = []
    for stage in stages:
        with suppress(SnapshotNotFound):
            found += _critical(lake.read(STEP_OF_STAGE[stage], [snapshot_id]))
    return found


def _critical(results: Table) -> list[ValidationRow]:
    """The failures that withhold something; what else there is of a fleet's results does not become a record."""
    failed = results.filter(~results["success"].values & results["success"].known)
    return [row for row in records_of(ValidationRow, failed) if row.withholds]


def _joined(failures: Iterable[ValidationRow]) -> str:
    return "; ".join(row.reason or row.expectation for row in failures)


def silent_row(error: str, **known: Any) -> GroupMetrics:
    """
    Every number unknown.

    Args:
        error: Why.
        known: The columns that say which group it is, and what else is known of it.
    """
    return blank(
        GroupMetrics,
        **known,
        status=Status.UNKNOWN,
        diagnosis=Diagnosis.UNKNOWN,
        diagnosis_reason=error,
        error=error,
        findings=(),
        facts=(),
    )


def silent_group(group: Mapping[str, Any], config_version: str, error: str) -> GroupMetrics:
    """The same by what its row in the dataset `groups` says of it."""
    return silent_row(
        error,
        snapshot_id=group["snapshot_id"],
        cluster=group["cluster"],
        group_id=group["group_id"],
        config_version=config_version,
        group_type=GroupType(group["group_type"]),
        state=group["state"] or "",
        assignor=group["assignor"],
    )
