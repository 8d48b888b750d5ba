"""Real instances of a Kafka Streams application, each a JVM of its own with a file of settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.helpers.applied import Members, await_members
from tests.helpers.kafka_stage import Stage
from tests.stage.kafka.jars import KAFKA_VERSION, classpath, resolve_jars
from tests.stage.process import Process, find_java, spawn, stop, wait_until
from tests.stage.workload.streams_app import FLAGS, INSTANCES, SOURCE


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
        version: str = KAFKA_VERSION,
    ) -> None:
        """
        *folder* has the compiled classes, and is for settings, state and logs; `RACK` in a setting is its own.
        *version* is that of Kafka Streams.
        """
        super().__init__(stage, name, settings, racks=["rack-a", "rack-b"])
        self.protocol, self.folder, self.units, self.count = protocol, folder, units, 2 * units
        self.jars = classpath(resolve_jars(version=version))
        self.alone: dict[int, dict[str, str]] = {}
        if protocol == "streams":
            self.tool = "streams.StreamsGroupCommand"
        self.running: dict[int, Process] = {}

    def start(self, number: int) -> None:
        """With a file of the settings of now, and behind them what it has `alone`."""
        own = self.folder / f"{self.name}-{number + 1}.properties"
        rack = self.racks[number % len(self.racks)]
        settings = self.settings | self.alone.get(number, {})
        given = {key: value.replace("RACK", rack) for key, value in settings.items()}
        own.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
        log = own.with_suffix(".log")
        log.unlink(missing_ok=True)
        java, _ = find_java()
        words = [f"-Dsettings={own}", "-cp", f"{self.folder}:{self.jars}"]
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
