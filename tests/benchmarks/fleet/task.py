"""
Do what a task of the DAG does, in a process of its own: `python task.py STEP SNAPSHOT_ID`

It calls the function that the task calls, so it runs whatever the interpreter's own evenkeel does. Settings come from
the environment; Airflow's connections are not asked, because no Airflow runs. What loading Airflow costs is told in the
file that FLEET_LOADING names, to be left out. It runs under the interpreter of any checkout and so imports nothing of
these benchmarks.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
import time
from pathlib import Path


def main(step: str, snapshot_id: str) -> int:
    """The exit status."""
    began = time.monotonic()
    logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="%(message)s")
    if step == "migrate":
        from evenkeel.engine.adapters.postgres import migrate

        migrate(os.environ["EVENKEEL_DATABASE_URL"])
        return 0
    from airflow.sdk.exceptions import AirflowException

    _tell_loading(began)
    from evenkeel.dags import runtime
    from evenkeel.engine import wiring

    runtime.settings = wiring.settings
    try:
        told = getattr(runtime, step)(snapshot_id)
    except AirflowException as problem:
        print(" ".join(str(problem).split()), flush=True)
        return 1
    if told is False:
        print("the snapshot is rejected", flush=True)
        return 1
    return 0


def _tell_loading(began: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "wall_seconds": time.monotonic() - began,
        "processor_seconds": used.ru_utime + used.ru_stime,
    }
    Path(os.environ["FLEET_LOADING"]).write_text(json.dumps(told))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
