"""Everything the metrics say of a batch of groups, worked out once for whoever needs it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..model.arrays import NONE, Column, Flags, Floats
from ..model.batch import GroupBatch, count_by, sum_by
from ..model.facts import Fact, finding
from ..model.labels import Labels
from ..model.states import GroupType, LagBasis, Status
from ..records.forecast_course import ForecastCourse
from ..records.pause_course import PauseCourse
from .balance import member_counts
from .capacity import NEWEST, Capacity, capacities
from .commit_interval import CommitInterval, commit_intervals, delay
from .diagnosis import Diagnosed, Evidence, diagnose
from .diagnosis.evidence import RECENT
from .history import Rate, TimeLag, deviation, rate, time_lag
from .lag import Lag, OffsetReset, measure_lag
from .ownership import fingerprints
from .past import Past, owners_before
from .pauses import after
from .racks import RecordSize, record_size
from .rebalance_causes import RebalanceCauses, evidence
from .rebalances import Idle, Rebalances
from .restarts import Restarts
from .restores import restores
from .retention import evicted, time_to_loss
from .samples import Samples, silent_members
from .status import WINDOW, statuses
from .subscriptions import unequal_subscriptions
from .transactions import held_back
from .unassigned import unassigned

NO_OFFSET_RESET = "no_offset_reset"
"""The finding that a lag is unknown because nothing is committed and `auto_offset_reset` is not configured."""


OBJECTIVE = 60.0
"""Seconds that a group may be behind beyond its commit interval, where its rule does not say."""

ASSUMED_INTERVAL = 3600.0
"""Seconds between two commits that a group may have that has not shown any: some commit once an hour."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """
    What the configuration knows of the groups of a batch.

    Attributes:
        auto_offset_reset: (G) a group's own setting, None when not configured.
        capacity_per_second: (G) capacity of a member, nan when not configured.
        bytes_per_record: (G) size of a record, nan when not configured.
        objective: (G) seconds that a group may be behind beyond its commit interval.
        commit_interval: (G) seconds between two commits, nan when not configured.
        learned_interval: (G) the same as learned after the preceding snapshot, nan when nothing was.
        learned_pauses: (G) how long what stops it lasted, as observed by then; None without observations.
        loss_within: (G) seconds: retention that would reach unread records sooner is a loss ahead.
        forecasts: (G) the state of its forecasts after the preceding snapshot; None without earlier forecasts.
    """

    auto_offset_reset: Sequence[str | None]
    capacity_per_second: Floats
    bytes_per_record: Floats
    objective: Floats
    commit_interval: Floats
    learned_interval: Floats
    learned_pauses: Sequence[PauseCourse | None]
    loss_within: Floats
    forecasts: Sequence[ForecastCourse | None]

    @classmethod
    def nothing(cls, groups: int) -> Known:
        """Nothing is configured."""
        unknown = np.full(groups, np.nan)
        return cls(
            auto_offset_reset=[None] * groups,
            capacity_per_second=unknown,
            bytes_per_record=unknown,
            objective=np.full(groups, OBJECTIVE),
            commit_interval=unknown,
            learned_interval=unknown,
            learned_pauses=[None] * groups,
            loss_within=unknown,
            forecasts=[None] * groups,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Observation:
    """
    Groups and what their numbers say; arrays follow the batch's partition table or its members, nan is unknown.

    Attributes:
        counted: (n) partitions inside the totals: existing ones of subscribed topics; all existing ones where no member
            (or no subscription) is known. Members of a rebalancing group tell no subscription: then what they were
            last known to subscribe to counts.
        subscribed_topics: (G) the topics that decide *counted*, by name; none where no subscription is known.
        capacity: (M) what each member can consume; of a share group the first has what all can together.
        commit_interval: (G) seconds from one commit to the next, nan unknown.
        samples: Offsets, times and owners now and before.
        delays: (S, n) seconds by which each is behind beyond the commit interval at each sample, nan unknown.
        evidence: What the diagnoses follow from.
        diagnoses: (G) what is the matter with each group.
        past: The earlier snapshots.
        lags: Now and before, newest first, (n) the lags as people see them.
        known: What the configuration knows of the groups.
        rebalances: Those that members brought who came or went.
        causes: Why groups rebalanced.
    """

    batch: GroupBatch
    counted: Flags
    subscribed_topics: tuple[frozenset[str], ...]
    lag: Lag
    production: Rate
    consumption: Rate
    time_lag: TimeLag
    time_to_loss: Floats
    capacity: Capacity
    commit_interval: Floats
    samples: Samples
    delays: Floats
    evidence: Evidence
    diagnoses: list[Diagnosed]
    past: Past
    lags: Sequence[Column]
    known: Known
    rebalances: Rebalances
    causes: RebalanceCauses

    @property
    def delay(self) -> Floats:
        """(n) seconds by which each partition is behind now, beyond the commit interval; nan unknown."""
        newest: Floats = self.delays[0]
        return newest

    @cached_property
    def behind_by(self) -> Floats:
        """(n) the same; of a group that has no members or rebalances all of its time lag, as no commit is awaited."""
        nobody = self.batch.members.counts == 0
        alone = (nobody | self.batch.rebalancing)[self.batch.group]
        return np.where(alone, self.samples.age[0], self.delay)

    # what only metrics keep is worked out when it is asked for: whoever just judges groups has no use for it

    @cached_property
    def production_deviation(self) -> Floats:
        """(n) how much what arrives varies (`history.deviation`)."""
        return deviation(self.batch.partitions, self.past, "end", "end_at_ms")

    @cached_property
    def consumption_deviation(self) -> Floats:
        """(n) how much what is consumed varies."""
        return deviation(self.batch.partitions, self.past, "committed", "committed_at_ms")

    @cached_property
    def statuses(self) -> Labels[Status]:
        """(n) the status of each partition."""
        table, past = self.batch.partitions, self.past
        before = [past.column("committed", sample) for sample in range(past.samples)]
        moving = [self.batch.rebalancing, *past.flags("rebalancing")]
        return statuses(
            self.samples.owner[0] != NONE,
            self.lags,
            [table.committed, *before],
            rebalancing=[flags[self.batch.group] for flags in moving[:WINDOW]],
            late=self.evidence.behind[0],
            in_doubt=self.evidence.in_doubt,
        )

    @cached_property
    def sizes(self) -> RecordSize:
        """(n) how large a record is."""
        sizes = self.known.bytes_per_record[self.batch.group]
        return record_size(self.batch.partitions, sizes)

    @cached_property
    def pauses(self) -> tuple[PauseCourse | None, ...]:
        """(G) how long what stops a group lasted, as observed by now; None without observations."""
        seen, known = self.rebalances, [*self.known.learned_pauses]
        interesting = seen.changed.any(axis=0) | seen.rebalancing.any(axis=0)
        # members of a share group do not stop for one another
        interesting &= ~self.batch.shared
        for group in np.flatnonzero(interesting).tolist():
            speed = self.capacity.saturated
            idle = Idle.of(seen, self.samples, self.evidence.behind, speed, group)
            away = Restarts(
                rebalances=seen,
                samples=self.samples,
                idle=idle,
                apart=float(self.commit_interval[group]),
                group=group,
            )
            known[group] = after(
                known[group], rebalances=seen.pauses(group, idle), restarts=away.spans()
            )
        streams = self.batch.flags(lambda header: header.type is GroupType.STREAMS)
        for group in np.flatnonzero(streams).tolist():
            known[group] = after(known[group], restores=restores(self.past, group))
        return tuple(known)

    @cached_property
    def findings(self) -> tuple[tuple[Fact, ...], ...]:
        """(G) what is odd, each with its numbers."""
        return _findings(self.past, self.lag, self.counted, self.causes)

    @cached_property
    def assignments(self) -> list[str | None]:
        """(G) the fingerprint of each assignment (`ownership`)."""
        return fingerprints(self.batch)

    @cached_property
    def still(self) -> Flags:
        """(n) partitions that are behind, while their commit stands still."""
        behind: Flags = self.counted & (self.delay > 0)
        return behind & self.samples.stands

    @cached_property
    def silent(self) -> Flags:
        """(M) members of whom one of these stands still, and none they own goes on."""
        owner = np.where(self.counted, self.batch.partitions.owner, NONE).astype(np.int32)
        return silent_members(self.still, self.samples.goes_on, owner, len(self.batch.members))


def observe(batch: GroupBatch, earlier: Sequence[GroupBatch], known: Known) -> Observation:
    """
    Args:
        batch: The groups as they are.
        earlier: Earlier snapshots of them, newest first; of a group those in which it could not be read are passed
            over.
        known: What the configuration knows of each.
    """
    table, past = batch.partitions, Past(batch, earlier)
    reset = OffsetReset.of_groups(known.auto_offset_reset, batch.group)
    lag = measure_lag(table, reset)
    earlier_ones = range(past.samples)
    lags = [
        lag.for_people,
        *(measure_lag(past.offsets(sample), reset).for_people for sample in earlier_ones),
    ]
    production = rate(table, past, "end", "end_at_ms")
    consumption = rate(table, past, "committed", "committed_at_ms")
    log_start = _by_retention(batch, rate(table, past, "begin", "begin_at_ms"))
    age = time_lag(table, past, production)
    subscribed_topics = _last_subscriptions(past)
    counted = _counted(batch, subscribed_topics)
    samples = Samples.of(past, lags, owners_before(past))
    interval = commit_intervals(
        samples, counted, batch.start, known.commit_interval, known.learned_interval
    )
    delays = delay(samples, interval, batch.group, ASSUMED_INTERVAL)
    behind = delays > known.objective[batch.group]
    rebalances = Rebalances.of(past)
    causes = RebalanceCauses(rebalances, samples)
    capacity = _capacity(samples, behind, interval, rebalances, known)
    evidence = Evidence(
        batch=batch,
        samples=samples,
        counted=counted,
        lag=lag.for_people.floats(),
        lost=lag.lost.floats(),
        delays=delays,
        behind=behind,
        arrivals=samples.arrivals(NEWEST),
        capacity=capacity,
        interval=interval.of_group,
        objective=known.objective,
        time_to_loss=time_to_loss(table, log_start, consumption, production, age),
        loss_within=known.loss_within,
        evicted=evicted(samples, behind, RECENT),
        causes=causes,
        held_back=held_back(past, samples, _patience(interval, known)[batch.group]),
        unassigned=unassigned(past, samples),
    )
    return Observation(
        batch=batch,
        counted=counted,
        subscribed_topics=subscribed_topics,
        lag=lag,
        production=production,
        consumption=consumption,
        time_lag=age,
        time_to_loss=evidence.time_to_loss,
        capacity=capacity,
        commit_interval=interval.of_group,
        samples=samples,
        delays=delays,
        evidence=evidence,
        diagnoses=diagnose(evidence),
        past=past,
        lags=lags,
        known=known,
        rebalances=rebalances,
        causes=causes,
    )


def _patience(interval: CommitInterval, known: Known) -> Floats:
    """(G) seconds after which what a group has not committed is late."""
    between = interval.of_group
    return known.objective + np.where(np.isnan(between), ASSUMED_INTERVAL, between)


def _capacity(
    samples: Samples,
    behind: Flags,
    interval: CommitInterval,
    rebalances: Rebalances,
    known: Known,
) -> Capacity:
    batch = rebalances.past.now
    shortest = np.nanmin(samples.seconds, axis=0, initial=np.inf)
    configured = known.capacity_per_second * np.where(batch.shared, batch.members.counts, 1)
    return capacities(
        samples,
        behind,
        interval.of_group[batch.group] > shortest,
        rebalances.number[:, batch.members.group] > 0,
        configured[batch.members.group],
        batch.members.start,
    )


def _by_retention(batch: GroupBatch, log_start: Rate) -> Rate:
    """
    How fast retention moves the log starts: not at all where the group does so itself.

    A Kafka Streams application removes what it has read from its repartition topics, which keep the rest for ever.
    """
    table = batch.partitions
    own = np.zeros(len(table.topics), np.bool_)
    for number, (group, name) in enumerate(
        zip(batch.topic_group.tolist(), table.topics, strict=True)
    ):
        if name.endswith("-repartition"):
            header = batch.headers[group]
            own[number] = header.places_tasks and name.startswith(f"{header.group}-")
    speeds = np.where(own[table.topic], 0.0, log_start.per_second)
    return replace(log_start, per_second=speeds)


def _last_subscriptions(past: Past) -> tuple[frozenset[str], ...]:
    """(G) what members subscribe to; while they rebalance and tell nothing, what they last did."""
    return tuple(
        topics
        if topics or not (members and header.rebalancing)
        else _last_subscription(past, number)
        for number, (header, topics, members) in enumerate(
            zip(past.now.headers, past.now.topics, past.now.members.counts.tolist(), strict=True)
        )
    )


def _last_subscription(past: Past, group: int) -> frozenset[str]:
    with_members = itertools.takewhile(
        lambda at: at[0].members.counts[at[1]], past.snapshots_of(group)
    )
    return next(
        (old.topics[number] for old, number in with_members if old.topics[number]), frozenset()
    )


def _counted(batch: GroupBatch, subscribed_topics: Sequence[frozenset[str]]) -> Flags:
    table = batch.partitions
    subscribe = np.array([bool(topics) for topics in batch.topics], np.bool_)
    counted = np.where(subscribe[batch.group], table.assignable, table.exists)
    for group, topics in enumerate(subscribed_topics):
        if topics and not subscribe[group]:
            rows = batch.rows(group)
            last = np.array([name in topics for name in table.topics], np.bool_)[table.topic[rows]]
            last &= table.exists[rows]
            counted[rows] = last if bool(last.any()) else table.exists[rows]
    return counted


def _findings(
    past: Past, lag: Lag, counted: Flags, causes: RebalanceCauses
) -> tuple[tuple[Fact, ...], ...]:
    batch = past.now
    findings: list[list[Fact]] = [[] for _ in batch.headers]
    owned = member_counts(batch.partitions.owner, len(batch.members))
    idle = count_by(owned == 0, batch.members.start).tolist()
    partitions = count_by(counted, batch.start).tolist()
    for group, header in enumerate(batch.headers):
        if header.rebalancing:
            findings[group].append(finding("rebalancing", [header.state]))
        elif batch.topics[group] and idle[group] and not header.shares_partitions:
            known = {"bound": int(batch.members.counts[group]), "partitions": partitions[group]}
            findings[group].append(finding("idle_members", after=idle[group], **known))
    for group, caused in causes.newest.items():
        findings[group] += evidence(caused)
    for group, fact in itertools.chain(
        unequal_subscriptions(past), _of_offsets(batch, lag, counted)
    ):
        findings[group].append(fact)
    return tuple(tuple(facts) for facts in findings)


def _of_offsets(batch: GroupBatch, lag: Lag, counted: Flags) -> Iterator[tuple[int, Fact]]:
    """The group and the finding, for whatever is odd about offsets."""
    table = batch.partitions

    def about(measure: str, rows: Flags, names: bool = False) -> Iterator[tuple[int, Fact]]:
        counts = count_by(rows, batch.start)
        for group in np.flatnonzero(counts).tolist():
            own = batch.rows(group)
            chosen = table.topic[own][rows[own]].tolist() if names else []
            topics = sorted({table.topics[topic] for topic in chosen})
            yield group, finding(measure, topics, partitions=int(counts[group]))

    lost = lag.lost.known & (lag.lost.values > 0)
    gone = sum_by(np.where(lost, lag.lost.values, 0), batch.start).tolist()
    squeezed = table.compacted & counted & lag.for_people.known & (lag.for_people.values > 0)
    subscribe = np.array([bool(topics) for topics in batch.topics], np.bool_)[batch.group]
    stray = subscribe & table.exists & ~table.subscribed & table.committed.known
    for group, fact in about("lost_records", lost):
        yield group, replace(fact, after=gone[group])
    yield from about("commits_beyond_end", lag.basis.equal(LagBasis.BEYOND_END))
    yield from about(NO_OFFSET_RESET, lag.basis.equal(LagBasis.NO_COMMIT) & counted)
    yield from about("compacted_lag", squeezed, names=True)
    yield from about("commits_of_no_partition", ~table.exists & table.committed.known, names=True)
    yield from about("unsubscribed_commits", stray)
