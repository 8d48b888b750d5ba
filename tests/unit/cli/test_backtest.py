"""`evenkeel backtest`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.helpers.fluid import EVERY, SITUATIONS, Group, record, simulate
from tests.helpers.fluid.plan import Follow, at
from tests.helpers.fluid.situations.common import rack_group
from tests.unit.cli.conftest import RECORDED, words_of

pytestmark = pytest.mark.slow


def test_an_object_per_event_in_the_order_of_time(run):
    """Each has its kind, when it was said, and of which group."""
    events = [
        json.loads(line)
        for line in run(
            "backtest", "--from", RECORDED, "--group", "s*", "--json"
        ).stdout.splitlines()
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
        "text": "slow-member-3 processes 0.58 records/s, its peers 2 records/s; 2 records/s incoming",
    }
    forecast = next(e for e in events if e["event"] == "forecast")
    assert [*forecast] == [
        *("event", "at", "cluster", "group", "for", "measure", "low", "expected", "high"),
        "actual",
    ]


@pytest.fixture(scope="module")
def skewed(tmp_path_factory) -> str:
    """A recording of a group that is advised to switch."""
    path = tmp_path_factory.mktemp("skewed") / "skewed.evenkeel"
    record(path, simulate([SITUATIONS["skewed-load"].group], 29))
    return str(path)


def test_a_message_is_an_event_with_its_text(run, skewed):
    """When it would have been told, to whom, what kind it is, and word by word what it says."""
    lines = run("backtest", "--from", skewed, "--json").stdout.splitlines()
    messages = [e for e in map(json.loads, lines) if e["event"] == "message"]
    opened, message = (
        next(e for e in messages if e["kind"] == kind) for kind in ("opened", "switch")
    )

    assert opened.pop("text").startswith("[!] skewed-load (fluid): ")
    assert opened == {
        "event": "message",
        "at": "2026-03-02T01:15:00+00:00",
        "cluster": "fluid",
        "group": "skewed-load",
        "groups": ["skewed-load"],
        "kind": "opened",
        "causes": ["skewed load"],
    }
    assert message.pop("text").startswith("skewed-load: switch range -> roundrobin, lag in 1 h ")
    assert message == {
        "event": "message",
        "at": "2026-03-02T01:30:00+00:00",
        "cluster": "fluid",
        "group": "skewed-load",
        "kind": "switch",
    }


@pytest.fixture(scope="module")
def follower(tmp_path_factory) -> str:
    """A recording of a group whose members follow plans; until one is made, all it reads is in other racks."""
    crossing = tuple(partition % 3 for partition in range(12))
    home = tuple((partition + 2) % 3 for partition in range(12))
    group = rack_group("racks-by-plan", 2000, 1000)
    group = replace(
        group,
        strategy="evenkeel-plan",
        lists=("evenkeel-plan",),
        deal=crossing,
        events=(Follow(at=at(30), owners=home, by="min_traffic"),),
    )
    path = tmp_path_factory.mktemp("followed") / "followed.evenkeel"
    record(path, simulate([group], 45))
    return str(path)


def test_a_group_that_follows_plans_is_advised_one_and_held_to_it(run, follower, tmp_path):
    """Told to follow a plan while all crosses racks; it does, and the snapshot that shows it verifies it."""
    policy = 'policy = {deployment = ["plan"], repeat_interval_seconds = 0}'
    (tmp_path / "evenkeel.toml").write_text(f'[[rules]]\ngroups = "*"\n{policy}\n')
    lines = run("backtest", "--from", follower, "--json").stdout.splitlines()
    messages = [e for e in map(json.loads, lines) if e["event"] == "message"]
    assert [message["kind"] for message in messages] == ["switch", "verified"]
    told, verified = (message["text"] for message in messages)
    assert told.startswith("racks-by-plan: switch evenkeel-plan -> min_traffic")
    assert "cross-rack share 100% -> 0%" in told
    assert "`evenkeel plan --group racks-by-plan --strategy " in told
    assert "min_traffic met its forecast" in verified
    assert "Reads across racks 0% (100% before): forecast met." in verified


def test_messages_stand_beside_the_diagnoses(run, skewed, tmp_path):
    """In the table by their headline, in the picture of lag, forecasts and diagnoses by a line at their time."""
    file = tmp_path / "backtest.svg"
    result = run("backtest", "--from", skewed, "--plot", str(file), env={"COLUMNS": "240"})

    assert "skewed-load: switch range -> roundrobin" in words_of(result.stdout)
    assert f"drawn: {file}" in result.stderr
    picture = file.read_text(encoding="utf-8")
    assert all(mark in picture for mark in ("<!-- opened -->", "<!-- switch -->", "</svg>"))


def test_a_group_that_is_gone_by_now(run, tmp_path):
    """What was said of it while it was there can be asked."""
    path = tmp_path / "gone.evenkeel"
    groups = [SITUATIONS[name].group for name in ("vanished", "healthy-idle")]
    record(path, simulate([_earlier(groups[0]), groups[1]], 6))

    assert "healthy" in run("backtest", "--from", str(path), "--group", "vanished").stdout


def _earlier(group: Group) -> Group:
    """A group to which all that happens 57 snapshots sooner."""
    events = tuple(replace(event, at=event.at - 57 * EVERY) for event in group.events)
    return replace(group, events=events)
