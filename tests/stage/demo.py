"""Start, look at and stop the demo: everything on this machine, until there is advice.

``start`` starts the daemon of ``services`` unless it runs, waits for three snapshots with advice
and prints what they say. It may be interrupted at any point and run again: the daemon goes on.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil

from evenkeel.engine import wiring
from evenkeel.engine.config import load
from evenkeel.engine.messages.wording import words
from evenkeel.engine.model.errors import EvenkeelError
from tests.stage import report
from tests.stage.airflow import AirflowApi
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.process import (
    HOME_MARKER,
    LocalClusterError,
    default_home,
    sweep,
    tail,
    wait_until,
)
from tests.stage.services import LATER, Demo
from tests.stage.supervisor import read_state

CHECKOUT = Path(__file__).resolve().parents[2]
OURS = {
    "EVENKEEL_IVY_SETTINGS",
    "EVENKEEL_SCHEDULE",
    "EVENKEEL_SLACK_CHANNEL",
    "EVENKEEL_SLACK_TOKEN",
    "EVENKEEL_WATCH_SCHEDULE",
}
"""Variables that shape the demo."""

LAUNCH_TIMEOUT_SECONDS = 120
READY_TIMEOUT_SECONDS = 900
ADVICE_TIMEOUT_SECONDS = 900
PATIENCE_SECONDS = 60
STOP_TIMEOUT_SECONDS = 40
SNAPSHOTS_WANTED = 3
"""The first snapshot has no rates; advice needs two more."""

WHAT = {
    "postgres": "history database (Postgres)",
    "example": "example database for the queries of the docs",
    "slack": "Slack (local stand-in)",
    "brokers": "Kafka",
    "workload": "a dozen consumer groups, healthy and unhealthy",
    "metadata": "database of Airflow",
    "airflow": "Airflow",
    "schedule": "DAGs",
}


class Progress:
    """What is waited for, and for how long: one line that changes, or on no terminal, few lines."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._live = sys.stdout.isatty()
        self._width = 0
        self._told = 0.0

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._began

    def done(self, text: str) -> None:
        """Something is there."""
        self._clear()
        print(f"{self.seconds:5.0f} s  {text}", flush=True)

    def waiting(self, text: str) -> None:
        """Something is not there yet."""
        if self._live:
            line = f"{self.seconds:5.0f} s  waiting for {text} ..."
            print("\r" + line.ljust(self._width), end="", flush=True)
            self._width = len(line)
        elif self.seconds - self._told > 15:
            self._told = self.seconds
            print(f"{self.seconds:5.0f} s  waiting for {text} ...", flush=True)

    def _clear(self) -> None:
        if self._live:
            print("\r" + " " * self._width + "\r", end="")
            self._width = 0


def start(demo: Demo) -> None:
    """
    Run the demo and print its results.

    Raises:
        LocalClusterError: Something did not come up; the message says what, and where its log is.
    """
    progress = Progress()
    if demo.cluster:
        _check_cluster(demo)
    with _alone(demo.home):
        bring_up(demo, progress)
        state = await_advice(demo, progress, SNAPSHOTS_WANTED)
        api_of(state).pause(LATER, paused=False)
    report.show(demo, state)


def _check_cluster(demo: Demo) -> None:
    """A wrong address is told at once, before everything else is started."""
    try:
        settings = load(connections={"clusters": {demo.name: {"bootstrap": demo.cluster}}})
        with closing(wiring.cluster(settings, demo.name)) as cluster:
            findings = cluster.ping().findings
    except EvenkeelError as problem:
        raise LocalClusterError(f"CLUSTER={demo.cluster}: {problem}") from problem
    for finding in findings:
        if not finding.ok:
            first = f"; {words(finding.problem)}" if finding.problem else ""
            print(f"! {finding.what}: {finding.seen}{first} {finding.fix or ''}")


def bring_up(demo: Demo, progress: Progress) -> None:
    """Start the daemon unless it runs, and wait until all its services are ready."""
    if _running(demo) is None:
        stop(demo)
        launch(demo)
    _await_services(demo, progress)


def api_of(state: Mapping[str, Any]) -> AirflowApi:
    """The API of the Airflow that a state tells of."""
    return AirflowApi(state["airflow_url"], state["airflow_user"], state["airflow_password"])


def stop(demo: Demo) -> None:
    """End everything the demo started, and leave no process."""
    state = read_state(demo.state)
    if state is not None:
        daemon = psutil.Process(state["pid"])
        daemon.terminate()
        try:
            daemon.wait(STOP_TIMEOUT_SECONDS)
        except psutil.TimeoutExpired:
            daemon.kill()
    # whatever a daemon that was killed could not end itself
    sweep(demo.home)
    EmbeddedPostgres(demo.home / "postgres").stop()


