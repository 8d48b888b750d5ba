"""`evenkeel backtest`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RECORDING = str(Path(__file__).parents[2] / "data" / "cluster-recording.evenkeel")


def test_an_object_per_event_in_the_order_of_time(run):
    """Each has its kind, when it was said, and of which group."""
    events = [
        json.loads(line)
        for line in run("backtest", "--from", RECORDING, "--json").stdout.splitlines()
    ]

    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    slow = [e for e in events if e["event"] == "diagnosis" and e["group"] == "slow-member"]
    assert slow[-1] == {
        "event": "diagnosis",
        "at": slow[-1]["at"],
        "cluster": "demo",
        "group": "slow-member",
        "diagnosis": "slow member",
        "subjects": ["slow-member-3"],
        "text": "slow-member-3 does 0.58/s, its peers 2/s; 2/s arrives",
    }
    forecast = next(e for e in events if e["event"] == "forecast")
    assert [*forecast] == [
        *("event", "at", "cluster", "group", "for", "measure", "low", "expected", "high"),
        "realised",
    ]


def test_a_table_of_changes(run):
    """Group by group, and below it how forecasts came out."""
    result = run("backtest", "--from", RECORDING, "--group", "slow-*")

    assert "slow-member-3 does 0.58/s" in result.stdout
    assert "no forecast came due" in result.output


def test_a_pattern_that_fits_nothing(run):
    """The near names are said."""
    result = run("backtest", "--from", RECORDING, "--group", "slow-membr")

    assert result.exit_code == 1
    assert "slow-member" in result.stderr


def test_a_picture_of_the_groups(run, tmp_path):
    """Lag, forecasts and diagnoses over time, whatever a group is called."""
    file = tmp_path / "backtest.svg"
    result = run("backtest", "--from", RECORDING, "--group", "s*", "--plot", str(file))

    assert f"drawn: {file}" in result.stderr
    assert "</svg>" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "said"), [("x.txt", "no picture"), ("gone/x.png", "cannot be written")]
)
def test_a_picture_that_cannot_be(run, tmp_path, name, said):
    """The option and the file are named."""
    result = run("backtest", "--from", RECORDING, "--plot", str(tmp_path / name))

    assert result.exit_code == 2
    assert said in result.stderr
    assert "--plot" in result.stderr


def test_the_configured_lake(run, monkeypatch, tmp_path):
    """`lake` is the one of the configuration, where nothing in the folder is called so."""
    assert run("replay", RECORDING, "--into", "kept").exit_code == 0
    monkeypatch.setenv("EVENKEEL_LAKE", str(tmp_path / "kept"))

    assert "slow-member-3 does" in run("backtest", "--from", "lake").stdout
