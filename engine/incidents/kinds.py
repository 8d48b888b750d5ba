"""The table of what may be wrong with a group: how long each kind must last to be told, and how bad it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..model.states import HALTED, SECONDS_BEHIND, Diagnosis, TroubleKind

LAG, DELAY, PRODUCTION = "total_lag", "delay_seconds", "production_per_second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """
    How one kind of trouble is told.

    Attributes:
        lasts: The key of `IncidentRules` that says how long it must last; None: it must be seen often enough only.
        numbers: What else of the group is said of it, by columns of `GroupMetrics`: what its own facts do not say.
        at_once: Whether one snapshot is enough: what is lost does not come back.
        timed: Whether it is as bad as it is long, which is more than the snapshots that are looked back on can tell.
    """

    lasts: str | None = None
    numbers: tuple[str, ...] = ()
    at_once: bool = False
    timed: bool = False


KINDS: Mapping[TroubleKind, Kind] = MappingProxyType(
    {
        Diagnosis.NO_MEMBERS: Kind(numbers=(LAG, DELAY)),
        Diagnosis.GROUP_DELETED: Kind(timed=True),
        Diagnosis.CRASH_LOOP: Kind(numbers=(LAG, DELAY), timed=True),
        Diagnosis.SCALER_FLAPPING: Kind(numbers=(LAG, DELAY), timed=True),
        Diagnosis.REBALANCING: Kind(
            lasts="rebalancing_seconds", numbers=(LAG, DELAY, PRODUCTION), timed=True
        ),
        Diagnosis.DATA_LOSS: Kind(numbers=(LAG, PRODUCTION), at_once=True),
        Diagnosis.OFFSETS_SKIPPED: Kind(numbers=(LAG,), at_once=True),
        Diagnosis.DATA_LOSS_IMMINENT: Kind(numbers=(LAG, DELAY)),
        Diagnosis.UNASSIGNED_PARTITIONS: Kind(lasts="not_committing_seconds", numbers=(LAG,)),
        Diagnosis.HANGING_TRANSACTION: Kind(lasts="not_committing_seconds", numbers=(LAG,)),
        Diagnosis.GROUP_NOT_COMMITTING: Kind(lasts="not_committing_seconds", numbers=(LAG,)),
        Diagnosis.MEMBER_NOT_COMMITTING: Kind(lasts="not_committing_seconds", numbers=(LAG,)),
        Diagnosis.STUCK_PARTITION: Kind(lasts="not_committing_seconds", numbers=(LAG,)),
        Diagnosis.SLOW_MEMBER: Kind(lasts="capacity_seconds", numbers=(LAG, DELAY)),
        Diagnosis.HOT_PARTITION: Kind(lasts="capacity_seconds", numbers=(LAG, DELAY)),
        Diagnosis.UNDER_PROVISIONED: Kind(lasts="capacity_seconds", numbers=(LAG, DELAY)),
        Diagnosis.SKEWED_LOAD: Kind(lasts="behind_seconds", numbers=(LAG, PRODUCTION)),
        Diagnosis.CATCHING_UP: Kind(lasts="behind_seconds", numbers=(LAG, PRODUCTION)),
        Diagnosis.STORE_IN_ONE_RACK: Kind(lasts="stores_seconds"),
    }
)
"""A line per kind whose rule finds something to be told; what cannot be read says so itself."""

BEHIND = SECONDS_BEHIND | HALTED | {Diagnosis.NO_MEMBERS}
"""Kinds whose amounts are seconds behind."""

LOSSES = frozenset({Diagnosis.DATA_LOSS, Diagnosis.OFFSETS_SKIPPED})
"""Causes that lose records: they are always told."""

OTHER = Kind()
"""Of what has no line, what is wrong with a pipeline among it."""
