"""`evenkeel doctor`: one line per check, the fix beside what is wrong."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.adapters import postgres
from evenkeel.engine.adapters.kafka.health import HealthCheck
from evenkeel.engine.adapters.slack import check
from evenkeel.engine.adapters.webhook import check as pagers
from evenkeel.engine.cli import checks
from evenkeel.engine.model.errors import (
    HistoryError,
    NotifierError,
)
from evenkeel.engine.model.facts import finding
from tests.unit.cli.conftest import objects

JAVA = checks.java


@pytest.fixture(autouse=True)
def no_java(monkeypatch):
    """Nobody waits for a JVM here; the check has a test of its own."""
    there = checks.Check("java", "OK", "there")
    monkeypatch.setattr(checks, "java", lambda: there)


def found(what, ok=True, fix=None, problem=None):
    """A finding as the Kafka adapter gives it."""
    return HealthCheck(what, ok, f"{what} were seen", fix, problem)


@pytest.fixture
def healthy(monkeypatch):
    """Everything configured, and everything answers; the mapping can be changed."""
    state = {
        "findings": [found("brokers"), found("racks"), found("groups"), found("topics")],
        "pending": [],
        "written": None,
        "who": "keel in example",
        "heartbeat": "it answers",
    }

    def ask(what):
        def answer(*_):
            if isinstance(state[what], Exception):
                raise state[what]
            return state[what]

        return answer

    def cluster(settings, name):
        def ping():
            return SimpleNamespace(kafka_cluster_id="kid", findings=ask("findings")())

        return SimpleNamespace(ping=ping)

    monkeypatch.setattr(wiring, "cluster", cluster)
    monkeypatch.setattr(postgres, "pending", ask("pending"))
    monkeypatch.setattr(postgres, "check", ask("written"))
    monkeypatch.setattr(check, "who_am_i", ask("who"))
    monkeypatch.setattr(pagers, "host_of_heartbeat", ask("heartbeat"))
    monkeypatch.setenv("EVENKEEL_HEARTBEAT_URL", "https://hc.test/hunter2")
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://me:hunter2@db/history")
    monkeypatch.setenv("EVENKEEL_SLACK_TOKEN", "xoxb-secret")
    monkeypatch.setenv("EVENKEEL_CLUSTERS", '{"prod": {"bootstrap": "kafka:9092"}}')
    return state


def test_everything_that_is_needed_is_tried(run, checked, healthy):
    """A line per check, all OK, exit code 0, no secret shown."""
    rows, shown = checked(), run("doctor", "--json").output
    assert {tuple(row) for row in rows.values()} == {("name", "outcome", "found", "fix", "cluster")}
    assert {row["outcome"] for row in rows.values()} == {"OK"}
    names = "python java spark configuration kafka brokers racks groups topics lake history slack heartbeat"
    assert list(rows) == names.split()
    assert "hunter2" not in shown
    assert "xoxb" not in shown


@pytest.mark.parametrize(
    ("broken", "name", "outcome"),
    [
        ({"findings": [found("groups", False, "Grant it.")]}, "groups", "FAIL"),
        ({"findings": [found("racks", False, "Set it.")]}, "racks", "WARN"),
        ({"pending": ["0001_history"]}, "history", "FAIL"),
        ({"written": HistoryError("by another.", fix="Start it.")}, "history", "WARN"),
        ({"who": ZeroDivisionError("x")}, "slack", "FAIL"),
        ({"heartbeat": NotifierError("gone.", fix="Start it.")}, "heartbeat", "FAIL"),
    ],
)
def test_what_is_wrong_stands_beside_its_fix(run, healthy, broken, name, outcome):
    """The check has its outcome and a remedy, the others go on, and a FAIL makes exit code 1."""
    healthy.update(broken)
    result = run("doctor")
    line = next(line for line in result.stdout.splitlines() if f"  {name} " in line)
    assert line.startswith(outcome)
    fix = next((f for f in ("Grant it.", "Set it.", "Start it.") if f in line), "")
    assert fix or "evenkeel admin migrate" in line or "EVENKEEL_DEBUG" in line
    assert "slack" in result.stdout
    assert result.exit_code == (1 if outcome == "FAIL" else 0)
    assert "Traceback" not in result.output


def test_the_first_problem_stands_behind_what_was_seen(run, healthy):
    """With whom it concerns and its cause."""
    first = finding("group_unread", ["secret"], quote="not allowed")
    healthy.update({"findings": [found("groups", False, "Grant it.", first)]})

    [line] = [line for line in run("doctor").stdout.splitlines() if "  groups " in line]

    assert "groups were seen; group secret: not allowed" in line


def test_what_is_not_set_up_is_a_warning(checked):
    """Without cluster, database and token nothing fails; each line says how to set it up."""
    rows = checked()
    for name in ("kafka", "history", "slack", "heartbeat"):
        assert rows[name]["outcome"] == "WARN"
        assert rows[name]["fix"]


def test_a_broken_configuration_ends_the_list(run, tmp_path):
    """The key is named; what depends on it is not guessed."""
    (tmp_path / "evenkeel.toml").write_text("nonsense = 1\n")
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].startswith("FAIL  configuration")
    assert "nonsense: no such key" in result.stdout


def test_a_lake_in_a_missing_folder_is_a_failure(run, monkeypatch, tmp_path):
    """A mount that is not there is found before the first snapshot."""
    monkeypatch.setenv("EVENKEEL_LAKE", str(tmp_path / "gone" / "lake"))
    result = run("doctor")
    assert result.exit_code == 1
    assert any(line.startswith("FAIL  lake") for line in result.stdout.splitlines())


def test_looking_at_the_lake_leaves_nothing_behind(run, tmp_path):
    """The folder is as it was."""
    run("doctor")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ('openjdk version "17.0.2" 2022-01-18', "OK"),
        ('openjdk version "25" 2025-09-16', "OK"),
        ('java version "1.8.0_381"', "WARN"),
        ("nonsense", "WARN"),
    ],
)
def test_java_is_judged_by_what_it_says(monkeypatch, tmp_path, said, outcome):
    """17 and newer will do; older, or no Java at all, is a warning with a remedy."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}\nEND\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert JAVA().outcome == outcome
    java.unlink()
    assert JAVA().outcome == "WARN"


