"""Silences from short descriptions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.engine.records import SilenceKind, SilenceRow

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def silence(**given: Any) -> SilenceRow:
    """A silence of the orders groups of every cluster, from an hour before `NOW` until an hour after it."""
    known: dict[str, Any] = {
        "kind": SilenceKind.SILENCE,
        "cluster": "*",
        "groups": "orders-*",
        "starts_at": NOW - HOUR,
        "ends_at": NOW + HOUR,
        "reason": "moving",
        "who": "ana",
    }
    return SilenceRow(**known | given)


def ack(**given: Any) -> SilenceRow:
    """An ack of the incidents of the same groups, until they are over."""
    return silence(**{"kind": SilenceKind.ACK, "ends_at": None, "who": "bo"} | given)
