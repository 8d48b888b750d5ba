"""The notifier without a chat."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from evenkeel.engine.adapters.log import LogNotifier
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity


def message(severity: Severity) -> AlertMessage:
    """A message as bad as that."""
    return AlertMessage(
        kind=MessageKind.INCIDENT_OPENED,
        severity=severity,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        title="orders: the cluster cannot be read",
        summary="It does not answer.",
    )


@pytest.mark.parametrize(
    ("severity", "level"),
    [
        (Severity.INFO, logging.INFO),
        (Severity.RESOLVED, logging.INFO),
        (Severity.WARNING, logging.WARNING),
        (Severity.CRITICAL, logging.ERROR),
    ],
)
def test_a_message_is_logged_as_loud_as_it_is_bad(
    caplog: pytest.LogCaptureFixture, severity: Severity, level: int
) -> None:
    """The whole text is in the log, under its key, at the level of its severity."""
    with caplog.at_level(logging.INFO):
        delivered = LogNotifier().send(message(severity), channel="#kafka", key="incident 1 opened")
    assert caplog.records[-1].levelno == level
    assert "alert incident 1 opened for #kafka" in caplog.records[-1].getMessage()
    assert "It does not answer." in caplog.records[-1].getMessage()
    assert delivered.channel == "log"


def test_it_says_once_why_nothing_is_on_slack(caplog: pytest.LogCaptureFixture) -> None:
    """Who reads the log learns which setting is missing, and is not told with every message."""
    notifier = LogNotifier()
    with caplog.at_level(logging.INFO):
        for number in range(2):
            notifier.send(message(Severity.INFO), channel="#kafka", key=str(number))
    assert caplog.text.count("EVENKEEL_SLACK_TOKEN") == 1
