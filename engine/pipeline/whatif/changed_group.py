"""A group after changes, measured as far as what is known of it now goes: its snapshot, its metrics, its diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...config import Settings
from ...messages.wording import member_names
from ...metrics.forecast import UNCERTAIN, Load
from ...metrics.observe import Observation
from ...model.arrays import NONE, Column, Floats, Indices, ragged_entries
from ...model.facts import Fact
from ...model.groups import GroupSnapshot, Member, PartitionTable
from ...model.states import Diagnosis, GroupType
from ...snapshots.groups_with_past import BatchWithPast
from ..measure import observed_of
from ..stored_metrics import Measured, MeasuredGroup, measured_at_once
from .changes import Change, Layout, layout
from .condition import Condition, median_peer, newcomer


@dataclass(frozen=True, kw_only=True, eq=False)
class SeenGroup:
    """
    A group as it is.

    Attributes:
        measured_group: The group and its metrics.
        observation: What the numbers say of the batch it is in.
        number: Its number there.
        diagnosis, facts: What is the matter with it.
        busier: By what the incoming rate is multiplied where members are compared with it.
    """

    measured_group: MeasuredGroup
    observation: Observation
    number: int
    diagnosis: Diagnosis
    facts: tuple[Fact, ...]
    busier: float = 1.0

    @property
    def group(self) -> GroupSnapshot:
        """The group."""
        return self.measured_group.group


def seen_of(
    settings: Settings, groups: BatchWithPast, observation: Observation | None = None
) -> list[SeenGroup]:
    """Some groups as they are, in the order of the batch; their *observation*, where it is known already."""
    observation = observation or observed_of(settings, groups)
    _, measured = measured_at_once(settings, groups, seen=observation)
    return [
        SeenGroup(
            measured_group=one,
            observation=observation,
            number=number,
            diagnosis=observation.diagnoses[number].diagnosis,
            facts=observation.diagnoses[number].facts,
        )
        for number, one in enumerate(measured)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupposedLoad:
    """
    What a member has or would have.

    Attributes:
        partitions: How many.
        per_second: Offsets/s that arrive there; None unknown.
        utilization: Their share of what it is known to do at most; None unknown.
    """

    partitions: int
    per_second: float | None
    utilization: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Supposed:
    """
    A group as it would be after changes.

    Attributes:
        seen: As it is.
        layout: Its members and partitions.
        group: The group: who stays owns what it owns now.
        measured: What is known of it.
    """

    seen: SeenGroup
    layout: Layout
    group: GroupSnapshot
    measured: Measured

    @property
    def measured_group(self) -> MeasuredGroup:
        """The group and what is known of it."""
        return MeasuredGroup(group=self.group, measured=self.measured, withheld=None)

    @property
    def is_changed(self) -> bool:
        """Whether anything is different from now."""
        return self.group is not self.seen.group

    @cached_property
    def names(self) -> dict[str, str]:
        """Short names by id: of who is there as now, of who joins its id."""
        return member_names(self.seen.group.members) | {one: one for one in self.layout.coming}

    @cached_property
    def condition(self) -> Condition:
        """What would be the matter with it."""
        evidence, number = self.seen.observation.evidence, self.seen.number
        return Condition(
            evidence.of_group(number),
            self.group,
            self.layout,
            [self.names[member.id] for member in self.layout.members],
            self.layout.spread(evidence.arrivals[evidence.batch.rows(number)]) * self.seen.busier,
        )

    def owners(self, owner: Indices) -> Indices:
        """(n) an assignment (P) as owners of all partitions of the table; NONE of those that nobody shares."""
        owners = np.full(len(self.group.partitions), NONE, np.int32)
        owners[self.group.partitions.assignable] = owner
        return owners

    def loads(self, owner: Indices) -> dict[str, SupposedLoad]:
        """
        Member id -> what it would have.

        Args:
            owner: (P) an assignment.
        """
        owners, condition = self.owners(owner), self.condition
        arrives, does = condition.load(owners).tolist(), condition.firm.tolist()
        counts = np.bincount(owners[owners != NONE], minlength=len(arrives)).tolist()
        return {
            member.id: SupposedLoad(
                partitions=count,
                per_second=None if np.isnan(rate) else rate,
                utilization=None if np.isnan(rate) or not most > 0 else rate / most,
            )
            for member, count, rate, most in zip(
                self.layout.members, counts, arrives, does, strict=True
            )
        }

    @cached_property
    def owned_today(self) -> Indices:
        """(P) who owns each partition today, by its number in the group as it is; NONE for nobody."""
        table = self.seen.group.partitions
        is_target = self.group.type is GroupType.CONSUMER
        owner = self.layout.of_rows(table.target_owner if is_target else table.owner, NONE)
        today: Indices = owner[self.group.partitions.assignable]
        return today


def suppose(seen: SeenGroup, changes: Sequence[Change]) -> Supposed:
    """
    A group after changes; without any it is what it is.

    Args:
        seen: The group as it is, measured and not blocked.
        changes: Of members and topics that it has, made in their order.
    """
    group, measured = seen.group, seen.measured_group.measured
    assert measured is not None, "who supposes has looked"
    made = layout(group, changes)
    if not changes:
        return Supposed(seen=seen, layout=made, group=group, measured=measured)
    then = replace(
        group, members=made.members, partitions=_table(made.left.table, made.members, made)
    )
    peer = median_peer(measured.weights, made.was, made.stated)
    of_new = newcomer(median_peer(measured.capacity, made.was, made.stated), peer)
    foreseen = Measured(
        lag=_column(measured.lag, made, 0),
        lag_for_strategies=_column(measured.lag_for_strategies, made, 0),
        production=made.spread(measured.production),
        bytes_per_record=_sizes(measured.bytes_per_record, made),
        capacity=made.able(measured.capacity, of_new),
        weights=made.able(measured.weights, peer),
        live=None,
        load=None if measured.load is None else _load(measured.load, group, then, made, of_new),
        pauses=measured.pauses,
        restores=measured.restores,
    )
    return Supposed(seen=seen, layout=made, group=then, measured=foreseen)


def _table(table: PartitionTable, members: Sequence[Member], made: Layout) -> PartitionTable:
    subscribed = {topic for member in members for topic in member.subscription or ()}
    of_topics = np.array([name in subscribed for name in table.topics], np.bool_)
    # a partition that is new has no replica of which anything is known
    start = np.append(table.replica_start, table.replica_start[-1])
    replica_start, entries = ragged_entries(
        start, np.where(made.rows == NONE, len(table), made.rows)
    )
    target = made.owners(table.target_owner)
    return replace(
        table,
        topic=made.topic,
        partition=made.partition,
        exists=made.of_rows(table.exists, True),
        subscribed=of_topics[made.topic],
        owner=made.owners(table.owner),
        target_owner=target,
        target_turn=np.where(target == NONE, NONE, made.of_rows(table.target_turn, NONE)),
        begin=_column(table.begin, made, 0),
        end=_column(table.end, made, 0),
        committed=_column(table.committed, made, None),
        high_watermark=_column(table.high_watermark, made, 0),
        last_stable=_column(table.last_stable, made, 0),
        log_bytes=_column(table.log_bytes, made, None),
        begin_at_ms=_column(table.begin_at_ms, made, None),
        end_at_ms=_column(table.end_at_ms, made, None),
        committed_at_ms=_column(table.committed_at_ms, made, None),
        commit_unread=made.of_rows(table.commit_unread, False),
        leader_rack=made.of_rows(table.leader_rack, NONE),
        replica_start=replica_start,
        replica_rack=table.replica_rack[entries],
        in_sync=table.in_sync[entries],
    )


def _column(column: Column, made: Layout, new: int | None) -> Column:
    return Column(
        made.of_rows(column.values, new or 0), made.of_rows(column.known, new is not None)
    )


def _sizes(size: Floats, made: Layout) -> Floats:
    """(n) bytes per record: of a new partition the mean of its topic; nan unknown."""
    topics, old = len(made.grown), made.of_rows(size, np.nan)
    known = ~np.isnan(old)
    total = np.bincount(made.topic[known], old[known], minlength=topics)
    count = np.bincount(made.topic[known], minlength=topics)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return np.where(made.rows == NONE, mean[made.topic], old)


def _load(
    load: Load, group: GroupSnapshot, then: GroupSnapshot, made: Layout, of_new: float
) -> Load:
    """What a forecast is made from: lag stays where it is, what arrives is spread anew over a topic that grows."""
    before, after = group.partitions.assignable, then.partitions.assignable

    def every(values: Any, new: Any) -> Any:
        """Values of the partitions that count now as (n) of all there are now."""
        table = np.full(len(before), new, values.dtype)
        table[before] = values
        return table

    return Load(
        arrivals=np.array([made.spread(every(each, 0.0))[after] for each in load.arrivals]).reshape(
            len(load.arrivals), int(after.sum())
        ),
        backlog=made.of_rows(every(load.backlog, 0.0), 0.0)[after],
        capacity=made.able(load.capacity, of_new),
        uncertainty=np.full(len(made.members), UNCERTAIN),
        ages=load.ages,
        correction=load.correction,
        owner=then.partitions.owner[after],
        stuck=(made.of_rows(every(load.stuck, False), False) | made.dead)[after],
        # what is known of members after changes is for `Condition` to say
        seen=None,
    )
