"""
Do what a task of the DAG does, in a process of its own: `python task.py SNAPSHOT_ID STEP`

The step is a task of `advise_assignments`: its function is called, or its operator executed, with what Airflow would
hand in. So it runs whatever the interpreter's own evenkeel does. Settings come from the environment; Airflow's
connections are not asked, because no Airflow runs. What loading Airflow costs is told in the file that FLEET_LOADING
names, to be left out. It runs under the interpreter of any checkout and so imports nothing of these benchmarks.
"""

from __future__ import annotations

import compileall
import inspect
import json
import logging
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

RUN = "manual__fleet"
"""A run by hand takes up its own snapshot, and none of those before."""


def main(snapshot_id: str, step: str) -> int:
    """The exit status."""
    began = time.monotonic()
    logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="%(message)s")
    if step in BEFORE:
        BEFORE[step](snapshot_id)
        return 0
    from airflow.sdk.exceptions import AirflowException

    _tell_loading(began)
    from evenkeel.dags import runtime
    from evenkeel.dags.advise_assignments import DAG
    from evenkeel.engine import wiring

    runtime.settings = wiring.settings
    try:
        _do(DAG.get_task(step), snapshot_id)
    except AirflowException as problem:
        print(" ".join(str(problem).split()), flush=True)
        return 1
    return 0


def _prepare(snapshot_id: str) -> None:
    """What was there before: the tables, and the snapshot's row that its taking leaves."""
    from evenkeel.engine import wiring
    from evenkeel.engine.adapters.postgres import migrate

    settings = wiring.settings()
    migrate(os.environ["EVENKEEL_DATABASE_URL"])
    manifest = wiring.lake(settings).manifest("snapshot", snapshot_id)
    wiring.history(settings).store_snapshot(manifest, settings.version)


def _warm_up(snapshot_id: str) -> None:
    """Have compiled what is compiled once per installation: evenkeel, and metrics and candidates by Numba."""
    import evenkeel
    from evenkeel.engine import pipeline, wiring
    from evenkeel.engine.cli import compile_kernels

    for room in Path(evenkeel.__file__).parent.glob("*/"):
        compileall.compile_dir(room, quiet=1)
    settings = wiring.settings()
    lake = wiring.lake(settings)
    pipeline.record_metrics(
        lake, snapshot_id, pipeline.compute_metrics(lake, settings, snapshot_id)
    )
    pipeline.propose_candidates(lake, settings, snapshot_id)
    compile_kernels.compile_all()


BEFORE = {"prepare": _prepare, "warm_up": _warm_up}
"""What is done before anything is measured."""


def _do(task: Any, snapshot_id: str) -> None:
    """
    Raises:
        AirflowException: It failed, or validation rejected the snapshot.
    """
    from airflow.sdk.exceptions import AirflowException

    if not hasattr(task, "python_callable"):
        task.snapshot_id, task.groups = snapshot_id, "*"
        task.execute({"run_id": RUN})
        return
    known = {"snapshot_id": snapshot_id, "run": RUN}
    asked = inspect.signature(task.python_callable).parameters
    told = task.python_callable(**{name: known[name] for name in asked})
    if task.task_id == "validate_snapshot" and not told:
        raise AirflowException("the snapshot is rejected")


def _tell_loading(began: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "wall_seconds": time.monotonic() - began,
        "processor_seconds": used.ru_utime + used.ru_stime,
    }
    Path(os.environ["FLEET_LOADING"]).write_text(json.dumps(told))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
