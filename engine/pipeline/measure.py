"""The step `compute_metrics`: one row per group, member and partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ..config import IncidentRules, Settings
from ..messages.wording import words
from ..metrics.observe import OBJECTIVE, Known, Observation, observe
from ..model.arrays import Floats
from ..model.batch import GroupBatch
from ..model.facts import reason
from ..model.groups import GroupSnapshot
from ..model.logs import logger
from ..model.tables import Table, concat, empty
from ..ports import Lake
from ..records import GroupMetrics, table_of
from ..snapshots import METRICS
from ..snapshots.chunks import chunks_of, in_halves
from ..snapshots.groups_with_past import (
    BatchWithPast,
    Lookback,
    lookback_of,
    read_with_past,
    with_others,
)
from ..snapshots.learned import Learned
from ..snapshots.validation import silent_group
from .metric_rows import MetricRows
from .rebalance_rows import rebalance_rows

Tables = dict[str, Table]

_log = logger(__name__)


INCIDENTS = IncidentRules()
"""Default rules of incidents."""

See = Callable[[BatchWithPast, Observation], object]
"""Callback with groups, their past and their observations."""


def compute_metrics(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    pattern: str = "*",
    *,
    every: bool = False,
    see: See | None = None,
) -> Tables:
    """
    The metrics of a snapshot in local mode: the tables of `snapshots.METRICS`.

    Args:
        lake: The lake.
        settings: The configuration.
        snapshot_id: The snapshot.
        pattern: Shell pattern of group ids.
        every: Whether groups that need no forecast also store forecast inputs.
        see: Called with the observations of each chunk.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    lookback = lookback_of(lake, settings, snapshot_id)
    measured = [
        measure_chunk(lake, settings, lookback, chunk.groups, every=every, see=see)
        for chunk in chunks_of(lake, snapshot_id, pattern)
    ]
    return {
        name: concat([empty(schema), *(tables[name] for tables in measured)])
        for name, schema in METRICS.items()
    }


def record_metrics(
    lake: Lake, snapshot_id: str, tables: Mapping[str, Table], pattern: str = "*"
) -> None:
    """
    Store metrics in the lake; valid ones go to the history database later (`record_validation`).

    Metrics of a pattern of groups replace only rows of these groups.
    """
    lake.write(
        "metrics", snapshot_id, with_others(lake, snapshot_id, "metrics", tables, pattern), {}
    )


def observe_group(
    settings: Settings, group: GroupSnapshot, earlier: Sequence[GroupSnapshot]
) -> Observation:
    """The observation of a single group."""
    one = BatchWithPast.of(group, earlier)
    return observe(one.batch, one.earlier, known_of(settings, one.batch))


def known_of(
    settings: Settings, batch: GroupBatch, learned: Mapping[str, Learned] = MappingProxyType({})
) -> Known:
    """
    Known properties of each group of a batch, from the configuration and earlier snapshots.

    Args:
        settings: The configuration.
        batch: The groups.
        learned: What `compute_metrics` learned in the previous snapshot, by group id.
    """
    own = [learned.get(header.group, Learned()) for header in batch.headers]
    rules = [settings.rule(header.cluster, header.group) for header in batch.headers]
    return Known(
        auto_offset_reset=[
            rule.auto_offset_reset or header.offset_reset
            for rule, header in zip(rules, batch.headers, strict=True)
        ],
        capacity_per_second=_configured([rule.capacity_per_second for rule in rules]),
        bytes_per_record=_configured([rule.bytes_per_record for rule in rules]),
        objective=_configured([rule.lag_slo_seconds or OBJECTIVE for rule in rules]),
        commit_interval=_configured([rule.commit_interval_seconds for rule in rules]),
        learned_interval=_configured([each.commit_interval for each in own]),
        learned_pauses=[each.pauses for each in own],
        loss_within=_configured(
            [(rule.incidents or INCIDENTS).loss_within_seconds for rule in rules]
        ),
        forecasts=[each.forecasts for each in own],
    )


def _configured(numbers: Sequence[float | None]) -> Floats:
    return np.array([np.nan if each is None else each for each in numbers], np.float64)


def measure_chunk(
    lake: Lake,
    settings: Settings,
    lookback: Lookback,
    names: Sequence[str],
    *,
    every: bool = False,
    see: See | None = None,
) -> Tables:
    """
    The metric rows of some groups from the lake: the tables of `snapshots.METRICS`, in the order of *names*.

    A group that fails has one group row with the error; others are not affected.
    """

    def measure(some: Sequence[str]) -> tuple[tuple[BatchWithPast, Observation] | None, Tables]:
        groups = read_with_past(lake, settings, lookback, some)
        observed = observed_of(settings, groups)
        return (groups, observed), tables_of(settings, groups, observed, every=every)

    def silent(name: str, problem: Exception) -> tuple[None, Tables]:
        _log.exception("group %s cannot be measured", name)
        why = reason("measuring_failed", quote=f"{type(problem).__name__}: {problem}")
        [header] = lake.read("groups", [lookback.ids[0]], groups=[name]).to_pylist()
        row = silent_group(header, settings.version, words(why))
        none = {name: empty(schema) for name, schema in METRICS.items()}
        return None, none | {"group_metrics": table_of(GroupMetrics, [row])}

    parts = in_halves(names, measure, silent)
    for made_from, _ in parts:
        if see is not None and made_from is not None:
            see(*made_from)
    return {name: concat([tables[name] for _, tables in parts]) for name in METRICS}


def observed_of(settings: Settings, groups: BatchWithPast) -> Observation:
    """The observations of some groups, from their past and known properties."""
    known = known_of(settings, groups.batch, groups.learned)
    return observe(groups.batch, groups.earlier, known)


def tables_of(
    settings: Settings, groups: BatchWithPast, observed: Observation, *, every: bool = False
) -> Tables:
    """
    The metric rows of some groups: the tables of `snapshots.METRICS`, in the order of the batch.

    A group that was skipped by validation, or that could not be read, has one group row with the reason.

    Args:
        settings: The configuration.
        groups: The groups and their past.
        observed: Their observations.
        every: Whether groups that need no forecast also store forecast inputs.
    """
    rows = MetricRows(settings, observed, groups, every=every)
    return {
        "group_metrics": rows.of_groups(),
        "member_metrics": rows.of_members(),
        "partition_metrics": rows.of_partitions(),
        "rebalances": rebalance_rows(settings, observed, rows.sound, rows.pauses_of),
    }
