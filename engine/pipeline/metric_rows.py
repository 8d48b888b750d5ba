"""The rows of metrics that follow from what was observed of a batch of groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..advice.rollout import client_of
from ..advice.scoring import Judge
from ..assignors.interface import GroupSpec, part_of, picked, specs_of
from ..config import Rule, Settings
from ..messages.wording import because, each_with_remarks
from ..metrics.balance import member_counts, member_sums
from ..metrics.forecast import Load, course_of, lags, load_of, with_forecast
from ..metrics.observe import Observation
from ..metrics.pauses import pause_of
from ..metrics.racks import Tariff, batch_crossing, known_racks, tariff
from ..metrics.status import worst_by
from ..model.arrays import NONE, Column, Flags, Floats
from ..model.batch import GroupBatch, count_by, max_by, min_by, sum_by
from ..model.columns import parts_of
from ..model.coordinators import ASSIGNMENT_SETTING
from ..model.figures import Figures
from ..model.groups import GroupHeader, GroupSnapshot
from ..model.labels import Labels
from ..model.moments import from_ms
from ..model.pauses import Pause
from ..model.states import CapacityBasis, Diagnosis, GroupType, Status
from ..model.tables import BOOL, INT32, TEXT, Numbers, Series, Table, column
from ..records import GroupMetrics, table_of_columns
from ..records.pause_course import spans_of
from ..snapshots import METRICS
from ..snapshots.arrays import flags_to, floats_to, labels_to, moments_to, named, numbers_to
from ..snapshots.groups_with_past import BatchWithPast
from ..streams.store_copies import copies_now
from .forecast_columns import needs_forecast, past_columns
from .membership_changes import membership_change


class MetricRows:
    """
    The metric rows of the groups of a batch.

    Args:
        settings: The configuration.
        seen: What the numbers say of the groups.
        groups: The groups, with what is known of them from before.
        every: Whether also groups that need no forecast keep what one takes.
    """

    def __init__(
        self,
        settings: Settings,
        seen: Observation,
        groups: BatchWithPast,
        *,
        every: bool = False,
    ) -> None:
        self.settings, self.seen, self.batch, self.every = settings, seen, seen.batch, every
        self.earlier, self.typical = groups.earlier, groups.typical
        withheld = groups.withheld
        self.errors = [header.error or withheld.get(header.group) for header in self.batch.headers]
        """(G) why a group has no numbers."""
        self.sound: Flags = np.array([error is None for error in self.errors], np.bool_)
        self.crossing = batch_crossing(self.batch)

    def of_groups(self) -> Table:
        """One row per group."""
        added = [
            {**self._pauses(group), **self._forecast(group)} for group in range(len(self.batch))
        ]
        known = self._columns
        others = [part.name for part in parts_of(GroupMetrics) if part.name not in known]
        return table_of_columns(
            GroupMetrics, known | {name: [each.get(name) for each in added] for name in others}
        )

    def _pauses(self, group: int) -> dict[str, Any]:
        """How long rebalances and restarts last; of a group without numbers what was known before."""
        if self.errors[group]:
            return {"pause_course": self.seen.known.learned_pauses[group]}
        if self.batch.headers[group].shares_partitions:
            return {"client_library": self._libraries[group]}  # nobody stops there
        rebalance, restart = self.pauses_of(group).values()
        return {
            "rebalance_seconds": rebalance.seconds,
            "rebalance_basis": rebalance.basis,
            "rebalances_observed": rebalance.observed,
            "restart_seconds": restart.seconds,
            "restart_basis": restart.basis,
            "restarts_observed": restart.observed,
            "client_library": self._libraries[group],
            "pause_course": self.seen.pauses[group],
        }

    @cached_property
    def _libraries(self) -> list[str | None]:
        """(G) the one client library of each group's members; None where that is not known."""
        batch, rule = self.batch, self.settings.rule
        return [
            rule(header.cluster, header.group).client
            or _library(header.group, batch.members.client_ids[batch.members_of(group)])
            for group, header in enumerate(batch.headers)
        ]

    def pauses_of(self, group: int) -> dict[str, Pause]:
        """How long rebalances and restarts of a group last, by their names in a policy."""
        header, course = self.batch.headers[group], self.seen.pauses[group]
        policy = self.settings.policy(header.cluster, header.group)
        library, configured = self._libraries[group], policy.model_fields_set
        interval = (
            header.in_force(ASSIGNMENT_SETTING) if header.type is GroupType.CONSUMER else None
        )
        usual = {
            # no new assignment comes before the interval is over
            "rebalance_seconds": max(policy.rebalance_seconds, interval.seconds if interval else 0),
            "restart_seconds": policy.restart_seconds,
        }
        return {
            key: pause_of(
                [] if course is None else spans_of(getattr(course, name)),
                configured=getattr(policy, key) if key in configured else None,
                peers=peers.get((header.type.value, library or "")),
                usual=usual[key],
            )
            for name, key, peers in (
                ("rebalances", "rebalance_seconds", self.typical.rebalance),
                ("restarts", "restart_seconds", self.typical.restart),
            )
        }

    def _forecast(self, group: int) -> dict[str, Any]:
        """What forecasts need, the state of earlier ones included."""
        wrong, load = self.errors[group], self.loads.get(group)
        course = self.seen.known.forecasts[group] if wrong else course_of(self.seen, group)
        if load is None:
            return {} if course is None else {"forecast_course": course}
        at, assignment = self.batch.headers[group].taken_at, self._columns["assignment"][group]
        return {
            "commit_ages_seconds": tuple(load.ages.tolist()),
            "forecast_course": with_forecast(course, at, assignment, self._lags[group]),
        }

    @cached_property
    def _lags(self) -> Mapping[int, Floats]:
        """(T, 3) the lag that is forecast of each group with a load if it keeps its assignment."""
        return dict(zip(self.loads, lags([*self.loads.values()]), strict=True))

    @cached_property
    def numbers(self) -> Mapping[str, list[Any]]:
        """Columns of `GroupMetrics` that reductions give, each with one entry per group."""
        return _numbers_of(self.seen)

    @cached_property
    def live(self) -> Mapping[int, Figures]:
        """Figures of the assignment that each group has now, by number; of none where there is none to judge."""
        batch, partitions = self.batch, self.numbers["partitions"]
        judged = [group for group in np.flatnonzero(self.judged).tolist() if partitions[group]]
        if not judged:
            return {}
        judge = self._judge(judged)
        found = dict(zip(judged, judge.all_figures(judge.group.owner), strict=True))
        for group in judged:
            header = batch.headers[group]
            if header.places_tasks:
                streams = self.settings.rule(header.cluster, header.group).streams
                if (now := copies_now(batch.groups[group], streams)) is not None:
                    found[group] = now[1].scored(found[group])
        return found

    def _judge(self, groups: Sequence[int]) -> Judge:
        """Who scores the assignments of some groups of the batch."""
        seen, batch, table = self.seen, self.batch, self.batch.partitions
        rates, capacity = seen.production.per_second, seen.capacity.sure
        whole = specs_of(batch, seen.lag.for_people, rates, capacity=capacity)
        spec, headers = picked(whole, groups), [batch.headers[group] for group in groups]
        kept = table.assignable & np.isin(batch.group, groups)
        return Judge(
            group=spec,
            capacity=spec.capacity,
            in_sync=table.in_sync[kept.repeat(np.diff(table.replica_start))],
            each=[
                Judge(
                    group=part_of(whole, group),
                    capacity=capacity[batch.members_of(group)],
                    tariff=_tariff(
                        header,
                        self.settings.rule(header.cluster, header.group),
                        seen.sizes.bytes[batch.rows(group)],
                        rates[batch.rows(group)],
                        table.assignable[batch.rows(group)],
                    ),
                )
                for group, header in zip(groups, headers, strict=True)
            ],
        )

    @cached_property
    def judged(self) -> Flags:
        """(G) which groups have an assignment that can be judged."""
        subscribe = np.array([bool(topics) for topics in self.batch.topics], np.bool_)
        return self.sound & subscribe & ~self.batch.rebalancing & ~self.batch.shared

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        """(G) fields of `GroupMetrics`, but for those that pauses and forecasts add."""
        seen, batch, sound = self.seen, self.batch, self.sound.tolist()
        headers, subscribe = batch.headers, [bool(topics) for topics in batch.topics]
        judged, some = self.judged.tolist(), list(map(bool, self.numbers["partitions"]))
        only = {
            **dict.fromkeys(("idle_members", "unowned_partitions"), judged),
            "unsubscribed_partitions": subscribe,
            "total_lag": some,  # none to look at is no lag of 0: they may be hidden
        }
        numbers = {
            name: _where(_where(values, only.get(name, sound)), sound)
            for name, values in self.numbers.items()
        }
        told = [each.facts if own else () for each, own in zip(seen.diagnoses, sound, strict=True)]
        odd = [each if own else () for each, own in zip(seen.findings, sound, strict=True)]
        rules = [self.settings.rule(header.cluster, header.group) for header in headers]
        return {
            "snapshot_id": [header.snapshot_id for header in headers],
            "cluster": [header.cluster for header in headers],
            "group_id": [header.group for header in headers],
            "config_version": [self.settings.version] * len(headers),
            "group_type": [header.type for header in headers],
            "state": [header.state for header in headers],
            "assignor": [header.assignor for header in headers],
            **numbers,
            "status": [one or Status.UNKNOWN for one in numbers["status"]],
            "members": _where(batch.members.counts.tolist(), batch.readable.tolist()),
            "findings": list(map(each_with_remarks, odd)),
            "facts": [(*first, *more) for first, more in zip(told, odd, strict=True)],
            "diagnosis": [
                each.diagnosis if own else Diagnosis.UNKNOWN
                for each, own in zip(seen.diagnoses, sound, strict=True)
            ],
            "diagnosis_reason": [
                error or (because(facts) if facts else None) or None
                for error, facts in zip(self.errors, told, strict=True)
            ],
            "assignment": _where(seen.assignments, judged),
            "subscribed_topics": [
                (tuple(sorted(topics)) or None) if own else None
                for topics, own in zip(seen.subscribed_topics, sound, strict=True)
            ],
            "live": [self.live.get(group) for group in range(len(headers))],
            "change": [
                membership_change(batch, group, self.earlier, rule) if sound[group] else None
                for group, rule in enumerate(rules)
            ],
            "error": self.errors,
        }

    @cached_property
    def loads(self) -> Mapping[int, Load]:
        """What a forecast is made from, by the number of each group that needs one and has a past."""
        policies = (self.settings.policy(each.cluster, each.group) for each in self.batch.headers)
        of = (self._columns[name] for name in ("diagnosis", "live", "production_per_second"))
        needy = (
            group
            for group, (policy, diagnosis, live, arrives) in enumerate(
                zip(policies, *of, strict=True)
            )
            if live is not None and (self.every or needs_forecast(diagnosis, live, arrives, policy))
        )
        found = ((group, load_of(self.seen, group)) for group in needy)
        return {group: load for group, load in found if load is not None}

    def of_members(self) -> Table:
        """
        One row per member; none of a group that rebalances, that is withheld or that could not be read.

        What of its partitions a member of a share group does is not known: others have them, too.
        """
        batch, seen, members = self.batch, self.seen, self.batch.members
        shared: Flags = members.shares != NONE
        lag = member_sums(batch.partitions.owner, len(members), seen.lag.for_people)
        owner, count = batch.partitions.owner, len(members)
        crossed = member_counts(np.where(self.crossing.crosses, owner, NONE), count)
        load, does, able = (
            np.where(shared, np.nan, each)
            for each in (
                _of_members(seen.production.per_second, batch),
                _of_members(seen.consumption.per_second, batch),
                seen.capacity.per_second,
            )
        )
        basis = Labels.choose(
            CapacityBasis, [shared], [CapacityBasis.UNKNOWN], seen.capacity.basis.codes
        )
        placed = known_racks(batch) != NONE
        columns = {
            "member_id": column(members.ids, TEXT),
            "identity": column(members.identities, TEXT),
            "client_id": column(members.client_ids, TEXT),
            "client_host": column(members.hosts, TEXT),
            "instance_id": column(members.instance_ids, TEXT),
            "rack": column(members.racks, TEXT),
            "rack_source": column(members.rack_sources, TEXT),
            "partitions": Numbers(
                np.where(shared, members.shares, member_counts(owner, count)), INT32
            ),
            "lag": numbers_to(Column(lag.values, lag.known & ~shared)),
            "production_per_second": floats_to(load),
            "consumption_per_second": floats_to(does),
            "capacity_per_second": floats_to(able),
            "capacity_basis": labels_to(basis),
            # nan where either is unknown
            "utilization": floats_to(
                np.where(able > 0, load / np.where(able > 0, able, 1), np.nan)
            ),
            "not_committing": Numbers(seen.silent, BOOL, ~shared),
            "cross_rack_partitions": numbers_to(Column(crossed, placed & ~shared), INT32),
        }
        kept = self.sound & ~self.batch.rebalancing
        return self._table("member_metrics", columns, members.group, kept)

    def of_partitions(self) -> Table:
        """One row per partition; none of a group that is withheld or that could not be read."""
        batch, seen, table = self.batch, self.seen, self.batch.partitions
        subscription_unknown = count_by(~batch.members.subscription_known, batch.members.start) > 0
        columns = {
            "topic": named(table.topic, table.topics),
            "topic_id": named(table.topic, table.topic_ids),
            "partition": Numbers(table.partition, INT32),
            # unknown where a member does not tell what it subscribes to (it rebalances)
            "subscribed": flags_to(
                table.subscribed, table.subscribed | ~subscription_unknown[batch.group]
            ),
            "begin_offset": numbers_to(table.begin),
            "end_offset": numbers_to(table.end),
            "committed_offset": numbers_to(table.committed),
            "lag": numbers_to(seen.lag.for_people),
            "lag_basis": labels_to(seen.lag.basis),
            "lost_records": numbers_to(seen.lag.lost),
            "production_per_second": floats_to(seen.production.per_second),
            "consumption_per_second": floats_to(seen.consumption.per_second),
            "time_lag_seconds": floats_to(seen.time_lag.seconds),
            "time_lag_basis": labels_to(seen.time_lag.basis),
            "time_to_loss_seconds": floats_to(seen.time_to_loss),
            "status": labels_to(seen.statuses),
            "member_id": named(table.owner, batch.members.ids),
            "cross_rack": flags_to(self.crossing.crosses, self.crossing.known),
            "committed_at": moments_to(table.committed_at_ms),
            "end_at": moments_to(table.end_at_ms),
            "counted": Numbers(seen.counted, BOOL),
            "lag_for_strategies": numbers_to(seen.lag.for_strategies),
            "production_deviation_per_second": floats_to(seen.production_deviation),
            "consumption_deviation_per_second": floats_to(seen.consumption_deviation),
            "bytes_per_record": floats_to(seen.sizes.bytes),
            "bytes_per_record_basis": labels_to(seen.sizes.basis),
            **past_columns(seen, self.loads),
        }
        return self._table("partition_metrics", columns, batch.group, self.sound)

    def _table(self, name: str, columns: Mapping[str, Series], group: Any, kept: Flags) -> Table:
        """
        Columns below the keys of their groups.

        Args:
            name: Of the dataset.
            columns: All of it but the keys.
            group: (rows) whose each row is.
            kept: (G) the groups that have rows.
        """
        headers, number = self.batch.headers, np.asarray(group, np.int32)
        keys = {
            "snapshot_id": named(number, [header.snapshot_id for header in headers]),
            "cluster": named(number, [header.cluster for header in headers]),
            "group_id": named(number, [header.group for header in headers]),
            "config_version": named(number, [self.settings.version for _ in headers]),
        }
        return Table({**keys, **columns}).cast(METRICS[name]).filter(kept[group])


