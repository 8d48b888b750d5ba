"""Everything the metrics say of one group, worked out once for whoever needs it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenkeel.engine.facts import Fact, finding
from evenkeel.engine.metrics.balance import member_counts
from evenkeel.engine.metrics.capacity import seen_capacity
from evenkeel.engine.metrics.history import (
    Rate,
    TimeLag,
    align,
    deviation,
    rate,
    time_lag,
    time_to_loss,
)
from evenkeel.engine.metrics.lag import Lag, measure_lag
from evenkeel.engine.metrics.money import RecordSize, record_size
from evenkeel.engine.metrics.status import statuses
from evenkeel.engine.model import Flags, Floats, GroupSnapshot, LagBasis, Status

NO_OFFSET_RESET = "no_offset_reset"
"""The finding that a lag is unknown because nothing is committed and `auto_offset_reset` is not configured."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Observation:
    """
    A group and what its numbers say; arrays follow the group's partition table, nan is unknown.

    Attributes:
        counted: Partitions inside the totals: existing ones of subscribed topics; all existing ones where no member
            (or no subscription) is known. Members of a rebalancing group tell no subscription: then what they were
            last known to subscribe to counts.
        subscribed_topics: The topics that decide *counted*, by name; none where no subscription is known.
        production_deviation, consumption_deviation: (n) how much the rates vary (`history.deviation`).
        capacity: (M) offsets/s per member; *capacity_basis* `configured`, `seen` or None.
        findings: What is odd, each with its numbers.
    """

    group: GroupSnapshot
    counted: Flags
    subscribed_topics: frozenset[str]
    lag: Lag
    production: Rate
    consumption: Rate
    production_deviation: Floats
    consumption_deviation: Floats
    time_lag: TimeLag
    time_to_loss: Floats
    statuses: list[Status]
    capacity: Floats
    capacity_basis: list[str | None]
    sizes: RecordSize
    findings: tuple[Fact, ...]


def observe(
    group: GroupSnapshot,
    earlier: Sequence[GroupSnapshot],
    *,
    auto_offset_reset: str | None = None,
    capacity_per_second: float | None = None,
    bytes_per_record: float | None = None,
) -> Observation:
    """
    Args:
        group: The group as it is.
        earlier: Its earlier snapshots, newest first; unreadable ones are passed over.
        auto_offset_reset: The group's own setting, None when not configured.
        capacity_per_second: Configured capacity of a member, None when not configured.
        bytes_per_record: Configured size of a record, None when not configured.
    """
    table = group.partitions
    before = [old for old in earlier if old.error is None]
    past = align(table, [old.partitions for old in before])
    lag = measure_lag(table, auto_offset_reset)
    lags = [lag.shown]
    for sample, old in enumerate(before):
        lags.append(past.pick(measure_lag(old.partitions, auto_offset_reset).shown, sample))
    commits = [table.committed, *(past.column("committed", s) for s in range(len(before)))]
    production = rate(table, past, "end", "end_at_ms")
    consumption = rate(table, past, "committed", "committed_at_ms")
    log_start = _by_retention(group, rate(table, past, "begin", "begin_at_ms"))
    age = time_lag(table, past, production)
    subscribed_topics = _last_subscription(group, before)
    counted = _counted(group, subscribed_topics)
    capacity = seen_capacity(group, before, past, lags)
    basis: list[str | None] = [None if np.isnan(c) else "seen" for c in capacity.tolist()]
    if capacity_per_second is not None:
        capacity = np.full(len(group.members), capacity_per_second)
        basis = ["configured"] * len(group.members)
    return Observation(
        group=group,
        counted=counted,
        subscribed_topics=subscribed_topics,
        lag=lag,
        production=production,
        consumption=consumption,
        production_deviation=deviation(table, past, "end", "end_at_ms"),
        consumption_deviation=deviation(table, past, "committed", "committed_at_ms"),
        time_lag=age,
        time_to_loss=time_to_loss(table, log_start, consumption, production, age),
        statuses=statuses(
            table, lags, commits, rebalancing=[one.rebalancing for one in (group, *before)]
        ),
        capacity=capacity,
        capacity_basis=basis,
        sizes=record_size(table, bytes_per_record),
        findings=_findings(group, lag, counted),
    )


def _by_retention(group: GroupSnapshot, log_start: Rate) -> Rate:
    """
    How fast retention moves the log starts: not at all where the group does so itself.

    A Kafka Streams application removes what it has read from its repartition topics, which keep the rest for ever.
    """
    if not group.places_tasks:
        return log_start
    table, prefix = group.partitions, f"{group.group}-"
    own = [name.startswith(prefix) and name.endswith("-repartition") for name in table.topics]
    speeds = np.where(np.array(own, np.bool_)[table.topic], 0.0, log_start.per_second)
    return replace(log_start, per_second=speeds)


def _last_subscription(group: GroupSnapshot, before: Sequence[GroupSnapshot]) -> frozenset[str]:
    """What its members subscribe to; while they rebalance and tell nothing, what they last did."""
    if group.topics or not (group.members and group.rebalancing):
        return group.topics
    with_members = itertools.takewhile(lambda old: old.members, before)
    return next((old.topics for old in with_members if old.topics), frozenset())


def _counted(group: GroupSnapshot, subscribed_topics: frozenset[str]) -> Flags:
    table = group.partitions
    if group.topics:
        return table.assignable
    known = np.array([topic in subscribed_topics for topic in table.topics], np.bool_)[table.topic]
    return table.exists & known if bool((table.exists & known).any()) else table.exists


def _findings(group: GroupSnapshot, lag: Lag, counted: Flags) -> tuple[Fact, ...]:
    return (*_of_members(group, counted), *_of_offsets(group, lag, counted))


def _of_members(group: GroupSnapshot, counted: Flags) -> Iterator[Fact]:
    if group.rebalancing:
        yield finding("rebalancing", [group.state])
    elif group.topics:
        members = len(group.members)
        idle = int((member_counts(group.partitions.owner, members) == 0).sum())
        if idle:
            partitions = int(counted.sum())
            yield finding("idle_members", after=idle, bound=members, partitions=partitions)


def _of_offsets(group: GroupSnapshot, lag: Lag, counted: Flags) -> Iterator[Fact]:
    table = group.partitions

    def about(measure: str, rows: Flags, names: bool = False, **known: float) -> Iterator[Fact]:
        if bool(rows.any()):
            topics = sorted({table.topics[t] for t in table.topic[rows].tolist()}) if names else ()
            yield finding(measure, topics, partitions=int(rows.sum()), **known)

    lost = lag.lost.known & (lag.lost.values > 0)
    squeezed = table.compacted & counted & lag.shown.known & (lag.shown.values > 0)
    stray = table.exists & ~table.subscribed & table.committed.known
    yield from about("lost_records", lost, after=int(lag.lost.values[lost].sum()))
    yield from about("commits_beyond_end", _based(lag, LagBasis.BEYOND_END))
    yield from about(NO_OFFSET_RESET, _based(lag, LagBasis.NO_COMMIT) & counted)
    yield from about("compacted_lag", squeezed, names=True)
    yield from about("commits_of_no_partition", ~table.exists & table.committed.known, names=True)
    if group.topics:
        yield from about("unsubscribed_commits", stray)


def _based(lag: Lag, basis: LagBasis) -> Flags:
    return np.array([each is basis for each in lag.basis], np.bool_)
