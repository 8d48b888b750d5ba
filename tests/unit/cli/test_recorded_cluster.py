"""The recording of the demo's cluster: each of its groups comes out as what it is there for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.cli import app

RECORDING = Path(__file__).parents[2] / "data" / "cluster-recording.evenkeel"


@pytest.fixture(scope="module")
def told():
    """What `advise` says of each recorded group."""
    result = CliRunner().invoke(app, ["advise", "--from", str(RECORDING), "--json"])
    assert result.exit_code == 0, result.output
    return {row["group"]: row for row in map(json.loads, result.stdout.splitlines())}


@pytest.mark.parametrize(
    ("group", "verdict", "strategy", "words"),
    [
        ("balanced", "stay", None, "nothing to gain"),
        ("slow-member", "switch", "roundrobin", "largest member lag"),
        ("hot-partition", "stay", None, "at its floor"),
        ("racks-ignored", "stay", None, "nothing to gain: none of uniform, range-server"),
        ("racks-avoidable", "switch", "sticky", "cross-rack share 83% -> 8%"),
        ("idle-members", "stay", None, "nothing to gain"),
        ("empty-with-commits", "not judged", None, "no members (Empty)"),
        ("never-committed", "stay", None, "nothing to gain"),
        ("cooperative", "stay", None, "nothing to gain"),
        ("static-members", "stay", None, "nothing to gain"),
        ("keeps-rebalancing", "not judged", None, "rebalancing"),
        ("streams-classic", "not judged", None, "Kafka Streams application"),
        ("streams-kip1071", "not judged", None, "KIP-1071"),
    ],
)
def test_each_group_is_told_what_it_is_there_to_show(told, group, verdict, strategy, words):
    """A verdict, the strategy if there is one, and the reason."""
    row = told[group]

    assert (row["verdict"], row["strategy"]) == (verdict, strategy)
    assert words in row["reason"]


def test_no_group_is_missing(told):
    """Thirteen groups were recorded, of every type."""
    assert len(told) == 13


def test_a_group_that_lost_rack_awareness_is_shown_what_is_possible(told):
    """The broker's assignors look at no rack; what would be best is named all the same."""
    assert told["racks-ignored"]["yardstick"] == "min_traffic"
    assert "33% -> 0%" in told["racks-ignored"]["yardstick_reason"]


def test_the_recording_is_small():
    """It is kept in the repository."""
    assert RECORDING.stat().st_size < 200_000
