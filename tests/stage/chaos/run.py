"""
``python -m tests.stage chaos``: hang and kill everything for a while, and see whether all promises hold afterwards.

Starts a demo of its own, in ``chaos`` beside the demo's folder. What is done when is drawn from ``--seed`` and printed.
When it is over, waits until all promises hold, ``--patience`` minutes at most; fails when one is broken then.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import load
from tests.stage.chaos.plan import BROKERS, Blow, plan_of
from tests.stage.chaos.promises import Evidence, broken
from tests.stage.chaos.targets import Targets, Undo
from tests.stage.process import LocalClusterError, default_home, sweep, wait_until
from tests.stage.services import LATER, Demo
from tests.stage.supervisor import Facts, Service, StateFile, Supervisor, read_state

SCHEDULES = {"EVENKEEL_SCHEDULE": "75s", "EVENKEEL_WATCH_SCHEDULE": "60s"}
"""Unless the environment says otherwise: in ten minutes more happens than in an ordinary demo."""

LATE_SECONDS = 300
"""Less than the demo's: what takes longer shall be told, and that it is over."""

READY_SECONDS = 420
LOOK_SECONDS = 10.0


INCIDENTS = """
SELECT opened_at, closed_at, concat_ws(': ', group_id, kind) AS what FROM incident ORDER BY opened_at, what
"""


class Sandbox(Demo):
    """A demo of which parts may end without ending all the others."""

    def services(self) -> list[Service]:
        """Everything that a promise is about, to run."""
        ours = [each for each in super().services() if each.name != "example"]
        return [replace(each, run=partial(_lasting, each.run)) for each in ours]

    def environment(self, facts: Mapping[str, Any]) -> dict[str, str]:
        """As the demo's, but Airflow is as impatient as by default, and misses a killed task within a minute."""
        return super().environment(facts) | {
            "AIRFLOW__CORE__TASK_SUCCESS_OVERTIME": "20",
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "60",
            "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "5",
        }

    def write_config(self, bootstrap: str) -> None:
        """As the demo's, but late is earlier."""
        super().write_config(bootstrap)
        text = self.config.read_text()
        self.config.write_text(
            text.replace("stale_after_seconds = 600", f"stale_after_seconds = {LATE_SECONDS}")
        )


@contextmanager
def _lasting(
    run: Callable[[Mapping[str, Any]], AbstractContextManager[Facts]], facts: Mapping[str, Any]
) -> Iterator[Facts]:
    with run(facts) as found:
        found.pop("_alive", None)
        yield found


@contextmanager
def started(sandbox: Demo) -> Iterator[Mapping[str, Any]]:
    """
    A new demo that runs as long as the block, its DAGs on their schedules; what its services say of themselves.

    Raises:
        LocalClusterError: Something did not start.
    """
    os.environ.update({name: os.environ.get(name, each) for name, each in SCHEDULES.items()})
    if read_state(sandbox.state) is not None:
        raise LocalClusterError(f"another one runs in {sandbox.home}")
    sweep(sandbox.home)
    shutil.rmtree(sandbox.home, ignore_errors=True)
    sandbox.home.mkdir(parents=True)
    state = StateFile(sandbox.state, cluster=None, name=sandbox.name, config=str(sandbox.config))
    supervisor = Supervisor(sandbox.services(), state)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        wait_until(lambda: _settled(sandbox), READY_SECONDS, "everything to start", interval=0.5)
        supervisor.facts["_airflow"].api.pause(LATER, paused=False)
        yield supervisor.facts
    finally:
        supervisor.asked_to_end.set()
        thread.join()
        sweep(sandbox.home)


def _settled(sandbox: Demo) -> bool:
    state = read_state(sandbox.state)
    if state is not None and state["error"]:
        raise LocalClusterError(state["error"])
    return state is not None and state["phase"] == "running"


@dataclass
class Struck:
    """A blow that hit something: when it began, and when what was hurt could go on."""

    blow: Blow
    hit: str
    began: datetime
    ended: datetime | None = None


@dataclass
class Storm:
    """Carries out a plan and keeps alive what ends, as a machine's service manager does."""

    targets: Targets
    say: Callable[[str], None]
    struck: list[Struck] = field(default_factory=list)

    def rage(self, blows: Sequence[Blow]) -> None:
        """
        Do everything at its time, and end what was begun, also when interrupted.

        In the thread that called: what it starts again lives as long as that thread.
        """
        todo, undoing = list(blows), list[tuple[float, Undo, Struck]]()
        began = time.monotonic()
        try:
            while todo or undoing:
                now = time.monotonic() - began
                for blow in [each for each in todo if each.at <= now]:
                    hit, undo = self.targets.strike(blow)
                    if undo is None and now < blow.at + blow.lasts:
                        continue  # what it is meant for may come
                    todo.remove(blow)
                    self.say(f"{blow.part} {blow.how} for {blow.lasts:.0f} s: {hit}")
                    if undo:
                        self.struck.append(Struck(blow, hit, datetime.now(tz=UTC)))
                        undoing.append((now + blow.lasts, undo, self.struck[-1]))
                for due in [each for each in undoing if each[0] <= now]:
                    undoing.remove(due)
                    due[1]()
                    due[2].ended = datetime.now(tz=UTC)
                self.wait(0.5)
        finally:
            for _, undo, _ in undoing:
                undo()

    def wait(self, seconds: float) -> None:
        """Let time pass and start again what has ended meanwhile."""
        time.sleep(seconds)
        for name in self.targets.airflow.revive(but=self.targets.down):
            self.say(f"{name} is started again")


