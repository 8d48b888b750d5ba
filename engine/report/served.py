"""Stored rows as numbers that metrics serve; from the history database, or from a history in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ..model.assignments import AdviceState
from ..model.states import Diagnosis, places_tasks, worst_first
from ..ports import ReportedGroups, ReportHistory, ServedCluster, ServedGroup
from ..ports.served import Band
from .from_history import stored_report

RECENT = 12
"""So many snapshots are looked through for the newest that was advised."""


class MembersFor(NamedTuple):
    """Fewest members that keep up, most of which each has a partition, and whether more would keep up better."""

    needed: int | None = None
    useful: int | None = None
    helps: bool | None = None


def members_for(
    members: int | None, needed: int | None, useful: int | None, keeps_up: bool | None
) -> MembersFor:
    """
    What there is to say of other numbers of members; None is unknown.

    >>> members_for(3, 5, 12, True), members_for(3, 3, 12, True).helps, members_for(12, 14, 12, None).helps
    (MembersFor(needed=5, useful=12, helps=True), False, False)
    >>> members_for(3, None, 12, False).helps, members_for(3, None, 12, None).helps
    (False, None)

    Args:
        members: How many there are.
        needed: The fewest that are known to keep up.
        useful: The most of which each has a partition.
        keeps_up: Whether any number would.
    """
    if members is None:
        return MembersFor()
    helps: bool | None = None
    if (useful is not None and members >= useful) or (needed is None and keeps_up is False):
        helps = False
    elif needed is not None:
        helps = needed > members
    return MembersFor(needed=needed, useful=useful, helps=helps)


def diagnosed_size(row: Mapping[str, Any]) -> MembersFor:
    """
    As far as a row of `served_groups` says it: how many members an under-provisioned group needs.

    Each partition can have a member, but for tasks of Kafka Streams, and under range, which deals each topic alone.
    """
    stated = [
        fact
        for fact in row["facts"] or ()
        if fact["measure"] == Diagnosis.UNDER_PROVISIONED.measure and fact["after"] is not None
    ]
    needed = int(stated[0]["after"]) if stated else None
    together = row["assignor"] == "range" and len(row["subscribed_topics"] or ()) != 1
    if together or places_tasks(row["group_type"], row["assignor"]):
        return MembersFor(needed=needed)
    return members_for(row["members"], needed, row["partitions"], None)


def served_group(row: Mapping[str, Any], size: MembersFor, incidents: int | None) -> ServedGroup:
    """
    A group.

    Args:
        row: Its row of `ReportHistory.served_groups`.
        size: What is known of other numbers of members.
        incidents: Number of its open incidents; None where none are kept.
    """

    def band(measure: str) -> Band:
        low, expected, high = (
            row[f"forecast_{measure}_{end}"] for end in ("low", "expected", "high")
        )
        return low, expected, high

    same = (
        *("group_id", "members", "delay_seconds", "time_lag_seconds", "production_per_second"),
        *("consumption_per_second", "capacity_per_second", "utilization"),
        "cross_rack_bytes_per_second",
    )
    return ServedGroup(
        **{name: row[name] for name in same},
        diagnosis=Diagnosis(row["diagnosis"] or Diagnosis.UNKNOWN),
        lag=row["total_lag"],
        soon_lag=band("soon_lag"),
        later_lag=band("lag"),
        drained=band("drained_seconds"),
        members_needed=size.needed,
        members_useful=size.useful,
        scaling_helps=size.helps,
        advice=AdviceState(row["advice_state"]) if row["advice_state"] else None,
        open_incidents=incidents,
    )


def urgency(group: ServedGroup) -> tuple[object, ...]:
    """A sort key: worst first."""
    return (*worst_first(group.diagnosis, group.delay_seconds, group.lag), group.group_id)


@dataclass
class ServedHistory:
    """
    Clusters as the history database has them.

    Args:
        history: The history database.
        cluster: The only cluster; None for all.
        pattern: Shell pattern of group ids.
    """

    history: ReportHistory
    cluster: str | None = None
    pattern: str = "*"

    def __post_init__(self) -> None:
        self._held: dict[str, tuple[datetime, Mapping[float, tuple[int, int]]]] = {}

    def look(self) -> list[ServedCluster]:
        """
        Those with a measured snapshot.

        Raises:
            HistoryUnreachable: The database does not answer.
        """
        known = self.history.report_clusters()
        wanted = [one for one in known if self.cluster in (None, one)]
        return [found for found in map(self._cluster, wanted) if found is not None]

    def close(self) -> None:
        """Nothing is held."""

    def _cluster(self, name: str) -> ServedCluster | None:
        # of no group, so only what is of the cluster
        recent = self.history.report(ReportedGroups(cluster=name, group="", snapshots=RECENT))
        measured = [row for row in recent.snapshots if row["measured"]]
        if not measured:
            return None
        newest = measured[-1]
        taken_at = newest["started_at"]
        advised = [row["seconds_to_advice"] for row in measured if row["seconds_to_advice"]]
        groups = [
            served_group(row, diagnosed_size(row), row["open_incidents"])
            for row in self.history.served_groups(name)
            if fnmatchcase(row["group_id"], self.pattern)
        ]
        if self._held.get(name, (None,))[0] != taken_at:
            self._held[name] = (taken_at, stored_report(self.history, name).held)
        return ServedCluster(
            cluster=name,
            taken_at=taken_at,
            snapshot_seconds=newest["duration_seconds"],
            advice_seconds=advised[-1] if advised else None,
            groups=sorted(groups, key=urgency),
            held=self._held[name][1],
            pipeline_incidents=sum(
                one["group_id"] is None and one["closed_at"] is None for one in recent.incidents
            ),
        )
