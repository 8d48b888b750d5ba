"""Incidents of groups, one for each cause, with the facts that the judge gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.engine.messages.incident_message import Incident
from evenkeel.engine.model.facts import MOMENT, Fact, FactKind, fact, note
from evenkeel.engine.model.states import Diagnosis, IncidentState
from evenkeel.engine.records import CauseSpan, IncidentCourse, Readers

NOW = datetime(2026, 3, 1, 3, 5, tzinfo=UTC)
BEGAN = NOW - timedelta(minutes=25)
GOOD = "prod-20260301T023500Z-abc123"


def stated(measure: str, names: Sequence[str] = (), **known: float | str | None) -> Fact:
    """A fact about what is the matter."""
    return fact(FactKind.DIAGNOSIS, measure, names, **known)


THERE = (BEGAN - timedelta(minutes=5)).timestamp()
LAG = stated("total_lag", after=1_854_000)
DELAY = stated("delay_seconds", after=1500)
ARRIVALS = stated("production_per_second", after=1236)

FACTS: Mapping[Diagnosis, tuple[float | None, tuple[Fact, ...]]] = {
    Diagnosis.NO_MEMBERS: (
        1500,
        (
            stated("no_members", after=1236, partitions=12),
            stated("last_members", ["orders-1 at 10.0.0.4"], after=THERE, unit=MOMENT),
            stated("last_commit", after=THERE, unit=MOMENT),
            LAG,
            DELAY,
        ),
    ),
    Diagnosis.GROUP_DELETED: (
        1500,
        (
            stated("group_deleted", before=3, after=1236, bound=40, partitions=12),
            stated("last_members", ["orders-1 at 10.0.0.4"], after=THERE, unit=MOMENT),
        ),
    ),
    Diagnosis.DATA_LOSS: (
        1_600_000,
        (
            stated("data_loss", ["orders-0", "orders-3"], after=1_600_000, partitions=2),
            stated("retention_ms", ["orders"], after=86_400_000),
            LAG,
            ARRIVALS,
        ),
    ),
    Diagnosis.OFFSETS_SKIPPED: (
        90_000,
        (stated("offsets_skipped", ["orders-0"], after=90_000, partitions=1), LAG),
    ),
    Diagnosis.DATA_LOSS_IMMINENT: (
        None,
        (
            stated("data_loss_imminent", ["orders-3"], after=2520, partitions=1),
            stated("retention_ms", ["orders"], after=86_400_000),
            LAG,
            DELAY,
        ),
    ),
    Diagnosis.GROUP_NOT_COMMITTING: (
        720,
        (stated("group_not_committing", before=1236, after=780, bound=3, partitions=12), LAG),
    ),
    Diagnosis.MEMBER_NOT_COMMITTING: (
        700,
        (
            stated("member_not_committing", ["orders-2"], before=412, after=760, partitions=4),
            stated("silent_hosts", ["10.0.0.5"]),
            LAG,
        ),
    ),
    Diagnosis.STUCK_PARTITION: (
        700,
        (
            stated("stuck_partition", ["orders-3"], after=760, partitions=1),
            stated("stuck_at", ["orders-3", "orders-2 at 10.0.0.5"], before=120_345, after=125_400),
            LAG,
        ),
    ),
    Diagnosis.CATCHING_UP: (
        1500,
        (stated("catching_up", before=1500, after=None, partitions=5), LAG, ARRIVALS),
    ),
    Diagnosis.REBALANCING: (
        4500,
        (stated("rebalancing", ["PreparingRebalance"]), LAG, DELAY, ARRIVALS),
    ),
    Diagnosis.UNDER_PROVISIONED: (
        1500,
        (
            stated("under_provisioned", before=3, after=5, bound=12),
            stated("group_load", after=1236, bound=800),
            LAG,
            DELAY,
        ),
    ),
    Diagnosis.SLOW_MEMBER: (
        1500,
        (stated("slow_member", ["orders-2"], before=412, after=150, bound=600), LAG, DELAY),
    ),
    Diagnosis.HOT_PARTITION: (
        1500,
        (stated("hot_partition", ["orders-3"], after=900, bound=600), LAG, DELAY),
    ),
    Diagnosis.UNKNOWN: (None, (stated("unreadable", quote="not authorized to access it"),)),
    Diagnosis.SKEWED_LOAD: (
        1500,
        (stated("skewed_load", ["orders-2"], after=700, bound=600), LAG, ARRIVALS),
    ),
    Diagnosis.STORE_IN_ONE_RACK: (
        3,
        (stated("store_in_one_rack", ["0_0", "0_2", "0_3"], after=3, bound=6),),
    ),
    Diagnosis.UNASSIGNED_PARTITIONS: (
        1500,
        (
            stated(
                "unassigned_partitions",
                ["orders-3", "orders-7"],
                before=854_000,
                after=1800,
                bound=12,
                partitions=2,
            ),
            stated("subscribed_by_some", after=2, bound=3),
            LAG,
        ),
    ),
    Diagnosis.HANGING_TRANSACTION: (
        760,
        (
            stated("hanging_transaction", ["orders-3"], after=760, partitions=1),
            stated("open_transaction", ["orders-3"], before=120_345, after=125_400),
            LAG,
        ),
    ),
}

CHANGED = (
    note("members_left", ["orders-1", "orders-2", "orders-3"]),
    note("partitions_added", ["orders"], before=6, after=12),
)


def span_of(cause: Diagnosis, **columns: Any) -> CauseSpan:
    """A cause that was seen since the incident began."""
    amount, facts = FACTS[cause]
    known = {"since": BEGAN, "last_seen_at": NOW, "snapshots": 5, "amount": amount, "facts": facts}
    return CauseSpan(cause=cause, **{**known, **columns})


def course_of(*causes: Diagnosis, group: str = "orders-app", **columns: Any) -> IncidentCourse:
    """An open incident of these causes, the most severe first."""
    known: dict[str, Any] = {
        "key": f"prod/{group}/prod-20260301T024000Z-abc124",
        "group_id": group,
        "state": IncidentState.OPEN,
        "cause": causes[0],
        "causes": tuple(span_of(cause) for cause in causes),
        "began_at": BEGAN,
        "began_snapshot_id": "prod-20260301T024000Z-abc124",
        "good_snapshot_id": GOOD,
        "opened_at": NOW,
    }
    return IncidentCourse(**{**known, **columns})


def incident_of(*causes: Diagnosis, group: str = "orders-app", **columns: Any) -> Incident:
    """What is told of such an incident; *columns* of the incident, and *course*: those of its course."""
    course = course_of(*causes, group=group, **columns.pop("course", {}))
    known: dict[str, Any] = {
        "cluster": "prod",
        "course": course,
        "at": NOW,
        "snapshot_id": "prod-20260301T030500Z-abc129",
        "changed": CHANGED,
        "owner": "payments",
        "mention": "S012ABCDEF",
        "link": "https://airflow.example.com/dags/snapshot_offsets/runs/1",
        "kafka": "--bootstrap-server broker1:9092",
    }
    return Incident(**{**known, **columns})


def readers_of(cause: Diagnosis, amount: float | None, **columns: Any) -> Readers:
    """Readers who were told ten minutes after it began."""
    known = {"alert_key": "k", "channel": "#team", "at": BEGAN + timedelta(minutes=10)}
    return Readers(cause=cause, amount=amount, **{**known, **columns})
