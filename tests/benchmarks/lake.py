"""
`python -m tests.benchmarks.lake`: what the lake of a fleet takes on disk, and what its daily upkeep costs.

A part of a day is written: snapshots of a seeded fleet, the metrics of those with a whole lookback, and the candidates
of the newest, which stand for those of all (their rows say other snapshot ids, no other numbers). Then the day is
compacted, in a process of its own whose peak memory is told, and made hourly in another. Reading is timed before and
after the first: one snapshot whole, and 500 groups of it. What stands under "90 days" is computed from the measured
megabytes and the default settings: a day as written, `keep_whole_days` in files of days, and of each other day 24
snapshots and the results of one. What validation leaves is a row per check and failed group and is left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.model.tables import repeated
from evenkeel.engine.snapshots import CANDIDATES, METRICS, SNAPSHOT
from tests.benchmarks.measure import in_own_process, resident, show
from tests.helpers.fleet import Shape, make_fleet, write_fleet

SETTINGS = Settings()
FLEET, A_DAY = 10_000, 288
"""What is extrapolated to: so many groups, with a snapshot every five minutes, kept as by default."""

HOURLY_DAYS = SETTINGS.keep_days - SETTINGS.keep_whole_days - 1
"""Days with one snapshot per hour; today is as it was written."""

CHUNK = 500
DATASETS = (*SNAPSHOT, *METRICS, *CANDIDATES)
_MB = 1_000_000
HEADINGS = (
    "dataset",
    "rows of a snapshot",
    "MB, as written",
    "MB in the file of the day",
    "MB, one per hour",
    f"GB, {SETTINGS.keep_days} days of {FLEET:,} groups",
)


def once(folder: str, whole_days: str = "36500") -> dict[str, float]:
    """Compact, and tell what it took; run in a process of its own."""
    began, spent = time.perf_counter(), time.process_time()
    settings = Settings(keep_days=36_500, keep_whole_days=int(whole_days))
    did = pipeline.maintain(FileLake(folder), None, settings, datetime.now(UTC))
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - spent,
        "peak_mib": resident("VmHWM"),
        "files": did.files,
        "into": did.into,
        "thinned": did.thinned,
    }


def written(lake: FileLake, groups: int, snapshots: int, *, candidates: bool) -> list[str]:
    """Write a part of a day; the ids that have results, the oldest first."""
    shape = Shape(groups=groups, snapshots=SETTINGS.lookback + snapshots)
    ids = write_fleet(lake, make_fleet(shape))[SETTINGS.lookback :]
    for one in ids:
        pipeline.record_metrics(lake, one, pipeline.compute_metrics(lake, SETTINGS, one))
    if candidates:
        found = pipeline.propose_candidates(lake, SETTINGS, ids[-1])["candidates"]
        for one in ids:
            table = found.replaced(snapshot_id=repeated(one, len(found)))
            lake.write("candidates", one, {"candidates": table}, {})
    return ids


def sizes(folder: Path, snapshots: int, results: int) -> dict[str, float]:
    """Bytes of the Parquet files of each dataset, per snapshot of so many, and so many that have results."""
    return {
        name: sum(file.stat().st_size for file in (folder / name).rglob("*.parquet"))
        / (snapshots if name in SNAPSHOT else results)
        for name in DATASETS
    }


def readings(folder: str, snapshot_id: str) -> dict[str, float]:
    """Milliseconds of processor time: the snapshot whole, then some groups of its commits, first and again."""
    groups = sorted(FileLake(folder).read("groups", [snapshot_id])["group_id"].to_pylist())
    some = groups[len(groups) // 3 :][:CHUNK]
    lake = FileLake(folder)

    def whole() -> None:
        for name in SNAPSHOT:
            FileLake(folder).read(name, [snapshot_id])

    def chunk() -> None:
        lake.read("commits", [snapshot_id], groups=some)

    def first() -> None:
        FileLake(folder).read("commits", [snapshot_id], groups=some)

    return {"whole": taken(whole), f"first {CHUNK} groups": taken(first), "next": taken(chunk)}


def taken(call: Callable[[], object]) -> float:
    """The median of processor milliseconds of some calls."""
    times = []
    for _ in range(5):
        began = time.process_time()
        call()
        times.append(1000 * (time.process_time() - began))
    return median(times)


def rows(
    lake: FileLake,
    newest: str,
    groups: int,
    before: Mapping[str, float],
    after: Mapping[str, float],
    hourly: Mapping[str, float],
) -> list[list[str]]:
    """The table, a row per dataset and their sum; sizes are bytes of a snapshot."""
    cells, total = [], [0.0] * 5
    for name in DATASETS:
        if not before[name]:
            continue
        written, compacted, kept = (size[name] / _MB for size in (before, after, hourly))
        days = A_DAY * (written + SETTINGS.keep_whole_days * compacted)
        days += HOURLY_DAYS * kept * (24 if name in SNAPSHOT else 1)
        figures = [
            float(len(lake.read(name, [newest]))),
            written,
            compacted,
            kept,
            days * FLEET / groups / 1000,
        ]
        total = [sum(pair) for pair in zip(total, figures, strict=True)]
        cells.append([f"`{name}`", *_shown(figures)])
    return [*cells, ["all", *_shown(total)]]


def _shown(figures: Sequence[float]) -> list[str]:
    return [f"{figures[0]:,.0f}", *(f"{f:,.2f}" for f in figures[1:-1]), f"{figures[-1]:,.0f}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.lake", description=__doc__)
    parser.add_argument("--groups", type=int, default=1_000, metavar="N", help="of the fleet")
    parser.add_argument("--snapshots", type=int, default=4, metavar="N", help="with metrics")
    parser.add_argument(
        "--no-candidates", action="store_true", help="leave them out: they take longest to make"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="evenkeel-lake-") as name:
        _measure(Path(name) / "lake", asked)
    return 0


def _newest(folder: Path) -> str:
    """The snapshot of the day that has results."""
    lake = FileLake(folder)
    return lake.snapshots(*lake.clusters())[0]


def _measure(folder: Path, asked: argparse.Namespace) -> None:
    lake = FileLake(folder)
    ids = written(lake, asked.groups, asked.snapshots, candidates=not asked.no_candidates)
    every = SETTINGS.lookback + asked.snapshots
    before = sizes(folder, every, asked.snapshots)
    earlier = readings(str(folder), ids[-1])
    upkeep = in_own_process("tests.benchmarks.lake:once", str(folder), timeout=7200)
    after = sizes(folder, every, asked.snapshots)
    later = readings(str(folder), ids[-1])
    thinning = in_own_process("tests.benchmarks.lake:once", str(folder), "1", timeout=7200)
    hourly = sizes(folder, every - int(thinning["thinned"]), 1)
    cells = rows(FileLake(folder), _newest(folder), asked.groups, before, after, hourly)
    show("The lake, per snapshot", HEADINGS, cells, words=HEADINGS[:1], as_markdown=asked.markdown)
    print(
        f"\ncompaction of {every} snapshots of {asked.groups:,} groups, {len(ids)} with results:"
        f" {upkeep['seconds']:.1f} s,"
        f" {upkeep['processor']:.1f} processor seconds, {upkeep['peak_mib']:,.0f} MiB at most,"
        f" {upkeep['files']:,} files into {upkeep['into']:,}"
    )
    print(
        f"made hourly: {thinning['thinned']:.0f} snapshots fewer, {thinning['processor']:.1f} processor seconds,"
        f" {thinning['peak_mib']:,.0f} MiB at most"
    )
    for what, milliseconds in earlier.items():
        print(f"reading, {what}: {milliseconds:.0f} ms, out of the day's file {later[what]:.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