def test_only_the_named_cluster_is_tried(run, healthy):
    """An address on the command line takes the place of the configured clusters."""
    rows = objects(run("doctor", "--bootstrap", "other:1", "--json"))
    assert {row["cluster"] for row in rows} == {None, "other-1"}


def preflight(code, out="", err=""):
    """What asking the cluster's workers ends with."""
    return lambda *_, **__: SimpleNamespace(returncode=code, stdout=out, stderr=err)


def test_a_spark_cluster_is_tried_where_one_is_configured(run, checked, healthy, monkeypatch):
    """What it has is said, or the one line of what it lacks; local mode has no such line."""
    monkeypatch.setenv("EVENKEEL_SPARK_MASTER", "spark://h:7077")
    monkeypatch.setattr(
        checks.subprocess, "run", preflight(0, "application app-1\n2 executors\nthe end\n")
    )
    row = checked()["spark cluster"]
    assert ("OK", "application app-1 2 executors") == (row["outcome"], row["found"])
    lacking = preflight(2, "x\n", "Java says\na Spark worker (w) lacks a module. Pack.\n")
    monkeypatch.setattr(checks.subprocess, "run", lacking)
    result = run("doctor")
    assert 1 == result.exit_code
    assert "FAIL  spark cluster" in result.stdout
    assert "a Spark worker (w) lacks a module. Pack." in " ".join(result.stdout.split())
    monkeypatch.setenv("EVENKEEL_SPARK_MASTER", "local[2]")
    assert "spark cluster" not in run("doctor").stdout


def test_a_spark_connect_server_is_tried_and_its_token_kept(
    run, checked, healthy, monkeypatch, tmp_path
):
    """It is asked as a cluster is; no Java is looked for, and not even silence makes its URL known."""
    monkeypatch.setenv("EVENKEEL_SPARK_REMOTE", "sc://h/;token=hush")
    monkeypatch.setattr(checks.subprocess, "run", preflight(0, "server sc://h\n2 tasks\n"))
    cluster = checked()["spark cluster"]
    assert ("OK", "server sc://h 2 tasks") == (cluster["outcome"], cluster["found"])
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "OK" == JAVA().outcome

    def silent(*_, **__):
        raise checks.subprocess.TimeoutExpired("x", 1)

    monkeypatch.setattr(checks.subprocess, "run", silent)
    said = run("doctor").stdout
    assert "the Spark Connect server did not answer within" in " ".join(said.split())
    assert "hush" not in said


def test_a_variable_that_nobody_reads_is_told_with_the_key_that_is_near(run, monkeypatch):
    """A slip in its name would pass in silence; variables of other names are none of our business."""
    for name in ("EVENKEEL_WEBHOOK", "EVENKEEL_USER", "EVENKEEL_LOOKBACK", "WEBHOOK"):
        monkeypatch.setenv(name, "3")
    told = [each for each in objects(run("doctor", "--json")) if each["name"] == "environment"]
    said = (
        "WARN",
        "EVENKEEL_WEBHOOK is not a setting.",
        "Call it EVENKEEL_WEBHOOKS if that is meant.",
    )
    assert [(each["outcome"], each["found"], each["fix"]) for each in told] == [said]
