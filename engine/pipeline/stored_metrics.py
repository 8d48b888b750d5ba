"""
Stored metrics of groups, as arrays for later steps.

Rates, capacity, lag for strategies and figures of the current assignment come from the rows of the newest snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ..advice.scoring import Judge
from ..assignors.interface import GroupSpec, as_read, specs_of, with_lags
from ..config import Policy, Rule, Settings
from ..metrics.forecast import NO_CORRECTION, Load, capacity_of
from ..metrics.observe import Observation
from ..model.arrays import NONE, Column, Flags, Floats, Ints
from ..model.batch import GroupBatch, batch_of, count_by
from ..model.errors import LakeError
from ..model.facts import Fact, reason
from ..model.figures import Figures
from ..model.groups import GroupSnapshot
from ..model.pauses import Pause
from ..model.states import CapacityBasis
from ..model.tables import Table
from ..ports import Lake
from ..records import GroupMetrics, columns_named, fields_of
from ..records.metrics import PAUSES, pauses_in
from ..records.pause_course import PauseSpan, spans_of
from ..snapshots import rows_of_groups
from ..snapshots.arrays import floats_of, ints_of, named, numbers_of, truths_of
from ..snapshots.chunks import chunks_of
from ..snapshots.groups_with_past import BatchWithPast, read_batch
from ..snapshots.validation import skipped_groups
from .forecast_columns import PAST, PastColumns
from .measure import observed_of, tables_of
from .metric_rows import judge_of

NOT_MEASURED = reason("not_measured")
"""Why a group cannot be judged that is in the snapshot but not in its metrics."""

OF_GROUPS = (
    *("live", "commit_ages_seconds", "forecast_course", "pause_course", "error"),
    *chain.from_iterable((name, *others) for name, others in PAUSES.items()),
)
"""The fields of `GroupMetrics` that later steps need."""

NEEDED: Mapping[str, Sequence[str]] = {
    "group_metrics": ["group_id", *columns_named(GroupMetrics, OF_GROUPS)],
    "member_metrics": [
        "group_id",
        "member_id",
        "capacity_per_second",
        "capacity_basis",
        "not_committing",
    ],
    "partition_metrics": [
        "group_id",
        "topic",
        "partition",
        "lag",
        "lag_for_strategies",
        "production_per_second",
        "bytes_per_record",
        *PAST,
    ],
}
"""The columns of metrics that later steps need."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """
    A group's metrics beside its snapshot; arrays follow the group's partition table, or its members.

    Attributes:
        lag: (n) offsets, as it is shown.
        lag_for_strategies: (n) offsets, as strategies are given it.
        production: (n) offsets/s, nan unknown.
        bytes_per_record: (n) nan unknown.
        capacity: (M) offsets/s of each member; nan unknown, and where no more is known than what it kept up with.
        weights: (M) the same, what it kept up with among them; unknown of all where no more is known of any, since
            that says how the group is dealt out, not what its members can do.
        live: What the judge said of the present assignment; None where there is none to judge.
        load: What its forecast is made from, over the partitions that count; None where it needs or can have none.
        pauses: Of each of `PAUSES`; metrics of an earlier version have none.
        restores: For how long threads of a Kafka Streams application restored 1,000,000 records.
    """

    lag: Column
    lag_for_strategies: Column
    production: Floats
    bytes_per_record: Floats
    capacity: Floats
    weights: Floats
    live: Figures | None
    load: Load | None
    pauses: Mapping[str, Pause]
    restores: Sequence[PauseSpan]

    def paused(self, policy: Policy) -> Policy:
        """A policy with the pauses of the group as they were seen, but for those that somebody configured."""
        seen = self.pauses.items()
        return policy.model_copy(
            update={
                name: each.seconds for name, each in seen if name not in policy.model_fields_set
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredBatch:
    """
    Groups of a batch as strategies see them, behind each other.

    Attributes:
        batch: The groups.
        lag, lag_for_strategies, production, bytes_per_record: (n) as in `Measured`.
        weights: (M) as in `Measured`.
    """

    batch: GroupBatch
    lag: Column
    lag_for_strategies: Column
    production: Floats
    bytes_per_record: Floats
    weights: Floats

    @classmethod
    def of(cls, group: GroupSnapshot, measured: Measured) -> MeasuredBatch:
        """A single group."""
        return cls(
            batch=batch_of([group]),
            lag=measured.lag,
            lag_for_strategies=measured.lag_for_strategies,
            production=measured.production,
            bytes_per_record=measured.bytes_per_record,
            weights=measured.weights,
        )

    @cached_property
    def spec(self) -> GroupSpec:
        """The groups with lags as they are shown."""
        return specs_of(
            self.batch,
            self.lag,
            self.production,
            bytes_per_record=self.bytes_per_record,
            capacity=self.weights,
        )

    @cached_property
    def joining(self) -> GroupSpec:
        """The groups as Kafka's strategies see them."""
        lag = self.lag_for_strategies.take(self.batch.partitions.assignable)
        return with_lags(self.spec, lag)

    @cached_property
    def reading(self) -> GroupSpec:
        """The same with the racks that count when they read."""
        return as_read(self.joining)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredGroup:
    """
    A group with its metrics, or with the reason why validation skipped it.

    Attributes:
        group: The group.
        measured: Its metrics.
        withheld: The reason.
        place: Among which groups it was measured, and its number there; None if it is considered alone.
    """

    group: GroupSnapshot
    measured: Measured | None
    withheld: Fact | None
    place: tuple[MeasuredBatch, int] | None = None


