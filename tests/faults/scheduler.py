"""
What stands for Airflow: the tasks of the DAGs in their order, with their retries, in simulated time.

The functions are those that the tasks of `dags` call. Validation is left out (its tables are read, and all of it
passes), and Spark is replaced by the same computation in this process.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Thread
from types import ModuleType
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from evenkeel import expectations
from evenkeel.dags import outages, runtime
from evenkeel.engine import pipeline
from evenkeel.engine.config import Settings
from evenkeel.engine.model.tables import Table, empty
from evenkeel.engine.pipeline.compute_steps import Steps
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots import METRICS, SNAPSHOT, STEPS, VALIDATION
from tests.faults.clock import Clock
from tests.faults.ports import Calls
from tests.faults.world import CLUSTER

PLACE: ContextVar[str] = ContextVar("PLACE", default="")
"""Where the task that runs is shown, as Airflow would say it."""

TAKING, RETRY = timedelta(seconds=120), timedelta(seconds=15)
"""Time limit of the tasks of `snapshot_offsets`, and what passes between two tries."""


class Variables:
    """Airflow's variables."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def get(self, key: str, default: Any) -> Any:
        """One."""
        return self.values.get(key, default)

    def set(self, key: str, value: str, description: str) -> None:
        """Set one."""
        self.values[key] = value

    def delete(self, key: str) -> None:
        """Forget one."""
        self.values.pop(key, None)


@dataclass
class Outcome:
    """How a try of a task ended: *ok*, *skipped*, *failed*, *killed*, or *crashed* by an error that is none of ours."""

    how: str
    value: Any = None
    line: str = ""


Middle = dict[tuple[int, bool], Callable[[], object]]
"""What happens in the middle of a task, by the number of the call, and whether after it."""


Make = Callable[[str, Lake, Settings, str], Mapping[str, Table]]
"""The rows of a step for a snapshot."""


@dataclass
class Scheduler:
    """
    Runs tasks.

    Attributes:
        clock: What time it is.
        made: Makes the rows that Spark makes.
        calls: The calls of the ports.
        middle: What happens in the middle of a task, by its name: for its next try only.
        twice: Tasks of which another try runs beside the first: in *threads* or *processes*.
        killed: Tasks whose next try runs in a process of its own, which ends at that call.
        told: Lines about tries that did not go well.
        crashes: Errors that nobody had thought of, with their traceback.
        runs: Runs of `advise_assignments`, and how each ended.
        taken: Of each run of `snapshot_offsets`: its number, how its snapshot ended, and what was said.
    """

    clock: Clock
    made: Make
    calls: Calls = field(default_factory=Calls)
    middle: dict[str, Middle] = field(default_factory=dict)
    twice: dict[str, str] = field(default_factory=dict)
    killed: dict[str, tuple[int, bool]] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    runs: dict[str, str] = field(default_factory=dict)
    taken: list[tuple[int, str, str]] = field(default_factory=list)

    def snapshot(self, number: int) -> None:
        """The DAG `snapshot_offsets`, and the run of `advise_assignments` that it triggers."""
        run = f"scheduled__{number}"
        taken = self.task(
            "take_snapshot",
            run,
            lambda: runtime.take_snapshot(CLUSTER, run=run, limit=TAKING),
            retries=1,
        )
        self.taken.append((number, taken.how, taken.line))
        if taken.how == "ok":
            snapshot_id = str(taken.value)
            self.task("watch_groups", run, lambda: runtime.watch_groups(snapshot_id), retries=1)
            self.advise(f"asset_triggered__{snapshot_id}", snapshot_id)

    def advise(self, run: str, snapshot_id: str) -> None:
        """The DAG `advise_assignments`."""
        self.runs[run] = "running"
        self.runs[run] = self._advise(run, snapshot_id)

    def _advise(self, run: str, snapshot_id: str) -> str:
        turn = self.task(
            "validate_snapshot",
            run,
            lambda: runtime.validate_snapshot(snapshot_id, run_id=run),
        )
        if turn.how != "ok":
            return "success" if turn.how == "skipped" else "failed"
        claimed = turn.value
        if claimed is not None:
            steps: Mapping[str, Callable[[], object]] = {
                "measure_and_propose": lambda: measure_and_propose(claimed, run, self.made),
                "validate_candidates": lambda: runtime.validate_candidates(claimed, run_id=run),
                "advise": lambda: runtime.advise(claimed),
            }
            for name, step in steps.items():
                if self.task(name, run, step).how != "ok":
                    return "failed"
        told = self.task("alert", run, lambda: runtime.alert(claimed or snapshot_id))
        return "success" if told.how == "ok" else "failed"

    def watch(self, number: int) -> None:
        """The DAG `watch_pipeline`."""
        run = f"scheduled__{number}"
        self.task("watch", run, runtime.watch)
        found = self.task("find_unadvised", run, lambda: runtime.runs_to_repeat(self))
        for each in found.value or ():
            if each["trigger_run_id"] not in self.runs:
                self.advise(each["trigger_run_id"], each["conf"]["snapshot_id"])

    def get_dr_count(
        self, dag_id: str, *, run_ids: list[str] | None = None, states: list[str] | None = None
    ) -> int:
        """Of so many runs Airflow knows."""
        known = [self.runs[each] for each in run_ids or () if each in self.runs]
        return len([state for state in known if states is None or state in states])

    def maintain(self, number: int) -> None:
        """The DAG `maintain_history`."""
        budget = timedelta(minutes=10)
        self.task("maintain", f"scheduled__{number}", lambda: runtime.maintain(budget))

    def task(self, name: str, run: str, work: Callable[[], object], *, retries: int = 2) -> Outcome:
        """Try until it goes well, or for the last time."""
        PLACE.set(f"/runs/{run}/tasks/{name}")
        for left in range(retries, -1, -1):
            found = self._try(name, work)
            if found.how in ("ok", "skipped"):
                return found
            self.told.append(f"{self.clock.true:%H:%M:%S} {name} {found.how}: {found.line}")
            if left:
                self.clock.set(self.clock.true + RETRY)
        # a killed task has no callbacks
        if found.how != "killed":
            with suppress(Exception):
                outages.tell()
        return found

    def _try(self, name: str, work: Callable[[], object]) -> Outcome:
        call, middle = self.killed.pop(name, None), self.middle.pop(name, {})
        if call is not None:
            return self._in_process(work, {call: lambda: os.kill(os.getpid(), signal.SIGKILL)})()
        others = {"threads": self._in_thread, "processes": self._in_process}
        beside = others[self.twice[name]](work) if name in self.twice else None
        self.calls.begin(middle)
        found = self._outcome(work)
        self.calls.begin({})
        if beside is None:
            return found
        # Airflow takes what the first said; where that went wrong, what the other did counts as a retry
        second = beside()
        return found if found.how == "ok" or second.how != "ok" else second

    def _outcome(self, work: Callable[[], object]) -> Outcome:
        try:
            return Outcome("ok", work())
        except AirflowSkipException as problem:
            return Outcome("skipped", line=str(problem))
        except AirflowException as problem:
            return Outcome("failed", line=str(problem))
        except Exception as problem:  # noqa: BLE001
            self.crashes.append(traceback.format_exc())
            return Outcome("crashed", line=repr(problem))

    def _in_thread(self, work: Callable[[], object]) -> Callable[[], Outcome]:
        found = list[Outcome]()
        thread = Thread(target=lambda: found.append(self._outcome(work)))
        thread.start()

        def ended() -> Outcome:
            thread.join()
            return found[0]

        return ended

    def _in_process(
        self, work: Callable[[], object], middle: Middle | None = None
    ) -> Callable[[], Outcome]:
        """Begin it in a process of its own, and wait for that."""
        out, into = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                self.calls.begin(middle or {})
                before = len(self.crashes)
                done = self._outcome(work)
                os.write(into, pickle.dumps((done, self.crashes[before:])))
            os._exit(0)
        os.close(into)

        def ended() -> Outcome:
            with os.fdopen(out, "rb") as answer:
                content = answer.read()
            os.waitpid(child, 0)
            if not content:
                return Outcome("killed", line="its process was killed")
            found, crashes = pickle.loads(content)
            self.crashes += crashes
            return found

        return ended