def _numbers_of(seen: Observation) -> dict[str, list[Any]]:
    """Columns of `GroupMetrics` that reductions give, each with one entry per group."""
    batch, table, counted = seen.batch, seen.batch.partitions, seen.counted
    start, lag, lost = batch.start, seen.lag.for_people, seen.lag.lost
    owned = member_counts(table.owner, len(batch.members))
    unknown, known = count_by(counted & ~lag.known, start), counted & lag.known
    largest = max_by(np.where(known, lag.values, -1), start, -1)
    lost_known = counted & lost.known
    waiting = counted & ~(lag.known & (lag.values <= 0))
    left = np.where(counted, seen.time_to_loss, np.nan)
    least = min_by(np.where(np.isnan(left), np.inf, left), start, np.inf)
    since, never = seen.production.since_ms, np.iinfo(np.int64).max
    first = min_by(np.where(counted & since.known, since.values, never), start, never)
    return {
        "status": worst_by(seen.statuses, counted, start),
        "idle_members": count_by(owned == 0, batch.members.start).tolist(),
        "partitions": count_by(counted, start).tolist(),
        "unowned_partitions": count_by(counted & (table.owner == NONE), start).tolist(),
        "unsubscribed_partitions": count_by(table.exists & ~table.subscribed, start).tolist(),
        "total_lag": Column(sum_by(np.where(known, lag.values, 0), start), unknown == 0).tolist(),
        "unknown_lag_partitions": unknown.tolist(),
        "largest_partition_lag": Column(largest, largest >= 0).tolist(),
        "lost_records": Column(
            sum_by(np.where(lost_known, lost.values, 0), start), count_by(lost_known, start) > 0
        ).tolist(),
        "production_per_second": _sums(seen.production.per_second, counted, start),
        "consumption_per_second": _sums(seen.consumption.per_second, counted, start),
        "time_lag_seconds": _latest(seen.time_lag.seconds, counted, waiting, start),
        "time_to_loss_seconds": _numbers(
            np.where(count_by(~np.isnan(left), start) > 0, least, np.nan)
        ),
        "rates_since": [from_ms(each) for each in Column(first, first != never).tolist()],
        "commit_interval_seconds": _numbers(seen.commit_interval),
        "delay_seconds": _latest(seen.behind_by, counted, waiting, start),
    }


