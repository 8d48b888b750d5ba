"""The operator of the two steps that run on Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowSkipException

BEHIND = "compute_metrics"
"""The step that also serves the snapshots which its own has overtaken."""


class SparkStep(BaseOperator):
    """
    Run `python -m evenkeel.spark_tasks.<task_id>` on one snapshot, as a process group of its own.

    Spark's driver keeps Java and Python workers; ending the group ends them all. Its output goes to
    the task's log; on failure its last line, which is the engine's one line, becomes the task's
    error.

    Args:
        snapshot_id: Which snapshot.
        groups: Shell pattern of group ids.
        grace_seconds: How long the group may take to end when the task is killed.
    """

    template_fields = ("snapshot_id", "groups")

    def __init__(
        self, *, snapshot_id: str, groups: str = "*", grace_seconds: float = 5, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.snapshot_id = snapshot_id
        self.groups = groups
        self.grace_seconds = grace_seconds
        self.also: list[str] = []
        self._process: subprocess.Popen[str] | None = None

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
        if self.task_id == BEHIND:
            self.also = runtime.to_measure(self.snapshot_id, run_id=context["run_id"])
        with runtime.of_snapshot(self.task_id, self.snapshot_id) as ports:
            code, last = self._run(connections.environment(ports.settings))
            if code:
                raise EvenkeelError(_ended_by(code) or last or f"it ended with code {code}.")

    def command(self) -> list[str]:
        """What is run."""
        command = [sys.executable, "-m", f"evenkeel.spark_tasks.{self.task_id}"]
        command += ["--snapshot-id", self.snapshot_id]
        command += [] if self.groups == "*" else ["--groups", self.groups]
        return command + [word for one in self.also for word in ("--also", one)]

    def _run(self, environment: dict[str, str]) -> tuple[int, str]:
        """The exit code, and the last line that was printed."""
        self._process = subprocess.Popen(
            self.command(),
            env={"PYSPARK_PYTHON": sys.executable, **os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        last: deque[str] = deque(maxlen=1)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.log.info("%s", line.rstrip())
            last.extend([line.strip()] if line.strip() else [])
        return self._process.wait(), last[0] if last else ""

    def on_kill(self) -> None:
        """End Spark with all its children."""
        process = self._process
        if process is None:
            return
        self._signal(process.pid, signal.SIGTERM)
        try:
            process.wait(self.grace_seconds)
        except subprocess.TimeoutExpired:
            self.log.warning("Spark did not end in %s s and is killed.", self.grace_seconds)
        # whatever the driver left behind is still in its group
        self._signal(process.pid, signal.SIGKILL)

    def _signal(self, group: int, number: signal.Signals) -> None:
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            self.log.debug("Spark's processes have ended.")


def _ended_by(code: int) -> str | None:
    """What a signal did; shells and the steps themselves add 128 to its number."""
    number = -code if code < 0 else code - 128
    return f"it was ended by signal {number} before it was done." if number > 0 else None
