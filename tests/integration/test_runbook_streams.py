"""What `evenkeel runbook` prints for Kafka Streams applications, followed to the letter by real instances, and back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.advice.rollout import ASSIGNOR_SETTING, TASK_SETTING
from tests.helpers.applied import (
    ON,
    closing_members,
    do,
    run_tool,
    runbook_of,
    settled,
    way_of,
)
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, Watch
from tests.helpers.streams_instances import Application
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1800)]


SAID = re.compile(r"Set streams = \{(.*?)\}")
CONFIGS = re.compile(r"`kafka-configs.sh --bootstrap-server ... (.*?)`")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that evenkeel reads."""
    path = tmp_path / "evenkeel.toml"
    path.touch()
    monkeypatch.setenv("EVENKEEL_CONFIG", str(path))
    return path


def say(config: Path, notes: list[str], *besides: str) -> None:
    """Write into `[[rules]]` what the notes say is to be there."""
    (told,) = SAID.findall(" ".join(notes))
    config.write_text(f'[[rules]]\ngroups = "*"\nstreams = {{{", ".join([told, *besides])}}}\n')


def test_an_application_gets_a_rack_strategy_and_the_sticky_assignor_and_loses_both(
    stage: Stage, folder: Path, config: Path
) -> None:
    """One after the other, and back in the opposite order: all instances run, and read across racks as was promised."""
    settings = {
        "consumer.session.timeout.ms": "10000",
        "consumer.heartbeat.interval.ms": "500",
        "replication.factor": "3",  # internal topics are in every rack: what crosses is the source's
    }
    with closing_members(Application(stage, "app", "classic", settings, folder)) as app:
        settled(app, "stream")
        racks = runbook_of(app, "min_traffic")
        assert racks["then"]["cross_rack_share"] < racks["now"]["cross_rack_share"]
        do(app, way_of(racks, app)["rounds"])
        assert app.settings[TASK_SETTING] == "min_traffic"
        say(config, racks["notes"])
        there = runbook_of(app, "min_traffic")
        assert there["there_already"] is True
        assert there["now"]["cross_rack_share"] == racks["then"]["cross_rack_share"]

        sticky = runbook_of(app, "sticky-tasks")
        do(app, way_of(sticky, app)["rounds"])
        say(config, sticky["notes"], 'rack_aware_assignment_strategy = "min_traffic"')
        assert runbook_of(app, "sticky-tasks")["there_already"] is True

        leaving = way_of(runbook_of(app, "balance_subtopology"), app)
        do(app, leaving["rounds"])
        assert ASSIGNOR_SETTING not in app.settings
        do(app, leaving["back"])
        assert app.settings[ASSIGNOR_SETTING].endswith("StickyTaskAssignor")

        do(app, way_of(sticky, app)["back"])
        do(app, way_of(racks, app)["back"])
        assert app.settings == settings


def test_a_kip_1071_group_has_one_instance_restarted_and_keeps_copies(
    stage: Stage, folder: Path
) -> None:
    """Nothing is set with its instances; the configuration that is named gives each store a copy."""
    with closing_members(Application(stage, "kip-1071", "streams", {}, folder)) as app:
        settled(app)
        runbook = runbook_of(app, "sticky-tasks-server")
        assert runbook["there_already"] is True
        (told,) = CONFIGS.findall(" ".join(runbook["notes"]))
        options = told.split()
        assert copies_of(app) == 0
        run_tool(stage, "kafka.admin.ConfigCommand", *options)
        (this,) = way_of(runbook, app)["rounds"]
        assert this["restart"] == "one"
        do(app, [this])
        wait_until(lambda: copies_of(app) == len(ON), 180, "a copy of each store", interval=0.2)
        settled(app)
        own = "the brokers use settings of this group: streams.num.standby.replicas=1"
        assert own in runbook_of(app, "sticky-tasks-server")["notes"]


def test_copies_in_one_rack_are_found_and_brought_apart_by_what_the_finding_names(
    stage: Stage, folder: Path
) -> None:
    """Of three instances two share a rack, and Kafka's least loaded client is as often there as not."""
    settings = {"num.standby.replicas": "1", "replication.factor": "3"}
    with closing_members(Application(stage, "copies", "classic", settings, folder, 3)) as app:
        settled(app, "stream")
        now = stores_now(app, copies=len(ON))
        assert (now["stores_in_one_rack"], now["stores_judged"]) == (2, 6)
        *_, lost, cure = now["findings"]
        assert lost.startswith("2 of 6 stores (1_")
        assert "with rack.aware.assignment.tags=rack and client.tag.rack" in cure

        app.take_over({"rack.aware.assignment.tags": "rack", "client.tag.rack": "RACK"})
        for number in range(app.units):
            app.restart(number)
        settled(app, "stream")
        wait_until(
            lambda: stores_now(app, copies=len(ON))["stores_in_one_rack"] == 0,
            180,
            "copies that stand apart",
            interval=0.2,
        )


def stores_now(app: Application, copies: int) -> dict[str, Any]:
    """What `evenkeel tasks` says of what runs, once there are so many copies."""
    wait_until(
        lambda: copies_of(app) == copies, 180, f"{copies} copies of {app.name}", interval=0.2
    )
    said = json.loads(
        evenkeel("tasks", "--group", app.name, "--bootstrap", app.stage.bootstrap, "--json")
    )
    return dict(said["strategies"][0])


def copies_of(app: Application) -> int:
    """How many copies of stores there are."""
    watch = Watch(app.stage, app.name.removeprefix(app.stage.prefix))
    return sum(len(one.tasks.standby) for one in watch.look().group.members if one.tasks)
