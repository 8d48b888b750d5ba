"""What a report shows, as frozen values; None is unknown everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ..model import states
from ..model.assignments import Move, Verdict
from ..model.states import Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    How a group stood in one snapshot.

    Attributes:
        lag: Offsets, over all its partitions.
        delay_seconds: How far it is behind beyond its commit interval.
        time_lag_seconds: Age of its oldest record not yet consumed.
    """

    lag: int | None = None
    delay_seconds: float | None = None
    time_lag_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastBand:
    """
    A forecast of a group's lag (offsets) under the assignment it had, and what came.

    *came* is None where the assignment changed, the lag was unknown, or no snapshot was taken about then.
    """

    made_at: datetime
    due: datetime
    low: float
    expected: float
    high: float
    came: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What was told of a group, or would have been: an incident that opened or ended, an advice that was given."""

    at: datetime
    kind: str
    title: str
    severity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLoad:
    """
    A member and its share of the work, now and after the advised switch.

    The three figures *after* are None where nothing is advised.

    Attributes:
        utilisation: What arrives at it over what it can consume: above 1 it falls behind.
        at_most: Whether only the least that it can consume is known, so that it may be less busy than that.
        silent: Whether it commits nothing any more though it is behind.
    """

    name: str
    rack: str | None
    utilisation: float | None
    at_most: bool
    silent: bool | None
    lag: int | None
    partitions: int
    partitions_after: int | None = None
    lag_after: int | None = None
    gets: int | None = None
    gives: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyScore:
    """
    What a strategy would give a group; *lag* is that in an hour.

    Attributes:
        feasible: Whether it can be replayed on the group; else *reason* says why not, and nothing else is known.
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
    How many partitions the members of each rack own, by the rack of their leader.

    A rack that is None is unknown.

    Attributes:
        members: The racks of members, one a row.
        leaders: The racks of leaders, one a column.
        counts: Partitions, row by row.
        local: (row) how many of them are read within the members' rack; None where that is unknown.
    """

    members: tuple[str | None, ...]
    leaders: tuple[str | None, ...]
    counts: tuple[tuple[int, ...], ...]
    local: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceGiven:
    """
    What a group is told, and how to follow it; *moves* are by the short names of members.

    *best_undeployable* names the best strategy that cannot be deployed, with what it would gain.
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
    All about a group.

    Attributes:
        group_id: What it is called; it may be anything.
        gone_since: When it was there last, where the newest snapshot does not have it.
        diagnosed_at: Since when its diagnosis holds; *at_least* where that was so at the first look.
        standings: By snapshot, aligned with `FleetReport.taken_at`; None where it was not there.
        open_incident: What is wrong with it and told, if something is.
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
    loads: tuple[MemberLoad, ...] = ()
    racks: RackCounts | None = None
    strategies: tuple[StrategyScore, ...] = ()
    advice: AdviceGiven | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotHealth:
    """
    How a snapshot was taken: what of it could not be read, and whether validation let it pass.

    Attributes:
        state: How far the steps after it came, in the words of the view `snapshot_health`.
        failed_steps: How many runs of these failed.
        seconds_to_advice: From its beginning to its advice.
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
    What a group was promised of a strategy, held against what came after it had taken it up.

    Attributes:
        measure: lag, delay_seconds, utilisation (of the busiest member) or cross_rack_share.
        unit: What its values count: offsets, s, ratio or share.
        checks: How often it came due.
        known: Of how many of those it is known what came; the figures below are of these.
        error: Median of what came less what was expected, in that unit.
        inside_share: Share of those that came to lie between low and high.
        no_worse_share: Share of those that were no worse than high.
        muted_until: Until when the strategy is not advised to the group; None: it is not muted.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStep:
    """A step of the pipeline that failed: how often, when last, and what it said then."""

    step: str
    failures: int
    last_failed_at: datetime
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """A group that validation withheld at a stage, for a reason: from how many snapshots, and when last."""

    group_id: str
    stage: str
    reason: str | None
    snapshots: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWithoutRack:
    """
    A group once a rack is lost with its brokers and with the members in it, by the strategy that the group runs.

    Attributes:
        in_tasks: Whether it is a Kafka Streams application: its members are instances, and tasks move.
        members: How many there are now; *left* of them stay.
        moves: Partitions or tasks that change members.
        busiest: Load of the busiest member over what it can do at most.
        arrives: Offsets/s that arrive at the member that gets most.
        lag: Offsets in an hour, as expected.
        now: Its diagnosis.
        then: The diagnosis without the rack; *reason* is what that follows from.
        offline: Partitions, those of changelogs included, that have no replica in sync left, and so no leader.
        stores_lost: Tasks of whose stores no instance that stays has a copy; None: it is no application.
        restore_offsets, restore_bytes: What its instances have to restore.
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
        """Whether it is known that it would lose something, or would not keep up."""
        return self.loses or self.then not in (None, Diagnosis.HEALTHY, Diagnosis.CATCHING_UP)

    @property
    def is_changed(self) -> bool:
        """Whether anything would be different from now."""
        same = (self.then or Diagnosis.UNKNOWN) is self.now
        return self.loses or not (same and self.left == self.members and not self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Groups that cannot be rehearsed for the same reason."""

    reason: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RackRehearsal:
    """
    The end of a rack.

    Attributes:
        members: How many members and instances are in it, of groups that can be rehearsed.
        groups: Those that would be in trouble, or of which that is unknown; the worst first.
        keep_up: How many would keep up or catch up.
        unchanged: How many have nothing there, or nothing but the trouble that they have now.
        ended: Those that have all their members there.
        left_out: Those that cannot be rehearsed without this rack.
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
    The end of each rack of a cluster, of the groups of its newest snapshot.

    Attributes:
        racks: Those of brokers first.
        more_racks: How many others there are, named by members alone.
        groups: How many groups there are.
        left_out: Those that cannot be rehearsed, whatever the rack.
    """

    racks: tuple[RackRehearsal, ...]
    more_racks: int
    groups: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReport:
    """
    A cluster's groups over some time.

    Attributes:
        made_at: When the report was made, so that a reader sees how old the data is.
        origin: What it was made from.
        taken_at: When each snapshot was taken that is looked at, oldest first.
        groups: Worst first.
        held: Of the forecasts so far ahead (seconds) that came due: (how many held what came, how many came due).
        not_known: What cannot be known from there, in sentences.
        scorecard: How advice kept what it promised.
        failures: Which steps failed; None: not known.
        withheld: What validation withheld, the newest first.
        pipeline: What was wrong with the pipeline; None: not known.
        rehearsal: The end of each rack; None: nobody asked.
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


def worst_first(group: GroupReport) -> tuple[object, ...]:
    """
    A key to sort groups by: those with an open incident, then by diagnosis, delay and lag; names decide the rest.
    """
    return (
        group.gone_since is not None,
        group.open_incident is None,
        *states.worst_first(group.diagnosis, group.now.delay_seconds, group.now.lag),
        group.group_id,
    )
