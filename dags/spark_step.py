"""The operator of the Spark task, which runs in its own process group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowSkipException


class SparkStep(BaseOperator):
    """
    Compute metrics, then candidates, of a snapshot. `step_run` has a row for each of the two steps.

    A snapshot up to the setting `spark_above` is computed here, a larger one by `evenkeel.spark_tasks.<task_id>` in one
    Spark application.

    Its process and its children (the Spark driver starts Java and Python workers) form a process group that ends with
    the task. Its output goes to the task log. On failure its last line, the error of the engine, becomes the error of
    the task.

    Args:
        snapshot_id: Id of the snapshot.
        groups: Shell pattern of group ids.
        grace_seconds: Maximum seconds for the process to end when the task is killed.
    """

    template_fields = ("snapshot_id", "groups")
    _process: subprocess.Popen[str] | None = None

    def __init__(
        self, *, snapshot_id: str, groups: str = "*", grace_seconds: float = 5, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.snapshot_id = snapshot_id
        self.groups = groups
        self.grace_seconds = grace_seconds
        self.also: list[str] = []

    def execute(self, context: Any) -> None:
        """
        Raises:
            AirflowException: A step failed.
            AirflowSkipException: The snapshot was rejected.
        """
        from evenkeel.dags import connections, runtime
        from evenkeel.engine.model.errors import EvenkeelError

        if not self.snapshot_id:
            raise AirflowSkipException("The snapshot was rejected.")
        self.also = runtime.to_measure(self.snapshot_id, run_id=context["run_id"])
        with runtime.computing(self.snapshot_id, self.groups) as ports:
            if not runtime.compute_small(ports, self.snapshot_id, self.groups, self.also):
                problem = self._run(self.command(), connections.environment(ports.settings))
                if problem:
                    raise EvenkeelError(problem)

    def command(self) -> list[str]:
        """The command."""
        words = [sys.executable, "-m", f"evenkeel.spark_tasks.{self.task_id}"]
        words += ["--snapshot-id", self.snapshot_id]
        words += [] if self.groups == "*" else ["--groups", self.groups]
        return words + [word for one in self.also for word in ("--also", one)]

    def _run(self, command: list[str], environment: dict[str, str]) -> str | None:
        """Run it to its end; returns the error, None on success."""
        from evenkeel.engine.model.text import printable

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
        assert process.stdout is not None
        last = ""
        with process.stdout as lines:
            for line in lines:
                shown = printable(line.expandtabs().rstrip())
                self.log.info("%s", shown)
                last = shown.strip() or last
        code = process.wait()
        return (ended_by(code) or last or f"It ended with exit code {code}.") if code else None

    def on_kill(self) -> None:
        """End Spark with all its children."""
        process = self._process
        if process is None:
            return
        self._signal(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + self.grace_seconds
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        if process.poll() is None:
            self.log.warning("Spark did not end within %s s and is killed.", self.grace_seconds)
        # whatever the driver left behind is still in its group
        self._signal(process.pid, signal.SIGKILL)

    def _signal(self, group: int, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(group, number)


def ended_by(code: int) -> str | None:
    """A signal that ended the process; shells and the steps add 128 to its number."""
    number = -code if code < 0 else code - 128
    return f"Signal {number} ended it before it was done." if number > 0 else None
