"""Who is paged, as it is configured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evenkeel.engine.config import Settings, Webhook, load, webhook_names
from evenkeel.engine.model.errors import ConfigError

ADDRESS, KEY = "https://ops:a-recognizable-passw0rd@pages.test/x", "a-recognizable-r0uting-key"
PAGER = '[webhooks.oncall]\nformat = "pagerduty"\ngroups = ["pay-*", "ship"]\n'


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write an evenkeel.toml and point EVENKEEL_CONFIG at it."""

    def writer(text: str) -> Path:
        file = tmp_path / "evenkeel.toml"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv("EVENKEEL_CONFIG", str(file))
        return file

    return writer


def test_secrets_of_a_webhook_come_from_the_environment(write, monkeypatch):
    """They are laid beside what the file says, and are in no repr."""
    write(PAGER)
    monkeypatch.setenv("EVENKEEL_WEBHOOKS", json.dumps({"oncall": {"url": ADDRESS, "key": KEY}}))
    settings = load()
    webhook = settings.webhooks["oncall"]

    assert (webhook.groups, webhook.severity) == (("pay-*", "ship"), "critical")
    assert (ADDRESS, KEY) == (webhook.url.get_secret_value(), webhook.key.get_secret_value())
    for text in (repr(settings), str(settings), repr(webhook)):
        assert "a-recognizable" not in text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f'{PAGER}url = "{ADDRESS}"', "webhooks.oncall.url"),
        (f'{PAGER}key = "{KEY}"', "webhooks.oncall.key"),
        (f'slack_webhook_url = "{ADDRESS}"', "slack_webhook_url"),
        (f'heartbeat_url = "{ADDRESS}"', "heartbeat_url"),
    ],
)
def test_a_secret_in_the_file_is_refused_without_being_shown(write, text, named):
    """The error names the key and where it belongs."""
    write(text)
    with pytest.raises(ConfigError) as refused:
        load()

    assert named in str(refused.value)
    assert "Airflow connection or an EVENKEEL_ environment variable" in str(refused.value)
    assert "a-recognizable" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[webhooks.oncall]\nformat = "pager"', "webhooks.oncall.format"),
        (
            '[webhooks.oncall]\nseverity = "warning"',
            "webhooks.oncall.format: must be given: write format =",
        ),
        (f'{PAGER}severity = "info"', "webhooks.oncall.severity"),
        ('[webhooks.a]\nformat = "pagerduty"\ngroups = 3', "webhooks.a.groups: write a list"),
        ('[webhooks.a]\nformat = "pagerduty"\ngroups = []', "webhooks.a.groups"),
        ('[webhooks."On Call"]\nformat = "pagerduty"', "webhooks.On Call"),
    ],
)
def test_a_bad_webhook_is_named(write, text, named):
    """By its key, as every other."""
    write(text)
    with pytest.raises(ConfigError) as refused:
        load()

    assert named in str(refused.value)


def test_secrets_that_are_wrong_are_not_shown(write, monkeypatch):
    """Neither by the error nor by what caused it."""
    write(PAGER)
    monkeypatch.setenv("EVENKEEL_WEBHOOKS", json.dumps({"oncall": {"url": [ADDRESS]}}))
    with pytest.raises(ConfigError, match=r"webhooks\.oncall\.url") as refused:
        load()

    assert "a-recognizable" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_who_is_paged_is_no_part_of_the_version():
    """Results stay comparable when somebody else is woken."""
    webhooks = {"oncall": Webhook(format="pagerduty")}
    assert Settings(webhooks=webhooks).version == Settings().version


def test_names_are_known_before_the_settings_are(write, monkeypatch):
    """Whoever has connections looks for those of file and environment."""
    write(PAGER)
    monkeypatch.setenv("EVENKEEL_WEBHOOKS", '{"prometheus": {"format": "alertmanager"}}')
    assert webhook_names() == ["oncall", "prometheus"]


def test_the_page_shows_webhooks_that_are_valid(write, monkeypatch):
    """A copy of the example on the page about alerts works, secrets included."""
    page = (Path(__file__).parents[3] / "docs/how-to/route-alerts.md").read_text(encoding="utf-8")
    [table] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    [secrets] = re.findall(r"EVENKEEL_WEBHOOKS='(.*)'", page)
    write(table)
    monkeypatch.setenv("EVENKEEL_WEBHOOKS", secrets)
    webhooks = load().webhooks
    assert webhooks.keys() == {"oncall", "prometheus"}
    assert webhooks["oncall"].key
    assert webhooks["prometheus"].url
