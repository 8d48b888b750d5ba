"""Incidents of groups as they are remembered, shown and told: rows for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.engine.model.facts import Fact, FactKind
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.model.states import Diagnosis, IncidentState, TroubleKind
from evenkeel.engine.ports import Posting
from evenkeel.engine.records import CauseSpan, IncidentCourse, IncidentRow, Readers

BEGAN = datetime(2026, 3, 1, 12, 0, 3, 250_001, tzinfo=UTC)
CLUSTER = "demo"
CHANNEL = "#kafka"


def at(minutes: float) -> datetime:
    """So many minutes after the beginning."""
    return BEGAN + timedelta(minutes=minutes)


def key_of(group: str) -> str:
    """The key of a group's incident."""
    return f"{CLUSTER}/{group}/s0"


def course(
    group: str = "orders-app",
    cause: TroubleKind = Diagnosis.CATCHING_UP,
    minutes: float = 0,
    **known: Any,
) -> IncidentCourse:
    """An incident that was told when it began and is seen some minutes later."""
    behind = Fact(kind=FactKind.DIAGNOSIS, measure="behind", after=960.5, subjects=("orders-0",))
    row = {
        "key": key_of(group),
        "group_id": group,
        "state": IncidentState.OPEN,
        "cause": cause,
        "causes": (
            CauseSpan(
                cause=cause,
                since=BEGAN,
                last_seen_at=at(minutes),
                snapshots=3,
                amount=960.5,
                facts=(behind,),
            ),
        ),
        "began_at": BEGAN,
        "began_snapshot_id": "s0",
        "good_snapshot_id": "s-1",
        "opened_at": BEGAN,
        "readers": Readers(
            alert_key=f"incident {key_of(group)} opened",
            channel=CHANNEL,
            cause=cause,
            amount=None,
            at=BEGAN,
        ),
    }
    return IncidentCourse(**row | known)


def row(of: IncidentCourse, minutes: float = 0, summary: str = "It is behind.") -> IncidentRow:
    """What people are shown of it."""
    shown = IncidentRow.of_course(
        of, cluster=CLUSTER, at=at(minutes), owner="team orders", summary=summary
    )
    assert shown is not None
    return shown


def posting(what: str = "opened", group: str = "orders-app", **known: Any) -> Posting:
    """What is told of a group's incident: *opened*, *worse 1*, *resolved thread* ..."""
    kind = MessageKind.INCIDENT_OPENED if what == "opened" else MessageKind.INCIDENT_WORSE
    message = AlertMessage(
        kind=MessageKind.INCIDENT_CLOSED if what.startswith("resolved") else kind,
        severity=Severity.CRITICAL,
        at=BEGAN,
        title=f"{group}: {what}",
        summary="It is behind.",
    )
    opened = f"incident {key_of(group)} opened"
    about = {"answers": opened} if what.endswith("thread") else {"replaces": opened}
    named = {} if what == "opened" else about
    key = f"incident {key_of(group)} {what}"
    return Posting(**{"key": key, "channel": CHANNEL, "message": message} | named | known)
