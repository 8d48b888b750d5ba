"""How the tasks of a run share a Spark process, and what becomes of it; a program of the test stands for Spark."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException

from evenkeel.dags import runtime, shared_session
from evenkeel.dags.spark_step import SparkStep
from evenkeel.engine.config import load
from tests.stage.process import HOME_MARKER, marked_processes, sweep, wait_until

pytestmark = pytest.mark.airflow

SNAPSHOT = "eu-20260301T120000Z-0a1b2c"

PROCESS = """\
import os, subprocess, sys
from types import SimpleNamespace
from contextlib import contextmanager
from evenkeel.spark_tasks import job, shared

@contextmanager
def session(name, *more):
    java = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("session of", name, flush=True)
    try:
        yield SimpleNamespace(java=java.pid)
    finally:
        java.kill()
        java.wait()
        print("stopped", flush=True)

job.session = session

def main_of(step):
    def main(arguments, sessions):
        with sessions(step) as spark:
            print(step, os.getpid(), spark.java, *arguments, flush=True)
            os.system("echo of a child")
            return int(os.environ.get(step, "0"))
    return SimpleNamespace(main=main)

shared.import_module = lambda name: main_of(name.rpartition(".")[2])
sys.exit(shared.main(sys.argv[1:]))
"""


class Shared(SparkStep):
    """A step whose process runs a program of the test in place of Spark."""

    def command(self) -> list[str]:
        """The process itself, with steps that only tell where they run."""
        words = super().command()
        return [sys.executable, "-c", PROCESS, *words[3:]]


@pytest.fixture(autouse=True)
def _without_services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No connections, nobody takes notes, no snapshot is overtaken; and no process is left when it is over."""
    monkeypatch.setattr(runtime, "settings", load)
    monkeypatch.setattr(runtime, "_record", lambda *_: None)
    monkeypatch.setattr(runtime, "to_measure", lambda snapshot_id, *, run_id: [])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv(HOME_MARKER, str(tmp_path))
    yield
    sweep(tmp_path, 0)


def nothing_runs() -> bool:
    """Whether nothing that this test has started runs any more, whatever other tests do meanwhile."""
    return not marked_processes(Path(os.environ[HOME_MARKER]))


def run(
    step: str, wait: float, run_id: str = "run-1", **more: Any
) -> tuple[list[str], BaseException | None]:
    """What a task printed, and how it failed."""
    task = Shared(task_id=step, snapshot_id=SNAPSHOT, wait_seconds=wait, **more)
    told: list[str] = []
    task.log.info = lambda text, *of: told.append(text % of)  # type: ignore[method-assign]
    try:
        task.execute({"run_id": run_id})
    except AirflowException as problem:
        return told, problem
    return told, None


def words(told: list[str], step: str) -> list[str]:
    """The line in which a step tells where it runs."""
    (line,) = [line for line in told if line.startswith(step)]
    return line.split()


def test_the_second_step_has_the_session_of_the_first() -> None:
    """The same process, the same Java; each task sees its own lines, a child's too, and nothing is left at the end."""
    first, failed = run("compute_metrics", 60)
    assert failed is None
    assert "session of compute_metrics" in first
    second, failed = run("propose_candidates", 0, groups="a*")
    assert failed is None
    assert words(first, "compute_metrics")[1:3] == words(second, "propose_candidates")[1:3]
    assert words(second, "propose_candidates")[3:] == [
        "--snapshot-id",
        SNAPSHOT,
        "--groups",
        "a*",
    ]
    assert not any(line.startswith("session of") for line in second)
    assert ["of a child" in told for told in (first, second)] == [True, True]
    assert second[-1] == "stopped"
    wait_until(nothing_runs, 60, "the process to end")
    assert list(Path(tempfile.gettempdir()).glob("evenkeel-*/*")) == []


def test_another_run_has_a_session_of_its_own() -> None:
    """So has a task that finds none on its machine."""
    first, _ = run("compute_metrics", 60)
    second, failed = run("propose_candidates", 0, "run-2")
    assert failed is None
    assert "session of propose_candidates" in second
    assert words(first, "compute_metrics")[1] != words(second, "propose_candidates")[1]
    third, _ = run("propose_candidates", 0)
    assert words(first, "compute_metrics")[1] == words(third, "propose_candidates")[1]


def test_a_session_that_nobody_asks_for_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends between its steps leaves nothing behind."""
    run("compute_metrics", 0.3)
    wait_until(nothing_runs, 60, "the process to end")
    told, failed = run("propose_candidates", 0)
    assert failed is None
    assert "session of propose_candidates" in told


def test_a_step_that_fails_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a task that is tried again begins anew; its error is the line before the end."""
    monkeypatch.setenv("compute_metrics", "4")
    told, failed = run("compute_metrics", 60)
    assert str(failed) == "stopped"
    wait_until(nothing_runs, 60, "the process to end")
    monkeypatch.delenv("compute_metrics")
    again, failed = run("compute_metrics", 60)
    assert failed is None
    assert words(told, "compute_metrics")[1] != words(again, "compute_metrics")[1]
    # a step may also be repeated in the session that waits
    thrice, _ = run("compute_metrics", 60)
    assert words(again, "compute_metrics")[1] == words(thrice, "compute_metrics")[1]


def test_killing_the_second_task_ends_the_process_of_the_first(tmp_path: Path) -> None:
    """Its Java as well: they are one group, whoever started it."""
    first, _ = run("compute_metrics", 60)
    task = Shared(task_id="propose_candidates", snapshot_id=SNAPSHOT)
    place = shared_session.place_of("", "run-1")
    waiting = shared_session.waiting_at(place)
    assert waiting is not None
    with waiting.connection:
        assert waiting.pid == int(words(first, "compute_metrics")[1])
        task._group = waiting.pid
        task.on_kill()
    wait_until(nothing_runs, 60, "the process to end")


def test_a_folder_that_is_not_ours_alone_is_not_used() -> None:
    """Then every step is a process of its own."""
    place = shared_session.place_of("advise_assignments", "run-1")
    assert place is not None
    assert len(str(place.name)) < 30
    place.parent.chmod(0o755)
    assert shared_session.place_of("advise_assignments", "run-1") is None
    assert shared_session.waiting_at(None) is None
    place.parent.chmod(0o700)
    os.rename(place.parent, place.parent.with_name("elsewhere"))
    place.parent.symlink_to(place.parent.with_name("elsewhere"))
    assert shared_session.place_of("advise_assignments", "run-1") is None
