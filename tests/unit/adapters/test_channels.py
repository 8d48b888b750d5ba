"""One notifier for all channels."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from evenkeel.engine import wiring
from evenkeel.engine.adapters.channels import ChannelNotifier
from evenkeel.engine.adapters.log import LogNotifier
from evenkeel.engine.config import Settings, Webhook
from evenkeel.engine.model.errors import NotifierError
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
    webhook = Webhook(format="pagerduty", key=SecretStr("a-recognisable-key"))
    notifier = wiring.notifier(Settings(webhooks={"oncall": webhook}))
    assert isinstance(notifier, ChannelNotifier)
    assert "WebhookNotifier('oncall')" in repr(notifier)
    assert "a-recognisable" not in repr(notifier)
    assert isinstance(wiring.notifier(Settings()), LogNotifier)
