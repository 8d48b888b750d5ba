"""Services that answer, refuse or are not there: said in one line, within seconds, and nobody is paged to find out."""

from __future__ import annotations

import json
import socket
from contextlib import closing

import pytest

from evenkeel.engine.cli import checks
from tests.helpers.pages import KEY, page_server
from tests.helpers.slack_hook import SECRET, hook_server
from tests.stage.slack_workspace import REVOKED
from tests.unit.cli.conftest import objects

SECONDS = 120
"""More than any of these takes on a busy machine, less than anyone would call hanging."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(SECONDS)]


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a JVM."""
    monkeypatch.setattr(checks, "java", lambda: checks.Check("java", "OK", "there"))


@pytest.fixture
def nothing() -> str:
    """An address where nothing listens."""
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{held.getsockname()[1]}"


COMMANDS = (
    ["lag"],
    ["snapshot", "take", "--out", "lake"],
    ["snapshot", "record", "--out", "rec"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_nobody_listens(run, nothing, tmp_path, command):
    """Exit code 3, the address in the one line, and nothing left behind."""
    result = run(*command, "--bootstrap", nothing)
    assert result.exit_code == 3
    lines = [line for line in result.stderr.splitlines() if not line.startswith("snapshot 1 of")]
    assert len(lines) == 1
    assert nothing in lines[0]
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_doctor_names_the_cluster_that_is_down(run, nothing):
    """A FAIL with the fix, exit code 1; the other checks are done all the same."""
    result = run("doctor", "--bootstrap", nothing)
    assert result.exit_code == 1
    line = next(one for one in result.stdout.splitlines() if one.startswith("FAIL"))
    assert nothing in line
    assert any("  lake " in one for one in result.stdout.splitlines())


def test_a_database_that_is_down_is_exit_code_5(run, nothing, monkeypatch):
    """For queries and migrations alike; the password is nowhere."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", f"postgresql://me:hunter2@{nothing}/history")
    for command in (["query", "groups"], ["admin", "migrate"], ["admin", "migrate", "--dry-run"]):
        result = run(*command)
        assert result.exit_code == 5
        assert len(result.stderr.splitlines()) == 2
        assert "hunter2" not in result.output


def test_doctor_names_what_is_down_beside_the_rest(run, nothing, monkeypatch):
    """The history and Slack each have their own line and fix."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", f"postgresql://me:hunter2@{nothing}/history")
    monkeypatch.setenv("EVENKEEL_SLACK_TOKEN", "xoxb-secret")
    monkeypatch.setenv("EVENKEEL_SLACK_BASE_URL", f"http://{nothing}/api/")
    result = run("doctor")
    assert result.exit_code == 1
    failed = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("FAIL")]
    assert failed == ["history", "slack"]
    assert "hunter2" not in result.output
    assert "xoxb-secret" not in result.output


pytest_plugins = ("tests.helpers.slack_fixtures",)


def test_a_token_that_works_is_named_by_its_bot_and_workspace(checked, slack_server, monkeypatch):
    """OK, whose it is, and where messages go by default."""
    monkeypatch.setenv("EVENKEEL_SLACK_TOKEN", "xoxb-of-a-test")
    monkeypatch.setenv("EVENKEEL_SLACK_BASE_URL", slack_server.base_url)
    row = checked()["slack"]
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
    assert "rejects the token: invalid_auth. Set EVENKEEL_SLACK_TOKEN" in line
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


FILE = """
[webhooks.prometheus]
format = "alertmanager"

[webhooks.oncall]
format = "pagerduty"
"""


@pytest.fixture
def rows(run, tmp_path, monkeypatch):
    """The rows about them, by name and webhook, with these secrets."""

    def ask(**secrets):
        (tmp_path / "evenkeel.toml").write_text(FILE)
        monkeypatch.setenv("EVENKEEL_WEBHOOKS", json.dumps(secrets))
        result = run("doctor", "--json")
        assert KEY not in result.output
        return [
            (row["outcome"], row["found"], row["fix"] or "")
            for row in map(json.loads, result.stdout.splitlines())
            if row["name"] in ("webhook", "heartbeat")
        ]

    return ask


def test_who_answers_is_named_and_nobody_is_paged(rows, monkeypatch):
    """What could not be asked is said; a heartbeat is not called either."""
    with page_server() as server:
        monkeypatch.setenv("EVENKEEL_HEARTBEAT_URL", f"{server.url}/a-secret-uuid")
        url = server.url
        oncall, prometheus, heartbeat = rows(
            prometheus={"url": url}, oncall={"url": url, "key": KEY}
        )
        pages = server.pages
    assert oncall[0] == prometheus[0] == heartbeat[0] == "OK"
    assert "the key was not checked" in oncall[1]
    assert "prometheus: Alertmanager 0.28.0 at 127.0.0.1:" in prometheus[1]
    assert "the address itself was not called" in heartbeat[1]
    assert pages.calls == [("GET", "/"), ("GET", "/api/v2/status"), ("GET", "/")]


def test_what_is_missing_has_its_fix(rows):
    """A webhook without secrets, or with a key that is none."""
    oncall, prometheus, heartbeat = rows(oncall={"key": KEY[:-1]})
    short = "webhook 'oncall' has a key of 31 characters; PagerDuty's routing keys have 32."
    assert oncall[:2] == ("FAIL", short)
    assert prometheus[:2] == ("WARN", "prometheus: no url is configured.")
    assert "evenkeel_webhook_prometheus" in prometheus[2]
    assert heartbeat[0] == "WARN"


def test_somebody_else_is_no_alertmanager(rows):
    """An address that answers with something else."""
    with page_server() as server:
        _, prometheus, _ = rows(prometheus={"url": f"{server.url}/elsewhere"})
    assert prometheus[0] == "FAIL"
    assert "doesn't answer like an Alertmanager" in prometheus[1]
