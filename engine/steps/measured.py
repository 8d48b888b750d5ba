"""
What `compute_metrics` kept of a group, as the arrays that later steps work with.

Nothing here is observed again: rates, capacity, lag for strategies and the figures of the present assignment are read
from the rows of the newest snapshot, whose past is in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.datasets import METRICS, numbers_of, rows_by_group, rows_to_table
from evenkeel.engine.errors import LakeError
from evenkeel.engine.figures import Figures
from evenkeel.engine.model import Column, Floats, GroupSnapshot
from evenkeel.engine.ports import Lake
from evenkeel.engine.records import GroupMetrics, record_of
from evenkeel.engine.scoring import Judge
from evenkeel.engine.steps.judging import judge_of
from evenkeel.engine.steps.measure import measure_group
from evenkeel.engine.steps.reading import groups_at
from evenkeel.engine.steps.validation import withheld_groups

NOT_MEASURED = "its metrics have not been computed"
"""Why a group cannot be judged that is in the snapshot but not in its metrics."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """
    A group's metrics beside its snapshot; arrays follow the group's partition table, or its members.

    Attributes:
        lag: (n) offsets, as it is shown.
        lag_for_strategies: (n) offsets, as strategies are given it.
        production: (n) offsets/s, nan unknown.
        bytes_per_record: (n) nan unknown.
        capacity: (M) offsets/s of each member, nan unknown.
        live: What the judge said of the present assignment; None where there is none to judge.
    """

    lag: Column
    lag_for_strategies: Column
    production: Floats
    bytes_per_record: Floats
    capacity: Floats
    live: Figures | None


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredGroup:
    """A group, its metrics, and why it is withheld from judgement, if it is; then there are no metrics."""

    group: GroupSnapshot
    measured: Measured | None
    withheld: str | None


def measured_groups(
    lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Iterator[MeasuredGroup]:
    """
    The groups of a snapshot in listing order, each with its metrics.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot, or not its metrics.
        LakeError: The metrics are not those of the snapshot.
    """
    metrics = {name: rows_by_group(lake.read(name, [snapshot_id])) for name in METRICS}
    withheld = withheld_groups(lake, snapshot_id)
    for group in groups_at(lake, settings, snapshot_id, pattern):
        own = {name: rows[group.group] for name, rows in metrics.items() if group.group in rows}
        yield measured_group(group, own, withheld.get(group.group))


def measured_group(
    group: GroupSnapshot, metrics: Mapping[str, pa.Table], withheld: str | None = None
) -> MeasuredGroup:
    """
    Args:
        group: The group.
        metrics: Its rows of the datasets of `compute_metrics`; a dataset without rows of the group may be missing.
        withheld: Why its data cannot be trusted, if so.

    Raises:
        LakeError: The metrics are not those of this snapshot of the group.
    """
    if withheld is None and not len(metrics.get("group_metrics", ())):
        withheld = NOT_MEASURED
    if withheld is not None or group.error is not None:
        return MeasuredGroup(group=group, measured=None, withheld=withheld)
    empty = {name: schema.empty_table() for name, schema in METRICS.items()}
    return MeasuredGroup(
        group=group, measured=_measured(group, empty | dict(metrics)), withheld=None
    )


def measured_at_once(
    settings: Settings,
    group: GroupSnapshot,
    earlier: Sequence[GroupSnapshot],
    withheld: str | None = None,
) -> tuple[dict[str, pa.Table], MeasuredGroup]:
    """
    A group's metrics, and the group beside them, for whoever has no lake in between.

    Args:
        settings, group, earlier, withheld: As for `measure.measure_group`.
    """
    rows = measure_group(settings, group, earlier, withheld)
    tables = {name: rows_to_table(rows[name], schema) for name, schema in METRICS.items()}
    return tables, measured_group(group, tables, withheld)


def _measured(group: GroupSnapshot, metrics: Mapping[str, pa.Table]) -> Measured:
    order = [("topic", "ascending"), ("partition", "ascending")]
    partitions, table = metrics["partition_metrics"].sort_by(order), group.partitions
    same = partitions["topic"].to_pylist() == table.names
    if not same or partitions["partition"].to_pylist() != table.partition.tolist():
        raise LakeError(
            f"the metrics of group {group.group} are not those of snapshot {group.snapshot_id}.",
            fix="Run compute_metrics on that snapshot again.",
        )
    (of_group,) = metrics["group_metrics"].to_pylist()
    members = metrics["member_metrics"]
    capacity = dict(
        zip(members["member_id"].to_pylist(), _floats(members["capacity_per_second"]), strict=True)
    )
    return Measured(
        lag=numbers_of(partitions["lag"]),
        lag_for_strategies=numbers_of(partitions["lag_for_strategies"]),
        production=_floats(partitions["production_per_second"]),
        bytes_per_record=_floats(partitions["bytes_per_record"]),
        capacity=np.array([capacity.get(m.id, np.nan) for m in group.members], np.float64),
        live=record_of(GroupMetrics, of_group).live,
    )


def judge_of_measured(
    group: GroupSnapshot, measured: Measured, shown: GroupSpec, rule: Rule
) -> Judge:
    """Who scores the assignments of a measured group: see `judging.judge_of`."""
    return judge_of(
        group,
        shown,
        rule,
        production=measured.production,
        bytes_per_record=measured.bytes_per_record,
        capacity=measured.capacity,
        live=measured.live,
    )


def _floats(column: Any) -> Floats:
    """nan where null."""
    values: Floats = pc.fill_null(column, np.nan).to_numpy()
    return values
