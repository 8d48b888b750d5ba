"""What each metric is: its name, its meaning with the unit, and its samples. What is unknown has no sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from ...model.assignments import AdviceState
from ...model.states import WORST_FIRST
from ...ports import ServedCluster, ServedGroup
from ...ports.served import Band

LABELS = ("cluster", "group")

HORIZONS: Mapping[str, float] = MappingProxyType({"15m": 900.0, "1h": 3600.0})
"""Values of the label `horizon`, and the seconds they stand for."""

PERCENTILES = ("10", "50", "90")
"""Values of the label `percentile`; `quantile` is for summaries."""

OF_GROUP: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "lag_offsets": ("lag", "Lag, in offsets."),
        "behind_seconds": ("delay_seconds", "Time behind beyond the commit interval, in seconds."),
        "time_lag_seconds": (
            "time_lag_seconds",
            "Age of the oldest unconsumed record, in seconds; absent where only a lower limit is known.",
        ),
        "time_lag_at_least_seconds": (
            "time_lag_at_least_seconds",
            "That limit, in seconds: the record is older than snapshots look back.",
        ),
        "incoming_offsets_per_second": ("production_per_second", "Incoming rate, in offsets/s."),
        "processing_offsets_per_second": ("consumption_per_second", "Commit rate, in offsets/s."),
        "capacity_offsets_per_second": (
            "capacity_per_second",
            "Capacity of all members, in offsets/s; absent while that of one is unknown.",
        ),
        "utilization_ratio": (
            "utilization",
            "Incoming rate divided by capacity, of the busiest member; above 1 it falls behind.",
        ),
        "cross_rack_bytes_per_second": (
            "cross_rack_bytes_per_second",
            "Data that members read from other racks, in bytes/s.",
        ),
        "members": ("members", "Number of members."),
        "members_needed": (
            "members_needed",
            "Fewest members that are known to keep up. Of a group that keeps up: those that have partitions; live and "
            "after a day of snapshots, fewer if they would do. Of another group: live by replaying its strategy; from "
            "the history only if it is under-provisioned, by its diagnosis.",
        ),
        "members_useful": (
            "members_useful",
            "Most members of which each has a partition; from the history not under range with several topics, and not "
            "with unequal subscriptions.",
        ),
        "scaling_helps": (
            "scaling_helps",
            "1 if more members are needed and would keep up; 0 if there are enough, or if more would not.",
        ),
        "incidents_open": ("open_incidents", "Number of open incidents; from the history only."),
    }
)
"""Gauges of a group with one sample: what follows `evenkeel_group_`, the attribute, and the help."""

ADVICE = {"pending": AdviceState.PROPOSED, "confirmed": AdviceState.CONFIRMED}


def of_clusters(clusters: Sequence[ServedCluster], most: int) -> Iterator[Metric]:
    """
    All metrics of clusters and of their groups.

    Args:
        clusters: The clusters, each with its groups, worst first.
        most: Maximum number of groups of a cluster.
    """
    shown = [(one.cluster, group) for one in clusters for group in one.groups[:most]]
    yield from _of_groups(shown)
    yield from _forecasts(shown)
    yield from _states(shown)
    yield from _of_each(clusters, most)


def _gauge(
    name: str, help: str, labels: Sequence[str], samples: Iterable[tuple[Sequence[str], object]]
) -> Metric:
    family = GaugeMetricFamily(f"evenkeel_{name}", help, labels=labels)
    for values, number in samples:
        if number is not None:
            family.add_metric(values, float(number))  # type: ignore[arg-type]
    return family


def _of_groups(shown: Sequence[tuple[str, ServedGroup]]) -> Iterator[Metric]:
    for name, (attribute, help) in OF_GROUP.items():
        read = attrgetter(attribute)
        samples = (((cluster, group.group_id), read(group)) for cluster, group in shown)
        yield _gauge(f"group_{name}", help, LABELS, samples)


def _forecasts(shown: Sequence[tuple[str, ServedGroup]]) -> Iterator[Metric]:
    def samples(band: Band, *labels: str) -> Iterator[tuple[Sequence[str], object]]:
        for percentile, number in zip(PERCENTILES, band, strict=True):
            yield (*labels, percentile), number

    yield _gauge(
        "group_forecast_lag_offsets",
        "Forecast of the lag with the current assignment, in offsets.",
        (*LABELS, "horizon", "percentile"),
        (
            sample
            for cluster, group in shown
            for horizon, band in zip(HORIZONS, (group.soon_lag, group.later_lag), strict=True)
            for sample in samples(band, cluster, group.group_id, horizon)
        ),
    )
    yield _gauge(
        "group_caught_up_in_seconds",
        "Forecast of the seconds until no member has a backlog; +Inf if not within one hour.",
        (*LABELS, "percentile"),
        (
            sample
            for cluster, group in shown
            for sample in samples(group.drained, cluster, group.group_id)
        ),
    )


def _states(shown: Sequence[tuple[str, ServedGroup]]) -> Iterator[Metric]:
    labels = (*LABELS, "state")
    yield _gauge(
        "group_diagnosis",
        "1 for the diagnosis of the group, 0 for the others.",
        labels,
        (
            ((cluster, group.group_id, state.measure), group.diagnosis is state)
            for cluster, group in shown
            for state in WORST_FIRST
        ),
    )
    yield _gauge(
        "group_advice",
        "1 if a switch of the strategy is advised: pending until there is enough evidence, then confirmed.",
        labels,
        (
            ((cluster, group.group_id, name), group.advice is state)
            for cluster, group in shown
            for name, state in ADVICE.items()
        ),
    )


def _of_each(clusters: Sequence[ServedCluster], most: int) -> Iterator[Metric]:
    def gauge(name: str, help: str, *numbers: object) -> Metric:
        named = zip(clusters, numbers, strict=True)
        return _gauge(name, help, LABELS[:1], (((one.cluster,), number) for one, number in named))

    yield gauge("groups", "Number of groups.", *(len(one.groups) for one in clusters))
    yield gauge(
        "groups_left_out",
        "Number of groups without samples, because of --max-groups; the least urgent ones.",
        *(max(len(one.groups) - most, 0) for one in clusters),
    )
    yield gauge(
        "snapshot_timestamp_seconds",
        "Start of the newest snapshot, in seconds since the epoch; time() minus this is its age.",
        *(one.taken_at.timestamp() for one in clusters),
    )
    yield gauge(
        "snapshot_duration_seconds",
        "Seconds that reading the cluster took.",
        *(one.snapshot_seconds for one in clusters),
    )
    yield gauge(
        "advice_duration_seconds",
        "Seconds from the start of the newest advised snapshot to its advice.",
        *(one.advice_seconds for one in clusters),
    )
    yield gauge(
        "pipeline_incidents_open",
        "Number of open incidents of the pipeline; from the history only.",
        *(one.pipeline_incidents for one in clusters),
    )
    promises = [one.promises or (None, None) for one in clusters]
    yield gauge(
        "advice_promises_kept_ratio",
        "Share of the checked forecasts of adopted advice whose actual value was not worse than p90; from the history "
        "only.",
        *(kept if checked else None for kept, checked in promises),
    )
    yield gauge(
        "advice_promises_checked",
        "Number of forecasts that this share is of; from the history only.",
        *(checked for _, checked in promises),
    )
    held = [
        (one.cluster, horizon, *one.held.get(seconds, (0, 0)))
        for one in clusters
        for horizon, seconds in HORIZONS.items()
    ]
    yield _gauge(
        "forecast_coverage_ratio",
        "Share of the lag forecasts of the last day whose p10-p90 band contained the actual value; expected 0.8.",
        (LABELS[0], "horizon"),
        (((name, ahead), inside / known if known else None) for name, ahead, inside, known in held),
    )
    yield _gauge(
        "forecasts_checked",
        "Number of lag forecasts that this share is of.",
        (LABELS[0], "horizon"),
        (((name, ahead), known) for name, ahead, _, known in held),
    )


def of_process(errors: int, succeeded: bool | None) -> Iterator[Metric]:
    """
    Metrics of evenkeel itself.

    Args:
        errors: Number of failed looks.
        succeeded: Whether the newest look succeeded; None before the first one ends.
    """
    failed = CounterMetricFamily(
        "evenkeel_snapshot_errors", "Number of snapshots or readings of the history that failed."
    )
    failed.add_metric((), errors)
    yield failed
    yield _gauge(
        "snapshot_success",
        "1 if the newest snapshot succeeded; 0 if it failed, and the values are older.",
        (),
        [((), succeeded)],
    )