def _where(values: Iterable[Any], known: Sequence[bool]) -> list[Any]:
    """The values that are known, None elsewhere."""
    return [value if own else None for value, own in zip(values, known, strict=True)]


def _latest(seconds: Floats, counted: Flags, waiting: Flags, start: Any) -> list[float | None]:
    """(G) the largest known; None where that is 0 and nobody knows it of a partition that may have records waiting."""
    known = counted & ~np.isnan(seconds)
    latest = max_by(np.where(known, seconds, -np.inf), start, -np.inf)
    doubtful = (latest <= 0) & (count_by(waiting & ~known, start) > 0)
    return _numbers(np.where(doubtful, np.nan, latest))


def _sums(values: Floats, mask: Flags, start: Any) -> list[float | None]:
    """(G) the sum over *mask*; None when one of them is unknown, or there is none."""
    sums = sum_by(np.where(mask, values, 0.0), start)
    return _numbers(np.where(count_by(mask, start) > 0, sums, np.nan))


def _numbers(values: Floats) -> list[float | None]:
    """None where nan or minus infinity."""
    known = np.isnan(values) | np.isneginf(values)
    return [None if k else v for v, k in zip(values.tolist(), known.tolist(), strict=True)]


def _of_members(rates: Floats, batch: GroupBatch) -> Floats:
    """(M) each member's offsets/s: 0 for one without partitions, nan when a rate of its own is unknown."""
    owner = batch.partitions.owner
    owned = owner != NONE
    sums = np.bincount(owner[owned], rates[owned], minlength=len(batch.members))
    return sums.astype(np.float64)


