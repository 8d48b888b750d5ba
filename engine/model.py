"""
The frozen values everything else speaks of: groups as they are, assignments as they could be.

Unknown is None, and inside arrays a mask (`Column.known`); never 0 or -1. The one exception is an *index*
(owner, rack): there `NONE` means "nobody" or "no rack known", because an index is never a measurement.
Times are aware UTC, or milliseconds since the epoch where the name ends in `_ms`. Lag is in offsets.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from evenkeel.engine.columns import Int32, column
from evenkeel.engine.facts import Fact
from evenkeel.engine.figures import Forecast, NextChange, Score

Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

NONE = -1
"""The index that points at nobody."""


class Column:
    """
    Whole numbers of which some are unknown: int64 values beside a mask.

    >>> lag = Column.of([3, None, 0])
    >>> lag.tolist(), lag.total(), lag.max()
    ([3, None, 0], None, 3)
    """

    __slots__ = ("known", "values")

    def __init__(self, values: Ints, known: Flags | None = None) -> None:
        """
        Args:
            values: int64, any content where unknown.
            known: bool of the same length; without it everything is known.
        """
        self.values: Ints = np.asarray(values, dtype=np.int64)
        self.known: Flags = (
            np.ones(len(self.values), dtype=np.bool_)
            if known is None
            else np.asarray(known, dtype=np.bool_)
        )

    @classmethod
    def of(cls, numbers: Iterable[int | None]) -> Column:
        """Build from Python numbers, None where unknown."""
        listed = list(numbers)
        values = np.fromiter((0 if n is None else n for n in listed), np.int64, len(listed))
        return cls(values, np.fromiter((n is not None for n in listed), np.bool_, len(listed)))

    @classmethod
    def unknown(cls, length: int) -> Column:
        """*length* unknown numbers."""
        return cls(np.zeros(length, np.int64), np.zeros(length, np.bool_))

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self.tolist() == other.tolist()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Column({self.tolist()})"

    def take(self, index: Any) -> Column:
        """The entries an index or mask selects."""
        return Column(self.values[index], self.known[index])

    def tolist(self) -> list[int | None]:
        """Python numbers, None where unknown."""
        pairs = zip(self.values.tolist(), self.known.tolist(), strict=True)
        return [value if known else None for value, known in pairs]

    def filled(self, value: int) -> Ints:
        """The numbers with *value* in place of the unknown ones."""
        return np.where(self.known, self.values, value)

    def total(self) -> int | None:
        """The sum; None when any is unknown; 0 for no numbers at all."""
        return int(self.values.sum()) if bool(self.known.all()) else None

    def max(self) -> int | None:
        """The largest known number, None when none is known."""
        return int(self.values[self.known].max()) if bool(self.known.any()) else None


class GroupType(enum.StrEnum):
    """What kind of group a broker says it is."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    STREAMS = "streams"
    SHARE = "share"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> GroupType:
        """A type that a newer broker may name is not known here."""
        return cls.UNKNOWN


REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
"""Group states in which nothing said about ownership would still hold a moment later."""


STREAMS_PROTOCOL = "stream"
"""What Kafka Streams calls its assignor in groups of the classic protocol."""

APPLICATIONS: Mapping[GroupType, str | None] = MappingProxyType(
    {GroupType.STREAMS: None, GroupType.CLASSIC: STREAMS_PROTOCOL}
)
"""Which groups are Kafka Streams applications: type -> wire name of their assignor, None for any."""


class Status(enum.StrEnum):
    """
    How a partition or a group fares, worsening in this order; a group has its worst partition's.

    What is unknown is never taken to be well, so it hides OK; it hides nothing that is known to be wrong.
    """

    OK = "OK"
    UNKNOWN = "UNKNOWN"
    WARN = "WARN"
    STALL = "STALL"
    STOP = "STOP"
    REWIND = "REWIND"

    @property
    def severity(self) -> int:
        """0 for OK up to 5 for REWIND."""
        return list(Status).index(self)


class LagBasis(enum.StrEnum):
    """Why a lag is the number it is."""

    COMMITTED = "committed"
    BELOW_BEGIN = "commit below log start"
    BEYOND_END = "commit beyond end"
    RESET_LATEST = "no commit, reset latest"
    RESET_BEGIN = "no commit, reset to log start"
    NO_COMMIT = "no commit"
    NOTHING_TO_READ = "no commit, nothing to read"
    UNREAD = "commit unread"
    NO_END = "end unknown"


