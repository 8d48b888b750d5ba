"""Enumerations: types and states of groups, diagnoses, and sources of numbers."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType


class GroupType(enum.StrEnum):
    """Type of a group as reported by the broker."""

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
"""Group states in which ownership is changing."""


WITHOUT_MEMBERS = frozenset({"Empty", "Dead"})
"""Group states without members."""


STREAMS_PROTOCOL = "stream"
"""Name of the assignor of Kafka Streams in groups of the classic protocol."""


APPLICATIONS: Mapping[GroupType, str | None] = MappingProxyType(
    {GroupType.STREAMS: None, GroupType.CLASSIC: STREAMS_PROTOCOL}
)
"""Which groups are Kafka Streams applications: type -> wire name of their assignor, None for any."""


class Readiness(enum.StrEnum):
    """Whether a group can move from the classic to the consumer protocol (KIP-848)."""

    MIGRATING = "in migration"
    READY = "ready"
    WITH_LOSSES = "has losses"
    FULL_STOP = "needs a full stop"
    BLOCKED = "blocked"
    UNKNOWN = "not evaluated"
    MOVED = "moved"
    NOT_APPLICABLE = "not applicable"


class Status(enum.StrEnum):
    """
    Status of a partition or a group, from best to worst; a group has the status of its worst partition.

    Unknown counts as worse than OK, but better than any known problem.
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
    """Basis of a lag: the case of its definition that applies."""

    COMMITTED = "committed"
    REPORTED = "reported by broker"
    BELOW_BEGIN = "commit below log start"
    BEYOND_END = "commit beyond end"
    RESET_LATEST = "no commit, reset latest"
    RESET_BEGIN = "no commit, reset to log start"
    NO_COMMIT = "no commit"
    NOTHING_TO_READ = "no commit, nothing to read"
    UNREAD = "commit unread"
    NO_END = "end unknown"


class TimeLagBasis(enum.StrEnum):
    """Source of a time lag."""

    CAUGHT_UP = "caught up"
    INTERPOLATED = "interpolated"
    EXTRAPOLATED = "extrapolated"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


class CapacityBasis(enum.StrEnum):
    """Source of the capacity of a member."""

    CONFIGURED = "configured"
    SATURATED = "saturated"
    AT_LEAST = "at least"
    AS_ITS_PEERS = "as its peers"
    UNKNOWN = "unknown"


class PauseBasis(enum.StrEnum):
    """Source of the pause of a rebalance, or of the time of a restart."""

    CONFIGURED = "configured"
    OBSERVED = "observed"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    AS_LIBRARY = "as its client library"
    USUAL = "usual"


class Diagnosis(enum.StrEnum):
    """
    Diagnoses of a group, in the order of their evaluation (`metrics.diagnosis`).

    The first that applies is the diagnosis of the group; all that apply are its causes (`incidents.troubles`). Four are
    never a diagnosis: three describe the impact of one (group deleted, data loss imminent, group not committing), and a
    store in one rack is a risk only.
    """

    UNKNOWN = "unknown"
    NO_MEMBERS = "no members"
    GROUP_DELETED = "group deleted"
    CRASH_LOOP = "crash loop"
    SCALER_FLAPPING = "scaler flapping"
    REBALANCING = "rebalancing"
    DATA_LOSS = "data loss"
    OFFSETS_SKIPPED = "offsets skipped"
    DATA_LOSS_IMMINENT = "data loss imminent"
    UNASSIGNED_PARTITIONS = "unassigned partitions"
    HANGING_TRANSACTION = "hanging transaction"
    GROUP_NOT_COMMITTING = "group not committing"
    MEMBER_NOT_COMMITTING = "member not committing"
    STUCK_PARTITION = "stuck partition"
    SLOW_MEMBER = "slow member"
    HOT_PARTITION = "hot partition"
    UNDER_PROVISIONED = "under-provisioned"
    SKEWED_LOAD = "skewed load"
    CATCHING_UP = "catching up"
    STORE_IN_ONE_RACK = "store in one rack"
    HEALTHY = "healthy"

    @property
    def measure(self) -> str:
        """Its name among facts."""
        return self.name.lower()

    @property
    def is_critical(self) -> bool:
        """Whether records are lost, or not consumed at all."""
        return self in _CRITICAL

    @property
    def precedence(self) -> tuple[bool, bool, int]:
        """
        Its rank among the causes of an incident: critical ones first, then in order of evaluation. The first one names
        it.

        An unreadable group ranks last, because it doesn't invalidate earlier observations.
        """
        place = list(Diagnosis).index(self)
        return (self is Diagnosis.UNKNOWN, not self.is_critical, place)


_CRITICAL = frozenset(
    {
        Diagnosis.NO_MEMBERS,
        Diagnosis.GROUP_DELETED,
        Diagnosis.DATA_LOSS,
        Diagnosis.OFFSETS_SKIPPED,
        Diagnosis.DATA_LOSS_IMMINENT,
        Diagnosis.UNASSIGNED_PARTITIONS,
        Diagnosis.GROUP_NOT_COMMITTING,
    }
)


STANDING = frozenset({Diagnosis.STORE_IN_ONE_RACK})
"""Causes about the future of a group; they don't keep an incident of another cause open."""


