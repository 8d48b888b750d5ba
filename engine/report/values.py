"""Contents of a report as frozen values; None is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..model import states
from ..model.assignments import Move, Verdict
from ..model.states import Diagnosis
from ..records import ReadinessRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    Metrics of a group in a snapshot.

    Attributes:
        lag: Lag of the group in offsets.
        delay_seconds: Time behind, beyond the commit interval.
        time_lag_seconds: Age of its oldest unconsumed record.
    """

    lag: int | None = None
    delay_seconds: float | None = None
    time_lag_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastBand:
    """
    A lag forecast of a group (offsets) with its assignment at that time, and the actual value.

    *came*, the actual value, is None if the assignment changed, the lag was unknown, or no snapshot was taken at that
    time.
    """

    made_at: datetime
    due: datetime
    low: float
    expected: float
    high: float
    came: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event of a group: the opening or end of an incident, or an advice."""

    at: datetime
    kind: str
    title: str
    severity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalanced:
    """
    The rebalances of a group between two snapshots.

    Attributes:
        at: Time of the later snapshot.
        rebalances: Their number, at least.
        members: Members that joined, left or restarted.
        moved: Number of reassigned partitions; None during a rebalance.
        partition_seconds: How long its partitions paused, in sum; *estimated* from heartbeats.
        delayed_records: Records that arrived meanwhile; None if unknown.
    """

    at: datetime
    cause: str
    rebalances: int
    members: str
    moved: int | None
    partition_seconds: float
    delayed_records: float | None
    estimated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLoad:
    """
    A member and its load, now and after the advised switch.

    The figures after the switch are None without one.

    Attributes:
        utilization: Incoming rate divided by capacity; above 1 the member falls behind.
        at_most: Whether the utilization is an upper bound, because only a lower bound of the capacity is known.
        not_committing: Whether it has lag but no longer commits.
    """

    name: str
    rack: str | None
    utilization: float | None
    at_most: bool
    not_committing: bool | None
    lag: int | None
    partitions: int
    partitions_after: int | None = None
    lag_after: int | None = None
    gets: int | None = None
    gives: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyScore:
    """
    The score of a strategy; *lag* is the forecast for one hour.

    Attributes:
        feasible: Whether the group can use it; otherwise only *reason* is known.
    """

    name: str
    got_by: str
    feasible: bool
    running: bool | None
    reason: str
    lag_low: float | None = None
    lag_expected: float | None = None
    lag_high: float | None = None
    largest_member_lag: int | None = None
    partition_spread: int | None = None
    cross_rack_share: float | None = None
    moves: int | None = None
    restarts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RackCounts:
    """
    Number of partitions by rack of members and rack of leaders.

    A rack of None is unknown.

    Attributes:
        members: Racks of members, one per row.
        leaders: Racks of leaders, one per column.
        counts: Partitions, row by row.
        local: (row) number of partitions that are read within the rack of the members; None if unknown.
    """

    members: tuple[str | None, ...]
    leaders: tuple[str | None, ...]
    counts: tuple[tuple[int, ...], ...]
    local: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceGiven:
    """
    An advice, and how to deploy it; *moves* have short names of members.

    *best_undeployable* is the best strategy that cannot be deployed, with its gain.
    """

    verdict: Verdict
    strategy: str | None
    reason: str
    how: str | None
    state: str | None
    state_since: datetime | None
    best_undeployable: str | None = None
    best_undeployable_reason: str | None = None
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReport:
    """
    The report of a group.

    Attributes:
        group_id: Id of the group, any text.
        gone_since: Time of the last snapshot with the group, if the newest one doesn't have it.
        diagnosed_at: Start of its diagnosis; *at_least* if the first snapshot already shows it.
        standings: Metrics by snapshot, aligned with `FleetReport.taken_at`; None if it was not there.
        open_incident: Description of its open incident, if there is one.
        pauses: How long the restarts of a switch stop it.
    """

    group_id: str
    kind: str
    diagnosis: Diagnosis
    owner: str | None = None
    state: str | None = None
    strategy: str | None = None
    reason: str | None = None
    diagnosed_at: datetime | None = None
    at_least: bool = False
    now: Standing = Standing()
    members: int | None = None
    partitions: int | None = None
    gone_since: datetime | None = None
    error: str | None = None
    findings: tuple[str, ...] = ()
    open_incident: str | None = None
    standings: tuple[Standing | None, ...] = ()
    forecasts: tuple[ForecastBand, ...] = ()
    happenings: tuple[Happening, ...] = ()
    rebalances: tuple[Rebalanced, ...] = ()
    loads: tuple[MemberLoad, ...] = ()
    racks: RackCounts | None = None
    strategies: tuple[StrategyScore, ...] = ()
    pauses: str | None = None
    advice: AdviceGiven | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotHealth:
    """
    The health of a snapshot: read errors, validation and progress.

    Attributes:
        state: Progress, as in the view `snapshot_health`.
        failed_steps: Number of failed step runs.
        seconds_to_advice: Seconds from its start to its advice.
    """

    taken_at: datetime
    seconds: float | None
    groups: int | None
    problems: int
    withheld: int
    rejected: str | None
    state: str | None = None
    failed_steps: int | None = None
    seconds_to_advice: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseKept:
    """
    Forecast accuracy of an adopted strategy.

    Attributes:
        measure: lag, delay_seconds, utilization (of the busiest member) or cross_rack_share.
        unit: Unit of its values: offsets, s, ratio or share.
        checks: Number of due forecasts.
        known: Number of those with an actual value, which the figures below use.
        error: Median of the actual value minus p50, in that unit.
        inside_share: Share of the actual values between p10 and p90.
        no_worse_share: Share of the actual values not worse than p90.
        muted_until: End of the mute of the strategy for the group; None if it is not muted.
        came: Median of the actual value.
        if_stayed: Median of the value without the switch, replayed with the same arrivals.
        saved_offset_seconds: Lag that the switches have saved by then, their cost included.
    """

    group_id: str
    strategy: str
    measure: str
    after_seconds: int
    unit: str
    checks: int
    known: int
    error: float | None
    inside_share: float | None
    no_worse_share: float | None
    adopted_at: datetime
    muted_until: datetime | None
    came: float | None = None
    if_stayed: float | None = None
    saved_offset_seconds: float | None = None


def came_as_forecast(scorecard: Sequence[PromiseKept]) -> tuple[int, float, float]:
    """Number of checked forecasts, and the shares within p10-p90 and not worse than p90."""
    known = sum(one.known for one in scorecard)
    inside = sum((one.inside_share or 0) * one.known for one in scorecard)
    no_worse = sum((one.no_worse_share or 0) * one.known for one in scorecard)
    return known, inside / (known or 1), no_worse / (known or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStep:
    """A failed step of the pipeline: number of failures, time and error of the last one."""

    step: str
    failures: int
    last_failed_at: datetime
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """A group skipped by validation at a stage, with reason, number of snapshots and last time."""

    group_id: str
    stage: str
    reason: str | None
    snapshots: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWithoutRack:
    """
    A group after the loss of a rack with its brokers and members, with its current strategy.

    Attributes:
        in_tasks: Whether it is a Kafka Streams application: its members are instances, and tasks move.
        members: Number of members now; *left* is the number of remaining ones.
        moves: Number of reassigned partitions or tasks.
        busiest: Utilization of the busiest member.
        arrives: Largest incoming rate of a member, in offsets/s.
        lag: Lag in one hour in offsets, p50.
        now: Current diagnosis.
        then: Diagnosis without the rack, with its *reason*.
        offline: Number of partitions, including changelogs, without an in-sync replica and therefore without a leader.
        stores_lost: Number of tasks whose stores have no remaining copy; None if it is not an application.
        restore_offsets, restore_bytes: Data that its instances have to restore.
    """

    group_id: str
    in_tasks: bool
    members: int
    left: int
    moves: int
    busiest: float | None
    arrives: float | None
    lag: float | None
    now: Diagnosis
    then: Diagnosis | None
    reason: str | None
    offline: int
    stores_lost: int | None = None
    restore_offsets: int | None = None
    restore_bytes: int | None = None

    @property
    def loses(self) -> bool:
        """Whether partitions or stores are lost."""
        return bool(self.offline or self.stores_lost)

    @property
    def in_trouble(self) -> bool:
        """Whether it would lose something or be unhealthy, as far as known."""
        return self.loses or self.then not in (None, Diagnosis.HEALTHY, Diagnosis.CATCHING_UP)

    @property
    def is_changed(self) -> bool:
        """Whether anything would change."""
        same = (self.then or Diagnosis.UNKNOWN) is self.now
        return self.loses or not (same and self.left == self.members and not self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Groups that cannot be simulated, by reason."""

    reason: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RackRehearsal:
    """
    The loss of a rack.

    Attributes:
        members: Number of members and instances in it, of simulated groups.
        groups: Groups that would be unhealthy or unknown, worst first.
        keep_up: Number of groups that would be healthy or catching up.
        unchanged: Number of groups without a change.
        ended: Groups with all members in the rack.
        left_out: Groups that cannot be simulated without this rack.
    """

    rack: str
    members: int
    groups: tuple[GroupWithoutRack, ...]
    keep_up: int
    unchanged: int
    ended: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """
    The loss of each rack of a cluster, for the groups of its newest snapshot.

    Attributes:
        racks: Simulated racks, those of brokers first.
        more_racks: Number of omitted racks without a broker.
        groups: Number of groups.
        left_out: Groups that cannot be simulated for any rack.
    """

    racks: tuple[RackRehearsal, ...]
    more_racks: int
    groups: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolReadiness:
    """
    The move of groups to the consumer protocol (KIP-848).

    Attributes:
        groups: Groups in the order in which they should move.
        brokers: What the settings of the brokers say for all groups.
    """

    groups: tuple[ReadinessRow, ...]
    brokers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReport:
    """
    The groups of a cluster over a period.

    Attributes:
        made_at: Creation time of the report, to show the age of the data.
        origin: Source of the report.
        taken_at: Times of the snapshots, oldest first.
        groups: Groups, worst first.
        held: By seconds ahead: number of forecasts whose band contained the actual value, and number of checked ones.
        not_known: Sentences about values that the source doesn't have.
        scorecard: Forecast accuracy of adopted advice.
        failures: Failed steps; None if unknown.
        withheld: Groups skipped by validation, newest first.
        pipeline: Incidents of the pipeline; None if unknown.
        rehearsal: The loss of each rack; None if not requested.
        readiness: The move to the consumer protocol; None if unknown.
    """

    cluster: str
    made_at: datetime
    origin: str
    taken_at: tuple[datetime, ...]
    groups: tuple[GroupReport, ...]
    snapshots: tuple[SnapshotHealth, ...]
    held: Mapping[float, tuple[int, int]]
    not_known: tuple[str, ...] = ()
    scorecard: tuple[PromiseKept, ...] = ()
    failures: tuple[FailedStep, ...] | None = None
    withheld: tuple[Withheld, ...] = ()
    pipeline: tuple[Happening, ...] | None = None
    rehearsal: Rehearsal | None = None
    readiness: ProtocolReadiness | None = None


def worst_first(group: GroupReport) -> tuple[object, ...]:
    """A sort key of groups: open incident, diagnosis, time behind, lag, name."""
    return (
        group.gone_since is not None,
        group.open_incident is None,
        *states.worst_first(group.diagnosis, group.now.delay_seconds, group.now.lag),
        group.group_id,
    )
