"""
`python -m tests.benchmarks.lake`: what the lake of a fleet takes on disk, and what its daily upkeep costs.

A part of a day is written: snapshots of a seeded fleet, the metrics of each, and the candidates of the newest, which
stand for those of all (their rows say other snapshot ids, no other numbers). Then the day is compacted, in a process of
its own whose peak memory is told. Reading is timed before and after: one snapshot whole, and 500 groups of it. What
stands under "90 days" is computed: measured megabytes and seconds, times groups, times snapshots of a day, times days.
What validation leaves is a row per check and failed group and is left out.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.arrow import to_arrow
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.model.tables import Table, repeated
from evenkeel.engine.snapshots import CANDIDATES, METRICS, SNAPSHOT
from tests.benchmarks.measure import in_own_process, resident, show
from tests.helpers.fleet import Shape, make_fleet, write_fleet

FLEET, DAYS, A_DAY = 10_000, 90, 288
"""What is extrapolated to: so many groups, for so many days, with a snapshot every five minutes."""

CHUNK = 500
DATASETS = (*SNAPSHOT, *METRICS, *CANDIDATES)
_MB = 1_000_000
HEADINGS = (
    "dataset",
    "rows of a snapshot",
    "MB, dictionaries",
    "MB, as written",
    "MB in the file of the day",
    f"GB, {DAYS} days of {FLEET:,} groups",
)


def once(folder: str) -> dict[str, float]:
    """Compact, and tell what it took; run in a process of its own."""
    began, spent = time.perf_counter(), time.process_time()
    did = pipeline.maintain(FileLake(folder), None, Settings(keep_days=36_500), datetime.now(UTC))
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - spent,
        "peak_mib": resident("VmHWM"),
        "files": did.files,
        "into": did.into,
    }


def written(lake: FileLake, groups: int, snapshots: int, *, candidates: bool) -> list[str]:
    """Write a part of a day; the ids, the oldest first."""
    settings = Settings()
    ids = write_fleet(lake, make_fleet(Shape(groups=groups, snapshots=snapshots)))
    for one in ids:
        pipeline.record_metrics(lake, one, pipeline.compute_metrics(lake, settings, one))
    if candidates:
        found = pipeline.propose_candidates(lake, settings, ids[-1])["candidates"]
        for one in ids:
            table = found.replaced(snapshot_id=repeated(one, len(found)))
            lake.write("candidates", one, {"candidates": table}, {})
    return ids


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of the Parquet files of each dataset."""
    return {n: sum(f.stat().st_size for f in (folder / n).rglob("*.parquet")) for n in DATASETS}


def plain_size(table: Table) -> int:
    """Bytes of a table as it was written before: a dictionary of every column."""
    sink = io.BytesIO()
    pq.write_table(to_arrow(table), sink, compression="zstd")
    return len(sink.getvalue())


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
    ids: Sequence[str],
    groups: int,
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> list[list[str]]:
    """The table, a row per dataset and their sum."""
    scale = FLEET / groups * A_DAY * DAYS / len(ids) / _MB / 1000
    cells, total = [], [0.0] * 5
    for name in DATASETS:
        if not before[name]:
            continue
        table = lake.read(name, ids[-1:])
        count = len(ids) * _MB
        figures = [
            float(len(table)),
            plain_size(table) / _MB,
            before[name] / count,
            after[name] / count,
            after[name] * scale,
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
    parser.add_argument("--snapshots", type=int, default=6, metavar="N", help="that are measured")
    parser.add_argument(
        "--no-candidates", action="store_true", help="leave them out: they take longest to make"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="evenkeel-lake-") as name:
        _measure(Path(name) / "lake", asked)
    return 0


def _measure(folder: Path, asked: argparse.Namespace) -> None:
    lake = FileLake(folder)
    ids = written(lake, asked.groups, asked.snapshots, candidates=not asked.no_candidates)
    before, earlier = sizes(folder), readings(str(folder), ids[-1])
    upkeep = in_own_process("tests.benchmarks.lake:once", str(folder), timeout=7200)
    after, later = sizes(folder), readings(str(folder), ids[-1])
    cells = rows(FileLake(folder), ids, asked.groups, before, after)
    show("The lake, per snapshot", HEADINGS, cells, words=HEADINGS[:1], as_markdown=asked.markdown)
    scale = FLEET / asked.groups * A_DAY / len(ids)
    print(
        f"\ncompaction of {len(ids)} snapshots of {asked.groups:,} groups: {upkeep['seconds']:.1f} s,"
        f" {upkeep['processor']:.1f} processor seconds, {upkeep['peak_mib']:,.0f} MiB at most,"
        f" {upkeep['files']:,} files into {upkeep['into']:,}"
        f"\na day of {FLEET:,} groups: {upkeep['processor'] * scale / 60:,.0f} processor minutes, computed"
    )
    for what, milliseconds in earlier.items():
        print(f"reading, {what}: {milliseconds:.0f} ms, out of the day's file {later[what]:.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