ALARMS = (
    frozenset(
        {Diagnosis.GROUP_DELETED, Diagnosis.DATA_LOSS_IMMINENT, Diagnosis.GROUP_NOT_COMMITTING}
    )
    | STANDING
)
"""Causes that are never the diagnosis: they describe its impact, or the future of the group."""


WORST_FIRST = tuple(
    sorted(set(Diagnosis) - ALARMS, key=lambda one: (one is Diagnosis.HEALTHY, one.precedence))
)
"""Diagnoses by urgency."""


def worst_first(
    diagnosis: Diagnosis, behind_seconds: float | None, lag: float | None
) -> tuple[int, float, float]:
    """
    A sort key of groups: diagnosis, time behind, lag; unknown values come last.

    >>> worst_first(Diagnosis.NO_MEMBERS, None, 5) < worst_first(Diagnosis.HEALTHY, 60.0, 9)
    True
    """
    known = [-1 if value is None else value for value in (behind_seconds, lag)]
    return (WORST_FIRST.index(diagnosis), -known[0], -known[1])


CAPACITY = frozenset(
    {
        Diagnosis.SLOW_MEMBER,
        Diagnosis.HOT_PARTITION,
        Diagnosis.UNDER_PROVISIONED,
        Diagnosis.SKEWED_LOAD,
    }
)
"""Capacity problems, whose amount is the time behind in seconds."""


HALTED = frozenset(
    {
        Diagnosis.GROUP_NOT_COMMITTING,
        Diagnosis.MEMBER_NOT_COMMITTING,
        Diagnosis.STUCK_PARTITION,
        Diagnosis.HANGING_TRANSACTION,
        Diagnosis.UNASSIGNED_PARTITIONS,
    }
)
"""Causes by which commits of a group, a member or a partition stand still."""

SECONDS_BEHIND = CAPACITY | {Diagnosis.CATCHING_UP}
"""Causes of one problem, with the same amount in seconds."""


class RebalanceCause(enum.StrEnum):
    """
    Causes of rebalances, the most specific first (`metrics.rebalance_causes`).

    The first three concern several snapshots; the others one interval between two.
    """

    CRASH_LOOP = "crash loop"
    SCALER_FLAPPING = "scaler flapping"
    DEPLOY = "deploy"
    SUBSCRIPTION_CHANGED = "subscription changed"
    PARTITIONS_ADDED = "partitions added"
    COORDINATOR_MOVED = "coordinator moved"
    POLL_TIMEOUT = "poll timeout"
    SESSION_TIMEOUT = "session timeout"
    MEMBER_RESTARTED = "member restarted"
    MEMBERS_ADDED = "members added"
    MEMBERS_REMOVED = "members removed"
    UNKNOWN = "unknown"

    @property
    def measure(self) -> str:
        """Its name among facts."""
        return f"rebalanced_{self.name.lower()}"


class Remedy(enum.StrEnum):
    """Settings that make rebalances rarer or shorter."""

    STATIC_MEMBERSHIP = "static membership"
    COOPERATIVE = "cooperative rebalancing"
    CONSUMER_PROTOCOL = "consumer protocol"
    LONGER_SESSION_TIMEOUT = "longer session timeout"
    LONGER_SESSION_ON_BROKERS = "longer session timeout on brokers"


class Mark(enum.StrEnum):
    """Marks on the way to data loss; a notification about each comes once."""

    HALF_OF_RETENTION = "half of retention used"
    LOSS_AT_HAND = "data loss at hand"


class IncidentKind(enum.StrEnum):
    """Causes of pipeline incidents of a cluster; the last two concern all clusters (`pipeline.outage`)."""

    UNREACHABLE = "cluster unreachable"
    STALE = "snapshot stale"
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
        """Whether incidents of groups cannot be notified."""
        return self in _CRITICAL_OF_PIPELINES

    @property
    def precedence(self) -> tuple[bool, bool, int]:
        """Its rank: critical ones first, then the order."""
        return (False, not self.is_critical, list(IncidentKind).index(self))


_CRITICAL_OF_PIPELINES = frozenset(
    {
        IncidentKind.UNREACHABLE,
        IncidentKind.STALE,
        IncidentKind.UNWATCHED,
        IncidentKind.HISTORY_AWAY,
        IncidentKind.CONFIG_REFUSED,
    }
)


TroubleKind = Diagnosis | IncidentKind
"""Causes of incidents, of a group or of the pipeline of a cluster."""


class IncidentState(enum.StrEnum):
    """State of an incident; only open and closed ones are notified."""

    SUSPECTED = "suspected"
    OPEN = "open"
    RESOLVED = "resolved"


class SizeBasis(enum.StrEnum):
    """Source of the size of a record."""

    LOG = "log directory"
    TOPIC = "other partitions of the topic"
    CONFIGURED = "configured"
    UNKNOWN = "unknown"


def places_tasks(group_type: GroupType | str, assignor: str | None) -> bool:
    """Whether a group of this type and wire name is a Kafka Streams application."""
    # making a type of a type takes as long as all the rest
    kind = group_type if isinstance(group_type, GroupType) else GroupType(group_type)
    return kind in APPLICATIONS and APPLICATIONS[kind] in (None, assignor)
