"""The operator of the two steps that run on Spark, and the process that it shares with the backfill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowSkipException

from evenkeel.dags.shared_session import place_of, until_end, waiting_at

BEHIND = "compute_metrics"
"""The step that also serves the snapshots which its own has overtaken."""


class SparkProcess:
    """
    A task's process with all its children, as a process group of its own, that ends with the task.

    Spark's driver keeps Java and Python workers; ending the group ends them all. Its output goes to the task's log; on
    failure its last line, which is the engine's one line, becomes the task's error.
    """

    log: Any
    grace_seconds: float = 5
    _process: subprocess.Popen[str] | None = None
    _group: int | None = None

    def _started(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        self._process = process = subprocess.Popen(
            command,
            env={"PYSPARK_PYTHON": sys.executable, **os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._group = process.pid
        return process

    def _outcome(self, lines: Iterable[str]) -> tuple[int | None, str]:
        """The exit code, as far as the process said it, and the last line that was printed."""
        last, code = "", None
        for text, code in until_end(lines):
            if code is None:
                self.log.info("%s", text)
                last = text.strip() or last
        return code, last

    def on_kill(self) -> None:
        """End Spark with all its children."""
        group = self._group
        if group is None:
            return
        self._signal(group, signal.SIGTERM)
        deadline = time.monotonic() + self.grace_seconds
        while self._lives(group) and time.monotonic() < deadline:
            time.sleep(0.1)
        if self._lives(group):
            self.log.warning("Spark did not end in %s s and is killed.", self.grace_seconds)
        # whatever the driver left behind is still in its group
        self._signal(group, signal.SIGKILL)

    def _lives(self, pid: int) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        with suppress(ProcessLookupError):
            os.kill(pid, 0)
            return True
        return False

    def _signal(self, group: int, number: signal.Signals) -> None:
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            self.log.debug("Spark's processes have ended.")


class SparkStep(SparkProcess, BaseOperator):
    """
    Run the step `<task_id>` of `evenkeel.spark_tasks` on one snapshot, in the Spark session of its run.

    The first step of a run starts a process, as a process group of its own, that keeps its session for the next one;
    where none waits on this machine, or Spark is a Connect server's (`EVENKEEL_SPARK_REMOTE`), a step starts its own.

    Args:
        snapshot_id: Which snapshot.
        groups: Shell pattern of group ids.
        wait_seconds: How long the process waits for the next step of the run; 0 where there is none.
        grace_seconds: How long the group may take to end when the task is killed.
    """

    template_fields = ("snapshot_id", "groups")

    def __init__(
        self,
        *,
        snapshot_id: str,
        groups: str = "*",
        wait_seconds: float = 0,
        grace_seconds: float = 5,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.snapshot_id = snapshot_id
        self.groups = groups
        self.wait_seconds = wait_seconds
        self.grace_seconds = grace_seconds
        self.also: list[str] = []
        self._place: Path | None = None

    def execute(self, context: Any) -> None:
        """
        Raises:
            AirflowException: The step failed.
            AirflowSkipException: There is no snapshot to work on, because it was rejected.
        """
        from evenkeel.dags import connections, runtime
        from evenkeel.engine.errors import EvenkeelError

        if not self.snapshot_id:
            raise AirflowSkipException("The snapshot was rejected as a whole.")
        run_id = context["run_id"]
        # a Spark Connect server keeps running by itself: each step is a process of its own
        if not os.environ.get("EVENKEEL_SPARK_REMOTE"):
            self._place = place_of(self.dag_id if self.has_dag() else "", run_id)
        if self.task_id == BEHIND:
            self.also = runtime.to_measure(self.snapshot_id, run_id=run_id)
        with runtime.of_snapshot(self.task_id, self.snapshot_id) as ports:
            code, last = self._run(connections.environment(ports.settings))
            if code:
                raise EvenkeelError(ended_by(code) or last or f"it ended with code {code}.")

    def arguments(self) -> list[str]:
        """Of the step."""
        words = ["--snapshot-id", self.snapshot_id]
        words += [] if self.groups == "*" else ["--groups", self.groups]
        return words + [word for one in self.also for word in ("--also", one)]

    def command(self) -> list[str]:
        """What is run where no process waits."""
        python = [sys.executable, "-m"]
        if self._place is None:
            return [*python, f"evenkeel.spark_tasks.{self.task_id}", *self.arguments()]
        place = ["--socket", str(self._place), "--wait", f"{self.wait_seconds:g}"]
        return [*python, "evenkeel.spark_tasks.shared", *place, self.task_id, *self.arguments()]

    def _run(self, environment: dict[str, str]) -> tuple[int, str]:
        """The exit code, and the last line that was printed."""
        waiting = waiting_at(self._place)
        if waiting is not None:
            self.log.info("in the Spark session of this run, of process %s", waiting.pid)
            self._group = waiting.pid
            lines = waiting.ask(self.task_id, self.arguments(), last=self.wait_seconds <= 0)
            code, last = self._outcome(lines)
            return (1, last or "its process has ended.") if code is None else (code, last)
        process = self._started(self.command(), environment)
        assert process.stdout is not None
        with process.stdout:
            code, last = self._outcome(process.stdout)
        if code == 0 and self.wait_seconds > 0:
            return 0, last
        # of one that ended without a word, or of the last step, there is nothing to wait for but its end
        ended = process.wait()
        return (ended if code is None else code), last


def ended_by(code: int) -> str | None:
    """What a signal did; shells and the steps themselves add 128 to its number."""
    number = -code if code < 0 else code - 128
    return f"it was ended by signal {number} before it was done." if number > 0 else None