def judge_of(
    group: GroupSnapshot,
    spec: GroupSpec,
    rule: Rule,
    *,
    production: Floats,
    bytes_per_record: Floats,
    capacity: Floats,
    live: Figures | None = None,
) -> Judge:
    """
    Who scores the assignments of a group.

    Args:
        group: The group.
        spec: Its spec, lags as they are shown.
        rule: What the configuration knows of it.
        production: (n) offsets/s produced to each row of its partition table, nan unknown.
        bytes_per_record: (n) the same rows; nan unknown.
        capacity: (M) offsets/s each member can consume, nan unknown.
        live: The figures of what the group has now, where they have been worked out before.
    """
    table, rows = group.partitions, group.partitions.assignable
    # of the replica entries that `spec_of` keeps
    kept = rows.repeat(np.diff(table.replica_start))
    return Judge(
        group=spec,
        capacity=capacity,
        live=live,
        in_sync=table.in_sync[kept],
        tariff=_tariff(group, rule, bytes_per_record, production, rows),
    )


def _library(group: str, client_ids: Sequence[str]) -> str | None:
    """The one client library of some members; None where that is not known."""
    library = client_of(group, client_ids[0]) if client_ids else None
    if library is None or any(client_of(group, one) is not library for one in {*client_ids}):
        return None
    return library.value


def _tariff(
    header: GroupHeader, rule: Rule, bytes_per_record: Floats, production: Floats, rows: Flags
) -> Tariff | None:
    """What the partitions of a group carry; unless it is known who serves reads, what crosses is a guess."""
    if header.follower_fetching is None:
        return None
    return tariff(bytes_per_record, production, rows, rule.price_per_gb, rule.currency)
