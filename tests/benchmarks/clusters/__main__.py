"""
`python -m tests.benchmarks.clusters [FLEET.json]`: many clusters on one Airflow, simulated from measured tasks.

Tasks, pools, weights, limits and the schedule are read from the DAGs. Costs are processor seconds of each task of a
cluster of 1,000 groups: the file has those of `tests.benchmarks.fleet 1000 --json`, `COSTS` the others. All tasks share
the cores of one machine; each works on one. All clusters are alike, nothing fails, and brokers, Postgres, lake and
memory are never what is waited for.

The first table has, for so many cores and slots of the pool `spark`, over the last hour:

- *watched*: from the scheduled moment until the groups of the first, of half and of all clusters are evaluated.
- *advice*: from a snapshot until its advice: the quickest, half of them, and the slowest.
- *every*: the longest time that a cluster was without new advice. *queued*: runs of `advise_assignments` at the end.
- *cores* and *pool*: how much of them is used; the one near 100% bounds the rest.

The second one has how many instances of each task run beside each other, on average.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from evenkeel.dags import runtime
from evenkeel.engine.pipeline.compute_steps import ALSO
from tests.benchmarks.clusters import results
from tests.benchmarks.clusters.simulated_airflow import (
    ADVISE,
    GAP,
    SNAPSHOT,
    SPARK,
    Airflow,
    Costs,
)
from tests.benchmarks.measure import show

CLUSTERS, HOURS = 50, 6
SIZES = ((1, 1), (2, 1), (4, 1), (4, 4), (8, 1), (8, 4), (8, 8), (16, 1), (16, 4), (16, 16))
"""Cores, and slots of the pool."""

START = 1.7
"""CPU seconds of a process until it has imported a step (`watch`)."""
TASKS = {
    **{"list_clusters": START, "take_snapshot": START + 1.0, "watch_groups": START + 2.2},
    **{"heartbeat": START, "validate_snapshot": 3.5, SPARK: 12.1},
    **{"validate_candidates": 5.3, "advise": 2.6, "alert": 1.2},
}
"""CPU seconds of each task (`reading`, `watch`, `fleet`), measured on two cores without other work."""


def costs(tasks: Mapping[str, float]) -> Costs:
    """
    What was measured, of Airflow by `airflow_tasks`; what a superseded snapshot takes is an estimate.
    """
    return Costs(
        tasks=tasks,
        behind={"validate_snapshot": (2.5, runtime.ON_THE_WAY), SPARK: (6.0, ALSO)},
        nothing=START,
        airflow=0.2,
        wait=0.9,
    )


def row(cores: int, slots: int, one: Airflow) -> list[str]:
    """What the last hour was like."""
    since = one.now - 3600
    watched = [took for moment, took in one.watched if moment > since]
    ages = [age for each in one.advised.values() for moment, age in each if moment > since]
    gaps = [
        after - before
        for cluster in one.clusters
        for before, after in itertools.pairwise([0, *(m for m, _ in one.advised[cluster]), one.now])
        if after > since
    ]
    worked, held = (sum(each[n] for each in one.used if each[0] > since) / 3600 for n in (1, 2))
    return [
        f"{cores}",
        f"{slots}",
        _spread(watched),
        _spread(ages),
        f"{max(gaps):,.0f}",
        f"{100 * worked / cores:.0f}",
        f"{100 * held / slots:.0f}",
        f"{len(one.queued[ADVISE.dag_id]):,}",
    ]


def _spread(values: Sequence[float]) -> str:
    three = (min(values), median(values), max(values)) if values else ()
    return " / ".join(f"{value:,.0f}" for value in three) or "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.clusters", description=__doc__
    )
    parser.add_argument("fleet", type=Path, nargs="?", help="what tests.benchmarks.fleet wrote")
    parser.add_argument("--clusters", type=int, default=CLUSTERS, metavar="N")
    parser.add_argument("--hours", type=float, default=HOURS, metavar="N", help="to simulate")
    parser.add_argument("--keep", action="store_true", help="keep the first table for the docs")
    options = parser.parse_args(arguments)
    tasks = dict(TASKS)
    if options.fleet:
        (told,) = json.loads(options.fleet.read_text())
        tasks |= {step["step"]: step["processor_seconds"] for step in told["steps"]}
    names = [task.task_id for dag in (SNAPSHOT, ADVISE) for task in dag.topological_sort()]
    rows, beside = [], []
    for cores, slots in SIZES:
        one = Airflow(cores, slots, options.clusters, costs(tasks))
        one.run(options.hours * 3600)
        rows.append(row(cores, slots, one))
        beside.append([f"{cores}", f"{slots}", *(f"{one.at_work[n] / one.now:.1f}" for n in names)])
        for name, count in one.late.items():
            if count:
                print(f"{cores} cores, {slots} slots: {count:,} x {name} over its time limit")
    title = f"{options.clusters} clusters of 1,000 groups, a snapshot of each every {GAP:.0f} s"
    show(title, results.SIZES, rows)
    show("Tasks beside each other", ["cores", "slots", *names], beside)
    if options.keep:
        said = {"clusters": options.clusters, "hours": options.hours, "gap": GAP}
        results.save(**said, tasks=tasks, sizes=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