class TimeLagBasis(enum.StrEnum):
    """How a time lag was found."""

    CAUGHT_UP = "caught up"
    INTERPOLATED = "interpolated"
    EXTRAPOLATED = "extrapolated"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


class CapacityBasis(enum.StrEnum):
    """How it is known what a member can consume."""

    CONFIGURED = "configured"
    SATURATED = "saturated"
    AT_LEAST = "at least"
    AS_ITS_PEERS = "as its peers"
    UNKNOWN = "unknown"


class Diagnosis(enum.StrEnum):
    """
    What may be wrong with a group, in the order in which it is looked for (`metrics.diagnosis`).

    The first that holds is the diagnosis of the group; all that hold are its troubles (`incidents.troubles`). Three
    are never a diagnosis, for they say only how bad one is: that the group is gone, that records will be lost soon,
    that none of its members commits anything.
    """

    UNKNOWN = "unknown"
    NO_MEMBERS = "no members"
    VANISHED = "vanished"
    REBALANCING = "rebalancing"
    LOSING_RECORDS = "losing records"
    SKIPPED_RECORDS = "skipped records"
    LOSS_AHEAD = "records soon lost"
    STOPPED = "stopped"
    SILENT_MEMBER = "silent member"
    STUCK_PARTITION = "stuck partition"
    SLOW_MEMBER = "slow member"
    HOT_PARTITION = "hot partition"
    TOO_FEW_MEMBERS = "too few members"
    SKEWED_LOAD = "skewed load"
    CATCHING_UP = "catching up"
    KEEPS_UP = "keeps up"

    @property
    def measure(self) -> str:
        """Its name among facts."""
        return self.name.lower()

    @property
    def is_critical(self) -> bool:
        """Whether records are lost, or nobody reads them."""
        return self in _CRITICAL

    @property
    def precedence(self) -> tuple[bool, bool, int]:
        """
        Its place among the troubles of an incident, which is called by the first: the critical ones, then the order.

        That a group cannot be read comes last: it takes nothing back of what was seen of the group before.
        """
        place = list(Diagnosis).index(self)
        return (self is Diagnosis.UNKNOWN, not self.is_critical, place)


_CRITICAL = frozenset(
    {
        Diagnosis.NO_MEMBERS,
        Diagnosis.VANISHED,
        Diagnosis.LOSING_RECORDS,
        Diagnosis.SKIPPED_RECORDS,
        Diagnosis.LOSS_AHEAD,
        Diagnosis.STOPPED,
    }
)

ALARMS = frozenset({Diagnosis.VANISHED, Diagnosis.LOSS_AHEAD, Diagnosis.STOPPED})
"""Troubles that are never the diagnosis: they say how bad that is."""

CAPACITY = frozenset(
    {
        Diagnosis.SLOW_MEMBER,
        Diagnosis.HOT_PARTITION,
        Diagnosis.TOO_FEW_MEMBERS,
        Diagnosis.SKEWED_LOAD,
    }
)
"""What members cannot do, in seconds by which that leaves their group behind."""

SECONDS_BEHIND = CAPACITY | {Diagnosis.CATCHING_UP}
"""Kinds of one trouble, whose amounts are the same seconds."""


class IncidentKind(enum.StrEnum):
    """What may be wrong with the pipeline of one cluster; the last two with all of them, see `steps.outage`."""

    UNREACHABLE = "cluster unreachable"
    LATE = "snapshot late"
    PARTIAL = "snapshots partial"
    REJECTED = "snapshot rejected"
    UNWATCHED = "groups unwatched"
    STUCK = "advice stuck"
    STEP_FAILED = "step failed"
    UNSENT = "alerts unsent"
    HISTORY_AWAY = "history unreachable"
    CONFIG_REFUSED = "configuration refused"

    @property
    def is_critical(self) -> bool:
        """Whether nobody would hear of what is wrong with groups."""
        return self in _CRITICAL_OF_PIPELINES

    @property
    def precedence(self) -> tuple[bool, bool, int]:
        """Its place among others: the critical ones, then the order."""
        return (False, not self.is_critical, list(IncidentKind).index(self))


_CRITICAL_OF_PIPELINES = frozenset(
    {
        IncidentKind.UNREACHABLE,
        IncidentKind.LATE,
        IncidentKind.UNWATCHED,
        IncidentKind.HISTORY_AWAY,
        IncidentKind.CONFIG_REFUSED,
    }
)