def ended(targets: Targets) -> list[str]:
    """Parts that do not run, or do not answer."""
    found = [] if targets.postgres.running else ["Postgres"]
    with suppress(OSError, LocalClusterError):
        if not targets.airflow.well():
            found.append("Airflow is not well")
    try:
        admin = KafkaAdminClient(bootstrap_servers=targets.brokers.bootstrap.split(","))
        count = len(admin.describe_cluster()["brokers"])
        admin.close()
        found += [] if count == BROKERS else [f"{BROKERS - count} brokers"]
    except KafkaError as problem:
        found.append(f"the brokers: {problem}")
    return found


def calm_down(storm: Storm, evidence: Evidence, minutes: float) -> dict[str, list[str]]:
    """Wait until all promises hold, so long at most; what breaks them then."""
    ends = time.monotonic() + 60 * minutes
    while True:
        found = broken(evidence)
        left = {name: lines for name, lines in found.items() if lines}
        if not left or time.monotonic() > ends:
            return found
        storm.say(f"waiting: {'; '.join(lines[0] for lines in left.values())}"[:200])
        storm.wait(LOOK_SECONDS)


Keep = Callable[[Sequence[Struck]], None]
"""Called with what was done to the demo, once it is over."""

Beside = Callable[[Demo, Mapping[str, Any]], AbstractContextManager[Keep]]
"""What else goes on while a demo with these facts is hurt."""


@contextmanager
def _alone(sandbox: Demo, facts: Mapping[str, Any]) -> Iterator[Keep]:
    yield lambda struck: None


def main(arguments: Sequence[str], beside: Beside = _alone) -> int:
    """Hurt, wait, look; 0 when all promises hold."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage chaos", description=(__doc__ or "").strip()
    )
    parser.add_argument(
        "--minutes", type=float, default=10, help="duration of the faults in minutes (10)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the random faults (1)")
    parser.add_argument(
        "--patience", type=float, default=15, help="minutes to wait for recovery (15)"
    )
    parser.add_argument("--dry", action="store_true", help="print the planned faults and exit")
    asked = parser.parse_args(arguments)
    blows = plan_of(asked.seed, 60 * asked.minutes)
    print(f"seed {asked.seed}, {len(blows)} faults in {asked.minutes:g} minutes", flush=True)
    if asked.dry:
        print(*blows, sep="\n")
        return 0
    # everything is ended as after Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sandbox = Sandbox(default_home() / "chaos")
    with started(sandbox) as facts, beside(sandbox, facts) as keep:
        storm, evidence, found = _weathered(sandbox, facts, blows, asked.patience)
        keep(storm.struck)
        return _verdict(evidence, found)


def _weathered(
    sandbox: Demo, facts: Mapping[str, Any], blows: Sequence[Blow], patience: float
) -> tuple[Storm, Evidence, dict[str, list[str]]]:
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {line}", flush=True)

    names = ("brokers", "postgres", "workspace", "airflow")
    targets = Targets(sandbox.home, **{name: facts[f"_{name}"] for name in names})
    storm = Storm(targets, say)
    storm.rage(blows)
    evidence = Evidence(
        database_url=facts["database_url"],
        lake=FileLake(str(sandbox.home / "lake")),
        messages=facts["_workspace"].messages,
        settings=load(path=sandbox.config),
        cluster=sandbox.name,
        until=datetime.now(tz=UTC),
        ended=partial(ended, targets),
    )
    return storm, evidence, calm_down(storm, evidence, patience)


def _verdict(evidence: Evidence, found: Mapping[str, Sequence[str]]) -> int:
    """Print what there is and which promises hold."""
    states = evidence.rows("SELECT state, count(*) FROM snapshot_health GROUP BY state")
    counts = {row["state"]: row["count"] for row in states}
    failed = evidence.rows("SELECT count(*) FROM step_run WHERE outcome = 'failed'")[0]["count"]
    incidents = evidence.rows(INCIDENTS)
    print(f"\nsnapshots   {', '.join(f'{n} {state}' for state, n in sorted(counts.items()))}")
    print(f"messages    {len(evidence.messages)} in Slack; {failed} failed steps")
    print(f"incidents   {len(incidents)}")
    for each in incidents:
        ends = f"{each['closed_at']:%H:%M:%S}" if each["closed_at"] else "open"
        print(f"            {each['opened_at']:%H:%M:%S} to {ends:<8}  {each['what']}")
    print()
    for name, lines in found.items():
        print(f"{'BROKEN' if lines else 'kept':<7} {name}")
        for line in lines:
            print(f"        {line}")
    return 1 if any(found.values()) else 0
