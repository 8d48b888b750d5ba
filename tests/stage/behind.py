"""
``python -m tests.stage behind``: measure the time from snapshot to advice on a busy machine.

Loads the CPUs next to a running demo. Prints progress, and finally a line per snapshot. Fails if the time from a
snapshot to its advice exceeds ``--bound``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.messages.wording import duration
from tests.stage.process import LocalClusterError, default_home, spawn, stop
from tests.stage.services import Demo
from tests.stage.supervisor import read_state

BURN = "while True: pass"


def main(arguments: list[str]) -> int:
    """Watch for a while; 0 when the distance stayed within the bound."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage behind", description=(__doc__ or "").strip()
    )
    parser.add_argument("--minutes", type=float, default=30, help="duration in minutes (30)")
    parser.add_argument("--busy", type=int, default=2, help="number of busy processes (2)")
    parser.add_argument("--every", type=float, default=30, help="seconds between two lines (30)")
    parser.add_argument(
        "--bound", type=float, default=600, help="maximum seconds from snapshot to advice (600)"
    )
    asked = parser.parse_args(arguments)
    state = read_state(Demo(default_home() / "demo").state)
    if state is None or state["phase"] != "running":
        raise LocalClusterError("the demo is not running; start it with `make demo`")
    history = PostgresHistory(state["database_url"])
    began = datetime.now(tz=UTC)
    with burning(asked.busy):
        ends = time.monotonic() + asked.minutes * 60
        while time.monotonic() < ends:
            time.sleep(min(asked.every, max(ends - time.monotonic(), 0)))
            print(line(distances(history, state["name"], began), began), flush=True)
    return verdict(distances(history, state["name"], began), asked.bound)


@contextmanager
def burning(count: int) -> Iterator[None]:
    """
    So many processes that take all the processor time they get.

    Each in a session of its own: Linux shares the time out by session, so that of two in one each would get half.
    """
    log = default_home() / "burning.log"
    started = [spawn([sys.executable, "-c", BURN], None, log, "burning") for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            stop(process)


def distances(history: PostgresHistory, cluster: str, since: datetime) -> list[dict[str, Any]]:
    """The snapshots of that time, oldest first, each with the distance to its advice."""
    hours = (datetime.now(tz=UTC) - since).total_seconds() / 3600
    rows = history.query("advice_age", cluster=cluster, hours=hours)
    return rows[::-1]


def line(rows: Sequence[dict[str, Any]], since: datetime) -> str:
    """How things are now: the distance so far of what waits, and of the advice that came last."""
    now = datetime.now(tz=UTC)
    gone = duration((now - since).total_seconds())
    states = [row["state"] for row in rows]
    counts = ", ".join(f"{states.count(each)} {each}" for each in dict.fromkeys(states))
    worst = max((row["advised_after_seconds"] for row in rows), default=0.0)
    return f"{gone:>12}  {len(rows)} snapshots ({counts}), longest time to advice {duration(worst)}"


def verdict(rows: Sequence[dict[str, Any]], bound: float) -> int:
    """Print a line per snapshot and whether all kept within the bound."""
    print(f"\n{'snapshot':<34} {'state':<10} {'after':>12} {'waited':>12} {'run':>12}")
    for row in rows:
        spans = (row["advised_after_seconds"], row["waited_seconds"], row["run_seconds"])
        shown = " ".join(f"{'' if span is None else duration(span):>12}" for span in spans)
        print(f"{row['snapshot_id']:<34} {row['state']:<10} {shown}")
    worst = max((row["advised_after_seconds"] for row in rows), default=0.0)
    kept = bool(rows) and worst <= bound
    print(
        f"\nlongest time to advice {duration(worst)}: {'within' if kept else 'NOT within'} {duration(bound)}"
    )
    return 0 if kept else 1
