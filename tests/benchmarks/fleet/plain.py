"""
The plain form, group by group: `python plain.py LAKE GIANTS_LAKE` prints a JSON object.

It runs under the interpreter of any checkout, on lakes that are there: one of equal groups, one of a single giant.
Times are processor seconds of this process, so that a busy machine does not show; what is compiled first was compiled
in a round before. Strategies are timed by themselves, wherever they are asked.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.assignors import every
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline import stored_metrics
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots import groups_with_past
from evenkeel.engine.snapshots.chunks import chunks_of

ROUNDS = 3


class Strategies:
    """How long all strategies together take; one that asks another counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        for kind in {type(strategy) for strategy in every().values()}:
            kind.assign = self._timed(kind.assign)

    def _timed(self, assign: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began, self._depth = time.process_time(), self._depth + 1
            try:
                return assign(*arguments, **named)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.process_time() - began

        return timed


def main(lake_path: str, giants_path: str) -> None:
    """Measure and print."""
    lake, giants, settings = FileLake(lake_path), FileLake(giants_path), Settings()
    strategies = Strategies()
    rounds = [of_equal_groups(lake, settings, strategies) for _ in range(ROUNDS + 1)][1:]
    groups = len(lake.read("groups", lake.snapshots("fleet")))
    least = {name: min(one[name] for one in rounds) for name in rounds[0]}
    print(
        json.dumps(
            {
                "groups": groups,
                **{f"{name}_ms": round(1000 * s / groups, 2) for name, s in least.items()},
                "giant_reading_s": round(taken(lambda: read(giants, settings)), 2),
            }
        )
    )


def of_equal_groups(lake: Lake, settings: Settings, strategies: Strategies) -> dict[str, float]:
    """Processor seconds of each part of the plain form, all groups together."""
    (newest,) = lake.snapshots("fleet")
    reading_them = taken(lambda: read(lake, settings))
    found: dict[str, Any] = {}
    metrics = taken(lambda: found.update(pipeline.compute_metrics(lake, settings, newest)))
    pipeline.record_metrics(lake, newest, found)
    again = taken(lambda: list(stored_metrics.measured_groups(lake, settings, newest)))
    strategies.seconds = 0.0
    proposing = taken(lambda: pipeline.propose_candidates(lake, settings, newest))
    return {
        "reading": reading_them,
        "measuring": metrics - reading_them,
        "reading_with_metrics": again,
        "strategies": strategies.seconds,
        "candidates_beyond_strategies": proposing - again - strategies.seconds,
    }


def read(lake: Lake, settings: Settings) -> None:
    """Read and assemble all groups with their earlier snapshots."""
    (newest,) = lake.snapshots("fleet")
    lookback = groups_with_past.lookback_of(lake, settings, newest)
    for chunk in chunks_of(lake, newest):
        groups_with_past.read_with_past(lake, settings, lookback, chunk.groups)


def taken(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


if __name__ == "__main__":
    main(*sys.argv[1:])
