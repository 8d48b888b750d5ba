"""The step that speaks: what is new goes to the outbox, then to the notifier; nothing is said twice."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from evenkeel.engine.alerting.outbox import (
    AdviceToTell,
    DeliveryReport,
    PipelineToTell,
    deliver,
    queue_advice,
    queue_incidents,
)
from evenkeel.engine.config import Settings
from evenkeel.engine.ports import Notifier, Outbox


class Watched(PipelineToTell, Outbox, Protocol):
    """How the pipelines fare, and the outbox of what is said about it."""


def alert(
    history: AdviceToTell, notifier: Notifier, settings: Settings, snapshot_id: str
) -> DeliveryReport:
    """
    Tell what is new in the advice of a snapshot, if it is its cluster's newest, and whatever else is still unsent.

    Raises:
        NotifierError: Something could not be delivered; it stays in the outbox and a retry sends it.
    """
    queue_advice(history, settings, snapshot_id)
    return deliver(history, notifier, settings)


def watch(
    history: Watched, notifier: Notifier, settings: Settings, now: datetime
) -> DeliveryReport:
    """
    Tell once that a cluster's pipeline is unreachable, late or stuck, and once that it is back.

    Raises:
        NotifierError: As for `alert`.
    """
    queue_incidents(history, settings, now)
    return deliver(history, notifier, settings)
