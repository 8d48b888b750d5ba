"""
Incidents of groups and pipelines: the rows that people query, and the state carried from one evaluation to the next.

`evenkeel.engine.incidents.lifecycle` computes the next state.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Int32, Unit, column, record
from ..model.facts import Fact
from ..model.groups import WatchOf
from ..model.states import IncidentState, Mark, TroubleKind


@record
class CauseSpan:
    """One cause of an incident, from the first snapshot that shows it to the newest."""

    cause: TroubleKind = column("Cause.")
    since: datetime = column("Start, as far as snapshots show it.")
    last_seen_at: datetime = column("Time of the last snapshot that shows it.")
    snapshots: Int32 = column(
        "Number of consecutive snapshots that show it.", unit=Unit.SNAPSHOTS, at_least=0
    )
    amount: float | None = column(
        "Severity value, more is worse: seconds behind, records lost or duration in seconds; null if unknown.",
        unit=Unit.BY_CAUSE,
        none=True,
    )
    facts: tuple[Fact, ...] = column("Names and numbers, as last seen.", default=())
    known: Mapping[str, Any] = column(
        "Details of a pipeline incident by name, as last seen.", default_factory=dict
    )
    missed: Int32 = column(
        "Number of consecutive snapshots since then that don't show it.",
        default=0,
        unit=Unit.SNAPSHOTS,
        at_least=0,
    )


@record
class Readers:
    """The content of the last notification of an incident."""

    alert_key: str = column("Key of the notification of the incident: its own, or a digest.")
    channel: str = column("Channel of that notification.")
    cause: TroubleKind = column("Most severe cause in it.")
    amount: float | None = column(
        "Severity value of that cause in it.", unit=Unit.BY_CAUSE, none=True
    )
    at: datetime = column("Time of its facts.")
    causes: tuple[TroubleKind, ...] = column("All causes that were notified so far.", default=())
    updates: Int32 = column("Number of edits of the message.", default=0, at_least=0)
    in_digest: bool = column("True if it was part of a digest.", default=False)
    behind_seconds: float | None = column(
        "Time behind in it; null if unknown.", default=None, none=True
    )
    growth: float | None = column(
        "Growth of the time behind until then, in seconds per second; null while only one value is known.",
        default=None,
        unit=Unit.RATIO,
        none=True,
    )
    marks: tuple[Mark, ...] = column("Marks on the way to data loss, so far.", default=())
    pagers: tuple[str, ...] = column("Webhook channels that were notified.", default=())


@record
class Bout:
    """One time that a group had a problem. An incident has several if the problem comes and goes."""

    began_at: datetime = column("Time of the first snapshot that shows it.")
    ended_at: datetime | None = column(
        "Time since which the group was healthy; null while it is not.", default=None, none=True
    )
    cause: TroubleKind = column("Most severe cause that lasted, or the first one.")
    lasted: bool = column("True if a cause lasted long enough to open an incident.", default=False)
    first_behind_seconds: float | None = column(
        "Time behind when it began; null if unknown.", default=None, none=True
    )
    peak_lag: float | None = column(
        "The largest total lag; null if unknown.", default=None, unit=Unit.OFFSETS, none=True
    )
    peak_behind_seconds: float | None = column(
        "The largest time behind; null if unknown.", default=None, none=True
    )


@record
class IncidentCourse:
    """The state of the incident of a group or pipeline. A healthy one has none, or only the bouts of its past."""

    key: str = column("Id of the incident, from its start to its end.")
    group_id: str | None = column(
        "Consumer group; null for a pipeline incident of the whole cluster.", none=True
    )
    state: IncidentState = column("State of the incident.")
    cause: TroubleKind = column("Most severe cause so far.")
    causes: tuple[CauseSpan, ...] = column("Current causes, most severe first.")
    began_at: datetime = column("Start, as far as snapshots show it.")
    began_snapshot_id: str = column("Id of the first snapshot that shows it.")
    good_snapshot_id: str | None = column(
        "Id of the last snapshot in which the group was healthy; null if unknown.", none=True
    )
    opened_at: datetime | None = column("Time when it was opened; null before.", default=None)
    closed_at: datetime | None = column("Time when it was resolved.", default=None)
    well_since: datetime | None = column(
        "Time since which the group is healthy; null while it is not.", default=None
    )
    unseen_since: datetime | None = column(
        "Time since which no snapshot shows any of its causes; null while one does, or if unknown.",
        default=None,
        none=True,
    )
    well_looks: Int32 = column(
        "Number of consecutive snapshots that show none of its causes.", default=0, at_least=0
    )
    already_so: bool = column(
        "True if it existed before the first snapshot of the cluster.", default=False
    )
    over_at: datetime | None = column(
        "End of the previous incident; null if there was none recently.",
        default=None,
        none=True,
    )
    peak_lag: float | None = column(
        "The largest total lag seen since it began; null unknown.",
        default=None,
        unit=Unit.OFFSETS,
        none=True,
    )
    peak_behind_seconds: float | None = column(
        "The largest time behind seen since it began; null unknown.", default=None, none=True
    )
    readers: Readers | None = column(
        "Content of the last notification; null before the first.", default=None
    )
    bouts: tuple[Bout, ...] = column(
        "The present bout and earlier ones of the last 15 days, oldest first.", default=()
    )
    habit_told: bool = column("True if its habit was notified.", default=False)

    @property
    def name(self) -> str:
        """Its name within the cluster: the group, or the cause of a pipeline incident."""
        return self.cause.value if self.group_id is None else self.group_id


@record
class IncidentRow:
    """
    One row per incident. A group has at most one open incident; the pipeline of a cluster has at most one per kind.
    """

    incident_id: int | None = column("Number of the incident.", default=None, generated=True)
    cluster: str = column("Configured name of the cluster.")
    group_id: str | None = column(
        "Consumer group; null for an incident of the whole cluster.",
        default=None,
        head="Group",
        none=True,
    )
    key: str | None = column("Id of the incident, from its start to its end.", default=None)
    kind: str = column("Cause; for a group, the most severe one so far.")
    severity: str = column("Severity: critical or warning.")
    began_at: datetime | None = column(
        "Start, as far as snapshots show it; null if only its opening is known.", default=None
    )
    opened_at: datetime = column("Time when it was opened.")
    last_seen_at: datetime = column("Time of the last snapshot that shows it.")
    closed_at: datetime | None = column(
        "Time when it was resolved; null while it is open.", default=None
    )
    notified_at: datetime | None = column(
        "Time of its first delivered notification; null if there was none.", default=None, none=True
    )
    alert_key: str | None = column(
        "Key of its notification, its own or a digest; null if it has none.",
        default=None,
    )
    owner: str | None = column(
        "Owner of the group; null if none is configured.", default=None, none=True
    )
    summary: str | None = column("Description of the problem.", default=None, none=True)
    causes: tuple[CauseSpan, ...] = column(
        "All causes, most severe first: a list of {cause, since, amount, facts ...}.",
        default=(),
    )
    good_snapshot_id: str | None = column(
        "Id of the last snapshot in which the group was healthy; null if unknown.",
        default=None,
        none=True,
    )
    facts: Mapping[str, Any] = column(
        "Details of a pipeline incident, by name.", default_factory=dict
    )

    @classmethod
    def of_course(
        cls, course: IncidentCourse, *, cluster: str, at: datetime, owner: str | None, summary: str
    ) -> IncidentRow | None:
        """
        The public row of an incident; None while it is only suspected.

        Args:
            course: State of the incident.
            cluster: Configured name of the cluster.
            at: End of the newest snapshot.
            owner: Owner of the group, if one is configured.
            summary: Description of the problem.
        """
        if course.opened_at is None:
            return None
        seen = [span.last_seen_at for span in course.causes]
        is_of_group = course.group_id is not None
        known = {} if is_of_group else dict(course.causes[0].known)
        return cls(
            cluster=cluster,
            group_id=course.group_id,
            key=course.key,
            kind=course.cause.value,
            severity="critical" if course.cause.is_critical else "warning",
            began_at=course.began_at,
            opened_at=course.opened_at,
            last_seen_at=max(seen, default=course.well_since or at),
            closed_at=course.closed_at,
            alert_key=course.readers.alert_key if course.readers else None,
            owner=owner,
            summary=summary,
            causes=course.causes if is_of_group else (),
            good_snapshot_id=course.good_snapshot_id,
            facts={**known, **({"since": course.began_at.isoformat()} if "since" in known else {})},
        )


@record
class WatchRow:
    """One row per cluster and subject (groups or pipeline): its last evaluation for incidents."""

    cluster: str = column("Configured name of the cluster.")
    subject: WatchOf = column("Subject: groups or pipeline.")
    snapshot_id: str = column(
        "Newest evaluated snapshot, which may have no row; for the pipeline, its newest evaluation."
    )
    at: datetime = column("End of that snapshot; for the pipeline, time of the evaluation.")
    first_at: datetime = column("Time of the first evaluation.")


@record
class CourseRow:
    """
    One row per group or pipeline with an open or suspected incident: the state that the next evaluation continues.
    """

    cluster: str = column("Configured name of the cluster.")
    subject: WatchOf = column("Subject: groups or pipeline.")
    name: str = column("Consumer group, or cause of a pipeline incident.")
    course: IncidentCourse = column("State of its incident, as JSON.")
