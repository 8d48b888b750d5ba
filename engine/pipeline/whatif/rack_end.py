"""The end of a rack: whether a group can be asked about it, what changes with it, and what its own strategy says."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...advice import blocked, runs
from ...assignors import every
from ...config import Settings
from ...model.facts import Fact
from ...model.groups import GroupSnapshot, Member
from ..stored_metrics import NOT_MEASURED
from .changed_group import SeenGroup, Supposed
from .changes import Change, Leaves, WithoutRack
from .outcome import WhatIfOutcome, outcomes
from .plan_followers import following_of


def why_not(seen: SeenGroup) -> Fact | None:
    """Why it cannot be said what would become of a group, whatever changes; None where it can."""
    measured = seen.measured_group
    why = measured.withheld or blocked(seen.group)
    return NOT_MEASURED if why is None and measured.measured is None else why


def racks_of(group: GroupSnapshot) -> set[str]:
    """The racks of the cluster's brokers, and those of the group's members."""
    tables = [group.partitions, *([group.stores] if group.stores else [])]
    racks = {rack for table in tables for rack in table.racks}
    return racks | {member.rack for member in group.members if member.rack}


def members_in(members: Iterable[Member], racks: Collection[str]) -> list[Member]:
    """Those that are known to be in some racks; whoever tells none stays."""
    return [member for member in members if member.rack in racks]


def end_of_rack(group: GroupSnapshot, rack: str) -> tuple[Change, ...]:
    """
    What changes once a rack is lost: its brokers are gone, and its members leave.

    Args:
        group: It as it is; an application of Kafka Streams by its instances.
        rack: The rack.
    """
    gone = members_in(group.members, [rack])
    return (WithoutRack(rack=rack), *(Leaves(member=member.id) for member in gone))


def outcome_running(settings: Settings, supposed: Supposed) -> WhatIfOutcome | None:
    """What the strategy that a group runs makes of it after changes, a plan included; None where none is known."""
    group = supposed.seen.group
    following = following_of(group)
    running = (name for name in every() if runs(group, name))
    name = next(running, None) if following is None else following.name
    if name is None:
        return None
    return next(iter(outcomes(settings, supposed, [name], following)), None)