def status(demo: Demo) -> int:
    """
    Print which services run, where they are and where their logs lie.

    Returns:
        The exit code: 0 when everything runs, else 1.
    """
    state = read_state(demo.state)
    if state is None:
        print(
            f"The demo is not running. Start it with `make demo`. Files of earlier demos are in {demo.home}."
        )
        return 1
    for name, service in state["services"].items():
        print(f"{service['state']:<9} {WHAT[name]}")
    if state["phase"] == "running":
        print(report.ways(demo, state))
    print(f"{'logs and state':<18} {demo.home}")
    return 0 if state["phase"] == "running" else 1


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Two at the same time would start two daemons."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalClusterError("another `make demo` is running in this checkout") from None
        yield


def _running(demo: Demo) -> dict[str, Any] | None:
    """The state of a daemon that runs, or is about to, for the same cluster."""
    state = read_state(demo.state)
    if state is None or state["error"] or state["cluster"] != demo.cluster:
        return None
    return state if state["phase"] in ("starting", "running") else None


def _sure(demo: Demo) -> dict[str, Any]:
    state = _running(demo)
    if state is None:
        raise _failure(demo)
    return state


def launch(demo: Demo) -> None:
    """Start the daemon, which starts all the rest; it outlives this process."""
    argv = [sys.executable, "-m", "tests.stage.services", str(demo.home)]
    argv += ["--cluster", demo.cluster] if demo.cluster else []
    demo.state.unlink(missing_ok=True)
    # not by `spawn`: it goes on when this process ends
    with demo.log.open("wb") as log:
        daemon = subprocess.Popen(
            argv,
            cwd=CHECKOUT,
            env=_environment(demo),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + LAUNCH_TIMEOUT_SECONDS
    while read_state(demo.state) is None:
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise _failure(demo)
        time.sleep(0.1)


def _environment(demo: Demo) -> dict[str, str]:
    """This one's, without settings meant for another evenkeel or another Airflow."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in OURS or not name.startswith(("EVENKEEL_", "AIRFLOW"))
    }
    return kept | {HOME_MARKER: str(demo.home)}


def _await_services(demo: Demo, progress: Progress) -> None:
    told: set[str] = set()

    def look() -> bool:
        state = _sure(demo)
        services = state["services"]
        for name, service in services.items():
            if service["state"] == "ready" and name not in told:
                told.add(name)
                progress.done(WHAT[name])
        missing = [WHAT[n] for n, service in services.items() if service["state"] == "starting"]
        progress.waiting(", ".join(missing) or "the first service")
        return bool(state["phase"] == "running")

    _poll(look, READY_TIMEOUT_SECONDS, "all services", demo)


def await_advice(demo: Demo, progress: Progress, wanted: int) -> dict[str, Any]:
    """
    Wait for so many snapshots with advice, and a while for one that is not of an earlier demo.

    Returns:
        The state of the daemon.
    """
    told: set[str] = set()

    def look() -> bool:
        state = _sure(demo)
        snapshots = report.snapshots(state)
        advised = [s for s in snapshots if s["advised"]]
        fresh = [s["snapshot_id"] for s in advised if report.is_fresh(s, state)]
        for snapshot_id in reversed([each for each in fresh if each not in told]):
            told.add(snapshot_id)
            progress.done(f"snapshot {snapshot_id} has advice")
        progress.waiting(report.stage(state, snapshots))
        patient = time.time() < state["settled_at"] + PATIENCE_SECONDS
        return len(advised) >= wanted and (bool(fresh) or not patient)

    _poll(look, ADVICE_TIMEOUT_SECONDS, "advice", demo)
    return _sure(demo)


def _poll(condition: Callable[[], bool], timeout: float, what: str, demo: Demo) -> None:
    wait_until(condition, timeout, f"{what}; see the logs in {demo.home}", interval=0.5)


def _failure(demo: Demo) -> LocalClusterError:
    try:
        error = json.loads(demo.state.read_text())["error"]
    except (OSError, ValueError, KeyError):
        error = None
    text = error or f"the daemon of the demo has ended:\n{tail(demo.log)}"
    return LocalClusterError(f"{text}\nSee the logs in {demo.home}. Try again with `make demo`.")


def _here(verb: str, arguments: list[str]) -> Demo:
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.stage {verb}",
        epilog="CLUSTER=host:port uses your own cluster (read-only). EVENKEEL_HOME sets the folder of all state.",
    )
    parser.parse_args(arguments)
    return Demo(default_home() / "demo", os.environ.get("CLUSTER") or None)


def start_main(arguments: list[str]) -> int:
    """The verb ``start``."""
    start(_here("start", arguments))
    return 0


def status_main(arguments: list[str]) -> int:
    """The verb ``status``."""
    return status(_here("status", arguments))


def stop_main(arguments: list[str]) -> int:
    """The verb ``stop``."""
    stop(_here("stop", arguments))
    return 0
