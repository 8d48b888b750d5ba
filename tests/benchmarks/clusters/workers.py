"""
`python -m tests.benchmarks.clusters.workers [GROUPS]`: the Spark step of a run on one, two and three workers.

Spark standalone on this machine; each worker has one core. The step reads a seeded fleet from the lake and writes
metrics and candidates to it. Seconds say little where the machine has fewer cores than workers, or is busy, so the step
is also told by parts:

- *before and between* is what does not run on workers: the driver starts, plans, writes manifests. It is what is left
  of the seconds when no task runs, by Spark's own record of its tasks.
- *tasks* is the sum of their run times, *longest* the longest of each stage: with workers enough, a stage takes that.
- *driver CPU s*, *workers CPU s*: processor time, of which workers share theirs. *ratio by CPU* is that
  of the sums driver + workers / their number: what a core for each and no waiting would give.
- *bound* is the ratio that one worker's parts allow at most: whole / (before and between + tasks / workers).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

import evenkeel
from tests.benchmarks.clusters import results
from tests.benchmarks.fleet.bench import CONFIG, Checkout, metered, written
from tests.benchmarks.measure import show
from tests.helpers.fleet import Shape
from tests.helpers.spark_cluster import StandaloneCluster, standalone_cluster

GROUPS, WORKERS = 1_000, 3
LIMIT = 3600


@contextmanager
def processor_time(cluster: StandaloneCluster) -> Iterator[dict[int, float]]:
    """Of all processes below the workers, by process id, looked at a few times a second."""
    seen: dict[int, float] = {}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.25):
            for worker in cluster.workers:
                with suppress(psutil.NoSuchProcess):
                    for each in psutil.Process(worker.pid).children(recursive=True):
                        with suppress(psutil.NoSuchProcess):
                            seen[each.pid] = sum(each.cpu_times()[:2])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def tasks(events: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """Seconds in which any task ran, the sum of all tasks, and the sum over stages of the longest one."""
    spans, longest = [], defaultdict[int, float](float)
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd":
            told = event["Task Info"]
            begin, end = told["Launch Time"] / 1000, told["Finish Time"] / 1000
            spans.append((begin, end))
            stage = event["Stage ID"]
            longest[stage] = max(longest[stage], end - begin)
    covered, until = 0.0, 0.0
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, until))
        until = max(until, end)
    return covered, sum(end - begin for begin, end in spans), sum(longest.values())


def run(cluster: StandaloneCluster, folder: Path, snapshot_id: str, python: Path) -> list[float]:
    """Run the step on a copy of the lake: seconds, those without a task, of tasks, longest, and processor times."""
    lake = folder / "copy"
    shutil.rmtree(lake, ignore_errors=True)
    shutil.copytree(folder / "lake", lake)
    more = {"EVENKEEL_LAKE": str(lake), "EVENKEEL_CONFIG": str(folder / "evenkeel.toml")}
    environment = cluster.driver_environment({**more, "PYSPARK_PYTHON": str(python)})
    command = [sys.executable, "-m", "evenkeel.spark_tasks.measure_and_propose"]
    before = cluster.applications()
    with processor_time(cluster) as workers:
        found = metered([*command, "--snapshot-id", snapshot_id], environment, folder, LIMIT)
    if found["exit_code"]:
        raise SystemExit(f"it failed: {found['last_line']}")
    (application,) = cluster.applications() - before
    covered, whole, longest = tasks(cluster.events(application))
    seconds = found["wall_seconds"]
    processor = [found["processor_seconds"], sum(workers.values())]
    return [seconds, seconds - covered, whole, longest, *processor]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.clusters.workers", description=__doc__
    )
    parser.add_argument("groups", type=int, nargs="?", default=GROUPS, help="of the fleet")
    parser.add_argument("--keep", action="store_true", help="keep the table for the docs")
    options = parser.parse_args(arguments)
    groups = options.groups
    rows = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "evenkeel.toml").write_text(CONFIG)
        newest = written(Checkout.at(None), folder / "lake", Shape(groups=groups))["newest"]
        python = folder / "python"
        place = os.pathsep.join([str(Path(evenkeel.__file__).parents[1]), os.getcwd()])
        python.write_text(f'#!/bin/sh\nPYTHONPATH={place} exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        with standalone_cluster(folder / "spark", workers=1) as cluster:
            run(cluster, folder, newest, python)  # what is compiled once
            first: list[float] = []
            for count in range(1, WORKERS + 1):
                cluster.await_workers(count)
                found = run(cluster, folder, newest, python)
                first = first or found
                bound = first[0] / (first[1] + first[2] / count)
                by_cpu = sum(first[4:]) / (found[4] + found[5] / count)
                cells = [found[0], first[0] / found[0], bound, by_cpu, *found[1:]]
                rows.append([str(count), *(f"{value:.1f}" for value in cells)])
                print(*zip(results.WORKERS, rows[-1], strict=True), file=sys.stderr)
                if count < WORKERS:
                    cluster.start_worker()
    show(f"{groups:,} groups: metrics and candidates on workers of one core", results.WORKERS, rows)
    if options.keep:
        results.save(groups=groups, workers=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
