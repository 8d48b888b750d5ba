"""Beside a running demo every verb finds it, where nothing else is configured."""

from __future__ import annotations

import json

import pytest

from tests.stage import report
from tests.stage.process import LocalClusterError
from tests.stage.services import CONFIG, RULES, Demo
from tests.stage.workload import topics
from tests.unit.cli.conftest import objects


@pytest.fixture
def demo(tmp_path, lake):
    """A demo's folder: its state and its configuration, whose lake has snapshots."""
    home = tmp_path / ".evenkeel" / "demo"
    home.mkdir(parents=True)
    config = home / "evenkeel.toml"
    config.write_text(CONFIG.format(lake=lake, name="prod", bootstrap="127.0.0.1:1") + RULES)
    state = {"database_url": "postgresql://me@127.0.0.1:1/demo", "config": str(config)}
    (home / "state.json").write_text(json.dumps(state))
    return config


@pytest.mark.parametrize("verb", [["lag"], ["lag", "--cluster", "prod"], ["elect"]])
def test_a_verb_without_a_cluster_reads_that_of_the_demo(run, kafka, demo, verb):
    """With the demo's own rules, and it is said whose they are."""
    result = run(*verb)
    assert result.exit_code == 0, result.output
    assert f"configuration: {demo} (the demo's)" in result.stderr
    assert (kafka["name"], kafka["settings"].clusters["prod"].bootstrap) == ("prod", "127.0.0.1:1")
    assert kafka["settings"].rule("prod", "any").auto_offset_reset == "earliest"


def test_diff_reads_the_snapshots_of_the_demo(run, demo):
    """Its lake is the configured one."""
    assert "uneven (prod): " in run("diff", "--group", "uneven").stdout


@pytest.mark.slow
def test_doctor_checks_the_demo(checked, demo):
    """Its configuration is the one that is checked; neither broker nor database of it answers here."""
    rows = checked(code=1)
    assert f"{demo} (the demo's); 1 clusters" in rows["configuration"]["found"]
    assert rows["kafka"]["cluster"] == "prod"
    assert "database demo at 127.0.0.1:1" in rows["history"]["found"]


@pytest.mark.parametrize("what", ["file", "EVENKEEL_CONFIG", "EVENKEEL_CLUSTERS", "options"])
def test_whoever_configures_a_cluster_or_names_one_means_that(
    run, kafka, demo, tmp_path, monkeypatch, what
):
    """The demo beside it is no business of it, nor are its rules."""
    own = '[clusters.own]\nbootstrap = "own:9092"\n'
    options = ["--bootstrap", "own:9092", "--cluster", "own"] if what == "options" else []
    if what == "file":
        (tmp_path / "evenkeel.toml").write_text(own)
    elif what == "EVENKEEL_CONFIG":
        (tmp_path / "mine.toml").write_text(own)
        monkeypatch.setenv(what, "mine.toml")
    elif what == "EVENKEEL_CLUSTERS":
        monkeypatch.setenv(what, '{"own": {"bootstrap": "own:9092"}}')
    result = run("lag", *options)
    assert "demo" not in result.stderr
    assert kafka["name"] == "own"
    assert kafka["settings"].rule("own", "any").auto_offset_reset is None


def test_a_recording_is_read_without_the_rules_of_the_demo(run, demo, recording):
    """They say what the wire does not tell of the demo's own groups."""
    rows = objects(run("lag", "--from", recording, "--group", "never", "--json"))
    assert {row["lag"] for row in rows} == {None}


@pytest.mark.slow
def test_the_last_lines_of_the_demo_are_two_variables_that_work_elsewhere(
    run, checked, demo, tmp_path, monkeypatch
):
    """`doctor` finds the same configuration and database by them in another folder."""
    state = json.loads((demo.parent / "state.json").read_text())
    login = {"airflow_url": "http://a", "airflow_user": "u", "airflow_password": "p"}
    others = {"bootstrap": "127.0.0.1:1", "reader_url": "postgresql://r", "example_url": "e"}
    lines = report.ways(Demo(demo.parent), state | login | others)
    exports = [line.partition("export ")[2] for line in lines.splitlines() if "export " in line]
    for name, _, value in (export.partition("=") for export in exports):
        monkeypatch.setenv(name, value.strip("'"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    rows = checked(code=1)
    assert str(demo) in rows["configuration"]["found"]
    assert "demo on 127.0.0.1:1 as me" in run("query", "groups").stderr


def test_a_demo_refuses_to_write_where_it_could_do_harm():
    """Another machine's cluster is written to under the test prefix only."""
    with pytest.raises(LocalClusterError, match="not on this machine"):
        topics.refuse_strangers("127.0.0.1:9092,broker.example:9092", "")
    topics.refuse_strangers("broker.example:9092", "evenkeel-test-")
    topics.refuse_strangers("127.0.0.1:9092", "")
