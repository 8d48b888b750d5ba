"""The thin main both Spark steps share: arguments in, ports and session built, one line when it fails."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable

from evenkeel.engine import wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import EvenkeelError
from evenkeel.engine.ports import Lake
from evenkeel.spark_tasks.session import session

Run = Callable[..., None]


def run_job(name: str, run: Run, arguments: list[str] | None) -> int:
    """
    Run a step on one snapshot.

    Args:
        name: The step, which is also the Spark application's name.
        run: Called with (spark, lake, settings, snapshot_id, pattern).
        arguments: Of the command line; without them this process's.

    Returns:
        0, or the exit code of the error, whose one line is the last of the output.
    """
    asked = _parse(name, arguments)
    # a task that is killed cleans up after Spark as one that ends does
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        settings = wiring.settings()
        _start(name, run, wiring.lake(settings), settings, asked)
    except EvenkeelError as problem:
        print(" ".join(str(problem).split()), file=sys.stderr, flush=True)
        return problem.exit_code
    return 0


def _start(
    name: str,
    run: Run,
    lake: Lake,
    settings: Settings,
    asked: argparse.Namespace,
) -> None:
    # a snapshot that is not there is said before Spark's seconds are spent
    lake.manifest("snapshot", asked.snapshot_id)
    with session(f"evenkeel {name} {asked.snapshot_id}", settings.lake) as spark:
        run(spark, lake, settings, asked.snapshot_id, asked.groups)


def _parse(name: str, arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m evenkeel.spark_tasks.{name}")
    parser.add_argument("--snapshot-id", required=True, help="which snapshot, as the lake has it")
    parser.add_argument(
        "--groups", default="*", metavar="PATTERN", help="shell pattern of group ids"
    )
    return parser.parse_args(arguments)
