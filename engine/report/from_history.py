"""
A report from stored rows, without a new evaluation.

Values that the history database doesn't store are None, and the page explains it (`NOT_KNOWN`). A report from a lake
has some of them (`Besides`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..messages.wording import member_names
from ..messages.wording.forecasts import pauses
from ..metrics.forecast import HORIZON_SECONDS, SOON_SECONDS
from ..model.assignments import Move, Verdict
from ..model.states import Diagnosis
from ..ports import ReportedGroups, ReportHistory, StoredReport
from ..records.metrics import pauses_in
from .forecast_bands import Bands, bands_of
from .rows import (
    Rows,
    event_of,
    health_of,
    incidents_of,
    member_loads,
    member_of,
    racks_of,
    rebalanced,
    scores,
    standings_of,
)
from .values import (
    AdviceGiven,
    FailedStep,
    FleetReport,
    GroupReport,
    Happening,
    PromiseKept,
    RackCounts,
    Standing,
    Withheld,
    worst_first,
)

SNAPSHOTS = 288
"""Default number of snapshots: one day with an interval of five minutes."""

ORIGIN = "history database"

NOT_KNOWN = (
    "The history database doesn't store the racks of leaders. Create the report from a recording or a"
    " lake (--from) to see them.",
    "It stores forecasts only for groups that were behind or had avoidable cross-rack traffic.",
)
"""Values that a lake has and the history database doesn't."""


@dataclass(frozen=True, kw_only=True)
class Besides:
    """
    Additional values of a report from snapshots.

    Attributes:
        bands: Forecasts of all groups, with actual values.
        racks: Reads by rack of each group, including racks of leaders.
        told: Notifications of each group.
    """

    bands: Bands
    racks: Mapping[str, RackCounts | None]
    told: Mapping[str, Sequence[Happening]]


def stored_report(
    history: ReportHistory,
    cluster: str,
    groups: str = "*",
    *,
    group: str | None = None,
    since: datetime | None = None,
    now: datetime | None = None,
    snapshots: int = SNAPSHOTS,
) -> FleetReport:
    """
    A report from the history database.

    Args:
        history: The history database. cluster: Configured name of the cluster; an unknown one has no snapshots. groups:
        Shell pattern of group ids. group: Id of the only group, instead of a pattern; only its rows are read. The
        report has no group if there are no
            rows in that period.
        since: Start of the period; None for no limit.
        now: The current time; None for the clock.
        snapshots: Maximum number of snapshots.
    """
    wanted = ReportedGroups(
        cluster=cluster, pattern=groups, group=group, since=since, snapshots=snapshots
    )
    return fleet_of(history.report(wanted), cluster, now)


def fleet_of(
    stored: StoredReport, cluster: str, now: datetime | None, besides: Besides | None = None
) -> FleetReport:
    """
    A report from rows.

    Args:
        stored: The rows.
        cluster: Configured name of the cluster.
        now: The current time; None for the clock.
        besides: Additional values.
    """
    taken_at = tuple(row["started_at"] for row in stored.snapshots if row["measured"])
    series = {row["group_id"]: standings_of(row, len(taken_at)) for row in stored.lag}
    bands = besides.bands if besides else bands_of(stored.forecasts, taken_at, series)
    about = _About(stored, taken_at, series, bands, besides)
    groups = [about.present(row) for row in stored.groups]
    present = {group.group_id for group in groups}
    groups += [about.gone(name) for name in series if name not in present]
    return FleetReport(
        cluster=cluster,
        made_at=now or datetime.now(UTC),
        origin=ORIGIN,
        taken_at=taken_at,
        groups=tuple(sorted(groups, key=worst_first)),
        snapshots=tuple(map(health_of, stored.snapshots)),
        held={ahead: bands.held(ahead) for ahead in (SOON_SECONDS, HORIZON_SECONDS)},
        not_known=NOT_KNOWN,
        scorecard=tuple(PromiseKept(**row) for row in stored.scorecard),
        failures=tuple(FailedStep(**row) for row in stored.failures),
        withheld=tuple(Withheld(**row) for row in stored.withheld),
        pipeline=tuple(incidents_of(row for row in stored.incidents if row["group_id"] is None)),
    )


