"""The parts of a demo that can be hurt: each blow is begun and, when it has lasted, ended."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.stage.airflow import LocalAirflow
from tests.stage.chaos.plan import Blow
from tests.stage.kafka.brokers import KafkaCluster
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.process import marked_processes
from tests.stage.slack_workspace import ANY, Fault, Workspace

MANY = 400
"""Faults of one blow: more than there are calls while it lasts."""

SLOW_SECONDS = 45.0
"""Longer than the notifier waits for an answer."""

SLACK = {
    "answers 429": Fault(ANY, status=429, retry_after=2),
    "answers 500": Fault(ANY, status=500),
    "keeps it and answers 500": Fault(ANY, status=500, stored=True),
    "is slow": Fault(ANY, stored=True, delay=SLOW_SECONDS),
    "resets connections": Fault(ANY, drop=True),
    "keeps it and resets": Fault(ANY, drop=True, stored=True),
    "keeps it and the sender dies": Fault(stored=True, kills=True),
}

SPARK = "evenkeel.spark_tasks"
TASK = re.compile(r"airflow worker -- [0-9a-f]{8}-")
"""How a process is called in which a task runs."""

Undo = Callable[[], None]


@dataclass
class Targets:
    """What runs, and where: the services of a demo that this process owns."""

    home: Path
    brokers: KafkaCluster
    postgres: EmbeddedPostgres
    workspace: Workspace
    airflow: LocalAirflow
    down: set[str] = field(default_factory=set)
    """Parts of Airflow that are not to be started again yet."""

    def strike(self, blow: Blow) -> tuple[str, Undo | None]:
        """
        Begin a blow. To be called by a thread that outlives what it may start again.

        Returns:
            What it hit, and what ends it; None where there was nothing to hit.
        """
        part, _, number = blow.part.partition(" ")
        if part == "broker":
            return self._broker(int(number), blow.how)
        if part == "postgres":
            return self._postgres(blow.how)
        if part == "slack":
            return self._slack(blow.how)
        if part == "task":
            return _hurt(self._tasks()[:1], blow.how)
        if part == "spark":
            return _hurt(self._spark(), blow.how)
        return self._airflow(part, blow.how)

    def _broker(self, number: int, how: str) -> tuple[str, Undo]:
        if how == "hangs":
            return _hurt([psutil.Process(self.brokers.pids[number])], how)
        self.brokers.kill(number)
        return "1 process", lambda: self.brokers.launch(number)

    def _postgres(self, how: str) -> tuple[str, Undo]:
        if how == "is restarted":
            self.postgres.stop()
            return "stopped", self.postgres.start
        master = self.postgres.postmaster()
        assert master is not None, "no Postgres runs"
        everyone = [master, *master.children(recursive=True)]
        if how == "hangs":
            return _hurt(everyone, how)
        _signal(everyone, signal.SIGKILL)
        psutil.wait_procs(everyone, timeout=5)
        return f"{len(everyone)} processes", self.postgres.start

    def _slack(self, how: str) -> tuple[str, Undo]:
        fault, faults = SLACK[how], self.workspace.faults
        with self.workspace.lock:
            before = len(self.workspace.calls)
            if fault.kills:
                # it waits for the next message, however long that takes
                faults.append(fault)
                return f"after {before} calls", lambda: None
            faults.extendleft([fault] * MANY)

        def over() -> None:
            with self.workspace.lock:
                left = [each for each in faults if each is not fault]
                faults.clear()
                faults.extend(left)

        return f"after {before} calls", over

    def _airflow(self, name: str, how: str) -> tuple[str, Undo | None]:
        processes = self.airflow.processes(name)
        if how == "hangs":
            return _hurt(processes, how)
        # those that it has started live on as orphans until it is started again
        self.down.add(name)
        _signal([each for each in processes if each.pid == os.getsid(each.pid)], signal.SIGKILL)
        return "its first process", lambda: self.down.discard(name)

    def _tasks(self) -> list[psutil.Process]:
        """The processes in which a task runs now."""
        return [p for p in self.airflow.processes("scheduler") if TASK.match(_words_of(p))]

    def _spark(self) -> list[psutil.Process]:
        """The processes of Spark steps under way, with their JVM and workers."""
        marked = marked_processes(self.home)
        groups = {_group(each) for each in marked if SPARK in _words_of(each)}
        return [each for each in marked if _group(each) in groups]


def _hurt(processes: Iterable[psutil.Process], how: str) -> tuple[str, Undo | None]:
    processes = list(processes)
    if not processes:
        return "nothing there", None
    count = f"{len(processes)} processes" if len(processes) > 1 else "1 process"
    if how == "hangs":
        _signal(processes, signal.SIGSTOP)
        return count, lambda: _signal(processes, signal.SIGCONT)
    _signal(processes, signal.SIGKILL)
    return count, lambda: None


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            each.send_signal(number)


def _words_of(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def _group(process: psutil.Process) -> int:
    with suppress(ProcessLookupError):
        return os.getpgid(process.pid)
    return 0
