"""The operator that runs a Spark step as a process group."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from evenkeel.dags import runtime
from evenkeel.dags.spark_step import SparkStep
from evenkeel.engine.config import load
from tests.stage.process import wait_until

pytestmark = pytest.mark.airflow

SNAPSHOT = "eu-20260301T120000Z-0a1b2c"
CONTEXT = {"run_id": "asset_triggered__2026-03-01T12:00:03+00:00_ab"}

FAMILY = """\
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
time.sleep(600)
"""


class Running(SparkStep):
    """A step that runs a program of the test instead."""

    program: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """The program."""
        return [sys.executable, "-c", *self.program]


def running(*program: str, **more: Any) -> Running:
    """A step with this program."""
    step = Running(task_id="measure_and_propose", snapshot_id=SNAPSHOT, **more)
    step.program = program
    return step


@pytest.fixture(autouse=True)
def _without_services(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connections, nobody takes notes, no snapshot is superseded, and each needs Spark."""
    monkeypatch.setattr(runtime, "to_measure", lambda snapshot_id, *, run_id: [])
    monkeypatch.setattr(runtime, "compute_small", lambda *_: False)
    monkeypatch.setattr(runtime, "settings", load)
    monkeypatch.setattr(runtime, "_record", lambda *_: None)


def test_it_runs_the_module_of_its_name() -> None:
    """The task's name is the module's, the snapshot an argument, a pattern only if there is one."""
    step = SparkStep(task_id="measure_and_propose", snapshot_id=SNAPSHOT)
    module = "evenkeel.spark_tasks.measure_and_propose"
    assert step.command()[1:] == ["-m", module, "--snapshot-id", SNAPSHOT]
    step = SparkStep(task_id="measure_and_propose", snapshot_id=SNAPSHOT, groups="a*")
    assert step.command()[-2:] == ["--groups", "a*"]


def test_the_last_line_of_a_failure_is_the_error() -> None:
    """What Spark says before does not matter; the step's own line comes last."""
    step = running("print('WARN spark'); print('no such snapshot.\\n'); raise SystemExit(4)")
    with pytest.raises(AirflowException) as raised:
        step.execute(CONTEXT)
    assert str(raised.value) == "no such snapshot."


def test_what_spark_prints_is_shown_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names in it are others'; the log of the task and its error hold no escape."""
    lines: list[str] = []
    log = SimpleNamespace(info=lambda _, line: lines.append(line), warning=lambda _: None)
    monkeypatch.setattr(Running, "log", log)
    step = running("print('\\tat a\\x1b[2J\\u202e'); raise SystemExit(4)")
    with pytest.raises(AirflowException) as raised:
        step.execute(CONTEXT)
    assert lines == ["        at a\\x1b[2J\\u202e"]
    assert str(raised.value) == "at a\\x1b[2J\\u202e"


@pytest.mark.parametrize("ending", ["os.kill(os.getpid(), 15)", "raise SystemExit(128 + 15)"])
def test_being_killed_is_told_as_that(ending: str) -> None:
    """What was printed before has nothing to do with it."""
    with pytest.raises(AirflowException) as raised:
        running(f"import os; print('Setting Spark log level'); {ending}").execute(CONTEXT)
    assert str(raised.value) == "Signal 15 ended it before it was done."


def test_a_success_says_nothing() -> None:
    """Exit code 0 is a success, whatever was printed."""
    assert running("print('WARN spark')").execute(CONTEXT) is None


def test_killing_the_task_ends_the_whole_group(tmp_path: Path) -> None:
    """When Airflow kills the task, the program and the children it started are gone."""
    told = tmp_path / "child"
    step = running(FAMILY, str(told), grace_seconds=0.5)
    failures: list[BaseException] = []

    def execute() -> None:
        try:
            step.execute(CONTEXT)
        except AirflowException as problem:
            failures.append(problem)

    task = threading.Thread(target=execute)
    task.start()
    wait_until(lambda: told.exists() and told.read_text(), 30, "the child to start")
    child = psutil.Process(int(told.read_text()))
    step.on_kill()
    task.join(60)
    psutil.wait_procs([child], timeout=60)
    assert (task.is_alive(), child.is_running(), len(failures)) == (False, False, 1)


def test_the_metrics_of_overtaken_snapshots_are_made_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The task is told of them, the newest first."""
    monkeypatch.setattr(runtime, "to_measure", lambda snapshot_id, *, run_id: ["eu-2", "eu-1"])
    asked: list[list[str]] = []
    monkeypatch.setattr(SparkStep, "_run", lambda self, command, _: asked.append(command))
    SparkStep(task_id="measure_and_propose", snapshot_id=SNAPSHOT).execute(CONTEXT)
    assert asked[0][-4:] == ["--also", "eu-2", "--also", "eu-1"]


def test_a_small_snapshot_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed in the task, together with the superseded ones."""
    asked: list[Any] = []
    monkeypatch.setattr(runtime, "to_measure", lambda snapshot_id, *, run_id: ["eu-1"])
    monkeypatch.setattr(runtime, "compute_small", lambda ports, *own: asked.append(own) or True)
    monkeypatch.setattr(SparkStep, "_run", lambda *_: asked.append("Spark"))
    SparkStep(task_id="measure_and_propose", snapshot_id=SNAPSHOT, groups="a*").execute(CONTEXT)
    assert asked == [(SNAPSHOT, "a*", ["eu-1"])]


def test_without_a_snapshot_there_is_nothing_to_do() -> None:
    """Validation rejected it: the step is skipped, and so is what follows."""
    with pytest.raises(AirflowSkipException):
        SparkStep(task_id="measure_and_propose", snapshot_id="").execute(CONTEXT)
