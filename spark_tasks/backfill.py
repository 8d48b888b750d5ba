"""
Past snapshots judged again on Spark, beside what was said then.

    python -m evenkeel.spark_tasks.backfill --cluster eu --from 2026-11-01 --to 2026-11-15 [--seconds 300]

A stretch of snapshots at a time: each worker goes through them with a chunk of the groups, by
`evenkeel.engine.steps.backfilled.judge_stretch`, the function of the command; a test keeps the two equal. Few columns
of each group come back, and the driver stores them.
"""

from __future__ import annotations

import argparse
import sys
from datetime import timedelta
from functools import partial

from pyspark.sql import SparkSession

from evenkeel.engine import wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.ports import Lake
from evenkeel.engine.steps.backfill import Judge, Progress, backfill
from evenkeel.engine.steps.backfill_plan import Question, planned, question
from evenkeel.engine.steps.backfilled import Judged, Stretch, judge_stretch
from evenkeel.spark_tasks.chunked import map_chunks, without_secrets
from evenkeel.spark_tasks.job import ended, opened

SMALLEST = 500
"""Partitions and members below which a chunk is not worth a task: each is judged in many snapshots."""


def judge_on(spark: SparkSession, lake: Lake, settings: Settings) -> Judge:
    """Who judges a stretch on the workers of a session."""
    known = without_secrets(settings)

    def judge(stretch: Stretch, work: dict[str, int]) -> Judged:
        made_of = partial(judge_stretch, lake, known, stretch)
        return Judged.of(map_chunks(spark, work, made_of, smallest=SMALLEST))

    return judge


def run(settings: Settings, asked_for: Question, budget: timedelta | None) -> None:
    """Judge what is left of a question, for so long."""
    lake, history = wiring.lake(settings), wiring.history(settings)
    # what cannot be answered is said before Spark's seconds are spent
    planned(lake, history, settings, asked_for)
    with opened(f"evenkeel backfill {asked_for.cluster}", settings.lake) as spark:
        backfill(
            lake,
            history,
            settings,
            asked_for,
            judge=judge_on(spark, lake, settings),
            budget=budget,
            tell=_tell,
        )


def _tell(progress: Progress) -> None:
    print(
        f"{progress.done:,} of {progress.of:,} snapshots, through {progress.at:%Y-%m-%d %H:%M} UTC,"
        f" about {progress.left_seconds / 60:.0f} min left",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> int:
    """Judge again; 0, or the exit code of the error, which is said in one line."""
    options = _parse(arguments)
    budget = None if options.seconds is None else timedelta(seconds=options.seconds)

    def work(settings: Settings) -> None:
        wanted = question(
            options.cluster,
            options.since,
            options.until,
            groups=options.groups,
            candidates_every=options.candidates_every,
        )
        run(settings, wanted, budget)

    return ended(work)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evenkeel.spark_tasks.backfill")
    parser.add_argument("--cluster", required=True, help="its configured name")
    parser.add_argument("--from", dest="since", required=True, help="the first day, in UTC")
    parser.add_argument("--to", dest="until", required=True, help="the last day, in UTC")
    parser.add_argument(
        "--groups", default="*", metavar="PATTERN", help="shell pattern of group ids"
    )
    parser.add_argument(
        "--candidates-every", default="1h", metavar="SPAN", help="1h, 30m, ... or none"
    )
    parser.add_argument(
        "--seconds", type=float, help="begin with no further snapshots after so long"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
