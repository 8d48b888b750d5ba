"""What is not there is said in one line, within seconds."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from tests.unit.cli.conftest import objects

SECONDS = 120
"""More than any of these takes on a busy machine, less than anyone would call hanging."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(SECONDS)]


@pytest.fixture
def nothing() -> str:
    """An address where nothing listens."""
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{held.getsockname()[1]}"


COMMANDS = (
    ["lag"],
    ["advise"],
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


def test_the_json_of_doctor_is_complete_when_all_is_well(run):
    """Each line an object with name, outcome, what was found and the fix."""
    for row in objects(run("doctor", "--json")):
        assert set(row) == {"name", "outcome", "found", "fix", "cluster"}
        assert row["outcome"] in ("OK", "WARN")
