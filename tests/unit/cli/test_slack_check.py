"""`doctor` asks a server that speaks Slack's API whose token it is."""

from __future__ import annotations

import pytest

from tests.helpers.slack_hook import SECRET, hook_server
from tests.stage.slack_workspace import REVOKED
from tests.unit.cli.conftest import objects

pytestmark = pytest.mark.slow

pytest_plugins = ("tests.helpers.slack_fixtures",)


def test_a_token_that_works_is_named_by_its_bot_and_workspace(run, slack_server, monkeypatch):
    """OK, whose it is, and where messages go by default."""
    monkeypatch.setenv("EVENKEEL_SLACK_TOKEN", "xoxb-of-a-test")
    monkeypatch.setenv("EVENKEEL_SLACK_BASE_URL", slack_server.base_url)
    row = next(row for row in objects(run("doctor", "--json")) if row["name"] == "slack")
    assert row["outcome"] == "OK"
    assert " in " in row["found"]
    assert "#kafka" in row["found"]


def test_a_token_that_is_refused_is_a_failure_with_its_fix(run, slack_server, monkeypatch):
    """What Slack said and where a token is set; the token itself is not shown."""
    monkeypatch.setenv("EVENKEEL_SLACK_TOKEN", REVOKED)
    monkeypatch.setenv("EVENKEEL_SLACK_BASE_URL", slack_server.base_url.rstrip("/"))
    result = run("doctor")
    assert result.exit_code == 1
    line = next(one for one in result.stdout.splitlines() if one.startswith("FAIL"))
    assert "does not take the token: invalid_auth. Set EVENKEEL_SLACK_TOKEN" in line
    assert REVOKED not in result.output


@pytest.mark.parametrize("channel", [None, "#money"])
def test_an_incoming_webhook_is_known_without_posting_to_it(run, monkeypatch, tmp_path, channel):
    """What it can not do is said; that it reaches no other channel is a warning where rules name some."""
    if channel:
        (tmp_path / "evenkeel.toml").write_text(f'[[rules]]\nchannel = "{channel}"\n')
    with hook_server() as server:
        monkeypatch.setenv("EVENKEEL_SLACK_WEBHOOK_URL", server.url)
        result = run("doctor", "--json")
        assert server.posted == []
    row = next(row for row in objects(result) if row["name"] == "slack")
    assert row["outcome"] == ("WARN" if channel else "OK")
    assert "neither threads nor changes" in row["found"]
    assert ("rules name #money" in row["found"]) == (channel is not None)
    assert SECRET not in result.output


def test_an_incoming_webhook_that_is_gone_is_a_failure_with_its_fix(run, monkeypatch):
    """What Slack said of it, and where another one is set."""
    with hook_server() as server:
        monkeypatch.setenv("EVENKEEL_SLACK_WEBHOOK_URL", f"{server.url}-of-another")
        result = run("doctor")
    line = next(one for one in result.stdout.splitlines() if one.startswith("FAIL"))
    assert "no_service" in line
    assert "EVENKEEL_SLACK_WEBHOOK_URL" in line
    assert SECRET not in result.output