def _by_group(rows: Rows) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["group_id"] is not None:
            groups[row["group_id"]].append(row)
    return groups


class _About:
    """The report of each group."""

    def __init__(
        self,
        stored: StoredReport,
        taken_at: Sequence[datetime],
        series: Mapping[str, tuple[Standing | None, ...]],
        bands: Bands,
        besides: Besides | None,
    ) -> None:
        self.taken_at, self.series, self.bands, self.besides = taken_at, series, bands, besides
        self.members = _by_group(stored.members)
        self.strategies = _by_group(stored.strategies)
        self.moves = _by_group(stored.moves)
        self.events = _by_group(stored.events)
        self.incidents = _by_group(stored.incidents)
        self.rebalances = _by_group(stored.rebalances)
        self.advice = {row["group_id"]: row for row in stored.advice}

    def present(self, row: Mapping[str, Any]) -> GroupReport:
        """A group of the newest snapshot."""
        name = row["group_id"]
        members = self.members.get(name, ())
        names = member_names(map(member_of, members))
        moves = self.moves.get(name, ())
        # an assignment that has changed since is not what these moves start from
        usable = moves if all(move["still_so"] for move in moves) else ()
        return GroupReport(
            group_id=name,
            owner=row["owner"],
            kind=row["group_type"],
            state=row["group_state"],
            strategy=row["assignor"],
            diagnosis=Diagnosis(row["diagnosis"] or Diagnosis.UNKNOWN),
            reason=row["diagnosis_reason"],
            diagnosed_at=row["diagnosis_since"],
            at_least=bool(row["diagnosis_already_so"]),
            now=Standing(
                lag=row["total_lag"],
                delay_seconds=row["delay_seconds"],
                time_lag_seconds=row["time_lag_seconds"],
            ),
            members=row["members"],
            partitions=row["partitions"],
            error=row["error"],
            findings=tuple(row["findings"] or ()),
            open_incident=row["incident"],
            loads=member_loads(names, members, usable),
            racks=self.besides.racks.get(name)
            if self.besides
            else racks_of(members, row["racks_left_out"]),
            strategies=scores(self.strategies.get(name, ())),
            pauses=pauses(pauses_in(row)),
            advice=self._advice(name, names),
            **self._over_time(name),
        )

    def gone(self, name: str) -> GroupReport:
        """A group that the newest snapshot doesn't have."""
        last = max(at for at, one in enumerate(self.series[name]) if one is not None)
        still = [one for one in self.incidents.get(name, ()) if one["closed_at"] is None]
        return GroupReport(
            group_id=name,
            kind="?",
            diagnosis=Diagnosis.UNKNOWN,
            gone_since=self.taken_at[last],
            open_incident=still[-1]["kind"] if still else None,
            **self._over_time(name),
        )

    def _over_time(self, name: str) -> dict[str, Any]:
        happened = [*map(event_of, self.events.get(name, ()))]
        if self.besides is None:
            happened += incidents_of(self.incidents.get(name, ()))
        else:
            told = self.besides.told.get(name, ())
            said = {one.at for one in told}
            happened = [*told, *(one for one in happened if one.at not in said)]
        return {
            "standings": self.series.get(name, ()),
            "forecasts": self.bands.of_group(name),
            "happenings": tuple(sorted(happened, key=lambda one: one.at)),
            "rebalances": tuple(map(rebalanced, self.rebalances.get(name, ()))),
        }

    def _advice(self, name: str, names: Mapping[str, str]) -> AdviceGiven | None:
        row = self.advice.get(name)
        if row is None:
            return None
        kept = ("strategy", "reason", "how", "state", "state_since", "best_undeployable")
        return AdviceGiven(
            verdict=Verdict(row["verdict"]),
            best_undeployable_reason=row["best_undeployable_reason"],
            moves=tuple(
                Move(
                    topic=move["topic"],
                    partition=move["partition"],
                    # who has no short name keeps the id
                    from_member=names.get(move["from_member"], move["from_member"]),
                    to_member=names.get(move["to_member"], move["to_member"]),
                )
                for move in self.moves.get(name, ())
            ),
            **{column: row[column] for column in kept},
        )
