"""The words of enumerations: types and states of groups, what is wrong with them, how a number was found."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType


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

    The first that holds is the diagnosis of the group; all that hold are its troubles (`incidents.troubles`). Four
    are never a diagnosis. Three say only how bad one is: that the group is gone, that records will be lost soon, that
    none of its members commits anything. That stores would be lost with one rack is no matter of how the group fares.
    """

    UNKNOWN = "unknown"
    NO_MEMBERS = "no members"
    GROUP_DELETED = "group deleted"
    REBALANCING = "rebalancing"
    DATA_LOSS = "data loss"
    OFFSETS_SKIPPED = "offsets skipped"
    DATA_LOSS_IMMINENT = "data loss imminent"
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
        Diagnosis.GROUP_DELETED,
        Diagnosis.DATA_LOSS,
        Diagnosis.OFFSETS_SKIPPED,
        Diagnosis.DATA_LOSS_IMMINENT,
        Diagnosis.GROUP_NOT_COMMITTING,
    }
)


STANDING = frozenset({Diagnosis.STORE_IN_ONE_RACK})
"""Troubles that say what would become of a group, not how it fares: they keep no incident of another cause open."""


ALARMS = (
    frozenset(
        {Diagnosis.GROUP_DELETED, Diagnosis.DATA_LOSS_IMMINENT, Diagnosis.GROUP_NOT_COMMITTING}
    )
    | STANDING
)
"""Troubles that are never the diagnosis: they say how bad that is, or what would become of the group."""


WORST_FIRST = tuple(
    sorted(set(Diagnosis) - ALARMS, key=lambda one: (one is Diagnosis.HEALTHY, one.precedence))
)
"""Diagnoses in the order in which somebody has to look; all that is told of them is what it costs to wait."""


def worst_first(
    diagnosis: Diagnosis, behind_seconds: float | None, lag: float | None
) -> tuple[int, float, float]:
    """
    A key to sort groups by: the diagnosis, then how far behind, then the lag; what is unknown comes last.

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
"""What members cannot do, in seconds by which that leaves their group behind."""


SECONDS_BEHIND = CAPACITY | {Diagnosis.CATCHING_UP}
"""Kinds of one trouble, whose amounts are the same seconds."""


class IncidentKind(enum.StrEnum):
    """What may be wrong with the pipeline of one cluster; the last two with all of them, see `pipeline.outage`."""

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
        """Whether nobody would hear of what is wrong with groups."""
        return self in _CRITICAL_OF_PIPELINES

    @property
    def precedence(self) -> tuple[bool, bool, int]:
        """Its place among others: the critical ones, then the order."""
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
"""What may be wrong with a group, or with the pipeline of a cluster."""


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


def places_tasks(group_type: GroupType | str, assignor: str | None) -> bool:
    """Whether a group of this type and wire name is a Kafka Streams application."""
    kind = GroupType(group_type)
    return kind in APPLICATIONS and APPLICATIONS[kind] in (None, assignor)
