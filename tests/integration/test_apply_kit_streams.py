"""What `evenkeel apply` prints for Kafka Streams applications, followed to the letter by real instances, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.advice.rollout import ASSIGNOR_SETTING, TASK_SETTING
from tests.helpers.applied import (
    ON,
    Members,
    await_members,
    closing_members,
    do,
    kit_of,
    run_tool,
    settled,
    way_of,
)
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, Watch
from tests.oracle.jvm import compile_java
from tests.stage.kafka.jars import classpath, resolve_jars
from tests.stage.process import Process, find_java, spawn, stop, wait_until
from tests.stage.workload.streams_app import FLAGS, INSTANCES, SOURCE

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1800)]


SAID = re.compile(r"Say streams = \{(.*?)\}")
CONFIGS = re.compile(r"`kafka-configs.sh --bootstrap-server ... (.*?)`")


class Application(Members):
    """The instances of `CountingApp.java`, a JVM of two threads each, in two racks in turn."""

    client = "java"

    def __init__(
        self,
        stage: Stage,
        name: str,
        protocol: str,
        settings: Mapping[str, str],
        folder: Path,
        units: int = INSTANCES,
    ) -> None:
        """*folder* has the compiled classes, and is for settings, state and logs; `RACK` in a setting is its own."""
        super().__init__(stage, name, settings, racks=["rack-a", "rack-b"])
        self.protocol, self.folder, self.units, self.count = protocol, folder, units, 2 * units
        if protocol == "streams":
            self.tool = "streams.StreamsGroupCommand"
        self.running: dict[int, Process] = {}

    def start(self, number: int) -> None:
        """With a file of the settings of now."""
        own = self.folder / f"{self.name}-{number + 1}.properties"
        rack = self.racks[number % len(self.racks)]
        given = {key: value.replace("RACK", rack) for key, value in self.settings.items()}
        own.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
        log = own.with_suffix(".log")
        log.unlink(missing_ok=True)
        java, _ = find_java()
        words = [f"-Dsettings={own}", "-cp", f"{self.folder}:{classpath(resolve_jars())}"]
        which = f"{self.name}:{self.topic}:{self.protocol}:{number + 1}"
        argv = [
            str(java),
            *FLAGS,
            *words,
            SOURCE.stem,
            self.stage.bootstrap,
            str(self.folder),
            which,
        ]
        self.running[number] = spawn(argv, None, log, f"instance {number + 1}", home=self.folder)

    def restart(self, number: int) -> None:
        """An instance comes back once its threads have left: one that is slow to close is missed only later."""
        self.stop(number)
        await_members(self, self.count - self.count // self.units)
        self.start(number)

    def stop(self, number: int) -> None:
        """It leaves its group, if it runs."""
        if number in self.running:
            stop(self.running.pop(number), 60)

    def check(self) -> None:
        """The newest state that each instance tells is RUNNING."""
        for one in self.running.values():
            wait_until(lambda one=one: states(one)[-1:] == ["RUNNING"], 180, one.name, process=one)


def states(instance: Process) -> list[str]:
    """What an instance has told of its state since its start."""
    lines = instance.log_path.read_text(errors="replace").splitlines()
    return [line.split()[2] for line in lines if line.startswith("STATE ")]


@pytest.fixture(scope="module")
def folder(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled application."""
    java, _ = find_java()
    made = tmp_path_factory.mktemp("instances")
    compile_java(java, [SOURCE], classpath(resolve_jars()), made)
    return made


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
        racks = kit_of(app, "min_traffic")
        assert racks["then"]["cross_rack_share"] < racks["now"]["cross_rack_share"]
        do(app, way_of(racks, app)["rounds"])
        assert app.settings[TASK_SETTING] == "min_traffic"
        say(config, racks["notes"])
        there = kit_of(app, "min_traffic")
        assert there["there_already"] is True
        assert there["now"]["cross_rack_share"] == racks["then"]["cross_rack_share"]

        sticky = kit_of(app, "sticky-tasks")
        do(app, way_of(sticky, app)["rounds"])
        say(config, sticky["notes"], 'rack_aware_assignment_strategy = "min_traffic"')
        assert kit_of(app, "sticky-tasks")["there_already"] is True

        leaving = way_of(kit_of(app, "balance_subtopology"), app)
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
        kit = kit_of(app, "sticky-tasks-server")
        assert kit["there_already"] is True
        (told,) = CONFIGS.findall(" ".join(kit["notes"]))
        options = told.replace("GROUP", app.name).split()
        assert copies_of(app) == 0
        run_tool(stage, "kafka.admin.ConfigCommand", *options)
        (this,) = way_of(kit, app)["rounds"]
        assert this["restart"] == "one"
        do(app, [this])
        wait_until(lambda: copies_of(app) == len(ON), 180, "a copy of each store", interval=0.2)
        settled(app)


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
    said = json.loads(evenkeel("tasks", app.name, "--bootstrap", app.stage.bootstrap, "--json"))
    return dict(said["strategies"][0])


def copies_of(app: Application) -> int:
    """How many copies of stores there are."""
    watch = Watch(app.stage, app.name.removeprefix(app.stage.prefix))
    return sum(len(one.tasks.standby) for one in watch.look().group.members if one.tasks)