def measure_and_propose(snapshot_id: str, run: str, made: Make) -> None:
    """What `SparkStep` does, with the computation in this process."""
    also = runtime.to_measure(snapshot_id, run_id=run)
    with runtime.computing(snapshot_id, "*") as ports:
        lake, settings = ports.lake, ports.settings

        def make(steps: Steps, one: str, pattern: str) -> None:
            for step in steps:
                lake.write(step, one, made(step, lake, settings, one), pipeline.made_by(settings))

        started = nullcontext(make)
        pipeline.compute(
            lake, settings, snapshot_id, "*", also, started, lambda line: None, AirflowException
        )


def _passing(step: str, datasets: Sequence[str]) -> Callable[..., Table]:
    """Validation that reads its tables, and finds nothing wrong."""

    def validated(lake: Lake, settings: Settings, snapshot_id: str) -> Table:
        lake.manifest(step, snapshot_id)
        for name in datasets:
            lake.read(name, [snapshot_id])
        return empty(VALIDATION)

    return validated


@contextmanager
def standing_in(settings: Settings, **ports: Callable[..., Any]) -> Iterator[None]:
    """While this lasts tasks find these settings and ports, and Airflow's variables in memory."""
    validation = ModuleType("evenkeel.expectations.run")
    datasets = {"snapshot": SNAPSHOT, "metrics": METRICS, "candidates": STEPS["candidates"]}
    for stage, tables in datasets.items():
        setattr(validation, f"validate_{stage}", _passing(stage, [*tables]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, validation.__name__, validation)
        patch.setattr(expectations, "run", validation, raising=False)
        patch.setattr(outages, "Variable", Variables())
        patch.setattr(runtime, "_place", PLACE.get)
        patch.setattr(runtime, "settings", lambda: settings)
        patch.setattr(outages, "configured", lambda: settings)
        patch.setattr(outages, "bare_settings", lambda: settings)
        for name, port in ports.items():
            patch.setattr(runtime.wiring, name, port)
        yield
