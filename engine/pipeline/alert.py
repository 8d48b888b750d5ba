"""The step that speaks: what is new goes to the outbox, then to the notifier; nothing is said twice."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ..config import Settings
from ..messages.outbox import DeliveryReport, deliver
from ..messages.outbox_entries import AdviceToTell, PipelineToTell, queue_advice, queue_incidents
from ..ports import Notifier
from .quiet import QuietToTell, queue_quiet


class Watched(PipelineToTell, QuietToTell, Protocol):
    """How the pipelines fare, what is silenced, and the outbox of what is said about it."""


def alert(
    history: AdviceToTell,
    notifier: Notifier,
    settings: Settings,
    snapshot_id: str,
    link: str | None = None,
) -> DeliveryReport:
    """
    Tell what is new in the advice of a snapshot, if it is its cluster's newest, and whatever else is still unsent.

    Args:
        history: The advice, and where what is told of it goes.
        notifier: Where people read it.
        settings: The configuration.
        snapshot_id: The snapshot.
        link: Address of the run that tells it; None outside of Airflow.

    Raises:
        NotifierError: Something could not be delivered; it stays in the outbox and a retry sends it.
    """
    queue_advice(history, settings, snapshot_id, link)
    return deliver(history, notifier, settings)


def watch(
    history: Watched, notifier: Notifier, settings: Settings, now: datetime
) -> DeliveryReport:
    """
    Tell once that a cluster's pipeline is unreachable, late or stuck, and once that it is back; and of silences.

    Raises:
        NotifierError: As for `alert`.
    """
    queue_incidents(history, settings, now)
    queue_quiet(history, settings, now)
    return deliver(history, notifier, settings)
