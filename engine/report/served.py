"""Stored rows as numbers that metrics serve; from the history database, or from a history in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ..model.assignments import AdviceState
from ..model.states import Diagnosis, GroupType, places_tasks, worst_first
from ..ports import ReportedGroups, ReportHistory, ServedCluster, ServedGroup
from ..ports.served import Band
from .from_history import stored_report
from .values import came_as_forecast

RECENT = 12
"""So many snapshots are looked through for the newest that was advised."""


class MembersFor(NamedTuple):
    """Fewest members that keep up, most of which each has a partition, and whether more would keep up better."""

    needed: int | None = None
    useful: int | None = None
    helps: bool | None = None


FREE = frozenset({Diagnosis.CATCHING_UP, Diagnosis.STUCK_PARTITION, Diagnosis.HANGING_TRANSACTION})
"""Diagnoses of groups that may be behind though no member gets more than it can do."""


def keeps_up(row: Mapping[str, Any]) -> bool | None:
    """
    Whether the members that have partitions do what arrives; False where no number of members would; None unknown.

    Args:
        row: A row of `served_groups`. Its utilization is known where the capacity of each member is.
    """
    used = None if row["production_per_second"] is None else row["utilization"]
    if row["diagnosis"] == Diagnosis.HEALTHY:
        return True
    if row["diagnosis"] == Diagnosis.HOT_PARTITION and used is not None:
        return False
    return True if row["diagnosis"] in FREE and used is not None and used <= 1 else None


def members_for(
    members: int | None, needed: int | None, useful: int | None, keeps_up: bool | None
) -> MembersFor:
    """
    What there is to say of other numbers of members; None is unknown.

    >>> members_for(3, 5, 12, True), members_for(3, 3, 12, True).helps, members_for(12, 14, 12, None)
    (MembersFor(needed=5, useful=12, helps=True), False, MembersFor(needed=None, useful=12, helps=False))
    >>> members_for(3, None, 12, False).helps, members_for(3, None, 12, None).helps
    (False, None)

    Args:
        members: How many there are.
        needed: The fewest that are known to keep up, as long as each has a partition.
        useful: The most of which each has a partition.
        keeps_up: Whether any number does.
    """
    if members is None:
        return MembersFor()
    if needed is not None and useful is not None and needed > useful:
        needed, keeps_up = (useful, True) if keeps_up else (None, False)
    helps: bool | None = None
    if (useful is not None and members >= useful) or (needed is None and keeps_up is False):
        helps = False
    elif needed is not None:
        helps = needed > members
    return MembersFor(needed=needed, useful=useful, helps=helps)


def size_now(row: Mapping[str, Any]) -> MembersFor:
    """
    How many members a group needs, as far as a row of `served_groups` says it.

    A group that keeps up needs the members that have partitions; one that is under-provisioned, as many as its
    diagnosis says. Each partition can have a member, but for tasks of Kafka Streams, under range, which deals each
    topic alone, and where members subscribe to different topics; in a share group it can have several.
    """
    facts = {fact["measure"]: fact["after"] for fact in row["facts"] or ()}
    stated, now = facts.get(Diagnosis.UNDER_PROVISIONED.measure), keeps_up(row)
    needed = None if stated is None else int(stated)
    is_shared = row["group_type"] == GroupType.SHARE
    if is_shared or places_tasks(row["group_type"], row["assignor"]):
        return MembersFor(needed=needed)
    alone = row["assignor"] == "range" and len(row["subscribed_topics"] or ()) != 1
    useful = None if alone or "unequal_subscriptions" in facts else row["partitions"]
    if now and None not in (row["members"], row["idle_members"]):
        needed = row["members"] - row["idle_members"]
    elif useful is None and now is None:
        # more may be needed than have a partition
        return MembersFor(needed=needed)
    return members_for(row["members"], needed, useful, now)


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

    at_least = row["time_lag_at_least"]
    same = (
        *("group_id", "members", "delay_seconds", "production_per_second"),
        *("consumption_per_second", "capacity_per_second", "utilization"),
        "cross_rack_bytes_per_second",
    )
    return ServedGroup(
        **{name: row[name] for name in same},
        diagnosis=Diagnosis(row["diagnosis"] or Diagnosis.UNKNOWN),
        lag=row["total_lag"],
        time_lag_seconds=None if at_least else row["time_lag_seconds"],
        time_lag_at_least_seconds=row["time_lag_seconds"] if at_least else None,
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
        self._known: dict[
            str, tuple[datetime, Mapping[float, tuple[int, int]], tuple[float, int]]
        ] = {}

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
            served_group(row, size_now(row), row["open_incidents"])
            for row in self.history.served_groups(name)
            if fnmatchcase(row["group_id"], self.pattern)
        ]
        if self._known.get(name, (None,))[0] != taken_at:
            report = stored_report(self.history, name)
            checked, _, kept = came_as_forecast(report.scorecard)
            self._known[name] = taken_at, report.held, (kept, checked)
        _, held, promises = self._known[name]
        return ServedCluster(
            cluster=name,
            taken_at=taken_at,
            snapshot_seconds=newest["duration_seconds"],
            advice_seconds=advised[-1] if advised else None,
            groups=sorted(groups, key=urgency),
            held=held,
            promises=promises,
            pipeline_incidents=sum(
                one["group_id"] is None and one["closed_at"] is None for one in recent.incidents
            ),
        )
