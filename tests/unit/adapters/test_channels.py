"""One notifier for all channels, and the one without a chat."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from evenkeel.engine import wiring
from evenkeel.engine.adapters.channels import ChannelNotifier
from evenkeel.engine.adapters.log import LogNotifier
from evenkeel.engine.config import Settings, Webhook
from evenkeel.engine.model.errors import NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from tests.helpers.memory import MemoryNotifier
from tests.unit.adapters.test_webhook import OPENED


def test_a_message_goes_to_whom_its_channel_names() -> None:
    """Each webhook is a notifier of its own, all other channels are people's."""
    people, oncall = MemoryNotifier(), MemoryNotifier()
    notifier = ChannelNotifier(people, {"oncall": oncall})
    notifier.send(OPENED, channel="#kafka", key="a")
    notifier.send(OPENED, channel="webhook:oncall", key="b")
    assert ([key for _, key, _ in people.sent], [key for _, key, _ in oncall.sent]) == (
        ["a"],
        ["b"],
    )


def test_a_webhook_that_is_not_configured_is_no_channel_of_slack() -> None:
    """What was meant to page is not posted where nobody is woken."""
    people = MemoryNotifier()
    with pytest.raises(NotifierError, match=r"'gone' is not configured.*\[webhooks\.gone\]"):
        ChannelNotifier(people, {}).send(OPENED, channel="webhook:gone", key="a")
    assert people.sent == []


def test_the_webhooks_of_the_configuration_are_wired() -> None:
    """Beside Slack, or the log; without any there is nothing to route. No secret is shown."""
    webhook = Webhook(format="pagerduty", key=SecretStr("a-recognizable-key"))
    notifier = wiring.notifier(Settings(webhooks={"oncall": webhook}))
    assert isinstance(notifier, ChannelNotifier)
    assert "WebhookNotifier('oncall')" in repr(notifier)
    assert "a-recognizable" not in repr(notifier)
    assert isinstance(wiring.notifier(Settings()), LogNotifier)


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
