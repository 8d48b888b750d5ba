"""Where a message goes."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import Rule, Settings, Webhook
from evenkeel.engine.messages.channels import is_named, receivers_of
from evenkeel.engine.model.message import Severity

SETTINGS = Settings(
    rules=(Rule(groups="pay-*", channel="#money"),),
    webhooks={
        "all": Webhook(format="alertmanager", severity="warning"),
        "money": Webhook(format="pagerduty", groups=("pay-*",)),
        "us": Webhook(format="pagerduty", clusters=("us",)),
    },
)


@pytest.mark.parametrize(
    ("cluster", "group", "severity", "expected"),
    [
        ("eu", "pay-in", Severity.CRITICAL, ["#money", "webhook:all", "webhook:money"]),
        ("eu", "pay-in", Severity.WARNING, ["#money", "webhook:all"]),
        ("eu", "ship", Severity.CRITICAL, ["#kafka", "webhook:all"]),
        ("us", "ship", Severity.CRITICAL, ["#kafka", "webhook:all", "webhook:us"]),
        ("us", None, Severity.CRITICAL, ["#kafka", "webhook:all", "webhook:us"]),
    ],
)
def test_an_incident_goes_to_its_channel_and_to_the_webhooks_that_take_it(
    cluster: str, group: str | None, severity: Severity, expected: list[str]
) -> None:
    """By the patterns of cluster and group and by severity; a whole cluster is of nobody who named groups."""
    assert receivers_of(SETTINGS, cluster, group, severity) == expected


def test_without_webhooks_only_the_channel_hears() -> None:
    """Paging has to be asked for."""
    assert receivers_of(Settings(), "eu", "pay-in", Severity.CRITICAL) == ["#kafka"]


def test_the_configuration_names_its_channels_and_webhooks() -> None:
    """What it does not name any more is not spoken to."""
    channels = ("#kafka", "#money", "webhook:us", "#gone", "webhook:gone")
    assert [is_named(SETTINGS, each) for each in channels] == [True, True, True, False, False]
