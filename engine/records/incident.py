"""
Something that is wrong for a while: as people ask for it, and as it is remembered of a group from snapshot to snapshot,
or of a pipeline from look to look.

Who reads how that goes on: `evenkeel.engine.incidents.lifecycle`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Int32, Unit, column, record
from ..model.facts import Fact
from ..model.groups import WatchOf
from ..model.states import IncidentState, TroubleKind


@record
class CauseSpan:
    """One thing that is wrong, from the first snapshot that showed it to the newest."""

    cause: TroubleKind = column("What is wrong.")
    since: datetime = column("When it began, as far as snapshots tell.")
    last_seen_at: datetime = column("When it was last seen.")
    snapshots: Int32 = column(
        "In how many snapshots in a row it was seen.", unit=Unit.SNAPSHOTS, at_least=0
    )
    amount: float | None = column(
        "How bad it is, more is worse: seconds behind, records lost, seconds that it lasts; null unknown.",
        unit=Unit.BY_CAUSE,
        none=True,
    )
    facts: tuple[Fact, ...] = column("With names and numbers, as last seen.", default=())
    known: Mapping[str, Any] = column(
        "Of a pipeline, what is known about it by name, as last seen.", default_factory=dict
    )
    missed: Int32 = column(
        "In how many snapshots in a row since then it was not seen.",
        default=0,
        unit=Unit.SNAPSHOTS,
        at_least=0,
    )


@record
class Readers:
    """What the readers of an incident have been told of it last."""

    alert_key: str = column("The message that stands for the incident: its own, or a digest.")
    channel: str = column("Where that is.")
    cause: TroubleKind = column("The worst cause that they know.")
    amount: float | None = column("How bad that was then.", unit=Unit.BY_CAUSE, none=True)
    at: datetime = column("When that was true.")
    causes: tuple[TroubleKind, ...] = column(
        "All that they know to be wrong, or to have been.", default=()
    )
    updates: Int32 = column("How often the message was changed.", default=0, at_least=0)
    in_digest: bool = column("Whether it was one of many in a digest.", default=False)
    pagers: tuple[str, ...] = column(
        "The channels of the webhooks that were told of it.", default=()
    )


@record
class IncidentCourse:
    """What is remembered of a group, or a pipeline, with which something is wrong; of one that is well, nothing."""

    key: str = column("Our own id of the incident, the same from its beginning to its end.")
    group_id: str | None = column(
        "The consumer group; null of the pipeline of the whole cluster.", none=True
    )
    state: IncidentState = column("How far it has come.")
    cause: TroubleKind = column("The most severe thing that is, or was, wrong.")
    causes: tuple[CauseSpan, ...] = column("All that is wrong now, the most severe first.")
    began_at: datetime = column("When it began, as far as snapshots tell.")
    began_snapshot_id: str = column("The first snapshot that showed it.")
    good_snapshot_id: str | None = column(
        "The last snapshot in which the group was well; null where none is known.", none=True
    )
    opened_at: datetime | None = column("When it was worth telling; null before.", default=None)
    closed_at: datetime | None = column("When it was over.", default=None)
    well_since: datetime | None = column(
        "Since when the group is well; null while it is not.", default=None
    )
    unseen_since: datetime | None = column(
        "Since when no snapshot shows any of it, be the group well or not; null while one does, or is unknown.",
        default=None,
        none=True,
    )
    well_looks: Int32 = column(
        "In how many snapshots in a row nothing was seen of it.", default=0, at_least=0
    )
    already_so: bool = column(
        "Whether it was so already when the cluster was first looked at.", default=False
    )
    over_at: datetime | None = column(
        "When the incident before this one was over; null where that is long ago, or none was.",
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
        "What its readers know; null while nobody has been told.", default=None
    )

    @property
    def name(self) -> str:
        """Its name among those of its cluster: the group, or what is wrong with the pipeline."""
        return self.cause.value if self.group_id is None else self.group_id


@record
class IncidentRow:
    """Something that is wrong for a while: at most one open per group, one of each kind per pipeline of a cluster."""

    incident_id: int | None = column("Number of the incident.", default=None, generated=True)
    cluster: str = column("Configured name of the cluster.")
    group_id: str | None = column(
        "The consumer group; null when the whole cluster is concerned.",
        default=None,
        head="Group",
        none=True,
    )
    key: str | None = column(
        "Our own id of the incident, the same from beginning to end.", default=None
    )
    kind: str = column("What is wrong; of a group the worst that was seen.")
    severity: str = column("How bad it is.")
    began_at: datetime | None = column(
        "When it began, as far as is known; null where only its opening is.", default=None
    )
    opened_at: datetime = column("When it was worth telling.")
    last_seen_at: datetime = column("When it was last seen.")
    closed_at: datetime | None = column("When it was over; null while it is open.", default=None)
    notified_at: datetime | None = column(
        "When its message first arrived; null: nobody has been told.", default=None, none=True
    )
    alert_key: str | None = column(
        "Key of the message that stands for it, its own or a digest; null while nobody is to be told.",
        default=None,
    )
    owner: str | None = column(
        "Who owns the group; null where that is not configured.", default=None, none=True
    )
    summary: str | None = column("What is wrong, in words.", default=None, none=True)
    causes: tuple[CauseSpan, ...] = column(
        "All that is wrong, the worst first: a list of {cause, since, amount, facts ...}.",
        default=(),
    )
    good_snapshot_id: str | None = column(
        "The last snapshot in which the group was well; null where none is known.",
        default=None,
        none=True,
    )
    facts: Mapping[str, Any] = column(
        "What is known about one of the pipeline, by name.", default_factory=dict
    )

    @classmethod
    def of_course(
        cls, course: IncidentCourse, *, cluster: str, at: datetime, owner: str | None, summary: str
    ) -> IncidentRow | None:
        """
        What people are shown of an incident; None while it is only suspected.

        Args:
            course: How far it has come.
            cluster: Configured name of the cluster.
            at: When the reading of the newest snapshot ended.
            owner: Who owns the group, if that is configured.
            summary: What is wrong, in words.
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
    """How far the groups of a cluster, or its pipeline, have been watched for incidents."""

    cluster: str = column("Configured name of the cluster.")
    subject: WatchOf = column("What was watched.")
    snapshot_id: str = column(
        "The newest snapshot that was looked at, also one that has no row; of the pipeline the newest look."
    )
    at: datetime = column("When its reading ended; of the pipeline when that was.")
    first_at: datetime = column("When the first one was.")


@record
class CourseRow:
    """
    What the next look has to know of a group or pipeline with which something is wrong, or may be; of one that is well
    there is none.
    """

    cluster: str = column("Configured name of the cluster.")
    subject: WatchOf = column("What was watched.")
    name: str = column("The consumer group, or what is wrong with the pipeline.")
    course: IncidentCourse = column("How far its incident has come, as JSON.")