def measured_groups(
    lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Iterator[MeasuredGroup]:
    """
    The groups of a snapshot in listing order, each with its metrics.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot or its metrics.
        LakeError: The metrics don't belong to the snapshot.
    """
    withheld = skipped_groups(lake, snapshot_id)
    for chunk in chunks_of(lake, snapshot_id, pattern):
        yield from measured_chunk(lake, settings, snapshot_id, chunk.groups, withheld)


def measured_chunk(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    names: Sequence[str],
    withheld: Mapping[str, str],
) -> list[MeasuredGroup]:
    """
    Some groups of a snapshot in the order of *names*, each with its metrics.

    Args:
        withheld: Why the data of a group cannot be trusted, by group id.

    Raises:
        SnapshotNotFound, LakeError: As for `measured_groups`.
    """
    metrics = {
        name: lake.read(name, [snapshot_id], groups=names, columns=columns)
        for name, columns in NEEDED.items()
    }
    return measured_of(read_batch(lake, settings, snapshot_id, names), metrics, withheld)


def measured_of(
    batch: GroupBatch, metrics: Mapping[str, Table], withheld: Mapping[str, str]
) -> list[MeasuredGroup]:
    """
    Groups of a batch beside their rows of the datasets of `compute_metrics`.

    Args:
        withheld: As for `measured_chunk`.

    Raises:
        LakeError: The metrics are not those of this snapshot of a group.
    """
    names = [header.group for header in batch.headers]
    of_groups = rows_of_groups(metrics["group_metrics"], names)
    of_partitions = rows_of_groups(metrics["partition_metrics"], names)
    partitions, start = of_partitions.rows, of_partitions.start
    numbers, records = _Arrays(partitions), fields_of(GroupMetrics, of_groups.rows, OF_GROUPS)
    capacity, at_least, silent = _of_members(batch, metrics["member_metrics"])
    sure = np.where(at_least, np.nan, capacity)
    nothing_sure = count_by(~np.isnan(sure), batch.members.start) == 0
    weights = np.where(nothing_sure[batch.members.group], np.nan, capacity)
    fits = _fits(batch, partitions, start)
    measured_groups = []
    together = numbers.together(batch, weights) if fits.all() else None
    for number, header in enumerate(batch.headers):
        why = _quoted(withheld.get(header.group))
        first, last = of_groups.start[number : number + 2].tolist()
        if why is None and first == last:
            why = NOT_MEASURED
        row = None if why else records[first]
        if why is None and row is not None and header.error is None:
            why = _quoted(row["error"])
        if why is not None or header.error is not None or row is None:
            measured_groups.append(
                MeasuredGroup(group=batch.groups[number], measured=None, withheld=why)
            )
            continue
        if not fits[number]:
            raise LakeError(
                f"the metrics of group {header.group} don't belong to snapshot {header.snapshot_id}.",
                fix="Run compute_metrics on that snapshot again.",
            )
        rows, course = slice(*start[number : number + 2].tolist()), row["forecast_course"]
        own = batch.members_of(number)
        load = numbers.past.load_of(
            rows,
            batch.owners_of(number),
            capacity_of(capacity[own], at_least[own], silent[own]),
            np.where(silent[own], np.nan, capacity[own]),
            np.array(row["commit_ages_seconds"] or (0.0,), np.float64),
            NO_CORRECTION if course is None else course.correction,
        )
        measured = numbers.of(rows, sure[own], weights[own], row, load)
        measured_groups.append(
            MeasuredGroup(
                group=batch.groups[number],
                measured=measured,
                withheld=None,
                place=None if together is None else (together, number),
            )
        )
    return measured_groups


def _quoted(sentence: str | None) -> Fact | None:
    return None if sentence is None else reason("withheld", quote=sentence)


class _Arrays:
    """The columns of `partition_metrics` that later steps need, of many groups."""

    def __init__(self, partitions: Table) -> None:
        self.lag = numbers_of(partitions["lag"])
        self.lag_for_strategies = numbers_of(partitions["lag_for_strategies"])
        self.production = floats_of(partitions["production_per_second"])
        self.bytes_per_record = floats_of(partitions["bytes_per_record"])
        self.past = PastColumns(partitions)

    def together(self, batch: GroupBatch, weights: Floats) -> MeasuredBatch:
        """All groups, whose rows are those of the batch."""
        return MeasuredBatch(
            batch=batch,
            lag=self.lag,
            lag_for_strategies=self.lag_for_strategies,
            production=self.production,
            bytes_per_record=self.bytes_per_record,
            weights=weights,
        )

    def of(
        self,
        rows: slice,
        sure: Floats,
        weights: Floats,
        group: Mapping[str, Any],
        load: Load | None,
    ) -> Measured:
        """One of the groups."""
        return Measured(
            lag=self.lag.take(rows),
            lag_for_strategies=self.lag_for_strategies.take(rows),
            production=self.production[rows],
            bytes_per_record=self.bytes_per_record[rows],
            capacity=sure,
            weights=weights,
            live=group["live"],
            load=load,
            pauses=pauses_in(group),
            restores=spans_of(getattr(group["pause_course"], "restores", ())),
        )


def _of_members(batch: GroupBatch, members: Table) -> tuple[Floats, Flags, Flags]:
    """(M) offsets/s of each member of the batch, nan unknown; whose are at least so many; who is silent."""
    columns = (members["group_id"], members["member_id"])
    keys = zip(*(column.to_pylist() for column in columns), strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    names = [header.group for header in batch.headers]
    of_members = zip(batch.members.group.tolist(), batch.members.ids, strict=True)
    found = (row_of.get((names[group], member), NONE) for group, member in of_members)
    rows = np.fromiter(found, np.int64, len(batch.members))
    at_least = members["capacity_basis"].equal(CapacityBasis.AT_LEAST.value)
    return (
        np.append(floats_of(members["capacity_per_second"]), np.nan)[rows],
        np.append(at_least, False)[rows],
        np.append(truths_of(members["not_committing"]), False)[rows],
    )


def _fits(batch: GroupBatch, partitions: Table, start: Ints) -> Flags:
    """(G) whether the metric rows of a group are those of its partitions, in their order."""
    same: Flags = np.diff(start) == np.diff(batch.start)
    table = batch.partitions
    kept = np.flatnonzero(same[batch.group]) if len(batch) else np.zeros(0, np.int64)
    mine = np.flatnonzero(np.repeat(same, np.diff(start)))
    expected = named(table.topic[kept], table.topics)
    topics = partitions["topic"].take(mine).index_in(expected.words) == expected.places
    numbers = ints_of(partitions["partition"].take(mine)) == table.partition[kept]
    wrong = ~(topics & expected.known & numbers)
    same[batch.group[kept][wrong]] = False
    return same


def measured_at_once(
    settings: Settings,
    groups: BatchWithPast,
    *,
    seen: Observation | None = None,
    every: bool = True,
) -> tuple[dict[str, Table], list[MeasuredGroup]]:
    """
    The metrics of some groups, and the groups beside them, for whoever has no lake in between.

    Args:
        settings: The configuration.
        groups: The groups and their past.
        seen: What the numbers say of them, where that is known already.
        every: Whether also groups that need no forecast can have one.
    """
    seen = seen or observed_of(settings, groups)
    tables = tables_of(settings, groups, seen, every=every)
    return tables, measured_of(groups.batch, tables, groups.withheld)


def judge_of_measured(
    group: GroupSnapshot, measured: Measured, spec: GroupSpec, rule: Rule
) -> Judge:
    """Who scores the assignments of a measured group: see `judge_of`."""
    return judge_of(
        group,
        spec,
        rule,
        production=measured.production,
        bytes_per_record=measured.bytes_per_record,
        capacity=measured.capacity,
        live=measured.live,
    )
