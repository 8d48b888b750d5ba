"""What was simulated and measured, as kept in `results.json`, and the section of the documentation made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("results.json")

SIZES = ("cores", "slots", "watched s", "advice s", "every s", "cores %", "pool %", "queued")
WORKERS = (
    *("workers", "s", "ratio", "bound", "ratio by CPU"),
    *("before and between s", "tasks s", "longest s", "driver CPU s", "workers CPU s"),
)


def save(**more: Any) -> None:
    """Keep results, in place of those of the same names."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    KEPT.write_text(json.dumps({**kept, **more}, indent=1) + "\n", encoding="utf-8")


def section() -> str:
    """For `docs/explanation/performance.md`."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return "\n".join(_section(kept)) + "\n"


def _section(kept: dict[str, Any]) -> Iterator[str]:
    tasks = ", ".join(f"`{name}` {seconds:g}" for name, seconds in kept["tasks"].items())
    yield (
        f"Simulated: {kept['clusters']} clusters of 1,000 groups on one Airflow machine, a snapshot of each every"
        f" {kept['gap'] / 60:g} minutes, after {kept['hours']:g} hours."
    )
    yield ""
    yield from _table(SIZES, kept["sizes"])
    yield ""
    yield (
        "*Watched*: seconds from the schedule until the groups of the first / half / all clusters are evaluated."
        " *Advice*: seconds from snapshot to advice, minimum / median / maximum."
        " *Every*: longest time of a cluster without new advice. *Queued*: waiting runs of `advise_assignments`;"
        " they grow while the pool or the cores are full."
    )
    yield ""
    yield (
        f"CPU seconds per task, of a machine without other work, in local mode (below `spark_above`): {tasks}."
        " Airflow adds 0.2 CPU seconds per task and starts it after 0.9 s (LocalExecutor, tasks that do nothing)."
        " Costs of superseded snapshots are estimates. Clusters are alike, nothing fails, and brokers, Postgres, lake"
        " and memory are never the bottleneck."
    )
    yield ""
    yield (
        f"`measure_and_propose` for {kept['groups']} groups on Spark standalone workers of one core, all on two busy"
        " cores:"
    )
    yield ""
    yield from _table(WORKERS, kept["workers"])
    yield ""
    yield (
        "*Ratio by CPU* is that of driver + workers / their number. *Bound* is the ratio without any start of workers"
        " (Amdahl). The driver's start, planning and manifests stay the same, and each worker starts its own Java and"
        " Python."
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{' ---: |' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