TroubleKind = Diagnosis | IncidentKind
"""What may be wrong with a group, or with the pipeline of a cluster."""


class WatchOf(enum.StrEnum):
    """With what of a cluster something may be wrong."""

    GROUPS = "groups"
    PIPELINE = "pipeline"


class IncidentState(enum.StrEnum):
    """How far an incident has come: only what is open or over has been worth a word."""

    SUSPECTED = "suspected"
    OPEN = "open"
    RESOLVED = "resolved"


class SizeBasis(enum.StrEnum):
    """How the size of a record is known."""

    LOG = "log directory"
    TOPIC = "other partitions of the topic"
    CONFIGURED = "configured"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker: its id, address and rack (None when it has none configured)."""

    node_id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberTasks:
    """
    What a thread of a Kafka Streams application has and says; tasks are `<sub-topology>_<partition>`.

    Attributes:
        active, standby, warmup: Its tasks. The classic protocol calls warm-ups standbys.
        reads: (task, topic, partition) for each partition it reads.
        offsets: Task -> sum of the offsets its copy had reached when the thread last told: -2 for one it ran, -3
            unknown. None where that is not told.
        ends: Task -> sum of the ends of its changelogs, where the protocol tells them.
        tags: Client tags (KIP-708).
    """

    active: tuple[str, ...] = ()
    standby: tuple[str, ...] = ()
    warmup: tuple[str, ...] = ()
    reads: tuple[tuple[str, str, int], ...] = ()
    offsets: Mapping[str, int] | None = None
    ends: Mapping[str, int] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """
    A member of a group.

    *subscription* is None when the group's protocol does not tell it; *rack_source* says where the rack came
    from (`subscription`, `describe`, `configured`) and is None when the rack is unknown. *user_data* is what it sent to
    the group's strategy, if that is none of ours. *follows* is by which strategy the plan was made that its leader says
    it follows; None without a plan. *tasks* are None but for threads of Kafka Streams.
    """

    id: str
    client_id: str
    host: str
    instance_id: str | None = None
    rack: str | None = None
    rack_source: str | None = None
    subscription: tuple[str, ...] | None = None
    subscription_regex: str | None = None
    generation: int | None = None
    process_id: str | None = None
    kind: str | None = None
    user_data: bytes | None = None
    follows: str | None = None
    tasks: MemberTasks | None = None

    @property
    def identity(self) -> str:
        """What stays the same over restarts: the instance id, else client id and host."""
        return self.instance_id or f"{self.client_id}@{self.host}"

    @property
    def is_static(self) -> bool:
        """Whether it has an instance id: it may be away for its session without a rebalance (KIP-345)."""
        return self.instance_id is not None


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionTable:
    """
    The partitions a group subscribes to, owns or has committed: parallel arrays of length n.

    Sorted by (topic name, partition). *topics* and *topic_ids* are the name tables *topic* points into.
    Replica racks are a ragged array: those of row i are `replica_rack[replica_start[i]:replica_start[i + 1]]`,
    indices into *racks*, `NONE` for a broker without a rack; no entry at all means the replicas are unknown.
    *commit_unread* marks partitions whose commit could not be read, which is not the same as no commit.
    *target_turn* is ascending along each target owner's list, in the order in which the coordinator of a KIP-848 group
    walks it and brokers list it; NONE without target owner. *cleanup_policies* and *retention_ms* (-1: for ever) are
    per topic, None where unknown. *log_bytes* is what the whole log takes on its leader's disk.
    """

    topics: tuple[str, ...]
    topic_ids: tuple[str | None, ...]
    cleanup_policies: tuple[str | None, ...]
    retention_ms: tuple[int | None, ...]
    racks: tuple[str, ...]
    topic: Indices
    partition: Indices
    exists: Flags
    subscribed: Flags
    owner: Indices
    target_owner: Indices
    target_turn: Indices
    begin: Column
    end: Column
    committed: Column
    log_bytes: Column
    begin_at_ms: Column
    end_at_ms: Column
    committed_at_ms: Column
    commit_unread: Flags
    leader_rack: Indices
    replica_start: Ints
    replica_rack: Indices
    in_sync: Flags

    def __len__(self) -> int:
        return len(self.topic)

    @cached_property
    def names(self) -> list[str]:
        """The topic name of each row."""
        return [self.topics[t] for t in self.topic.tolist()]

    @cached_property
    def assignable(self) -> Flags:
        """(n) the partitions that a group's members share: existing ones of topics somebody subscribes to."""
        return self.exists & self.subscribed

    @cached_property
    def compacted(self) -> Flags:
        """(n) whether the row's topic is known to be compacted, so that offsets are more than records."""
        told = [policy is not None and "compact" in policy for policy in self.cleanup_policies]
        return np.array(told, np.bool_)[self.topic]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupHeader:
    """
    What one snapshot says of a group beside its members and partitions.

    *assignor* is the name on the wire (elected protocol or server-side assignor), *error* why the group could not
    be read; then members and partitions are what little is known. *follower_fetching* is whether brokers let consumers
    read from the nearest replica (KIP-392), *group_assignors* what members of a KIP-848 group can ask every broker for,
    by the names on the wire; None unknown.
    """

    snapshot_id: str
    cluster: str
    taken_at: datetime
    group: str
    type: GroupType
    state: str
    protocol_type: str | None = None
    assignor: str | None = None
    epoch: int | None = None
    error: str | None = None
    topology: str | None = None
    follower_fetching: bool | None = None
    group_assignors: frozenset[str] | None = None

    def __post_init__(self) -> None:
        check_aware(self.taken_at, "taken_at")

    @property
    def places_tasks(self) -> bool:
        """Whether it is a Kafka Streams application, of either protocol: it assigns tasks, not partitions."""
        return places_tasks(self.type, self.assignor)

    @property
    def rebalancing(self) -> bool:
        """Whether ownership was in motion when the snapshot was taken."""
        return self.state in REBALANCING


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSnapshot(GroupHeader):
    """
    One group as one snapshot saw it.

    *stores* are the changelog partitions of a Kafka Streams application, None elsewhere.
    """

    members: tuple[Member, ...]
    partitions: PartitionTable
    stores: PartitionTable | None = None

    @cached_property
    def topics(self) -> frozenset[str]:
        """The topics that a member subscribes to, existing or not."""
        return frozenset(topic for m in self.members for topic in m.subscription or ())


