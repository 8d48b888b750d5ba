"""What Kafka makes of a Streams application of which one instance sends no `client.rack`, and how it gets its racks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.advice.rollout import RACK_SETTING, TASK_SETTING
from tests.helpers.applied import closing_members, runbook_of, settled, way_of
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage
from tests.helpers.streams_instances import Application
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

NEEDED = {
    TASK_SETTING: "min_traffic",
    "consumer.session.timeout.ms": "10000",
    "consumer.heartbeat.interval.ms": "500",
    "replication.factor": "3",
}
RULE = """
[[rules]]
groups = "*"
racks = {"*-bare-3-*" = "rack-c"}
streams = {rack_aware_assignment_strategy = "min_traffic", num_standby_replicas = 0}
"""


def tasks_of(app: Application) -> dict[str, Any]:
    """What `evenkeel tasks` says of it."""
    (line,) = evenkeel(
        "tasks", "--group", app.name, "--bootstrap", app.stage.bootstrap, "--json"
    ).splitlines()
    return dict(json.loads(line))


def placed(told: dict[str, Any], where: str) -> list[Any]:
    """Who runs each task."""
    return [task["placements"][where]["active"] for task in told["tasks"]]


def across(told: dict[str, Any]) -> dict[str, int]:
    """Source partitions that are read across racks, now and by strategy."""
    return {each["strategy"]: each["cross_rack_partitions"] for each in told["strategies"]}


def awaited(app: Application, where: str) -> dict[str, Any]:
    """What is said of the application once its tasks are where a strategy has them."""

    def reached() -> dict[str, Any] | None:
        told = tasks_of(app)
        return told if placed(told, "now") == placed(told, where) else None

    told = wait_until(reached, 180, f"{app.name} to place tasks as {where}", interval=0.5)
    assert told is not None
    return told


def test_one_instance_without_client_rack_switches_racks_off_and_the_kit_brings_them_back(
    stage: Stage, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka places tasks as `none` does though min_traffic is set; with the rack that is named, as was foretold."""
    config = tmp_path / "evenkeel.toml"
    config.write_text(RULE)
    monkeypatch.setenv("EVENKEEL_CONFIG", str(config))
    app = Application(stage, "bare", "classic", NEEDED, folder, units=3)
    app.alone[2] = {RACK_SETTING: ""}
    with closing_members(app):
        settled(app, "stream")
        told = awaited(app, "none")
        (off,) = told["findings"]
        assert "off for all 3 clients (KIP-925), because 1 client sends no client.rack" in off
        assert f"{app.name}-3" in off
        assert told["strategy"] == "none"
        assert across(told)["now"] == across(told)["none"] > across(told)["min_traffic"]

        (this,) = way_of(runbook_of(app, "min_traffic"), app)["rounds"]
        assert (this["only"], this["racks"]) == ([f"{app.name}-3"], {"rack-c": [f"{app.name}-3"]})
        assert set(this["settings"]["java"]) == {RACK_SETTING}
        app.alone[2] = {RACK_SETTING: "rack-c"}
        app.restart(2)
        settled(app, "stream")
        there = awaited(app, "min_traffic")
        assert there["findings"] == []
        assert across(there)["now"] == across(told)["min_traffic"]
