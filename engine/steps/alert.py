"""The step that speaks: what is new goes to the outbox, then to the notifier; nothing is said twice."""

from __future__ import annotations

from datetime import datetime

from evenkeel.engine.alerting.outbox import DeliveryReport, deliver, queue_advice, queue_incidents
from evenkeel.engine.config import Settings
from evenkeel.engine.ports import History, Notifier


def alert(
    history: History, notifier: Notifier, settings: Settings, snapshot_id: str
) -> DeliveryReport:
    """
    Tell what is new in the advice of a snapshot, if it is its cluster's newest, and whatever else is still unsent.

    Raises:
        NotifierError: Something could not be delivered; it stays in the outbox and a retry sends it.
    """
    queue_advice(history, settings, snapshot_id)
    return deliver(history, notifier, settings)


def watch(
    history: History, notifier: Notifier, settings: Settings, now: datetime
) -> DeliveryReport:
    """
    Tell once that a cluster's pipeline is unreachable, late or stuck, and once that it is back.

    Raises:
        NotifierError: As for `alert`.
    """
    queue_incidents(history, settings, now)
    return deliver(history, notifier, settings)