def places_tasks(group_type: GroupType | str, assignor: str | None) -> bool:
    """Whether a group of this type and wire name is a Kafka Streams application."""
    kind = GroupType(group_type)
    return kind in APPLICATIONS and APPLICATIONS[kind] in (None, assignor)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lists:
    """
    Each member's list of partitions, ragged: member m has the entries `start[m]:start[m + 1]`.

    Attributes:
        start: (M + 1) where each member's list begins.
        topic: (entries) topic index.
        partition: (entries) partition number within the topic; it may be one that does not exist.
    """

    start: Ints
    topic: Indices
    partition: Indices


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """
    Who owns what: the answer of a strategy.

    Attributes:
        owner: (P) a member index per partition of the group, `NONE` for nobody.
        order: Where a strategy's order is part of its promise, the partitions in the order they were given out;
            without it lists are sorted.
        transferring: (P) who is to get a partition that its present owner must give up first, `NONE` elsewhere; such
            a partition has no owner in this round. None: nothing has to be given up first.
        raw_assignment: The lists Kafka's class would send, entry by entry, where *owner* cannot say it: a partition
            given to two members, or one that is gone. None: *owner* and *order* say all.
        findings: What is wrong with the answer; Kafka's own classes have such answers (a member gets what it never
            subscribed to). An answer with findings is shown, never advised.
        proof: What is proven of the answer: facts of the kinds in `facts.PROOF`; none: nothing is claimed.
    """

    owner: Indices
    order: Ints | None = None
    transferring: Indices | None = None
    raw_assignment: Lists | None = None
    findings: tuple[Fact, ...] = ()
    proof: tuple[Fact, ...] = ()


class Deployment(enum.StrEnum):
    """How a user gets a strategy."""

    SETTING = "setting"
    CLASS = "class"
    PLAN = "plan"
    YARDSTICK = "yardstick"
    NEVER = "never advised"
    LIVE = "already there"


