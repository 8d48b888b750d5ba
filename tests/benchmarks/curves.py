"""
`python -m tests.benchmarks.curves FOLDER`: how often the band of a forecast holds what came, on real arrivals.

Every CSV file of the folder is a series (first column a moment, second a count; a row per five minutes or oftener), and
arrives at a group of four partitions; all of them together arrive at one with a partition each. `tests.helpers.fluid`
simulates how these groups consume and commit; `evenkeel backtest` does the rest. Where to get such series is said in
`docs/explanation/forecasts.md`. Of the band of 80 %, four in five should hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.metrics.forecast import AHEAD
from evenkeel.engine.pipeline.backtest import ForecastCheck, backtest
from tests.helpers.fluid import CLUSTER, simulate, snapshots
from tests.helpers.fluid.curves import SHARES, Replay, read_curve, replays
from tests.helpers.lake_snapshots import write_taken

CHUNK = 60
"""Groups that are simulated side by side."""

Checked = tuple[Replay, ForecastCheck]


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.curves", description=__doc__)
    parser.add_argument("folder", type=Path, help="with a CSV file per series")
    parser.add_argument(
        "--most", type=int, default=15, help="stretches of ten hours of each series (15)"
    )
    options = parser.parse_args(arguments)
    paths = sorted(options.folder.glob("*.csv"))
    if not paths:
        parser.error(f"no CSV file in {options.folder}")
    curves = {path.stem: read_curve(path) for path in paths}
    groups = [
        replay
        for name, curve in curves.items()
        for replay in replays(name, np.outer(SHARES, curve), options.most)
    ]
    if len(curves) > 1:
        shortest = min(map(len, curves.values()))
        partitions = np.stack([curve[:shortest] for curve in curves.values()])
        groups += replays("together", partitions, options.most)
    sys.stdout.write("".join(f"{line}\n" for line in table(list(checked(groups)))))
    return 0


def checked(groups: Sequence[Replay]) -> Iterator[Checked]:
    """What was forecast of each group's lag, of which it is known what came."""
    for first in range(0, len(groups), CHUNK):
        of_group = {replay.group.name: replay for replay in groups[first : first + CHUNK]}
        lake = Recording()
        history = simulate([replay.group for replay in of_group.values()])
        write_taken(lake, snapshots(history))
        for event in backtest(lake, MemoryHistory(), Settings(), CLUSTER):
            if isinstance(event, ForecastCheck) and event.actual is not None:
                yield of_group[event.group], event


def table(checks: Sequence[Checked]) -> Iterator[str]:
    """The lines of a Markdown table: of all, by series, by commits, by capacity."""
    yield "| arrivals | forecasts | 15 min: held | came lower | came higher | 1 h: held | came lower | came higher |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    kinds: tuple[Callable[[Replay], str], ...] = (
        lambda replay: "all",
        lambda replay: replay.series,
        lambda replay: f"commits {replay.commits}",
        lambda replay: replay.capacity,
    )
    for kind in kinds:
        for label in dict.fromkeys(kind(replay) for replay, _ in checks):
            own = [check for replay, check in checks if kind(replay) == label]
            cells = [f"{share:.0%}" for seconds in AHEAD for share in shares(own, seconds)]
            yield f"| {' | '.join([label, f'{len(own):,}', *cells])} |"


def shares(checks: Sequence[ForecastCheck], seconds: float) -> tuple[float, float, float]:
    """Of the forecasts so far ahead: the share that held, and those below and above whose band it came."""
    due = [check for check in checks if (check.due - check.at).total_seconds() == seconds]
    lower = sum((check.actual or 0) < check.low for check in due) / max(len(due), 1)
    higher = sum((check.actual or 0) > check.high for check in due) / max(len(due), 1)
    return 1 - lower - higher, lower, higher


if __name__ == "__main__":
    sys.exit(main())