class Feasibility(enum.StrEnum):
    """Whether this group could run a strategy."""

    CAN_RUN = "can run"
    COULD_RUN = "could run"
    YARDSTICK = "yardstick"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """
    One strategy's answer for one group: its assignment and score, or why there is none.

    *reason* says why it can or cannot run, *how* what to do to get it. *is_running* is whether the group runs the
    strategy as far as can be seen, None unknown. *notes* say what else is to
    be known of the answer, and are no flaws. *counts* name how many partitions members have, in a group in which that
    could be more even.
    """

    strategy: str
    deployment: Deployment
    feasibility: Feasibility
    reason: tuple[Fact, ...]
    how: tuple[Fact, ...] = ()
    is_running: bool | None = None
    replay: tuple[Fact, ...] = ()
    assignment: Assignment | None = None
    score: Score | None = None
    next_change: NextChange | None = None
    forecast: Forecast | None = None
    findings: tuple[Fact, ...] = ()
    notes: tuple[Fact, ...] = ()
    proof: tuple[Fact, ...] = ()
    counts: tuple[Fact, ...] = ()


class Verdict(enum.StrEnum):
    """What a group is told."""

    SWITCH = "switch"
    STAY = "stay"
    NOT_JUDGED = "not judged"


class AdviceState(enum.StrEnum):
    """How far an advice has come."""

    PROPOSED = "proposed"
    """It won; whether it goes on winning is not known yet."""
    CONFIRMED = "confirmed"
    """It won for long enough: the group is told to switch."""
    TAKEN_UP = "taken up"
    """The group runs what it was told to; whether the forecast comes true is not known yet."""
    VERIFIED = "verified"
    """What came is what was promised, or better."""
    MISSED = "missed"
    """What came is worse than what was promised."""
    WITHDRAWN = "withdrawn"
    """It no longer pays, for as long as it had to win."""
    EXPIRED = "expired"
    """Nobody followed it, or nobody can: it is no longer waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A partition that changes hands."""

    topic: str = field(metadata=column("The topic."))
    partition: Int32 = field(
        metadata=column("Number of the partition in its topic.", at_least=0, head="Part.")
    )
    from_member: str | None = field(
        metadata=column(
            "Id of the member that owns it now; null when nobody does.",
            none=True,
            names_member=True,
            head="From",
        )
    )
    to_member: str | None = field(
        metadata=column(
            "Id of the member that gets it; null when nobody does.",
            none=True,
            names_member=True,
            head="To",
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """
    What one group is told after one snapshot, and why.

    *yardstick* names the best strategy that cannot be deployed on this group, *withheld* that the data did not
    allow a judgement. *seen* counts the consecutive snapshots, this one included, in which the strategy won; *state* is
    how far the group's newest advice has come, and *state_since* since when; None where there was none of late.
    """

    group: str
    verdict: Verdict
    strategy: str | None
    facts: tuple[Fact, ...]
    how: tuple[Fact, ...] = ()
    yardstick: str | None = None
    yardstick_facts: tuple[Fact, ...] = ()
    seen: int = 0
    state: AdviceState | None = None
    state_since: datetime | None = None
    moves: tuple[Move, ...] = field(default=())


def check_aware(moment: datetime, name: str) -> None:
    """
    Raises:
        ValueError: The moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{name} must carry a time zone, got {moment!r}.")


def utc_now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(tz=UTC)


def from_ms(milliseconds: int | None) -> datetime | None:
    """Milliseconds since the epoch as an aware moment; None stays None."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


def ragged_entries(start: Ints, rows: Ints | Indices) -> tuple[Ints, Ints]:
    """
    Some rows of a ragged array, each as often as it is named: where each begins then, and which entries they take.

    >>> start, entries = ragged_entries(np.array([0, 1, 1, 3]), np.array([2, 0]))
    >>> start.tolist(), entries.tolist()
    ([0, 2, 3], [1, 2, 0])
    """
    sizes = start[rows + 1] - start[rows]
    begin = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(sizes, out=begin[1:])
    return begin, np.repeat(start[rows] - begin[:-1], sizes) + np.arange(begin[-1])


def ragged(lists: Sequence[Sequence[int]]) -> tuple[Ints, Indices]:
    """
    Pack lists of indices into (start, values): list i is `values[start[i]:start[i + 1]]`.

    >>> start, values = ragged([[7], [], [8, 9]])
    >>> start.tolist(), values.tolist()
    ([0, 1, 1, 3], [7, 8, 9])
    """
    start = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(one) for one in lists], out=start[1:])
    return start, np.fromiter((v for one in lists for v in one), np.int32, int(start[-1]))
